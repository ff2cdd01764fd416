"""Plans for devices (runtime/ravel_gpu.h): every byte by PoCL; what is asked of CUDA by stand-ins; the cache."""

import ctypes as ct
import shlex
import subprocess

import numpy as np
import pytest

import grids as G
import ravel
import runtime_cases as T
from gpu_api import PlanInfo
from device_mocks import BYTES, Buffers, CUDA, Device, Memory, compiled, compiles, cuda, current, env, lib, mocks, refused  # fixtures too
from test_device_opencl import device, opencl, pocl_cache  # fixtures

TRANSPOSE = ("(A,B){A, B}", "(A,B){B, A}")


class DevicePlan:
    def __init__(self, cx, d, src, dst, shape, dtype, align=0, new="plan_new"):
        self.lib, self.p = d.lib, ct.c_void_p()
        rq = ravel.Request(src.encode(), dst.encode(), dtype.encode(), len(shape), ravel.extents(shape), 0)
        ravel.call(getattr(d.lib, "ravel_device_" + new), cx.p, d.p, ct.byref(rq), align, ct.byref(self.p))

    def about(self, plan=None):
        i = PlanInfo()
        assert self.lib.ravel_device_plan_about(plan or self.p, ct.byref(i))
        return i

    def variant(self, dst, src):
        """What a launch with these pointers takes; None: nothing."""
        p = self.lib.ravel_device_plan_variant(self.p, dst, src)
        return self.about(p) if p else None

    def at(self, shape=None):
        """Bytes of the source and of the destination, blocks, and the kernel's values."""
        out, values = [ct.c_int64() for _ in range(3)], (ct.c_int64 * (self.about().values + 1))()
        ravel.call(self.lib.ravel_device_plan_at, self.p, None if shape is None else ravel.extents(shape), *map(ct.byref, out), values)
        return *[x.value for x in out], list(values)[:-1]

    def run(self, dst, src, shape=None, queue=None):
        if shape is None:
            ravel.call(self.lib.ravel_device_run, self.p, queue, dst, src)
        else:
            ravel.call(self.lib.ravel_device_run_shape, self.p, queue, dst, src, ravel.extents(shape))

    def run_batch(self, dst, src, shape=None, queue=None):
        pairs = [(ct.c_void_p * len(x))(*x) for x in (dst, src)]
        ravel.call(self.lib.ravel_device_run_batch, self.p, queue, *pairs, len(dst), None if shape is None else ravel.extents(shape))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lib.ravel_device_plan_free(self.p)


@pytest.fixture
def cx():
    with ravel.Context() as c:
        yield c


def by_opencl(d, plan, raw, want, shape=None):
    src, dst, _, _ = plan.at(shape)
    assert raw.size <= src <= raw.size + 3 and want.size <= dst <= want.size + 3
    m, from_ = Buffers(d, 2, max(src, dst, 4)), np.zeros(max(src, 4), np.uint8)
    from_[:raw.size] = raw
    m.put(0, np.full(m.size, ravel.POISON, np.uint8))
    m.put(1, from_)
    plan.run(m.mem[0], m.mem[1], shape)
    got = m.get(0)[:want.size]
    m.free()
    wrong = np.flatnonzero(got != want)
    assert not wrong.size, (shape, wrong[:5])


@pytest.mark.parametrize("case", G.CASES[3::29], ids=str)
def test_every_byte(cx, device, case, tmp_path):
    src, dst, shape, bits = case
    raw, want = G.Kernel(tmp_path, 0, case, "opencl").data()
    with DevicePlan(cx, device, src, dst, shape, ravel.DTYPE[bits]) as plan:
        by_opencl(device, plan, raw, want)


@pytest.mark.parametrize("dtype, bits", [("i8", 8), ("f16", 16), ("f32", 32), ("f64", 64), ("u4", 4)])
@pytest.mark.parametrize("shape", [(-1, 20, 5, 7), (2, 20, 5, 7)], ids=["names", "numbers"])
def test_every_byte_of_a_fill_that_each_run_is_given(cx, device, dtype, bits, shape):
    """Its number follows the extents, as for the CPU, whose answer the tests of test_open_fill.py hold against NumPy."""
    case = ("NCHW", "{N, C//16, H, W, C%16, fill = zp}", shape, dtype)
    with DevicePlan(cx, device, *case) as plan, cx.plan(*case) as cpu:
        for n, fill in ((2, 3), (2, -1), (2 if shape[0] > 0 else 5, (1 << (bits - 1)) - 1), (2, -(1 << (bits - 1)))):
            at = (n, *shape[1:], fill)
            one = ravel.PlanAt(cpu, at)
            raw = np.random.default_rng(n).integers(0, 256, one.src_bytes, np.uint8)
            by_opencl(device, plan, raw, one.run(raw), at)
        assert "fill zp is" in refused(plan.at, (2, *shape[1:], 1 << 40))[1] if bits < 40 else True
        assert refused(plan.at, None)[0] == "ARGUMENT"


@pytest.mark.parametrize("case", [("NCHW", "NC1HWC0", "N,71,H,W", "f16"), ("NCHW", "NHWC", "N,C,H,W", "f32"), ("(A,B){A, B}", "(A,B){B//6, A, B%6}", "A,B", "u8")], ids=str)
def test_every_byte_at_shapes(cx, device, case):
    n = len(T.arguments(case))
    with DevicePlan(cx, device, case[0], case[1], [-1 if s.isalpha() else int(s) for s in case[2].split(",")], case[3]) as plan:
        for values in ([5]*n, [3, *[17]*(n - 1)], [1]*n, [2, 33, *[8]*(n - 2)]):
            shape = T.shape_at(case, values)
            by_opencl(device, plan, *T.expected(case, shape, T.BITS[case[3]]), shape)


def test_cache(cx, device):
    def plan(shape=(8, 8), align=0, dst=TRANSPOSE[1]):
        return DevicePlan(cx, device, TRANSPOSE[0], dst, shape, "f32", align)
    a, b, c, d = plan(), plan(), plan((8, 9)), plan(align=4)
    assert a.p.value == b.p.value and len({a.p.value, c.p.value, d.p.value}) == 3
    assert d.about().align == 4 and a.about().align == 16
    cx.load('layout "MINE" { dims = { A, B }, order = { B, A } }')
    e, mine = plan(), plan(dst="MINE")
    assert e.p.value != a.p.value, "a spec was loaded since"
    cx.load('layout "MINE" { dims = { A, B }, order = { A, B } }')
    other = plan(dst="MINE")
    assert other.p.value != mine.p.value and other.about().source != mine.about().source
    ravel.call(device.lib.ravel_device_set_cache, device.p, 0, 0)
    f = plan()
    assert f.p.value != e.p.value
    for p in (a, b, c, d, e, mine, other, f):
        p.__exit__()


def test_the_context_and_the_device_may_go_first(lib, opencl):
    cx = ravel.Context()
    d = Device(lib, "open", 1, 0)
    plan = DevicePlan(cx, d, *TRANSPOSE, (64, 33), "f32")
    cx.__exit__()
    d.__exit__()
    assert plan.at()[:2] == (64*33*4, 64*33*4) and plan.about().function
    plan.__exit__()


def blocks(folder, case, name="ravel_relayout"):
    """The relayout in C, as the stand-in driver calls kernels."""
    subprocess.run([G.RAVEL, "emit", "--from", case[0], "--to", case[1], "--shape", case[2], "--dtype", case[3], "--target", "blocks", "--name", name,
                    "-o", folder / "k.c"], check=True)
    return compiled(folder, "k", folder / "k.c")


@pytest.fixture
def relayout(env, tmp_path):
    """The stand-in driver's kernel: a transpose of 50 x 25."""
    env(RAVEL_MOCK_KERNELS=blocks(tmp_path, (*TRANSPOSE, "50,25", "f32")))


def test_cuda(cx, lib, cuda, current, relayout, compiles):
    with Device(lib, "of_cuda") as d:
        before, m = compiles(), Memory(cuda)
        with DevicePlan(cx, d, *TRANSPOSE, (50, 25), "f32") as plan, DevicePlan(cx, d, *TRANSPOSE, (50, 25), "f32"):
            assert compiles() == before + 1
            i = plan.about()
            assert (i.src_bytes, i.dst_bytes, i.block, i.values, i.entry) == (5000, 5000, 256, 0, b"ravel_relayout") and b"__global__" in i.source
            assert plan.at() == (5000, 5000, i.grid, [])
            plan.run(m.dst, m.src, queue=0x5000)
            assert cuda.state.stream == 0x5000 and cuda.state.block == 256 and not m.peek().any(), "the launch waited"
            assert cuda.cuStreamSynchronize(0x5000) == 0
            assert np.array_equal(m.peek().view(np.float32).reshape(25, 50), m.data.view(np.float32).reshape(50, 25).T, equal_nan=True)
        m.free()


def test_alignment_of_device_pointers(cx, lib, cuda, relayout):
    with Device(lib, "open", CUDA, 0) as d, DevicePlan(cx, d, *TRANSPOSE, (64, 64), "f32") as plan, DevicePlan(cx, d, *TRANSPOSE, (64, 64), "f32", 4) as narrow:
        launches = cuda.state.launches
        assert plan.about().align == 8 and narrow.about().align == 4
        assert refused(plan.run, 1 << 20, (1 << 19) + 4) == ("ARGUMENT", "src is at a multiple of 4 bytes, and this plan needs 8: request one with an align of 4")
        assert refused(plan.run, (1 << 20) + 4, 1 << 19)[1].startswith("dst is at a multiple of 4 bytes")
        assert refused(narrow.run, (1 << 20) + 2, 1 << 19)[1].startswith("dst is at a multiple of 2 bytes")
        assert cuda.state.launches == launches
        narrow.run((1 << 20) + 8, (1 << 19) + 4)
        assert cuda.state.launches == launches + 1


ANY = -1
AT = 1 << 20
# What the variants of a plan need, the widest first.
VARIANTS = [(*TRANSPOSE, (64, 64), "f32", [8, 4]), (*TRANSPOSE, (64, 64), "f16", [4, 2]), (*TRANSPOSE, (4096, 4096), "f16", [8, 4, 2]), (*TRANSPOSE, (64, 64), "u8", [4, 1]), (*TRANSPOSE, (64, 64), "f64", [16, 8]),
            (*TRANSPOSE, (64, 64), "c128", [16]), (*TRANSPOSE, (64, 64), "u4", [4, 1]), (*TRANSPOSE, (63, 61), "f32", [4]), ("NCHW", "NC1HWC0", (2, 64, 8, 8), "f16", [16, 4, 2]),
            ("NCHW", "NHWC", (-1, 64, -1, -1), "f16", [8, 4, 2])]


@pytest.mark.parametrize("case", VARIANTS, ids=str)
def test_variants_by_alignment(cx, lib, cuda, relayout, env, case):
    """Each launch takes the widest kernel that its pointers allow, which is that of a plan for this alignment."""
    *request, needs = case
    with Device(lib, "open", CUDA, 0) as d, DevicePlan(cx, d, *request, ANY) as plan:
        launched, shape = ct.c_void_p.in_dll(cuda, "mock_function"), None
        if request[2][0] < 0:
            shape = (2, 64, 5, 7)
            env(RAVEL_MOCK_VALUES=plan.about().values)
        seen = []
        for off in (0, 8, 4, 2, 1):
            for dst, src in ((AT + off, AT << 1), (AT, (AT << 1) + off), (AT + off, (AT << 1) + off)):
                want = next((n for n in needs if off % n == 0), None)
                v, launches = plan.variant(dst, src), cuda.state.launches
                if want is None:
                    assert v is None and refused(plan.run, dst, src, shape)[0] == "ARGUMENT" and cuda.state.launches == launches
                    continue
                plan.run(dst, src, shape)
                assert (v.align, cuda.state.launches, launched.value) == (want, launches + 1, v.function), off
                seen += [(want, v.function, v.source)]
        assert [n for n, _, _ in dict.fromkeys(seen)] == needs and plan.about().align == needs[0]
        for need, _, source in dict.fromkeys(seen):
            with DevicePlan(cx, d, *request, 0 if need == needs[0] else need) as one:
                assert one.about().source.split(b"*/", 1)[1] == source.split(b"*/", 1)[1] and one.about().align == need
                assert lib.ravel_device_plan_variant(one.p, AT, AT << 1) == one.p.value


def test_variants_are_cached_and_counted(cx, lib, cuda, relayout, compiles):
    with Device(lib, "open", CUDA, 0) as d:
        before = compiles()
        with DevicePlan(cx, d, *TRANSPOSE, (4096, 4096), "f16", ANY) as a, DevicePlan(cx, d, *TRANSPOSE, (4096, 4096), "f16", ANY) as b, DevicePlan(cx, d, *TRANSPOSE, (4096, 4096), "f16") as c:
            assert a.p.value == b.p.value != c.p.value and compiles() == before + 3, "the plan's text is that of its first variant"
            capturing = ct.c_int.in_dll(cuda, "mock_capturing")
            capturing.value = 1
            try:
                a.run(AT + 2, AT << 1, queue=0x7000)
            finally:
                capturing.value = 0
            assert refused(c.run, AT + 2, AT << 1)[1].endswith("request one with an align of 2")
            assert refused(a.run, AT + 1, AT << 1)[1] == "dst is at a multiple of 1 bytes, and must be at one of 2, the size of an element"
        assert lib.ravel_device_plan_variant(None, AT, AT) is None


def test_a_variant_that_fails(cx, lib, cuda, relayout, mocks):
    """The first kernel is loaded, another is not: nothing is left."""
    left = ct.c_int.in_dll(ct.CDLL(mocks["nvrtc"]), "mock_compiles_left")
    with Device(lib, "open", CUDA, 0) as d:
        ravel.call(lib.ravel_device_set_cache, d.p, 0, 0)
        for left.value in (0, 1, 2):
            assert refused(DevicePlan, cx, d, *TRANSPOSE, (4096, 4096), "f16", ANY)[0] == "COMPILE"
            assert cuda.state.modules == 0
        left.value = -1
        with DevicePlan(cx, d, *TRANSPOSE, (4096, 4096), "f16", ANY) as plan:
            assert plan.variant(AT + 2, AT).align == 2 and cuda.state.modules == 3


def test_a_batch_takes_one_variant(cx, lib, cuda, relayout, env):
    env(RAVEL_MOCK_BATCH=1)
    with Device(lib, "open", CUDA, 0) as d, DevicePlan(cx, d, *TRANSPOSE, (4096, 4096), "f16", ANY, new="batch_new") as plan:
        launched = ct.c_void_p.in_dll(cuda, "mock_function")
        for offs, need in (((0, 0, 0), 8), ((0, 4, 0), 4), ((0, 4, 2), 2), ((8, 16, 8), 8)):
            plan.run_batch([AT + (i << 16) + off for i, off in enumerate(offs)], [AT << 1]*3)
            assert launched.value == plan.variant(AT + need, AT).function and plan.variant(AT + need, AT).align == need
        assert refused(plan.run_batch, [AT, AT + 1], [AT << 1]*2)[1].startswith("dst is at a multiple of 1 bytes")


def test_every_byte_of_a_plan_for_any_alignment(cx, device, tmp_path):
    """OpenCL's buffers have no addresses: there is one kernel."""
    case = ("NCHW", "NC1HWC0", (2, 20, 5, 7), 16)
    raw, want = G.Kernel(tmp_path, 0, case, "opencl").data()
    with DevicePlan(cx, device, *case[:3], "f16", ANY) as plan:
        assert plan.lib.ravel_device_plan_variant(plan.p, 1, 3) == plan.p.value
        by_opencl(device, plan, raw, want)


def test_values_of_a_launch(cx, lib, cuda, relayout, env):
    with Device(lib, "open", CUDA, 0) as d, DevicePlan(cx, d, "NCHW", "NHWC", (-1, 64, -1, -1), "f16") as plan:
        i = plan.about()
        assert i.src_bytes == i.dst_bytes == i.grid == -1 and i.values > 0
        src, dst, grid, values = plan.at((2, 64, 5, 7))
        assert src == dst == 2*64*5*7*2 and grid > 0
        env(RAVEL_MOCK_VALUES=i.values)
        plan.run(1 << 20, 1 << 24, (2, 64, 5, 7))
        assert list((ct.c_longlong * i.values).in_dll(cuda, "mock_values")) == values
        launches = cuda.state.launches
        plan.run(None, None, (2, 64, 0, 7))       # nothing to do
        assert cuda.state.launches == launches
        assert "-3" in refused(plan.run, 1 << 20, 1 << 24, (2, 64, 5, -3))[1]
        assert refused(plan.run, 1 << 20, 1 << 24, (2, 63, 5, 3))[0] == "ARGUMENT"
        assert "blocks than the device allows" in refused(plan.at, (1 << 20, 64, 1 << 12, 1 << 12))[1]
        assert "64 bits" in refused(plan.at, (1 << 40, 64, 1 << 20, 1 << 20))[1]
        assert "ravel_device_run_shape" in refused(plan.run, 1 << 20, 1 << 24)[1]


def test_words_of_a_fill(cx, lib, cuda, relayout):
    """A value has a word in its lowest bits."""
    with Device(lib, "open", CUDA, 0) as d:
        for dtype, fill, words in (("i8", -3, [0xfdfdfdfd]), ("f16", 0xfc00, [0xfc00fc00]), ("f32", -1, [0xffffffff]), ("f64", -(1 << 62) + 5, [5, 0xc0000000])):
            with DevicePlan(cx, d, "{M, K}", "{M, K//16, K%16, fill = zp}", (3, 24), dtype) as plan:
                assert [v & 0xffffffff for v in plan.at((3, 24, fill))[3]] == words


def test_a_launch_may_be_captured(cx, lib, cuda, relayout):
    """While a stream is captured the driver refuses all but launches."""
    with Device(lib, "open", CUDA, 0) as d, DevicePlan(cx, d, *TRANSPOSE, (64, 64), "f32") as plan:
        capturing, launches = ct.c_int.in_dll(cuda, "mock_capturing"), cuda.state.launches
        capturing.value = 1
        try:
            plan.run(1 << 20, 1 << 19, queue=0x7000)
            assert refused(DevicePlan, cx, d, *TRANSPOSE, (64, 65), "f32")[0] in ("DRIVER", "COMPILE")
        finally:
            capturing.value = 0
        assert cuda.state.launches == launches + 1 and cuda.state.stream == 0x7000


def test_batch(cx, lib, cuda, current, relayout, env):
    """The stand-in's kernel is a transpose of 50 x 25, whatever the plan."""
    env(RAVEL_MOCK_BATCH=1)
    with Device(lib, "of_cuda") as d, DevicePlan(cx, d, *TRANSPOSE, (50, 25), "f32", new="batch_new") as plan, DevicePlan(cx, d, *TRANSPOSE, (50, 25), "f32") as one:
        assert plan.p.value != one.p.value and b"_pairs pairs)" in plan.about().source
        m, launches = Memory(cuda), cuda.state.launches
        plan.run_batch([m.dst], [m.src], queue=0x5000)
        assert cuda.state.launches == launches + 1 and cuda.cuStreamSynchronize(0x5000) == 0
        got, want = m.peek().view(np.float32), m.data.view(np.float32)
        assert np.array_equal(got.reshape(25, 50), want.reshape(50, 25).T, equal_nan=True)
        m.free()
        both = [1 << 20]*130, [1 << 19]*130
        plan.run_batch([], [])
        assert cuda.state.launches == launches + 1
        plan.run_batch(*both)
        assert cuda.state.launches == launches + 3, "128 pairs a launch"
        assert "ravel_device_run_batch" in refused(plan.run, 1 << 20, 1 << 19)[1] and "takes one pair" in refused(one.run_batch, *both)[1]
        assert refused(plan.run_batch, [1 << 20]*3, [1 << 19, 0, 1 << 19])[1].startswith("pair 1 of a batch: no source")
        assert refused(plan.run_batch, [1 << 20]*2, [1 << 19, 1 << 20])[1] == "pair 1 of a batch: the source is the destination"
        assert refused(plan.run_batch, [1 << 20, (1 << 20) + 2], [1 << 19]*2)[1].startswith("dst is at a multiple of 2 bytes")
        assert cuda.state.launches == launches + 3


def test_batch_at_shapes(cx, lib, cuda, relayout, env):
    with Device(lib, "open", CUDA, 0) as d, DevicePlan(cx, d, "NCHW", "NHWC", (-1, 64, -1, -1), "f16", new="batch_new") as plan:
        env(RAVEL_MOCK_VALUES=plan.about().values, RAVEL_MOCK_BATCH=1)
        launches = cuda.state.launches
        plan.run_batch([1 << 20, 1 << 21], [1 << 24, 1 << 25], (2, 64, 5, 7))
        assert cuda.state.launches == launches + 1
        assert list((ct.c_longlong * plan.about().values).in_dll(cuda, "mock_values")) == plan.at((2, 64, 5, 7))[3]
        plan.run_batch([0], [0], (2, 64, 0, 7))          # nothing to do
        assert cuda.state.launches == launches + 1
        assert "needs a shape" in refused(plan.run_batch, [1 << 20], [1 << 24])[1]


def test_opencl_has_no_batch(cx, opencl, lib):
    with Device(lib, "open", 1, 0) as d:
        assert "one source and one destination" in refused(DevicePlan, cx, d, *TRANSPOSE, (2, 3), "f32", 0, "batch_new")[1]


def test_several_devices(cx, lib, cuda, relayout, env):
    env(RAVEL_MOCK_DEVICES=2)
    with Device(lib, "open", CUDA, 0) as a, Device(lib, "open", CUDA, 1) as b:
        with DevicePlan(cx, a, *TRANSPOSE, (64, 64), "f32") as p, DevicePlan(cx, b, *TRANSPOSE, (64, 64), "f32") as q:
            assert p.p.value != q.p.value and p.about().function != q.about().function
            launches = cuda.state.launches
            p.run(1 << 20, 1 << 19)
            q.run(1 << 20, 1 << 19)
            assert cuda.state.launches == launches + 2


def test_wrong_requests(cx, device):
    for args, says in [((*TRANSPOSE, (8, 8), "f32", 3), "alignment of 3"), ((*TRANSPOSE, (8, 8), "f32", 32), "alignment of 32"),
                       ((*TRANSPOSE, (8, 8), "f32", 2), "accesses 4 bytes at once"), (("NOPE", TRANSPOSE[1], (8, 8), "f32"), "NOPE"),
                       (("(A,B){A//2, B}", TRANSPOSE[1], (8, 8), "f32"), "one-to-one"), ((*TRANSPOSE, (8, 8), "f31"), "f31")]:
        status, text = refused(DevicePlan, cx, device, *args)
        assert status in ("ARGUMENT", "SPEC", "LAYOUT") and says in text, (args, status, text)
    assert refused(lambda: ravel.call(device.lib.ravel_device_plan_new, cx.p, None, None, 0, None))[0] == "ARGUMENT"
    assert refused(lambda: ravel.call(device.lib.ravel_device_run, None, None, None, None))[0] == "ARGUMENT"
    device.lib.ravel_device_plan_free(None)


# --- compiled kernels in a folder

def kept(lib, folder, source="text", options=None):
    """Compile on a device with this folder, launch nothing."""
    with Device(lib, "open", CUDA, 0) as d:
        ravel.call(lib.ravel_device_set_folder, d.p, str(folder).encode())
        d.free(d.compile(source, options=options))


def test_folder(lib, cuda, env, compiles, tmp_path):
    before = compiles()
    kept(lib, tmp_path)
    [file] = tmp_path.iterdir()
    assert compiles() == before + 1 and file.name.startswith("sm_90-")
    kept(lib, tmp_path)
    assert compiles() == before + 1
    env(RAVEL_NVRTC_LIBRARY="/nothing.so")          # a driver alone
    kept(lib, tmp_path)
    assert refused(kept, lib, tmp_path, "other text")[0] == "LIBRARY"


@pytest.mark.parametrize("other", [{"source": "texts"}, {"options": "-lineinfo"}, {"arch": 80}, {"nvrtc": 1}], ids=str)
def test_another_key_is_compiled(lib, cuda, env, compiles, mocks, tmp_path, other):
    kept(lib, tmp_path)
    env(RAVEL_MOCK_ARCH=other.get("arch", 90), RAVEL_MOCK_NVRTC=other.get("nvrtc", 0))
    before = compiles()
    kept(lib, tmp_path, **{k: v for k, v in other.items() if k in ("source", "options")})
    assert compiles() == before + 1 and len(list(tmp_path.iterdir())) == (1 if "nvrtc" in other else 2)


@pytest.mark.parametrize("spoil", [lambda b: b[:-1], lambda b: b + b"x", lambda b: b"", lambda b: b"ravel kernel 1 1 1 1 1 18446744073709551615\n", lambda b: b.replace(b"text", b"next"),
                                   lambda b: b.replace(b"ravel kernel 1 ", b"ravel kernel 2 "), lambda b: b[:-16] + bytes(16)], ids=range(7))
def test_a_bad_file_is_compiled_again(lib, cuda, compiles, tmp_path, spoil):
    kept(lib, tmp_path)
    [file] = tmp_path.iterdir()
    good, before = file.read_bytes(), compiles()
    file.write_bytes(spoil(good))
    kept(lib, tmp_path)
    assert compiles() == before + 1 and file.read_bytes() == good and list(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_not_there(lib, cuda, compiles, tmp_path):
    before = compiles()
    kept(lib, tmp_path / "none")
    assert compiles() == before + 1 and not list(tmp_path.iterdir())


def test_launches_are_logged(cx, device):
    """A plan and each launch have a line, which is a command; a plan of the cache has none."""
    lines, x = [], np.arange(35 * 21, dtype=np.uint8)
    f = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_char_p)(lambda host, line: lines.append(line.decode()))
    ravel.call(device.lib.ravel_set_log, cx.p, ct.cast(f, ct.c_void_p), None)
    for _ in range(2):
        with DevicePlan(cx, device, *TRANSPOSE, (35, 21), "u8") as p:
            by_opencl(device, p, x, x.reshape(35, 21).T.reshape(-1))
    with DevicePlan(cx, device, *TRANSPOSE, (-1, 21), "u8") as p:
        by_opencl(device, p, x, x.reshape(35, 21).T.reshape(-1), (35, 21))
    ravel.call(device.lib.ravel_set_log, cx.p, None, None)
    assert ["device plan, " in s for s in lines] == [True, False, False, True, False]
    for s in lines:
        command, about = s.split("  # device ")
        assert command.startswith("ravel explain --from '(A, B){A, B}'") and command.endswith(" --target opencl") and about.endswith(" ms")
        assert ("--shape %s,21 " % ("A" if s == lines[3] else 35)) in command
    assert "735 -> 735 bytes, enqueued in " in lines[1] and " blocks of 256, " in lines[4]
    r = subprocess.run([str(ravel.BUILD / "ravel"), *shlex.split(lines[1].split("  #")[0])[1:]], capture_output=True, text=True, check=True)
    assert r.stdout.startswith("opencl: ") and "A=0..34" in r.stdout
