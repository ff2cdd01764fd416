"""Plans with run-time extents beside those of the same shape in numbers, on one thread: the time of the first over that of the second.

"open" is the plan as it was compiled; "special" is the same after it was specialised for the shape, as ravel_run_shape does.  Cases are drawn as for `make bench`.
--open says which extents are left to run time."""

import argparse
import json
import subprocess
import sys

import drawn

WAYS = "open", "special"


def opened(shape, how):
    """For each extent, whether it is left to run time."""
    if how == "all":
        return [1]*len(shape)
    if how == "first":
        return [1] + [0]*(len(shape) - 1)
    return [int(d == shape.index(max(shape))) for d in range(len(shape))]


def measured(o):
    found = [(g, c) for g, c in drawn.chosen(o) if c.shape]
    lines = "".join("%s;%s;%s;%s;%s\n" % (c.dtype, ",".join(map(str, c.shape)), c.src, c.dst, ",".join(map(str, opened(list(c.shape), o.open))))
                    for _, c in found)
    group = {"%s %s %s %s" % (c.dtype, ",".join(map(str, c.shape)), c.src, c.dst): g for g, c in found}
    out = subprocess.run([str(o.build/"bench/extents")], input=lines, stdout=subprocess.PIPE, text=True)
    if out.returncode:
        sys.exit("bench/extents failed")
    return [dict(r, group=group[r["case"]]) for r in map(json.loads, out.stdout.splitlines())]


def report(rows, worst):
    print("%-10s %5s %21s %21s" % ("", "cases", "open: mean, worst", "special: mean, worst"))
    for g in dict.fromkeys(r["group"] for r in rows):
        found = [r for r in rows if r["group"] == g]
        x = {w: [r[w]/r["fixed"] for r in found] for w in WAYS}
        print("%-10s %5d" % (g, len(found)) + "".join("%13.2f %7.2f" % (drawn.mean(x[w]), max(x[w])) for w in WAYS))
    for w in WAYS:
        print("\n%s, the slowest:" % w)
        for r in sorted(rows, key=lambda r: -r[w]/r["fixed"])[:worst]:
            print("%6.2f  (fixed %.2f x memcpy)  %s" % (r[w]/r["fixed"], r["fixed"]/r["memcpy"], r["case"]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    drawn.options(p, 8)
    p.add_argument("--open", choices=["largest", "first", "all"], default="largest", help="the extents left to run time (%(default)s)")
    o = p.parse_args()
    report(measured(o), o.worst)


main()
