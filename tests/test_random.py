"""Random relayouts, planned, proved, run and compared with the oracle, there and back; what was drawn is counted.

RAVEL_SEED=n draws others: any n will do, for a kind that has come too seldom is drawn for on.  What fails is shrunk to a
case file; the cases that were kept, in tests/cases, run first.  If a process dies, the case it was at is in the build folder's cases/running-*.json.
"""

import collections
import json
import os
import random
import re

import pytest

import draw
import orders as O
import ravel
import relayouts as R
import shrink

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
AGAIN = "RAVEL_AGAIN" in os.environ                   # the slow build
CHUNKS, EACH = (1, 250) if AGAIN else (5, 500)
BACK = 4                                              # every so many go back too
CASES = sorted((ravel.ROOT / "tests/cases").glob("*.json"))
# bits_swap wants bytes reversed on one side alone, which is seldom drawn: build/tests/test_choices has it.  Index arrays are not drawn: test_arrays;
# nor, often, tiles whose address bits change places: test_words.
KERNELS = sorted({re.sub(r"\d+$", "", k) for k in re.findall(r"(?m)^K\((\w+)", (ravel.ROOT / "compiler/plan/kernel.def").read_text())}
                 - {"bits_swap", "butterfly", "indexed", "placed", "mixed"} | {"min", "max"})

# What a layout's text shows of its kind.
KINDS = {
    "bit": r"\w\[\d+\]", "digit by mask": r"[A-Z] & \d", "digit by shift": r"[A-Z] >> \d", "digit of a digit": r"%\d+//",
    "digits xored": r"\) ~ \(", "digit xored with a number": r"\) ~ \d", "digit backwards": r"\d - \(",
    "sum in an entry": r"\d\*\(.*?\) \+", "or in an entry": r"<< \d+ \|", "min and max": r"max\(.*min\(|min\(.*max\(",
    "coprime remainders": r"[{ ]([A-Z])%\d+,.*[{ ]\1%\d+[,}]",
    "swizzle xor(B, M, S)": r"swizzle = xor\(\d, \d, \d", "swizzle xor(B, M, -S)": r"swizzle = xor\(\d, \d, -",
    "swizzle function": r"swizzle = f", "swizzle in bytes": r"unit = .*swizzle",
    "pad": r"pad = ", "pitch of a dim": r"pitch = \{\w", "pitch of an entry": r"pitch = \{\[",
    "fill none": r"\{.*fill = .none", "fill edge": "fill = .edge", "fill with a number": r"fill = -?[\d.]",
    "parameter": r"E0 = \d+[,}]", "parameter by width": r"E0 = \d+ //",
    "batch dims": r"[{ ]\.\.\.", "batch dims reversed": r"reverse\(", "dims in order of appearance": r"^\{",
    "catalogue": r"^\w", "catalogue with parameters": r"^\w+\{",
}
# What a line of the plan's text shows.
PLANS = {
    "segments of a common period": r"\(\d+ of every \d+\)",
    "digits left as expressions": r"ravel_\w+\([^^]*\w\)?[/%]\d[^^]*$", "xor left in the address": r"ravel_\w+\(.* \^ ",
    "no loop around a kernel": r"^    ravel_", "5 loops": r"^ {20}for ",
}
NESTS = [2, 10, 100]           # plans of so many or more
AT_LEAST = 3                   # of each in a chunk
MOST = 8*EACH                  # what is seldom drawn is drawn for on, so far, by cases that may be of it


def kinds(case, outcome):
    """Everything that a case is one of."""
    for name, pattern in KINDS.items():
        if re.search(pattern, case["from"]) or re.search(pattern, case["to"]):
            yield name
    body = outcome.source.partition("restrict dst")[2]
    lines = body.splitlines()
    yield from (name for name, pattern in PLANS.items() if any(map(re.compile(pattern).search, lines)))
    yield from ("%d nests" % n for n in NESTS if body.count("/*") >= n)
    yield from {"kernel " + re.sub(r"\d+$", "", k) for k in re.findall(r"ravel_(\w+)\(", body)}
    shape, shift = case["shape"], case["shift"]
    yield from ("rank %d" % len(shape), "%d bits" % case["bits"])
    axes = R.matched(case["from"], case["to"], len(shape))
    if axes != sorted(axes):
        yield "dims by name in another order"
    yield from (name for name, true in [
        ("extent 1", 1 in shape), ("prime extent", {7, 11, 13, 17, 19, 23, 31, 37, 97} & set(shape)),
        ("source off", shift[0] % 2), ("destination off", shift[1] % 2), ("both off", shift[0] % 2 and shift[1] % 2)] if true)


def expected_kinds():
    return [*KINDS, *PLANS, *("%d nests" % n for n in NESTS), *("kernel " + k for k in KERNELS), *("rank %d" % r for r in range(1, 9)),
            *("%d bits" % b for b in draw.WIDTHS), "dims by name in another order", "extent 1", "prime extent",
            "source off", "destination off", "both off"]


def summary(seen):
    return ", ".join("%s %d" % c for c in sorted(seen.items()))


def lacking(seen):
    return {} if AGAIN else {k: seen[k] for k in expected_kinds() if seen[k] < AT_LEAST}


SMALL = {"bits", "bits_run", "bits_transpose", "fill_bits", "unpacked"}       # kernels of elements smaller than a byte
ANY = {"copy", "shuffle"}                                          # ... of both


def may_be(case, kind):
    """Whether what is seen of a case before it is planned leaves open that it is one of this kind."""
    if kind in KINDS:
        return any(re.search(KINDS[kind], case[side]) for side in ("from", "to"))
    kernel = kind.removeprefix("kernel ")
    if kernel != kind and kernel not in ANY | {"min", "max"}:
        return (kernel in SMALL) == (case["bits"] < 8)
    return not re.fullmatch(r"rank \d|\d+ bits", kind) or kind in ("rank %d" % len(case["shape"]), "%d bits" % case["bits"])


def relayouts(cx, rng, seen, refused):
    """Draws until EACH have run and every kind has been seen; those refused for a reason are on top."""
    running = ravel.BUILD / "cases" / ("running-%d.json" % os.getpid())
    running.parent.mkdir(exist_ok=True)
    with open(running, "w") as now:
        while seen["ran"] < EACH or seen["ran"] < MOST and lacking(seen):
            case, back = draw.case(rng), rng.randrange(BACK) == 0
            if seen["ran"] >= EACH and not any(may_be(case, kind) for kind in lacking(seen)):
                continue
            now.seek(0)
            now.write(json.dumps(case))
            now.truncate()
            now.flush()
            out = R.judge(cx, case, back)
            if out.wrong:
                running.unlink()
                pytest.fail(shrink.report(cx, case, back, ravel.BUILD / "cases"), pytrace=False)
            if out.refused:
                refused[out.refused] += 1
                continue
            seen["ran"] += 1
            seen["went back"] += back
            seen.update(kinds(case, out))
    running.unlink()


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_relayouts(cx, chunk):
    print("RAVEL_SEED=%d chunk %d" % (SEED, chunk))
    seen, refused = collections.Counter(), collections.Counter()
    relayouts(cx, random.Random("%d/%d" % (SEED, chunk)), seen, refused)
    print(summary(seen))
    print("refused:", summary(refused))
    assert sum(refused.values()) < seen["ran"]/5
    assert not lacking(seen), "not drawn often enough to say that it is tested"


@pytest.mark.parametrize("path", CASES, ids=lambda p: getattr(p, "stem", None))
def test_cases(cx, path):
    case = json.loads(path.read_text())
    print(case.pop("note"))
    out = R.judge(cx, case, back=True)
    assert not out.wrong and not out.refused


# --- the shrinker, on answers that are wrong on purpose

def no_swizzle(monkeypatch):
    """An oracle that forgets the swizzle."""
    monkeypatch.setattr(O.Inline, "map", lambda self, a, bits: a)


def bad_fill(monkeypatch):
    """A library that gets the last byte wrong where it fills bits."""
    run = R.run

    def broken(plan, raw, shift):
        wrong, got = run(plan, raw, shift)
        got[-1] ^= "ravel_fill_bits(dst" in plan.source
        return wrong, got
    monkeypatch.setattr(R, "run", broken)


START = {"from": '(A,B,C,D){A//4, (B%4) ~ (A%4), C, D, B//4, A & 3, pitch = {C = 8}, fill = 1}',
         "to": '(A,C,B,D){A//4, B//3, C, D, B%3, 3 - (A%4), fill = 1, pad = {C = 4}, swizzle = xor(2, 0, 2)}',
         "shape": [8, 13, 3, 4], "bits": 4, "shift": [5, 11]}


@pytest.mark.parametrize("plant, needs", [(no_swizzle, "swizzle"), (bad_fill, "fill")])
def test_what_fails_is_shrunk_and_replays(cx, monkeypatch, tmp_path, plant, needs):
    assert not R.judge(cx, START).wrong
    plant(monkeypatch)
    kind = shrink.kind_of(R.judge(cx, START).wrong)
    text = shrink.report(cx, START, False, tmp_path)
    [path] = tmp_path.iterdir()
    assert str(path) in text and "copy it to tests/cases/" in text
    small = json.loads(path.read_text())
    print(small)
    assert small.pop("note") == R.judge(cx, small).wrong != ""
    assert len(small["shape"]) == 1 and small["shape"][0] <= 4 and small["shift"] == [0, 0] and len(small["to"]) < 50
    assert not any(shrink.kind_of(R.judge(cx, c).wrong) == kind for c in shrink.lighter(small))
    assert needs in small["to"] + small["from"] or needs == "fill"
    monkeypatch.undo()
    assert not R.judge(cx, small).wrong
