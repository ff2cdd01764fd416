"""A conversion as a person writes it: loops over the destination in storage order, an element (below a byte: a byte) at a time.

What the layouts come to is read from `ravel explain`.  Where both sides are digits that fit each other, the addresses of the loops have
constant strides; else the loops count the digits of the destination, and both addresses are formulas of the coordinates."""

import dataclasses
import re
import subprocess

import cases
from libs import Wrong

DIGIT = r"([A-Za-z]\w*)(?://(\d+))?(?:%(\d+))?"
TYPES = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t", 128: "unsigned __int128"}


class NoLoop(Exception):
    pass


@dataclasses.dataclass
class Side:
    """A layout of a case: `entries` are (simplified text, slots, stride), outermost first."""
    dims: list
    entries: list
    extents: list          # of the storage
    address: str
    swizzled: bool
    fill: int
    pitched: bool


def side(text, rank):
    declared = re.search(r"^  declared  \((.*?)\)\{(.*)\}$", text, re.M)
    names = re.split(r"\s*,\s*", declared[1]) if declared[1] else []
    at = names.index("...") if "..." in names else 0
    more = ["b%d" % k for k in range(rank - len(names) + 1)] if "..." in names else []
    table = re.findall(r"^  \S.*?\s+(\d+)\s+(\d+)   (\S.*)$", text, re.M)
    fill = re.search(r"\bfill = (\d+)", declared[2])
    return Side(names[:at] + more + names[at + 1:] if "..." in names else names,
                [(e, int(slots), int(stride)) for slots, stride, e in table],
                [int(n) for n in re.search(r"^  storage +\((.*)\)", text, re.M)[1].split(",")], re.search(r"^  address +(\S.*)$", text, re.M)[1],
                bool(re.search(r"^  swizzle ", text, re.M)), int(fill[1]) if fill else 0, "pitch = " in declared[2])


def explained(build, case):
    """Both sides, and the kernels of the plan."""
    r = subprocess.run([build/"ravel", "explain", "--from", case.src, "--to", case.dst, "--dtype", case.dtype, "--threads", "1",
                        "--shape", ",".join(map(str, case.shape))], capture_output=True, text=True)
    if r.returncode:
        raise Wrong(r.stderr.strip())
    parts = dict(re.findall(r"^(from|to|plan|kernels):?(.*?)(?=^\S|\Z)", r.stdout, re.M | re.S))
    kernels = re.findall(r"^  (\w+) +x\d+ ", parts.get("kernels", ""), re.M)
    return side(parts["from"], len(case.shape)), side(parts["to"], len(case.shape)), kernels


# --- constant strides

def digit(text):
    """(dim, low, size or None, whether it runs backwards) of an entry that is one digit, or None."""
    m = re.fullmatch(DIGIT, text) or re.fullmatch(r"-\(?%s\)? \+ \d+" % DIGIT, text)
    return m and (m[1], int(m[2] or 1), int(m[3]) if m[3] else None, text.startswith("-"))


def strides(s, at):
    """The stride of each piece (dim number, low), and the address of the first element; adds where it cuts to `at`."""
    out, base = [], 0
    for text, slots, stride in s.entries:
        found = digit(text)
        if text == "0" or slots == 1:
            continue
        if not found or s.swizzled:
            return None
        dim, low, _, back = found
        d = s.dims.index(dim)
        high = low*slots
        if back:
            base += stride*(slots - 1)
        at[d] |= {low, high}
        out.append((d, low, high, -stride if back else stride))
    return out, base


def loops(case, src, dst):
    """(extent, source stride, destination stride) of the pair, the destination's outermost first, and the first element of both; None
    where it is not so."""
    at = [{1, n} for n in case.shape]
    a, b = strides(src, at), strides(dst, at)
    at = [sorted(v) for v in at]
    if not a or not b or any(v[-1] != n or any(y % x for x, y in zip(v, v[1:])) for v, n in zip(at, case.shape)):
        return None

    def piece(of, d, x):
        return next((stride*(x//low) for e, low, high, stride in of[0] if e == d and low <= x < high), None)
    out = [(y//x, piece(a, d, x), piece(b, d, x)) for d, v in enumerate(at) for x, y in zip(v, v[1:])]
    if any(None in v for v in out):
        return None
    return cases.fused(sorted(out, key=lambda v: -abs(v[2]))), a[1], b[1]


def forward(nest):
    """The loops, where a library can be told them: no stride runs backwards."""
    return nest[0] if nest and nest[1:] == (0, 0) else None


# --- the text

def address_of(base, strides):
    return " + ".join([str(base)] + ["i%d*%d" % v for v in enumerate(strides)])


def nested(counts, body):
    heads = ["%sfor (long i%d = 0; i%d < %d; i%d++)" % ("    "*(k + 1), k, k, n, k) for k, n in enumerate(counts)]
    return heads + ["    "*(len(counts) + 1) + body]


def whole(nest, a, b):
    """Elements of whole bytes."""
    counts, of_src, of_dst = zip(*nest)
    return nested(counts, "d[%s] = s[%s];" % (address_of(b, of_dst), address_of(a, of_src)))


def byte_loops(nest, per):
    """The loops over whole bytes of the destination, and the source offsets of the elements of one; None where a byte is no part of them."""
    nest, offsets = list(nest), [0]
    while len(offsets) < per:
        if not nest or nest[-1][2] != len(offsets):
            return None
        n, i, o = nest.pop()
        take = min(n, per//len(offsets))
        if n % take or per % (take*len(offsets)):
            return None
        if n > take:
            nest.append((n//take, i*take, o*take))
        offsets = [k*i + x for k in range(take) for x in offsets]
    return nest, offsets


def packed(nest, a, b, bits):
    """Elements below a byte: a byte of the destination at once, or, where bytes are cut by loops, each element into its byte."""
    per = 8//bits
    split = byte_loops(nest, per)
    if not split or b % per or any(o % per for _, _, o in split[0]):
        counts, of_src, of_dst = zip(*nest)
        return nested(counts, set_element(address_of(b, of_dst), element(address_of(a, of_src), bits), bits))
    outer, offsets = split
    counts, of_src, of_dst = zip(*outer) if outer else ((), (), ())
    if any(i % per for i in of_src):
        got = [element(address_of(a + x, of_src), bits) for x in offsets]
    else:
        got = ["(s[%s] >> %d & %d)" % (address_of((a + x)//per, [i//per for i in of_src]), (a + x) % per*bits, (1 << bits) - 1) for x in offsets]
    return nested(counts, "d[%s] = (uint8_t)(%s);" % (address_of(b//per, [o//per for o in of_dst]),
                                                      " | ".join("%s << %d" % (g, k*bits) for k, g in enumerate(got))))


def element(address, bits):
    return "(s[(%s)/%d] >> (%s)%%%d*%d & %d)" % (address, 8//bits, address, 8//bits, bits, (1 << bits) - 1)


def set_element(to, value, bits):
    per = 8//bits
    return "{ unsigned long t = %s; d[t/%d] = (uint8_t)((d[t/%d] & ~(%d << t%%%d*%d)) | %s << t%%%d*%d); }" % (
        to, per, per, (1 << bits) - 1, per, bits, value, per, bits)


# --- formulas

def in_c(text, dims):
    """A formula of ravel's as C; dim k is xk."""
    def name(m):
        if m[0] not in dims:
            raise NoLoop("%s in an address" % m[0])
        return "x%d" % dims.index(m[0])
    return re.sub(r"[A-Za-z]\w*", name, text).replace("//", "/").replace("~", "^")


def counted(case, dst):
    """The digits of the destination as loops: (dim number, low, count)."""
    plain = [digit(e) for e, _, _ in dst.entries]
    held = [(f[0], f[1], f[1]*slots) for f, (_, slots, _) in zip(plain, dst.entries) if f]
    out = []
    for (text, slots, _), f in zip(dst.entries, plain):
        if f:
            out.append((dst.dims.index(f[0]), f[1], slots))
            continue
        for name, low, size in re.findall(DIGIT, text):
            d, low = dst.dims.index(name), int(low or 1)
            count = int(size) if size else slots if "~" in text else -(-case.shape[d]//low)
            if not any(e == name and x <= low and (low*count <= y or case.shape[d] <= y) for e, x, y in held):
                held.append((name, low, low*count))
                out.append((d, low, count))
    return out


def check_cover(case, digits):
    for d, n in enumerate(case.shape):
        low = 1
        for _, k, count in sorted(x for x in digits if x[0] == d):
            if k != low:
                raise NoLoop("the digits of the destination are not those of its entries")
            low *= count
        if low < n:
            raise NoLoop("the digits of the destination are not all there")


def formulas(case, src, dst):
    digits = counted(case, dst)
    check_cover(case, digits)
    coordinates, guards = [], []
    for d, n in enumerate(case.shape):
        mine = [(k, low, count) for k, (e, low, count) in enumerate(digits) if e == d]
        coordinates.append("x%d = %s" % (d, " + ".join("i%d*%d" % (k, low) if low > 1 else "i%d" % k for k, low, _ in mine) or "0"))
        if max([low*count for _, low, count in mine], default=1) > n:
            guards.append("x%d < %d" % (d, n))
    to, address = in_c(dst.address, dst.dims), in_c(src.address, src.dims)
    if case.bits < 8:
        put, pad = set_element(to, element(address, case.bits), case.bits), set_element(to, dst.fill, case.bits)
    else:
        put, pad = "d[%s] = s[%s];" % (to, address), "d[%s] = (T){%d};" % (to, dst.fill)
    if guards:
        put = "if (%s) %s else %s" % (" && ".join(guards), put, pad)
    used = [c for k, c in enumerate(coordinates) if re.search(r"\bx%d\b" % k, put)]
    return nested([n for _, _, n in digits], "{ const unsigned long %s; %s }" % (", ".join(used), put))


def source(case, src, dst, name="plain"):
    """The function as C.  NoLoop: a person would not write it as loops."""
    nest = loops(case, src, dst)
    if not nest:
        lines = formulas(case, src, dst)
    elif case.bits < 8:
        lines = packed(*nest, case.bits)
    else:
        lines = whole(*nest)
    return "\n".join(["#include <stdint.h>", "#undef T", "#define T %s" % TYPES[max(8, case.bits)],
                      "void %s(T *restrict d, const T *restrict s)" % name, "{", *lines, "}", ""])
