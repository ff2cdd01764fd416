"""npy_read and npy_write against numpy, by way of the npy_cat driver.

RAVEL_BUILD names the build folder (default "build", relative to the repository).
"""
import io
import itertools
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")

ROOT = pathlib.Path(__file__).resolve().parent.parent
CAT = ROOT / os.environ.get("RAVEL_BUILD", "build") / "tests" / "npy_cat"

TYPES = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 V1 V2 V4 V8".split()
SHAPES = [
    (), (1,), (7,), (2, 3), (33, 65), (1, 5), (5, 1), (3, 4, 5), (64, 2, 34),
    (2, 1, 3, 1), (2, 3, 4, 5), (2, 3, 1, 4, 3), (2, 3, 2, 2, 3, 2),
    (0,), (3, 0), (0, 3, 2), (2, 0, 3, 4),
    (1,) * 32, (2,) + (1,) * 30 + (3,), (1, 2, 1, 3) * 2 + (1,) * 24,
]


def sample(dtype, shape):
    """Every byte its own, so that no misplaced one goes unseen."""
    n = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.random.default_rng(n).integers(0, 256, n, dtype=np.uint8)
    if dtype.kind == "b":
        raw &= 1
    return np.frombuffer(raw.tobytes(), dtype).reshape(shape)


def cat(src, dst, **kw):
    return subprocess.run([CAT, src, dst], capture_output=True, **kw)


def assert_file(src, want):
    """npy_cat makes of `src` what np.save makes of `want`, to the byte."""
    dst, ref = src.with_name("out.npy"), src.with_name("ref.npy")
    np.save(ref, want)
    r = cat(src, dst)
    assert r.returncode == 0, r.stderr
    assert dst.read_bytes() == ref.read_bytes()


def assert_cat(tmp_path, saved, want):
    np.save(tmp_path / "in.npy", saved)
    assert_file(tmp_path / "in.npy", want)


def little(a):
    """`a` in C order and little endian; np.ascontiguousarray makes () into (1,)."""
    return np.array(a, dtype=a.dtype.newbyteorder("<"), order="C")


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("byteorder, order", itertools.product("<>", "CF"))
def test_round_trip(tmp_path, name, byteorder, order):
    dtype = np.dtype(byteorder + name)
    for shape in SHAPES:
        a = np.array(sample(dtype, shape), order=order)
        assert_cat(tmp_path, a, little(a))


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(tmp_path, version):
    a = np.asfortranarray(np.arange(12, dtype=">i4").reshape(3, 4))
    with open(tmp_path / "in.npy", "wb") as f:
        np.lib.format.write_array(f, a, version)
    assert_file(tmp_path / "in.npy", little(a))


def test_growth_room(tmp_path):
    """NumPy's padding depends on the digits of the first extent."""
    for n in (9, 10, 99, 100, 99999, 100000):
        a = np.zeros(n, np.uint8)
        assert_cat(tmp_path, a, a)


def test_header_that_needs_no_padding(tmp_path):
    """All header lengths around a multiple of 64."""
    for rank in range(33):
        a = np.zeros((1,) * rank, np.float64)
        assert_cat(tmp_path, a, a)


def test_streams():
    """Standard input and output, which are pipes here."""
    a = np.arange(100000, dtype=np.int32)
    f = io.BytesIO()
    np.save(f, a)
    r = cat("-", "-", input=f.getvalue())
    assert r.returncode == 0, r.stderr
    assert r.stdout == f.getvalue()


REFUSED = {
    "object": (np.array([None, {}], dtype=object), "Python objects"),
    "structured": (np.zeros(3, [("a", "f4"), ("b", "i2")]), "structured"),
    "nested name": (np.zeros(3, [("é", "f4")]), "structured"),
    "string": (np.array(["a", "b"]), "'<U1' is not read"),
    "bytes": (np.array([b"a", b"b"]), "'|S1' is not read"),
    "long double": (np.zeros(3, np.longdouble), "is not read"),
    "datetime": (np.zeros(3, "M8[s]"), "'<M8[s]' is not read"),
    "timedelta": (np.zeros(3, "m8[s]"), "'<m8[s]' is not read"),
    "odd void": (np.zeros(3, "V3"), "'|V3' is not read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    array, says = REFUSED[name]
    src, dst = tmp_path / "in.npy", tmp_path / "out.npy"
    np.save(src, array, allow_pickle=True)
    r = cat(src, dst)
    assert r.returncode == 2
    assert says in r.stderr.decode() and str(src) in r.stderr.decode()
    assert "known are b1" in r.stderr.decode()
    assert not dst.exists()


@pytest.mark.parametrize("change, says", [(-1, "1 are missing"), (-24, "24 are missing"),
                                          (5, "5 bytes too many")])
def test_wrong_length(tmp_path, change, says):
    src, dst = tmp_path / "in.npy", tmp_path / "out.npy"
    np.save(src, np.arange(6, dtype=np.float32))
    os.truncate(src, src.stat().st_size + change)
    dst.write_text("old")
    r = cat(src, dst)
    assert r.returncode == 2
    assert says in r.stderr.decode()
    assert dst.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.npy", "out.npy"]


def test_npz(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.zeros(3))
    r = cat(tmp_path / "a.npz", tmp_path / "out.npy")
    assert r.returncode == 2 and b"archive" in r.stderr
