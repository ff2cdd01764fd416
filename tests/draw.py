"""Random relayouts: layouts of every kind the spec language has, for small shapes, and pairs of them."""

import inspect
import re

import formulas as F
import orders as O
import relayouts as R

WIDTHS = [1, 2, 4, 8, 16, 32, 64, 128]
FILLS = {1: [1], 2: [1, 2, 3], 4: [1, 9, 15], 8: [1, 127, 200], 16: [1, -2.5, 0.5], 32: [1, -0.25, 3], 64: [1, -3, 65537],
         128: [1, -2.5]}
EXTENTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 19, 23, 31, 32, 37, 64, 97]
BUDGETS = [24, 60, 150, 150, 400, 400, 400, 900, 2500]    # elements at most
ROOM = 8000                                           # elements of storage at most


def shape_of(rng, rank):
    """Extents with a product within one of BUDGETS; primes, ones and powers of two."""
    left, out = rng.choice(BUDGETS), []
    for more in reversed(range(rank)):
        most = max(1, left//2**more) if rng.random() < 0.8 else left
        n = rng.choice([e for e in EXTENTS if e <= most])
        left //= n
        out.append(n)
    rng.shuffle(out)
    return tuple(out)


def written(front, entries, fields):
    return front + "{%s}" % ", ".join(entries + ["%s = %s" % f for f in fields.items()])


class Layout:
    """One inline layout being drawn; `text` is it."""
    def __init__(self, rng, names, shape, bits):
        self.rng, self.names, self.shape, self.bits = rng, names, shape, bits
        self.settings, self.fill_free, self.params, self.pads = {}, True, {}, {}

    def often(self, p):
        return self.rng.random() < p

    def digit(self, name, low, k):
        """name//low % k, spelled in one of the ways there are; k None: open."""
        two = low & (low - 1) == 0 and k and k & (k - 1) == 0
        if k is None:
            return name if low == 1 else self.rng.choice(["%s//%d" % (name, low)]*4 + (
                ["%s >> %d" % (name, low.bit_length() - 1)] if low & (low - 1) == 0 else []))
        if k == 2 and two and self.often(0.5):
            return "%s[%d]" % (name, low.bit_length() - 1)
        if low == 1:
            return "%s & %d" % (name, k - 1) if two and self.often(0.1) else "%s%%%d" % (name, k)
        return self.rng.choice(["%s//%d%%%d" % (name, low, k)]*4 + ["%s%%%d//%d" % (name, low*k, low)])

    def cut(self, name, n):
        """The digits of one dim: (text, slots, None if open)."""
        out, low = [], 1
        while self.often(0.55) and len(out) < 4:
            k = self.rng.choice([2, 2, 2, 3, 4, 4, 5, 6, 7, 8, 9, 13, 16, 32])
            if low*k > 2*n + 2:
                break
            out.append((self.digit(name, low, k), k))
            low *= k
        if low >= n and out and self.often(0.4):      # the digits so far are enough
            return out
        return out + [(self.digit(name, low, None), None)]

    def remainders(self, name, n):
        """A dim told by its remainders of coprime numbers."""
        p, q = self.rng.choice([(2, 3), (3, 4), (3, 5), (4, 7), (5, 8), (7, 9), (8, 9)])
        if p*q < n:
            return None
        if self.often(0.5):
            self.pads[name] = p*q
        else:
            self.fill_free = False            # what lies between n and p*q may be a hole
        return [("%s%%%d" % (name, p), p), ("%s%%%d" % (name, q), q)]

    def ends(self, name, n):
        """A dim in two runs that take turns: min and max."""
        k = self.rng.randrange(1, max(2, n))
        self.fill_free = False                # most slots are holes
        return [("max(%s - %d, 0)" % (name, k), None), ("min(%s, %d)" % (name, k), None)]

    def parts(self, name, n):
        x = self.rng.random()
        return (x < 0.04 and self.remainders(name, n)) or (0.04 < x < 0.1 and n > 1 and self.ends(name, n)) or self.cut(name, n)

    def decorate(self, digits):
        """Some digits backwards, some xored with others that stand elsewhere as they are."""
        out, lent = [], set()
        for i, (text, k) in enumerate(digits):
            two = k in (2, 4, 8, 16, 32)
            if k and self.often(0.1):
                text = "%d - (%s)" % (k - 1, text) if not two or self.often(0.6) else "(%s) ~ %d" % (text, self.rng.randrange(k))
            elif two and i not in lent and self.often(0.22):
                other = [j for j, (t, m) in enumerate(digits) if j > i and m and m <= k and m & (m - 1) == 0]
                if other:
                    j = self.rng.choice(other)
                    text = self.rng.choice(["(%s) ~ (%s)"]*3 + ["(%s) ~ (%s) ~ 1"]) % (text, digits[j][0])
            out.append((text, k))
        return out

    def join(self, digits):
        """Two neighbours in one entry."""
        i = self.rng.randrange(len(digits) - 1)
        (a, p), (b, q) = digits[i:i+2]
        same = set(self.names) & set(a) & set(b)
        if q is None or "~" in a + b or (same and "&" in a + b):
            return digits
        self.fill_free &= not same                                   # one digit again: its padding may be a hole
        wide = q + (self.rng.randrange(3) if self.often(0.3) else 0)
        if q & (q - 1) == 0 and self.often(0.4) and "-" not in a + b:
            text = "(%s) << %d | %s" % (a, q.bit_length() - 1, b)
            self.fill_free &= p is not None                          # an open end and slots up to a power of two
        else:
            text = "%d*(%s) + %s" % (wide, a, b if "&" not in b else "(%s)" % b)
        return digits[:i] + [(text, None)] + digits[i+2:]

    def set_pad(self):
        d = self.rng.choice(self.names)
        if d not in self.pads:
            self.pads[d] = self.rng.choice([2, 3, 4, 5, 8])

    def set_pitch(self, entries):
        whole = [i for i, e in enumerate(entries) if e in self.names]
        size = self.rng.choice([1, 2, 3, 4, 6, 8, 12, 16, 32, 64])
        if whole and self.often(0.5):
            self.settings["pitch"] = "{%s = %d}" % (entries[self.rng.choice(whole)], size)
        else:
            self.settings["pitch"] = "{[%d] = %d}" % (self.rng.randrange(len(entries)) + 1, size)

    def set_swizzle(self, text, shape):
        """An xor on the address, as a rule where the storage is whole blocks of it."""
        low, n = self.rng.randrange(3), self.rng.randrange(1, 4)
        apart, size = n + self.rng.randrange(2), O.inline(text).box(shape, self.bits)[-1]
        unit = 1
        if self.often(0.35):
            self.settings["unit"], unit = '"bytes"', self.bits/8
            low += int(unit).bit_length() - 1 if unit > 1 and self.often(0.95) else 0
        if size*unit % (1 << low + apart + n) and self.often(0.95):
            self.settings.pop("unit", None)
            return
        self.settings["swizzle"] = self.rng.choice([
            "xor(%d, %d, %d)" % (n, low, apart), "xor(%d, %d, %d)" % (n, low, -apart),
            "function(a) return a ~ (a >> %d & %d) << %d end" % (low + apart, (1 << n) - 1, low),
            "function(a) return a ~ (a // %d %% %d) * %d end" % (1 << low + apart, 1 << n, 1 << low)])

    def front(self, entries):
        order = list(self.names)
        first = O.inline("{%s}" % ", ".join(entries)).dims
        if sorted(first) == sorted(order) and self.often(0.3):
            return "", first
        if self.often(0.6):
            self.rng.shuffle(order)
        return "(%s)" % ",".join(order), order

    def name_constants(self, entries):
        """A number of the entries as a parameter, given or worked out from the element's size."""
        numbers = sorted({w for e in entries for w in e.replace("%", " ").replace("/", " ").split() if w.isdigit() and int(w) > 1})
        if not numbers:
            return entries
        n = int(self.rng.choice(numbers))
        named = [re.sub(r"(%%|//)%d\b" % n, r"\1E0", e) for e in entries]
        if named != entries:
            whole = ["%d // bytes" % (n*self.bits//8)]*(n*self.bits % 8 == 0)
            self.params["E0"] = self.rng.choice(whole + ["%d" % n, "%d // bits" % (n*self.bits)])
        return named

    def draw(self):
        digits = [p for name, n in zip(self.names, self.shape) for p in self.parts(name, n)]
        ones = [i for i, (t, _) in enumerate(digits) if t in self.names and self.shape[self.names.index(t)] == 1]
        if ones and len(digits) > 1 and self.often(0.15):
            del digits[self.rng.choice(ones)]                 # a dim of extent 1 need not be mentioned
        how = self.rng.random()
        if how < 0.5:
            self.rng.shuffle(digits)
        elif how < 0.8:                                       # blocks outside, what is in them inside
            digits.sort(key=lambda d: d[1] is not None)
        digits = self.decorate(digits)
        if len(digits) > 1 and self.often(0.2):
            digits = self.join(digits)
        entries = [t for t, _ in digits]
        if self.often(0.15):
            self.set_pad()
        if self.pads:
            self.settings["pad"] = "{%s}" % ", ".join("%s = %d" % p for p in self.pads.items())
        if self.often(0.15):
            self.set_pitch(entries)
        self.settings["fill"] = self.rng.choice(["0", '"none"', '"edge"', str(self.rng.choice(FILLS[self.bits]))])
        if not self.fill_free:
            self.settings["fill"] = '"none"'
        if self.settings["fill"] == "0":
            del self.settings["fill"]
        front, dims = self.front(entries)
        if "pitch" not in self.settings and self.often(0.3):
            self.set_swizzle(written(front, entries, self.settings), [self.shape[self.names.index(d)] for d in dims])
        if self.often(0.06):
            entries = self.name_constants(entries)
        if not front and self.params:
            front = "(%s)" % ",".join(dims)
        return written(front, entries, {**self.params, **self.settings})


def batched(rng, shape, bits):
    """An inline layout with batch dims: the last one or two have names."""
    k = rng.randrange(1, min(3, len(shape)) + 1) if len(shape) > 1 else 1
    names = "PQR"[:k]
    x = Layout(rng, names, shape[len(shape) - k:], bits)
    x.fill_free = True
    text = x.draw()
    front, entries, settings = O.dissect(text)
    if "swizzle" in settings or "pitch" in settings or front != list(names):
        return None
    entries.insert(rng.randrange(len(entries) + 1), rng.choice(["...", "reverse(...)"]))
    return written("(...,%s)" % ",".join(front), entries, settings)


def from_catalogue(rng, rank, bits):
    fits = [(n, f) for n, f in F.LAYOUTS.items() if f.rank in (None, rank) and f.bits in (None, bits)]
    name, f = rng.choice(fits)
    given = {}
    if f.variants and rng.random() < 0.6:
        keys = [k for k in inspect.signature(f.fn).parameters if k not in ("shape", "bits", "params")]
        given = {k: rng.choice([2, 3, 4, 5, 8, 16]) for k in keys if rng.random() < 0.8} or dict(rng.choice(f.variants)[0])
    return F.text(name, given)


def spoiled(rng, text):
    """One entry left out, doubled, or with another number in it: often one-to-one no more."""
    front, entries, settings = O.dissect(text)
    settings["fill"] = '"none"'
    settings.pop("pitch", None)
    i, how = rng.randrange(len(entries)), rng.randrange(4)
    if how == 0 and front and len(entries) > 1:
        del entries[i]
    elif how == 1:
        entries.append(entries[i])
    elif how == 2:
        entries[i] = re.sub(r"%(\d+)", lambda m: "%%%d" % max(2, int(m[1]) + rng.choice([-1, 1])), entries[i])
    else:
        entries[i] = re.sub(r"//(\d+)", lambda m: "//%d" % (int(m[1])*2), entries[i])
    return written("(%s)" % ",".join(front) if front else "", entries, settings)


def moved(rng, text):
    """The same layout with an entry elsewhere: much of both addresses runs alike."""
    front, entries, settings = O.dissect(text)
    if "pitch" in settings or not front:
        return text
    entries.insert(rng.randrange(len(entries)), entries.pop(rng.randrange(len(entries))))
    return written("(%s)" % ",".join(front), entries, settings)


# (extents, pairs of block sizes) by rank; the last two make more boxes than a plan may have, the last three pairs of rank 1 more
# segments than a dim may have
BLOCKS = {1: ([29, 37, 64, 97, 150, 210], [(2, 3), (4, 6), (3, 5), (6, 8), (48, 32), (7, 9), (2, 79), (2, 107), (3, 71)]),
          2: ([12, 13, 17, 24, 37], [(2, 3), (3, 4), (4, 6), (6, 8)]), 3: ([4, 7, 8, 13], [(2, 3), (2, 3), (3, 4)]),
          4: ([7, 7, 7, 8], [(2, 3)]), 5: ([4, 5, 5, 5], [(2, 3)])}


def blocks(rng, rank):
    """Two layouts whose blocks do not nest, and a shape."""
    names, (extents, pairs) = "ABCDE"[:rank], BLOCKS[rank]
    halves = [[[], []], [[], []]]
    for d in names:
        for half, k in zip(halves, rng.sample(rng.choice(pairs), 2)):
            half[0].append("%s//%d" % (d, k))
            half[1].append("%s%%%d" % (d, k))
    out = []
    for half in halves:
        for x in half:
            rng.shuffle(x)
        entries = half[0] + half[1] if rank > 1 else half[1] + half[0]
        out.append(written("(%s)" % ",".join(names), entries, {"fill": rng.choice(['"none"', '"edge"', "0", "1"])}))
    return out[0], out[1], [rng.choice(extents) for _ in names]


def remainders(rng):
    """To a layout whose own cuts do not nest, padded, in five dims: more boxes of padding than a plan may have."""
    names, entries = "ABCDE", []
    for d in names:
        entries += ["%s%%2" % d, "%s%%3" % d]
    rng.shuffle(entries)
    fields = {"pad": "{%s}" % ", ".join("%s = 6" % d for d in names), "fill": rng.choice(['"edge"', "0", "1"])}
    return "(A,B,C,D,E){E, C, A, B, D}", written("(A,B,C,D,E)", entries, fields), [rng.choice([1, 2, 3, 4, 5]) for _ in names]


def sides(rng, shape, bits):
    rank, names = len(shape), "ABCDEFGH"[:len(shape)]
    x = rng.random()
    if x < 0.15:
        return from_catalogue(rng, rank, bits), Layout(rng, names, shape, bits).draw()
    if x < 0.18:
        return from_catalogue(rng, rank, bits), from_catalogue(rng, rank, bits)
    if x < 0.29:
        return batched(rng, shape, bits), Layout(rng, names, shape, bits).draw()
    a = Layout(rng, names, shape, bits).draw()
    if x < 0.4:
        return a, moved(rng, a)
    if x < 0.44:
        return a, spoiled(rng, Layout(rng, names, shape, bits).draw())
    if x < 0.52:
        return a, Layout(rng, "STUVWXYZ"[:rank], shape, bits).draw()     # other names: matched by position
    return a, Layout(rng, names, shape, bits).draw()


def extents_of(layout, names, shape):
    """The shape in the order of the layout's own dims, if it has those names."""
    own = O.inline(layout).dims if layout[0] in "({" else []
    return [shape[names.index(d)] for d in own] if sorted(own) == sorted(names) else list(shape)


def size(layout, shape, bits):
    return O.inline(layout).box(shape, bits)[-1] if layout[0] in "({" else O.F.evaluate(layout, shape, bits).size


def case(rng):
    """A relayout of bounded size.  Whether its layouts are one-to-one is not asked."""
    while True:
        bits, shape = rng.choice(WIDTHS), shape_of(rng, rng.choice([1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8]))
        names = "ABCDEFGH"[:len(shape)]
        a, b = sides(rng, shape, bits)
        if rng.random() < 0.08:
            a, b, shape = blocks(rng, rng.choice([1, 1, 2, 2, 3, 4, 4, 5]))
            names = "ABCDE"[:len(shape)]
        elif rng.random() < 0.01:
            a, b, shape = remainders(rng)
            names = "ABCDE"
        if rng.random() < 0.5:
            a, b = b, a
        if a is None or b is None:
            continue
        shift = [rng.randrange(16), rng.randrange(16)]
        try:                            # a layout may have lost the only entry that used a parameter
            own = extents_of(a, names, shape)
            out = {"from": a, "to": b, "shape": own, "bits": bits, "shift": shift}
            axes = R.matched(a, b, len(shape))
            if max(size(a, own, bits), size(b, [own[d] for d in axes], bits)) <= ROOM:
                return out
        except ValueError:
            pass


def taken(count, one):
    """`count` results of one(i), i from 0, that are not None.  Fails if nine of ten are None, instead of drawing without end."""
    out = []
    for _ in range(10*count):
        x = one(len(out))
        if x is not None:
            out.append(x)
        if len(out) == count:
            return out
    raise AssertionError("%d of %d draws are of use, not %d" % (len(out), 10*count, count))
