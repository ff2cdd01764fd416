"""One relayout held against the oracle.

A case is what a file of tests/cases holds: {"from", "to", "shape", "bits", "shift", "note"}, shape in the order of from's dims,
shift the bytes by which source and destination are off a round address.
"""

import functools
import json
from dataclasses import dataclass

import numpy as np

import formulas as F
import orders as O
import ravel
from command import good

# Layouts that are one-to-one and refused all the same, by what the library says of them.
LIMITS = {
    "is stored twice": "a digit too many, though nothing collides (docs/reference.md, Limits)",
    "share names in different places": "dims matched by name are matched in whole",
    "moves parts of": "a swizzle in bytes is judged by its form, whatever bits the size leaves it",
}


@dataclass
class Outcome:
    wrong: str = ""         # a sentence; empty when all is as it should be
    refused: str = ""       # why, by the oracle or by LIMITS
    source: str = ""        # the plan's text


class Mismatch(O.Refused):
    pass


@functools.lru_cache(None)
def declared():
    """The dims of each layout of the catalogue, as its spec has them."""
    return {x["name"]: x["dims"] for x in json.loads(good("list", "--json"))}


def names(layout):
    """The names of its dims; "..." among them stands for any."""
    if layout[0] not in "({":
        return declared()[F.parse(layout)[0]]
    x = O.inline(layout)
    return ["..."]*x.batch + x.dims


def matched(a, b, rank):
    """The axis of a's shape that each dim of b is: by name where the names moved, else by position."""
    da, db = (names(x) for x in (a, b))
    if "..." in da + db:
        return list(range(rank))
    if all(n not in da or da.index(n) == i for i, n in enumerate(db)):
        return list(range(rank))
    if sorted(da) != sorted(db):
        raise Mismatch("dims %s and %s" % (da, db))
    return [da.index(n) for n in db]


def filled(p, addr, el, bits):
    """The destination after a run: elements el at addr, padding, poison in the holes."""
    out = ravel.poisoned(p.size, bits)
    out[addr] = el
    if p.pad.size and p.fill == "edge":
        out[p.pad] = out[p.addr.reshape(-1)[p.edge]]
    elif p.pad.size and p.fill != "none":
        v = np.array(O.encode(p.fill, bits), np.uint64)
        out[p.pad] = ravel.numbers(v, bits) if bits < 128 else np.array([v, 0], np.uint64).view("V16")[0]
    return ravel.pack(out, bits)


def run(plan, raw, shift):
    """(what is wrong, the destination)"""
    src, dst = ravel.Guarded(raw.size, shift[0]), ravel.Guarded(plan.dst_bytes, shift[1])
    src.body[:] = raw
    if ravel.lib.ravel_run(plan.p, dst.body.ctypes.data, src.body.ctypes.data):
        return "the run failed", dst.body
    if not np.array_equal(src.body, raw):
        return "the source was written to", dst.body
    if not (src.intact() and dst.intact()):
        return "a guard was written to", dst.body
    return "", dst.body


def ran(plan, raw, want, shift, what):
    wrong, got = run(plan, raw, shift)
    if not wrong and not np.array_equal(got, want):
        i = int(np.flatnonzero(got != want)[0])
        wrong = "byte %d is 0x%02x, not 0x%02x" % (i, got[i], want[i])
    return wrong and "%s: %s" % (what, wrong), got


def compare(cx, plan, case, places, axes, back):
    """Run the plan, and its opposite on what came out if `back`; the first thing wrong."""
    bits, (pa, pb) = case["bits"], places
    for p, n in ((pa, plan.src_bytes), (pb, plan.dst_bytes)):
        if n != -(-p.size*bits//8):
            return "%d bytes of storage, not %d elements" % (n, p.size)
    plan.verify()
    at = pa.addr.transpose(axes).reshape(-1), pb.addr.reshape(-1)
    opposite = back and cx.plan(case["to"], case["from"], pb.addr.shape, bits)
    try:
        for part in O.passes(pa.addr.size, bits):
            el = ravel.numbers(part, bits)
            raw = ravel.scatter(el, at[0], pa.size, bits)
            wrong, got = ran(plan, raw, filled(pb, at[1], el, bits), case["shift"], "there")
            if not wrong and back:
                wrong, _ = ran(opposite, got, filled(pa, at[0], el, bits), case["shift"][::-1], "back")
            if wrong:
                return wrong
    finally:
        if opposite:
            opposite.__exit__()
    return ""


def expected(case):
    """(axes, the two places); Refused when there are none."""
    shape, bits = tuple(case["shape"]), case["bits"]
    axes = matched(case["from"], case["to"], len(shape))
    places = O.place(case["from"], shape, bits), O.place(case["to"], tuple(shape[d] for d in axes), bits)
    if places[1].unfilled:
        raise O.Refused("a declared fill does not reach all slots")
    return axes, places


def judge(cx, case, back=False):
    """An Outcome.  ValueError when the oracle has no answer."""
    axes = places = None
    try:
        axes, places = expected(case)
        why = ""
    except O.Refused as e:
        why = str(e)
    try:
        plan = cx.plan(case["from"], case["to"], case["shape"], case["bits"])
    except ravel.Error as e:
        limit = next((k for k in LIMITS if k in e.text), "")
        if e.status == "LAYOUT" and (why or limit):
            return Outcome(refused=why or limit)
        return Outcome(wrong="refused: %s" % e)
    with plan:
        if why:
            return Outcome(wrong="accepted, though %s" % why)
        try:
            back &= not places[0].unfilled
            return Outcome(wrong=compare(cx, plan, case, places, axes, back), source=plan.source)
        except ravel.Error as e:
            return Outcome(wrong=str(e), source=plan.source)
