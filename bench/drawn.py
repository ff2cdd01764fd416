"""Cases drawn by a seed: groups of conversions for which nothing was tuned.

Case k of a group depends on the seed, the group and k only, so fewer cases are the first of more.  A group is a function of
(draw, k); `draw` chooses, and bounds the size: `draw.room` is the number of elements that a case may have."""

import itertools
import math
import pathlib
import random
import re

import cases
from cases import Case

MANY = 2**27                                  # elements of a case: two tables of them are held, 8 bytes an element
LITTLE = 16                                   # cases a group with QUICK=1


class Draw(random.Random):
    def __init__(self, seed, group, k, limit):
        super().__init__("%d %s %d" % (seed, group, k))
        self.limit = limit

    def sized(self, bits, low, high):
        """Elements of `bits` bits that fill between low and high bytes; small and large tensors are equally likely."""
        bytes_ = math.exp(self.uniform(math.log(low), math.log(high)))
        self.room = max(1, min(int(bytes_*8/bits), MANY, self.limit or MANY))
        return self.room

    def near(self, n):
        """An extent of about n, rarely a round one."""
        return max(1, int(n*self.uniform(0.8, 1.25)))

    def split(self, n, parts):
        """About n as a product of extents, short and long ones."""
        cuts = sorted(self.uniform(0, 1) for _ in range(parts - 1))
        out = [max(2, round(n**(b - a))) for a, b in zip([0] + cuts, cuts + [1])]
        while math.prod(out) > n and max(out) > 1:
            most = out.index(max(out))
            out[most] = min(out[most] - 1, n*out[most]//math.prod(out)) or 1
        return out

    def rows(self, unit=1, odd=False):
        """Rows and columns of a matrix within the room; columns a multiple of `unit`."""
        r = max(1, int(self.room**self.uniform(0.35, 0.65)))
        c = max(1, self.room//r//unit)*unit
        return (r | 1, c | 1) if odd else (r, c)


def multiple(n, unit):
    return max(1, n//unit)*unit


def inline(dims, *entries, **fields):
    more = ["%s = %s" % f for f in fields.items()]
    return "(%s){%s}" % (",".join(dims), ", ".join(list(entries) + more))


def named(group, k, kind, dtype, shape, src, dst):
    return Case("%s %d: %s %s %s" % (group, k, kind, dtype, "x".join(map(str, shape))), [group], dtype, tuple(shape), src, dst, kind)


# --- permutations

def permuted(d, group, k, dtype, low, high):
    d.sized(cases.BITS[dtype], low, high)
    rank = d.randint(2, 6)
    shape = d.split(d.room, rank)
    d.shuffle(shape)
    dims, order = "abcdef"[:rank], list("abcdef"[:rank])
    while order == list(dims):
        d.shuffle(order)
    return named(group, k, "".join(order), dtype, shape, inline(dims, *dims), inline(dims, *order))


def random_(d, k):
    return permuted(d, "random", k, ["u4", "u8", "f16", "f32", "f64", "c128"][k % 6], 64 << 10, 64 << 20)


def cache(d, k):
    dtype = d.choice(["u8", "f16", "f32", "f64"])
    low, high = 4 << 10, 4 << 20
    if k % 2 == 0:
        return permuted(d, "cache", k, dtype, low, high)
    d.sized(cases.BITS[dtype], low, high)
    c = d.choice([16, 32, 64, 71, 3])
    w = max(1, math.isqrt(d.room//c))
    to = d.choice([("N", "H", "W", "C"), ("N", "C//16", "H", "W", "C%16"), ("N", "C//8", "H", "W", "C%8")])
    a, b = inline("NCHW", *"NCHW"), inline("NCHW", *to)
    if d.random() < 0.5:
        a, b = b, a
    return named("cache", k, "channels", dtype, (1, c, w, max(1, d.room//c//w)), a, b)


# --- the catalogue

# Written out, so that oneDNN has a tag for them; a test compares both.
WRITTEN = {name: inline("NCHW", *order) for name, order in {
    "NCHW": "NCHW", "NHWC": "NHWC", "CHWN": "CHWN", "HWCN": "HWCN",
    **{"NCHW%d" % x: ("N", "C//%d" % x, "H", "W", "C%%%d" % x) for x in (4, 8, 16, 32, 64)}}.items()}

FAMILIES = [
    ("NCHW", "NCHW NHWC CHWN HWCN NCHW4 NCHW8 NCHW16 NCHW32 NCHW64 CHWN4 NHWCD4 NC1HWC0 FRACTAL_Z".split(), "f32 f16 u8 i8 bf16".split()),
    ("NCDHW", "NCDHW NDHWC NDC1HWC0".split(), "f32 f16 u8".split()),
    ("MN", "BLOCKED_RR BLOCKED_CR{BM=16,BN=4} ROW_INTERLEAVED COL_INTERLEAVED VNNI2 VNNI4 AMX_B16 AMX_B8 FRACTAL_NZ FRACTAL_ZZ FRACTAL_ZN "
     "(M,N){M,N} (M,N){N,M} SW32 SW64 SW128 MORTON8 MORTON16 MORTON32".split(), "f32 f16 u8 f64".split()),
]

K_LAST, K_FIRST = {"SW32", "SW64", "SW128"}, {"VNNI2", "VNNI4", "AMX_B16", "AMX_B8"}


def short(layout):
    """The name of a catalogued layout, or the order of the dims."""
    return re.sub(r"^\(.*?\)|\{[A-Z]+=.*|[{},]", "", layout)


def pairs(d, k):
    dims, names, dtypes = FAMILIES[d.choices([0, 1, 2], [5, 1, 4])[0]]
    dtype = d.choice(dtypes)
    d.sized(cases.BITS[dtype], 64 << 10, 32 << 20)
    src, dst = d.sample(names, 2)
    while K_LAST & {src, dst} and K_FIRST & {src, dst}:       # a dim K in two places
        src, dst = d.sample(names, 2)
    if len(dims) == 2:
        shape = d.rows(odd=True)
    else:
        shape = [d.randint(1, 8), d.choice([3, 17, 20, 37, 71, 96, 130])]
        while math.prod(shape) > d.room:
            shape[shape.index(max(shape))] //= 2
        space = max(1, round((d.room/math.prod(shape))**(1/(len(dims) - 2))))
        shape += [max(1, min(space, d.near(space) | 1)) for _ in dims[2:]]
    return named("pairs", k, "%s-%s" % (short(src), short(dst)), dtype, shape, WRITTEN.get(src, src), WRITTEN.get(dst, dst))


# --- bits and nibbles

def order_in_word(d, dtype):
    """An order of the elements in a word: the bits of their number permuted, some turned over or xored with a later one."""
    size = d.choice({"u4": [2, 4, 8, 16], "u2": [4, 8, 16], "u1": [8, 16, 32, 64]}[dtype])
    bits = ["C[%d]" % b for b in range(size.bit_length() - 1)]
    d.shuffle(bits)
    for k in range(len(bits) - 1):
        if d.random() < 0.25:
            bits[k] += " ~ " + d.choice(bits[k + 1:]).split(" ")[-1]
    return size, ["C//%d" % size] + ["1 - (%s)" % b if d.random() < 0.25 else b for b in bits]


def word(d, dtype="u4"):
    size, entries = order_in_word(d, dtype)
    r, c = d.rows(size)
    return "word of %d" % size, dtype, (r, c), inline("RC", "R", "C"), inline("RC", "R", *entries)


PLAIN, TURNED = inline("RC", "R", "C"), inline("RC", "C", "R")


def tiles_of(d, r_unit, c_unit):
    r, c = d.rows()
    return multiple(r, r_unit), multiple(c, c_unit)


def mxfp4(d):
    return "j, j+16", "u4", d.rows(32), PLAIN, inline("RC", "R", "C//32", "C%16", "C//16%2")


def preshuffle(d):
    """AITER: 16 x 64 tiles of a row per lane, nibbles i and i + 4 of 8 in a byte."""
    return "preshuffle", "u4", tiles_of(d, 16, 64), PLAIN, inline("RC", "R//16", "C//64", "C//32%2", "R%16", "C//8%4", "C%4", "C//4%2")


PACKED = [
    lambda d: ("low-high", "u4", d.rows(odd=d.random() < 0.5), "INT4_LOW", "INT4_HIGH"),
    lambda d: ("high-low", "u4", d.rows(odd=d.random() < 0.5), "INT4_HIGH", "INT4_LOW"),
    lambda d: ("bits turned", "u1", d.rows(8), PLAIN, inline("RC", "R", "C//8", "7 - C%8")),
    lambda d: ("1-bit transpose", "u1", d.rows(odd=d.random() < 0.5), PLAIN, TURNED),
    lambda d: ("2-bit transpose", "u2", d.rows(odd=d.random() < 0.5), PLAIN, TURNED),
    lambda d: ("odd transpose", "u4", d.rows(odd=True), PLAIN, TURNED),
    lambda d: ("to AWQ", "u4", d.rows(8), "INT4_LOW", "AWQ"),
    lambda d: ("from AWQ", "u4", d.rows(8), "AWQ", "INT4_LOW"),
    lambda d: ("to MARLIN", "u4", tiles_of(d, 16, 64), "INT4_LOW", "MARLIN"),
    lambda d: ("from MARLIN", "u4", tiles_of(d, 16, 64), "MARLIN", "INT4_LOW"),
    preshuffle,
    mxfp4,
    word,
    lambda d: word(d, "u1"),
    lambda d: word(d, "u2"),
    lambda d: ("AWQ-MARLIN", "u4", tiles_of(d, 16, 64), "AWQ", "MARLIN"),
]


def packed(d, k):
    kind = PACKED[k % len(PACKED)]
    d.sized(4, 64 << 10, 16 << 20)
    return named("packed", k, *kind(d))


# --- pixels and samples

def image(d, channels):
    h, w = d.rows()
    return max(1, h//2), max(1, 2*w//channels), channels


def reordered(kind, channels, *entries):
    return lambda d: (kind, "u8", image(d, channels), inline("YXC", "Y", "X", "C"), inline("YXC", "Y", "X", *entries))


def byte_swap(d):
    w = d.choice([2, 4, 8])
    return "byte swap %d" % w, "u8", (max(1, d.room//w), w), inline("PB", "P", "B"), inline("PB", "P", "%d - B" % (w - 1))


def planes(d, back=False):
    channels, dtype = d.choice([2, 3, 4]), d.choice(["u8", "u8", "u16", "f32"])
    a, b = inline("YXC", "Y", "X", "C"), inline("YXC", "C", "Y", "X")
    return ("from %d planes" if back else "%d planes") % channels, dtype, image(d, channels), *((b, a) if back else (a, b))


def widened(d):
    return "3-4 channels", "u8", image(d, 3), inline("YXC", "Y", "X", "C"), inline("YXC", "Y", "X", "C%4", fill=255)


def uyvy(d, planar):
    """U Y V Y: to Y and interleaved U V (NV16), or to three planes (I422).  Planes are one entry, which ravel decides by looking at
    every element, so they are not large."""
    n = max(1, min(d.room//4, 2**20) if planar else d.room//4)
    to = ["1 - B%2", "P", "B//2"]
    if planar:
        to = ["(1 - B%%2)*(%d + B//2*%d + P) + B%%2*(2*P + B//2)" % (2*n, n)]
    return "UYVY to " + ("planes" if planar else "NV16"), "u8", (n, 4), inline("PB", "P", "B"), inline("PB", *to)


def samples(d):
    """24-bit samples of several channels: to planes, from planes, or to the other byte order."""
    channels = d.choice([1, 2, 2, 6])
    a, b = inline("TCB", "T", "C", "B"), inline("TCB", "C", "T", "B")
    how, a, b = d.choice([("to planes", a, b), ("from planes", b, a), ("byte order", a, inline("TCB", "T", "C", "2 - B"))])
    return "24-bit " + how, "u8", (max(1, d.room//3//channels), channels, 3), a, b


PIXELS = [
    reordered("BGR", 3, "2 - C"),
    reordered("RGBA-BGRA", 4, "C[1] ~ C[0] ~ 1", "C[0]"),
    byte_swap,
    samples,
    lambda d: uyvy(d, False),
    planes,
    widened,
    lambda d: planes(d, True),
    reordered("RGBA-ABGR", 4, "3 - C"),
    reordered("RGBA-ARGB", 4, "C[1] ~ C[0]", "1 - C[0]"),
    lambda d: uyvy(d, True),
    samples,
]


def pixels(d, k):
    d.sized(8, 64 << 10, 64 << 20)
    return named("pixels", k, *PIXELS[k % len(PIXELS)](d))


# --- tiles

FRAGMENTS = [("MMA_A", "f16", 16, 16), ("MMA_A", "u8", 16, 32), ("MMA_B", "f16", 8, 16), ("MMA_B", "u8", 8, 32), ("MMA_C", "f32", 16, 8),
             ("MMA_A", "f32", 16, 8), ("MMA_A", "u4", 16, 64), ("MFMA16_A", "f16", 16, 16), ("MFMA32_A", "u8", 32, 16),
             ("MFMA32_D", "f32", 32, 32), ("WMMA_RDNA4_A", "f16", 16, 16), ("WMMA_RDNA3_D", "f32", 16, 16), ("MFMA16_D", "f32", 16, 16)]


def ways(d, kind, dtype, shape, tile):
    a, b = (tile, inline("RC", "R", "C")) if d.random() < 0.5 else (inline("RC", "R", "C"), tile)
    return kind + (" from" if a == tile else " to"), dtype, shape, a, b


def with_type(d, *dtypes):
    """The type is drawn before the size, which is of bytes."""
    dtype = d.choice(dtypes)
    d.sized(cases.BITS[dtype], 64 << 10, 32 << 20)
    return dtype


def morton(d):
    side = d.choice([8, 16, 32])
    dtype = with_type(d, "u8", "f16", "f32", "f64")
    return ways(d, "MORTON%d" % side, dtype, tiles_of(d, side, side), "MORTON%d" % side)


def smem(d):
    name = d.choice(["SW32", "SW64", "SW128"])
    dtype = with_type(d, "u8", "f16", "f32")
    return ways(d, name, dtype, tiles_of(d, 8, 128*8//cases.BITS[dtype]), name)


def swizzle(d):
    b, s = d.randint(1, 4), d.randint(4, 5)
    m = d.randint(0, 4)
    dtype = with_type(d, "u8", "f16", "f32")
    return ways(d, "xor %d %d %d" % (b, m, s), dtype, tiles_of(d, 8, 1024), "SWIZZLE{B=%d, M=%d, S=%d}" % (b, m, s))


def fragment(d):
    name, dtype, r, c = d.choice(FRAGMENTS)
    with_type(d, dtype)
    return ways(d, name, dtype, tiles_of(d, r, c), name)


def scales(d):
    with_type(d, "u8")
    return ways(d, "SF128x4", "u8", d.rows() if d.random() < 0.5 else tiles_of(d, 128, 4), "SF128x4")


def weights(d):
    name, dtype, r, c = d.choice([("VNNI2", "bf16", 2, 16), ("VNNI4", "i8", 4, 16), ("AMX_B16", "bf16", 32, 64), ("AMX_B8", "i8", 64, 64),
                                  ("FRACTAL_NZ", "f16", 16, 16), ("FRACTAL_ZN", "f16", 16, 16), ("BLOCKED_RR", "f32", 8, 8)])
    with_type(d, dtype)
    return ways(d, name, dtype, tiles_of(d, r, c), name)


TILES = [morton, fragment, scales, smem, swizzle, fragment, weights]


def tiles(d, k):
    return named("tiles", k, *TILES[k % len(TILES)](d))


# --- recorded reorders

def models(d, k):
    """A recorded reorder with other extents: those above a block between half and twice as long."""
    dtype, src, dst, dims = RECORDED[k]
    d.sized(cases.BITS[dtype], 64 << 20, (64 << 20) + 1)
    shape = [n if n <= 8 else d.near(n*2**d.uniform(-1, 1)) for n in cases.numbers(dims, "x")]
    case = Case("", [], dtype, tuple(shape), cases.of_tag(src), cases.of_tag(dst))
    return named("models", k, "%s-%s" % (src, dst), dtype, cases.scaled(case, d.room).shape, case.src, case.dst)


RECORDED = list(cases.rows("onednn.txt")) + list(cases.rows("recorded.txt"))

GROUPS = {"random": (random_, 200), "pairs": (pairs, 100), "packed": (packed, 64), "pixels": (pixels, 60), "tiles": (tiles, 63),
          "models": (models, len(RECORDED)), "cache": (cache, 60)}


def options(p, worst):
    """What tools that time drawn cases have in common."""
    p.add_argument("--build", type=pathlib.Path, default="build")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--groups", default=",".join(GROUPS), help="drawn ones (%(default)s) or those of the lists: headline ttc narrow padded int4 cache")
    p.add_argument("--cases", type=int, default=LITTLE, help="of each group (%(default)s)")
    p.add_argument("--largest", type=int, default=1 << 23, help="elements of a case (%(default)s)")
    p.add_argument("--worst", type=int, default=worst, help="cases shown (%(default)s)")


def chosen(o):
    """(group, case) for these options: the drawn cases of each group; of a group of the lists all, the extents of large ones halved."""
    for g in o.groups.split(","):
        if g in GROUPS:
            found = (GROUPS[g][0](Draw(o.seed, g, k, o.largest), k) for k in range(o.cases))
        else:
            found = (cases.scaled(c, o.largest) for c in cases.every() if g in c.groups)
        yield from ((g, c) for c in found if c)


def mean(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values))/len(values))


def every(seed, groups=None, quick=False, limit=None):
    """The cases of a seed.  quick: a few of each group.  limit: elements that a case may have, for tests."""
    out = []
    for group in groups or GROUPS:
        make, n = GROUPS[group]
        step = n//LITTLE if quick and group == "models" else 1
        out += [make(Draw(seed, group, k, limit), k) for k in itertools.islice(range(0, n, step), LITTLE if quick else n)]
    return out
