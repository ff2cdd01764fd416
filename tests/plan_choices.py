"""What plans with extents left to run time choose beside plans of numbers, for ROW_MAJOR and each layout of the catalogue, both ways:
the table of docs/ir/plan.md.

    python3 tests/plan_choices.py [--build build] [--all]

A pair is alike where the nests that write most of the elements have the same kernels and orders."""

import argparse
import collections
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LARGE = 24 << 20                                      # bytes: data in memory
SHARE = 0.05                                          # of the elements: nests that write less are not compared
TABLES = {"composite", "fill_at", "gather", "shuffle", "unpacked"}
PLANES = {"transpose", "interleave", "deinterleave", "strided", "bits_transpose", "bits"}


def grown(shape, bits):
    """The shape of a tensor of LARGE bytes: each dim so many times longer; dims that are odd stay odd."""
    by = max(1, round((LARGE*8/bits/math.prod(shape))**(1/len(shape))))
    return tuple(n*by + (n % 2 > by % 2) for n in shape)


def cases():
    """(from, to, dtype, shape)"""
    import formulas as F
    import ravel
    for name, f in F.LAYOUTS.items():
        for bits in f.bits if isinstance(f.bits, tuple) else (f.bits or 32,):
            shape = max(f.shapes, key=math.prod)
            if bits in ravel.DTYPE and name != "ROW_MAJOR":
                yield from ((*pair, ravel.DTYPE[bits], s) for pair in ((name, "ROW_MAJOR"), ("ROW_MAJOR", name))
                            for s in dict.fromkeys((shape, grown(shape, bits))))


def bits_of(dtype):
    import ravel
    return {name: bits for bits, name in ravel.DTYPE.items()}[dtype]


def parsed(line):
    """{(kernel, order): share of the elements}, or the error."""
    first, *words = line.split("\t")
    if first == "error":
        return words[0]
    nests = [w.split(" ", 1) for w in words]
    total = sum(int(n) for n, _ in nests) or 1
    out = collections.Counter()
    for n, what in nests:
        out[tuple(what.split(", ", 1))] += int(n)/total
    return {k: v for k, v in out.items() if v >= SHARE}


def choices(build, all_cases):
    """(case, fixed, runtime) of each; the last two as of parsed."""
    text = "".join("%s\t%s\t%s\t%s\n" % (a, b, t, ",".join(map(str, s))) for a, b, t, s in all_cases)
    r = subprocess.run([build/"tests/plan_choices"], input=text, capture_output=True, text=True, check=True)
    answers = r.stdout.splitlines()
    assert len(answers) == 2*len(all_cases)
    return [(c, parsed(f), parsed(t)) for c, f, t in zip(all_cases, answers[::2], answers[1::2])]


def families(choice):
    return {re.sub(r"\d+$|_fill$", "", k) for k, _ in choice} - {"fill", "fill_bits"}


def cause(fixed, runtime):
    """Why they are not alike; None: they are."""
    if isinstance(fixed, str) or isinstance(runtime, str):
        return "refused"
    if fixed.keys() == runtime.keys():
        return None
    if {k for k, _ in fixed} == {k for k, _ in runtime}:
        return "order"
    if families(fixed) == families(runtime):
        return "boxes"
    if families(fixed) & TABLES and not families(runtime) >= families(fixed) & TABLES:
        return "table"
    if families(runtime) & TABLES:
        return "another table"
    return "narrow" if families(fixed) | families(runtime) <= PLANES | {"copy"} else "unknown"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--build", default="build", type=pathlib.Path)
    p.add_argument("--all", action="store_true", help="print each pair")
    o = p.parse_args()
    groups = collections.defaultdict(list)
    for case, fixed, runtime in choices(ROOT/o.build, list(cases())):
        groups[cause(fixed, runtime) or "alike"].append((case, fixed, runtime))
    for what, found in sorted(groups.items(), key=lambda g: -len(g[1])):
        print("%4d  %s" % (len(found), what))
        for case, fixed, runtime in found if o.all else found[:3]:
            print("        %s -> %s, %s of %s: %s | %s" % (*case, fixed, runtime))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT/"tests"))
    sys.exit(main())
