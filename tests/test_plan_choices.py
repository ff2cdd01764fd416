"""Plans with extents left to run time choose as plans of numbers do, but for the causes that docs/ir/plan.md lists."""
import collections

import pytest

import plan_choices as C
import ravel
import test_runtime_random

ALIKE = 491           # cases


def test_every_difference_has_a_known_cause():
    found = collections.defaultdict(list)
    for case, fixed, runtime in C.choices(ravel.BUILD, list(C.cases())):
        found[C.cause(fixed, runtime) or "alike"].append(case)
    print({k: len(v) for k, v in found.items()})
    said = (ravel.ROOT / "docs/ir/plan.md").read_text()
    assert [k for k in found if "| %s |" % k not in said] == []
    assert len(found["alike"]) >= ALIKE


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
