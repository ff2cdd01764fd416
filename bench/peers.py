"""Who takes part: each maker takes a Job and gives a Candidate, or raises Absent with the reason."""

import ctypes as ct
import os
import subprocess
import tempfile
import time

import numpy as np

import cases
from libs import TIME, Side, Subject, Wrong, address, extents

COPIES = ("memcpy", "ntcopy")
OURS = ("ravel", "ravel gcc", "ravel interpreter")


class Absent(Exception):
    pass


class Candidate:
    """time: the address of an int64_t (void *arg, int64_t calls); `result` are the bytes it gave, None for the destination."""

    def __init__(self, name, timer, arg, keep=(), result=None, free=None, note=None):
        self.name, self.time, self.arg = name, timer, arg
        self.keep, self.result, self.free, self.note = keep, result, free, note
        self.created = None


def of_python(name, call, **kw):
    """A peer that is called from Python; the call itself is part of what it takes."""
    def timer(_, calls):
        try:
            start = time.perf_counter_ns()
            for _ in range(calls):
                call()
            return time.perf_counter_ns() - start
        except Exception as e:
            print("%s: %s" % (name, e), flush=True)
            return -1
    f = TIME(timer)
    return Candidate(name, address(f), None, keep=(f, call), **kw)


def copy(kind, name):
    def make(job):
        b = job.libs.bench
        why = b.copy_absent(kind)
        if why:
            raise Absent(why.decode())
        c = b.copier_new(kind, job.dst.at, job.src.at, job.bytes, job.threads)
        if not c:
            raise Absent("no memory or thread")
        return Candidate(name, address(b.copier_time), c, free=lambda: b.copier_free(c))
    return make


# --- ours

def subject(job, name, timer, plan=None, function=None, **kw):
    s = Subject(plan, function, job.dst.at, job.src.at)
    return Candidate(name, address(getattr(job.libs.bench, timer)), ct.addressof(s), keep=(s,), **kw)


def ours(job):
    """RAVEL_BENCH_PLANT=wrong, meant for tests of this very harness, gets one bit wrong."""
    p = job.libs.plan(job.case, job.threads)
    timer = "bench_time_wrong" if os.environ.get("RAVEL_BENCH_PLANT") == "wrong" else "bench_time_plan"
    return subject(job, "ravel", timer, p, free=lambda: job.libs.ravel.ravel_plan_free(p))


def interpreter(job):
    if b"RAVEL_CODE" not in (job.libs.build/"libravel.so").read_bytes():
        raise Absent("this library has none")
    os.environ["RAVEL_CODE"] = "interpreter"
    try:
        p = job.libs.plan(job.case, job.threads)
    finally:
        del os.environ["RAVEL_CODE"]
    return subject(job, "ravel interpreter", "bench_time_plan", p, free=lambda: job.libs.ravel.ravel_plan_free(p))


def emitted(job):
    """What emit writes, by gcc -O3 -march=native; compiled once a case."""
    if job.threads > 1:
        raise Absent("the emitted function runs on the thread that calls it")
    if job.object is None:
        job.object = tempfile.TemporaryDirectory()
        c, so, case = job.object.name + "/f.c", job.object.name + "/f.so", job.case
        for command in (
                [job.libs.build/"ravel", "emit", "--from", case.src, "--to", case.dst, "--dtype", case.dtype, "--name", "f",
                 "--shape", ",".join(map(str, case.shape)), "-o", c],
                ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", so, c]):
            r = subprocess.run(command, capture_output=True, text=True)
            if r.returncode:
                raise Wrong("%s: %s" % (command[0], r.stderr))
    so = ct.CDLL(job.object.name + "/f.so")
    return subject(job, "ravel gcc", "bench_time_function", function=address(so.f))


# --- other libraries

def onednn_side(job, layout, data, n, strides):
    if strides is None:
        tag = cases.tag(layout)
        return Side(tag and tag.encode(), None, data.at, n)
    return Side(None, extents(strides), data.at, n)


def onednn(job):
    """By its own tags; else, where the pair is one strided copy, by strides."""
    lib = job.libs.onednn
    if not lib:
        raise Absent(job.libs.no_onednn)
    lib.onednn_threads(job.threads)
    ways = [(job.case.shape, None, None)]
    if job.nest:
        ways.append(tuple(zip(*job.nest)))
    if not (cases.tag(job.case.src) and cases.tag(job.case.dst)):
        del ways[0]
    why = ct.c_char_p(b"neither a tag nor strides can say it")
    for shape, i, o in ways:
        sides = (Side*2)(onednn_side(job, job.case.src, job.src, job.src_bytes, i),
                         onednn_side(job, job.case.dst, job.dst, job.dst_bytes, o))
        r = lib.onednn_new(job.case.dtype.encode(), len(shape), extents(shape), sides, ct.byref(why))
        if r:
            c = Candidate("oneDNN", address(lib.onednn_time), r, free=lambda: lib.onednn_free(r),
                          note="by tags" if i is None else "by strides")
            c.created = lib.onednn_created(r)
            return c
    raise Absent(why.value.decode())


def strided(job):
    """Extents and strides in elements, or why there are none."""
    if job.case.bits < 8:
        raise Absent("no elements below a byte")
    if not job.nest:
        raise Absent("not one strided copy: padding, or blocks that do not nest")
    return tuple(zip(*job.nest))


def numpy(job):
    if job.threads > 1:
        raise Absent("one thread only")
    shape, i, o = strided(job)
    word = np.dtype("u%d" % (job.case.bits//8))
    src, dst = (np.lib.stride_tricks.as_strided(x.bytes.view(word), shape, [s*word.itemsize for s in t])
                for x, t in ((job.src, i), (job.dst, o)))
    return of_python("numpy", lambda: np.copyto(dst, src))


def torch_type(torch, dtype):
    return {"f32": torch.float32, "i32": torch.int32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
            "u8": torch.uint8, "i8": torch.int8}[dtype]


def pytorch(job):
    """out.copy_(x.permute(...)): the views by their strides, which come to the same."""
    try:
        import torch
    except ImportError:
        raise Absent("not installed")
    shape, i, o = strided(job)
    torch.set_num_threads(job.threads)
    src, dst = (torch.from_numpy(x.bytes).view(torch_type(torch, job.case.dtype)).as_strided(shape, t)
                for x, t in ((job.src, i), (job.dst, o)))
    return of_python("PyTorch", lambda: dst.copy_(src))


def xla(job):
    """jit of reshape and transpose; gives a new array each time, which cannot be left out."""
    if job.threads > 1:
        raise Absent("its threads are settled when the process starts; measured on one")
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    try:
        import jax
    except ImportError:
        raise Absent("jax is not installed")
    shape, i, _ = strided(job)
    order = sorted(range(len(shape)), key=lambda k: -i[k])
    word = np.dtype("u%d" % (job.case.bits//8))
    if word.itemsize > 4:
        raise Absent("64-bit words are off")
    x = jax.device_put(job.src.bytes[:job.src_bytes].view(word).reshape([shape[k] for k in order]))
    turn = jax.jit(lambda v: v.transpose([order.index(k) for k in range(len(shape))]))
    out = [turn(x).block_until_ready()]

    def call():
        out[0] = turn(x).block_until_ready()
    return of_python("XLA", call, note="makes its output anew", result=lambda: np.asarray(out[0]).reshape(-1).view(np.uint8))


MAKERS = [("memcpy", copy(0, "memcpy")), ("ntcopy", copy(1, "ntcopy")), ("ravel", ours), ("ravel gcc", emitted),
          ("ravel interpreter", interpreter), ("oneDNN", onednn), ("numpy", numpy), ("PyTorch", pytorch), ("XLA", xla)]
PEERS = ("oneDNN", "numpy", "PyTorch", "XLA")
