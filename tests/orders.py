"""What an inline layout means, worked out from its text by Python: its own evaluator, nothing of the compiler's.

    (N,C){N, C//16, C%16, pad = {C = 32}, pitch = {N = 64}, fill = 7, swizzle = xor(1, 0, 2)}

Storage is a dense box with an axis for each entry, outermost first, extents as written.  Padding is where coordinates beyond
the shape land that no axis and no element objects to.
"""

import ast
import itertools
import math
import operator
import re
from dataclasses import dataclass

import numpy as np

import formulas as F

OPS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
       ast.Mod: operator.mod, ast.BitXor: operator.xor, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
       ast.LShift: operator.lshift, ast.RShift: operator.rshift}


@dataclass
class Place:
    """A layout for one shape: addr as in F.Map; addresses of padding, and of each the element that "edge" repeats."""
    addr: np.ndarray
    size: int
    pad: np.ndarray
    edge: np.ndarray        # row-major numbers of elements
    fill: object            # a number, "none", "edge"


def python(text):
    """Lua's operators have Python's names and ranks, but for xor."""
    return ast.parse(text.strip().replace("~", "^"), mode="eval").body


def value(x, env):
    if isinstance(x, ast.Constant):
        return x.value
    if isinstance(x, ast.Name):
        return env[x.id]
    if isinstance(x, ast.Subscript):
        return value(x.value, env) >> value(x.slice, env) & 1
    return OPS[type(x.op)](value(x.left, env), value(x.right, env))


def largest(x, top):
    """(least, most) of the expression as written: x % 32 is 0..31 whatever x is."""
    if isinstance(x, ast.Constant):
        return x.value, x.value
    if isinstance(x, ast.Name):
        return 0, top[x.id]
    if isinstance(x, ast.Subscript):
        return 0, 1
    if isinstance(x.op, ast.Mod):
        return 0, value(x.right, {}) - 1
    a, b = largest(x.left, top), largest(x.right, top)
    if isinstance(x.op, (ast.BitXor, ast.BitOr, ast.BitAnd)) and min(a[0], b[0]) < 0:
        raise ValueError("bits of what may be negative as written: no interval")
    if isinstance(x.op, (ast.BitXor, ast.BitOr)):
        return 0, (1 << max(a[1], b[1]).bit_length()) - 1
    if isinstance(x.op, ast.BitAnd):
        return 0, min(a[1], b[1])
    ends = [OPS[type(x.op)](p, q) for p in a for q in b]
    return min(ends), max(ends)


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


class Inline:
    def __init__(self, text):
        front, body = re.fullmatch(r"(?:\((.*?)\))?\{(.*)\}", text).groups()
        items = split(body)
        self.order = [python(p) for p in items if not re.match(r"\w+ *=", p)]
        settings = dict(re.split(r" *= *", p, maxsplit=1) for p in items if re.match(r"\w+ *=", p))
        named = re.findall(r"[A-Za-z]\w*", " ".join(p for p in items if not re.match(r"\w+ *=", p)))
        self.dims = split(front) if front else list(dict.fromkeys(named))
        self.pad = self.table(settings.get("pad", "{}"))
        self.pitch = self.table(settings.get("pitch", "{}"))
        fill = settings.get("fill", "0")
        self.fill = fill.strip('"') if '"' in fill else float(fill)
        self.swizzle = self.function(settings.get("swizzle"))

    @staticmethod
    def table(text):
        return {k.strip("[] "): int(v) for k, v in (p.split("=") for p in split(text.strip("{} ")))}

    @staticmethod
    def function(text):
        if not text:
            return lambda a: a
        if text.startswith("xor"):
            return lambda a: F.cute_swizzle(a, *ast.literal_eval(text[3:]))
        body = python(re.fullmatch(r"function\(a\) return (.*) end", text)[1])
        return lambda a: value(body, {"a": a})

    def entries(self, coords):
        env = dict(zip(self.dims, coords))
        return [np.broadcast_to(value(x, env), np.broadcast(*coords).shape) for x in self.order]

    def strides(self, bits, extent):
        stride, out = 1, []
        for i in reversed(range(len(extent))):
            x = self.order[i]
            unit = self.pitch.get(str(i + 1)) or self.pitch.get(x.id if isinstance(x, ast.Name) else None)
            if unit:
                stride = F.ru(stride*bits, unit*8)//bits
            out.append(stride)
            stride *= extent[i]
        return out[::-1], stride

    def along(self, d, extent, stride, least, rank):
        """Coordinates of dim d, the others 0, that have a place of their own: at least `least`."""
        line = np.arange(max(least, math.prod(extent)) + 1)
        at = self.entries([line if k == d else np.zeros_like(line) for k in range(rank)])
        inside = np.all([(0 <= e) & (e < n) for e, n in zip(at, extent)], axis=0)
        addr = sum(e*s for e, s in zip(at, stride))
        new = np.zeros(line.size, bool)
        new[np.unique(addr, return_index=True)[1]] = True
        return int(np.argmin(np.append(inside & new, False)))

    def place(self, shape, bits):
        least = [F.ru(n, self.pad.get(d, 1)) for d, n in zip(self.dims, shape)]
        top = {d: n - 1 for d, n in zip(self.dims, least)}
        extent = [largest(x, top)[1] + 1 for x in self.order]
        stride, size = self.strides(bits, extent)
        padded = [self.along(d, extent, stride, n, len(shape)) for d, n in enumerate(least)]
        grid = np.indices(padded)
        addr = self.swizzle(sum(e*s for e, s in zip(self.entries(list(grid)), stride)))
        real = np.all([g < n for g, n in zip(grid, shape)], axis=0)
        clamped = [np.minimum(g[~real], n - 1) for g, n in zip(grid, shape)]
        edge = np.ravel_multi_index(clamped, shape)
        return Place(addr[real].reshape(shape), size, addr[~real], edge, self.fill)


def catalogue(layout, shape, bits):
    """A Place from the formulas: all that is no element is padding, unless pitch left it."""
    m = F.evaluate(layout, shape, bits)
    used = np.zeros(m.size, bool)
    used[m.addr] = True
    return Place(m.addr, m.size, np.flatnonzero(~used) if m.storage else np.empty(0, int), None, 0)


def place(layout, shape, bits):
    return Inline(layout).place(shape, bits) if layout[0] in "({" else catalogue(layout, shape, bits)


def dims(layout, names):
    return Inline(layout).dims if layout[0] in "({" else names


# --- random layouts

def cut(rng, name, n):
    """The digits of one dim, as (text, slots, reversible); the highest is open."""
    digits, low = [], 1
    while rng.random() < 0.55 and len(digits) < 4:
        k = int(rng.choice([2, 2, 3, 4, 4, 5, 6, 8, 16]))
        if low*k > 4*n + 8:
            break
        of = name if low == 1 else "%s//%d" % (name, low)
        digits.append(("%s%%%d" % (of, k), k, True))
        low *= k
    return digits + [(name if low == 1 else "%s//%d" % (name, low), None, False)]


def decorated(rng, digits):
    """Some digits backwards, some joined, some xored with one that stands elsewhere."""
    out = []
    for text, slots, closed in digits:
        if closed and rng.random() < 0.12:
            text = "%d - %s" % (slots - 1, text)
        elif closed and slots in (2, 4, 8, 16) and rng.random() < 0.25:
            other = [t for t, n, c in digits if c and n == slots and t != text and not any(t in o for o in out if "~" in o)]
            if other and not any("(%s)" % text in o for o in out):
                text = "(%s) ~ (%s)" % (text, other[0])
        out.append(text)
    return out


def random_layout(rng, names, shape):
    digits = [d for name, n in zip(names, shape) for d in cut(rng, name, n)]
    rng.shuffle(digits)
    parts = decorated(rng, digits)
    if len(parts) > 2 and rng.random() < 0.2 and digits[-1][2] and digits[-1][0][0] != digits[-2][0][0] and \
            "~" not in parts[-1] + parts[-2]:
        parts[-2:] = ["%d*(%s) + %s" % (digits[-1][1], parts[-2], parts[-1])]
    whole = [i for i, p in enumerate(parts) if p in names]
    if rng.random() < 0.15:
        d = int(rng.integers(len(names)))
        parts.append("pad = {%s = %d}" % (names[d], int(rng.choice([2, 3, 4, 8]))))
    if whole and rng.random() < 0.15:
        parts.append("pitch = {%s = %d}" % (parts[whole[0]], int(rng.choice([16, 32, 64]))))
    if rng.random() < 0.4:
        parts.append("fill = " + str(rng.choice(['"none"', '"edge"', "1"])))
    order = list(names)
    rng.shuffle(order)
    text = "(%s){%s}" % (",".join(order), ", ".join(parts))
    return with_swizzle(rng, text, [shape[names.index(d)] for d in order])


def with_swizzle(rng, text, shape):
    """Now and then an xor on the address, where the storage is whole blocks of it."""
    if "pitch" in text or rng.random() < 0.7:
        return text
    low, bits = int(rng.integers(0, 3)), int(rng.integers(1, 4))
    apart = bits + int(rng.integers(0, 2))
    if Inline(text).place(shape, 8).size % (1 << (low + apart + bits)):
        return text
    return text[:-1] + str(rng.choice([
        ", swizzle = xor(%d, %d, %d)}" % (bits, low, apart),
        ", swizzle = function(a) return a ~ (a >> %d & %d) << %d end}" % (low + apart, (1 << bits) - 1, low)]))


def spoiled(rng, text):
    """One entry left out, doubled, or with another number in it: often one-to-one no more."""
    front, body = text[:-1].split("){", 1)
    parts = [p for p in split(body) if "=" not in p]
    i = int(rng.integers(len(parts)))
    how = int(rng.integers(4))
    if how == 0 and len(parts) > 1 and not any(d not in "".join(parts[:i] + parts[i+1:]) for d in front[1:].split(",")):
        del parts[i]
    elif how == 1:
        parts[i] = re.sub(r"%(\d+)", lambda m: "%" + str(max(2, int(m[1]) + int(rng.integers(-1, 2)))), parts[i])
    elif how == 2:
        parts[i] = re.sub(r"//(\d+)", lambda m: "//" + str(int(m[1])*2), parts[i])
    elif len(parts) > 1:
        parts[i] = "(%s) ~ (%s)" % (parts[i], parts[i - 1])
    return front + "){" + ", ".join(parts) + "}"


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
