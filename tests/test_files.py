"""convert on files with several arrays (.npz, safetensors, GGUF) and on raw data at an offset, against what NumPy and struct write and read."""
import json
import os
import struct
import subprocess
import zipfile
import zlib

import numpy as np
import pytest

import ravel
from command import convert, here, RAVEL  # noqa: F401 (here is a fixture)

X = np.random.default_rng(5).standard_normal((2, 20, 5, 7)).astype("f2")
NHWC = X.transpose(0, 2, 3, 1)
PAIR = ["--from", "NCHW", "--to", "NHWC"]


def safetensors(tensors, path="x.safetensors", **other):
    """other: what stands in place of a tensor's own header."""
    at, header, data = 0, {"__metadata__": {"format": "np"}}, b""
    for name, (kind, x) in tensors.items():
        raw = x.tobytes()
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [at, at + len(raw)], **other}
        at, data = at + len(raw), data + raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def gguf(tensors, path="x.gguf", version=3, keys=b"", nkeys=0, align=32, cut=None):
    def string(s):
        return struct.pack("<Q", len(s)) + s.encode()
    head, data = b"GGUF" + struct.pack("<IQQ", version, len(tensors), nkeys) + keys, b""
    for name, (kind, x) in tensors.items():
        data += b"\0" * (-len(data) % align)
        head += string(name) + struct.pack("<I", x.ndim) + struct.pack("<%dQ" % x.ndim, *x.shape[::-1]) + struct.pack("<IQ", kind, len(data))
        data += x.tobytes()
    open(path, "wb").write((head + b"\0" * (-len(head) % align) + data)[:cut])


# --- .npz

@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_is_read(save):
    save("x.npz", a=np.zeros(3), weights=X)
    convert("x.npz", "y.npy", *PAIR, "--tensor", "weights", "--verify")
    assert np.array_equal(np.load("y.npy"), NHWC)
    convert("x.npz", "y.npy", *PAIR, "--tensor", "weights.npy")
    save("one.npz", X)
    convert("one.npz", "y.npy", *PAIR)


def test_npz_is_written():
    """As NumPy reads it, and zipfile, which checks sums; the array keeps its name."""
    np.save("x.npy", X)
    assert convert("x.npy", "y.npz", *PAIR) == "y.npz: f16 of (2,20,5,7) as NHWC, 2800 bytes\n"
    with np.load("y.npz") as z:
        assert z.files == ["arr_0"] and np.array_equal(z["arr_0"], NHWC)
    assert zipfile.ZipFile("y.npz").testzip() is None
    np.savez("n.npz", map=X)
    convert("n.npz", "m.npz", *PAIR)
    assert np.load("m.npz").files == ["map"]
    assert np.array_equal(np.load("m.npz")["map"], NHWC)
    convert("m.npz", "back.npy", "--from", "NHWC", "--to", "NCHW")
    assert np.array_equal(np.load("back.npy"), X)


def test_npz_on_a_pipe():
    np.savez("x.npz", X)
    r = subprocess.run([RAVEL, "convert", "-", "-", *PAIR], stdin=open("x.npz", "rb"), capture_output=True, check=True)
    assert r.stdout[:6] == b"\x93NUMPY" and r.stdout[-2800:] == NHWC.tobytes()


def test_npz_of_wide_entries():
    """Sizes and places that stand in the 64-bit fields."""
    body = open("x.npy", "wb")
    np.save(body, X)
    body.close()
    raw = open("x.npy", "rb").read()
    crc = zlib.crc32(raw)
    local = struct.pack("<IHHHIIIIHH", 0x04034b50, 45, 0, 0, 0, crc, 2**32 - 1, 2**32 - 1, 5, 20) + b"x.npy" + struct.pack("<HHQQ", 1, 16, len(raw), len(raw))
    extra = struct.pack("<HHHHQQQ", 99, 0, 1, 24, len(raw), len(raw), 0)
    entry = struct.pack("<IHHHHIIIIHHHHHII", 0x02014b50, 45, 45, 0, 0, 0, crc, 2**32 - 1, 2**32 - 1, 5, len(extra), 0, 0, 0, 0, 2**32 - 1) + b"x.npy" + extra
    at = len(local) + len(raw)
    end64 = struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, 1, 1, len(entry), at)
    tail = struct.pack("<IIQI", 0x07064b50, 0, at + len(entry), 1) + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 65535, 65535, len(entry), 2**32 - 1, 0)
    open("x.npz", "wb").write(local + raw + entry + end64 + tail)
    convert("x.npz", "y.npy", *PAIR)
    assert np.array_equal(np.load("y.npy"), NHWC)


def test_npz_that_is_damaged():
    np.savez_compressed("x.npz", X)
    good = open("x.npz", "rb").read()
    for at in range(0, len(good), 211):
        open("y.npz", "wb").write(good[:at])
        if at >= 4:
            assert "y.npz" in convert("y.npz", "z.npy", *PAIR, code=2)
    said = set()
    for at in [*range(4, 60, 3), *range(60, len(good), 301), *range(len(good) - 80, len(good), 3)]:
        bad = bytearray(good)
        bad[at] ^= 0x55
        open("y.npz", "wb").write(bad)
        r = subprocess.run([RAVEL, "convert", "y.npz", "z.npy", *PAIR], capture_output=True, text=True)
        assert r.returncode in (0, 2)
        said.add(r.stderr.split(":")[-1])
        if r.returncode == 0:
            assert np.array_equal(np.load("z.npy"), NHWC)
    assert any("is damaged" in s for s in said)


# --- safetensors

@pytest.mark.parametrize("kind, dtype", [("F16", "f2"), ("F32", "f4"), ("F64", "f8"), ("I8", "i1"), ("U16", "u2"), ("I64", "i8"), ("BOOL", "?"), ("C64", "c8")])
def test_safetensors_is_read(kind, dtype):
    x = (X > 0).astype(dtype) if dtype == "?" else (X * 50).astype(dtype)
    safetensors({"a": ("F32", np.zeros((3, 4), "f4")), "layer.0.weight": (kind, x)})
    convert("x.safetensors", "y.npy", *PAIR, "--tensor", "layer.0.weight")
    y = np.load("y.npy")
    assert y.dtype == np.dtype(dtype) and np.array_equal(y, x.transpose(0, 2, 3, 1))


def test_bfloat16_needs_no_dtype():
    x = X.view("u2")
    safetensors({"w": ("BF16", x)})
    assert convert("x.safetensors", "y.bin", *PAIR).startswith("y.bin: bf16 of (2,20,5,7)")
    assert open("y.bin", "rb").read() == x.transpose(0, 2, 3, 1).tobytes()
    gguf({"w": (30, x)})
    assert convert("x.gguf", "z.bin", *PAIR).startswith("z.bin: bf16 of (2,20,5,7)")
    assert open("z.bin", "rb").read() == open("y.bin", "rb").read()


@pytest.mark.parametrize("other, says", [
    ({"data_offsets": [0, 10**12]}, "the data of 'w' is not in the file"),
    ({"data_offsets": [8, 4]}, "the data of 'w' is not in the file"),
    ({"data_offsets": "x"}, "the data of 'w' is not in the file"),
    ({"shape": [2, 20, 5]}, "needs 400 bytes and has 2800"),
    ({"shape": [-1, 20, 5, 7]}, "an extent of -1"),
    ({"shape": [2**40, 2**40]}, "does not fit"),
    ({"shape": 5}, "no list of at most 64 extents"),
    ({"shape": [2, "x"]}, "an extent of -1"),
    ({"dtype": "F4"}, "elements of an unknown type 'F4'"),
    ({"dtype": 5}, "elements of an unknown type ''"),
])
def test_safetensors_that_are_wrong(other, says):
    safetensors({"w": ("F16", X)}, **other)
    assert says in convert("x.safetensors", "y.npy", *PAIR, code=2) and not os.path.exists("y.npy")


def test_headers_that_are_wrong():
    for text, says in [(b'{"a": {"dtype": "F32"}, "a": {}}', "the header is not JSON: duplicate"), (b'{"a": ', "the header is not JSON"),
                       (b'{}', "has no arrays"), (b'{"a": 1}', "the data of 'a' is not in the file")]:
        open("x.safetensors", "wb").write(struct.pack("<Q", len(text)) + text)
        assert says in convert("x.safetensors", "y.npy", *PAIR, code=2)


@pytest.mark.parametrize("cut, says", [
    (5, "has 5 bytes, and a safetensors file begins with 8"), (40, "its header has 192 bytes, and 32 are left in the file"),
    (-50, "the data of 'b' is not in the file, it ends at byte 5600 of the data, and there are 5550")])
def test_safetensors_that_are_cut(cut, says):
    """Also if the tensor that is wanted is whole."""
    safetensors({"a": ("F16", X), "b": ("F16", X)})
    whole = open("x.safetensors", "rb").read()
    open("x.safetensors", "wb").write(whole[:cut])
    assert says in convert("x.safetensors", "y.npy", *PAIR, "--tensor", "a", code=2) and not os.path.exists("y.npy")


def test_headers_of_safetensors_without_a_brace():
    open("x.safetensors", "wb").write(struct.pack("<Q", 4) + b"abcd" + X.tobytes())
    assert "the header does not begin with '{'" in convert("x.safetensors", "y.npy", *PAIR, code=2)


# --- GGUF

def test_gguf_is_read():
    def string(s):
        return struct.pack("<Q", len(s)) + s
    keys = (string(b"general.name") + struct.pack("<I", 8) + string(b"a model") + string(b"tokens") + struct.pack("<IIQ", 9, 8, 2) + string(b"x") + string(b"yz") +
            string(b"sizes") + struct.pack("<IIQ", 9, 4, 3) + bytes(12) + string(b"general.alignment") + struct.pack("<II", 4, 64) + string(b"ok") +
            struct.pack("<IB", 7, 1))
    gguf({"a": (0, np.zeros(5, "f4")), "blk.0.w": (1, X), "b": (24, np.zeros(3, "i1"))}, keys=keys, nkeys=5, align=64)
    convert("x.gguf", "y.npy", *PAIR, "--tensor", "blk.0.w", "--verify")
    assert np.array_equal(np.load("y.npy"), NHWC)


def test_gguf_that_is_wrong():
    gguf({"w": (2, np.zeros((4, 4), "u1"))})
    assert "'w' is quantised (type 2 of ggml)" in convert("x.gguf", "y.npy", *PAIR, code=2)
    gguf({"w": (1, X)}, version=9)
    assert "GGUF of version 9" in convert("x.gguf", "y.npy", *PAIR, code=2)
    gguf({"w": (1, X)}, keys=struct.pack("<Q", 1) + b"k" + struct.pack("<I", 77), nkeys=1)
    assert "metadata of an unknown type 77" in convert("x.gguf", "y.npy", *PAIR, code=2)
    gguf({"w": (1, X)}, nkeys=2**60)
    assert "ends early" in convert("x.gguf", "y.npy", *PAIR, code=2)
    gguf({"w": (1, X)})
    whole = os.path.getsize("x.gguf")
    for cut in range(4, whole, 223):
        gguf({"w": (1, X)}, cut=cut)
        assert "ends" in convert("x.gguf", "y.npy", *PAIR, code=2)


# --- choosing, raw data

def test_choosing():
    np.savez("x.npz", **{"layer%d" % i: X for i in range(9)})
    assert "has 9 arrays: choose one with --tensor: layer0, " in (said := convert("x.npz", "y.npy", *PAIR, code=2)) and "and 3 more" in said
    np.savez("x.npz", w=X)
    with zipfile.ZipFile("x.npz", "a") as z:
        z.writestr("notes.txt", "one more member, which is no array")
    convert("x.npz", "y.npy", *PAIR)
    assert np.array_equal(np.load("y.npy"), NHWC)
    np.savez("z.npz", weight=X, text=np.zeros(3, "U4"))
    assert "has no array 'wieght'; it has weight, text; did you mean 'weight'?" in convert("z.npz", "y.npy", *PAIR, "--tensor", "wieght", code=2)
    assert "ravel: 'text' of 'z.npz': element type '<U4' is not read" in convert("z.npz", "y.npy", *PAIR, "--tensor", "text", code=2)
    safetensors({"weight": ("F16", X), "bias": ("F16", X)})
    assert "has no array 'wieght'; it has weight, bias; did you mean 'weight'?" in convert("x.safetensors", "y.npy", *PAIR, "--tensor", "wieght", code=2)
    convert("x.safetensors", "y.npy", *PAIR, "--tensor", "w*t")
    assert np.array_equal(np.load("y.npy"), NHWC)
    assert "has 2 arrays like '*i*', and OUT has room for one: name a .safetensors or .npz file: weight, bias" in convert("x.safetensors", "y.npy", *PAIR, "--tensor", "*i*", code=2)
    safetensors({"a[1]": ("F16", X), "a1": ("F16", X[::-1])})
    convert("x.safetensors", "y.npy", *PAIR, "--tensor", "a[1]")       # a name before it is a pattern
    assert np.array_equal(np.load("y.npy"), NHWC)
    safetensors({"a"*200 + "b": ("F16", X), "a"*200 + "c": ("F16", X)})
    assert "names in an archive have at most 200 bytes" in convert("x.safetensors", "y.npz", *PAIR, "--tensor", "a*", code=2)
    np.save("x.npy", X)
    assert "has one array, without a name" in convert("x.npy", "y.npy", *PAIR, "--tensor", "w", code=2)
    assert "--offset is for raw data" in convert("x.npy", "y.npy", *PAIR, "--offset", "8", code=2)


MANY = {"a.w": X, "b": np.arange(7, dtype="f4"), "c.w": np.arange(240, dtype="f8").reshape(2, 3, 8, 5)}
LIKE = {name: x.transpose(0, 2, 3, 1) for name, x in MANY.items() if x.ndim == 4}


def many_of(path):
    """What a file of several has, as NumPy's arrays."""
    if path.endswith(".npz"):
        return dict(np.load(path))
    return {n: np.frombuffer(raw, {"F16": "f2", "F32": "f4", "F64": "f8"}[kind]).reshape(shape) for n, (kind, shape, raw) in read_safetensors(path)[1].items()}


@pytest.mark.parametrize("source", ["x.npz", "x.safetensors", "x.gguf", "-"])
@pytest.mark.parametrize("out", ["y.npz", "y.safetensors"])
def test_a_pattern_of_several(source, out):
    """All that fit are converted, and what does not is left out; with less memory than the results take too."""
    np.savez_compressed("x.npz", **MANY)
    safetensors({n: ({2: "F16", 4: "F32", 8: "F64"}[x.itemsize], x) for n, x in MANY.items()})
    gguf({n: ({2: 1, 4: 0, 8: 28}[x.itemsize], x) for n, x in MANY.items()})
    for more in ([], ["--verify"], ["--mem", "6K"]):
        given = {"stdin": open("x.npz", "rb")} if source == "-" else {}
        said = convert(source, out, *PAIR, "--tensor", "*.w", *more, **given)
        assert [line.split(": ")[1] for line in said.splitlines()] == list(LIKE)
        got = many_of(out)
        assert list(got) == list(LIKE) and all(np.array_equal(got[n], LIKE[n]) and got[n].dtype == LIKE[n].dtype for n in LIKE)
        os.remove(out)


def test_several_with_a_layout_in_the_file():
    """Each says its own shape and layout."""
    np.savez("x.npz", **MANY)
    convert("x.npz", "y.safetensors", "--from", "NCHW", "--to", "NC1HWC0", "--tensor", "*.w")
    convert("y.safetensors", "z.npz", "--to", "NHWC", "--tensor", "*", "--verify")
    got = many_of("z.npz")
    assert all(np.array_equal(got[n], LIKE[n]) for n in LIKE)


@pytest.mark.parametrize("more, code, says", [(["*"], 2, "'b' of 'x.safetensors' has 1 dim, (7), and NCHW has 4: give the logical shape with --shape; a pattern as --tensor '!(b)' leaves it out"), (["*.w", "--dtype", "f16"], 2, "'c.w' of 'x.safetensors' holds 8-byte elements")])
def test_several_are_whole_or_not_there(more, code, says):
    safetensors({n: ({2: "F16", 4: "F32", 8: "F64"}[x.itemsize], x) for n, x in MANY.items()})
    open("y.npz", "w").write("before")
    assert says in convert("x.safetensors", "y.npz", *PAIR, "--tensor", *more, code=code)
    assert open("y.npz").read() == "before" and sorted(os.listdir()) == ["x.safetensors", "y.npz"]


def test_several_of_which_some_are_empty():
    """Each file has what NumPy makes of the arrays, and the result of a conversion can be converted back."""
    all_of = {n: MANY[n] for n in LIKE} | {"none": np.empty((0, 20, 5, 7), np.float32), "flat": np.empty((2, 20, 0, 7), np.float16)}
    want = {n: x.transpose(0, 2, 3, 1) for n, x in all_of.items()}
    np.savez("x.npz", **all_of)
    safetensors({n: ({2: "F16", 4: "F32", 8: "F64"}[x.itemsize], x) for n, x in all_of.items()})
    for file in ("x.npz", "x.safetensors"):
        for out in ("y.npz", "y.safetensors"):
            convert(file, out, *PAIR, "--tensor", "*", "--verify")
            got = many_of(out)
            assert list(got) == list(want) and all(got[n].dtype == x.dtype and np.array_equal(got[n], x) for n, x in want.items())
        convert(file, "blocks.safetensors", "--from", "NCHW", "--to", "NC1HWC0", "--tensor", "*")
        convert("blocks.safetensors", "z.npz", "--to", "NHWC", "--tensor", "*")
        assert {n: x.tobytes() for n, x in many_of("z.npz").items()} == {n: x.tobytes() for n, x in want.items()}
        convert(file, "none.npy", *PAIR, "--tensor", "none")
        assert np.load("none.npy").shape == (0, 5, 7, 20)
    convert("x.npz", "y.npz", *PAIR, "--tensor", "!(none)")
    assert list(many_of("y.npz")) == [n for n in want if n != "none"]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_an_array_without_elements(shape, order):
    np.save("x.npy", np.empty(shape, "f4", order=order))
    for to, want in [("{B, A}", shape[::-1]), ("{B//16, A, B%16}", (-(-shape[1] // 16), shape[0], 16))]:
        convert("x.npy", "y.npy", "--from", "(A,B){A, B}", "--to", "(A,B)" + to)
        assert np.load("y.npy").shape == want
    convert("x.npy", "y.npy", "--from", "(A,B){A, B}", "--to", "(A,B){A%8, B, fill=7}")
    assert np.array_equal(np.load("y.npy").ravel(), np.full(8 * shape[1], 7, "f4"))
    convert("x.npy", "y.safetensors", "--from", "(A,B){A, B}", "--to", "(B,A){B, A}")
    assert read_safetensors("y.safetensors")[0]["ravel.shape.tensor"] == "%d,%d" % shape[::-1]
    assert "is stored as (0,4)" in convert("x.npy", "z.npy", "--from", "(A,B){A, B}", "--to", "(A,B){B, A}", "--shape", "0,4", code=2)
    assert "--via is for arrays" in convert("x.npy", "z.npy", "--from", "(A,B){A, B}", "--to", "(A,B){B, A}", "--via", "(A,B){B,A}", code=2)
    assert not os.path.exists("z.npy")


def test_raw_at_an_offset():
    raw = ["--shape", "2,20,5,7", "--dtype", "f16"]
    open("x.bin", "wb").write(b"a header of 21 bytes." + X.tobytes())
    convert("x.bin", "y.bin", *PAIR, *raw, "--offset", "21")
    assert open("y.bin", "rb").read() == NHWC.tobytes()
    assert "has 800 bytes from --offset 2021 on, NCHW of shape (2,20,5,7) needs 2800" in convert("x.bin", "y.bin", *PAIR, *raw, "--offset", "2021", code=2)
    assert "--offset '-1': a whole number from 0 to 9223372036854775807" in convert("x.bin", "y.bin", *PAIR, *raw, "--offset", "-1", code=2)
    assert "has 2821 bytes" in convert("x.bin", "y.bin", *PAIR, *raw, "--offset", "9999", code=2)
    assert "needs 2800" in convert("x.bin", "y.bin", *PAIR, *raw, "--offset", "0", code=2)
    for wrong in ("", "-1", "x", "1.5", "99999999999999999999"):
        assert "--offset" in convert("x.bin", "y.bin", *PAIR, *raw, "--offset", wrong, code=2)
    assert "is neither .npz nor safetensors nor GGUF" in convert("x.bin", "y.bin", *PAIR, *raw, "--tensor", "w", code=2)


# --- safetensors that ravel writes

def read_safetensors(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + n])
    assert (8 + n) % 8 == 0
    return header.pop("__metadata__"), {k: (v["dtype"], v["shape"], raw[8 + n:][slice(*v["data_offsets"])]) for k, v in header.items()}


def test_other_metadata_of_safetensors_are_kept():
    """transformers reads no file without a "format"; what ravel said of the source is not true of the result."""
    safetensors({"a": ("F16", X), "b": ("F16", X)})
    convert("x.safetensors", "y.safetensors", "--from", "NCHW", "--to", "NHWC", "--tensor", "[ab]")
    convert("y.safetensors", "z.safetensors", "--to", "NCHW", "--tensor", "b")
    (one, _), (two, tensors) = read_safetensors("y.safetensors"), read_safetensors("z.safetensors")
    assert one["format"] == two["format"] == "np" and one["ravel.layout.a"] == one["ravel.layout.b"] == "(N, C, H, W){N, H, W, C}"
    assert set(two) == {"format", "ravel.layout.b", "ravel.shape.b", "ravel.dtype.b"} and tensors["b"][2] == X.tobytes()


def test_safetensors_is_written_with_its_layout():
    """C0 = 16 for f16; the file needs no spec, no shape and no type to be read back."""
    np.save("x.npy", X)
    convert("x.npy", "y.safetensors", "--from", "NCHW", "--to", "NC1HWC0", "--verify")
    about, tensors = read_safetensors("y.safetensors")
    kind, shape, raw = tensors["tensor"]
    assert (kind, shape, len(raw)) == ("F16", [2, 2, 5, 7, 16], 4480)
    assert about == {"ravel.layout.tensor": "(N, C, H, W){N, C//C0, H, W, C%C0, C0 = 32//bytes}", "ravel.shape.tensor": "2,20,5,7", "ravel.dtype.tensor": "f16"}
    y = np.frombuffer(raw, "f2").reshape(shape)
    assert np.array_equal(y.transpose(0, 1, 4, 2, 3).reshape(2, 32, 5, 7)[:, :20], X)
    convert("y.safetensors", "z.npy", "--to", "NHWC", "--verify")
    assert np.array_equal(np.load("z.npy"), NHWC)
    convert("y.safetensors", "w.npy", "--from", "ROW_MAJOR", "--to", "ROW_MAJOR")
    assert np.load("w.npy").tobytes() == raw


@pytest.mark.parametrize("to,says,stored", [
    ("NC1HWC0{C0=4}", "C0 = 4}", (2, 5, 5, 7, 4)), ("NC1HWC0{fill=7}", "C0 = 32//bytes, fill = 7}", (2, 2, 5, 7, 16)),
    ("NC1HWC0{C0=8, fill=7}", "C0 = 8, fill = 7}", (2, 3, 5, 7, 8))])
def test_safetensors_with_what_a_use_gives_is_read_back(to, says, stored):
    np.save("x.npy", X)
    convert("x.npy", "y.safetensors", "--from", "NCHW", "--to", to)
    about, tensors = read_safetensors("y.safetensors")
    assert about["ravel.layout.tensor"] == "(N, C, H, W){N, C//C0, H, W, C%C0, " + says
    blocks, c0 = stored[1], stored[4]
    want = np.full((2, blocks * c0, 5, 7), 7 if "fill" in to else 0, "f2")
    want[:, :20] = X
    assert np.array_equal(np.frombuffer(tensors["tensor"][2], "f2").reshape(stored), want.reshape(2, blocks, c0, 5, 7).transpose(0, 1, 3, 4, 2))
    convert("y.safetensors", "z.npy", "--to", "NHWC", "--verify")
    assert np.array_equal(np.load("z.npy"), NHWC)


def test_safetensors_keeps_name_and_type():
    x = X.view("u1")
    safetensors({"layer.w": ("F8_E4M3", x)})
    convert("x.safetensors", "y.safetensors", *PAIR)
    about, tensors = read_safetensors("y.safetensors")
    assert tensors == {"layer.w": ("F8_E4M3", list(x.transpose(0, 2, 3, 1).shape), x.transpose(0, 2, 3, 1).tobytes())}
    np.save("n.npy", np.arange(60, dtype="u1").reshape(6, 10))     # 6 x 20 elements of i4
    convert("n.npy", "m.safetensors", "--from", "{M, K}", "--to", "{K, M}", "--dtype", "i4", "--shape", "6,20", "--mem", "50")
    assert read_safetensors("m.safetensors")[1]["tensor"][:2] == ("U8", [20, 3])
    convert("m.safetensors", "n2.npy", "--to", "(K,M){M, K}")
    assert np.array_equal(np.load("n2.npy"), np.load("n.npy"))


def test_what_a_safetensors_file_says_is_not_trusted():
    np.save("x.npy", X)
    assert "--from LAYOUT is needed: 'x.npy' does not say" in convert("x.npy", "y.npy", "--to", "NHWC", code=2)
    np.save("c.npy", X.astype("c16"))
    assert "have no type for c128" in convert("c.npy", "c.safetensors", *PAIR, code=2)
    convert("x.npy", "y.safetensors", *PAIR)
    raw = open("y.safetensors", "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    for layout, says in [("mine.lua:X", "is no declaration"), ("NHWC", "is no declaration"), ("(N){while true do end}", "is a word of Lua"), ("(N){N", "is not closed"),
                         ("(N,C,H,W){os.execute('x'), C}", "os"), ("(N,C,H,W){N, C//1000, H, W, C%1000}", "is stored as (2,1,5,7,1000)")]:
        header = json.loads(raw[8:8 + n])
        header["__metadata__"]["ravel.layout.tensor"] = layout
        text = json.dumps(header).encode()
        open("z.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
        assert says in convert("z.safetensors", "w.npy", "--to", "NCHW", code=2)


def listed(path, *args, code=0):
    r = subprocess.run([RAVEL, "list", path, *args], capture_output=True, text=True)
    assert r.returncode == code, r
    return json.loads(r.stdout) if "--json" in args else r.stdout + r.stderr


def put(path, data):
    with open(path, "wb") as f:
        f.write(data)


def test_arrays_are_listed():
    """Names, types and shapes, of headers alone: those that no conversion reads are listed, too."""
    arrays = {"w": np.ones((40, 700), "f2"), "scalar": np.zeros((), ">i4"), "turned": np.asfortranarray(np.zeros((3, 5)))}
    want = [{"name": k, "dtype": {"f2": "f16", "i4": "i32", "f8": "f64"}[v.dtype.str[1:]], "shape": list(v.shape)} for k, v in arrays.items()]
    for save in (np.savez, np.savez_compressed):
        save("l.npz", **arrays)
        assert listed("l.npz", "--json") == want
    gguf({"q": (2, np.zeros((4, 4), "u1")), "h": (1, X)}, path="l.gguf")
    np.savez("l.npz", format=np.array(b"csr"), data=np.ones(2, "f4"))
    assert [(t["name"], t["dtype"], t["shape"]) for t in listed("l.npz", "--json")] == [("format", "?", None), ("data", "f32", [2])]
    assert "format ?    " in listed("l.npz") and "element type '|S3' is not read" in listed("l.npz") and "\ndata   f32  2\n" in listed("l.npz")
    np.savez("l.npz", **arrays)
    assert [(t["name"], t["dtype"]) for t in listed("l.gguf", "--json")] == [("q", "ggml-type-2"), ("h", "f16")]
    head = {"__metadata__": {"ravel.layout.b": "(N, C){C, N}", "ravel.shape.b": "2,3", "ravel.dtype.b": "bf16"}, "b": {"dtype": "BF16", "shape": [3, 2], "data_offsets": [0, 12]},
            "f8": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [12, 16]}}
    text = json.dumps(head).encode()
    put("l.safetensors", len(text).to_bytes(8, "little") + text + bytes(16))
    assert listed("l.safetensors") == "b  bf16 3,2 as (N, C){C, N}\nf8 F8_E4M3 4\n"
    put("l.safetensors", len(text).to_bytes(8, "little") + text[:40])
    assert "cut off or damaged" in listed("l.safetensors", code=2) and "cannot open" in listed("none.gguf", code=2)
    for cut in range(4, 100, 7):
        put("cut.npz", open("l.npz", "rb").read()[:-cut])
        assert "'cut.npz'" in listed("cut.npz", code=2)
