"""What a call from Python costs above the library: ravel.convert and a plan beside ravel_run of the same conversion by ctypes, of which
an empty call by ctypes is taken off.  One process, small arrays, the candidates in turns, medians.  It needs `make python`."""

import argparse
import ctypes as ct
import pathlib
import statistics
import sys
import time

import numpy as np

SHAPES = [(1, 3, 4, 5), (2, 16, 8, 8), (1, 64, 16, 16)]


class Request(ct.Structure):
    _fields_ = [("src", ct.c_char_p), ("dst", ct.c_char_p), ("dtype", ct.c_char_p), ("rank", ct.c_int), ("shape", ct.POINTER(ct.c_int64)),
                ("threads", ct.c_int), ("in_place", ct.c_int)]


def library_run(lib, context, shape, x, y):
    """A call of ravel_run by ctypes, with arguments that are made before."""
    plan, error = ct.c_void_p(), ct.create_string_buffer(2048)
    request = Request(b"NCHW", b"NHWC", b"f32", len(shape), (ct.c_int64*len(shape))(*shape), 1, 0)
    if lib.ravel_compile(context, ct.byref(request), ct.byref(plan), error):
        sys.exit(error.raw[4:].split(b"\0")[0].decode())
    run, args = lib.ravel_run, (plan, ct.c_void_p(y.ctypes.data), ct.c_void_p(x.ctypes.data))
    return lambda: run(*args)


def medians(calls, rounds, repeats):
    times = [[] for _ in calls]
    for r in range(rounds):
        for i in [(r + k) % len(calls) for k in range(len(calls))]:
            start = time.perf_counter()
            for _ in range(repeats):
                calls[i]()
            times[i].append((time.perf_counter() - start)/repeats)
    return [1e6*statistics.median(t) for t in times]


def tensors(torch, ravel, args):
    """Tensors of PyTorch, beside its own new tensor."""
    print("%-14s %12s %12s %14s %14s   tensors of PyTorch %s" % ("shape", "plan(x,y)", "convert out=", "convert, new", "torch.empty", torch.__version__))
    for shape in SHAPES:
        x = torch.arange(float(np.prod(shape))).reshape(shape)
        y = torch.empty((shape[0], *shape[2:], shape[1]))
        plan = ravel.compile("NCHW", "NHWC", shape, "f32", threads=1)
        calls = [lambda: plan(x, y), lambda: ravel.convert(x, "NCHW", "NHWC", out=y, threads=1), lambda: ravel.convert(x, "NCHW", "NHWC", threads=1),
                 lambda: torch.empty(y.shape)]
        print("%-14s %12.2f %12.2f %14.2f %14.2f" % (",".join(map(str, shape)), *medians(calls, args.rounds, args.repeats)))
        assert torch.equal(y, x.permute(0, 2, 3, 1))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--build", default="build")
    p.add_argument("--rounds", type=int, default=51)
    p.add_argument("--repeats", type=int, default=400)
    args = p.parse_args()
    build = pathlib.Path(args.build).resolve()
    sys.path.insert(0, str(build/"python"))
    import ravel
    lib, context = ct.CDLL(str(build/"libravel.so")), ct.c_void_p()
    if lib.ravel_context_new(ct.byref(context), None):
        sys.exit("no context")
    print("microseconds of a call, f32 from NCHW to NHWC, one thread; medians of %d rounds of %d calls" % (args.rounds, args.repeats))
    print("%-14s %10s %10s %12s %14s" % ("shape", "ravel_run", "plan(x,y)", "convert out=", "convert, new"))
    for shape in SHAPES:
        x = np.arange(np.prod(shape), dtype="f4").reshape(shape)
        y = np.empty((shape[0], *shape[2:], shape[1]), "f4")
        z = np.empty_like(y)
        plan = ravel.compile("NCHW", "NHWC", shape, "f32", threads=1)
        nothing, n = lib.ravel_plan_threads, ct.c_void_p()
        calls = [lambda: nothing(n), library_run(lib, context, shape, x, z), lambda: plan(x, y),
                 lambda: ravel.convert(x, "NCHW", "NHWC", out=y, threads=1), lambda: ravel.convert(x, "NCHW", "NHWC", threads=1)]
        empty, run, *ours = medians(calls, args.rounds, args.repeats)
        assert np.array_equal(y, z) and np.array_equal(y, x.transpose(0, 2, 3, 1))
        own = max(0, run - empty)
        print("%-14s %10.2f %10s %12s %14s" % (",".join(map(str, shape)), own, *("+ %.2f" % (t - own) for t in ours)))
    try:
        import torch
    except ImportError:
        return
    tensors(torch, ravel, args)


if __name__ == "__main__":
    main()
