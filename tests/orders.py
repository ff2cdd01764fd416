"""What an inline layout means, worked out from its text by Python: its own evaluator, nothing of the compiler's.

    (N,C){N, C//16, C%16, pad = {C = 32}, pitch = {N = 64}, fill = 7, swizzle = xor(1, 0, 2)}

Storage is a dense box with an axis for each entry, outermost first, extents as written.  Padding is where coordinates beyond
the shape land that no axis and no element objects to.
"""

import ast
import functools
import itertools
import math
import operator
import re
from dataclasses import dataclass

import numpy as np

import formulas as F
import formulas_bits
from formulas_base import ru

OPS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
       ast.Mod: operator.mod, ast.BitXor: operator.xor, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
       ast.LShift: operator.lshift, ast.RShift: operator.rshift}
BITWISE = (ast.BitXor, ast.BitOr, ast.BitAnd)


class Refused(ValueError):
    """The layout is none for this shape: two elements share an address, or it has no addresses."""


@dataclass
class Place:
    """A layout for one shape: addr as in formulas_base.Map; addresses of padding, and of each the element that "edge" repeats."""
    addr: np.ndarray
    size: int
    pad: np.ndarray
    edge: np.ndarray        # row-major numbers of elements; None unless it is the fill
    fill: object            # a number, "none", "edge"
    unfilled: int = 0       # slots that the fill, where it is declared, does not reach


def python(text):
    """Lua's operators have Python's names and ranks, but for xor; a bit is a digit."""
    return re.sub(r"(\w+)\[(\d+)\]", lambda m: "(%s//%d%%2)" % (m[1], 1 << int(m[2])), text.replace("~", "^"))


def span(x, top):
    """(least, most) of the expression as written, 0 <= dim <= top[dim]: x % 32 is 0..31 whatever x is, and what is written twice
    is one number."""
    low, high = interval(x, top)
    parts = list(whole_parts(x))
    spans = {ast.dump(p): interval(p, top) for p in parts}
    if len(parts) > len(spans) and math.prod(b - a + 1 for a, b in spans.values()) <= 1 << 16:
        seen = value(x, {k: np.arange(a, b + 1).reshape([-1] + [1]*i) for i, (k, (a, b)) in enumerate(spans.items())})
        low, high = max(low, int(seen.min())), min(high, int(seen.max()))
    return low, high


def is_whole(x):
    """Spans what it does whatever stands beside it: a dim, a remainder, bits; and such divided by a number."""
    if isinstance(x, ast.BinOp) and isinstance(x.op, (ast.FloorDiv, ast.RShift)):
        return is_whole(x.left)
    return isinstance(x, ast.Name) or isinstance(x, ast.BinOp) and isinstance(x.op, (ast.Mod,) + BITWISE)


def whole_parts(x):
    if is_whole(x):
        yield x
    else:
        for y in x.args if isinstance(x, ast.Call) else [x.left, x.right] if isinstance(x, ast.BinOp) else []:
            yield from whole_parts(y)


def value(x, of):
    if is_whole(x):
        return of[ast.dump(x)]
    if isinstance(x, ast.Constant):
        return np.int64(x.value)
    if isinstance(x, ast.Call):
        return functools.reduce(ENV[x.func.id], [value(y, of) for y in x.args])
    return OPS[type(x.op)](value(x.left, of), value(x.right, of))


def interval(x, top):
    if isinstance(x, ast.Constant):
        return x.value, x.value
    if isinstance(x, ast.Name):
        return top[x.id]
    if isinstance(x, ast.Call):
        ends = [interval(a, top) for a in x.args]
        pick = {"min": min, "max": max}[x.func.id]
        return pick(a for a, _ in ends), pick(b for _, b in ends)
    a, b = interval(x.left, top), interval(x.right, top)
    if isinstance(x.op, ast.Mod):
        return 0, b[1] - 1
    if isinstance(x.op, BITWISE):
        return bit_span(x.op, a, b)
    ends = [OPS[type(x.op)](p, q) for p in a for q in b]
    return min(ends), max(ends)


def bit_span(op, a, b):
    if min(a[0], b[0]) < 0:
        raise ValueError("bits of what may be negative as written: no interval")
    if not isinstance(op, ast.BitAnd):
        return 0, (1 << max(a[1], b[1]).bit_length()) - 1
    low_bits = [v[1] for v in (a, b) if v[0] == v[1] and v[1] & (v[1] + 1) == 0]      # x & 7 is x % 8
    return 0, max(low_bits) if low_bits else min(a[1], b[1])


def split(text):
    """At commas outside brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "({[") - (c in ")}]")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p.strip() for p in parts + [part] if p.strip()]


def dissect(text):
    """(dims in front or None, entries, settings), all as text."""
    front, body = re.fullmatch(r"(?:\((.*?)\))?\{(.*)\}", text).groups()
    items = split(body)
    settings = dict(re.split(r" *= *", p, maxsplit=1) for p in items if re.match(r"\w+ *=[^=]", p))
    return front and split(front), [p for p in items if not re.match(r"\w+ *=[^=]", p)], settings


FIELDS = {"pad", "pitch", "fill", "swizzle", "unit"}
BATCH = {"...": 1, "reverse(...)": -1}
ENV = {"min": np.minimum, "max": np.maximum, "__builtins__": {}}


def table(text):
    return {k.strip("[] "): int(v) for k, v in (p.split("=") for p in split(text.strip("{} ")))}


class Inline:
    def __init__(self, text):
        front, self.order, settings = dissect(text)
        self.params = {k: settings.pop(k) for k in set(settings) - FIELDS}
        named = re.findall(r"[A-Za-z]\w*", " ".join(self.order))
        ours = dict.fromkeys(n for n in named if n not in self.params and n not in {"min", "max", "reverse"})
        self.dims = [d for d in front or ours if d != "..."]
        self.batch = "..." in (front or self.order) or "reverse(...)" in self.order
        self.pad, self.pitch = table(settings.get("pad", "")), table(settings.get("pitch", ""))
        known = self.dims + list(map(str, range(1, len(self.order) + 1)))
        if set(self.pad) - set(self.dims) or any(k not in known or k in self.dims and k not in self.order for k in self.pitch):
            raise ValueError("a pad or pitch of nothing")
        if not set(self.params) - {"lanes", "registers"} <= set(re.findall(r"\w+", " ".join(self.order))):
            raise ValueError("a parameter that nothing uses")
        fill = settings.get("fill", "0")
        self.fill = fill.strip('"') if '"' in fill else float(fill)
        self.fills = "fill" in settings and self.fill != "none"
        self.swizzle, self.unit = self.function(settings.get("swizzle")), settings.get("unit")

    @staticmethod
    def function(text):
        if not text:
            return None
        if text.startswith("xor"):
            return lambda a: formulas_bits.cute_swizzle(a, *ast.literal_eval(text[3:]))
        return eval("lambda a: " + python(re.fullmatch(r"function\(a\) return (.*) end", text)[1]))

    def all_dims(self, rank):
        more = rank - len(self.dims)
        if more < 0 or (more and not self.batch):
            raise Refused("%d extents for dims %s" % (rank, self.dims))
        return ["b%d" % i for i in range(more)] + self.dims

    def spelled(self, dims):
        """Entries with batch dims by name, and for each the entry of the order that it is of."""
        lead = dims[:len(dims) - len(self.dims)]
        return [(x, i) for i, p in enumerate(self.order) for x in (lead[::BATCH[p]] if p in BATCH else [p])]

    def entries(self, coords, bits=32):
        """Of arrays of coordinates, one a dim."""
        out = eval(self.code(tuple(self.all_dims(len(coords))), bits)[1], ENV, dict(zip(self.dims, coords)))
        return [np.broadcast_to(x, np.broadcast(*coords).shape) for x in out]

    @functools.lru_cache(4)
    def code(self, dims, bits):
        """The entries as syntax, and compiled; parameters are numbers."""
        known = {"bytes": bits/8, "bits": bits}
        given = {k: int(eval(python(v), known)) for k, v in self.params.items()}
        words = re.compile(r"\b(%s)\b" % "|".join(list(given) + ["bits"]))
        text = words.sub(lambda m: str(given.get(m[1], bits)), ", ".join(x for x, _ in self.spelled(dims)))
        tree = ast.parse("[%s]" % python(text), mode="eval")
        return tree.body.elts, compile(tree, "order", "eval")

    def strides(self, entries, bits, extent):
        stride, out = 1, []
        for (x, i), n in reversed(list(zip(entries, extent))):
            unit = self.pitch.get(str(i + 1)) or self.pitch.get(x)
            if unit:
                total = ru(stride*bits, unit*8)
                if total % bits:
                    raise Refused("a pitch that is no whole number of elements")
                stride = total//bits
            out.append(stride)
            stride *= n
        return out[::-1], stride

    def map(self, a, bits):
        """The swizzle of element addresses."""
        if self.unit != '"bytes"':
            return self.swizzle(a)
        per, each = max(1, 8//bits), max(1, bits//8)
        to = self.swizzle(a//per*each)
        if (to % each).any():
            raise Refused("the swizzle moves parts of elements")
        return to//each*per + a % per

    def box(self, shape, bits):
        """(dims, their extents at least, entries, those compiled, their extents, strides, elements of storage)"""
        dims = self.all_dims(len(shape))
        least = [ru(n, self.pad.get(d, 1)) for d, n in zip(dims, shape)]
        spelled = self.spelled(dims)
        trees, code = self.code(tuple(dims), bits)
        top = {d: (0, n - 1) for d, n in zip(dims, least)}
        spans = [span(x, top) for x in trees]
        if any(low < 0 for low, _ in spans):
            raise ValueError("may be negative as written")
        extent = [high + 1 for _, high in spans]
        stride, size = self.strides(spelled, bits, extent)
        return dims, least, [x for x, _ in spelled], code, extent, stride, size

    def place(self, shape, bits):
        dims, least, entries, code, extent, stride, size = self.box(shape, bits)
        run = functools.partial(eval, code, ENV)
        padded = reach(run, dims, entries, extent, stride, least)
        for box in (padded, list(shape)):
            addr = address(run, dims, box, extent, stride)
            if addr is None or not tells_apart(addr, size):
                continue
            addr = self.map(addr, bits) if self.swizzle else addr
            if tells_apart(addr, size):
                break
        else:
            raise Refused("two elements share an address, or one has none")
        p = placed(addr, size, shape, self.fill)
        p.unfilled = math.prod(extent) - addr.size if self.fills else 0
        return p


inline = functools.lru_cache(32)(Inline)


def tells_apart(addr, size):
    """All different, all in the storage."""
    addr = np.asarray(addr)
    if addr.min() < 0 or addr.max() >= size:
        return False
    used = np.zeros(size, bool)
    used[addr] = True
    return np.count_nonzero(used) == addr.size


def address(run, dims, box, extent, stride):
    """Of all coordinates in the box; None where one leaves its axis."""
    total = np.zeros(box, np.int64)
    grid = {d: np.arange(n).reshape([-1 if k == i else 1 for k in range(len(box))]) for i, (d, n) in enumerate(zip(dims, box))}
    for x, n, s in zip(run(grid), extent, stride):
        x = np.asarray(x)
        if x.min() < 0 or x.max() >= n:
            return None
        total += x*s
    return total


def reach(run, dims, entries, extent, stride, least):
    """For each dim how many of its coordinates, the others 0, have a place of their own: at least `least`."""
    room = [math.prod(n for x, n in zip(entries, extent) if re.search(r"\b%s\b" % d, x)) for d in dims]
    line = [max(a, b) + 1 for a, b in zip(least, room)]
    at = [sum(line[:i]) for i in range(len(line) + 1)]
    env = {}
    for i, d in enumerate(dims):
        env[d] = np.zeros(at[-1], np.int64)
        env[d][at[i]:at[i+1]] = np.arange(line[i])
    total, inside = np.zeros(at[-1], np.int64), np.ones(at[-1], bool)
    for x, n, s in zip(run(env), extent, stride):
        total += x*s
        inside &= (0 <= np.asarray(x)) & (x < n)
    total, inside, out = total.tolist(), inside.tolist(), []
    for i, n in enumerate(least):
        seen = set()
        for a, good in zip(total[at[i]:at[i+1]], inside[at[i]:at[i+1]]):
            if not good or a in seen:
                break
            seen.add(a)
        out.append(max(n, len(seen)))
    return out


def placed(addr, size, shape, fill):
    if addr.shape == tuple(shape):
        return Place(addr, size, np.empty(0, np.int64), np.empty(0, np.int64), fill)
    pad = np.ones(addr.shape, bool)
    real = tuple(slice(n) for n in shape)
    pad[real] = False
    edge = None
    if fill == "edge":
        last = np.arange(math.prod(shape)).reshape(shape)
        for d, n in enumerate(addr.shape):
            last = last.take(np.minimum(np.arange(n), shape[d] - 1), axis=d)
        edge = last[pad]
    return Place(addr[real], size, addr[pad], edge, fill)


def catalogue(layout, shape, bits):
    """A Place from the formulas: all that is no element is padding, unless pitch left it."""
    f = F.LAYOUTS[F.parse(layout)[0]]
    if (f.rank or len(shape)) != len(shape) or bits not in (f.bits if isinstance(f.bits, tuple) else (f.bits or bits,)):
        raise Refused("not of this rank or width")
    m = F.evaluate(layout, shape, bits)
    if not tells_apart(m.addr, m.size):
        raise Refused("two elements share an address")
    used = np.zeros(m.size, bool)
    used[m.addr] = True
    return Place(m.addr, m.size, np.flatnonzero(~used) if m.storage else np.empty(0, int), None, m.fill)


def place(layout, shape, bits):
    return inline(layout).place(shape, bits) if layout[0] in "({" else catalogue(layout, shape, bits)


def dims(layout, names):
    return inline(layout).dims if layout[0] in "({" else names


# --- one relayout, expected

def encode(fill, bits):
    """Bits of a fill in the dtype that ravel.DTYPE has for this width."""
    if bits in (16, 32, 128):
        f32 = int(np.float32(fill).view(np.uint32))
        f64 = int(np.float64(fill).view(np.uint64))
        return {16: f32 >> 16, 32: f32, 128: f64}[bits]
    return int(fill) & ((1 << bits) - 1)


def passes(n, bits):
    """The numbers 0..n-1 in parts of `bits` bits, as many as it takes."""
    v = np.arange(n, dtype=np.uint64)
    return [v >> np.uint64(s) for s in itertools.takewhile(lambda s: s == 0 or n - 1 >> s, range(0, 64, min(bits, 64)))]
