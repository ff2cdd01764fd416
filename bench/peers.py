"""Who takes part: each maker takes a Job and gives a Candidate, or raises Absent with the reason."""

import ctypes as ct
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import cases
import plain
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent/"tests"))
import precompiled  # noqa: E402
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


GCC = ["gcc", "-O3", "-march=native", "-w", "-fPIC"]


@functools.cache
def vectors():
    """The folder with gcc's header of vectors, and what a source adds to the command to use it: a case is compiled half a second sooner."""
    folder = tempfile.TemporaryDirectory()
    return folder, precompiled.header(GCC, pathlib.Path(folder.name))


def compiled(job, name, write):
    """The function `name` of C that `write` puts into a file, by gcc -O3 -march=native; compiled once a case."""
    if not shutil.which(GCC[0]):
        raise Absent("%s is not here: apt-get install gcc" % GCC[0])
    if name not in job.objects:
        job.objects[name] = tempfile.TemporaryDirectory()
        c, so = job.objects[name].name + "/f.c", job.objects[name].name + "/f.so"
        write(c)
        command([*GCC, *vectors()[1](pathlib.Path(c)), "-shared", "-o", so, c])
    return address(getattr(ct.CDLL(job.objects[name].name + "/f.so"), name))


def command(words):
    r = subprocess.run(words, capture_output=True, text=True)
    if r.returncode:
        raise Wrong("%s: %s" % (words[0], r.stderr))


def emitted(job):
    if job.threads > 1:
        raise Absent("the emitted function runs on the thread that calls it")
    case = job.case

    def write(c):
        command([job.libs.build/"ravel", "emit", "--from", case.src, "--to", case.dst, "--dtype", case.dtype, "--name", "emitted",
                 "--processor", "here", "--shape", ",".join(map(str, case.shape)), "-o", c])
    return subject(job, "ravel gcc", "bench_time_function", function=compiled(job, "emitted", write))


# --- a loop

def loop(job):
    """Loops over the destination, as plain.py writes them."""
    if job.threads > 1:
        raise Absent("one thread only")
    try:
        text = plain.source(job.case, *job.sides)
    except plain.NoLoop as e:
        raise Absent(str(e))
    return subject(job, "plain loop", "bench_time_function",
                   function=compiled(job, "plain", lambda c: pathlib.Path(c).write_text(text)))


# --- other libraries

def side(layout, data, n, strides):
    if strides is None:
        tag = cases.tag(layout)
        return Side(tag and tag.encode(), None, data.at, n)
    return Side(None, extents(strides), data.at, n)


def onednn_ways(job):
    """(what it is, type, extents, strides of both sides or None).  16 bits are bf16 too: its code for f16 is slow here.  Longer words than
    it has are several of 32 bits."""
    case = job.case
    same = {"u16": "bf16", "f64": "f32", "c128": "f32"}.get(case.dtype, case.dtype)
    types = [same] + ["bf16"]*(same == "f16")
    if cases.tag(case.src) and cases.tag(case.dst) and case.bits <= 32:
        yield from (("by tags", t, case.shape, None, None) for t in types)
    if job.nest:
        words = max(1, case.bits//32)
        nest = [(n, i*words, o*words) for n, i, o in job.nest] + [(words, 1, 1)]*(words > 1)
        yield from (("by strides", t, *zip(*nest)) for t in types)


def onednn(job):
    """The fastest of the ways to say it."""
    lib = job.libs.onednn
    if not lib:
        raise Absent(job.libs.no_onednn)
    lib.onednn_threads(job.threads)
    why, found = ct.c_char_p(b"neither a tag nor strides can say it"), []
    for note, dtype, shape, i, o in onednn_ways(job):
        sides = (Side*2)(side(job.case.src, job.src, job.src_bytes, i), side(job.case.dst, job.dst, job.dst_bytes, o))
        r = lib.onednn_new(dtype.encode(), len(shape), extents(shape), sides, ct.byref(why))
        if r:
            found.append((min(lib.onednn_time(r, 1) for _ in range(3)), r, "%s, %s" % (note, dtype)))
    if not found:
        raise Absent(why.value.decode())
    (_, r, note), *others = sorted(found)
    for _, other, _ in others:
        lib.onednn_free(other)
    c = Candidate("oneDNN", address(lib.onednn_time), r, free=lambda: lib.onednn_free(r), note=note)
    c.created = lib.onednn_created(r)
    return c


# The elements that HPTT has: the letter of its function, and how alpha and beta are passed (a complex number is two doubles).
HPTT = {"f32": ("s", [ct.c_float(1)], [ct.c_float(0)]), "f64": ("d", [ct.c_double(1)], [ct.c_double(0)]),
        "c128": ("z", [ct.c_double(1), ct.c_double(0), ct.c_int(0)], [ct.c_double(0), ct.c_double(0)])}


def hptt(job):
    """Its functions for C, which plan in every call."""
    name = os.environ.get("HPTT_LIBRARY")
    if not name:
        raise Absent("HPTT_LIBRARY names no libhptt.so")
    if job.case.dtype not in HPTT:
        raise Absent("it has no such type")
    letter, alpha, beta = HPTT[job.case.dtype]
    shape, i, _ = strided(job)
    order = sorted(range(len(shape)), key=lambda k: -i[k])          # the loops, the source's outermost first
    size, perm = ((ct.c_int*len(shape))(*v) for v in ([shape[k] for k in order], [order.index(k) for k in range(len(shape))]))
    f = getattr(ct.CDLL(name), letter + "TensorTranspose")
    args = [perm, len(shape), *alpha, ct.c_void_p(job.src.at), size, None, *beta, ct.c_void_p(job.dst.at), None, job.threads, 1]
    f.restype = None
    return of_python("HPTT", lambda: f(*args), note="plans in every call")


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
    word = np.dtype("u%d" % (job.case.bits//8) if job.case.bits <= 64 else "c16")
    src, dst = (np.lib.stride_tricks.as_strided(x.bytes.view(word), shape, [s*word.itemsize for s in t])
                for x, t in ((job.src, i), (job.dst, o)))
    return of_python("numpy", lambda: np.copyto(dst, src))


def torch_type(torch, dtype):
    return {"f32": torch.float32, "i32": torch.int32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
            "u8": torch.uint8, "i8": torch.int8, "u16": torch.int16, "c128": torch.complex128}[dtype]


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
    if job.case.bits > 32:
        raise Absent("64-bit words are off")
    word = np.dtype("u%d" % (job.case.bits//8))
    x = jax.device_put(job.src.bytes[:job.src_bytes].view(word).reshape([shape[k] for k in order]))
    turn = jax.jit(lambda v: v.transpose([order.index(k) for k in range(len(shape))]))
    out = [turn(x).block_until_ready()]

    def call():
        out[0] = turn(x).block_until_ready()
    return of_python("XLA", call, note="makes its output anew", result=lambda: np.asarray(out[0]).reshape(-1).view(np.uint8))


# --- pixels, by the kind of a drawn case: pairs (source channel, destination channel), channels counted through all arrays

MIXED = {"RGBA-ABGR": [0, 3, 1, 2, 2, 1, 3, 0], "RGBA-ARGB": [0, 1, 1, 2, 2, 3, 3, 0], "UYVY to NV16": [1, 0, 3, 1, 0, 2, 2, 3],
         "UYVY to planes": [1, 0, 3, 1, 0, 2, 2, 3], "byte swap 2": [0, 1, 1, 0], "byte swap 4": [0, 3, 1, 2, 2, 1, 3, 0],
         "byte swap 8": [k for c in range(8) for k in (c, 7 - c)]}
PARTS = {"UYVY to NV16": (2, 2), "UYVY to planes": (2, 1, 1)}         # channels of each array of the destination
COLOURS = {"BGR": "COLOR_BGR2RGB", "RGBA-BGRA": "COLOR_RGBA2BGRA", "3-4 channels": "COLOR_RGB2RGBA"}


def parts_of(pixels, channels):
    """One array for each number of channels, one after the other in memory."""
    ends = np.cumsum([0, *channels])
    n = pixels.size//ends[-1]
    return [pixels[n*a:n*b].reshape(1, n, b - a) for a, b in zip(ends, ends[1:])]


def opencv(job):
    try:
        import cv2
    except ImportError:
        raise Absent("not installed: apt-get install python3-opencv")
    kind, shape = job.case.kind, job.case.shape
    word = {"u8": "u1", "u16": "u2", "f32": "f4"}.get(job.case.dtype)
    if not word or job.case.groups[0] != "pixels":
        raise Absent("no operation on pixels")
    cv2.setNumThreads(job.threads)
    src, dst = (p.bytes[:n].view(word) for p, n in ((job.src, job.src_bytes), (job.dst, job.dst_bytes)))
    if kind in COLOURS:
        a, b = src.reshape(shape), dst.reshape(*shape[:2], -1)
        return of_python("OpenCV", lambda: cv2.cvtColor(a, getattr(cv2, COLOURS[kind]), b), note="cvtColor")
    if kind in MIXED:
        a, b = src.reshape(1, -1, shape[-1]), parts_of(dst, PARTS.get(kind, shape[-1:]))
        return of_python("OpenCV", lambda: cv2.mixChannels([a], b, MIXED[kind]), note="mixChannels")
    if kind.endswith("planes") and len(shape) == 3 and "24" not in kind:
        y, x, c = shape
        if kind.startswith("from"):
            return of_python("OpenCV", lambda: cv2.merge(list(src.reshape(c, y, x)), dst.reshape(shape)), note="merge")
        return of_python("OpenCV", lambda: cv2.split(src.reshape(shape), list(dst.reshape(c, y, x))), note="split")
    raise Absent("it has no such operation")


MAKERS = [("memcpy", copy(0, "memcpy")), ("ntcopy", copy(1, "ntcopy")), ("ravel", ours), ("ravel gcc", emitted),
          ("ravel interpreter", interpreter), ("oneDNN", onednn), ("numpy", numpy), ("PyTorch", pytorch), ("XLA", xla), ("HPTT", hptt),
          ("OpenCV", opencv), ("plain loop", loop)]
PEERS = ("oneDNN", "numpy", "PyTorch", "XLA", "HPTT", "OpenCV", "plain loop")
