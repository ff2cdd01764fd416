"""Index arrays of dims that a swizzle or a skew mixes with another one: the kernel `mixed`, against NumPy on addresses by formulas."""
import numpy as np
import pytest

import ravel
from test_arrays import data, run
from test_arrays_placed import command, cx, guarded, proven_as_a_file, proven_by_all_sets, TYPES, UINTS       # cx: a fixture

grid = lambda a, b: (np.asarray(a, "i8")[:, None], np.asarray(b, "i8")[None])
# A layout of M, K, its extents, and the addresses of coordinates.
LAYOUTS = [
    ("(M,K){M//8, K//32, M%8, K//4%8 ~ M%8, K%4}", (104, 96), lambda m, k: (((m // 8 * 3 + k // 32) * 8 + m % 8) * 8 + (k // 4 % 8 ^ m % 8)) * 4 + k % 4),
    ("(M,K){M, K//4 ~ M//2%4, K%4}", (50, 16), lambda m, k: m * 16 + (k // 4 ^ m // 2 % 4) * 4 + k % 4),
    ("(M,K){M, K//4 ~ (M + 1)//2%4, K%4}", (50, 16), lambda m, k: m * 16 + (k // 4 ^ (m + 1) // 2 % 4) * 4 + k % 4),
    ("(M,K){M, (K + M)%12}", (60, 12), lambda m, k: m * 12 + (k + m) % 12),
    ("(M,K){M//6, (K//2 + 2*M)%9, M%6, K%2}", (54, 18), lambda m, k: ((m // 6 * 9 + (k // 2 + 2 * m) % 9) * 6 + m % 6) * 2 + k % 2),
    ("(M,K){K, M//16, (M%16) ~ (K%16)}", (64, 48), lambda m, k: k * 64 + m // 16 * 16 + (m % 16 ^ k % 16)),
    ("(M,K){K//8%4 ~ M[4] ~ 2*M[1], M, K//32, K%8}", (32, 64), lambda m, k: (((k // 8 % 4 ^ m // 16 % 2 ^ m // 2 % 2 * 2) * 32 + m) * 2 + k // 32) * 8 + k % 8),
    ("(M,K){M, K, swizzle = xor(3, 2, 3)}", (64, 32), lambda m, k: (m * 32 + k) ^ (m * 32 + k) // 8 & 28)]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("text,extents,at", LAYOUTS, ids=[l[0] for l in LAYOUTS])
def test_rows_and_columns(cx, text, extents, at, bits):
    """Gathered and scattered by elements of all sizes, along either dim; some rows are not moved; the number of rows is left to run time."""
    rng = np.random.default_rng(sum(extents) + bits)
    for size, n in zip(TYPES, [1, 3, 255, 256, 700]):
        for d in 0, 1:
            t, u, name = TYPES[size], UINTS[size], "i32 idx" if bits == 32 else "idx"
            layout = text + "(%d,%d)[%s%s]" % (*extents, ":, " * d, name)
            slots = int(at(*grid(range(extents[0]), range(extents[1]))).max()) + 1
            idx = rng.integers(0, extents[d], n).astype("i%d" % (bits // 8))
            places = at(*(grid(range(extents[0]), idx) if d else grid(idx, range(extents[1]))))
            x = data((slots,), u)
            for shape in (places.shape, tuple(-1 if k == d else m for k, m in enumerate(places.shape))):
                y, intact = guarded(places.size, u)
                with cx.plan(layout, "(A,B){A,B}", shape, t) as p:
                    run(p, y, x, [idx], places.shape if -1 in shape else None)
                    assert y.tobytes() == x[places].tobytes() and intact()
            m = min(n, extents[d])
            idx = rng.permutation(extents[d])[:m].astype(idx.dtype)
            places = at(*(grid(range(extents[0]), idx) if d else grid(idx, range(extents[1]))))
            keep = rng.integers(0, 3, m) > 0
            v = data(places.shape, u, seed=4)
            z, intact = guarded(slots, u)
            want = z.copy()
            some = (slice(None), keep) if d else keep
            want[places[some]] = v[some]
            with cx.plan("(A,B){A,B}", layout.replace("[:, ", "[:, skip ") if d else layout.replace("[", "[skip ", 1) if "](" not in text and "[4]" not in text
                         else layout.replace("[" + name, "[skip " + name), places.shape, t) as p:
                run(p, z, v, [np.where(keep, idx, -1).astype(idx.dtype)])
                assert z.tobytes() == want.tobytes() and intact()


@pytest.mark.parametrize("text,extents,at", LAYOUTS, ids=[l[0] for l in LAYOUTS])
def test_both_coordinates(cx, text, extents, at):
    rng = np.random.default_rng(extents[0])
    i, j = rng.integers(0, extents[0], 600), rng.integers(0, extents[1], 600).astype("i4")
    x, (y, intact) = data((int(np.prod(extents)) * 2,), "u2"), guarded(600, "u2")
    with cx.plan(text + "(%d,%d)[i, i32 j]" % extents, "{A//5, A%5}", (600,), "u16") as p:
        run(p, y, x, [i, j])
        assert np.array_equal(y, x[at(i, j.astype("i8"))]) and intact()


@pytest.mark.parametrize("width", [1, 3, 5, 8, 13, 24, 33, 100])
def test_runs_of_any_length(cx, width):
    """Rows that are swizzled in units of `width` bytes."""
    rng = np.random.default_rng(width)
    idx, x = rng.integers(0, 80, 300), data((80, 8, width), "u1")
    y, intact = guarded(300 * 8 * width, "u1")
    with cx.plan("(M,K,B){M, K ~ M%%8, B}(80,8,%d)[idx]" % width, "{M,K,B}", (300, 8, width), "u8") as p:
        run(p, y, x, [idx])
        assert np.array_equal(y.reshape(300, 8, width), x[idx[:, None], np.arange(8) ^ idx[:, None] % 8]) and intact()


def test_digits_on_the_other_side(cx):
    """Rows of 6, so that a row is made of several loops; both sides are swizzled."""
    idx, at = np.random.default_rng(8).integers(0, 64, 66), np.arange(64)
    x = data((64, 8), "u4")
    with cx.plan("(M,K){M, K ~ M%8}(64,8)[idx]", "(A,B){A%6, B//2, A//6, B%2}", (66, 8), "u32") as p:
        y, intact = guarded(66 * 8, "u4")
        run(p, y, x, [idx])
        rows = x[idx[:, None], np.arange(8) ^ idx[:, None] % 8]
        assert np.array_equal(y.reshape(6, 4, 11, 2), rows.reshape(11, 6, 4, 2).transpose(1, 2, 0, 3)) and intact()
    jdx = np.random.default_rng(9).permutation(64)[:66 - 6]
    with cx.plan("(M,K){M, K ~ M%8}(64,8)[idx]", "(M,K){K, M ~ K//2%4}(64,8)[jdx]", (60, 8), "u32") as p:
        z, intact = guarded(512, "u4")
        want = z.copy().reshape(8, 64)
        want[np.arange(8)[None], jdx[:, None] ^ np.arange(8)[None] // 2 % 4] = rows[:60]
        run(p, z, x, [idx[:60].copy(), jdx])
        assert np.array_equal(z.reshape(8, 64), want) and intact()


PLANS = [("SW128(256,64)[idx]", "{A,B}", "100,64", "f16"), ("{A,B}", "SW128(256,64)[skip i32 idx]", "N,64", "f16"), ("SW128(256,64)[:, idx]", "{A,B}", "256,300", "f16"),
         ("SW64(64,96)[i, j]", "{A}", "500", "u8"), ("(M,K){M, (K + M)%12}(60,12)[idx]", "(A,B){B, A}", "77,12", "f32")]


@pytest.mark.parametrize("plan", PLANS)
def test_proof_of_all_sets(plan):
    proven_by_all_sets("mixed", *plan)


@pytest.mark.parametrize("plan", PLANS)
def test_emitted_code(plan):
    proven_as_a_file(*plan)
