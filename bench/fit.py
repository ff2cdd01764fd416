"""Compares the cost model with this machine: every schedule of drawn or listed cases, on one thread.

For each group: the model's loss, the time of its choice over that of the fastest schedule; and that time over memcpy's.  For each kernel, in the caches and beyond:
the measured time over the predicted one.  `--json FILE` keeps the measurements; --read FILE reports about kept ones."""

import argparse
import collections
import json
import pathlib
import subprocess
import sys

import drawn
from pace import Pace

LARGE = 4 << 20                               # CACHED_BYTES of compiler/plan/plan_parts.h


def measured(build, found):
    """The rows of bench/fit.c, in the order of the cases."""
    lines = "".join("%s;%s;%s;%s\n" % (c.dtype, ",".join(map(str, c.shape)), c.src, c.dst) for c in found)
    group = {"%s %s %s %s" % (c.dtype, ",".join(map(str, c.shape)), c.src, c.dst): c.groups[0] for c in found}
    fit = subprocess.Popen([str(build/"bench/fit")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    fit.stdin.write(lines)
    fit.stdin.close()
    rows, cases, pace = [], set(), Pace(len(found))
    for line in fit.stdout:
        rows.append(json.loads(line))
        rows[-1]["group"] = group[rows[-1]["case"]]
        cases.add(rows[-1]["case"])
        pace.show("\r%d of %d cases" % (len(cases), len(found)), len(cases), "\033[K")
    if fit.wait():
        sys.exit("bench/fit failed")
    return rows


def losses(rows):
    """[(loss, the model's choice, the fastest)] of each case."""
    by_case = collections.defaultdict(list)
    for r in rows:
        by_case[r["case"]].append(r)
    out = []
    for choices in by_case.values():
        model = next(r for r in choices if r["model"])
        best = min(choices, key=lambda r: r["ns"])
        out.append((model["ns"]/best["ns"], model, best))
    return sorted(out, key=lambda x: -x[0])


def print_losses(rows, worst):
    """Of each group the model's choices: the loss, and the time over memcpy's."""
    print("                        loss                  x memcpy\n                 cases  median   mean  worst    mean  worst")
    for g in [*dict.fromkeys(r["group"] for r in rows), "all"]:
        found = losses([r for r in rows if g in (r["group"], "all")])
        l, x = [f[0] for f in found], [m["ns"]/m["memcpy"] for _, m, _ in found]
        print("%-16s %5d  %6.2f %6.2f %6.2f  %6.2f %6.2f" % (g, len(l), sorted(l)[len(l)//2], drawn.mean(l), l[0], drawn.mean(x), max(x)))
    for loss, model, best in losses(rows)[:worst]:
        print("%5.2f %7d KB %s" % (loss, model["bytes"]/1024, model["case"]))
        for what, r in ("model", model), ("best", best):
            print("      %-6s %-14s %-36s %6.2f x memcpy, predicted %6.2f"
                  % (what, r["kernel"], r["order"], r["ns"]/r["memcpy"], r["predicted"]/r["memcpy"]))


def print_kernels(rows):
    """Percentiles of measured over predicted time."""
    print("measured/predicted                                          n    10 %  median    90 %")
    by = collections.defaultdict(list)
    for r in rows:
        by[r["kernel"].rstrip("0123456789"), r["order"], r["bytes"] >= LARGE].append(r["ns"]/r["predicted"])
    for (kernel, order, large), v in sorted(by.items()):
        v.sort()
        print("%-12s %-34s %-8s %5d  %6.2f  %6.2f  %6.2f"
              % (kernel, order, "memory" if large else "caches", len(v), v[len(v)//10], v[len(v)//2], v[len(v)*9//10]))


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    drawn.options(p, 20)
    p.add_argument("--json", type=pathlib.Path)
    p.add_argument("--read", type=pathlib.Path, nargs="+")
    return p.parse_args()


def main():
    o = options()
    if o.read:
        rows = [r for f in o.read for r in json.loads(f.read_text())]
    else:
        rows = measured(o.build, [c for _, c in drawn.chosen(o)])
    if o.json:
        o.json.write_text(json.dumps(rows, indent=0))
    print_losses(rows, o.worst)
    print_kernels(rows)


main()
