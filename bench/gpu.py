"""What the kernels for GPUs reach, on a GPU with CUDA: gpu.py --build build [--part PART ...] [--json FILE] [--only REGEXP] [--seconds N] [--more]

For every case the kernel is made by `ravel emit --target cuda`, and compiled and launched by the library.  The parts:
  check   its bytes are held against the CPU's: random data, the destination poisoned before
  time    it is timed by events beside a copy of as many bytes on the device, several launches an event pair; a ratio is of the copy's time in the same
          round; told are medians of 20
  torch   the time of PyTorch's permute().contiguous(), eager and compiled for the shape
  tools   compute-sanitizer looks at small shapes, and at the timed ones of at most 16 MB; ncu counts at the timed shapes, with the clocks left alone
Each case runs in a process of its own.  A part that fails loses only itself: what it says is kept as the part's error, and a new process does the parts
after it.  The JSON file is written after each case.  With --seconds no case begins later than that; a case itself takes at most --case-seconds.  The same
command with --more then goes on with the parts that are not done.  --jobs N takes N cases at once, for the parts that time nothing.  `--table FILE` shows a result as Markdown.  The exit status is 1 if a part failed, a byte
is wrong or compute-sanitizer found something, and 77 without a GPU.
--help, --table and --list-files need no NumPy."""

import argparse
import collections
import concurrent.futures
import contextlib
import ctypes as ct
import json
import math
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 20
PARTS = ["check", "time", "torch", "tools"]
# what another machine needs to run this script, besides Python, NumPy, the driver and NVRTC
FILES = ["bench/gpu.py", "tests/ravel.py", "tests/gpu_api.py", "BUILD/ravel", "BUILD/libravel.so", "BUILD/tests/grid_run"]

# name ; dtype ; shape ; from -> to ; what it is to reach
CASES = """
copy 1 GB               ; f32 ; 16384,16384      ; (R,C){R, C} -> (R,C){R, C, pitch = {R = 66048}}        ; 0.98
bshd-bhsd f16           ; f16 ; 16,4096,64,128   ; (B,S,H,D){B, S, H, D} -> (B,S,H,D){B, H, S, D}           ; 0.98
2D f32                  ; f32 ; 16384,16384      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.93
2D f32 odd              ; f32 ; 16381,16411      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.60
2D u16                  ; u16 ; 32768,16384      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.93
2D u8                   ; u8  ; 32768,32768      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.90
2D f64                  ; f64 ; 16384,8192       ; (R,C){R, C} -> (R,C){C, R}                              ; 0.93
2D u4                   ; u4  ; 65536,32768      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
batched f32             ; f32 ; 256,1024,1024    ; (N,R,C){N, R, C} -> (N,R,C){N, C, R}                    ; 0.93
nchw-nhwc f16           ; f16 ; 256,128,128,128  ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, H, W, C}          ; 0.93
nhwc-nchw f16           ; f16 ; 256,128,128,128  ; (N,C,H,W){N, H, W, C} -> (N,C,H,W){N, C, H, W}          ; 0.93
nhwc-nchw u8 C=3        ; u8  ; 2048,3,512,340   ; (N,C,H,W){N, H, W, C} -> (N,C,H,W){N, C, H, W}          ; 0.75
nchw-nhwc f32 C=3       ; f32 ; 512,3,512,340    ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, H, W, C}          ; 0.75
nchw-nhwc f16 7x7       ; f16 ; 4096,2560,7,7    ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, H, W, C}          ; 0.75
nhwc-chwn u8 C=3        ; u8  ; 1024,3,1024,340  ; (N,C,H,W){N, H, W, C} -> (N,C,H,W){C, H, W, N}          ; 0.60
NC1HWC0 f16             ; f16 ; 256,128,128,128  ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, C//16, H, W, C%16} ; 0.90
NC1HWC0 f16 padded      ; f16 ; 256,120,128,128  ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, C//16, H, W, C%16} ; 0.90
COL32 i8                ; u8  ; 32768,32768      ; (R,C){R, C} -> (R,C){C//32, R, C%32}                    ; 0.90
FRACTAL_NZ f16          ; f16 ; 16384,32768      ; (M,K){M, K} -> (M,K){K//16, M//16, M%16, K%16}          ; 0.90
2D f16 odd              ; f16 ; 32765,16387      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
2D u8 odd               ; u8  ; 32771,32765      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
2D u4 odd               ; u4  ; 65539,32765      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
2D u2                   ; u2  ; 65536,65536      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
2D u1 odd               ; u1  ; 65539,65533      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
SW128 f16               ; f16 ; 16384,32768      ; ROW_MAJOR -> SW128                                      ; 0.85
SW128 f16, columns      ; f16 ; 16384,32768      ; COL_MAJOR -> SW128                                      ; 0.85
nhwc u8 C=3 to 4        ; u8  ; 2048,3,512,340   ; (N,C,H,W){N, H, W, C} -> (N,C,H,W){N, H, W, C, pad = {C = 4}, fill = 0} ; 0.85
48 to 32 u8             ; u8  ; 64,96,256,256    ; {N, C//48, H, W, C%48} -> {N, C//32, H, W, C%32}         ; 0.85
AWQ u4                  ; u4  ; 32768,65536      ; ROW_MAJOR -> AWQ                                        ; 0.85
MARLIN u4               ; u4  ; 32768,65536      ; ROW_MAJOR -> MARLIN                                     ; 0.85
FRACTAL_Z f16 7x7       ; f16 ; 512,2048,7,7     ; NCHW -> FRACTAL_Z                                       ; 0.85
three columns u8        ; u8  ; 100000001,3      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
c128                    ; c128 ; 8192,8192       ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
u8 rows padded to 16    ; u8  ; 131072,4097      ; (R,C){R, C} -> (R,C){R, C, pad = {C = 16}, fill = 0}     ; 0.85
256 KB f32              ; f32 ; 256,256          ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
1 MB f32                ; f32 ; 512,512          ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
4 MB u8                 ; u8  ; 2048,2048        ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
6 MB f16                ; f16 ; 16,64,56,56      ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, H, W, C}          ; 0.85
16 MB f32               ; f32 ; 2048,2048        ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
rank 5 reversed f32     ; f32 ; 24,32,40,64,136  ; (A,B,C,D,E){A, B, C, D, E} -> (A,B,C,D,E){E, D, C, B, A} ; 0.60
rank 5 [2,0,4,1,3] f32  ; f32 ; 24,32,40,64,136  ; (A,B,C,D,E){A, B, C, D, E} -> (A,B,C,D,E){C, A, E, B, D} ; 0.60
"""


Case = collections.namedtuple("Case", "name dtype shape src dst asked")


def cases():
    for line in CASES.strip().splitlines():
        name, dtype, shape, pair, asked = (x.strip() for x in line.split(";"))
        yield Case(name, dtype, [int(n) for n in shape.split(",")], *(x.strip() for x in pair.split("->")), float(asked))


def scaled(shape, most):
    """Extents halved, the largest first, until at most so many elements are left; 0: as they are."""
    shape = list(shape)
    while most and math.prod(shape) > most:
        shape[shape.index(max(shape))] //= 2
    return shape


class Cuda:
    """The driver, as far as events and memory go."""
    def __init__(self):
        self.so = ct.CDLL(os.environ.get("RAVEL_CUDA_LIBRARY", "libcuda.so.1"))
        self.check("cuInit", 0)
        self.device, self.context = ct.c_int(), ct.c_void_p()
        self.check("cuDeviceGet", ct.byref(self.device), 0)
        self.check("cuDevicePrimaryCtxRetain", ct.byref(self.context), self.device)
        self.check("cuCtxPushCurrent_v2", self.context)
        self.events = None
        if hasattr(self.so, "cuEventCreate"):
            self.events = ct.c_void_p(), ct.c_void_p()
            for e in self.events:
                self.check("cuEventCreate", ct.byref(e), 0)

    def check(self, name, *args):
        code = getattr(self.so, name)(*args)
        if code:
            raise RuntimeError("%s: %d" % (name, code))

    def alloc(self, n):
        p = ct.c_uint64()
        self.check("cuMemAlloc_v2", ct.byref(p), ct.c_size_t(n))
        return p.value

    def free(self, p):
        self.check("cuMemFree_v2", ct.c_uint64(p))

    def put(self, p, a):
        self.check("cuMemcpyHtoD_v2", ct.c_uint64(p), a.ctypes.data_as(ct.c_void_p), ct.c_size_t(a.size))

    def get(self, p, a):
        self.check("cuMemcpyDtoH_v2", a.ctypes.data_as(ct.c_void_p), ct.c_uint64(p), ct.c_size_t(a.size))

    def copy(self, to, of, n):
        if hasattr(self.so, "cuMemcpyDtoDAsync_v2"):
            self.check("cuMemcpyDtoDAsync_v2", ct.c_uint64(to), ct.c_uint64(of), ct.c_size_t(n), None)

    def timed(self, f, times=1):
        """Milliseconds of one of so many launches between two events."""
        if not self.events:
            start = time.perf_counter()
            for _ in range(times):
                f()
            self.check("cuStreamSynchronize", None)
            return (time.perf_counter() - start)*1e3/times
        ms = ct.c_float()
        self.check("cuEventRecord", self.events[0], None)
        for _ in range(times):
            f()
        self.check("cuEventRecord", self.events[1], None)
        self.check("cuEventSynchronize", self.events[1])
        self.check("cuEventElapsedTime", ct.byref(ms), *self.events)
        return ms.value/times


def launches(first_ms):
    """How many launches take two milliseconds or more: an event is told to half a microsecond, and a launch takes some."""
    return max(1, min(200, math.ceil(2/max(first_ms, 0.01))))


def emit(ravel, folder, case, shape):
    command = [ravel, "emit", "--from", case.src, "--to", case.dst, "--shape", ",".join(map(str, shape)), "--dtype", case.dtype, "--target", "cuda",
               "--name", "kern", "-o", folder / "k.cu", "--manifest", folder / "k.json"]
    subprocess.run([str(c) for c in command], check=True)
    return (folder / "k.cu").read_text(), json.loads((folder / "k.json").read_text())


def permuted(case, shape):
    """A tensor and its permutation by PyTorch, or None: both sides in one order of whole dims."""
    orders = [re.fullmatch(r"\([\w,]+\)\{([\w, ]+)\}", x) for x in (case.src, case.dst)]
    kind = {"f32": "float32", "f16": "float16", "u8": "uint8", "f64": "float64", "u16": "int16"}.get(case.dtype)
    if None in orders or not kind:
        return None
    import torch
    names, a, b = case.src[1:case.src.index(")")].split(","), *([n.strip() for n in o[1].split(",")] for o in orders)
    x = torch.empty([shape[names.index(n)] for n in a], dtype=getattr(torch, kind), device="cuda")
    return x, [a.index(n) for n in b], torch


def pytorch(case, shape):
    """Milliseconds of permute().contiguous(), eager and compiled; or why not."""
    try:
        made = permuted(case, shape)
    except ImportError:
        return {"why": "PyTorch is not installed"}
    if not made:
        return {"why": "no permutation of whole dims"}
    x, order, torch = made
    torch._dynamo.reset()
    start, end, out = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True), {}
    compiled = torch.compile(lambda t: t.permute(order).contiguous(), dynamic=False)
    for name, f in [("eager", lambda t: t.permute(order).contiguous()), ("compiled", compiled)]:
        times, n = [], 1
        for i in range(ROUNDS + 3):
            start.record()
            for _ in range(n):
                f(x)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end)/n)
            n = launches(times[-1]) if i == 1 else n
        out[name] = statistics.median(times[3:])
    return out


class Kernel:
    """A case's kernel on the device, with its buffers, until it is closed."""
    def __init__(self, cuda, so, err, dev, text, manifest):
        self.cuda, self.so, self.err, self.kernel = cuda, so, err, ct.c_void_p()
        source = so.Source(text.encode(), b"kern", manifest["grid"][0], manifest["block"][0], manifest["shared_bytes"], None)
        start = time.perf_counter()
        if so.lib.ravel_device_compile(dev, ct.byref(source), ct.byref(self.kernel), ct.byref(err)):
            raise RuntimeError(err.text.decode())
        self.compile_ms = (time.perf_counter() - start)*1e3
        self.dst_bytes, self.src_bytes = (a["bytes"] for a in manifest["arguments"])
        self.src, self.dst = cuda.alloc(self.src_bytes), cuda.alloc(self.dst_bytes)

    def launch(self):
        if self.so.lib.ravel_device_launch(self.kernel, None, self.dst, self.src, ct.byref(self.err)):
            raise RuntimeError(self.err.text.decode())

    def close(self):
        self.cuda.free(self.src)
        self.cuda.free(self.dst)
        self.so.lib.ravel_device_kernel_free(self.kernel)


def checked(k, case, shape, ravel_py, np):
    """Whether the destination is what the CPU makes of the same bytes."""
    raw = np.random.default_rng(1).integers(0, 256, k.src_bytes, dtype=np.uint8)
    with ravel_py.Context() as cx, cx.plan(case.src, case.dst, shape, case.dtype) as plan:
        want = plan.run(raw)
    got = np.full(k.dst_bytes, ravel_py.POISON, np.uint8)
    k.cuda.put(k.src, raw)
    k.cuda.put(k.dst, got)
    k.launch()
    k.cuda.check("cuStreamSynchronize", None)
    k.cuda.get(k.dst, got)
    return {"right": bool(np.array_equal(got, want))}


def timed(k):
    n = max(k.src_bytes, k.dst_bytes)
    a, b = k.cuda.alloc(n), k.cuda.alloc(n)
    k.launch()
    times = launches(k.cuda.timed(k.launch))
    rounds = [(k.cuda.timed(k.launch, times), k.cuda.timed(lambda: k.cuda.copy(a, b, n), times)) for _ in range(ROUNDS + 3)][3:]
    k.cuda.free(a)
    k.cuda.free(b)
    of_copy = sorted(copy/ours if ours else 0 for ours, copy in rounds)
    return {"ms": statistics.median(ours for ours, _ in rounds), "copy_ms": statistics.median(copy for _, copy in rounds), "launches": times,
            "compile_ms": k.compile_ms, "bytes": k.src_bytes + k.dst_bytes, "of_copy": statistics.median(of_copy), "spread": of_copy[::ROUNDS - 1]}


class NoGpu(Exception):
    pass


def opened():
    """The driver and the library's device."""
    sys.path.insert(0, str(ROOT / "tests"))
    import gpu_api as so
    import ravel as ravel_py
    err, dev = ravel_py.Err(), ct.c_void_p()
    try:
        cuda = Cuda()
    except (OSError, RuntimeError) as e:
        raise NoGpu("no GPU: %s" % e)
    if so.lib.ravel_device_of_cuda(ct.byref(dev), ct.byref(err)):
        raise NoGpu("no GPU: " + err.text.decode())
    return cuda, so, ravel_py, err, dev


def one(args, case, shape, folder, path):
    """The parts of a case, in this process; the file has those done so far."""
    import numpy as np
    cuda, so, ravel_py, err, dev = opened()
    about = so.Info()
    so.lib.ravel_device_about(dev, ct.byref(about))
    text, manifest = emit(args.build.resolve() / "ravel", folder, case, shape)
    out = {"device": about.name.decode(), "architecture": about.version.decode(), "asked": case.asked, "rows": sorted({b["by"] for b in manifest["boxes"]}),
           "manifest": manifest, "parts": []}

    def done(part, found):
        out.update(found)
        out["parts"].append(part)
        written(path, out)

    on_device = [part for part in ("check", "time") if part in args.part]
    if on_device:
        k = Kernel(cuda, so, err, dev, text, manifest)
        for part in on_device:
            done(part, checked(k, case, shape, ravel_py, np) if part == "check" else timed(k))
        k.close()
    if "torch" in args.part:
        done("torch", {"pytorch": pytorch(case, shape)})
    if "tools" in args.part:
        done("tools", {"tools": tools(args.build.resolve(), case, shape, folder)})
    so.lib.ravel_device_free(dev)


def small(shape):
    """Extents of the same kind, for tools that are slow."""
    return [n if n <= 16 else 16 + n % 16 if n % 16 else 32 for n in shape]


def job(build, folder, case, shape):
    """A kernel, its buffers of zeros, and the line for tests/grid_run that launches it."""
    _, m = emit(build / "ravel", folder, case, shape)
    for i, name in ((1, "src"), (0, "dst")):
        with open(folder / name, "wb") as f:
            f.truncate(m["arguments"][i]["bytes"])
    return m, "%s kern %d %d %d %s %s\n" % (folder / "k.cu", m["grid"][0], m["block"][0], m["shared_bytes"], folder / "src", folder / "dst")


def sanitized(build, folder, case, shape):
    """What compute-sanitizer finds, by tool."""
    tool, out = shutil.which("compute-sanitizer"), {}
    if not tool:
        return "compute-sanitizer is not installed"
    _, line = job(build, folder, case, shape)
    for what in ("memcheck", "racecheck"):
        r = subprocess.run([tool, "--tool", what, "--error-exitcode", "9", build / "tests/grid_run", "0"], input=line, capture_output=True, text=True)
        if r.returncode:
            out[what] = (r.stdout + r.stderr)[-500:].strip() or "ended with %d" % r.returncode
    return out or "nothing found"


COUNTERS = {"src": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "dst": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
            "shared": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}


def counted(build, folder, case, shape):
    """ncu's counters beside the analyser's sums, for kernels whose blocks are all alike."""
    tool = shutil.which("ncu")
    if not tool:
        return "ncu is not installed"
    m, line = job(build, folder, case, shape)
    [box, *more] = m["boxes"]
    if more or any(a["accesses"] != box["analysed"][0]["accesses"] for a in box["analysed"]):
        return "the blocks are not all alike"
    r = subprocess.run([tool, "--csv", "--clock-control", "none", "--metrics", ",".join(COUNTERS.values()), build / "tests/grid_run", "0"], input=line,
                       capture_output=True, text=True)
    measured = {k: next((float(x.split('","')[-1].strip('"\n').replace(",", "")) for x in r.stdout.splitlines() if v in x), None) for k, v in COUNTERS.items()}
    if None in measured.values():
        return "ncu counted nothing: %s" % (r.stdout + r.stderr).strip()[-300:]
    ours = {a["memory"]: a["sectors"]*m["grid"][0] for a in box["analysed"][0]["accesses"] if "sectors" in a}
    ours["shared"] = sum(a["wavefronts"] - a["least_wavefronts"] for a in box["analysed"][0]["accesses"] if "wavefronts" in a)*m["grid"][0]
    return {"ncu": measured, "analyser": ours}


def tools(build, case, shape, folder):
    bits = int(re.sub(r"\D", "", case.dtype))
    return {"compute_sanitizer": sanitized(build, folder, case, shape if math.prod(shape)*bits <= 16 << 23 else small(shape)),
            "ncu": counted(build, folder, case, shape)}


def faults(r):
    """What is wrong with a case, a text each."""
    found = r.get("tools", {}).get("compute_sanitizer")
    out = [] if r.get("right", True) else ["WRONG"]
    out += ["%s: %s" % (part, why) for part, why in r["errors"].items()]
    return out + ["%s: %s" % (tool, text.splitlines()[-1].strip("= ")) for tool, text in found.items()] if isinstance(found, dict) else out


def table(result):
    yield "| case | kernels | of a copy | asked | GB/s | PyTorch eager, compiled |"
    yield "|---|---|---|---|---|---|"
    for name, r in result["cases"].items():
        good = r.get("right", True) and "ms" in r
        torch = ", ".join("%.2f" % (r["copy_ms"]/r["pytorch"][k]) for k in ("eager", "compiled") if good and k in r.get("pytorch", {}))
        of_copy = "; ".join([*(["%.2f" % r["of_copy"]] if good else []), *faults(r)])
        yield "| %s | %s | %s | %s | %s | %s |" % (name, ", ".join(r.get("rows", [])), of_copy, "%.2f" % r["asked"] if "asked" in r else "",
                                                 "%.0f" % (r["bytes"]/r["ms"]/1e6) if good else "", torch)


def said(r):
    """A line about a case's result."""
    good = (["right"] if r.get("right") else []) + (["%.2f of a copy, asked %.2f" % (r["of_copy"], r["asked"])] if "ms" in r else [])
    return "; ".join([*faults(r), *good])


def of_child(args, number, parts, seconds):
    """What a process of its own finds about a case, and why it ended before it had done the parts, or None."""
    with tempfile.TemporaryDirectory() as t:
        path, why = pathlib.Path(t, "out.json"), None
        command = [sys.executable, __file__, "--build", args.build, "--scale", str(args.scale), "--one", str(number), "--json", path,
                   *(x for part in parts for x in ("--part", part))]
        # a group of its own, so that the tools that it started end with it
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, "TMPDIR": t}) as p:
            try:
                out, err = p.communicate(timeout=seconds)
                why = (err.strip().splitlines() or ["ended with %d" % p.returncode])[-1] if p.returncode else None
            except subprocess.TimeoutExpired:
                why = "not done when the case had taken %d s" % args.case_seconds
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(p.pid, signal.SIGKILL)
        if p.returncode == 77:
            raise NoGpu(out.strip())
        return json.loads(path.read_text()) if path.exists() else {"parts": []}, why


def of_case(args, number, parts):
    """What is found about a case.  A new process does the parts after one that failed, within the case's time."""
    found, end = {"parts": [], "errors": {}}, time.monotonic() + args.case_seconds
    while parts and time.monotonic() < end:
        r, why = of_child(args, number, parts, end - time.monotonic())
        left = [part for part in parts if part not in r["parts"]]
        failed = (left or parts[-1:])[:1] if why else []
        found.update({**r, "parts": found["parts"] + [part for part in r["parts"] if part not in failed]})
        found["errors"].update((part, why) for part in failed)
        parts = left[1:]
    return found


def merged(done, new):
    """What is known of a case after some of its parts ran again."""
    parts = {*done.get("parts", []), *new["parts"]}
    errors = {part: why for part, why in {**done.get("errors", {}), **new["errors"]}.items() if part not in parts}
    return {**done, **new, "parts": sorted(parts), "errors": errors}


def written(path, result):
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(result, indent=1))
    part.replace(path)


def every(args, path):
    """All cases, one after another."""
    result, start = {"cases": {}}, time.monotonic()
    if args.more and path.exists():
        result = json.loads(path.read_text())
    todo = []
    for number, case in enumerate(cases()):
        parts = [part for part in PARTS if part in args.part and part not in result["cases"].get(case.name, {}).get("parts", [])]
        if re.search(args.only, case.name) and parts:
            todo.append((number, case, parts))

    def begun(number, case, parts):
        if args.seconds and time.monotonic() - start > args.seconds:
            return None
        return of_case(args, number, parts)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        late = []
        for (_, case, _), r in zip(todo, pool.map(begun, *zip(*todo)) if todo else []):
            if r is None:
                late.append(case.name)
                continue
            result["cases"][case.name] = r = merged(result["cases"].get(case.name, {}), r)
            written(path, result)
            print("%-24s %s" % (case.name, said(r)), flush=True)
    if late:
        print("not begun after %d s: %s; go on with --more" % (args.seconds, ", ".join(late)))
    print("\n".join(table(result)))
    return int(any(faults(r) for r in result["cases"].values()))


def child(args, path):
    case = list(cases())[args.one]
    with tempfile.TemporaryDirectory() as t:
        one(args, case, scaled(case.shape, args.scale), pathlib.Path(t), path)
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default="build", type=pathlib.Path, help="the build folder")
    p.add_argument("--part", action="append", choices=PARTS, help="only this part; may be given several times")
    p.add_argument("--json", type=pathlib.Path, help="BUILD/gpu.json unless given")
    p.add_argument("--scale", type=int, default=0, metavar="N", help="halve extents until a case has at most N elements (for tests)")
    p.add_argument("--only", default="", metavar="REGEXP", help="cases whose name has it")
    p.add_argument("--seconds", type=int, default=0, metavar="N", help="begin no case later")
    p.add_argument("--case-seconds", type=int, default=240, metavar="N", help="end a case after so long (240)")
    p.add_argument("--jobs", type=int, default=1, metavar="N", help="so many cases at once; not with the parts time and torch")
    p.add_argument("--more", action="store_true", help="only the parts that the JSON file lacks")
    p.add_argument("--table", type=pathlib.Path, metavar="FILE", help="show a result as Markdown, and end")
    p.add_argument("--list-files", action="store_true", help="print the files that another machine needs, and end")
    p.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = p.parse_args()
    args.part = args.part or PARTS
    path = args.json or args.build / "gpu.json"
    if args.table or args.list_files:
        print("\n".join(table(json.loads(args.table.read_text())) if args.table else (f.replace("BUILD", str(args.build)) for f in FILES)))
        return 0
    if args.jobs > 1 and {"time", "torch"} & {*args.part}:
        p.error("--jobs would disturb what the parts time and torch measure: name the others, as in --part check --part tools")
    os.environ["RAVEL_BUILD"] = str(args.build)
    try:
        return every(args, path) if args.one is None else child(args, path)
    except NoGpu as e:
        print(e)
        return 77


if __name__ == "__main__":
    sys.exit(main())
