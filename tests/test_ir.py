"""The pages of docs/ir against the program: what explain prints is derived from their grammars."""

import re
import shlex
import subprocess

import pytest

import ravel
from grammar import Grammar

GOLDEN = ravel.ROOT / "tests/golden"
SHOWN = Grammar("expr.md", "layout.md", "plan.md", "stmt.md")
SPARSE_SHOWN = Grammar("expr.md", "layout.md", "stmt.md", "sparse.md")
GRID = Grammar("expr.md", "gridstmt.md")

# what the golden files do not print: options of explain
MORE = [
    "--from ROW_MAJOR --to COL_MAJOR --shape 3,4 --dtype f32",
    "--from '(...,C){..., C}' --to '(...,C){reverse(...), C, pad = {C = 8}}' --shape 3,4,5 --dtype f32",
    "--from 'ROW_MAJOR(100,64)[idx]' --to ROW_MAJOR --shape 7,64 --dtype f16",
    "--from 'ROW_MAJOR(100,64)[skip i32 idx]' --to ROW_MAJOR --shape 7,64 --dtype f16",
    "--from ROW_MAJOR --to 'ROW_MAJOR(100,64)[idx]' --shape R,64 --dtype f16",
    "--from 'ROW_MAJOR(7,64)[:, along idx]' --to ROW_MAJOR --shape 7,9 --dtype f16",
    "--from 'ROW_MAJOR(9,8,16)[i, j]' --to ROW_MAJOR --shape 7,16 --dtype u4",
    "--from 'NCHW(8,56,56,64)[:, 1:3, ..., ::-1]' --to NHWC --dtype f16",
    "--from 'ROW_MAJOR(9,8,16)[2, None, ::2, 3:9:2]' --to ROW_MAJOR --dtype f16",
    "--from 'ROW_MAJOR(9,8)[[0,1,5], -3:]' --to ROW_MAJOR --dtype f16",
    "--from 'ROW_MAJOR@7(100,1)' --to COL_MAJOR --shape 4,5 --dtype f32",
    "--from 'NCHW@o(sn,sc,sh,1)' --to NHWC --shape 2,3,H,5 --dtype f32",
    "--from 'NC1HWC0{C0=8}' --to NCHW --shape N,8,H,W --dtype f16",
    "--from ROW_MAJOR --to '(R,C){R, C, stride = {R = 50}, fill = \"edge\"}' --shape 3,40 --dtype f32",
    "--from ROW_MAJOR --to '(R,C){R, C//4, C%4, pitch = {[2] = 64}, fill = -1.5}' --shape 3,41 --dtype f32",
    "--from ROW_MAJOR --to '(R,C){R//4, C, T[R%4], T = {3, 1, 2, 0}}' --shape 8,5 --dtype u8",
    "--from ROW_MAJOR --to '{R, extent(C) - 1 - C}' --shape 8,5 --dtype u8",
    "--from ROW_MAJOR --to '(R,C){R, C, swizzle = xor(3, 4, 3)}' --shape 64,64 --dtype f16",
    "--from NCHW --to NHWC --via NC1HWC0 --shape 2,20,5,7 --dtype f16",
    "--from NCHW --to NHWC --in-place --shape 2,20,5,7 --dtype f16",
    "--from '(B,P){B, (1 - B%2)*P + (B%2)*(7 - P)}' --to ROW_MAJOR --shape 4,8 --dtype u8",
    "--from ROW_MAJOR --to MARLIN --shape 256,N --dtype u4",
    "--from COL_MAJOR --to ROW_MAJOR --shape R,C --dtype u1",
    "--from '(C,X){C//6, X, C%6}' --to '(C,X){C//4, X, C%4}' --shape C,X --dtype u8",
    "--from NCHW --to mine.lua:MINE --shape 2,40,5,7 --dtype f16",
    "--from 'VNNI2(K,N)' --to 'SW128(N,K)' --shape 64,96 --dtype bf16",
    "--from ROW_MAJOR --to '(R,C){R, C, pad = {R = 32}, swizzle = xor(3, 4, 3)}' --shape 75,75 --dtype f16",
    "--from NCHW --to FRACTAL_Z_C04 --shape N,3,H,W --dtype f16",
]
SPARSE = [
    "--from CSR --to CSC --shape 100,100 --dtype f32", "--from COO --to CSR --shape 100,100 --dtype f32",
    "--from CSR --to BSR --shape 100,90 --dtype f32", "--from ROW_MAJOR --to CSR --shape 100,90 --dtype f64",
    "--from CSR --to DIA --shape 100,90 --dtype f32", "--from CSC --to ELL --shape 100,90 --dtype f32", "--from ROW_MAJOR --to SEMI24_16 --shape 64,64 --dtype f16",
    "--from COO --to COO --shape 9,9 --dtype f32", "--from JDS --to CSR --shape 9,9 --dtype f32", "--from BSR --to CSR --shape 9,9 --dtype f32",
    "--from CSR --to SELL --shape 100,90 --dtype f32", "--from CSR --to '(R,C){C, R, fill = 3}' --shape 9,9 --dtype u8",
]


def explain(words, *more, folder=None):
    r = subprocess.run([str(ravel.BUILD / "ravel"), "explain", *shlex.split(words), *more], capture_output=True, text=True, timeout=60, cwd=folder)
    assert r.returncode == 0, (words, r.stderr)
    return r.stdout


def golden():
    """(name, command, what it printed) of each explain in the golden files."""
    for path in sorted(GOLDEN.glob("*.txt")):
        for command, printed in re.findall(r"^\$ ravel (explain .*)\n((?:(?!\$ ravel).*\n)*)", path.read_text(), re.M):
            yield path.stem, command, printed


def test_every_name_of_a_grammar_has_a_rule():
    assert not SHOWN.undefined() | SPARSE_SHOWN.undefined() | GRID.undefined()


@pytest.mark.parametrize("name, command, printed", list(golden()), ids=lambda x: x if re.fullmatch(r"\w+", x) else " ")
def test_golden_texts(name, command, printed):
    if "--target" not in command:
        assert SHOWN.flaw("unit" if "--statements" in command else "explain", printed) is None
    elif "--statements" in command:
        assert GRID.flaw("frag" if "--kind" in command else "grid", printed) is None
    else:
        assert GRID.flaw("blocks", printed) is None


@pytest.mark.parametrize("words", MORE)
def test_plans_and_statements(words, tmp_path):
    (tmp_path / "mine.lua").write_text(re.search(r"^```lua\n(layout \"MINE\".*?)^```$", (ravel.ROOT / "README.md").read_text(), re.M | re.S).group(1))
    assert SHOWN.flaw("explain", explain(words, folder=tmp_path)) is None
    if "--in-place" not in words:
        assert SHOWN.flaw("unit", explain(words, "--statements", folder=tmp_path)) is None


@pytest.mark.parametrize("words", SPARSE)
def test_sparse_conversions(words):
    for more in [], ["--statements"]:
        assert SPARSE_SHOWN.flaw("conversion", explain(words, *more)) is None


def test_the_grammar_refuses_other_texts():
    text = explain(MORE[0])
    for old, new, line in [("plan: 1 nest", "plan: nest", "plan: nest"), ("    kernel ", "    kernels ", "    kernels "), ("  src = 0", "  src = 0 +", "    dst = 0")]:
        flaw = SHOWN.flaw("explain", text.replace(old, new, 1))
        assert flaw and line.strip() in flaw, (new, flaw)
    assert SHOWN.flaw("explain", text + "more: 1\n")
