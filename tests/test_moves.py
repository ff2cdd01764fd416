"""Short moves, against numpy: bytes that change places within a few lines, runs of every length, padding."""

import platform
import re
import subprocess

import numpy as np
import pytest

import command
import ravel

RNG = np.random.default_rng(17)
NAMES = {np.uint8: "u8", np.uint16: "u16", np.uint32: "u32"}


@pytest.fixture
def by(monkeypatch):
    """A function that makes a context with a set of kernels, if this processor has it."""
    def make(isa):
        monkeypatch.setenv("RAVEL_ISA", isa)
        try:
            return ravel.Context()
        except ravel.Error:
            pytest.skip("this processor has no %s" % isa)
    return make


def converted(cx, src, dst, stored, shape):
    """The elements of a tensor of that shape in layout dst, given those in layout src."""
    with cx.plan(src, dst, shape, NAMES[stored.dtype.type]) as p:
        return p.run(np.frombuffer(stored.tobytes(), np.uint8)).tobytes()


def drawn(shape, dtype=np.uint8):
    return RNG.integers(0, 1 << 32, shape, np.uint64).astype(dtype)


@pytest.mark.parametrize("isa", ["avx512vbmi", "avx512", "avx2", "sse2"])
@pytest.mark.parametrize("pixels", [22, 64, 1037])
def test_places_within_lines(by, isa, pixels):
    """One, two and more windows of 64 bytes, cut short by the end of the source, with padding and without."""
    with by(isa) as cx:
        for dtype in NAMES:
            x, plain = drawn((pixels, 3), dtype), "(P,C){P, C}"
            padded = np.concatenate([x, np.full((pixels, 1), 9, dtype)], 1)
            for to, want in ("P, 2 - C", x[:, ::-1]), ("C, P", x.T), ("P, C%4, fill = 9", padded):
                assert converted(cx, plain, "(P,C){%s}" % to, x, x.shape) == want.tobytes(), (to, dtype)
            assert converted(cx, "(P,C){C, P}", plain, x.T, x.shape) == x.tobytes()


@pytest.mark.parametrize("isa", ["avx512vbmi", "sse2"])
def test_runs_of_every_length(by, isa):
    with by(isa) as cx:
        for n in [*range(1, 200), 255, 256, 257, 511, 512, 513, 600]:
            x = drawn((3, 5, n))
            got = converted(cx, "(A,B,C){A, B, C}", "(A,B,C){B, A, C}", x, x.shape)
            assert got == x.swapaxes(0, 1).tobytes(), n


@pytest.mark.parametrize("fill", [0, 3])
@pytest.mark.parametrize("width", [7, 20, 130, 300])
def test_padding_of_any_length(width, fill):
    with ravel.Context() as cx:
        for dtype in NAMES:
            x, y = drawn((21, 6), dtype), np.full((22, width), fill, dtype)
            y[:21, :6] = x
            to = "(R,C){R//2, C, R%%2, pad = {R = 2, C = %d}, fill = %d}" % (width, fill)
            got = converted(cx, "(R,C){R, C}", to, x, x.shape)
            assert got == y.reshape(11, 2, width).swapaxes(1, 2).tobytes(), dtype


@pytest.mark.parametrize("fill", [0, 5])
@pytest.mark.parametrize("shift", [0, 2])
def test_padding_of_whole_lines_past_the_caches(shift, fill):
    """Rows of 128 bytes in more than 8 MB, the destination at whole lines and not."""
    x, y = drawn((66001, 4), np.uint16), np.full((66001, 64), fill, np.uint16)
    y[:, :3] = x[:, :3]
    to = "(P,C){C//64, P, C%%64, fill = %d}" % fill
    with ravel.Context() as cx, cx.plan("(P,C){P, C//4, C%4}", to, (66001, 3), "u16") as p:
        assert "ravel_copy_fill(" in p.source
        room = np.full(y.nbytes + 128, 0x5A, np.uint8)
        at = -room.ctypes.data % 64 + shift
        assert ravel.lib.ravel_run(p.p, room.ctypes.data + at, x.ctypes.data) == 0
    assert room[at:at + y.nbytes].tobytes() == y.tobytes()
    assert (room[:at] == 0x5A).all() and (room[at + y.nbytes:] == 0x5A).all()


def swizzled(x, along, bits):
    """The storage of a matrix in atoms of 8 rows of 2**bits units of 16 bytes, which the row's number moves
    (SW32, SW64, SW128), and of its transpose (SW32_MN ...)."""
    x = x.T if along == "M" else x
    unit, units = 16//x.itemsize, 1 << bits
    rows, cols = -(-x.shape[0]//8), -(-x.shape[1]//(unit*units))
    y = np.zeros((rows*8, cols*unit*units), x.dtype)
    y[:x.shape[0], :x.shape[1]] = x
    y = y.reshape(rows, 8, cols, units, unit)
    for row in range(8):
        y[:, row] = y[:, row][:, :, np.arange(units) ^ row >> (3 - bits)]
    return y.transpose(0, 2, 1, 3, 4)


@pytest.mark.parametrize("isa", ["avx512vbmi", "avx512", "avx2", "sse2"])
@pytest.mark.parametrize("shape", [(256, 64), (264, 171), (70, 133), (39, 300)])
def test_tiles_of_swizzles(by, isa, shape):
    """Digits that an exclusive or moves, on one side or both, are in the tiles of the kernel composite."""
    composite = 0
    with by(isa) as cx:
        for dtype in NAMES:
            x = drawn(shape, dtype)
            for bits in 1, 2, 3:
                name = "SW%d" % (16 << bits)
                across, along = swizzled(x, "K", bits).tobytes(), swizzled(x, "M", bits).tobytes()
                kinds = {"ROW_MAJOR": x.tobytes(), "COL_MAJOR": x.T.tobytes(), name: across, name + "_MN": along}
                for src, dst in [("ROW_MAJOR", name + "_MN"), (name + "_MN", "ROW_MAJOR"), ("COL_MAJOR", name),
                                 (name, "COL_MAJOR"), ("ROW_MAJOR", name), (name, "ROW_MAJOR"), (name, name + "_MN"), (name + "_MN", name)]:
                    with cx.plan(src, dst, shape, NAMES[dtype]) as p:
                        composite += "ravel_composite" in p.source
                        got = p.run(np.frombuffer(kinds[src], np.uint8)).tobytes()
                    assert got == kinds[dst], (src, dst, dtype)
    assert composite >= 36


@pytest.mark.parametrize("isa", ["scalar", "portable"])
def test_tiles_of_swizzles_in_plain_c(monkeypatch, isa):
    monkeypatch.setenv("RAVEL_ISA", isa)
    for src, dst, dtype in [("ROW_MAJOR", "SW128_MN", "u8"), ("SW64", "COL_MAJOR", "f16"), ("SW32_MN", "SW32", "f32")]:
        words = ["--from", src, "--to", dst, "--shape", "70,133", "--dtype", dtype]
        assert "  composite" in command.good("explain", *words)
        assert command.good("verify", *words).startswith("yes")


# A copy of unknown length by `rep movs` takes 30 cycles and more to begin: 8 ns of each run of a tile.  These functions begin with one.
ONCE = {"ravel_copy_fill", "ravel_move_places", "ravel_far_places"}


def string_moves(path):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(path)], capture_output=True, text=True, check=True).stdout
    name, found = None, set()
    for line in text.splitlines():
        head = re.match(r"[0-9a-f]+ <([\w]+)", line)
        name = head.group(1) if head else name
        if re.search(r"\trep (movs|stos)", line):
            found.add(name)
    return found


@pytest.mark.skipif(platform.machine() != "x86_64", reason="string instructions are of x86-64")
def test_no_run_is_moved_by_a_string_instruction(tmp_path):
    sets = [ravel.BUILD/("runtime/kernels_%s.o" % s) for s in ("sse2", "avx2", "avx512", "avx512vbmi", "avx512gather")]
    emitted = [tmp_path/"emitted.o"]
    subprocess.run(["gcc", "-O3", "-c", "-o", str(emitted[0]), str(ravel.ROOT/"generated/row_major_to_blocked_f32.c")], check=True)
    for path in sets + emitted:
        assert string_moves(path) <= ONCE, path
