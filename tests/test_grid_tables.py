"""A table of a target of somebody else's: its conformance, and what is wrong with it."""

import os
import subprocess
import sys

import pytest

import grids as G
import ravel
from grid_runs import own_table


def conform(*args):
    return subprocess.run([sys.executable, ravel.ROOT / "tests/conform.py", *args], capture_output=True, text=True)


def test_conformance_of_a_table(tmp_path):
    check = "gcc -std=c11 -Wall -Wextra -Werror -x c -fsyntax-only {}"
    r = conform(own_table(tmp_path), "--check", check)
    assert r.returncode == 0 and "0 failed; rows: cells, edge, fuse, gather, inverse, loops, period, piece, run, shift, slab, tile" in r.stdout, r
    r = conform(own_table(tmp_path, ('vector2 = "ravel_make2(${x}, ${y})"', 'vector2 = "make(${x}, ${y})"')), "--check", check)
    assert r.returncode == 1 and "make" in r.stdout, r


@pytest.mark.parametrize("text, says", [
    ("return {}", "bad.lua: the table lacks 'name', 'model'"), ("return 1", "bad.lua: no table"), ("x = ", "bad.lua"), ("while true do end", "the table runs for more than 5 million instructions"), ("local s = 'x' while true do s = s .. s end", "the table needs more than 16 MB"), ("return io", "no table"),
    ('return { model = "blocks", name = true }', "field 'name' is a boolean: a string"), ('local t = {} for i = 1, 200 do t["f" .. i] = "" end return t', "more than 128 fields"),
    ("return { helpers = { 'abcdef' } }", "field 'helpers': each is a list of a symbol"), ("return { helpers = { {} } }", "field 'helpers': each is a list of a symbol"),
    ("return { helpers = { { 'f', 'x' } , { 'g', {} } } }", "each is a list of strings, and one has a table"), ("return { entry = '\\255' }", "field 'entry' is no text in UTF-8"),
    ("return { entry = 'a\\0' }", "field 'entry' is no text in UTF-8"),
    ("local s = ('x'):rep(60000) return { like = 'cuda', constant = s .. s }", "a line becomes longer than 65536 bytes"),
    ("return { like = 'cuda', load = ('${index}'):rep(2000), constant = ('${value}'):rep(2000) }", "a line becomes longer than 65536 bytes"),
    ("return { more = {} }", "bad.lua: no field 'more'"),
    ("local h = {} for i = 1, 80 do h[i] = { 'f', 'blocks/permute.glsl' } end return { like = 'glsl', helpers = h }", "bad.lua: field 'helpers': more than 80"),
    ("\27Lua", "bad.lua"), ("return " + "{"*300 + "}"*300, "bad.lua")])
def test_wrong_tables(tmp_path, text, says):
    (tmp_path / "bad.lua").write_text(text)
    r = subprocess.run([G.RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "--target", "bad.lua", "-o", tmp_path / "o"],
                       capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 2 and says in r.stderr and not (tmp_path / "o").exists(), r


def test_a_path_that_json_cannot_tell(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.lua"
    with open(path, "w") as f:
        f.write('return { like = "cuda" }')
    r = subprocess.run([G.RAVEL, "emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "--target", path, "-o", tmp_path / "o",
                        "--manifest", tmp_path / "m"], capture_output=True)
    assert r.returncode == 2 and b"cannot be written as JSON" in r.stderr and not (tmp_path / "o").exists(), r
