"""convert within --mem: in blocks, against NumPy and against the conversion as a whole; what stops it; progress on a terminal."""
import io
import json
import mmap
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import zipfile

import numpy as np
import pytest

import ravel
from command import convert, here, RAVEL  # noqa: F401 (here is a fixture)

SLOW = ["--from", "{M, K}", "--to", "{K, M}", "--mem", "16"]      # blocks of two elements


@pytest.mark.parametrize("mem", [64, "1K", "5K", "40K", "1M"])
@pytest.mark.parametrize("to, axes", [("NHWC", (0, 2, 3, 1)), ("{W, H, C, N}", (3, 2, 1, 0)), ("{C, N, H, W}", (1, 0, 2, 3))])
def test_a_transpose_in_blocks(mem, to, axes):
    x = np.arange(3 * 20 * 13 * 11, dtype="f4").reshape(3, 20, 13, 11)
    np.save("x.npy", x)
    to = to if to == "NHWC" else "(N, C, H, W)" + to
    assert convert("x.npy", "y.npy", "--from", "NCHW", "--to", to, "--mem", mem).endswith("%d bytes\n" % x.nbytes)
    assert np.array_equal(np.load("y.npy"), x.transpose(axes))


def test_blocks_are_padded_as_the_tensor_is():
    """NC1HWC0 of 20 channels, by its formula.  A proof takes 130 KB for the smallest shape."""
    x = np.arange(2 * 20 * 90 * 70, dtype="u2").view("f2").reshape(2, 20, 90, 70)
    np.save("x.npy", x)
    want = np.zeros((2, 2, 90, 70, 16), "f2")
    for c in range(20):
        want[:, c // 16, :, :, c % 16] = x[:, c]
    for more in (["--mem", "10K"], ["--mem", "400K", "--verify"]):
        convert("x.npy", "y.npy", "--from", "NCHW", "--to", "NC1HWC0", *more)
        assert np.load("y.npy").tobytes() == want.tobytes()
        convert("y.npy", "z.npy", "--from", "NC1HWC0", "--to", "NCHW", "--shape", "2,20,90,70", *more)
        assert np.load("z.npy").tobytes() == x.tobytes()


@pytest.mark.parametrize("spare", ["/nowhere", "."])
def test_what_fits_is_verified_in_memory(spare):
    """For a pipe and an archive: no unnamed file is needed."""
    x = np.random.default_rng(3).integers(0, 99, (1501, 1300), "u2")
    np.save("x.npy", x)
    env = {**os.environ, "TMPDIR": spare}
    of = ["--from", "{M, K}", "--to", "(M,K){K, M}", "--verify"]
    convert("x.npy", "y.npz", *of, env=env)
    r = subprocess.run([RAVEL, "convert", "x.npy", "-", *of], capture_output=True, env=env)
    assert r.stderr == b"" and np.array_equal(np.load(io.BytesIO(r.stdout)), x.T) and np.array_equal(np.load("y.npz")["arr_0"], x.T)


def test_holes_of_blocks_are_verified():
    x = np.random.default_rng(2).integers(0, 255, (900, 701), dtype="u1")
    np.save("x.npy", x)
    convert("x.npy", "y.npy", "--from", "{M, K}", "--to", "{M, K, pitch = {M = 64}}", "--mem", "400K", "--verify")
    y = np.fromfile("y.npy", "u1")[-900 * 704:].reshape(900, 704)
    assert np.array_equal(y[:, :701], x) and not y[:, 701:].any()


PAIRS = [("NCHW", "{N, C//48, H, W, C%48}", "2,100,5,6", "f32"), ("(N,C,H,W){N, C//48, H, W, C%48}", "{N, C//32, H, W, C%32}", "2,100,5,6", "u8"),
         ("{M, K}", "FRACTAL_NZ", "50,70", "f16"), ("{M, K}", "SW128", "64,256", "f16"), ("SW128", "{K, M}", "61,192", "f16"),
         ("{M, K}", "{M//4, K//4, M%4, K%4}", "37,41", "f64"), ("{M, K}", "{M, K, pitch = {M = 64}}", "37,41", "u8"),
         ("{M, K}", "{M//8, K, M%8, pad = {M = 32}, fill = 7}", "41,9", "i16"), ("{M, K}", "{M//8, K, M%8, fill = 'none'}", "41,9", "i16"),
         ("{M, K}", "{M//8, K, M%8, fill = 'edge'}", "41,9", "i16"), ("{M, K}", "{M, K//8, 7 - K%8}", "30,64", "u8"),
         ("{M, K}", "{K//8, M, K%8}", "30,64", "i4"), ("{M, K}", "{K//64, M, K%64}", "30,256", "u1"), ("{M, K}", "{M//2%4, M//8, K, M%2}", "64,7", "c128"),
         ("{M, K}", "{M + K, K}", "40,50", "u8"), ("{M, K}", "{M, K, pitch = {M = 4 * extent(M)}}", "40,50", "u8")]


@pytest.mark.parametrize("a, b, shape, dtype", PAIRS)
def test_blocks_are_the_conversion_as_a_whole(a, b, shape, dtype):
    r = subprocess.run([RAVEL, "check", a, "--shape", shape, "--dtype", dtype, "--json"], capture_output=True, text=True, check=True)
    open("x.bin", "wb").write(np.random.default_rng(1).bytes(json.loads(r.stdout)["size"] * int("".join(filter(str.isdigit, dtype))) // 8))
    args = ["--from", a, "--to", b, "--shape", shape, "--dtype", dtype]
    convert("x.bin", "whole.bin", *args)
    for mem in [int(os.path.getsize("whole.bin") * f) for f in (0.6, 0.9, 1.5)]:
        convert("x.bin", "y.bin", *args, "--mem", mem)
        assert open("y.bin", "rb").read() == open("whole.bin", "rb").read()


# Source, destination and what NumPy makes of an array of (64, 96): parts, strides, swizzles of addresses.
IN_PLACE = [("{M, K}(64,96)[3:61, ::2]", "{K, M}", lambda x: x[3:61, ::2].T), ("{M, K}(64,96)[::-1, 5:90]", "(M,K){M, K}", lambda x: x[::-1, 5:90]),
            ("{M, K}(64,96)[:32][2:20, None]", "(M,L,K){K, M, L}", lambda x: x[2:20].T[:, :, None]), ("{M, K}", "(M,K){K, M}(64,96)[::-1, ::-1]", lambda x: x[::-1, ::-1].T),
            ("{M, K}@0(96,1)", "(M,K){K, M}@0(64,1)", lambda x: x.T), ("{M, K}(64,96)[[5, 1, 9], :]", "(M,K){K, M}", lambda x: x[[5, 1, 9]].T)]


@pytest.mark.parametrize("a, b, want", IN_PLACE)
def test_blocks_of_parts_and_strides(a, b, want):
    x = np.arange(64 * 96, dtype="f4").reshape(64, 96)
    np.save("x.npy", x)
    for more in ([], ["--verify"]):
        convert("x.npy", "y.npy", "--from", a, "--to", b, *more, "--mem", 5000 if more else 1000)
        assert np.array_equal(np.load("y.npy").squeeze(), want(x).squeeze()), more


# The destination of a conversion of all of x, the shape of its array, and which part of that is x.
PARTS = [("(A,B,C){A, B, C}(4,M,K)[1]", (4, 64, 96), lambda y: y[1]), ("(A,B,C){A, B, C}(M,3,K)[:, 1]", (64, 3, 96), lambda y: y[:, 1]), ("(M,K){M, K}[1:-1]", (66, 96), lambda y: y[1:-1]),
         ("(M,K){K, M}(M,K)[:-1, 2:]", (98, 65), lambda y: y.T[:-1, 2:]), ("(M,K){M, K}[1:][2:, ::-1]", (67, 96), lambda y: y[3:, ::-1]),
         ("(A,B){A//8, B, A%8}(80,B)[8:72]", (10, 96, 8), lambda y: y.transpose(0, 2, 1).reshape(80, 96)[8:72])]


@pytest.mark.parametrize("to, shape, part", PARTS, ids=[p[0] for p in PARTS])
def test_blocks_of_a_part_as_destination(to, shape, part):
    """Its extents need no numbers where they follow from the shape of the part, of fewer dims or of another part."""
    x = np.arange(1, 64 * 96 + 1, dtype="f4").reshape(64, 96)
    np.save("x.npy", x)
    for more in ([], ["--verify"]):
        convert("x.npy", "y.npy", "--from", "{M, K}", "--to", to, *more, "--mem", 5000 if more else 1000)
        y = np.load("y.npy").reshape(shape)
        assert np.array_equal(part(y), x) and np.count_nonzero(y) == x.size, more


def test_blocks_of_a_strided_destination():
    """Rows of 100 of which 96 are written; what is between them stays zero."""
    x = np.arange(64 * 96, dtype="f4").reshape(64, 96)
    np.save("x.npy", x)
    for to in "{M, K, stride = {M = 100}}", "{M, K}@0(100,1)":
        for more in ([], ["--verify"]):
            convert("x.npy", "y.npy", "--from", "{M, K}", "--to", to, "--mem", "5K" if more else "2K", *more)
            y = np.load("y.npy").ravel()[:63 * 100 + 96]
            assert np.array_equal(np.pad(y, (0, 4)).reshape(64, 100), np.pad(x, ((0, 0), (0, 4)))), (to, more)


@pytest.mark.parametrize("mem", ["64K", "256K", "1M"])
def test_blocks_in_place_are_beside_the_source(mem):
    """The storage that a block counts from may reach into what is mapped beside the file."""
    x = np.arange(512 * 512, dtype="f4").reshape(512, 512)
    np.save("x.npy", x)
    reversed_rows, reversed_columns = "ROW_MAJOR(512,512)[::-1]", "ROW_MAJOR(512,512)[:, ::-1]"
    for a, b, want in [(reversed_rows, reversed_columns, x[::-1, ::-1]), (reversed_rows, "ROW_MAJOR", x[::-1]),
                       (reversed_columns, "COL_MAJOR", x[:, ::-1].T), ("ROW_MAJOR", reversed_rows, x[::-1])]:
        says = convert("x.npy", "y.npy", "--from", a, "--to", b, "--mem", mem, "--verify")
        assert np.array_equal(np.load("y.npy").reshape(512, 512), want), (a, b)
        assert ("a proof of the code, which was left out, needs --mem" in says) == (a + b != "ROW_MAJOR"), says
    np.save("z.npy", x.ravel())
    convert("z.npy", "y.npy", "--from", "ROW_MAJOR", "--to", "ROW_MAJOR(%d)[::2]" % (2 * x.size), "--mem", mem)
    assert np.array_equal(np.load("y.npy")[::2], x.ravel())


def swizzled(x, bits, low, shift):
    """The array whose address a holds what was at a ^ (bits of a above, moved down), as CUTLASS defines it."""
    a = np.arange(x.size)
    y = np.empty_like(x.ravel())
    y[a ^ (a >> shift & ((1 << bits) - 1) << low)] = x.ravel()
    return y.reshape(x.shape)


@pytest.mark.parametrize("a, b", [("{M, K}", "(M,K){M, K, swizzle = xor(3, 4, 3)}"), ("(M,K){M, K, swizzle = xor(3, 4, 3)}", "{M, K}"),
                                  ("(M,K){M, K, swizzle = xor(2, 3, 3)}", "(M,K){M, K, swizzle = xor(3, 4, 3)}")])
def test_blocks_of_swizzled_addresses(a, b):
    """Slabs of whole periods of the swizzle: it is its own inverse."""
    x = np.arange(128 * 256, dtype="u2").reshape(128, 256)
    np.save("x.npy", x)
    y = x if "xor" not in a else swizzled(x, 3, 4, 3) if "xor(3" in a else swizzled(x, 2, 3, 3)
    for more in ([], ["--verify"]):
        says = subprocess.run([RAVEL, "convert", "x.npy", "y.npy", "--from", a, "--to", b, "--mem", "40K", *more], capture_output=True, text=True)
        if more and says.returncode:
            assert "give --mem" in says.stderr               # a proof has a least size
            continue
        assert np.array_equal(np.load("y.npy"), swizzled(y, 3, 4, 3) if "xor" in b else y), says


@pytest.mark.parametrize("source", ["x.npy", "f.npy", "b.npy", "x.npz", "c.npz", "-"])
@pytest.mark.parametrize("out", ["y.npy", "y.npz", "-"])
def test_blocks_from_and_to_everything(source, out):
    """Fortran order, big endian, archives and pipes: what does not fit is in an unnamed file."""
    x = np.arange(300 * 200, dtype="f4").reshape(300, 200)
    np.save("x.npy", x)
    np.save("f.npy", np.asfortranarray(x))
    np.save("b.npy", x.astype(">f4"))
    np.savez("x.npz", a=x)
    np.savez_compressed("c.npz", a=x)
    r = subprocess.run([RAVEL, "convert", source, out, "--from", "{M, K}", "--to", "{K, M}", "--mem", "50K"], capture_output=True,
                       input=open("x.npy", "rb").read(), timeout=60)
    assert r.returncode == 0, r.stderr
    y = np.load(io.BytesIO(r.stdout) if out == "-" else out)
    assert np.array_equal(y[y.files[0]] if out == "y.npz" else y, x.T)
    assert not [n for n in os.listdir(".") if n.startswith((".", "ravel"))]


def test_no_room_for_an_unnamed_file():
    open("x.bin", "wb").write(bytes(64 * 64))
    says = convert("x.bin", "y.npz", "--from", "{M, K}", "--to", "{K, M}", "--shape", "64,64", "--dtype", "u8", "--mem", "1K", code=2,
                   env={**os.environ, "TMPDIR": "/nowhere"})
    assert "/nowhere: a temporary file: No such file or directory; TMPDIR names another folder" in says and os.listdir(".") == ["x.bin"]


def test_what_has_no_blocks():
    """Each answer names the bytes, the limit and the way out."""
    open("x.bin", "wb").write(bytes(64 * 64))
    raw = ["--shape", "64,64", "--dtype", "u8", "--mem", "1K"]
    for to in "{K, M, swizzle = xor(3, 4, 3)}", "{M, K, swizzle = xor(3, 6, 3)}", "{M, K ~ M}":
        says = convert("x.bin", "y.bin", "--from", "{M, K}", "--to", to, *raw, code=2)
        need = int(re.search(r"--mem 1K allows 1024 bytes, and the smallest blocks of this conversion need (\d+): give --mem \1", says).group(1))
        assert 1024 < need
        convert("x.bin", "y.bin", "--from", "{M, K}", "--to", to, *raw[:-1], need)
        os.remove("y.bin")
    for bad in ("0", "1X", "-1", "1.5G", "", "99999999T", "1KB"):
        assert "a number of bytes, or one with K, M, G or T" in convert("x.bin", "y.bin", "--from", "{M, K}", "--to", "{K, M}", *raw[:-1], bad, code=2)
    assert os.listdir(".") == ["x.bin"]


def test_tables_of_a_comparison_count():
    """Of a swizzle, whose blocks are the whole: the tables of two dims of both sides, and what both sides keep of each row."""
    need = []
    for more in [], ["--verify"]:
        open("x.bin", "wb").write(bytes(256 * 4096))
        says = convert("x.bin", "y.bin", "--from", "{M, K}", "--to", "{M, K ~ M}", "--shape", "256,4096", "--dtype", "u8", "--mem", "1K", *more, code=2)
        need.append(int(re.search(r"need (\d+)", says).group(1)))
    assert need[1] >= need[0] + 2 * 8 * (256 + 4096)


def test_a_pipe_is_opened_once():
    os.mkfifo("p")
    writer = subprocess.Popen(["sh", "-c", "printf abcdef > p"])
    convert("p", "y.bin", "--from", "{M, K}", "--to", "{K, M}", "--shape", "2,3", "--dtype", "u8")
    assert open("y.bin", "rb").read() == b"adbecf" and writer.wait(10) == 0


def test_a_stream_that_cannot_be_read_is_named():
    """The other end closes with data that it has not read: what it sent, then an error."""
    ours, theirs = socket.socketpair()
    theirs.send(b"x")
    ours.sendall(bytes(100000))
    ours.close()
    says = convert("-", "y.bin", "--from", "{M, K}", "--to", "{K, M}", "--shape", "400,500", "--dtype", "u8", "--mem", "1K", stdin=theirs, code=2)
    assert says == "ravel: standard input: cannot read: Connection reset by peer\n"


def test_a_name_that_is_no_text():
    np.save("x.npy", np.zeros((2, 3), "f4"))
    for name, says in ((b"w\xff.npy", "is not valid UTF-8"), (b"__metadata__.npy", "can have the name")):
        with zipfile.ZipFile("x.npz", "w") as z:
            z.writestr("n" * len(name), open("x.npy", "rb").read())
        data = open("x.npz", "rb").read()
        open("x.npz", "wb").write(data.replace(b"n" * len(name), name))
        assert says in convert("x.npz", "y.safetensors", "--from", "{M, K}", "--to", "{K, M}", code=2)
        assert not os.path.exists("y.safetensors")


def preload(name):
    """The environment in which a command has tests/NAME.c in it."""
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", name + ".so", ravel.ROOT / ("tests/%s.c" % name)], check=True)
    return {**os.environ, "LD_PRELOAD": os.path.abspath(name + ".so")}


def test_the_memory_of_control_groups():
    """Of both versions; the group of the process, one around it, the outermost; 1 GB is free in the machine."""
    one, two = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"
    first, second = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"), ("memory.max", "memory.current", "inactive_file")
    env = {**preload("other_root"), "OTHER_ROOT": os.getcwd()}

    def free(own, **group):
        """group: the limit, what is used, what is cached of it."""
        shutil.rmtree("sys", ignore_errors=True)
        for name, text in (("proc/meminfo", "MemAvailable: 1000000 kB\n"), ("proc/self/cgroup", own)):
            os.makedirs(os.path.dirname(name), exist_ok=True)
            pathlib.Path(name).write_text(text)
        for at, (files, numbers) in group.items():
            os.makedirs("." + at, exist_ok=True)
            for name, text in zip((*files[:2], "memory.stat"), (*numbers[:2], "anon 5\n%s %s\n" % (files[2], numbers[2]))):
                pathlib.Path("." + at, name).write_text("%s\n" % text)
        r = subprocess.run([RAVEL, "bench", "--from", "(M,K){M,K}", "--to", "(M,K){K,M}", "--shape", "99999,99999", "--dtype", "f32"], capture_output=True,
                           text=True, env=env)
        return int(re.search(r"\((\d+) bytes are free\)", r.stderr)[1])

    assert free("0::/\n") == 1024000000
    assert free("0::/\n", **{two: (second, (50000, 20000, 5000))}) == 35000
    assert free("0::/a/b\n", **{two + "/a/b": (second, ("max", 20000, 5000)), two + "/a": (second, (70000, 20000, 0))}) == 50000
    assert free("4:cpu:/x\n3:memory:/a\n0::/\n", **{one + "/a": (first, (50000, 20000, 5000)), one: (first, (2**63 - 4096, 9, 0))}) == 35000
    assert free("3:memory:/of/the/host\n", **{one: (first, (50000, 60000, 0))}) == 0


def test_memory_is_bounded():
    """64 MB through 4 MB, by a process that may have 40 MB of its own."""
    x = np.arange(4096 * 4096, dtype="f4").reshape(4096, 4096)
    np.save("x.npy", x)
    limit = dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (40 << 20, 40 << 20)))
    convert("x.npy", "y.npy", "--from", "{M, K}", "--to", "{K, M}", "--mem", "4M", "--threads", 1, **limit)
    assert np.array_equal(np.load("y.npy", mmap_mode="r"), x.T)
    says = convert("x.npy", "z.npy", "--from", "{M, K}", "--to", "{K, M}", "--threads", 1, code=2, **limit)
    assert re.fullmatch(r"ravel: no memory for .*\d{8} bytes; .*a smaller --mem .*\n", says)


def test_what_is_unpacked_and_turned_is_within_mem():
    """A big-endian array, packed: the unpacked one and the turned one are not both in memory."""
    x = np.arange(1 << 22, dtype=">f4").reshape(2048, 2048)
    np.savez_compressed("x.npz", x)
    limit = dict(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (36 << 20, 36 << 20)))
    convert("x.npz", "y.npy", "--from", "{M, K}", "--to", "{K, M}", "--mem", "18M", "--threads", 1, **limit)
    assert np.array_equal(np.load("y.npy"), x.T)


@pytest.fixture
def slow(here):
    np.save("x.npy", np.zeros((1000, 4000), "f4"))


def test_a_file_that_is_not_in_memory():
    """After a block that waited for the disk often its runs are asked for before the next ones are read, for 100 blocks; then it is tried without."""
    normal, random, soon = mmap.MADV_NORMAL, mmap.MADV_RANDOM, mmap.MADV_WILLNEED
    env = {**preload("cold_file"), "COLD_LOG": "log"}
    x = np.random.default_rng(4).integers(0, 255, (512, 1024), "u1")
    np.save("x.npy", x)
    for waits in ({"COLD_WAITS": "1"}, {"COLD_WAITS": "5"}):
        log = pathlib.Path("log")
        log.write_text("")
        convert("x.npy", "y.npy", "--from", "{M, K}", "--to", "(M,K){K, M}", "--mem", "4K",
                env={**env, **waits})
        assert np.array_equal(np.load("y.npy"), x.T)
        said = [int(n) for n in log.read_text().split()]
        if waits["COLD_WAITS"] == "1":
            assert random not in said and soon not in said
            continue
        said = said[said.index(random):]
        at = said.index(normal)
        assert set(said[1:at]) == {soon} and at > 100 and said[at + 1] == random


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("more", [[], ["--mem", "10M"], ["--verify"], ["--mem", "10M", "--verify"]])
def test_threads_convert_blocks_of_their_own(threads, more):
    """Blocks with short ends, of both kinds of runs: written by calls, and stored."""
    x = np.random.default_rng(5).integers(0, 255, (3, 67, 301, 503), "u1")
    np.save("x.npy", x)
    for to, want in ("NHWC", x.transpose(0, 2, 3, 1)), ("(N,C,H,W){W, N, H, C}", x.transpose(3, 0, 2, 1)):
        convert("x.npy", "y.npy", "--from", "NCHW", "--to", to, "--threads", threads, *more)
        assert np.array_equal(np.load("y.npy"), want)


@pytest.mark.parametrize("threads", [1, 4])
def test_verify_finds_what_is_wrong_in_the_file(threads):
    """Two bytes are written wrong: the first of them is told, and the file that was there stays."""
    x = np.random.default_rng(6).integers(0, 255, (4, 64, 256, 250), "u1")
    np.save("x.npy", x)
    np.save("y.npy", x[0])
    was = open("y.npy", "rb").read()
    of = ["--from", "NCHW", "--to", "NHWC", "--mem", "16M", "--threads", threads, "--verify"]
    for bad in ([128], [9000000, 128 + x.size - 1], [128 + 7654321, 128 + 7654320]):
        env = {**preload("bad_write"), "BAD_AT": ",".join(map(str, bad))}
        said = convert("x.npy", "y.npy", *of, code=1, env=env)
        assert said == "ravel: verify: slot %d of the result differs from the layouts\n" % (min(bad) - 128)
        assert open("y.npy", "rb").read() == was and sorted(os.listdir(".")) == ["bad_write.so", "x.npy", "y.npy"]
    convert("x.npy", "y.npy", *of)
    assert np.array_equal(np.load("y.npy"), x.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_file(slow, sig):
    """A shell lets what it runs in the background ignore SIGINT; here nothing ignores it."""
    p = subprocess.Popen([RAVEL, "convert", "x.npy", "y.npy", *SLOW], stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(sig, signal.SIG_DFL))
    time.sleep(0.3)
    p.send_signal(sig)
    assert p.wait(10) == -sig and os.listdir(".") == ["x.npy"]


def test_a_source_that_becomes_shorter(slow):
    p = subprocess.Popen([RAVEL, "convert", "x.npy", "y.npy", *SLOW], stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    os.truncate("x.npy", 1000)
    assert "became shorter" in p.communicate(timeout=10)[1]
    assert p.returncode == 2 and os.listdir(".") == ["x.npy"]


@pytest.mark.parametrize("what, rate, command", [
    ("converting", "MB", ["convert", "x.npy", "y.npy", *SLOW]),
    ("measuring", "rounds", ["bench", "--from", "NCHW", "--to", "NHWC", "--shape", "8,64,56,56", "--dtype", "u8", "--rounds", "9999"]),
    ("proving", "runs", ["bench", "--rounds", "1", "--from", "NCHW", "--to", "NHWC", "--shape", "32,64,112,112", "--dtype", "u8"]),
    ("proving", "runs", ["verify", "--from", "NCHW", "--to", "NHWC", "--shape", "32,64,112,112", "--dtype", "u8"]),
    ("tuning", "measurements", ["tune", "--from", "NCHW", "--to", "NHWC", "--shape", "8,64,112,112", "--dtype", "f32", "--seconds", "9"])])
def test_progress_on_a_terminal(slow, what, rate, command):
    """From the first second on; nothing on a pipe."""
    master, tty = pty.openpty()
    p, quiet = (subprocess.Popen([RAVEL, *command], stderr=e, stdout=subprocess.DEVNULL) for e in (tty, subprocess.PIPE))
    os.set_blocking(quiet.stderr.fileno(), False)
    os.close(tty)                            # so that reading fails if the command ends first
    said = os.read(master, 10000).decode()
    time.sleep(0.1)
    piped = quiet.stderr.read()
    for one in p, quiet:
        one.kill()
        one.wait()
    assert not piped and said.startswith("\r%s: " % what) and said.endswith(" left\033[K")
    first = "?" if what == "tuning" else ""  # a measurement may take longer than the first second
    assert re.search(r": \d+ %%, (?:[\d.]+ %s/s, )%s\d+:" % (rate, first), said), said


def test_progress_of_a_result_written_at_once(here):
    """To a reader that stops after the first piece; what is not shared is run in one step."""
    np.save("x.npy", np.zeros((4096, 4096), "u1"))
    os.mkfifo("y")
    master, tty = pty.openpty()
    p = subprocess.Popen([RAVEL, "convert", "x.npy", "y", "--from", "{M, K}", "--to", "{K, M, pitch = {K = 8192}}"], stderr=tty, stdout=subprocess.DEVNULL)
    os.close(tty)
    with open("y", "rb") as f:
        head = f.read(17 << 20)
        time.sleep(1.1)
        all = len(head) + len(f.read())
    assert p.wait(10) == 0 and re.search(r"\rwriting: 100 %, \d+ MB/s, 0:00 left", os.read(master, 10000).decode())
    os.close(master)
    assert all == 4096 * 8192
