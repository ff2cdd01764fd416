"""An inverse that a spec gives: proven for each element, used where a layout has none, refused with an element where it is wrong."""

import ctypes as ct
import subprocess

import numpy as np
import pytest

import ravel
from runtime_cases import built

RAVEL = str(ravel.BUILD / "ravel")
SKEW = "(X,Y){X, (X + Y)%30"
# {2, 0, 3, 1} as a table; its inverse {1, 3, 0, 2} as a polynomial modulo 5
TABLE = "(C,H){T[C//8], C%8, H, T = {2, 0, 3, 1}, inverse = {H = function(a) return a%10 end, C = function(a) return (2*(a//80) + 1)%5*8 + a//10%8 end}}"


def run(*words, code=0):
    r = subprocess.run([RAVEL, *words], capture_output=True, text=True, timeout=60)
    assert r.returncode == code, r.stdout + r.stderr
    return r.stdout + r.stderr


def skew(y):
    return SKEW + ", inverse = {X = function(a) return a//30 end, Y = function(a) return %s end}}" % y


def test_a_table(cx, tmp_path):
    """The inverse of a table is found; where one is given, the command, the library and emitted code have it."""
    at = cx.table(TABLE, (32, 10), "u8")
    want = np.array([2, 0, 3, 1])[np.arange(32) // 8][:, None]*80 + np.arange(32)[:, None] % 8*10 + np.arange(10)
    assert np.array_equal(at, want)
    assert "C = " in run("check", TABLE, "--shape", "32,10") and "(2*(a//80) + 1)" not in run("check", TABLE[:TABLE.index(", inverse")] + "}", "--shape", "32,10")
    assert run("index", TABLE, "--shape", "32,10", "--inverse", "--at", str(at[27, 4])) == "27,4\n"
    run("emit", "--kind", "inverse", "--to", TABLE, "--shape", "32,10", "--dtype", "u8", "--name", "kern", "-o", tmp_path / "f.c")
    with open(tmp_path / "f.c", "a") as c:
        c.write("\nint call(int64_t a, int64_t *x);\nint call(int64_t a, int64_t *x) { return kern(a, x); }\n")
    f, x = ct.CDLL(str(built(tmp_path / "f.c", "gcc"))).call, (ct.c_int64*2)()
    f.argtypes = [ct.c_int64, ct.c_void_p]
    for (c, h), a in np.ndenumerate(at):
        assert f(a, x) == 1 and tuple(x) == (c, h)
    with cx.plan("ROW_MAJOR", TABLE, (32, 10), "u8") as p:
        p.verify()


def test_elements_are_examined_once():
    """An inverse that does not simplify, of a layout without padding and of one with padding."""
    given = ", inverse = {X = function(a) return a//%d end, Y = function(a) return (a%%%d - a//%d + 300)%%%d end}}"
    square = SKEW.replace("30", "20") + given % (20, 20, 20, 20)
    said = run("check", square, "--shape", "20,20")
    assert "(its inverse was examined at every element)" in said and "dense: 400 elements" in said
    padded = SKEW.replace("X,", "X//8, X%8,", 1).replace("(X//8, X%8,Y)", "(X,Y)") + given % (30, 30, 30, 30)
    assert "yes: " in run("check", padded, "--shape", "20,30")


def test_extents_and_parameters(cx):
    text = "(M,K){M, K, N = 3, inverse = {M = function(a) return a//extent(K) end, K = function(a) return (a + N*extent(K))%extent(K) end}}"
    assert "K = a%7" in run("check", text, "--shape", "5,7")
    assert run("index", text, "--shape", "5,7", "--inverse", "--at", "9") == "1,2\n"


def test_other_names(cx):
    text = "layout 'L' { dims = {X, Y}, order = {X, (X + Y)%30}, inverse = {X = function(a) return a//30 end, Y = function(a) return (a%30 - a//30 + 300)%30 end} }"
    with ravel.Context() as own:
        own.load(text)
        with own.plan("(P,Q){P,Q}", "L(P,Q)", (20, 30), "u8") as p:
            p.verify()


@pytest.mark.parametrize("text, why", [
    (skew("(a%30 - a//30 + 301)%30"), "is wrong for shape 20,30: (0,0) is at address 0, for which it gives (0,1)"),
    (SKEW + ", inverse = {X = function(a) return a//30 end}}", "no function for dim 'Y'; each dim needs one"),
    (SKEW + ", inverse = {Z = function(a) return a//30 end}}", "inverse: there is no dim 'Z'"),
    (SKEW + ", inverse = {X = 3, Y = 4}}", "a function of the address for each dim"),
    (SKEW + ", inverse = 3}", "'inverse'"), (SKEW + ", inverse = {}}", "inverse has no function"),
    (SKEW + ", inverse = {X = function(a) return Q end, Y = function(a) return a end}}", "unknown name 'Q'")])
def test_refused(text, why):
    assert why in run("check", text, "--shape", "20,30", code=2)


def test_too_large_to_prove():
    text = "(X,Y){X, (X + Y)%3000, inverse = {X = function(a) return a//3000 end, Y = function(a) return (a%3000 - a//3000 + 300000)%3000 end}}"
    assert "is not proven for shape 3000,3000: it does not simplify" in run("check", text, "--shape", "3000,3000", code=2)
