"""Index arrays of kernels for blocks of threads, against NumPy's own indexing: as plain C under UBSan, by OpenCL through plans for devices; numbers out of range."""

import ctypes as ct
import json
import subprocess

import numpy as np
import pytest

import grids as G
import ravel
from device_mocks import Buffers, compiled as library_of, cuda, current, Device, env, lib, Memory, mocks, PLAIN  # fixtures too
from machine_code import nvcc  # a fixture
from sanitize import UNDEFINED
from test_arrays import Array, data, same
from test_arrays_joint import JOINT, texts
from test_device_opencl import device, opencl, pocl_cache  # fixtures
from test_device_plan import DevicePlan, cx  # a fixture too
from test_grid_runtime import STRICT
from test_hip import compiled, compiler  # a fixture too

UNTOUCHED = 0xA5


def put_along(y, i, v, axis):
    np.put_along_axis(y, i, v, axis)


def put_moved(y, i, v):
    y[i[i >= 0]] = v[i >= 0]


# Source and destination, the shapes of the view and of the destination, the arrays by name with their bound, and NumPy's answer into y.
PUTS = [
    ("ROW_MAJOR", "ROW_MAJOR(20,6)[idx]", (7, 6), (20, 6), {"idx": ((7,), 20)}, lambda y, x, i: y.__setitem__(i, x)),
    ("ROW_MAJOR", "ROW_MAJOR(20,6)[skip i32 idx]", (7, 6), (20, 6), {"idx": ((7,), 20)}, lambda y, x, i: put_moved(y, i, x)),
    ("ROW_MAJOR", "ROW_MAJOR(6,20)[:, along idx]", (6, 7), (6, 20), {"idx": ((6, 7), 20)}, lambda y, x, i: put_along(y, i, x, 1)),
    ("COL_MAJOR", "ROW_MAJOR(20,6)[idx]", (7, 6), (20, 6), {"idx": ((7,), 20)}, lambda y, x, i: y.__setitem__(i, x.reshape(6, 7).T)),
    ("ROW_MAJOR(20,6)[skip idx]", "ROW_MAJOR", (9, 6), (9, 6), {"idx": ((9,), 20)}, lambda y, x, i: y.__setitem__(i >= 0, x.reshape(20, 6)[i[i >= 0]])),
    ("ROW_MAJOR(20,6)[idx]", "(A,B){A, B, pad = {B = 8}, fill = 7}", (9, 6), (9, 8), {"idx": ((9,), 20)},
     lambda y, x, i: (y.__setitem__((slice(None), slice(6)), x.reshape(20, 6)[i]), y.__setitem__((slice(None), slice(6, 8)), 7))),
    ("ROW_MAJOR(20,6)[take]", "ROW_MAJOR(15,6)[put]", (9, 6), (15, 6), {"take": ((9,), 20), "put": ((9,), 15)}, lambda y, x, i, j: y.__setitem__(j, x.reshape(20, 6)[i])),
]


def gets():
    """Gathers, with the names of the arrays in the order of NumPy's arguments."""
    for text, tensor, view, arrays, select in JOINT:
        yield texts(text)[0], tensor, view, arrays, select


def numbers(text, arrays, seed=3):
    """Of each array; distinct ones, some -1 where the text says skip of all uses."""
    rng, out = np.random.default_rng(seed), {}
    for name, (shape, bound) in arrays.items():
        n = shape[-1]
        out[name] = np.stack([rng.permutation(max(n, bound))[:n] % bound for _ in range(int(np.prod(shape[:-1])))]).reshape(shape)
        if "skip" in text and "skip i, i" not in text:
            out[name].reshape(-1)[1::3] = -1
    return out


class Case:
    """Source bytes, destination before and after, the arrays in the order of the function's parameters."""
    def __init__(self, text, to, view, src, dst, arrays, answer, dtype="u4"):
        self.text, self.to, self.view, self.dtype = text, to, view, dtype
        self.src, self.by_name = data(src, dtype), numbers(text + to, arrays)
        self.after = np.full(dst, int.from_bytes(bytes([UNTOUCHED]) * np.dtype(dtype).itemsize, "little"), dtype)
        self.before = self.after.copy()
        answer(self.after, self.src, *self.by_name.values())
        self.bound = {name: bound for name, (_, bound) in arrays.items()}

    def arrays(self, names):
        """As (name, bits) say."""
        return [np.ascontiguousarray(self.by_name[n].astype("i4" if bits == 32 else "i8")) for n, bits in names]


def cases(dtype="u4"):
    for text, tensor, view, arrays, select in gets():
        yield Case(text, "ROW_MAJOR", view, tensor, view, arrays, lambda y, x, *i, select=select: y.__setitem__(..., select(x, *i)), dtype)
    for text, to, view, dst, arrays, answer in PUTS:
        src = (20, 6) if "(20,6)[" in text else view
        yield Case(text, to, view, src, dst, arrays, answer, dtype)


@pytest.fixture
def names():
    """The arrays of a conversion, as a plan of the library has them."""
    with ravel.Context() as c:
        def of(case, shape):
            out = (Array * 8)()
            with c.plan(case.text, case.to, shape, {"u4": "u32", "u1": "u8"}[case.dtype]) as p:
                return [(a.name.decode(), a.bits) for a in out[:ravel.lib.ravel_plan_arrays(p.p, out)]]
        yield of


def emitted(path, name, case, shape, target="blocks", code=0, *more):
    r = subprocess.run([G.RAVEL, "emit", "--from", case.text, "--to", case.to, "--shape", shape, "--dtype", {"u4": "u32", "u1": "u8"}[case.dtype], "--target", target,
                        "--name", name, "-o", path, *more], capture_output=True, text=True)
    assert r.returncode == code, r
    return r.stderr


def library(folder, files):
    subprocess.run(["gcc", *STRICT, "-O1", *UNDEFINED, "-shared", "-fPIC", "-o", folder / "k.so", *files], check=True)
    return ct.CDLL(str(folder / "k.so"))


def call(f, case, arrays, *extents):
    """The destination, and the number of the wrong array."""
    y, bad = case.before.copy(), ct.c_int(0)
    f(ct.c_void_p(y.ctypes.data), ct.c_void_p(case.src.ctypes.data), *[ct.c_void_p(a.ctypes.data) for a in arrays], ct.byref(bad), *map(ct.c_int64, extents))
    return y, bad.value


@pytest.mark.parametrize("dtype", ["u4", pytest.param("u1", marks=PLAIN)])
def test_in_plain_c(tmp_path, names, dtype):
    all_ = list(cases(dtype))
    for i, c in enumerate(all_):
        emitted(tmp_path / ("k%d.c" % i), "k%d" % i, c, ",".join(map(str, c.view)))
    so = library(tmp_path, sorted(tmp_path.glob("k*.c")))
    for i, c in enumerate(all_):
        arrays = c.arrays(names(c, c.view))
        y, bad = call(so["k%d" % i], c, arrays)
        assert bad == 0 and same(y, c.after), (c.text, c.to)


RUNTIME = [("ROW_MAJOR(20,W)[idx]", "T,W", (9, 6), {"idx": ((9,), 20)}, (20, 6), lambda x, i: x[i]),
           ("ROW_MAJOR(T,20)[:, i32 along idx]", "T,W", (9, 6), {"idx": ((9, 6), 20)}, (9, 20), lambda x, i: np.take_along_axis(x, i, 1)),
           ("ROW_MAJOR(20,30)[i, j]", "T", (700,), {"i": ((700,), 20), "j": ((700,), 30)}, (20, 30), lambda x, i, j: x[i, j])]


def runtime():
    for text, shape, view, arrays, tensor, select in RUNTIME:
        yield Case(text, "ROW_MAJOR", view, tensor, view, arrays, lambda y, x, *i, select=select: y.__setitem__(..., select(x, *i))), shape


def test_extents_at_run_time(tmp_path, names):
    all_ = list(runtime())
    for i, (c, shape) in enumerate(all_):
        emitted(tmp_path / ("k%d.c" % i), "k%d" % i, c, shape)
    so = library(tmp_path, sorted(tmp_path.glob("k*.c")))
    for i, (c, shape) in enumerate(all_):
        arrays = c.arrays(names(c, [-1] * len(c.view)))
        y, bad = call(so["k%d" % i], c, arrays, *c.view)
        assert bad == 0 and same(y, c.after), c.text


def test_numbers_are_checked_first(tmp_path, names):
    """The array with a number out of range is named, and nothing is written; so it is if *bad was set before."""
    c = Case(*PUTS[-1][:3], (20, 6), *PUTS[-1][3:])
    emitted(tmp_path / "k.c", "k", c, "9,6")
    f, wanted = library(tmp_path, [tmp_path / "k.c"]).k, names(c, c.view)
    for which, place, value in (0, 8, 20), (0, 0, -1), (1, 3, 15), (1, 8, 2**62), (0, 4, -2**63):
        arrays = c.arrays(wanted)
        arrays[which][place] = value
        y, bad = call(f, c, arrays)
        assert bad == which + 1 and same(y, c.before), (which, place, value)


def test_refused(tmp_path):
    c = Case(*PUTS[0][:3], (7, 6), *PUTS[0][3:])
    assert "the kernels of the target glsl take none, as it has no 'lookup'" in emitted(tmp_path / "k", "k", c, "7,6", "glsl", 2)
    assert "a machine of bursts" in emitted(tmp_path / "k", "k", c, "7,6", "bursts", 2)
    (tmp_path / "t.lua").write_text('return { like = "cuda", kernel_open = "void ${name}() {" }')
    assert "the field 'kernel_open' of the target" in emitted(tmp_path / "k", "k", c, "7,6", tmp_path / "t.lua", 2)
    (tmp_path / "t.lua").write_text('local t = { like = "glsl", lookup = "x" } return t')
    assert "field 'lookup' needs the field 'moved_open'" in emitted(tmp_path / "k", "k", c, "7,6", tmp_path / "t.lua", 2)
    r = subprocess.run([G.RAVEL, "emit", "--from", "ROW_MAJOR(20,3)[idx]", "--to", "ROW_MAJOR", "--shape", "9,3", "--dtype", "u4", "--target", "cuda", "-o", tmp_path / "k"],
                       capture_output=True, text=True)
    assert r.returncode == 2 and "needs accesses of less than 1 byte, and the row inverse reads no index arrays" in r.stderr and not (tmp_path / "k").exists()


def test_manifest(tmp_path):
    c = Case(*PUTS[1][:3], (7, 6), *PUTS[1][3:])
    emitted(tmp_path / "k", "k", c, "7,6", "cuda", 0, "--manifest", tmp_path / "m")
    m = json.loads((tmp_path / "m").read_text())
    assert [a["name"] for a in m["arguments"]] == ["dst", "src", "idx", "bad"] and m["check"] == "k_check"
    assert m["arguments"][2] == {"name": "idx", "is": "pointer", "bits": 32, "least": -1, "most": 19, "count": 7}
    emitted(tmp_path / "k", "k", c, "T,6", "cuda", 0, "--manifest", tmp_path / "m")
    m = json.loads((tmp_path / "m").read_text())
    assert [a["name"] for a in m["arguments"]] == ["dst", "src", "idx", "bad", "values"] and "count" not in m["arguments"][2]


def of_devices():
    """One with numbers that are not moved, one with two arrays of single elements, one of rows, with extents at run time and without."""
    return [(c, ",".join(map(str, c.view))) for c in list(cases("u1"))[2::9]] + list(runtime())


@PLAIN
def test_cuda(nvcc, tmp_path):
    for i, (c, shape) in enumerate(of_devices()[::3]):
        emitted(tmp_path / "k.cu", "k", c, shape, "cuda")
        r = subprocess.run([nvcc, "-cubin", "-arch=sm_80", "-Werror", "all-warnings", "-o", tmp_path / "k.cubin", tmp_path / "k.cu"], capture_output=True, text=True)
        assert r.returncode == 0, r.stderr


@PLAIN
def test_hip(compiler, tmp_path):
    some = of_devices()[:-2]
    for i, (c, shape) in enumerate(some):
        emitted(tmp_path / ("k%d" % i), "k%d" % i, c, shape, "hip")
    compiled(compiler, tmp_path, [(tmp_path / ("k%d" % i)).read_text() for i in range(len(some))])


KERNELS = "#include <stdint.h>\nvoid ravel_relayout(void *d, const void *s, uint32_t b) { ((char *)d)[0] = ((const char *)s)[0]; (void)b; }\n" \
          "void ravel_relayout_check(void *d, const void *s, uint32_t b) { (void)d; (void)s; (void)b; }\n"


def test_arguments_of_cuda(cx, lib, cuda, current, env, tmp_path):
    """Two kernels are launched, with the same arrays after the buffers."""
    (tmp_path / "k.c").write_text(KERNELS)
    env(RAVEL_MOCK_KERNELS=library_of(tmp_path, "k", tmp_path / "k.c"), RAVEL_MOCK_ARRAYS=3)
    with Device(lib, "of_cuda") as d, DevicePlan(cx, d, "ROW_MAJOR(20,6)[rows][:, i32 cols]", "ROW_MAJOR", (9, 4), "u32") as plan:
        assert listed(plan) == [("cols", 32), ("rows", 64)]
        m = [Memory(cuda) for _ in range(3)]
        before, at = cuda.state.launches, [m[0].dst, m[1].dst, m[2].dst]
        run = lambda *a: ravel.call(lib.ravel_device_run_arrays, plan.p, 0x5000, m[0].src, m[1].src, None, (ct.c_void_p * 2)(*a[:2]), a[2])
        run(*at)
        assert cuda.state.launches == before + 2 and list((ct.c_uint64 * 3).in_dll(cuda, "mock_arrays")) == at
        for i, what in enumerate(["cols", "rows", "bad"]):
            with pytest.raises(ravel.Error, match="the array '%s' is at no multiple of" % what):
                run(*[p + 2 * (k == i) for k, p in enumerate(at)])
        assert cuda.state.launches == before + 2 and cuda.cuStreamSynchronize(0x5000) == 0
        for x in m:
            x.free()


# --- plans for devices, by PoCL

class Run:
    """A plan's buffers on the device: source, destination, arrays and *bad."""
    def __init__(self, d, case, arrays):
        size = max(case.src.nbytes, case.after.nbytes, *[a.nbytes for a in arrays], 4)
        self.m, self.n, self.case, self.size = Buffers(d, 3 + len(arrays), size), len(arrays), case, size
        for i, a in enumerate([case.before, case.src, np.zeros(1, "i4"), *arrays]):
            self.m.put(i, np.ascontiguousarray(a))

    def __call__(self, plan, shape=None):
        arrays = (ct.c_void_p * self.n)(*self.m.mem[3:])
        ravel.call(plan.lib.ravel_device_run_arrays, plan.p, None, self.m.mem[0], self.m.mem[1], None if shape is None else ravel.extents(shape), arrays, self.m.mem[2])
        y = self.m.get(0)[:self.case.after.nbytes].view(self.case.dtype).reshape(self.case.after.shape)
        return y, int(self.m.get(2)[:4].view("i4")[0])

    def free(self):
        self.m.free()


def run_once(d, plan, case, arrays, shape=None):
    r = Run(d, case, arrays)
    out = r(plan, shape)
    r.free()
    return out


def listed(plan):
    out = (Array * 8)()
    return [(a.name.decode(), a.bits) for a in out[:plan.lib.ravel_device_plan_arrays(plan.p, out)]]


def test_plans_for_devices(cx, device):
    for c in list(cases())[2::7]:
        with DevicePlan(cx, device, c.text, c.to, c.view, "u32") as plan:
            y, bad = run_once(device, plan, c, c.arrays(listed(plan)))
            assert bad == 0 and same(y, c.after), (c.text, c.to)


def test_plans_at_shapes(cx, device):
    for c, _ in list(runtime())[1:2]:
        with DevicePlan(cx, device, c.text, c.to, [-1] * len(c.view), "u32") as plan:
            y, bad = run_once(device, plan, c, c.arrays(listed(plan)), c.view)
            assert bad == 0 and same(y, c.after), c.text


def test_a_plan_says_which_array_is_wrong(cx, device):
    c = Case(*PUTS[-1][:3], (20, 6), *PUTS[-1][3:])
    with DevicePlan(cx, device, c.text, c.to, c.view, "u32") as plan:
        arrays = c.arrays(listed(plan))
        arrays[1][3] = 15
        r = Run(device, c, arrays)
        y, bad = r(plan)
        assert bad == 2 and same(y, c.before)
        arrays[1][3] = 2
        r.m.put(4, arrays[1])
        assert r(plan)[1] == 2, "*bad stays, and nothing is written"
        r.m.put(2, np.zeros(1, "i4"))
        y, bad = r(plan)
        assert bad == 0 and not same(y, c.before)
        null = (ct.c_void_p * 2)(r.m.mem[3], None)
        for f, args, why in [(plan.lib.ravel_device_run, (), "ravel_device_run_arrays runs it"),
                             (plan.lib.ravel_device_run_arrays, (None, null, r.m.mem[2]), "the array '%s' is NULL" % listed(plan)[1][0]),
                             (plan.lib.ravel_device_run_arrays, (None, (ct.c_void_p * 2)(*r.m.mem[3:5]), None), "the array 'bad' is NULL")]:
            with pytest.raises(ravel.Error, match=why):
                ravel.call(f, plan.p, None, r.m.mem[0], r.m.mem[1], *args)
        r.free()
    with DevicePlan(cx, device, "ROW_MAJOR", "COL_MAJOR", (4, 4), "u32") as plain, pytest.raises(ravel.Error, match="has no index arrays"):
        ravel.call(plain.lib.ravel_device_run_arrays, plain.p, None, 1, 2, None, (ct.c_void_p * 1)(), 3)
