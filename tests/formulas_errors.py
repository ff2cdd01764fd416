"""The mistakes of the source documents, each the document's own code beside the truth, and those of the oracle's own tables."""

import math

import numpy as np

from formulas import BITS, cases, evaluate, GOLDEN, GOLDEN_SIZE, INVERSES, LAYOUTS, parse
from formulas_bits import seed83, seed83_inverse, seed84


# --- ERRORS: each returns (what the document claims, what holds), by running the document's own code against the truth.

def orbit(f, a):
    out = [a]
    while f(out[-1]) != a:
        out.append(f(out[-1]))
    return out


def bank_ways(f, unit):
    """Lanes of the worst bank when a warp reads column 0 of a 32 x 32 f32 matrix through the swizzle f.
    unit: bytes of what f is given; 32 banks of 4 bytes."""
    addr = {f(row*128//unit)*unit for row in range(32)}
    banks = [a//4 % 32 for a in addr]
    return max(banks.count(b) for b in banks)


def unswizzle_is_swizzle():
    """003 8.6: "the inverse of XOR is itself", unswizzle_address = swizzle_address; at 4."""
    return seed83(seed83(4)), seed83_inverse(seed83(4))


def swizzle83_order():
    """003 8.6: applied twice it is the identity."""
    return 2, math.lcm(*(len(orbit(seed83, a)) for a in range(1024)))


def swizzle83_banks():
    """003 8.3: spreads a warp over the banks (1 lane a bank)."""
    return 1, bank_ways(seed83, 1)


def swizzle83_banks_on_elements():
    return 1, bank_ways(seed83, 4)


def swizzle84_banks():
    """003 8.4 on `addr`: conflict-free only when addr counts 4-byte elements."""
    return 1, bank_ways(seed84, 1)


def greedy_inverse(offset, strides):
    """offset_to_indices of 003 4.3, also indices_from_offset of 4.5."""
    indices, rest = [], offset
    for s in strides:
        indices.append(rest//s)
        rest = rest % s
    return tuple(indices)


def searched_inverse(offset, strides, shape):
    return [i for i in np.ndindex(*shape) if sum(x*s for x, s in zip(i, strides)) == offset]


def strided_inverse_column_major():
    """003 4.3 on the column-major matrix of its own 4.4."""
    [true] = searched_inverse(3, (1, 2), (2, 3))
    return greedy_inverse(3, (1, 2)), true


def strided_inverse_broadcast():
    """003 4.3 on stride 0: divides by zero; the address has all the indices of its row."""
    try:
        claimed = greedy_inverse(1, (0, 1))
    except ZeroDivisionError:
        claimed = "division by zero"
    return claimed, searched_inverse(1, (0, 1), (3, 4))


def stored(layout, shape):
    """Row-major element numbers in the order of storage."""
    m = evaluate(layout, shape, 32)
    out = np.full(m.size, -1)
    out[m.addr.ravel()] = np.arange(m.addr.size)
    return out.tolist()


NHWC_FIGURE = [0, 9, 18, 1143, 1, 10]


def figure_nhwc():
    """000, NHWC of 2,64,3,3: first three values, then those around value 1."""
    s = stored("NHWC", (2, 64, 3, 3))
    p = s.index(1)
    return NHWC_FIGURE, s[:3] + s[p-1:p+2]


def figure_nhwc_is_hwnc():
    """What that figure does show."""
    s = np.arange(2*64*9).reshape(2, 64, 3, 3).transpose(2, 3, 0, 1).ravel().tolist()
    p = s.index(1)
    return NHWC_FIGURE, s[:3] + s[p-1:p+2]


def figure_nchw64():
    """000, NCHW64 of 2,64,3,3: 0000 0009 .. 0567 | 0001 0010 .. 0575 | 0002."""
    s = stored("NCHW64", (2, 64, 3, 3))
    return [0, 9, 567, 1, 10, 575, 2], s[:2] + s[63:66] + s[127:129]


def sparse_injective():
    """003 6.3: "not injective, so not invertible", on its CSR example: stored position -> coordinate."""
    row_ptr, col_ind = [0, 1, 2, 3], [1, 2, 0]
    at = [(r, col_ind[p]) for r in range(3) for p in range(row_ptr[r], row_ptr[r+1])]
    return False, len(set(at)) == len(at)


def c1_rounds_down():
    """hiascend.com English page on NC1HWC0: C1 = C / C0 rounded down; 17 channels."""
    return 17//16, evaluate("NC1HWC0", (1, 17, 4, 4), 16).storage[1]


def tensor_ncxhwx(n, c, h, w, C, H, W, x):
    """TensorNCxHWx<x>::operator() of CUTLASS tensor.h with its packed strides."""
    return c % x + x*w + x*W*h + x*W*H*(c//x) + H*W*C*n


def tensor_ncxhwx_collides():
    """CUTLASS: two elements of C48 2x2, x = 32; the true addresses have whole vectors for every n."""
    at = [(0, 32, 1, 0), (1, 0, 0, 0)]
    m = evaluate("NCHW32", (2, 48, 2, 2), 8).addr
    return tuple(tensor_ncxhwx(*i, 48, 2, 2, 32) for i in at), tuple(int(m[i]) for i in at)


ERRORS = {
    "003 8.6 unswizzle = swizzle": unswizzle_is_swizzle,
    "003 8.6 self-inverse": swizzle83_order,
    "003 8.3 bank conflicts, byte address": swizzle83_banks,
    "003 8.3 bank conflicts, element index": swizzle83_banks_on_elements,
    "003 8.4 bank conflicts, byte address": swizzle84_banks,
    "003 4.3 inverse of column-major": strided_inverse_column_major,
    "003 4.3 inverse with stride 0": strided_inverse_broadcast,
    "000 figure of NHWC": figure_nhwc,
    "000 figure of NCHW64": figure_nchw64,
    "003 6.3 sparse not injective": sparse_injective,
    "hiascend C1 rounds down": c1_rounds_down,
    "CUTLASS TensorNCxHWx with a short last vector": tensor_ncxhwx_collides,
}


def check():
    """Problems found in this file's own tables."""
    bad, count = [], 0
    for layout, shape, bits in cases():
        count += 1
        m = evaluate(layout, shape, bits)
        a = m.addr.ravel()
        where = "%s %s %d bits" % (layout, shape, bits)
        if m.addr.shape != tuple(shape) or m.addr.dtype != np.int64:
            bad.append(where + ": wrong array")
        if a.min() < 0 or a.max() >= m.size:
            bad.append(where + ": leaves its %d elements" % m.size)
        elif np.bincount(a).max() > 1:
            bad.append(where + ": collides")
        if a.size > 60000:
            bad.append(where + ": too large for a quick test")
        if m.storage and math.prod(m.storage) != m.size:
            bad.append(where + ": storage %s is not %d" % (m.storage, m.size))
        name, params = parse(layout)
        if name in INVERSES and not np.array_equal(INVERSES[name](a, **params), np.arange(a.size)):
            bad.append(where + ": inverse")
    for name, f in LAYOUTS.items():
        if len(f.shapes) < 6:
            bad.append(name + ": fewer than 6 shapes")
    for layout, shape, dtype, index, address in GOLDEN:
        got = int(evaluate(layout, shape, BITS[dtype]).addr[index])
        if got != address:
            bad.append("golden %s %s %s: %d, not %d" % (layout, shape, index, got, address))
    for layout, shape, dtype, size in GOLDEN_SIZE:
        got = evaluate(layout, shape, BITS[dtype]).size
        if got != size:
            bad.append("size of %s %s: %d, not %d" % (layout, shape, got, size))
    for name, f in ERRORS.items():
        claimed, true = f()
        if claimed == true:
            bad.append("%s: claim and truth agree" % name)
    return count, bad


if __name__ == "__main__":
    count, bad = check()
    for b in bad:
        print(b)
    for name, f in ERRORS.items():
        print("%-46s claimed %s, true %s" % ((name,) + f()))
    print("%d layouts, %d cases, %d golden points, %d problems" % (len(LAYOUTS), count, len(GOLDEN), len(bad)))
    raise SystemExit(bool(bad))
