"""Plans with extents left to run time choose as plans of numbers do, but for the causes that docs/ir/plan.md lists."""
import collections
import math
import re
import subprocess

import pytest

import plan_choices as C
import ravel
import test_runtime_random


def test_every_difference_has_a_known_cause():
    """The table of docs/ir/plan.md is what the planner does."""
    found, large = collections.Counter(), collections.Counter()
    for (a, b, dtype, shape), fixed, runtime in C.choices(ravel.BUILD, list(C.cases())):
        why = C.cause(fixed, runtime) or "alike"
        found[why] += 1
        large[why] += math.prod(shape)*C.bits_of(dtype)//8 >= C.LARGE//2
    print(found, large)
    said = (ravel.ROOT / "docs/ir/plan.md").read_text()
    assert dict(found) == {k: int(n) for k, n in re.findall(r"^\| ([a-z ]+) \| (\d+) \|", said, re.M)}
    assert "%d cases." % found.total() in said
    assert "Of the %d cases of 24 MiB %d are alike." % (large.total(), large["alike"]) in said
    assert "fit a cache, %d are alike." % (found["alike"] - large["alike"]) in said


WHOLE = [("ROW_MAJOR", "AWQ", "u4", (128, 256)), ("AWQ", "ROW_MAJOR", "u4", (128, 256)), ("ROW_MAJOR", "AWQ", "u4", (100, 4096))]


@pytest.mark.parametrize("case", WHOLE, ids=str)
def test_rows_of_whole_bytes(case):
    """Whether the rows of the shape are whole bytes is asked at run time."""
    [(_, fixed, runtime)] = C.choices(ravel.BUILD, [case])
    assert fixed.keys() == runtime.keys() == {("shuffle", "in order of writes")}


@pytest.mark.parametrize("code", ["jit", "interpreter"])
@pytest.mark.parametrize("a, b, bits", [("ROW_MAJOR", "AWQ", 4), ("AWQ", "ROW_MAJOR", 4), ("(A,B){A, B}", "(A,B){A, B//4, 3 - B%4}", 2)])
def test_rows_that_are_or_are_not_whole_bytes(monkeypatch, code, a, b, bits):
    monkeypatch.setenv("RAVEL_CODE", code)
    with ravel.Context() as cx, cx.plan(a, b, (-1, -1), bits) as plan:
        for k in (1, 2, 5):
            for n in (1, 7, 8, 127, 128, 129, 130, 255, 256, 257, 258, 260, 1000):
                assert test_runtime_random.assert_right(plan, a, b, (k, n), bits, n)


GROUPS = [("(a,b,c,d,e){a, b, c, d, e}", "(a,b,c,d,e){c, a, e, b, d}", "f32", (28, 28, 4, 44, 24)),
          ("(a,b,c,d){a, b, c, d}", "(a,b,c,d){d, c, b, a}", "f32", (76, 75, 12, 48))]


@pytest.mark.parametrize("case", GROUPS, ids=str)
def test_columns_of_several_groups(case):
    """The kernel takes as many groups as it has room for, so it has them also where the shape says how long columns are."""
    [(_, fixed, runtime)] = C.choices(ravel.BUILD, [case])
    assert fixed.keys() == runtime.keys() == {("transpose4", "buffer of several groups")}


def test_loops_of_a_middling_length():
    """Tiles that are too long for a shape are replaced by shorter ones, not by pairs of elements."""
    for n in (128, 520, 2080):
        [(_, fixed, runtime)] = C.choices(ravel.BUILD, [("MORTON8", "(R,C){R, C}", "u8", (312, n))])
        assert C.families(runtime) in ({"composite"}, {"shuffle"}), (n, fixed, runtime)


def test_threads_share_small_data():
    """A nest whose loops are all the kernel's is cut, as it is at a shape of numbers."""
    said = subprocess.run([ravel.BUILD / "ravel", "explain", "--from", "NCHW", "--to", "NHWC", "--shape", "N,64,H,W", "--dtype", "f32", "--statements"],
                          capture_output=True, text=True, check=True).stdout
    calls = said[said.rindex("when s4 < 1"):]
    assert re.search(r"for hw_ < s1 step \d+ split \{\s*call transpose4", calls), calls


SIZES = [("(a,b,c){a, b, c}", "(a,b,c){c, b, a}", "f64", (25, None, 6)), ("(N,C,H,W){N, C//16, H, W, C%16}", "(N,C,H,W){N, C, H, W}", "f32", (1, None, 7, 8)),
         ("MORTON8", "(R,C){R, C}", "u8", (312, None)), ("(A,B){A, B}", "(A,B){B, A}", "u4", (None, 123))]


def at(case, n):
    a, b, dtype, shape = case
    return a, b, dtype, tuple(m or n for m in shape)


@pytest.mark.parametrize("case", [SIZES[0], SIZES[2]], ids=str)
def test_small_data_has_nests_of_its_own(case):
    """Nests that are made for memory do not run where the destination has fewer than 4 MiB, if others are quicker there."""
    bits = {"f64": 64, "f32": 32, "u8": 8, "u4": 4}[case[2]]
    n = -(-(4 << 20)*8//(bits*math.prod(m or 1 for m in case[3])))
    n = -(-n//16)*16
    (_, _, below), (_, _, above) = C.choices(ravel.BUILD, [at(case, n - 16), at(case, n)])
    assert below != above, (below, above)


@pytest.mark.parametrize("code", ["jit", "interpreter"])
@pytest.mark.parametrize("case", SIZES, ids=str)
def test_sizes_on_both_sides_are_right(monkeypatch, code, case):
    monkeypatch.setenv("RAVEL_CODE", code)
    a, b, dtype, shape = case
    bits = {"f64": 64, "f32": 32, "u8": 8, "u4": 4}[dtype]
    n = -(-(4 << 20)*8//(bits*math.prod(m or 1 for m in shape)))
    with ravel.Context() as cx, cx.plan(a, b, [m or -1 for m in shape], bits) as plan:
        for extent in (1, 2, 7, 33, 130, n - 1, n, n + 16):
            assert test_runtime_random.assert_right(plan, a, b, tuple(m or extent for m in shape), bits, extent % 7)


def test_odd_rows_of_nibbles():
    """They go by the tiles that rows of whole bytes have: their offsets count elements."""
    said = subprocess.run([ravel.BUILD / "ravel", "explain", "--from", "(a,b,c,d){a, b, c, d}", "--to", "(a,b,c,d){c, d, a, b}", "--shape", "2,2,N,141",
                           "--dtype", "u4"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"unpacked\d .*\n    where s2 < 1, s\d+ > 0", said) and "s2 = -((141*N)%2) + 1" in said


@pytest.mark.parametrize("code", ["jit", "interpreter"])
@pytest.mark.parametrize("a, b, shape, bits, counts", [
    ("MORTON8", "(R,C){R, C}", (16, None), 8, (1, 8, 56, 63, 64, 65, 120, 500, 504, 511, 512, 520, 1024, 2048)),
    ("(a,b,c,d){a, b, c, d}", "(a,b,c,d){c, d, a, b}", (2, 2, None, 21), 4, (1, 2, 3, 15, 16, 63, 64, 65, 130)),
    (*GROUPS[0][:2], (3, 5, 2, None, 9), 32, (1, 2, 3, 8, 17, 44, 65, 129, 300)),
    (*GROUPS[1][:2], (None, 6, 3, 10), 16, (1, 2, 7, 32, 85, 300))])
def test_each_length_of_a_loop_is_right(monkeypatch, code, a, b, shape, bits, counts):
    monkeypatch.setenv("RAVEL_CODE", code)
    with ravel.Context() as cx, cx.plan(a, b, [n or -1 for n in shape], bits) as plan:
        for n in counts:
            assert test_runtime_random.assert_right(plan, a, b, tuple(m or n for m in shape), bits, n)
