"""What a spec says by the extents and the names of its dims: extent(W), strides, fills by parameter, halos, NAME(K,N), factors."""

import json
import os
import subprocess

import numpy as np
import pytest

import ravel


def moved(cx, x, to, size, source="ROW_MAJOR"):
    """The storage of x in a layout of `size` elements, in which bytes of holes are 0xA5."""
    with cx.plan(source, to, x.shape, {"u1": "u8", "u2": "u16", "u4": "u32"}[x.dtype.str[1:]]) as p:
        return p.run(x.reshape(-1).view(np.uint8), 0).view(x.dtype)[:size]


def ask(*args):
    r = subprocess.run([str(ravel.BUILD / "ravel"), *args], capture_output=True, text=True, timeout=60,
                       env={**os.environ, "LC_ALL": "C"})
    return r.returncode, r.stdout + r.stderr


def numbered(*shape, dtype="u4"):
    return np.arange(1, 1 + np.prod(shape), dtype=dtype).reshape(shape)


def test_flip_by_the_extent(cx):
    x = numbered(5, 7)
    assert np.array_equal(moved(cx, x, "{H, extent(W) - 1 - W}", 35), x[:, ::-1].reshape(-1))
    assert np.array_equal(moved(cx, x, "{extent(H) - 1 - H, W}", 35), x[::-1].reshape(-1))


def test_dims_fused_and_split_again(cx):
    """(H, W, C) as one number, in blocks of 8: C is padded to 4."""
    x = numbered(3, 5, 2)
    want = np.zeros((3, 5, 4), "u4")
    want[..., :2] = x
    to = "(H,W,C){((H*extent(W) + W)*4 + C) // 4, ((H*extent(W) + W)*4 + C) % 4, pad = {C = 4}}"
    assert np.array_equal(moved(cx, x, to, 60), want.reshape(-1))


@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (40, 77), (3, 200)])
def test_halo(cx, shape):
    x = numbered(*shape)
    to = "(H,W){(H + 1) % (extent(H) + 3), (W + 2) % (extent(W) + 3), V = 9, fill = V}"
    want = np.pad(x, ((1, 2), (2, 1)), constant_values=9)
    assert np.array_equal(moved(cx, x, to, want.size), want.reshape(-1))


def test_halo_of_blocks_of_channels(cx):
    x = numbered(2, 11, 5, 7)
    want = np.pad(x, ((0, 0), (0, 5), (1, 1), (1, 1))).reshape(2, 2, 8, 7, 9).transpose(0, 1, 3, 4, 2)
    to = "(N,C,H,W){N, C//8, (H + 1) % (extent(H) + 2), (W + 1) % (extent(W) + 2), C%8}"
    assert np.array_equal(moved(cx, x, to, want.size), want.reshape(-1))


def test_fill_is_a_parameter(cx):
    cx.load('layout "ZP" { dims = {N, C}, Z = 128, order = {N, C//4, C%4}, fill = Z - 1 }')
    x = numbered(3, 6, dtype="u1")
    for use, z in [("ZP", 127), ("ZP{Z=1}", 0), ("ZP{Z=256}", 255)]:
        want = np.full((3, 8), z, "u1")
        want[:, :6] = x
        assert np.array_equal(moved(cx, x, use, 24), want.reshape(-1))
    with pytest.raises(ravel.Error, match="cannot be held by u8"):
        moved(cx, x, "ZP{Z=257}", 24)


def test_stride_is_exact(cx):
    x = numbered(3, 4, 5)
    got = moved(cx, x, "(A,B,C){A, B, C, stride = {A = 50, B = 7}}", 3 * 50)
    assert all(np.array_equal(got[50*a + 7*b:50*a + 7*b + 5], x[a, b]) for a in range(3) for b in range(4))
    assert got[5] == 0xA5A5A5A5


@pytest.mark.parametrize("words, says", [
    ("{A, B, stride = {A = 4}}", "the stride of 'A' is 4 elements, but the entries after it take 5"),
    ("{A, B, stride = {A = 8}, pitch = {A = 8}}", "has two strides"),
    ("{A, B, stride = {A = 0}}", "stride must be a number above 0"),
    ("{A, B//2, B%2, stride = {B = 4}}", "name the entry by its number, as in stride = {"),
    ("{A, B, stride = {Q = 4}}", "stride: there is no dim 'Q'"),
    ("{A, B, Z = extent(A), fill = Z}", "has no value here"),
    ("{A, B//Z, B%Z, Z = extent(B)}", "has no value here"),
    ("(A,B){A, B + extent(C)}", "unknown name 'extent(C)'"),
    ("{A, B + extent(A + B)}", "extent takes one dim"),
    ("{A, B, fill = A}", "unknown name 'A'"),
    ("{A//extent(B), A%extent(B), B//0}", "'B//0'"),
])
def test_errors(words, says):
    code, text = ask("check", words, "--shape", "3,5", "--dtype", "f32")
    assert code == 2 and says in text, text


@pytest.mark.parametrize("pair, says", [
    ("VNNI2(K)", "has 2 named dims"), ("VNNI2(K,K)", "'K' cannot name a dim"), ("VNNI2(K,N", "expected , or )"),
    ("SW128(M,E)", "'E' cannot name a dim"), ("VNNI2()", "has dims (K, N), the shape has 0 extents"), ("VNNI2(K,N,L)", "has 2 named dims"),
    ("VNNI2(bytes,N)", "'bytes' cannot name a dim"), ("VNNI2(K,N)x", "expected one table"),
])
def test_errors_of_names(pair, says):
    code, text = ask("check", pair, "--shape", "4,4", "--dtype", "f16")
    assert code == 2 and says in text, text


@pytest.mark.parametrize("text, says", [
    ("origin('a')", "origin takes two or three lines of text"), ("origin('a', 'b\\nc')", "origin takes two or three lines of text"),
    ("origin(1, 2)", "origin takes two or three lines of text"), ("origin('', 'b')", "origin takes two or three lines of text"),
    ("origin('a', 'b', 3)", "origin takes two or three lines of text"), ("origin('a', 'b', '')", "origin takes two or three lines of text"),
    ("layout 'X' { dims = { extent(W) }, order = { W } }", "a dim is a plain name"),
    ("layout 'X' { dims = { W }, order = { W }, fill = W }", "unknown name 'W'"),
])
def test_errors_of_specs(cx, text, says):
    with pytest.raises(ravel.Error) as e:
        cx.load(text)
    assert says in e.value.text, e.value.text


def test_dims_paired_by_name(cx):
    """(K,N) in pairs along K to (N,K) in plain rows."""
    x = numbered(6, 5, dtype="u2")
    stored = x.reshape(3, 2, 5).transpose(0, 2, 1).reshape(-1)
    with cx.plan("VNNI2(K,N)", "ROW_MAJOR", (6, 5), 16) as p:
        assert np.array_equal(p.run(stored.view(np.uint8), 0).view("u2")[:30], x.reshape(-1))
    with cx.plan("VNNI2(K,N)", "BLOCKED_RR(N,K){BM=5, BN=6}", (6, 5), 16) as p:
        assert np.array_equal(p.run(stored.view(np.uint8), 0).view("u2")[:30], x.T.reshape(-1))


def test_extents_are_renamed_with_their_dims(cx):
    cx.load('layout "FLIP" { dims = {R, C}, order = {extent(R) - 1 - R, C}, pad = {C = 4}, stride = {C = 1} }')
    assert np.array_equal(cx.table("FLIP(C,R)", (3, 4), 32), cx.table("FLIP", (3, 4), 32))


FACTORS = [
    ("(A,H){A, (H + 4) % 12}", (1000000, 12), 12),
    ("(G,H,I){(1 + 2*G) % 3, H, I}", (3, 1000, 10000), 3),
    ("{C//6, C%6//4, C%6%4}", (24000000,), 6),
    ("(H,W){(H + 1) % (extent(H) + 2), (W + 1) % (extent(W) + 2)}", (4000, 7000), 4002 + 7002),
    ("(Y,X){Y, X + Y%2*(14 - 2*X)}", (1000000, 15), 30),
    # W is cut at 16, and 80 of its values are not all below 70.
    ("(N,C,H,W){N, C, (H*extent(W) + W)//16, (H*extent(W) + W)%16}", (40, 30, 55, 70), 55 * 70),
    ("(N,H,W){N, (H*extent(W) + W)//16, (H*extent(W) + W)%16}", (4000000, 3, 66), 3 * 66),
]


@pytest.mark.parametrize("layout, shape, examined", FACTORS)
def test_factors_are_examined_one_by_one(layout, shape, examined):
    code, text = ask("check", layout, "--shape", ",".join(map(str, shape)))
    assert code == 0 and "(its independent parts were examined: %d values)" % examined in text, text


@pytest.mark.parametrize("step, one_to_one", [(2, False), (3, True)])
def test_terms_that_reach_a_step_are_no_digits(step, one_to_one):
    code, text = ask("check", "--json", "(A,B){%d*A + (B + 1)%%3}" % step, "--shape", "400000,3", "--dtype", "f32")
    assert code == (not one_to_one) and json.loads(text)["one_to_one"] == ("yes" if one_to_one else "no")


def test_a_collision_of_the_last_values_of_a_cut():
    """Of 66 values of W, which is cut at 16, the last two."""
    code, text = ask("check", "--json", "(N,H,W){N, (H*65 + W)//16, (H*65 + W)%16}", "--shape", "4000000,3,66", "--dtype", "f32")
    x, y = json.loads(text)["witness"]["x"], json.loads(text)["witness"]["y"]
    assert code == 1 and x[0] == y[0] and x != y and x[1] * 65 + x[2] == y[1] * 65 + y[2]


def test_a_collision_in_a_factor_is_a_collision():
    code, text = ask("check", "--json", "(A,H){A, (H + 4) % 12}", "--shape", "1000000,13", "--dtype", "f32")
    told = json.loads(text)
    x, y = told["witness"]["x"], told["witness"]["y"]
    assert code == 1 and x[0] == y[0] and (x[1] - y[1]) % 12 == 0 and x != y


def random_entry(rng, dims):
    """An index expression over some of the dims, of one of the kinds that factors are made of."""
    d, k = rng.choice(dims), int(rng.choice([2, 3, 4, 5, 6, 8]))
    j = int(rng.choice([2, 3, 4]))
    other = rng.choice(dims)
    return str(rng.choice(["%s" % d, "%s//%d" % (d, k), "%s%%%d" % (d, k), "(%s + %d)%%%d" % (d, j, k), "%s%%%d//%d" % (d, k, j),
                           "%s%%%d%%%d" % (d, k, j), "(%d*%s + 1)%%%d" % (j, d, k), "(%s + %s)%%%d" % (d, other, k)]))


def addresses(entries, shape):
    """One key for each element: the tuple of the entries, by Python's own arithmetic on NumPy arrays."""
    axes = dict(zip("ABC", np.indices(shape)))
    return np.stack([np.broadcast_to(eval(e, {}, axes), shape).reshape(-1) for e in entries], axis=1)


def test_random_layouts_of_factors():
    """Against the set of all tuples of entries: one-to-one if there are as many as elements."""
    rng = np.random.default_rng(19)
    yes = factors = 0
    for _ in range(120):
        dims = list("ABC"[:rng.integers(1, 4)])
        shape = tuple(int(rng.integers(1, 14)) for _ in dims)
        entries = [random_entry(rng, dims) for _ in range(rng.integers(len(dims), len(dims) + 4))]
        text = "(%s){%s}" % (",".join(dims), ", ".join(entries))
        want = len(np.unique(addresses(entries, shape), axis=0)) == np.prod(shape)
        code, said = ask("check", text, "--shape", ",".join(map(str, shape)), "--json", "--dtype", "f32")
        told = json.loads(said)
        repeated = "stored twice" in said
        assert (told["one_to_one"] == "yes") == want or repeated, (text, shape, said)
        yes += want
        factors += told.get("proven_by") == "factors"
    print(yes, "one-to-one,", factors, "by factors")
    assert yes > 15 and factors > 5
