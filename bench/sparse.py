"""make bench-sparse: sparse conversions beside SciPy, Eigen and hand-written loops: medians over rounds of the ratios of each round.  The others use one
thread, ravel --threads of them.

Each call includes the check of the source and the sizes.  ravel writes into arrays that the caller has allocated before; the others allocate their
results, and the loops check nothing."""

import argparse
import ctypes as ct
import os
import pathlib
import subprocess
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--build", default="build")
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--rows", type=int, default=4000)
parser.add_argument("--density", default="0.01,0.1")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--pairs", action="store_true", help="each of dense, COO, CSR, CSC and BSR to each, instead")
parser.add_argument("--kind", default="uniform", choices=["uniform", "band", "power"], help="where the entries of a large matrix are")
parser.add_argument("--memory", action="store_true", help="the peak of memory beyond the results, in index arrays of the larger side, instead of times")
parser.add_argument("--only", help="a pair, as COO,CSR")
args = parser.parse_args()
os.environ["RAVEL_BUILD"] = args.build
sys.path.insert(0, str(ROOT/"tests"))

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

import ravel  # noqa: E402
import sparse  # noqa: E402

warnings.simplefilter("ignore")


def built(compiler, source):
    so = ROOT/args.build/"bench"/(pathlib.Path(source).stem + ".so")
    so.parent.mkdir(exist_ok=True)
    r = subprocess.run([compiler, "-O3", "-march=native", "-DNDEBUG", "-shared", "-fPIC", "-I/usr/include/eigen3", "-o", so, ROOT/"bench"/source])
    return None if r.returncode else ct.CDLL(str(so))


class Ours:
    """A conversion, called with its arrays and its destination's arrays ready."""

    def __init__(self, cx, a, b, shape, source):
        self.plan = sparse.Plan(cx, a, b, shape, "f64")
        m, job = self.plan.sizes(source)
        self.plan.so.ravel_sparse_end(job)
        self.out = [np.empty(m[i] * size, "u1") for i, (_, _, size) in enumerate(self.plan.names(1))]
        self.held = [np.ascontiguousarray(source[name]) for name, _, _ in self.plan.names(0)]
        pointers = ct.c_void_p * sparse.ARRAYS
        self.to, self.src = pointers(*[x.ctypes.data for x in self.out]), pointers(*[x.ctypes.data for x in self.held])
        self.n, self.m = (ct.c_int64 * sparse.ARRAYS)(*[x.size for x in self.held]), (ct.c_int64 * sparse.ARRAYS)()

    def __call__(self):
        job, so = ct.c_void_p(), self.plan.so
        assert not so.ravel_sparse_sizes(self.plan.at, self.src, self.n, self.m, ct.byref(job), None)
        assert not so.ravel_sparse_fill(job, self.to, None)
        so.ravel_sparse_end(job)


OTHER = np.zeros(1 << 23)      # 64 MB


def timed(f):
    """Seconds of a call.  Other data go through the caches before: what a call frees, its next one would find there, but not what the caller keeps."""
    OTHER[:] += 1
    start = time.perf_counter()
    kept = f()
    end = time.perf_counter()
    del kept
    return end - start


def p(a):
    return ct.c_void_p(a.ctypes.data)


def drawn(rows, density):
    """A CSR matrix of random entries, in order; of a large one fewer than asked for, as entries of one place are joined."""
    if rows * rows < 1e9:
        m = sp.random(rows, rows, density, format="csr", random_state=1, dtype="f8")
    else:
        rng, n = np.random.default_rng(1), int(rows * rows * density)
        row, col = rng.integers(0, rows, (2, n), "i4")
        if args.kind == "band":
            col = np.clip(row + rng.integers(-50, 51, n, "i4"), 0, rows - 1)
        elif args.kind == "power":
            row = np.minimum(rows * rng.random(n)**3, rows - 1).astype("i4")
        m = sp.csr_matrix((rng.random(n), (row, col)), (rows, rows))
    m.sum_duplicates()
    return m


def eigen_way(lib, a, b, s, of, turned, dense):
    """Eigen's conversion from a to b, if there is one; `turned` are the arguments for columns instead of rows."""
    if not lib:
        return None
    r, c = of[-2:]
    rows, columns = [*of], [*turned]
    out = np.zeros(s["csr"].shape) if dense is not None and b == "ROW_MAJOR" else None
    return {("ROW_MAJOR", "CSR"): lambda: lib.eigen_dense_to_csr(p(dense), r, c),
            ("COO", "CSR"): lambda: lib.eigen_coo_to_csr(p(s["coo"].row), p(s["coo"].col), p(s["coo"].data), ct.c_int64(s["coo"].nnz), r, c),
            ("COO", "CSC"): lambda: lib.eigen_coo_to_csr(p(s["coo"].col), p(s["coo"].row), p(s["coo"].data), ct.c_int64(s["coo"].nnz), c, r),
            ("CSR", "CSC"): lambda: lib.eigen_csr_to_csc(*rows), ("CSC", "CSR"): lambda: lib.eigen_csr_to_csc(*columns),
            ("CSR", "ROW_MAJOR"): lambda: lib.eigen_csr_to_dense(*rows, p(out))}.get((a, b))


def pairs(m, lib, loop):
    """Each of five formats to each, as `cases` gives them."""
    del loop
    small = m.shape[0] * m.shape[1] < 1e9
    k = np.random.default_rng(2).permutation(m.nnz)
    coo, csc, bsr = m.tocoo(), m.tocsc(), m.tobsr((4, 4))
    coo = sp.coo_matrix((coo.data[k], (coo.row[k], coo.col[k])), m.shape)
    bsr.sort_indices()
    s, dense = {"csr": m, "coo": coo, "csc": csc, "bsr": bsr}, m.toarray() if small else None
    arrays = {"CSR": {"pos2": m.indptr, "crd2": m.indices, "val": m.data}, "CSC": {"pos2": csc.indptr, "crd2": csc.indices, "val": csc.data},
              "COO": {"pos1": np.array([0, m.nnz], "i4"), "crd1": coo.row, "crd2": coo.col, "val": coo.data},
              "BSR": {"pos2": bsr.indptr, "crd2": bsr.indices, "val": bsr.data.reshape(-1)}}
    of, turned = [[p(x.indptr), p(x.indices), p(x.data), ct.c_int64(m.nnz), *map(ct.c_int64, m.shape[::d])] for x, d in ((m, 1), (csc, -1))]
    to = {"CSR": lambda x: x.tocsr(copy=True), "CSC": lambda x: x.tocsc(copy=True), "COO": lambda x: x.tocoo(copy=True),
          "BSR": lambda x: x.copy() if x.format == "bsr" else x.tobsr((4, 4)), "ROW_MAJOR": lambda x: x.toarray()}
    made = {"CSR": sp.csr_matrix, "CSC": sp.csc_matrix, "COO": sp.coo_matrix, "BSR": lambda x: sp.bsr_matrix(x, blocksize=(4, 4))}
    if small:
        arrays["ROW_MAJOR"] = {"val": dense.reshape(-1)}
    for a in arrays:
        for b in arrays:
            way = (lambda b=b: made[b](dense)) if a == "ROW_MAJOR" else (lambda a=a, b=b: to[b](s[a.lower()]))
            if a != "ROW_MAJOR" or b != "ROW_MAJOR":
                yield a, b, arrays[a], way, eigen_way(lib, a, b, s, of, turned, dense), None


class Heap(ct.Structure):
    """glibc's mallinfo2."""
    _fields_ = [(n, ct.c_size_t) for n in "arena ordblks smblks hblks mapped usmblks fsmblks used free keepcost".split()]


def work_memory(ours):
    """Bytes of a plan with the work memory of a conversion, which it keeps: what it frees."""
    libc = ct.CDLL(None)
    libc.mallinfo2.restype = Heap
    ours()
    before = libc.mallinfo2()
    del ours.plan
    after = libc.mallinfo2()
    return before.mapped + before.used - after.mapped - after.used


def cases(m, lib, loop):
    """(from, to, the source's arrays, SciPy's way, Eigen's way, a loop)"""
    rows, cols = map(ct.c_int64, m.shape)
    rng = np.random.default_rng(2)
    small = m.shape[0] * m.shape[1] < 1e9          # a dense array of it fits memory
    dense, coo = m.toarray() if small else None, m.tocoo()
    k, coo_row = np.concatenate([rng.permutation(coo.nnz), rng.integers(0, coo.nnz, coo.nnz // 10)]), coo.row      # a tenth is there twice
    coo = sp.coo_matrix((coo.data[k], (coo.row[k], coo.col[k])), m.shape)
    csr = {"pos2": m.indptr, "crd2": m.indices, "val": m.data}
    of = [p(m.indptr), p(m.indices), p(m.data), ct.c_int64(m.nnz), rows, cols]
    if small:
        yield ("ROW_MAJOR", "CSR", {"val": dense.reshape(-1)}, lambda: sp.csr_matrix(dense),
               lib and (lambda: lib.eigen_dense_to_csr(p(dense), rows, cols)), lambda: loop.loop_dense_to_csr(p(dense), rows, cols))
    at = np.sort(k)
    inorder = sp.coo_matrix((m.data[at], (coo_row[at], m.indices[at])), m.shape)
    for name, x in ("COO", coo), ("COO in order", inorder):
        coos = [p(x.row), p(x.col), p(x.data), ct.c_int64(x.nnz), rows, cols]
        yield (name, "CSR", {"pos1": np.array([0, x.nnz], "i4"), "crd1": x.row, "crd2": x.col, "val": x.data}, x.tocsr,
               lib and (lambda: lib.eigen_coo_to_csr(*coos)), lambda: loop.loop_coo_to_csr(*coos))
    yield "CSR", "CSC", csr, m.tocsc, lib and (lambda: lib.eigen_csr_to_csc(*of)), lambda: loop.loop_csr_to_csc(*of)
    yield "CSR", "COO", csr, m.tocoo, None, None
    yield "CSR", "BSR", csr, lambda: m.tobsr((4, 4)), None, (lambda: loop.loop_csr_to_bsr(*of)) if small else None
    if args.kind != "power":                         # its fullest row makes ELL too large
        yield "CSR", "ELL", csr, None, None, None
    yield "CSR", "SELL", csr, None, None, None
    yield "CSR", "JDS", csr, None, None, None
    if not small:
        return
    out = np.zeros(m.shape)
    yield "CSR", "DIA", csr, m.todia, None, None
    yield "CSR", "ROW_MAJOR", csr, m.toarray, lib and (lambda: lib.eigen_csr_to_dense(*of, p(out))), None


def main():
    lib, loop = built("g++", "eigen.cc"), built("gcc", "sparse_loops.c")
    print("| density | from | to | index arrays |\n|---|---|---|---|" if args.memory else "| density | from | to | ravel ms | SciPy / ravel | Eigen / ravel | loop / ravel |\n|---|---|---|---|---|---|---|")
    with ravel.Context() as cx:
        assert not ravel.lib.ravel_set_threads(cx.p, args.threads, None, None, None)
        for density in map(float, args.density.split(",")):
            m = drawn(args.rows, density)
            for a, b, source, *others in (pairs if args.pairs else cases)(m, lib, loop):
                if args.only and args.only != a + "," + b:
                    continue
                ours = Ours(cx, a.partition(" ")[0], b, m.shape, source)
                if args.memory:
                    print("| %g | %s | %s | %.2f |" % (density, a, b, work_memory(ours) / (4 * max(m.nnz, m.shape[0]))), flush=True)
                    continue
                ways = [f for f in (ours, *others) if f]
                for f in ways:
                    f()
                rounds = [[timed(f) for f in ways[i % len(ways):] + ways[:i % len(ways)]] for i in range(args.rounds)]
                turned = [r[-(i % len(ways)):] + r[:-(i % len(ways))] if i % len(ways) else r for i, r in enumerate(rounds)]
                ratio = {f: "%.2f" % np.median([r[j] / r[0] for r in turned]) for j, f in enumerate(ways)}
                print("| %g | %s | %s | %.2f | %s |" % (density, a, b, 1e3 * np.median([r[0] for r in turned]), " | ".join(ratio.get(f, "") for f in others)), flush=True)


main()
