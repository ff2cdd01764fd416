"""What the kernels for GPUs reach, on a GPU with CUDA: gpu.py --build build [--json FILE] [--scale N] [--only REGEXP]

For every case the kernel is made by `ravel emit --target cuda`, compiled and launched by the library, its bytes held against the CPU's (random data,
destination poisoned before), and timed by events beside a copy of as many bytes on the device and, where PyTorch is, permute().contiguous(), eager
and compiled.  A ratio is of the copy's time in the same round; told are medians of 20.  compute-sanitizer and ncu, where they are, look at small
shapes.  Everything goes into one JSON file, which `--table` shows as Markdown.  Takes under 25 minutes; without a GPU it says so and ends with 77."""

import argparse
import ctypes as ct
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 20

# name ; row ; dtype ; shape ; from -> to ; what it is to reach
CASES = """
copy 1 GB               ; copy      ; f32 ; 16384,16384      ; (R,C){R, C} -> (R,C){R, C, pitch = {R = 66048}}        ; 0.98
bshd-bhsd f16           ; copy      ; f16 ; 16,4096,64,128   ; (B,S,H,D){B, S, H, D} -> (B,S,H,D){B, H, S, D}           ; 0.98
2D f32                  ; transpose ; f32 ; 16384,16384      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.93
2D f32 odd              ; transpose ; f32 ; 16381,16411      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.60
2D u16                  ; transpose ; u16 ; 32768,16384      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.93
2D u8                   ; transpose ; u8  ; 32768,32768      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.90
2D f64                  ; transpose ; f64 ; 16384,8192       ; (R,C){R, C} -> (R,C){C, R}                              ; 0.93
2D u4                   ; int4      ; u4  ; 65536,32768      ; (R,C){R, C} -> (R,C){C, R}                              ; 0.85
batched f32             ; transpose ; f32 ; 256,1024,1024    ; (N,R,C){N, R, C} -> (N,R,C){N, C, R}                    ; 0.93
nchw-nhwc f16           ; transpose ; f16 ; 256,128,128,128  ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, H, W, C}          ; 0.93
nhwc-nchw f16           ; transpose ; f16 ; 256,128,128,128  ; (N,C,H,W){N, H, W, C} -> (N,C,H,W){N, C, H, W}          ; 0.93
nhwc-nchw u8 C=3        ; few       ; u8  ; 2048,3,512,340   ; (N,C,H,W){N, H, W, C} -> (N,C,H,W){N, C, H, W}          ; 0.75
nchw-nhwc f32 C=3       ; few       ; f32 ; 512,3,512,340    ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, H, W, C}          ; 0.75
nchw-nhwc f16 7x7       ; few       ; f16 ; 4096,2560,7,7    ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, H, W, C}          ; 0.75
nhwc-chwn u8 C=3        ; fuse      ; u8  ; 1024,3,1024,340  ; (N,C,H,W){N, H, W, C} -> (N,C,H,W){C, H, W, N}          ; 0.60
NC1HWC0 f16             ; blocks    ; f16 ; 256,128,128,128  ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, C//16, H, W, C%16} ; 0.90
NC1HWC0 f16 padded      ; blocks    ; f16 ; 256,120,128,128  ; (N,C,H,W){N, C, H, W} -> (N,C,H,W){N, C//16, H, W, C%16} ; 0.90
COL32 i8                ; blocks    ; u8  ; 32768,32768      ; (R,C){R, C} -> (R,C){C//32, R, C%32}                    ; 0.90
FRACTAL_NZ f16          ; blocks    ; f16 ; 16384,32768      ; (M,K){M, K} -> (M,K){K//16, M//16, M%16, K%16}          ; 0.90
rank 5 reversed f32     ; rank 5    ; f32 ; 24,32,40,64,136  ; (A,B,C,D,E){A, B, C, D, E} -> (A,B,C,D,E){E, D, C, B, A} ; 0.60
rank 5 [2,0,4,1,3] f32  ; rank 5    ; f32 ; 24,32,40,64,136  ; (A,B,C,D,E){A, B, C, D, E} -> (A,B,C,D,E){C, A, E, B, D} ; 0.60
"""


def cases():
    for line in CASES.strip().splitlines():
        name, row, dtype, shape, pair, bar = (x.strip() for x in line.split(";"))
        src, dst = pair.split("->")
        yield name, row, dtype, [int(n) for n in shape.split(",")], src.strip(), dst.strip(), float(bar)


def scaled(shape, most):
    """Extents halved, the largest first, until at most so many elements are left; 0: as they are."""
    shape = list(shape)
    while most and np.prod(shape) > most:
        shape[int(np.argmax(shape))] //= 2
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

    def timed(self, f):
        """Milliseconds."""
        if not self.events:
            start = time.perf_counter()
            f()
            self.check("cuStreamSynchronize", None)
            return (time.perf_counter() - start)*1e3
        ms = ct.c_float()
        self.check("cuEventRecord", self.events[0], None)
        f()
        self.check("cuEventRecord", self.events[1], None)
        self.check("cuEventSynchronize", self.events[1])
        self.check("cuEventElapsedTime", ct.byref(ms), *self.events)
        return ms.value


def emit(ravel, folder, case, shape):
    name, _, dtype, _, src, dst, _ = case
    command = [ravel, "emit", "--from", src, "--to", dst, "--shape", ",".join(map(str, shape)), "--dtype", dtype, "--target", "cuda", "--name", "kern",
               "-o", folder / "k.cu", "--manifest", folder / "k.json"]
    subprocess.run([str(c) for c in command], check=True)
    return (folder / "k.cu").read_text(), json.loads((folder / "k.json").read_text())


def permuted(case, shape, random):
    """A tensor and its permutation by PyTorch, or None: both sides in one order of whole dims."""
    _, _, dtype, _, src, dst, _ = case
    orders = [re.fullmatch(r"\([\w,]+\)\{([\w, ]+)\}", x) for x in (src, dst)]
    kind = {"f32": "float32", "f16": "float16", "u8": "uint8", "f64": "float64", "u16": "int16"}.get(dtype)
    try:
        import torch
    except ImportError:
        return None
    if None in orders or not kind:
        return None
    names, a, b = src[1:src.index(")")].split(","), *([n.strip() for n in o[1].split(",")] for o in orders)
    x = torch.empty([shape[names.index(n)] for n in a], dtype=getattr(torch, kind), device="cuda")
    order = [a.index(n) for n in b]
    return x, order, torch


def pytorch(cuda, case, shape):
    """Milliseconds of permute().contiguous(), eager and compiled."""
    made = permuted(case, shape, None)
    if not made:
        return {}
    x, order, torch = made
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    out = {}
    for name, f in [("eager", lambda t: t.permute(order).contiguous()), ("compiled", torch.compile(lambda t: t.permute(order).contiguous()))]:
        times = []
        for _ in range(ROUNDS + 3):
            start.record()
            f(x)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        out[name] = statistics.median(times[3:])
    del x
    torch.cuda.empty_cache()
    return out


def one(cuda, so, dev, ravel_py, ravel, folder, case, shape):
    text, manifest = emit(ravel, folder, case, shape)
    source, kernel, err = so.Source(text.encode(), b"kern", manifest["grid"][0], manifest["block"][0], manifest["shared_bytes"], None), ct.c_void_p(), ravel_py.Err()
    start = time.perf_counter()
    if so.lib.ravel_device_compile(dev, ct.byref(source), ct.byref(kernel), ct.byref(err)):
        return {"error": err.text.decode()}
    compile_ms = (time.perf_counter() - start)*1e3
    dst_bytes, src_bytes = (a["bytes"] for a in manifest["arguments"])
    rng = np.random.default_rng(1)
    raw = rng.integers(0, 256, src_bytes, dtype=np.uint8)
    with ravel_py.Context() as cx, cx.plan(case[4], case[5], shape, case[2]) as plan:
        want = plan.run(raw)
    got = np.full(dst_bytes, ravel_py.POISON, np.uint8)
    src, dst = cuda.alloc(src_bytes), cuda.alloc(dst_bytes)
    other, room = cuda.alloc(max(src_bytes, dst_bytes)), cuda.alloc(max(src_bytes, dst_bytes))
    try:
        cuda.put(src, raw)
        cuda.put(dst, got)

        def launch():
            if so.lib.ravel_device_launch(kernel, None, dst, src, ct.byref(err)):
                raise RuntimeError(err.text.decode())
        launch()
        cuda.check("cuStreamSynchronize", None)
        cuda.get(dst, got)
        right = bool(np.array_equal(got, want))
        rounds = [(cuda.timed(launch), cuda.timed(lambda: cuda.copy(room, other, max(src_bytes, dst_bytes)))) for _ in range(ROUNDS + 3)][3:]
    finally:
        for p in (src, dst, other, room):
            cuda.free(p)
        so.lib.ravel_device_kernel_free(kernel)
    ours = statistics.median(a for a, _ in rounds)
    return {"right": right, "ms": ours, "copy_ms": statistics.median(b for _, b in rounds), "compile_ms": compile_ms, "bytes": src_bytes + dst_bytes,
            "of_copy": statistics.median(b/a if a else 0 for a, b in rounds), "spread": sorted(b/a if a else 0 for a, b in rounds)[::ROUNDS - 1],
            "rows": sorted({b["by"] for b in manifest["boxes"]}), "manifest": manifest}


def small(shape):
    """Extents of the same kind, for tools that are slow."""
    return [n if n <= 16 else 16 + n % 16 if n % 16 else 32 for n in shape]


def sanitized(build, ravel, folder):
    """Findings of compute-sanitizer on small shapes, by tool."""
    tool = shutil.which("compute-sanitizer")
    if not tool:
        return "compute-sanitizer is not installed"
    out = {}
    for case in cases():
        text, m = emit(ravel, folder, case, small(case[3]))
        np.zeros(m["arguments"][1]["bytes"], np.uint8).tofile(folder / "src")
        np.zeros(m["arguments"][0]["bytes"], np.uint8).tofile(folder / "dst")
        job = "%s kern %d %d %d %s %s\n" % (folder / "k.cu", m["grid"][0], m["block"][0], m["shared_bytes"], folder / "src", folder / "dst")
        for what in ("memcheck", "racecheck"):
            r = subprocess.run([tool, "--tool", what, "--error-exitcode", "9", build / "tests/grid_run", "0"], input=job, capture_output=True, text=True)
            if r.returncode:
                out.setdefault(what, []).append("%s: %s" % (case[0], r.stdout[-500:]))
    return out or "nothing found"


COUNTERS = {"src": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "dst": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
            "shared": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}


def counted(build, ravel, folder):
    """ncu's counters beside the analyser's sums, for kernels whose blocks are all alike."""
    tool = shutil.which("ncu")
    if not tool:
        return "ncu is not installed"
    out = {}
    for case in cases():
        text, m = emit(ravel, folder, case, [min(n, 512) for n in case[3]])
        [box, *more] = m["boxes"]
        if more or any(a["accesses"] != box["analysed"][0]["accesses"] for a in box["analysed"]):
            continue
        for i, name in ((1, "src"), (0, "dst")):
            np.zeros(m["arguments"][i]["bytes"], np.uint8).tofile(folder / name)
        job = "%s kern %d %d %d %s %s\n" % (folder / "k.cu", m["grid"][0], m["block"][0], m["shared_bytes"], folder / "src", folder / "dst")
        r = subprocess.run([tool, "--csv", "--metrics", ",".join(COUNTERS.values()), build / "tests/grid_run", "0"], input=job, capture_output=True, text=True)
        measured = {k: next((float(x.split('","')[-1].strip('"\n').replace(",", "")) for x in r.stdout.splitlines() if v in x), None) for k, v in COUNTERS.items()}
        ours = {a["memory"]: a["sectors"]*m["grid"][0] for a in box["analysed"][0]["accesses"] if "sectors" in a}
        ours["shared"] = sum(a["wavefronts"] - a["least_wavefronts"] for a in box["analysed"][0]["accesses"] if "wavefronts" in a)*m["grid"][0]
        out[case[0]] = {"ncu": measured, "analyser": ours}
    return out


def table(result):
    yield "| case | kernels | of a copy | asked | GB/s | PyTorch eager, compiled |"
    yield "|---|---|---|---|---|---|"
    for name, r in result["cases"].items():
        if "error" in r or not r["right"]:
            yield "| %s | | %s | | | |" % (name, r.get("error", "WRONG"))
            continue
        torch = ", ".join("%.2f" % (r["copy_ms"]/r["pytorch"][k]) for k in ("eager", "compiled") if k in r["pytorch"])
        yield "| %s | %s | %.2f | %.2f | %.0f | %s |" % (name, ", ".join(r["rows"]), r["of_copy"], r["asked"], r["bytes"]/r["ms"]/1e6, torch)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default="build", type=pathlib.Path, help="the build folder")
    p.add_argument("--json", type=pathlib.Path, help="BUILD/gpu.json unless given")
    p.add_argument("--scale", type=int, default=0, metavar="N", help="halve extents until a case has at most N elements (for tests)")
    p.add_argument("--only", default="", metavar="REGEXP", help="cases whose name has it")
    p.add_argument("--table", type=pathlib.Path, metavar="FILE", help="show a result as Markdown, and end")
    args = p.parse_args()
    if args.table:
        print("\n".join(table(json.loads(args.table.read_text()))))
        return 0
    os.environ["RAVEL_BUILD"] = str(args.build)
    sys.path.insert(0, str(ROOT / "tests"))
    import gpu_api as so
    import ravel as ravel_py
    err, dev = ravel_py.Err(), ct.c_void_p()
    try:
        cuda = Cuda()
    except (OSError, RuntimeError) as e:
        print("no GPU: %s" % e)
        return 77
    if so.lib.ravel_device_of_cuda(ct.byref(dev), ct.byref(err)):
        print("no GPU: %s" % err.text.decode())
        return 77
    about = so.Info()
    so.lib.ravel_device_about(dev, ct.byref(about))
    result = {"device": about.name.decode(), "architecture": about.version.decode(), "cases": {}}
    ravel, bad = args.build.resolve() / "ravel", 0
    with tempfile.TemporaryDirectory() as t:
        folder = pathlib.Path(t)
        for case in cases():
            shape = scaled(case[3], args.scale)
            if not re.search(args.only, case[0]):
                continue
            r = one(cuda, so, dev, ravel_py, ravel, folder, case, shape)
            r["asked"], r["pytorch"] = case[6], {} if args.scale else pytorch(cuda, case, shape)
            result["cases"][case[0]] = r
            bad += "error" in r or not r["right"]
            print("%-24s %s" % (case[0], r.get("error") or "%s %.2f of a copy, asked %.2f" % ("" if r["right"] else "WRONG", r["of_copy"], r["asked"])), flush=True)
        if not args.scale:
            result["compute_sanitizer"], result["ncu"] = sanitized(args.build.resolve(), ravel, folder), counted(args.build.resolve(), ravel, folder)
    so.lib.ravel_device_free(dev)
    (args.json or args.build / "gpu.json").write_text(json.dumps(result, indent=1))
    print("\n".join(table(result)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
