"""Every command with every kind of wrong argument; array files that lie; outputs that are links or the input."""

import os
import resource

import numpy as np
import pytest

import ravel
from hostile import bad, COMMANDS, good, here, run, snapshot, SPEC          # noqa: F401: fixtures too

LAYOUTS = ["", " ", "NOPE", "nope.lua:A", "t.lua:NOPE", "t.lua:", "t.lua", "onednn:abc", "{", "{M", "{M}}", "(M", "(M){", "{M,,K}", "{M//0}", "{M/2}", "NCHW{",
           "NCHW{X=1}", "{os.exit()}", "{M} {K}", "\xff"]
SHAPES = ["", ",", "1,", ",1", "1,,2", "a", "1,b!", "1,b,", "0,b", "b,0", "1,b", "1.5", "1e3", "0x10", "+1", "-1", "0", " 1", "1 ", "1;2", "9223372036854775808", "1," * 16 + "1", "٣"]
NAMED = {"check", "emit", "explain"}     # where a name leaves an extent to run time
DTYPES = ["", "f", "f33", "F32", "float32", "f32 ", "f32,f16", "%s", "u3"]
NUMBERS = ["", ",", "a", "-1", "1.5", "9223372036854775808", "0,0,0"]
PATHS = ["", ".", "no/such/x", "t.lua/x", "dir", "dir/"]
# option: the wrong values it is given, and what the message then names; "" names it by its own value
WRONG = {"LAYOUT": LAYOUTS, "--from": LAYOUTS, "--to": LAYOUTS, "--shape": SHAPES, "--dtype": DTYPES, "--at": NUMBERS, "--output": PATHS, "--svg": PATHS,
         "--by": ["", "x", "M%", "lane"], "--plane": ["", "x", "M,M", "M,K,M", "M,"], "--beside": LAYOUTS,
         "--spec": ["", "nope.lua", "dir", "bad.lua"], "--kind": ["", "x", "Offset"], "--target": ["", "metal", "C", "nope.lua", "t.lua"],
         "--name": ["", "a b", "int", "1a", "a-b", "main"],
         "IN": ["", "nope.npy", "dir", "t.lua", "bad.npy"], "OUT": ["", "dir", "no/such/y.npy", "t.lua/y.npy"],
         "--list": ["", "nope.txt", "dir", "t.lua"], "--header": PATHS, "--depfile": PATHS}
WITHOUT = {("show", "--shape")}          # what a command prints without it is another form
BASE = {"list": ({}, ["--spec"]), "devices": ({}, []),
        "show": ({"LAYOUT": "t.lua:A", "--shape": "6,8"}, ["--dtype", "--svg", "--by", "--plane", "--at", "--beside", "--spec"]),
        "index": ({"LAYOUT": "t.lua:A", "--shape": "6,8", "--at": "1,2"}, ["--dtype", "--spec"]),
        "table": ({"LAYOUT": "t.lua:A", "--shape": "6,8", "--output": "o.npy"}, ["--dtype", "--spec"]),
        "check": ({"LAYOUT": "t.lua:A"}, ["--shape", "--dtype", "--spec"]),
        "emit": ({"--from": "ROW_MAJOR", "--to": "t.lua:A", "--shape": "6,8", "--dtype": "f32"},
                 ["--output", "--kind", "--target", "--name", "--spec", "--list", "--header", "--depfile"]),
        "convert": ({"IN": "x.npy", "OUT": "o.npy", "--from": "ROW_MAJOR", "--to": "t.lua:A"}, ["--shape", "--dtype", "--spec"]),
        "explain": ({"--from": "ROW_MAJOR", "--to": "t.lua:A", "--shape": "6,8", "--dtype": "f32"}, ["--spec"])}


def arguments(command, given):
    words = [given[k] for k in ("LAYOUT", "IN", "OUT") if k in given]
    return [command] + ["--%s=%s" % (k[2:], v) for k, v in given.items() if k.startswith("--")] + ["--"] + words


def names(option, value, text):
    """Does the message name the argument: by its option, its value, or the file and what is in it."""
    value = value.strip()
    if value == "\xff":
        return "\\" in text or "ÿ" in text
    place = {"LAYOUT": "layout", "IN": "''", "OUT": "''", "--spec": "''", "--output": "''", "--svg": "''", "--header": "''", "--depfile": "''",
             "--beside": "layout", "--from": "layout", "--to": "layout"}
    return option in text or bool(value) and value[:40].split("{")[0].split(":")[0] in text or place.get(option, option) in text or "(inline)" in text or \
        option == "--shape" and ("extent" in text or "dims" in text) or option == "--dtype" and "dtype" in text or option == "--name" and "name" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_wrong_argument(command):
    """One at a time, all else right: 2, the argument is named, nothing on standard output, nothing made."""
    os.mkdir("dir")
    open("t.lua", "w").write(SPEC)
    open("bad.lua", "w").write("layout 'A' {")
    open("bad.npy", "wb").write(b"\x93NUMPY\x01\x00")
    np.save("x.npy", np.zeros((6, 8), "f4"))
    right, more = BASE[command]
    r = run(*arguments(command, right))
    assert r.returncode == 0, r
    for path in ("o.npy", "o.c"):
        if os.path.exists(path):
            os.remove(path)
    for option in list(right) + more:
        for value in WRONG[option]:
            if (option, value) == ("--shape", "1,b") and command in NAMED:
                continue
            text = bad(*arguments(command, {**right, option: value}))
            assert names(option, value, text), (option, value, text)
        if option in right and (command, option) not in WITHOUT:
            text = bad(*arguments(command, {k: v for k, v in right.items() if k != option}))
            words = {"LAYOUT": "LAYOUT", "IN": "IN OUT", "OUT": "IN OUT", "--output": "--output"}
            assert words.get(option, option) in text, (option, text)
    if command != "list":                # whose arguments are words to look for
        bad(*arguments(command, right), "one-more", says="one-more")
    bad(command, "--nonsense", says="--nonsense")
    bad(command, "-Z", says="Z")
    for option in ("--shape", "--dtype", "--at", "--from", "--to", "--kind", "--target", "--name", "--output", "--svg", "--verify", "--json", "--inverse"):
        if option not in right and option not in more and option not in good(command, "--help").decode():
            bad(*arguments(command, {**right, option: "x"}), says=option)


# --- convert

def header(text, version=b"\x01\x00"):
    text = text.encode() + b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text


def few_megabytes():
    resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))


CLAIMS = ["{'descr': '<f4', 'fortran_order': %s, 'shape': %s, }" % (f, s) for f in ("False", "True")
          for s in ("(1048576, 1048576)", "(1099511627776,)", "(9223372036854775807,)", "(3037000500, 3037000500)", "(4294967296, 4294967296, 4294967296)",
                    "(2305843009213693952, 2)", "(18446744073709551617,)")]


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_header_is_not_believed(claim):
    """A hundred bytes that promise terabytes are refused without asking for them."""
    open("x.npy", "wb").write(header(claim) + b"1234")
    for to in ("o.npy", "o.bin"):
        bad("convert", "x.npy", to, "--from", "ROW_MAJOR", "--to", "COL_MAJOR", says="x.npy",
            **({} if "asan" in str(ravel.BUILD) else {"preexec_fn": few_megabytes}))


@pytest.mark.parametrize("array", [np.array([{}, 3], object), np.zeros(3, "U5"), np.zeros(3, "S5"), np.zeros(3, "M8[s]"),
                                   np.zeros(3, [("a", "f4"), ("b", "i2")]), np.zeros(3, "V7"), np.zeros(3, "?"),
                                   np.zeros(3, "f2").astype(np.longdouble)], ids=lambda a: a.dtype.str)
def test_dtypes_that_are_none_of_ours(array):
    np.save("x.npy", array, allow_pickle=True)
    r = run("convert", "x.npy", "o.npy", "--from", "ROW_MAJOR", "--to", "COL_MAJOR")
    if array.dtype == np.bool_ and r.returncode == 0:
        return
    assert r.returncode == 2 and b"x.npy" in r.stderr and r.stdout == b"" and set(snapshot()) == {b"./x.npy"}, r


X = np.arange(48, dtype="<f4").reshape(6, 8)


@pytest.mark.parametrize("how", ["same", "hard link", "symbolic link", "other spelling"])
def test_output_over_the_input(how):
    """Read whole before anything is written; a symbolic link stays one, a hard link's other name keeps the old content."""
    np.save("x.npy", X)
    out = {"same": "x.npy", "hard link": "y.npy", "symbolic link": "y.npy", "other spelling": "./x.npy"}[how]
    if how == "hard link":
        os.link("x.npy", out)
    if how == "symbolic link":
        os.symlink("x.npy", out)
    good("convert", "x.npy", out, "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--verify")
    assert np.array_equal(np.load(out), X.T) and os.path.islink(out) == (how == "symbolic link")
    assert np.array_equal(np.load("x.npy"), X if how == "hard link" else X.T)
    assert len(snapshot()) == (1 if out.endswith("x.npy") else 2)


def test_outputs_that_are_links_or_folders():
    np.save("x.npy", X)
    os.mkdir("dir.npy"), os.symlink("dir.npy", "to_dir.npy"), os.symlink("y.npy", "dangling.npy"), os.symlink("loop.npy", "loop.npy")
    by = ["--from", "ROW_MAJOR", "--to", "COL_MAJOR"]
    for out in ("dir.npy", "dir.npy/", "to_dir.npy", "loop.npy", "x.npy/y.npy", "no/y.npy"):
        bad("convert", "x.npy", out, *by, says=out)
    good("convert", "x.npy", "dangling.npy", *by)
    assert os.path.islink("dangling.npy") and np.array_equal(np.load("y.npy"), X.T)
    os.symlink("x.npy", "in.npy")
    good("convert", "in.npy", "/dev/null", *by)


def test_an_existing_output_is_kept_on_failure():
    np.save("x.npy", np.tile(X, (100, 100)))
    np.save("y.npy", X + 1)
    for wrong in (["--to", "{M//2, K}"], ["--to", "COL_MAJOR", "--shape", "800,600"], ["--to", "COL_MAJOR", "--dtype", "u8"],
                  ["--to", "COL_MAJOR", "--spec", "none.lua"]):
        bad("convert", "x.npy", "y.npy", "--from", "ROW_MAJOR", *wrong)
    r = run("convert", "x.npy", "y.npy", "--from", "ROW_MAJOR", "--to", "COL_MAJOR",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18)))
    assert r.returncode == 2 and b"y.npy" in r.stderr, r
    assert np.array_equal(np.load("y.npy"), X + 1) and set(snapshot()) == {b"./x.npy", b"./y.npy"}
