"""A second decider: whether skews and sums of dims are one-to-one, by isl (libisl), which solves systems of integers and shares no code with ravel.

ravel says yes, no or unknown; isl is asked by ctypes, so its headers are not needed."""

import ctypes as ct
import ctypes.util
import json
import os
import random
import re
import subprocess

import pytest

import ravel

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
OPERATIONS = 30000      # of isl, for one question
pytestmark = pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="with the plain build only")


@pytest.fixture(scope="module")
def injective():
    """Whether a map is injective; None: isl gave up."""
    name = ctypes.util.find_library("isl")
    if not name:
        pytest.skip("libisl is not installed (libisl-dev)")
    so, p = ct.CDLL(name), ct.c_void_p
    for f, result, *args in [("ctx_alloc", p), ("ctx_free", None, p), ("ctx_set_max_operations", None, p, ct.c_ulong), ("ctx_reset_operations", None, p),
                             ("options_set_on_error", ct.c_int, p, ct.c_int), ("map_read_from_str", p, p, ct.c_char_p), ("map_is_injective", ct.c_int, p), ("map_free", p, p)]:
        f = getattr(so, "isl_" + f)
        f.restype, f.argtypes = result, args
    cx = so.isl_ctx_alloc()
    so.isl_options_set_on_error(cx, 1)            # ISL_ON_ERROR_CONTINUE: an answer, no message
    so.isl_ctx_set_max_operations(cx, OPERATIONS)

    def ask(text):
        so.isl_ctx_reset_operations(cx)
        m = so.isl_map_read_from_str(cx, text.encode())
        answer = so.isl_map_is_injective(m)
        so.isl_map_free(m)
        return {0: False, 1: True}.get(answer)
    yield ask
    so.isl_ctx_free(cx)


def in_isl(order, shape):
    """The map from coordinates to entries; as in Python, % is before //, both from left to right."""
    def term(x):
        x = re.sub(r"(\w+|\([^()]*\))//(\d+)", r"floor((\1)/\2)", x)
        return re.sub(r"(\w+|\([^()]*\)|floor\(\([^()]*(?:\([^()]*\))?[^()]*\)/\d+\))%(\d+)", r"((\1) mod \2)", x)
    dims = "XYZ"[:len(shape)]
    return "{ [%s] -> [%s] : %s }" % (",".join(dims), ",".join(map(term, order)), " and ".join("0 <= %s < %d" % x for x in zip(dims, shape)))


def drawn(rng):
    """Entries that together may say all of the coordinates: each has a sum of dims, whole or modulo a number or in digits."""
    shape = tuple(rng.choice([2100, 2000, 1500, 64]) for _ in range(rng.choice([2, 2, 3])))
    dims = "XYZ"[:len(shape)]
    order = []
    for d, n in zip(rng.sample(dims, len(dims)), shape):
        others = [o for o in dims if o != d and rng.random() < 0.5]
        x = "+".join([d] + ["%d*%s" % (rng.choice([1, 1, 2, 3]), o) for o in others])
        x = "(%s)" % x if others else x
        m = rng.choice([2000, 2100, 2100, 3000, 4200, 1999, 64])
        b = rng.choice([2, 4, 8])
        order += rng.choice([[x], [x + "%%%d" % m], [x + "//%d" % b, x + "%%%d" % b], ["%s%%%d" % (x, b), x + "//%d" % b]])
    return order, shape


def ours(order, shape):
    r = subprocess.run([ravel.BUILD / "ravel", "check", "(%s){%s}" % (",".join("XYZ"[:len(shape)]), ", ".join(order)), "--shape", ",".join(map(str, shape)), "--dtype", "u8", "--json"],
                       capture_output=True, text=True)
    assert r.returncode in (0, 1), r
    return json.loads(r.stdout)


def value(entry, at):
    return eval(entry, dict(zip("XYZ", at)))


def test_both_deciders_agree(injective):
    print("seed", SEED)
    rng, count, decided = random.Random(SEED), {"yes": 0, "no": 0, "unknown": 0}, 0
    for _ in range(30):
        order, shape = drawn(rng)
        j, theirs = ours(order, shape), injective(in_isl(order, shape))
        said = j["one_to_one"]
        count[said] += 1
        decided += said != "unknown" and theirs is not None
        if said == "no":
            a, b = j["witness"]["x"], j["witness"]["y"]
            assert a != b and all(value(e, a) == value(e, b) for e in order), (order, shape)
        if said != "unknown" and theirs is not None:
            assert theirs == (said == "yes"), (order, shape, said)
    print(count, decided, "by both")
    assert decided > 15 and min(count["yes"], count["no"]) >= 3


@pytest.mark.parametrize("order, shape, says", [
    (["X+Y", "X-Y+2100"], (2100, 2000), "yes"), (["X+2*Y", "3*X+Y"], (2100, 2000), "yes"), (["X+Y", "Y+Z", "X+Z"], (2100, 2000, 1500), "yes"),
    (["X+Y", "2*X+2*Y"], (2100, 2000), "no"), (["X+Y", "Y+Z", "X+2*Y+Z"], (2100, 2000, 1500), "no"), (["X+Y+Z", "X-Y+2000", "Z"], (2100, 2000, 1500), "yes"),
    (["(X+Y)//2", "(X+Y)%2", "(X-Y+2000)//4", "(X-Y+2000)%4"], (2100, 2000), "yes"), (["(X+Y)//2", "(X-Y+2000)//2"], (2100, 2000), "no")])
def test_sums_that_tell_dims_together(injective, order, shape, says):
    assert injective(in_isl(order, shape)) is (says == "yes")
    assert ours(order, shape)["one_to_one"] == says


@pytest.mark.parametrize("order, shape, says", [
    (["X", "(X+Y)%3000"], (2100, 2000), True), (["X", "(X+Y)%1999"], (2100, 2000), False), (["(X+Y)//2", "(X+Y)%2", "X"], (2100, 2000), True),
    (["X//3", "X%3", "Y"], (10, 10), True), (["X//3", "X%2", "Y"], (10, 10), False)])
def test_the_text_for_isl(injective, order, shape, says):
    """Of maps that are known."""
    assert injective(in_isl(order, shape)) is says
