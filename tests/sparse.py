"""ravel_sparse_* for the tests, and a plain evaluator of sparse formats that shares no code with them."""

import ctypes as ct
import itertools

import numpy as np

import ravel

ARRAYS = 34
ptr = ct.c_void_p
INDEX = {1: np.uint8, 4: np.int32, 8: np.int64}
VALUE = {"f32": "f4", "f64": "f8", "f16": "f2", "bf16": "u2", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8",
         "u64": "u8", "c64": "c8", "c128": "c16"}
PACKED = {"i4": 4, "u4": 4, "u2": 2, "u1": 1}       # here a value is its bits, in a byte
VALUE.update(dict.fromkeys(PACKED, "u1"))


class Request(ct.Structure):
    _fields_ = [("from_", ct.c_char_p), ("to", ct.c_char_p), ("dtype", ct.c_char_p), ("rank", ct.c_int), ("shape", ct.POINTER(ct.c_int64)),
                ("from_index", ct.c_int), ("to_index", ct.c_int), ("equal", ct.c_char_p), ("threshold", ct.c_double), ("mask", ct.c_int), ("zero_threshold", ct.c_int)]


class Array(ct.Structure):
    _fields_ = [("name", ct.c_char_p), ("dtype", ct.c_char_p), ("bytes", ct.c_int), ("bits", ct.c_int), ("role", ct.c_int)]


def functions(lib):
    size, err = ct.POINTER(ct.c_int64), ct.POINTER(ravel.Err)
    for name, result, *args in [
            ("compile", ct.c_int, ptr, ct.POINTER(Request), ct.POINTER(ptr), err), ("free", None, ptr),
            ("arrays", ct.c_int, ptr, ct.c_int, ct.POINTER(Array)), ("source", ct.c_char_p, ptr),
            ("sizes", ct.c_int, ptr, ct.POINTER(ptr), size, size, ct.POINTER(ptr), err),
            ("fill", ct.c_int, ptr, ct.POINTER(ptr), err), ("end", None, ptr)]:
        f = getattr(lib, "ravel_sparse_" + name)
        f.restype, f.argtypes = result, args
        ravel.FUNCTIONS.add("ravel_sparse_" + name)
    return lib


def check(status, err):
    if status:
        raise ravel.Error(ravel.STATUS[status], err.text.decode())


def pack(values, bits):
    """The bits of each value, the lowest first, one after the other."""
    v = np.asarray(values, "u1") & (1 << bits) - 1
    v = np.append(v, np.zeros(-v.size % (8 // bits), "u1")).reshape(-1, 8 // bits)
    return np.bitwise_or.reduce([v[:, k] << np.uint8(k * bits) for k in range(8 // bits)])


def unpack(data, n, bits):
    x = np.stack([data >> np.uint8(k) & np.uint8((1 << bits) - 1) for k in range(0, 8, bits)], 1).reshape(-1)
    assert not x[n:].any(), "bits after the last value"
    return x[:n]


class Plan:
    """A compiled conversion: plan(arrays of the source) -> {name: array} of the destination."""

    def __init__(self, cx, from_, to, shape, dtype="f32", index=(4, 4), equal="sum", threshold=0, mask=False):
        self.so, self.cx, self.err = functions(ravel.lib), cx, ravel.Err()
        self.at, self.index, self.dtype = ptr(), index, dtype
        n = (ct.c_int64 * max(len(shape), 1))(*shape)
        rq = Request(from_.encode(), to.encode(), dtype.encode(), len(shape), n, index[0], index[1], equal.encode() if equal else None,
                     threshold, mask)
        check(self.so.ravel_sparse_compile(cx.p, ct.byref(rq), ct.byref(self.at), ct.byref(self.err)), self.err)

    def names(self, side):
        out = (Array * ARRAYS)()
        n = self.so.ravel_sparse_arrays(self.at, side, out)
        return [(a.name.decode(), a.dtype.decode(), a.bytes) for a in out[:n]]

    def sizes(self, arrays):
        self.held = [np.ascontiguousarray(arrays[name]) for name, _, _ in self.names(0)]
        for (name, _, size), a in zip(self.names(0), self.held):
            assert a.itemsize == (size or 1), (name, a.dtype, size)
        n = [a.size for a in self.held]
        if self.dtype in PACKED and self.names(0)[-1][0] == "val":
            self.held[-1] = pack(self.held[-1], PACKED[self.dtype])
        data = (ptr * len(self.held))(*[a.ctypes.data for a in self.held])
        n = (ct.c_int64 * len(self.held))(*n)
        m, job = (ct.c_int64 * ARRAYS)(), ptr()
        check(self.so.ravel_sparse_sizes(self.at, data, n, m, ct.byref(job), ct.byref(self.err)), self.err)
        return m, job

    def __call__(self, arrays):
        m, job = self.sizes(arrays)
        out = {}
        for i, (name, dtype, size) in enumerate(self.names(1)):
            n = -(-m[i] * PACKED[dtype] // 8) if size == 0 else m[i] * size
            out[name] = np.frombuffer(bytearray(b"\x5a" * n), VALUE[dtype] if name == "val" else INDEX[size])
        data = (ptr * len(out))(*[a.ctypes.data for a in out.values()])
        status = self.so.ravel_sparse_fill(job, data, ct.byref(self.err))
        self.so.ravel_sparse_end(job)
        check(status, self.err)
        if self.names(1)[-1][2] == 0:
            out["val"] = unpack(out["val"], m[len(out) - 1], PACKED[self.dtype])
        return out

    def source(self):
        s = self.so.ravel_sparse_source(self.at)
        return s and s.decode()

    def __del__(self):
        if self.at:
            self.so.ravel_sparse_free(self.at)


NAMES = {"COO", "CSR", "CSC", "CSR_ANY", "CSC_ANY", "DCSR", "DCSC", "BSR", "BSR_ANY", "ELL", "DIA", "SELL", "JDS", "SEMI24", "SEMI24_16", "SEMI24_32"} | {k + str(n) for k in ("COO", "CSF") for n in range(3, 7)}

# The evaluator.  A format is a list of (kind, function of coordinates, number of coordinates, bias, repeats).  Entries are a list of
# (coordinates, value) in their order.

def levels_of(name, shape, **p):
    n = shape
    f = {"CSR": [("dense", lambda x: x[0], n[0]), ("compressed", lambda x: x[1], n[1])]}
    if len(shape) == 2:
        R, C = shape
        br, bc = p.get("BR", 4), p.get("BC", 4)
        f.update({
            "CSC": [("dense", lambda x: x[1], C), ("compressed", lambda x: x[0], R)],
            "DCSR": [("compressed", lambda x: x[0], R), ("compressed", lambda x: x[1], C)],
            "DCSC": [("compressed", lambda x: x[1], C), ("compressed", lambda x: x[0], R)],
            "COO": [("list", lambda x: x[0], R), ("singleton", lambda x: x[1], C)],
            "BSR": [("dense", lambda x: x[0]//br, -(-R//br)), ("compressed", lambda x: x[1]//bc, -(-C//bc)),
                    ("dense", lambda x: x[0] % br, br), ("dense", lambda x: x[1] % bc, bc)],
            "ELL": [("dense", lambda x: x[0], R), ("nth", None, 0), ("singleton", lambda x: x[1], C)],
            "DIA": [("compressed", lambda x: x[1] - x[0], R + C - 1, R - 1), ("dense", lambda x: x[1], C)],
            "SELL": [("ranked", lambda x: x[0], R, p.get("SIGMA", 256)), ("sliced", None, p.get("H", 32)), ("singleton", lambda x: x[1], C)],
            "JDS": [("ranked", lambda x: x[0], R, R), ("jagged", None, 0), ("singleton", lambda x: x[1], C)],
            "SEMI24": [("dense", lambda x: x[0], R), ("dense", lambda x: x[1]//4, -(-C//4)), ("nofm", lambda x: x[1] % 4, 4, 2)],
        })
    else:
        f["COO%d" % len(shape)] = [("list" if d == 0 else "singleton", lambda x, d=d: x[d], n[d]) for d in range(len(shape))]
        f["CSF%d" % len(shape)] = [("compressed", lambda x, d=d: x[d], n[d]) for d in range(len(shape))]
    return [(k[0], k[1], k[2], k[3] if len(k) > 3 else 0) for k in f[name]]


def store(levels, entries, dtype, index=4, fill=0):
    """The arrays of the entries, recursively from the outermost level; they must be distinct unless the first level is a list."""
    arrays, I = {}, INDEX[index]
    # parents: one list of entries for each position of the level above; None: a place without an entry
    parents = [list(entries)]
    for k, (kind, f, n, bias) in enumerate(levels, 1):
        below = []
        if kind == "dense":
            for group in parents:
                slots = [[] for _ in range(n)]
                for e in group or []:
                    slots[f(e[0])].append(e)
                below += slots
        elif kind == "compressed":
            pos, crd = [0], []
            for group in parents:
                keys = sorted({f(x) for x, _ in group or []})
                crd += keys
                below += [[e for e in group if f(e[0]) == key] for key in keys]
                pos.append(len(crd))
            arrays["pos%d" % k], arrays["crd%d" % k] = np.array(pos, I), np.array(crd, I)
        elif kind == "list":
            pos = [0]
            for group in parents:
                below += [[e] for e in group or []]
                pos.append(len(below))
            arrays["pos%d" % k] = np.array(pos, I)
            arrays["crd%d" % k] = np.array([f(g[0][0]) for g in below], I)
        elif kind == "nth":
            widest = max([len(g or []) for g in parents], default=0)
            for group in parents:
                group = sorted(group or [], key=lambda e: e[0])
                below += [[e] for e in group] + [None] * (widest - len(group))
        elif kind == "ranked":                       # bias: the window
            slots = [[e for e in parents[0] if f(e[0]) == i] for i in range(n)]
            order = [i for w in range(0, n, max(bias, 1)) for i in sorted(range(w, min(w + bias, n)), key=lambda i: -len(slots[i]))]
            arrays["crd%d" % k], below = np.array(order, I), [slots[i] for i in order]
        elif kind == "sliced":
            pos = [0]
            for i in range(0, len(parents), n):
                rows = [sorted(g, key=lambda e: e[0]) for g in parents[i:i + n] + [[]] * max(0, i + n - len(parents))]
                below += [[g[j]] if j < len(g) else None for j in range(max(map(len, rows))) for g in rows]
                pos.append(len(below))
            arrays["pos%d" % k] = np.array(pos, I)
        elif kind == "jagged":
            pos, rows = [0], [sorted(g, key=lambda e: e[0]) for g in parents]
            for j in range(max(map(len, rows), default=0)):
                below += [[g[j]] for g in rows if j < len(g)]
                pos.append(len(below))
            arrays["pos%d" % k] = np.array(pos, I)
        elif kind == "nofm":                         # n coordinates, `bias` of them stored
            codes, bits = 0, {2: 1, 4: 2, 16: 4}[n]
            for q, group in enumerate(parents):
                at = {f(e[0]): e for e in group}
                free = [c for c in range(n - bias, n) if c not in at]
                for j, c in enumerate(sorted([*at, *free[:bias - len(at)]])):
                    below.append([at[c]] if c in at else None)
                    codes |= c << (q * bias + j) * bits
            arrays["crd%d" % k] = np.frombuffer(codes.to_bytes(-(-len(parents) * bias * bits // 8), "little"), "u1")
        elif kind == "singleton":
            below = parents
            arrays["crd%d" % k] = np.array([f(g[0][0]) if g else -1 for g in below], I)
        parents = below
    val = np.full(len(parents), fill, VALUE[dtype])
    for i, g in enumerate(parents):
        if g:
            assert len(g) == 1
            val[i] = g[0][1]
    arrays["val"] = val
    return arrays


def entries_of(dense, keep=lambda v: v != 0):
    return [(x, dense[x]) for x in itertools.product(*map(range, dense.shape)) if keep(dense[x])]
