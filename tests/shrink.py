"""A relayout that fails, made smaller for as long as it fails; and case files.

Greedy: of the changes that make a case lighter (`weight`), the first that still fails is taken, until none does.
"""

import ast
import itertools
import json
import math
import re
import zlib

import orders as O
import relayouts as R
from draw import written

WIDTHS = [8, 16, 32, 4, 64, 2, 1, 128]     # the simplest first
ROUNDS = 4000                              # candidates tried at most


def trees(entries):
    return [ast.parse(O.python(e), mode="eval").body for e in entries if e not in O.BATCH]


def lua(tree):
    return ast.unparse(tree).replace("^", "~")


def weight(case):
    """What shrinking brings down, the weightiest first; every part a natural number."""
    texts = case["from"], case["to"]
    inline = [O.dissect(t) for t in texts if t[0] in "({"]
    nodes = sum(1 for _, entries, _ in inline for t in trees(entries) for _ in ast.walk(t))
    loose = sum(len(e) + 3*len(s) for _, e, s in inline) + nodes + 9*(2 - len(inline)) + sum("=" in t for t in texts)
    numbers = sum(int(n) for t in texts for n in re.findall(r"\d+", t))
    return (len(case["shape"]), loose, math.prod(case["shape"]), numbers, WIDTHS.index(case["bits"]), sum(case["shift"]),
            disorder(texts), sum(map(len, texts)))


def disorder(texts):
    """Pairs of entries, and of dims in front, that stand in falling order."""
    parts = [p for t in texts if t[0] in "({" for p in (O.dissect(t)[0] or [], O.dissect(t)[1])]
    return sum(a > b for p in parts for a, b in itertools.combinations(p, 2))


# --- changes of one layout

def simpler(tree):
    """The expression with one of its parts in place of the whole, or a lesser number."""
    if isinstance(tree, ast.BinOp):
        yield from (tree.left, tree.right)
        for x in simpler(tree.left):
            yield ast.BinOp(x, tree.op, tree.right)
        for x in simpler(tree.right):
            yield ast.BinOp(tree.left, tree.op, x)
    elif isinstance(tree, ast.Call):
        yield from tree.args
        for i, a in enumerate(tree.args):
            for x in simpler(a):
                yield ast.Call(tree.func, tree.args[:i] + [x] + tree.args[i+1:], [])
    elif isinstance(tree, ast.Constant):
        yield from (ast.Constant(n) for n in sorted({0, 1, 2, tree.value//2, tree.value - 1}) if 0 <= n < tree.value)


def lesser(text):
    """Settings with one number less."""
    for m in re.finditer(r"\d+", text):
        for n in sorted({1, 2, int(m[0])//2, int(m[0]) - 1}):
            if 0 <= n < int(m[0]):
                yield text[:m.start()] + str(n) + text[m.end():]


def variants(layout):
    """Lighter layouts of the same dims."""
    if layout[0] not in "({":
        yield from (t for t in {"ROW_MAJOR", layout.split("{")[0]} if t != layout)
        return
    names, entries, settings = O.dissect(layout)
    dims = names or O.Inline(layout).dims
    front = "(%s)" % ",".join(dims)
    yield written(front, dims, {})
    for k in settings:
        yield written(front, entries, {j: v for j, v in settings.items() if j != k})
    for d in dims:
        own = [i for i, e in enumerate(entries) if re.search(r"\b%s\b" % d, e)]
        if len(own) > 1:
            yield written(front, [d if i == own[0] else e for i, e in enumerate(entries) if i not in own[1:]], settings)
    for i, e in enumerate(entries):
        yield written(front, entries[:i] + entries[i+1:], settings)
        if e not in O.BATCH:
            for x in simpler(ast.parse(O.python(e), mode="eval").body):
                yield written(front, entries[:i] + [lua(x)] + entries[i+1:], settings)
    for k, v in settings.items():
        for less in lesser(v):
            yield written(front, entries, {**settings, k: less})
    for i, j in itertools.combinations(range(len(entries)), 2):
        if entries[i] > entries[j]:
            yield written(front, entries[:i] + [entries[j]] + entries[i+1:j] + [entries[i]] + entries[j+1:], settings)


def without(layout, place):
    """The layout without its dim at this place, which has become 0."""
    if layout[0] not in "({":
        return layout
    names, entries, settings = O.dissect(layout)
    dims = list(names or O.Inline(layout).dims)
    if "..." in dims:      # these are as many as the shape leaves
        return layout
    gone = dims.pop(place)
    kept = [e for e in entries if not re.search(r"\b%s\b" % gone, e) or any(re.search(r"\b%s\b" % d, e) for d in dims)]
    kept = [re.sub(r"\b%s\b" % gone, "0", re.sub(r"\b%s\[\d+\]" % gone, "0", e)) for e in kept]
    settings = {k: v for k, v in settings.items() if not re.search(r"\b%s\b" % gone, v)}
    return written("(%s)" % ",".join(dims), kept, settings)


# --- changes of a case

def candidates(case):
    axes, shape = R.matched(case["from"], case["to"], len(case["shape"])), case["shape"]
    for d in range(len(shape)):
        rest = shape[:d] + shape[d+1:]
        yield {**case, "shape": rest, "from": without(case["from"], d), "to": without(case["to"], axes.index(d))}
    for side in ("from", "to"):
        yield from ({**case, side: t} for t in variants(case[side]))
    for d, n in enumerate(shape):
        yield from ({**case, "shape": shape[:d] + [m] + shape[d+1:]} for m in sorted({1, 2, n//2, n - 1}) if 0 < m < n)
    yield from ({**case, "bits": b} for b in WIDTHS[:WIDTHS.index(case["bits"])])
    for i, s in enumerate(case["shift"]):
        yield from ({**case, "shift": [t if j == i else u for j, u in enumerate(case["shift"])]} for t in range(s))


def lighter(case):
    """Candidates that weigh less; what is no layout any more is passed over."""
    now = weight(case)
    for c in candidates(case):
        try:
            if weight(c) < now:
                yield c
        except (ValueError, SyntaxError):
            pass


def shrink(case, fails):
    """A case that fails and of which no change here both is lighter and fails."""
    tried = 0
    while True:
        for c in lighter(case):
            tried += 1
            if tried < ROUNDS and still(fails, c):
                case = c
                break
        else:
            return case


def still(fails, case):
    """Whether a candidate fails; one that the oracle cannot read does not."""
    try:
        return fails(case)
    except (ValueError, SyntaxError, KeyError, IndexError, ZeroDivisionError, NameError, TypeError, AttributeError):
        return False


# --- case files

def write(path, case):
    path.write_text("{\n%s\n}\n" % ",\n".join(" %s: %s" % (json.dumps(k), json.dumps(v)) for k, v in case.items()))


def keep(case, note, folder):
    """Write a case file; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ("relayout-%08x.json" % zlib.crc32(json.dumps(case).encode()))
    write(path, {**case, "note": note})
    return path


def kind_of(wrong):
    return re.sub(r"\d+", "n", wrong.partition(":")[0])


def report(cx, case, back, folder):
    """Shrink a case that is wrong and write it down; what to tell the user."""
    kind = kind_of(R.judge(cx, case, back).wrong)
    small = shrink(case, lambda c: kind_of(R.judge(cx, c, back).wrong) == kind)
    note = R.judge(cx, small, back).wrong
    path = keep(small, note, folder)
    return "%s\n%s\nfirst seen as %s\nit is in %s: copy it to tests/cases/ to have it tried in every run" % (
        note, json.dumps(small), json.dumps(case), path)
