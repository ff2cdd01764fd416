"""make bench-index: gather and scatter by an index array, beside NumPy and a plain loop: medians over rounds of the ratios of each round.  All use one
thread, ravel --threads of them.  ravel and NumPy check the numbers, the loop does not; all but fancy indexing write into an array that is there."""

import argparse
import ctypes as ct
import itertools
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--build", default="build")
parser.add_argument("--rounds", type=int, default=9)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--width", default="1,4,16,64,256,1024", help="elements of 4 bytes in a row")
parser.add_argument("--bytes", default="65536,16777216", help="of the rows that are moved; the tensor has twice as many")
parser.add_argument("--only", default="", help="rows whose first cell contains this")
args = parser.parse_args()
os.environ["RAVEL_BUILD"] = args.build
sys.path.insert(0, str(ROOT/"tests"))

import numpy as np  # noqa: E402

import ravel  # noqa: E402

SAMPLE = 0.003


def built():
    so = ROOT/args.build/"bench/index_loops.so"
    so.parent.mkdir(exist_ok=True)
    subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", so, ROOT/"bench/index_loops.c"], check=True)
    return ct.CDLL(str(so))


def p(a):
    return ct.c_void_p(a.ctypes.data)


def timed(f, calls):
    start = time.perf_counter()
    for _ in range(calls):
        f()
    return (time.perf_counter() - start) / calls


def medians(ways, rounds):
    """Seconds of the first way, and of the others the ratio to it; a round begins with another one each time."""
    calls = [max(1, int(SAMPLE / max(min(timed(f, 1) for _ in range(3)), 1e-7))) for f in ways]
    all_of = []
    for r in range(rounds):
        times = {(k + r) % len(ways): 0.0 for k in range(len(ways))}
        for k in times:
            times[k] = timed(ways[k], calls[k])
        all_of.append([times[k] for k in range(len(ways))])
    return [np.median([t[0] for t in all_of])] + [np.median([t[k] / t[0] for t in all_of]) for k in range(1, len(ways))]


def ours(plan, dst, src, *idx):
    """A run, with what C would have at hand."""
    run, array, to, of, err = ravel.lib.ravel_run_arrays, (ct.c_void_p * len(idx))(*[a.ctypes.data for a in idx]), p(dst), p(src), ct.byref(ravel.Err())
    return lambda: run(plan.p, to, of, None, array, err)


def cases(cx, loop):
    """(what, width, rows, the ways: ravel, np.take or put, fancy indexing, loop, memcpy)"""
    for size in map(int, args.bytes.split(",")):
        for width in map(int, args.width.split(",")):
            n = max(1, size // (4 * width))
            rng = np.random.default_rng(1)
            big, rows = rng.random((2 * n, width)).astype("f4"), np.zeros((n, width), "f4")
            idx = rng.permutation(2 * n)[:n]
            tail = [p(idx), ct.c_int64(n), ct.c_int64(width)]
            gather = cx.plan("ROW_MAJOR(%d,%d)[idx]" % big.shape, "ROW_MAJOR", rows.shape, "f32")
            run = ours(gather, rows, big, idx)
            assert not run() and np.array_equal(rows, big[idx])
            yield ("gather", width, n, [run, lambda: np.take(big, idx, axis=0, out=rows), lambda: big[idx], lambda: loop.loop_gather(p(rows), p(big), *tail),
                                        lambda: ct.memmove(rows.ctypes.data, big.ctypes.data, rows.nbytes)])
            scatter, want = cx.plan("ROW_MAJOR", "ROW_MAJOR(%d,%d)[idx]" % big.shape, rows.shape, "f32"), big.copy()
            rows = rows[::-1].copy()
            run, want[idx] = ours(scatter, big, rows, idx), rows
            assert not run() and np.array_equal(big, want)
            yield ("scatter", width, n, [run, None, lambda: big.__setitem__(idx, rows), lambda: loop.loop_scatter(p(big), p(rows), *tail),
                                         lambda: ct.memmove(big.ctypes.data, rows.ctypes.data, rows.nbytes)])


def single(cx, loop):
    """Elements that have a number each: x[i, j], and take_along_axis of a square along its last and its first dim."""
    for size in map(int, args.bytes.split(",")):
        m = int((size // 4)**0.5)
        rng = np.random.default_rng(1)
        x, y = rng.random((m, m)).astype("f4"), np.zeros((m, m), "f4")
        i, j = rng.integers(0, m, (2, m, m))
        sizes = [ct.c_int64(m), ct.c_int64(m)]
        copy = lambda: ct.memmove(y.ctypes.data, x.ctypes.data, y.nbytes)
        for what, text, idx, by_numpy, by_loop in [
                ("pairs", "(%d,%d)[i, j]", (i.ravel(), j.ravel()), lambda: x[i.ravel(), j.ravel()], lambda: loop.loop_pairs(p(y), p(x), p(i), p(j), ct.c_int64(m * m), sizes[1])),
                ("along the last dim", "(%d,%d)[:, along i]", (i,), lambda: np.take_along_axis(x, i, 1), lambda: loop.loop_along_last(p(y), p(x), p(i), *sizes)),
                ("along the first dim", "(%d,%d)[along i]", (i,), lambda: np.take_along_axis(x, i, 0), lambda: loop.loop_along_first(p(y), p(x), p(i), *sizes))]:
            plan = cx.plan("ROW_MAJOR" + text % (m, m), "ROW_MAJOR", by_numpy().shape, "f32")
            run = ours(plan, y, x, *idx)
            assert not run() and np.array_equal(y.ravel(), by_numpy().ravel())
            yield what, 1, m * m, [run, None, by_numpy, by_loop, copy]


def dims(cx, loop):
    """Along the first, a middle and the last dim, for elements of 1, 2 and 4 bytes."""
    for size in map(int, args.bytes.split(",")):
        for bytes_, dtype in (1, "u8"), (2, "f16"), (4, "f32"):
            for axis, inner in (0, 16), (1, 1), (1, 16), (1, 256):
                m = 256
                outer = max(1, size // (bytes_ * m * inner)) if axis else 1
                n = m if axis else max(1, size // (bytes_ * inner))
                m = m if axis else 2 * n
                rng = np.random.default_rng(1)
                x, y = rng.integers(0, 255, (outer, m, inner)).astype("u%d" % bytes_), np.zeros((outer, n, inner), "u%d" % bytes_)
                idx = rng.integers(0, m, n)
                run = ours(cx.plan("ROW_MAJOR(%d,%d,%d)[:, idx]" % x.shape, "ROW_MAJOR", y.shape, dtype), y, x, idx)
                assert not run() and np.array_equal(y, x[:, idx])
                sizes = [ct.c_int64(k) for k in (outer, n, m, inner)]
                yield ("%s x[:, idx] of %d x %d" % (dtype, outer, m), inner, n, [run, lambda: np.take(x, idx, axis=1, out=y), lambda: x[:, idx],
                       lambda: getattr(loop, "loop_axis%d" % bytes_)(p(y), p(x), p(idx), *sizes), lambda: ct.memmove(y.ctypes.data, x.ctypes.data, y.nbytes)])


# Layouts of one dim: NumPy's shape of the storage, and what of it an index selects.
BLOCKED = [
    ("{A//16, A%%16}(%d)", (-1, 16), lambda x, i: x[i // 16, i % 16]),
    ("{A//8%%8, A//64, A%%8}(%d)", (8, -1, 8), lambda x, i: x[i // 8 % 8, i // 64, i % 8]),
    ("{A//6%%5, A//30, A%%6}(%d)", (5, -1, 6), lambda x, i: x[i // 6 % 5, i // 30, i % 6]),
]


def blocked(cx, loop):
    """Single elements of a dim with digits; np.take and the loop take them from the same storage as if it had none, fancy indexing takes the same."""
    for size in map(int, args.bytes.split(",")):
        n = size // 4
        rng = np.random.default_rng(1)
        x, y = rng.random(2 * n // 960 * 960 + 960).astype("f4"), np.zeros(n, "f4")
        idx = rng.integers(0, len(x), n)
        tail = [p(idx), ct.c_int64(n), ct.c_int64(1)]
        copy = lambda: ct.memmove(y.ctypes.data, x.ctypes.data, y.nbytes)
        for text, shape, select in BLOCKED:
            for bits in ("", "i32 "):
                i = idx.astype("i4") if bits else idx
                run = ours(cx.plan((text + "[%sidx]") % (len(x), bits), "{A}", (n,), "f32"), y, x, i)
                by = x.reshape(shape)
                assert not run() and np.array_equal(y, select(by, idx))
                yield ("%s of %s" % (bits + "numbers", text.split("(")[0].replace("%%", "%")), 1, n,
                       [run, lambda: np.take(x, i, out=y), lambda: select(by, i), None if bits else lambda: loop.loop_gather(p(y), p(x), *tail), copy])
        run = ours(cx.plan("{A}(%d)[idx]" % len(x), "{A//8%8, A//64, A%8}", (n,), "f32"), y, x, idx)
        assert not run() and np.array_equal(y, x[idx].reshape(-1, 8, 8).transpose(1, 0, 2).ravel())
        yield "into {A//8%8, A//64, A%8}", 1, n, [run, None, lambda: x[idx].reshape(-1, 8, 8).transpose(1, 0, 2).copy(), None, copy]


def channels(cx, loop):
    """Channels that are stored in blocks."""
    x, idx = np.random.default_rng(1).random((1, 16, 56, 56, 16)).astype("f2"), np.random.default_rng(2).permutation(256)[:128]
    for to, order in [("NCHW", (0, 1, 2, 3)), ("NHWC", (0, 2, 3, 1))]:
        y = np.zeros((1, 128, 56, 56), "f2")
        by_numpy = lambda: np.ascontiguousarray(x.transpose(0, 1, 4, 2, 3)[:, idx // 16, idx % 16].transpose(order))
        run = ours(cx.plan("NC1HWC0(1,256,56,56)[:, idx]", to, y.shape, "f16"), y, x, idx)
        assert not run() and np.array_equal(y.ravel(), by_numpy().ravel())
        yield "NC1HWC0[:, idx] to " + to, 1, y.size, [run, None, by_numpy, None, lambda: ct.memmove(y.ctypes.data, x.ctypes.data, y.nbytes)]


def swizzled(cx, loop):
    """Rows and columns of a matrix that SW128 swizzles; np.take and the loop take them from the same storage as if it had no swizzle, fancy indexing takes the same."""
    for size in map(int, args.bytes.split(",")):
        n, rng = size // 128, np.random.default_rng(1)
        x, idx, y = rng.integers(0, 65536, (2 * n, 8, 8)).astype("u2"), rng.permutation(2 * n)[:n], np.zeros((n, 64), "u2")
        flat, rows = x.reshape(2 * n, 64), x.reshape(2 * n, 8, 8)
        tail = [p(idx), ct.c_int64(n), ct.c_int64(32)]
        copy = lambda: ct.memmove(y.ctypes.data, x.ctypes.data, y.nbytes)
        run = ours(cx.plan("SW128(%d,64)[idx]" % (2 * n), "{A,B}", (n, 64), "u16"), y, x, idx)
        by_numpy = lambda: rows[idx[:, None], np.arange(8) ^ idx[:, None] % 8]
        assert not run() and np.array_equal(y.reshape(n, 8, 8), by_numpy())
        yield "SW128[idx]", 32, n, [run, lambda: np.take(flat, idx, axis=0, out=y), by_numpy, lambda: loop.loop_gather(p(y), p(x), *tail), copy]
        z, want = x.copy(), rows.copy()
        run = ours(cx.plan("{A,B}", "SW128(%d,64)[idx]" % (2 * n), (n, 64), "u16"), z, y, idx)
        put = lambda: want.__setitem__((idx[:, None], np.arange(8) ^ idx[:, None] % 8), y.reshape(n, 8, 8))
        put()
        assert not run() and np.array_equal(z.reshape(-1), want.reshape(-1))
        yield "SW128[idx] = ", 32, n, [run, None, put, lambda: loop.loop_scatter(p(z), p(y), *tail), copy]
        jdx, w = rng.integers(0, 64, 48), np.zeros((2 * n, 48), "u2")
        run = ours(cx.plan("SW128(%d,64)[:, idx]" % (2 * n), "{A,B}", w.shape, "u16"), w, x, jdx)
        m = np.arange(2 * n)[:, None]
        by_numpy = lambda: rows[m, jdx // 8 ^ m % 8, jdx % 8]
        assert not run() and np.array_equal(w, by_numpy())
        yield "SW128[:, idx]", 1, w.size, [run, lambda: np.take(flat, jdx, axis=1, out=w), by_numpy, None, lambda: ct.memmove(w.ctypes.data, x.ctypes.data, w.nbytes)]


def main():
    loop = built()
    print("| | elements in a row | rows | ravel us | np.take / ravel | fancy / ravel | loop / ravel | memcpy / ravel |\n|---|---|---|---|---|---|---|---|")
    with ravel.Context() as cx:
        assert not ravel.lib.ravel_set_threads(cx.p, args.threads, None, None, None)
        for what, width, n, ways in itertools.chain(dims(cx, loop), swizzled(cx, loop), blocked(cx, loop), channels(cx, loop), single(cx, loop), cases(cx, loop)):
            if args.only not in what:
                continue
            times = iter(medians([f for f in ways if f], args.rounds))
            cells = ["%.2f" % (next(times) * (1 if k else 1e6)) if f else "" for k, f in enumerate(ways)]
            print("| %s | %d | %d | %s |" % (what, width, n, " | ".join(cells)), flush=True)


main()
