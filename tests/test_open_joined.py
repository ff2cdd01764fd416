"""Dims that a layout counts as one number, H*extent(W) + W, with extents left to run time, against NumPy."""

import ctypes as ct
import math
import subprocess

import numpy as np
import pytest

import ravel
from test_arrays import data
from views import RAVEL

HOLE = ravel.POISON | ravel.POISON << 8


def ceil(a, b):
    return -(-a // b)


def c04(x):
    """FRACTAL_Z_C04 of 16 bits, by its words: 4 channels of each pixel in a row, cut into blocks of 16."""
    n, c, h, w = x.shape
    p = np.zeros((ceil(n, 16) * 16, h * w, 4), "u2")
    p[:n, :, :c] = x.reshape(n, c, h * w).transpose(0, 2, 1)
    rows = p.reshape(len(p), h * w * 4)
    out = np.full((ceil(h * w * 4, 16), len(p), 16), HOLE, "u2")
    for k in range(len(out)):
        part = rows[:, k * 16:k * 16 + 16]
        out[k, :, :part.shape[1]] = part
    return out


def pixels(x, block):
    """{N, (H*W + W)//block, C, (H*W + W)%block}; what is left over of the last block is written with the fill."""
    n, c, h, w = x.shape
    out = np.full((n, ceil(h * w, block), c, block), 9, "u2")
    flat = x.reshape(n, c, h * w)
    for k in range(out.shape[1]):
        part = flat[:, :, k * block:(k + 1) * block]
        out[:, k, :, :part.shape[2]] = part
    return out


def bricks(x):
    n, c, h, w = x.shape
    p = np.zeros((n, 32, h, w), "u2")
    p[:, :c] = x
    return p.reshape(n, 2, 16, h, w).transpose(0, 3, 1, 4, 2)


def nz(x, rest=0):
    """The matrix of H*W pixels and C channels in tiles of 16 x 16, tiles by column."""
    n, c, h, w = x.shape
    p = np.zeros((n, ceil(h * w, 16) * 16, ceil(c, 16) * 16), "u2")
    p[:, :h * w, :c] = x.reshape(n, c, h * w).transpose(0, 2, 1)
    p[:, h * w:] = rest
    return p.reshape(n, -1, 16, p.shape[2] // 16, 16).transpose(0, 3, 1, 2, 4)


PIXEL = "(H*extent(W) + W)"
# layout; its storage; the channels, -1: any
CASES = {
    "c04": ("FRACTAL_Z_C04", c04, 3), "pixels": ("(N,C,H,W){N, %s//8, C, %s%%8, fill = 9}" % (PIXEL, PIXEL), lambda x: pixels(x, 8), -1),
    "other words": ("(N,C,H,W){N, (W + extent(W)*H)//8, C, (2*extent(W)*H + 2*W)//2%8, fill = 9}", lambda x: pixels(x, 8), -1),
    "holes": ("(N,C,H,W){N, C//16, %s//16, %s%%16, C%%16}" % (PIXEL, PIXEL), lambda x: nz(x, HOLE), -1), "nz": ("(N,C,H,W){N, C//16, %s//16, %s%%16, C%%16, fill = 0}" % (PIXEL, PIXEL), nz, -1),
    "formula": ("(N,C,H,W){N*extent(C)*extent(H)*extent(W) + C*extent(H)*extent(W) + H*extent(W) + W}", lambda x: x, -1),
    "formula last": ("(N,C,H,W){((N*extent(H) + H)*extent(W) + W)*extent(C) + C}", lambda x: x.transpose(0, 2, 3, 1), -1),
    "bricks": ("(N,C,H,W){N, H*extent(W)*32 + (C//16)*16*extent(W) + W*16 + C%16}", bricks, 20)}
SHAPES = [(1, 3, 1, 1), (2, 3, 5, 7), (17, 3, 4, 4), (3, 3, 2, 3), (1, 3, 9, 31), (33, 3, 1, 8)]
PLAIN = {"{N, C, H, W}": lambda x: x, "(N,C,H,W){N, H, W, C}": lambda x: x.transpose(0, 2, 3, 1), "(N,C,H,W){C, H, W, N}": lambda x: x.transpose(1, 2, 3, 0)}


def run(plan, shape, x):
    raw = np.ascontiguousarray(x).reshape(-1).view("u1")
    if ravel.lib.ravel_plan_src_bytes(plan.p) < 0:
        return ravel.PlanAt(plan, shape).run(raw).view("u2")
    out = np.full(ravel.lib.ravel_plan_dst_bytes(plan.p), ravel.POISON, "u1")
    ravel.call(ravel.lib.ravel_run, plan.p, out.ctypes.data, raw.ctypes.data)
    return out.view("u2")


@pytest.mark.parametrize("plain", PLAIN)
@pytest.mark.parametrize("named", [(2, 3), (0, 1, 2, 3), (3,), (2,), ()])
@pytest.mark.parametrize("name", CASES)
def test_both_ways(cx, name, named, plain):
    layout, of, channels = CASES[name]
    plans = {}
    for n, c, h, w in SHAPES:
        shape = (n, channels if channels > 0 else c, h, w)
        rq = tuple(-1 if d in named and (d != 1 or channels < 0) else k for d, k in enumerate(shape))
        for src, dst in ((plain, layout), (layout, plain)):
            if (src, rq) not in plans:
                plans[src, rq] = cx.plan(src, dst, rq, "u16")
        x = data(shape, "u2", seed=h)
        at, stored = np.ascontiguousarray(PLAIN[plain](x)), np.ascontiguousarray(of(x))
        for (src, given, want) in ((plain, at, stored), (layout, stored, at)):
            got = run(plans[src, rq], shape, given)
            assert np.array_equal(got, want.reshape(-1)), (src, rq, shape)


@pytest.mark.parametrize("dst", [CASES["pixels"][0], CASES["nz"][0]])
@pytest.mark.parametrize("src", ["NCHW", "(N,C,H,W){N, W, C, H}"])
def test_a_fill_of_what_the_last_block_lacks(cx, src, dst):
    """It is written with names and with numbers, or with neither."""
    for shape in ((2, 3, 5, 7), (2, 3, -1, -1)):
        if src == "NCHW":
            cx.plan(src, dst, shape, "u16")
            continue
        with pytest.raises(ravel.Error, match="in a conversion they are padding if the other layout has" if shape[2] > 0 else "if the other layout has H and W side by side"):
            cx.plan(src, dst, shape, "u16")


@pytest.mark.parametrize("shape", [(3, 2, 3, 7), (3, -1, -1, -1), (3, -1, 3, 7)])
def test_a_fill_of_three_dims_that_are_one(cx, shape):
    x = data((3, 2, 3, 7), "u2")
    want = np.full((3, 48), 9, "u2")
    want[:, :42] = x.reshape(3, 42)
    one = "((D*extent(H) + H)*extent(W) + W)"
    with cx.plan("(C,D,H,W){C, D, H, W}", "(C,D,H,W){C, %s//16, %s%%16, fill = 9}" % (one, one), shape, "u16") as plan:
        assert np.array_equal(run(plan, x.shape, x), want.reshape(-1))


def test_texts_have_the_dims_of_the_request():
    """What is printed has the dims and addresses as written; boxes are over both, by both names."""
    for src, to, shape, address, joined in [
            ("NCHW", CASES["pixels"][0], "2,3,5,7", "120*N + 24*((7*H + W)//8) + 8*C + (7*H + W)%8", "H and W are one dim, HW"),
            ("(R,C){R, C}", "(R,C){R, C, swizzle = xor(3, 4, 3)}", "1024,75",
             "128*((75*R + C)//128) + 16*(((75*R + C)//16%8) ~ ((75*R + C)//128%8)) + (75*R + C)%16", "R and C are one dim, RC")]:
        words = ["--from", src, "--to", to, "--shape", shape, "--dtype", "u16"]
        explained, emitted = (subprocess.run([RAVEL, what, *words, *more], capture_output=True, text=True, timeout=60, check=True).stdout
                              for what, more in (("explain", []), ("emit", ["--name", "f"])))
        box = joined.split(", ")[1]
        assert "  address   %s\n" % address in explained and "\njoined: %s\n" % joined in explained and " %s=0.." % box in explained
        assert "dst inline: %s\n" % address in emitted
        assert ("N=2 C=3 H=5 W=7 in 240" if src == "NCHW" else "R=1024 C=75 in 76800") in emitted


@pytest.mark.parametrize("shape, name", [("2,3,H,W", "W"), ("N,3,5,7", "W"), ("2,3,5,7", None)])
def test_entries_of_joined_dims_have_a_name(shape, name):
    """Expressions over joined dims name one of them; explain says which.  As written, with numbers, they name all."""
    r = subprocess.run([RAVEL, "explain", "--from", "NCHW", "--to", CASES["pixels"][0], "--shape", shape, "--dtype", "u16"],
                       capture_output=True, text=True, timeout=60, check=True)
    line = "joined: H and W are one dim, HW" + ("; the entries above call it %s" % name if name else "")
    assert line in r.stdout.split("\n"), r.stdout
    assert ("  W//8 " in r.stdout) == (name is not None), r.stdout


def test_other_dims_are_not_joined_for_a_fill():
    words = [RAVEL, "explain", "--from", "NCHW", "--shape", "2,3,5,7", "--dtype", "u16", "--to"]
    for layout, joined in (CASES["pixels"][0], "joined: H and W are one dim"), ("(N,C,H,W){N, C, extent(H) - 1 - H, W//4, W%4, fill = 3}", "joined: "):
        r = subprocess.run([*words, layout], capture_output=True, text=True, timeout=60, check=True)
        assert r.stdout.count(joined) == r.stdout.count("joined: ") == ("extent(W)" in layout), r.stdout


def test_files(tmp_path):
    """With numbers the stored arrays have the extents of the layouts as written, in blocks and when proven, too."""
    x, layout = data((7, 3, 5, 9), "u2"), CASES["pixels"][0]
    np.save(tmp_path / "x.npy", x)
    for more in [], ["--verify"], ["--mem", "1K"], ["--mem", "60"], ["--mem", "8K", "--verify"]:
        for at, to, out in (["x", layout, pixels(x, 8)], ["y", "NCHW", x]):
            sides = ["--from", "NCHW", "--to", layout] if at == "x" else ["--from", layout, "--to", "NCHW", "--shape", "7,3,5,9"]
            r = subprocess.run([RAVEL, "convert", "%s.npy" % at, "yz"[at == "y"] + ".npy", *sides, *more], cwd=tmp_path, capture_output=True, text=True, timeout=60)
            assert r.returncode == 0 or (at, more) in (("y", ["--mem", "60"]), ("x", ["--mem", "8K", "--verify"]), ("y", ["--mem", "8K", "--verify"])) and "need" in r.stderr, r.stderr
            if not r.returncode:
                got = np.load(tmp_path / ("yz"[at == "y"] + ".npy"))
                assert got.shape == out.shape and np.array_equal(got, out)


def test_the_shape_is_in_the_file(tmp_path):
    """A file that says its shape says the tensor's, not that of the dim that two were joined to."""
    x = data((2, 3, 5, 7), "u2")
    np.save(tmp_path / "x.npy", x)
    for words in ["x.npy", "y.safetensors", "--from", "NCHW", "--to", CASES["pixels"][0]], ["y.safetensors", "z.npy", "--to", "NCHW"]:
        subprocess.run([RAVEL, "convert", *words], cwd=tmp_path, check=True, timeout=60)
    assert np.array_equal(np.load(tmp_path / "z.npy"), x)


@pytest.mark.parametrize("shape", ["2,3,5,7", "N,3,H,W", "2,3,H,7", "2,3,5,W", "N,3,S,S"])
@pytest.mark.parametrize("name", ["c04", "pixels"])
def test_proofs(tmp_path, name, shape):
    """Blocks of any elements have shapes of 4 MB, which have many of two bytes: some such are enough."""
    layout, dtype = CASES[name][0], "f16" if name == "c04" or shape != "N,3,H,W" and shape != "N,3,S,S" else "i64"
    r = subprocess.run([RAVEL, "verify", "--from", "NCHW", "--to", layout, "--shape", shape, "--dtype", dtype], capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stdout.count("yes:") == 2 and r.stdout.count("(%s)" % shape) == 2, r.stdout + r.stderr
    if shape == "N,3,S,S":
        return
    r = subprocess.run([RAVEL, "emit", "--from", "NCHW", "--to", layout, "--shape", shape, "--dtype", dtype, "-o", tmp_path / "f.c", "--check", "gcc -O1 -Wall -Wextra -Werror"],
                       capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stdout.startswith("yes:"), r.stdout + r.stderr
    if shape == "2,3,5,7":
        assert "(2,3,5,7)" in r.stdout, r.stdout
        return
    declared = (tmp_path / "f.c").read_text().split(" * dst ")[1].split("\n")[0]
    assert "extent(W)" in declared or "pixel" in declared, declared


def test_three_dims(cx):
    layout = "(C,D,H,W){(D*extent(H)*extent(W) + H*extent(W) + W)//16, C, (D*extent(H)*extent(W) + H*extent(W) + W)%16, fill = 9}"
    with cx.plan("{C, D, H, W}", layout, (-1, -1, -1, -1), "u16") as p:
        for c, d, h, w in ((2, 3, 4, 5), (1, 1, 1, 1), (3, 2, 8, 2), (2, 1, 3, 7)):
            x = data((c, d, h, w), "u2")
            want = pixels(x.reshape(1, c, d, h * w), 16)
            assert np.array_equal(ravel.PlanAt(p, x.shape).run(x.reshape(-1).view("u1")).view("u2"), want.reshape(-1))


def test_extents_of_0_and_too_large(cx):
    with cx.plan("NCHW", "FRACTAL_Z_C04", (-1, 3, -1, -1), "u16") as p:
        for shape in ((0, 3, 5, 7), (2, 3, 0, 7), (2, 3, 5, 0), (2, 3, 0, 0), (1, 3, 0, 1 << 40), (1, 3, 1 << 40, 0)):
            assert ravel.PlanAt(p, shape).src_bytes == 0 and ravel.PlanAt(p, shape).dst_bytes == 0, shape
        for shape in ((1, 3, 1 << 40, 1 << 40), (1, 3, 1 << 61, 4), (1 << 40, 3, 1 << 20, 1 << 20), (1, 3, 1 << 62, 1 << 62)):
            with pytest.raises(ravel.Error):
                ravel.PlanAt(p, shape)
        with pytest.raises(ravel.Error, match="extent of C is 2: the plan is for 3"):
            ravel.PlanAt(p, (1, 2, 5, 7))
        with pytest.raises(ravel.Error, match="extent of H is -1"):
            ravel.PlanAt(p, (1, 3, -1, 7))


@pytest.mark.parametrize("src, dst", [
    ("(N,C,H,W){N, C, W, H}", "FRACTAL_Z_C04"), ("(N,C,H,W){N, H, C, W}", "FRACTAL_Z_C04"), ("NC1HWC0", "FRACTAL_Z_GROUPED"),
    ("{N, C, H, W}", "(N,C,H,W){N, C, (H*extent(W) + W + 1)//8, (H*extent(W) + W)%8}"), ("{N, C, H, W}", "(N,C,H,W){N, C, (H*extent(H) + W)//8, (H*extent(H) + W)%8}"),
    ("{N, C, H, W}", "(N,C,H,W){N, C, (H*extent(W) + W)//8, (H*extent(W) + W)%8, W}"), ("{N, C, H, W}", "(N,C,H,W){N, C, H*extent(W)*2 + W}"),
    ("{N, C, H, W}", "(N,C,H,W){N, C, (H*extent(W) + W)//8, (H*extent(W) + W)%8, pad = {W = 8}}")])
def test_refused(cx, src, dst):
    """What is not one number on both sides, or has other numbers, needs the extent."""
    with pytest.raises(ravel.Error, match="extent"):
        cx.plan(src, dst, (-1, 3, -1, -1), "f16")


@pytest.mark.parametrize("named", [(0, 1, 2, 3), (2, 3), (1, 3)])
def test_two_joined_pairs(cx, named):
    """What the last block of either lacks is no element, so it is not written."""
    layout = "(A,B,C,D){(A*extent(B) + B)//8, (C*extent(D) + D)//4, (A*extent(B) + B)%8, (C*extent(D) + D)%4}"
    for shape in ((2, 3, 5, 7), (3, 3, 2, 3), (1, 9, 1, 1)):
        a, b, c, d = shape
        x = data(shape, "u2")
        want = np.full((-(-a * b // 8) * 8, -(-c * d // 4) * 4), HOLE, "u2")
        want[:a * b, :c * d] = x.reshape(a * b, c * d)
        want = want.reshape(want.shape[0] // 8, 8, -1, 4).transpose(0, 2, 1, 3)
        with cx.plan("{A, B, C, D}", layout, tuple(-1 if i in named else n for i, n in enumerate(shape)), "u16") as p:
            got = ravel.PlanAt(p, shape).run(x.reshape(-1).view("u1")).view("u2")
        assert np.array_equal(got, want.reshape(-1)), (shape, named)


@pytest.mark.parametrize("name", CASES)
def test_storage_at_run_time(cx, name):
    """Its extents are those of the layout as it is written."""
    layout, _, channels = CASES[name]

    def shapes(plan, *at):
        e = ravel.Extents(), ravel.Extents()
        ravel.call(getattr(ravel.lib, "ravel_plan_shapes" + ("_at" if at else "")), plan.p, *at, *map(ct.byref, e))
        return [tuple(x.extent[:x.rank]) for x in e]

    for a, b in ("NCHW", layout), (layout, "(N,C,H,W){N, H, W, C}"):
        with cx.plan(a, b, (2, channels, -1, -1) if channels > 0 else (-1,) * 4, "u16") as names:
            for h, w in (5, 7), (1, 1), (4, 4):
                shape = (2, channels if channels > 0 else 3, h, w)
                with cx.plan(a, b, shape, "u16") as numbers:
                    assert shapes(names, ravel.extents(shape)) == shapes(numbers), (a, b, shape)


@pytest.mark.parametrize("plain", ["NCHW", "NHWC", "HWCN"])
@pytest.mark.parametrize("groups, cout, cin", [(2, 3, 3), (3, 16, 5), (5, 4, 20)])
def test_groups(cx, groups, cout, cin, plain):
    """Merged groups of filters, of which the pixels are counted as one number where the other side does, too."""
    block = math.lcm(cin, 16)//cin, math.lcm(cout, 16)//cout
    merged = min(math.lcm(*block), groups)
    at = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 2, 3, 1), "HWCN": (2, 3, 1, 0)}[plain]
    with cx.plan(plain, "FRACTAL_Z_GROUPED{G=%d}" % groups, (groups*cout, cin, -1, -1), "u16") as p:
        for h, w in ((1, 1), (2, 3), (5, 1)):
            shape = (groups*cout, cin, h, w)
            n, c, y, x = np.indices(shape)
            g, inner, outer = n//cout, n//cout % merged*cin + c, n % (merged*cout)
            c1, n1 = ceil(merged*cin, 16), ceil(merged*cout, 16)
            to = ((((g//merged*c1 + inner//16)*h + y)*w + x)*n1 + outer//16)*256 + outer % 16*16 + inner % 16
            data = np.arange(n.size, dtype="u2").reshape(shape)
            got = ravel.PlanAt(p, shape).run(np.ascontiguousarray(data.transpose(at)).reshape(-1).view("u1")).view("u2")
            assert np.array_equal(got[to], data), (h, w)


@pytest.mark.parametrize("shape", [(2, 3, 7, -1), (2, -1, 7, -1), (2, 3, -1, 5)])
def test_shifts_of_dims_after_joined_ones(cx, shape):
    """One shift is by a number and one by an extent that is left to run time: the dims before, which both sides have side by side, are one."""
    layout = "(X,Y,H,W){X, Y, (H + 1)%extent(H), (W + 2)%extent(W)}"
    with cx.plan("ROW_MAJOR", layout, shape, "u16") as to, cx.plan(layout, "ROW_MAJOR", shape, "u16") as back:
        to.verify()
        back.verify()
        for n in (1, 2, 5):
            x = np.arange(np.prod([n if d < 0 else d for d in shape]), dtype="u2").reshape([n if d < 0 else d for d in shape])
            want = np.ascontiguousarray(np.roll(x, (1, 2), (2, 3))).reshape(-1)
            assert np.array_equal(ravel.PlanAt(to, x.shape).run(x.reshape(-1).view("u1")).view("u2"), want)
            assert np.array_equal(ravel.PlanAt(back, x.shape).run(want.view("u1")).view("u2"), x.reshape(-1))
