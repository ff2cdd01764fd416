"""Strides and origins that each run is given: one plan for tensors of any stride, as NumPy's strides reach their elements."""

import ctypes as ct
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest

import grid_runs
import ravel
import test_grid_runtime
import test_hip
from runtime_cases import built
from sanitize import SANITIZE
from views import numpys, plain, RAVEL, random_bytes, TENSORS

SEED = int(os.environ.get("SEED", "19"))
RUNTIME = -1


def names(plan):
    out = (ct.c_char_p * 16)()
    ravel.lib.ravel_plan_strides.argtypes = [ct.c_void_p, ct.POINTER(ct.c_char_p)]
    n = ravel.lib.ravel_plan_strides(plan.p, out)
    assert n == ravel.lib.ravel_plan_strides(plan.p, None)
    return [x.decode() for x in out[:n]]


def reach(stored, strides, origin):
    """The address of each slot of an array."""
    return origin + sum((x * s for x, s in zip(np.indices(stored), strides)), np.zeros(stored, int))


# layout, its names, entries of its storage at a shape
LAYOUTS = [("NCHW", "NCHW@o(sn,sc,sh,sw)", lambda s: s), ("NC1HWC0{C0 = 16}", "NC1HWC0{C0=16}@(sn,sc,sh,16,1)", lambda s: (s[0], -(-s[1] // 16), s[2], s[3], 16)),
           ("NHWC", "NHWC@(sn,sh,sw,1)", lambda s: (s[0], s[2], s[3], s[1])), ("NCHW", "NCHW@o(4000,sc,sh,1)", lambda s: s)]


def drawn(text, stored, rnd, nested):
    """Values of the names of a layout, and all of its strides; nested: with room for the entries after each, as a destination needs."""
    origin, strides = re.search(r"@(\w*)\((.*)\)", text).groups()
    value, out, span = {}, [], 1
    for s, n in reversed(list(zip(strides.split(","), stored))):
        at = int(s) if s.isdigit() else span + rnd.choice((0, 0, 1, 7)) if nested else rnd.choice((0, 1, 3, 17, 100))
        value[s] = at
        out.insert(0, at)
        span = span + (n - 1) * at
    value[origin] = rnd.choice((0, 5)) if origin else 0
    return value, out, value[origin]


@pytest.mark.parametrize("named", [(), (1,), (0, 1, 2, 3)])
@pytest.mark.parametrize("layout, text, stored_of", LAYOUTS)
def test_source(cx, layout, text, stored_of, named):
    """Any strides: also 0, and such that elements share addresses."""
    rnd = random.Random(repr((SEED, text, named)))
    fixed = (2, 20, 3, 5)
    rq = [RUNTIME if d in named else n for d, n in enumerate(fixed)]
    with cx.plan(text, "NCHW", rq, "f16") as p:
        order = names(p)
        for _ in range(12):
            shape = [rnd.choice((1, 2, 9, 20, 33)) if d in named else n for d, n in enumerate(fixed)]
            stored = stored_of(shape)
            value, strides, origin = drawn(text, stored, rnd, False)
            at = reach(stored, strides, origin).reshape(-1)[TENSORS.get(layout, TENSORS["ROW_MAJOR"])[0](shape)]
            one = ravel.PlanAt(p, [*shape, *(value[x] for x in order)])
            assert one.src_bytes == 2*(1 + origin + sum((n - 1)*s for n, s in zip(stored, strides)))
            raw = random_bytes(one.src_bytes, 1)
            assert np.array_equal(one.run(raw).view("u2").reshape(shape), raw.view("u2")[at])


@pytest.mark.parametrize("named", [(), (1,), (0, 1, 2, 3)])
@pytest.mark.parametrize("layout, text, stored_of", LAYOUTS)
def test_destination(cx, layout, text, stored_of, named):
    """Elements and padding are written, and nothing else."""
    rnd = random.Random(repr((SEED, text, named)))
    fixed = (2, 20, 3, 5)
    with cx.plan("NCHW", text, [RUNTIME if d in named else n for d, n in enumerate(fixed)], "f32") as p:
        order = names(p)
        for _ in range(12):
            shape = [rnd.choice((1, 2, 9, 20)) if d in named else n for d, n in enumerate(fixed)]
            stored = stored_of(shape)
            value, strides, origin = drawn(text, stored, rnd, True)
            if 4000 in strides and strides[0] < 1 + sum((n - 1)*s for n, s in zip(stored[1:], strides[1:])):
                continue
            slots = reach(stored, strides, origin)
            at = slots.reshape(-1)[TENSORS.get(layout, TENSORS["ROW_MAJOR"])[0](shape)]
            one = ravel.PlanAt(p, [*shape, *(value[x] for x in order)])
            raw = random_bytes(one.src_bytes, 1)
            want = np.full(one.dst_bytes, ravel.POISON, np.uint8).view("u4")
            want[slots.reshape(-1)] = 0
            want[at.reshape(-1)] = raw.view("u4")
            assert np.array_equal(one.run(raw).view("u4"), want)


@pytest.mark.parametrize("index", ["[1:, ::-1]", "[:, 1:3, None]", "[-1, :, 2:]"])
def test_index(cx, index):
    """A part of such a tensor."""
    whole, rnd = (3, 4, 5), random.Random(SEED)
    for _ in range(8):
        strides, origin = [rnd.choice((0, 1, 6, 40)) for _ in whole], rnd.choice((0, 3))
        at = numpys(reach(whole, strides, origin), index)
        with cx.plan("(A,B,C){A,B,C}@o(a,b,c)(3,4,5)" + index, plain(at.ndim), at.shape, "u8") as p:
            assert names(p) == ["o", "a", "b", "c"]
            one = ravel.PlanAt(p, [*at.shape, origin, *strides])
            raw = random_bytes(one.src_bytes, 1)
            assert np.array_equal(one.run(raw).reshape(at.shape), raw[at])


def test_both_sides(cx):
    """One name is one stride; the names of the source come first."""
    with cx.plan("ROW_MAJOR@o(ld,1)", "ROW_MAJOR@p(ld,1)", (-1, 4), "f32") as p:
        assert names(p) == ["o", "ld", "p"]
        one = ravel.PlanAt(p, (3, 4, 2, 6, 1))
        raw = random_bytes(one.src_bytes, 1)
        want = np.full(one.dst_bytes, ravel.POISON, np.uint8).view("u4")
        want[reach((3, 4), (6, 1), 1)] = raw.view("u4")[reach((3, 4), (6, 1), 2)]
        assert np.array_equal(one.run(raw).view("u4"), want)
    with cx.plan("NCHW", "NHWC", (-1, 3, 4, 5), "f32") as p:
        assert names(p) == []
    assert ravel.lib.ravel_plan_strides(None, None) == 0


@pytest.mark.parametrize("src, dst, rq, at, why", [
    ("ROW_MAJOR@(ld,1)", "ROW_MAJOR", (3, 4), (3, 4, -1), "stride ld is -1"),
    ("ROW_MAJOR", "ROW_MAJOR@(ld,1)", (3, 4), (3, 4, 3), "the stride of .* is 3 elements, but the entries after it take 4"),
    ("ROW_MAJOR", "ROW_MAJOR@(ld,2)", (-1, -1), (3, 4, 6), "is 6 elements, but the entries after it take 7"),
    ("ROW_MAJOR", "ROW_MAJOR@(ld,2)", (-1, -1), (2, 1, 0), "is 0 elements"),
    ("ROW_MAJOR@(ld,1)", "ROW_MAJOR", (3, 4), (3, 4, 1 << 62), "do not fit 64 bits"),
    ("ROW_MAJOR@o(ld,1)", "ROW_MAJOR", (3, 4), (3, 4, 1 << 62, 1), "do not fit 64 bits")])
def test_wrong_values(cx, src, dst, rq, at, why):
    """Nothing is written; the emitted check refuses the same."""
    with cx.plan(src, dst, rq, "f32") as p:
        with pytest.raises(ravel.Error, match=why):
            ravel.PlanAt(p, at)
        room = np.full(4096, ravel.POISON, np.uint8)
        with pytest.raises(ravel.Error, match=why):
            ravel.call(ravel.lib.ravel_run_shape, p.p, room.ctypes.data, np.zeros(4096, np.uint8).ctypes.data, ravel.extents(at))
        assert (room == ravel.POISON).all()


def test_one_row(cx):
    """A stride that nothing uses may be anything: that of one row, as NumPy has it."""
    with cx.plan("ROW_MAJOR", "ROW_MAJOR@(ld,1)", (-1, -1), "f32") as p:
        one = ravel.PlanAt(p, (1, 4, 0))
        raw = random_bytes(16, 1)
        assert one.dst_bytes == 16 and np.array_equal(one.run(raw), raw)


@pytest.mark.parametrize("at", [(0, 4, 9), (3, 0, 9), (0, 0, 0)])
def test_no_elements(cx, at):
    for src, dst in (("ROW_MAJOR", "ROW_MAJOR@(ld,1)"), ("ROW_MAJOR@(ld,1)", "ROW_MAJOR")):
        with cx.plan(src, dst, (-1, -1), "f32") as p:
            one = ravel.PlanAt(p, at)
            assert one.src_bytes == 0 == one.dst_bytes
            ravel.call(ravel.lib.ravel_run_shape, p.p, None, None, ravel.extents(at))


@pytest.mark.parametrize("src, dst, rq, why", [
    ("ROW_MAJOR", "ROW_MAJOR@(M,1)", (-1, 4), None), ("(M,K){M,K}@(M,1)", "ROW_MAJOR", (-1, 4), "'M' is the name of an extent and of a stride"),
    ("ROW_MAJOR", "ROW_MAJOR@(ld,0)", (-1, 4), "is no destination"), ("ROW_MAJOR@(-9,1)", "ROW_MAJOR", (-1, 4), "a negative stride"),
    ("ROW_MAJOR@(a1,a2,a3,a4,a5,a6,a7,a8,a9)", "ROW_MAJOR", (1,)*9, "more than 16 dims, strides")])
def test_refused(cx, src, dst, rq, why):
    if why is None:
        with cx.plan(src, dst, rq, "f32") as p:
            assert names(p) == ["M"]
        return
    with pytest.raises(ravel.Error, match=why):
        cx.plan(src, dst, rq, "f32")


def test_strides_that_are_numbers(cx):
    """With extents left to run time a destination is tested as well."""
    with cx.plan("ROW_MAJOR", "ROW_MAJOR@(9,1)", (-1, -1), "f32") as p:
        with pytest.raises(ravel.Error, match="is 9 elements, but the entries after it take 10"):
            ravel.PlanAt(p, (2, 10))
        one = ravel.PlanAt(p, (3, 9))
        raw = random_bytes(one.src_bytes, 1)
        assert np.array_equal(one.run(raw), raw)


def emit(path, src, dst, shape, *more):
    r = subprocess.run([RAVEL, "emit", "--from", src, "--to", dst, "--shape", shape, "--dtype", "f32", "--name", "kern", "-o", path, *more],
                       capture_output=True, text=True, timeout=120)
    assert r.returncode == 0, r.stderr
    return r.stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang", "tcc"])
def test_emitted(tmp_path, compiler):
    """Names are arguments after the extents; a bad stride is answered by 1 before anything is written."""
    emit(tmp_path / "f.c", "ROW_MAJOR@o(ld,1)", "COL_MAJOR@(p,1)", "M,N")
    lib = ct.CDLL(str(built(tmp_path / "f.c", compiler)))
    lib.kern.argtypes = [ct.c_void_p, ct.c_void_p] + [ct.c_int64]*5
    raw = random_bytes(400, 1).view("u4")
    want = np.full(60, 7, "u4")
    out = want.copy()
    want[reach((4, 9), (11, 1), 0)] = raw[reach((9, 4), (6, 1), 3)].T
    assert lib.kern(out.ctypes.data, raw.ctypes.data, 9, 4, 3, 6, 8) == 1 == lib.kern(out.ctypes.data, raw.ctypes.data, 9, 4, 3, -6, 11)
    assert lib.kern(out.ctypes.data, raw.ctypes.data, 9, 4, 3, 1 << 60, 11) == 1 and (out == 7).all()
    assert lib.kern(out.ctypes.data, raw.ctypes.data, 9, 4, 3, 6, 11) == 0
    assert np.array_equal(out, want)
    assert lib.kern(out.ctypes.data, raw.ctypes.data, 9, 1, 3, 6, 0) == 0          # a column alone has no use for its stride
    assert np.array_equal(out[:9], raw[3:57:6])


@pytest.mark.parametrize("src, dst, shape", [("NCHW@o(sn,sc,sh,1)", "NHWC", "2,3,H,5"), ("NHWC", "NC1HWC0@o(sn,sc,ld,8,1)", "N,C,H,W"), ("COL_MAJOR@(a,b)", "ROW_MAJOR@(c,1)", "5,6")])
def test_proofs(tmp_path, src, dst, shape):
    """verify, and emit --check, at strides with and without room to spare."""
    r = subprocess.run([RAVEL, "verify", "--from", src, "--to", dst, "--shape", shape, "--dtype", "f32"], capture_output=True, text=True, timeout=120)
    assert r.returncode == 0 and r.stdout.count("yes:") == 2, r.stdout + r.stderr
    assert emit(tmp_path / "f.c", src, dst, shape, "--check", "gcc -O1").startswith("yes:")


@pytest.mark.parametrize("words", [
    ["convert", "x.npy", "y.npy", "--from", "ROW_MAJOR@(ld,1)", "--to", "ROW_MAJOR"], ["convert", "x.npy", "y.npy", "--from", "ROW_MAJOR", "--to", "ROW_MAJOR@(ld,1)"],
    ["convert", "x.npy", "y.npy", "--from", "ROW_MAJOR", "--via", "ROW_MAJOR@(ld,1)", "--to", "ROW_MAJOR"], ["convert", "x.npy", "y.npy", "--mem", "1M", "--from", "ROW_MAJOR@(ld,1)", "--to", "ROW_MAJOR"],
    ["bench", "--from", "ROW_MAJOR@(ld,1)", "--to", "ROW_MAJOR", "--shape", "3,4", "--dtype", "f32"], ["check", "ROW_MAJOR@(ld,1)", "--shape", "3,4"],
    ["check", "ROW_MAJOR", "--compatible", "ROW_MAJOR@(ld,1)", "--shape", "3,4"], ["index", "ROW_MAJOR@(ld,1)", "--shape", "3,4", "--at", "1,2"],
    ["show", "ROW_MAJOR@(ld,1)", "--shape", "3,4"], ["tune", "--from", "ROW_MAJOR@(ld,1)", "--to", "ROW_MAJOR", "--shape", "M,4", "--at", "3,4", "--dtype", "f32"],
    ["explain", "--in-place", "--from", "ROW_MAJOR@(ld,1)", "--to", "ROW_MAJOR", "--shape", "3,4", "--dtype", "f32"],
    ["emit", "--target", "bursts", "--from", "ROW_MAJOR@(ld,1)", "--to", "ROW_MAJOR", "--shape", "3,4", "--dtype", "f32"]])
def test_commands_that_take_numbers(tmp_path, words):
    np.save(tmp_path / "x.npy", np.zeros((3, 4), "f4"))
    r = subprocess.run([RAVEL, *words], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert r.returncode == 2 or (words[0] == "explain" and "in place" in r.stderr), r.stdout
    assert "ld" in r.stderr or "run time" in r.stderr or "names" in r.stderr, r.stderr
    assert not (tmp_path / "y.npy").exists()


def test_log(tmp_path):
    """A run's command has the numbers of the run."""
    text = ("import sys; sys.path.insert(0, %r)\nimport ravel, numpy as np\ncx = ravel.Context()\np = cx.plan('ROW_MAJOR@(ld,1)', 'ROW_MAJOR', (3, 4), 'f32')\n"
            "one = ravel.PlanAt(p, (3, 4, 6)); one.run(np.zeros(one.src_bytes, np.uint8))" % os.path.dirname(__file__))
    r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, "RAVEL_VERBOSE": "1"}, timeout=60)
    assert "'ROW_MAJOR@(6,1)'" in r.stderr, r.stderr


GRIDS = [("ROW_MAJOR@o(ld,1)", "(A,B){B, A}@(p,1)", "M,N"), ("(A,B){A, B}@(a,b)", "(A,B){A//8, B, A%8}", "M,40"),
         ("(A,B){A, B}", "(A,B){B, A}@p(q,r)", "24,40"), ("ROW_MAJOR@(ld,1)", "ROW_MAJOR@(ld,1)", "M,N")]


def arguments(src, dst, shape):
    """The names of extents, and of strides and origins, in their order."""
    return [x for x in shape.split(",") if x.isalpha()] + list(dict.fromkeys(re.findall("[a-z]+", "".join(re.findall("@.*", src) + re.findall("@.*", dst)))))


def grid_cases(src, dst, shape):
    """Values of the names, the bytes of the source, and of the destination."""
    rnd = random.Random(repr((SEED, src, dst)))
    for m, k in [(1, 1), (3, 40), (65, 33), (64, 128), (130, 7)]:
        at = {"M": m, "N": k}
        size = [at.get(x) or int(x) for x in shape.split(",")]
        sides, stored = [], {src: size, dst: [-(-size[0] // 8), size[1], 8] if "%" in dst else size[::-1] if "{B, A}" in dst else size}
        for side in (dst, src):
            if "@" in side:
                _, strides, origin = drawn(side[side.index("@"):], stored[side], rnd, True)
                for x, v in zip(re.search(r"@(\w*)\((.*)\)", side)[2].split(","), strides):
                    at.setdefault(x, v)
                at.setdefault(side[side.index("@") + 1:side.index("(", side.index("@"))], origin)
                strides = [at.get(x, 1) for x in re.search(r"@\w*\((.*)\)", side)[1].split(",")]
                if src == dst:
                    at["ld"] = max(at["ld"], size[1])
                    strides = [at["ld"], 1]
                sides.append(reach(stored[side], strides, origin))
            else:
                sides.append(np.arange(math.prod(stored[side])).reshape(stored[side]))
        d, s = sides
        raw = rnd.randbytes(2*(int(s.max()) + 1))
        x = np.frombuffer(raw, "u2")[s]
        want = np.full(int(d.max()) + 1, 0xa5a5, "u2")
        if "%" in dst:
            full = np.zeros((stored[dst][0]*8, size[1]), "u2")
            full[:size[0]] = x
            x = full.reshape(-1, 8, size[1]).transpose(0, 2, 1)
        want[d] = x.T if "{B, A}" in dst else x
        yield at, raw, want


# What runs the kernel of a grid at each stride of its input: extents, strides, and the source.
@pytest.mark.parametrize("src, dst, shape", GRIDS)
def test_grid(tmp_path, src, dst, shape):
    """Kernels for blocks of threads, as plain C with sanitizers."""
    text = test_grid_runtime.emit(tmp_path / "f.c", (src, dst, shape, "u16"), "blocks")
    order, cases = arguments(src, dst, shape), []
    n = len(order)
    (tmp_path / "main.c").write_text(test_grid_runtime.MAIN % {"n": n, "args": ", ".join("x[%d]" % i for i in range(n)), "values": int(re.search(r"int64_t out\[(\d+)\]", text)[1])})
    subprocess.run(["gcc", "-g1", *test_grid_runtime.STRICT, *SANITIZE, "-o", "main", "main.c"], cwd=tmp_path, check=True)
    with open(tmp_path / "in", "wb") as f:
        for at, raw, want in grid_cases(src, dst, shape):
            f.write(struct.pack("%dq" % n, *(at[x] for x in order)))
            f.write(raw)
            cases.append((at, len(raw), want))
    r = subprocess.run(["./main", "in"], cwd=tmp_path, capture_output=True, env={k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")})
    assert r.returncode == 0 and r.stderr == b"", (r.returncode, r.stderr[-900:].decode())
    place = 0
    for at, size, want in cases:
        a, b, _ = struct.unpack_from("3q", r.stdout, place)
        assert (a, b) == (size, want.nbytes), at
        assert np.array_equal(np.frombuffer(r.stdout, "u2", want.size, place + 24), want), at
        place += 24 + b


class GridAtStrides:
    """A kernel at values of its names, which are constants of the file, as test_grid_runtime.AtShape."""
    def __init__(self, folder, number, text, call, order, at, raw, want):
        (src, dst, blocks), out = call([at[x] for x in order])
        assert (src, dst) == (len(raw), want.nbytes), at
        self.case, self.entry, self.path = at, "kern%d" % number, folder / ("k%d.cl" % number)
        kernel = text.replace(", __constant long *values)", ")").replace("\nkern(", "\n%s(" % self.entry)
        self.path.write_text("__constant long values[512] = {%s};\n%s" % (", ".join(map(str, out)), kernel))
        self.manifest = {"grid": [blocks], "block": [256], "shared_bytes": 16384}
        self.raw, self.want = np.frombuffer(raw, np.uint8), want.view(np.uint8)

    def data(self):
        return self.raw, self.want


@pytest.mark.parametrize("src, dst, shape", GRIDS)
def test_by_opencl(tmp_path, src, dst, shape):
    text = test_grid_runtime.emit(tmp_path / "f.cl", (src, dst, shape, "u16"), "opencl")
    order = arguments(src, dst, shape)
    call = test_grid_runtime.host(tmp_path, tmp_path / "f.cl", len(order))
    ks = [GridAtStrides(tmp_path, i, text, call, order, *case) for i, case in enumerate(grid_cases(src, dst, shape))]
    r, wrong = grid_runs.run_opencl(tmp_path, ks)
    assert r.stdout == "%d jobs\n" % len(ks) and not wrong, (r.stdout, wrong)


@pytest.mark.parametrize("src, dst, shape", GRIDS)
def test_hip_compiles(tmp_path, src, dst, shape):
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    test_grid_runtime.emit(tmp_path / "k.hip", (src, dst, shape, "u16"), "hip")
    subprocess.run(["clang", *test_hip.FLAGS, *test_hip.COMPILERS["clang"], "--offload-arch=gfx90a", "-o", tmp_path / "k.s", tmp_path / "k.hip"], check=True)
