"""What is measured: the case lists as data, and a pair of layouts as strides or as oneDNN tags where it can be said so."""

import dataclasses
import math
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
BITS = {"f32": 32, "i32": 32, "f16": 16, "bf16": 16, "u16": 16, "u8": 8, "i8": 8, "u4": 4, "i4": 4, "u2": 2, "u1": 1, "f64": 64, "c128": 128}


@dataclasses.dataclass
class Case:
    name: str
    groups: list
    dtype: str
    shape: tuple
    src: str           # layouts as ravel reads them
    dst: str
    kind: str = ""     # of a drawn case: what it is, for peers that have it under a name

    @property
    def bits(self):
        return BITS[self.dtype]

    @property
    def elements(self):
        return math.prod(self.shape)


def rows(name):
    """The rows of a list of cases, cut at semicolons."""
    for line in (HERE/name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield [f.strip() for f in line.split(";")]


def numbers(text, sep=","):
    return tuple(int(n) for n in text.split(sep))


def named():
    for name, group, dtype, shape, pair in rows("cases.txt"):
        src, dst = (p.strip() for p in pair.split("->"))
        yield Case(name, [group], dtype, numbers(shape), src, dst)


def plain(dims, order):
    return "(%s){%s}" % (",".join(dims), ", ".join(order))


def ttc():
    """Column-major becomes row-major: axes and sizes in the reverse order."""
    for k, (perm, sizes, *more) in enumerate(rows("ttc.txt"), 1):
        perm, sizes = numbers(perm), numbers(sizes)
        d = len(perm)
        dims = "abcdef"[:d]
        order = [dims[d - 1 - perm[d - 1 - i]] for i in range(d)]
        name = "ttc %d: %s of %s" % (k, "".join(map(str, perm)), "x".join(map(str, sizes)))
        yield Case(name, ["ttc"] + more, "f32", sizes[::-1], plain(dims, dims), plain(dims, order))


def of_tag(tag):
    """aBcd8b -> (a,b,c,d){a, b//8, c, d, b%8}; several inner blocks of a dim are its digits, the last one the lowest."""
    outer, inner = re.fullmatch(r"([a-lA-L]+)((?:\d+[a-l])*)", tag).groups()
    low, digits = {}, []
    for n, d in reversed(re.findall(r"(\d+)([a-l])", inner)):
        of = "%s//%d" % (d, low[d]) if d in low else d
        digits.append("%s%%%s" % (of, n))
        low[d] = low.get(d, 1)*int(n)
    first = ["%s//%d" % (d.lower(), low[d.lower()]) if d.isupper() else d for d in outer]
    return plain(sorted(outer.lower()), first + digits[::-1])


def recorded():
    for dtype, src, dst, dims in rows("onednn.txt"):
        yield Case("%s %s-%s %s" % (dtype, src, dst, dims), ["models"], dtype, numbers(dims, "x"), of_tag(src), of_tag(dst))


def every():
    return list(named()) + list(ttc()) + list(recorded())


def scaled(case, limit):
    """The same case with its largest extents halved until it has no more than `limit` elements."""
    shape = list(case.shape)
    while math.prod(shape) > limit:
        k = shape.index(max(shape))
        shape[k] = -(-shape[k]//2)
    return dataclasses.replace(case, shape=tuple(shape))


# --- a layout as digits, (dim, low, high): dim // low % (high // low), high None for all the rest

DIGITS = re.compile(r"\((\w+(?:,\w+)*)\)\{((?:\s*[A-Za-z]\w*(?://\d+)?(?:%\d+)?\s*,?)+)\}")


def digits(layout):
    """Dims and digits, outermost first, of a layout without fields; None where an entry is something else."""
    parts = DIGITS.fullmatch(layout)
    if not parts:
        return None
    dims, order = parts.groups()
    out = []
    for entry in order.split(","):
        dim, low, size = re.fullmatch(r"\s*(\w+)(?://(\d+))?(?:%(\d+))?\s*", entry).groups()
        low = int(low or 1)
        out.append((dim, low, low*int(size) if size else None))
    return dims.split(","), out


def tag(layout):
    """The layout as oneDNN writes it, whether or not there is such a tag; None where a digit is neither outermost nor a block."""
    if not digits(layout):
        return None
    dims, order = digits(layout)
    letter = dict(zip(dims, "abcdefghijkl"))
    outer = [e for e in order if e[2] is None]
    inner = order[len(outer):]
    if any(e[2] is None for e in inner):
        return None
    return "".join(letter[d].upper() if low > 1 else letter[d] for d, low, _ in outer) + "".join(
        "%d%s" % (high//low, letter[d]) for d, low, high in inner)


def cuts(case):
    """Where each dim is cut by either layout; None when a block is not whole, or blocks do not nest."""
    if not digits(case.src) or not digits(case.dst):
        return None
    dims, a = digits(case.src)
    names, b = digits(case.dst)
    assert dims == names, case.name
    at = {d: {1, n} for d, n in zip(dims, case.shape)}
    for d, low, high in a + b:
        at[d] |= {low, high or low}
    at = {d: sorted(v) for d, v in at.items()}
    fits = all(v[-1] == n and all(y % x == 0 for x, y in zip(v, v[1:])) for (d, v), n in zip(at.items(), case.shape))
    return at if fits else None


def strides(order, at):
    """Stride, in elements, of every piece (dim, low) of a dense box of these digits."""
    out, step = {}, 1
    for d, low, high in reversed(order):
        for x, y in zip(at[d], at[d][1:]):
            if x >= low and (high is None or y <= high):
                out[d, x] = step
                step *= y//x
    return out


def fused(loops):
    """The same loops, as few as can be."""
    out = []
    for n, i, o in loops:
        if out and out[-1][1] == n*i and out[-1][2] == n*o:
            out[-1] = (out[-1][0]*n, i, o)
        else:
            out.append((n, i, o))
    return out or [(1, 1, 1)]


def nest(case):
    """The pair as loops (extent, source stride, destination stride) in elements, the destination's outermost first, as few as
    can be; None where it is no one strided copy."""
    at = cuts(case)
    if at is None:
        return None
    a, b = (strides(digits(x)[1], at) for x in (case.src, case.dst))
    loops = sorted(((y//x, a[d, x], b[d, x]) for d in at for x, y in zip(at[d], at[d][1:])), key=lambda v: -v[2])
    return fused(loops)
