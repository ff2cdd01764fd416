"""Offset functions and inverses with extents left to run time: the addresses that the evaluator of tests/orders.py, or NumPy, has at each shape."""

import ctypes as ct
import itertools
import subprocess

import numpy as np
import pytest

import orders as O
import ravel
from runtime_cases import built
from sanitize import UNDEFINED

RAVEL = str(ravel.BUILD / "ravel")


def emitted(*words, code=0, kind="offset"):
    r = subprocess.run([RAVEL, "emit", "--kind", kind, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert r.returncode == code, r.stdout + r.stderr
    return r.stdout + r.stderr


def function(tmp_path, count, *words):
    """The emitted function as one of `count` numbers in an array."""
    (tmp_path / "f.c").write_text(emitted(*words, "--name", "offset") + """
int64_t call(const int64_t *x);
int64_t call(const int64_t *x) { return offset(%s); }
""" % ", ".join("x[%d]" % i for i in range(count)))
    call = ct.CDLL(str(built(tmp_path / "f.c", "gcc"))).call
    call.argtypes, call.restype = [ct.c_void_p], ct.c_int64
    return lambda *x: call(np.array(x, np.int64).ctypes.data)


def inverse(tmp_path, rank, extents, *words):
    """A function of an address and the extents: the coordinates, or None."""
    (tmp_path / "i.c").write_text(emitted(*words, "--name", "inverse", kind="inverse") + """
int back(int64_t a, const int64_t *n, int64_t *x);
int back(int64_t a, const int64_t *n, int64_t *x) { (void)n; return inverse(a%s, x); }
""" % "".join(", n[%d]" % i for i in range(extents)))
    back = ct.CDLL(str(built(tmp_path / "i.c", "gcc"))).back
    back.argtypes = [ct.c_int64, ct.c_void_p, ct.c_void_p]

    def call(a, *n):
        x = np.full(max(rank, 1), -7, np.int64)
        return tuple(x[:rank].tolist()) if back(a, np.array(n, np.int64).ctypes.data, x.ctypes.data) else None
    return call


def gaps(c, h, w, by):
    return (c*(h + 2) + np.arange(h)[:, None] + 1)*w + (np.arange(w) + by) % w


CASES = [
    ("NC1HWC0", "N,C,H,W", "f16", [(1, 1, 1, 1), (2, 20, 5, 7), (3, 33, 2, 3)]),
    ("NCHW4", "N,C,5,7", "f32", [(1, 1, 5, 7), (3, 9, 5, 7)]),
    ("NHWC", "N,8,S,S", "u8", [(1, 8, 1, 1), (2, 8, 6, 6)]),
    ("SW128", "M,K", "f16", [(1, 1), (8, 64), (13, 70), (40, 200)]),
    ("FRACTAL_NZ", "B,H,W", "f16", [(1, 1, 1), (2, 18, 34), (3, 40, 17)]),
    ("MARLIN", "K,N", "u4", [(1, 1), (17, 65), (64, 128)]),
    ("SF128x4", "R,C", "u8", [(1, 1), (200, 10)]),
    ("(A,B){A//4, B, A%4, pitch = {B = 64}}", "A,B", "f32", [(1, 1), (10, 7)]),
    ("(A,B){B//3, A, 2 - B%3}", "A,B", "f32", [(1, 1), (10, 7)]),
    ("COL_MAJOR", "A,B,C", "f64", [(1, 1, 1), (3, 4, 5)]),
]


@pytest.mark.parametrize("layout, names, dtype, shapes", CASES, ids=lambda c: c if isinstance(c, str) else "")
def test_offsets(tmp_path, layout, names, dtype, shapes):
    names = names.split(",")
    own = list(dict.fromkeys(n for n in names if not n.isdigit()))
    offset = function(tmp_path, len(names) + len(own), "--to", layout, "--shape", ",".join(names), "--dtype", dtype)
    for shape in shapes:
        at = O.place(layout, shape, int(dtype[1:])).addr.reshape(shape)
        extents = [shape[names.index(n)] for n in own]
        for x in itertools.islice(np.ndindex(*shape), 0, None, 1 + at.size//3000):
            assert offset(*x, *extents) == at[x], (shape, x)


@pytest.mark.parametrize("layout, names, dtype, shapes", CASES, ids=lambda c: c if isinstance(c, str) else "")
def test_inverses(tmp_path, layout, names, dtype, shapes):
    """Of each address in storage and some outside, also at extents of 0."""
    names = names.split(",")
    own = list(dict.fromkeys(n for n in names if not n.isdigit()))
    back = inverse(tmp_path, len(names), len(own), "--to", layout, "--shape", ",".join(names), "--dtype", dtype)
    for shape in shapes:
        p = O.place(layout, shape, int(dtype[1:]))
        at = {int(a): x for x, a in np.ndenumerate(p.addr.reshape(shape))}
        extents = [shape[names.index(n)] for n in own]
        for a in [-1 << 63, -1, *range(0, p.size + 3, 1 + p.size//4000), p.size, 1 << 40, (1 << 63) - 1]:
            assert back(a, *extents) == at.get(a), (shape, a)
        assert back(0, *[0]*len(own)) is None


@pytest.mark.parametrize("layout, stored", [
    ("(C,H,W){C, (H + 1) % (extent(H) + 2), (W + 5) % extent(W)}", lambda c, h, w: np.array([gaps(i, h, w, 5) for i in range(c)])),
    ("(C,H,W){C, (2 - H) % extent(H), extent(W) - 1 - W}", lambda c, h, w: np.array([(i*h + (2 - np.arange(h)[:, None]) % h)*w + w - 1 - np.arange(w) for i in range(c)])),
    ("(C,H,W){C, H, extent(W) - 1 - W}", lambda c, h, w: np.arange(c*h*w).reshape(c, h, w)[:, :, ::-1]),
    ("(C,H,W){W, extent(H) - 1 - H, extent(C) - C - 1}", lambda c, h, w: np.arange(c*h*w).reshape(w, h, c).T[::-1, ::-1]),
    ("(C,H,W){extent(H) - 1 - H, C//4, W, C%4}", lambda c, h, w: (np.arange(h)[::-1, None]*-(-c//4) + np.arange(c)[:, None, None]//4)[..., None]*w*4 + np.arange(w)*4
     + np.arange(c)[:, None, None, None] % 4),
    ("(C,H,W){(extent(C) - 1 - C)//4, H, W, (extent(C) - 1 - C)%4}", lambda c, h, w: (((c - 1 - np.arange(c))//4)[:, None, None]*h*w + np.arange(h*w).reshape(h, w))*4
     + ((c - 1 - np.arange(c)) % 4)[:, None, None]),
    ("(C,H,W){(H*extent(W) + W)//16, C, (H*extent(W) + W)%16}",
     lambda c, h, w: (np.arange(h*w)//16*c + np.arange(c)[:, None])[..., None].reshape(c, h, w)*16 + np.arange(h*w).reshape(h, w) % 16)])
def test_inverses_by_extents(tmp_path, layout, stored):
    back = inverse(tmp_path, 3, 3, "--to", layout, "--shape", "C,H,W", "--dtype", "f32")
    offset = function(tmp_path, 6, "--to", layout, "--shape", "C,H,W", "--dtype", "f32")
    for shape in ((1, 1, 1), (2, 3, 4), (2, 5, 3), (3, 2, 16), (2, 2, 30), (9, 3, 2)):
        addr = stored(*shape).reshape(shape)
        assert all(offset(*x, *shape) == addr[x] for x in np.ndindex(*shape))
        at = {int(a): x for x, a in np.ndenumerate(addr)}
        for a in [-1, *range(addr.max() + 20), 1 << 40]:
            assert back(a, *shape) == at.get(a), (shape, a)


def test_shifts_and_borders(tmp_path):
    layout = "(C,H,W){C, (H + 1) % (extent(H) + 2), (W + 5) % extent(W)}"
    offset = function(tmp_path, 6, "--to", layout, "--shape", "C,H,W", "--dtype", "f32")
    for shape in ((1, 1, 1), (2, 3, 4), (2, 5, 3), (3, 2, 6), (2, 2, 30)):
        c, h, w = shape
        for x in np.ndindex(*shape):
            assert offset(*x, *shape) == gaps(x[0], h, w, 5)[x[1], x[2]], (shape, x)


@pytest.mark.parametrize("text, by", [("extent(A) - 1 - A", -1), ("(2 - A) % extent(A)", 2)])
def test_counted_from_the_end(tmp_path, text, by):
    offset = function(tmp_path, 4, "--to", "(A,B){%s, B}" % text, "--shape", "A,B", "--dtype", "f32")
    for n in (1, 2, 5):
        assert all(offset(*x, n, 3) == (by - x[0]) % n*3 + x[1] for x in np.ndindex(n, 3))


def test_dims_that_are_one_number(tmp_path):
    """FRACTAL_Z_C04: the pixels of 4 channels in a row, in tiles of 16 x 16."""
    offset = function(tmp_path, 7, "--to", "FRACTAL_Z_C04", "--shape", "N,3,H,W", "--dtype", "f16")
    for n, h, w in ((1, 1, 1), (18, 2, 2), (33, 3, 5)):
        for x in np.ndindex(n, 3, h, w):
            column = (x[2]*w + x[3])*4 + x[1]
            assert offset(*x, n, h, w) == ((column//16*-(-n//16) + x[0]//16)*16 + x[0] % 16)*16 + column % 16, (n, h, w, x)


def test_a_part_of_a_tensor(tmp_path):
    offset = function(tmp_path, 4, "--to", "NHWC(8,C,H,16)[2, ::-1, 1:, 3]", "--shape", "C,H", "--dtype", "f32")
    for c, h in ((1, 1), (4, 3)):
        whole = np.arange(8*(h + 1)*16*c).reshape(8, h + 1, 16, c).transpose(0, 3, 1, 2)[2, ::-1, 1:, 3]
        assert all(offset(*x, c, h) == whole[x] for x in np.ndindex(c, h))


@pytest.mark.parametrize("layout", ["NC1HWC0[:, ::-1]", "NC1HWC0(N,K,H,W)[:, [0,-1]]"])
def test_blocks_from_the_end(layout):
    """What is turned around on both sides of a conversion is not turned around in a function of one."""
    r = subprocess.run([RAVEL, "emit", "--kind", "offset", "--to", layout, "--shape", "N,2,H,W" if "K" in layout else "N,C,H,W", "--dtype", "f32", "-o", "-"], capture_output=True, text=True)
    assert r.returncode == 2 and "counted from the end" in r.stderr, r.stdout


def test_a_slice_from_the_end_of_blocks(tmp_path):
    offset = function(tmp_path, 8, "--to", "NC1HWC0(N,K,H,W)[:, -3:]", "--shape", "N,3,H,W", "--dtype", "f32")
    for k in (3, 7, 8, 9, 10, 11):
        for n, c, h, w in np.ndindex(2, 3, 2, 2):
            y = k - 3 + c
            assert offset(n, c, h, w, 2, 2, 2, k) == (((n*-(-k//8) + y//8)*2 + h)*2 + w)*8 + y % 8


def test_strides(tmp_path):
    offset = function(tmp_path, 6, "--to", "ROW_MAJOR@o(ld,1)", "--shape", "A,B", "--dtype", "f32")
    assert offset(3, 4, 10, 11, 100, 70) == 100 + 3*70 + 4


def test_targets():
    for target, words in (("cuda", "__device__ __forceinline__ long long"), ("hip", "__device__ __forceinline__ long long"), ("opencl", "static inline long")):
        text = emitted("--to", "NC1HWC0", "--shape", "N,C,H,W", "--dtype", "f16", "--target", target)
        assert words in text and "extent_c_ + 15" in text
        assert "extent_c_ + 15" in emitted("--to", "NC1HWC0", "--shape", "N,C,H,W", "--dtype", "f16", "--target", target, kind="inverse")


def body(*words):
    return emitted(*words, kind="inverse").split("\nravel_inverse", 1)[1].splitlines()[1:]


def test_reads_like_numbers():
    """A stride that is a number is one in both texts, and a check of a range has one form."""
    known, some, all_ = (body("--to", "NC1HWC0", "--shape", s, "--dtype", "f16") for s in ("2,20,5,7", "N,20,5,7", "N,C,H,W"))
    assert [x.replace("1120*extent_n_ - 1", "2239").replace("extent_n_ - 1", "1") for x in some] == known
    assert all("ravel_m" not in x for x in all_)
    assert "    if (c < 0 || c > extent_c_ - 1) return 0;" in all_ and "    const int64_t c = 16*q2 + r3%16;" in all_


@pytest.mark.parametrize("words, why", [
    (["--to", "NC1HWC0", "--target", "glsl"], "64 bits"),
    (["--to", "NCHW@(a,b,c,1)", "--kind", "inverse"], "no inverse in closed form for every shape"),
    (["--to", "NCHW[:, ::-1]", "--kind", "inverse"], "no inverse in closed form for every shape"),
    (["--to", "(N,C,H,W){N, C, H, H + W}"], "extent left to run time"),
    (["--to", "ROW_MAJOR(9,C,H,W)[idx]"], "index array"),
])
def test_refused(words, why):
    assert why in emitted(*words, "--shape", "N,C,H,W", "--dtype", "f16", code=2)


@pytest.mark.parametrize("layout, names", [("NC1HWC0", "N,C,H,W"), ("(A,B){B, (A + 3)%extent(A)}", "A,B")])
def test_no_address_overflows(tmp_path, layout, names):
    """Any number of 64 bits may be asked for: nothing that the function computes of it is undefined."""
    rank = names.count(",") + 1
    (tmp_path / "i.c").write_text(emitted("--to", layout, "--shape", names, "--dtype", "f32", "--name", "inverse", kind="inverse") + """
int main(void)
{
    const int64_t at[] = {INT64_MIN, INT64_MIN + 1, -1, INT64_MAX - 1, INT64_MAX};
    int64_t x[%d];
    for (int i = 0; i < 5; i++)
        if (inverse(at[i]%s, x)) return 1;
    return 0;
}
""" % (rank, ", 5" * rank))
    subprocess.run(["gcc", "-O0", *UNDEFINED, "-o", tmp_path / "i", tmp_path / "i.c"], check=True)
    assert subprocess.run([tmp_path / "i"]).returncode == 0
