"""What was measured, as a table, as JSON and in one line a group."""

import json
import math
import os
import pathlib
import platform

import peers

COLUMNS = ["ntcopy", "ravel", "ravel gcc", "ravel interpreter", *peers.PEERS]
HEADS = {"ravel gcc": "gcc -O3", "ravel interpreter": "interpr.", "plain loop": "loop"}
# What is to be reached: the geometric mean of ravel's ratios to memcpy on one thread and on two, None: not said.
REACH = {"headline": (1.00, 0.90), "ttc": (1.10, None), "narrow": (1.30, None), "padded": (1.10, None)}
PLANNED = {"headline", "ttc", "narrow", "padded"}       # whose plans are timed
SLOW = 3                     # times memcpy: cases above are listed with their kernels
SLOWER = 1.05                # "never more than 1.05x slower than the best peer"


def machine(libs):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    huge = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    out = {"cpu": cpu, "cores": os.cpu_count(), "system": platform.platform(), "huge_pages": huge.read_text().strip() if huge.exists() else "none",
           "peers": {"oneDNN": libs.onednn_version if libs.onednn else None}}
    for name, module in (("numpy", "numpy"), ("PyTorch", "torch"), ("XLA", "jaxlib"), ("OpenCV", "cv2")):
        try:
            out["peers"][name] = __import__(module).__version__
        except ImportError:
            out["peers"][name] = None
    return out


def write_json(path, result):
    tmp = path.with_suffix(".tmp")
    tmp.write_text(json.dumps(result, indent=1) + "\n")
    tmp.rename(path)


def geomean(v):
    return math.exp(sum(map(math.log, v))/len(v)) if v else None


def results(case, threads):
    return {r["name"]: r for r in case["results"] if r["threads"] == threads}


def ratio(r, base="memcpy"):
    return r[base]["median"] if r and r["state"] == "ok" and base in r else None


def shown(v, form="%.2f"):
    return "-" if v is None else form % v


# --- the table

def cell(r):
    if r and r["state"] == "wrong":
        return "WRONG"
    v = ratio(r)
    return shown(v, "%.2f" if v is None or v < 100 else "%.0f")


def row(name, threads, cells, last):
    return "%-40s %2s " % (name[:40], threads) + " ".join("%8s" % c for c in cells) + "  " + last


def versus(r):
    if ratio(r) is None or "best_peer" not in r:
        return "-"
    return "%.2f of %s" % (r["best_peer"]["median"], r["best_peer"]["name"])


def print_head():
    print(row("x memcpy", "th", [HEADS.get(c, c) for c in COLUMNS], "ravel: span      x best peer"))


def print_case(case):
    if case["state"] == "refused":
        print("%-40s not measured: %s" % (case["name"][:40], case["why"]))
    for t in sorted({r["threads"] for r in case["results"]}):
        rs = results(case, t)
        own = rs.get("ravel")
        span = "%.2f..%.2f" % (own["memcpy"]["low"], own["memcpy"]["high"]) if ratio(own) is not None else "-"
        print(row(case["name"], t, [cell(rs.get(c)) for c in COLUMNS], "%-12s     %s" % (span, versus(own))), flush=True)
        for r in rs.values():
            if r["state"] == "wrong":
                print("    WRONG: %s: %s" % (r["name"], r["why"]))


# --- the groups

def group_summary(cases, threads):
    """Geometric means over the cases in which ravel and the other one both have a ratio."""
    rs = [results(c, threads) for c in cases]
    rs = [r for r in rs if ratio(r.get("ravel")) is not None]
    out = {"cases": len(rs)}
    if not rs:
        return out
    for name in COLUMNS:
        both = [ratio(r[name]) for r in rs if ratio(r.get(name)) is not None]
        out[name] = {"geomean": geomean(both), "low": min(both), "high": max(both), "cases": len(both)} if both else None
    best = [min(v) for r in rs if (v := [ratio(r.get(p)) for p in peers.PEERS if ratio(r.get(p)) is not None])]
    out["best peer"] = {"geomean": geomean(best), "low": min(best), "high": max(best), "cases": len(best)} if best else None
    emitted = [ratio(r["ravel gcc"])/ratio(r["ravel"]) for r in rs if ratio(r.get("ravel gcc")) is not None]
    out["gcc over ravel"] = geomean(emitted)
    out["gcc apart"] = max((max(v, 1/v) for v in emitted), default=None)
    against = [(r["ravel"]["best_peer"]["median"], k) for k, r in enumerate(rs) if "best_peer" in r["ravel"]]
    out["slower"] = sum(v > SLOWER for v, _ in against)
    out["against"] = len(against)
    out["worst"] = max(against)[0] if against else None
    return out


def by_ratio(cases, threads):
    """(ratio to memcpy, case), the slowest first."""
    rs = [(ratio(results(c, threads).get("ravel")), c) for c in cases]
    return sorted([v for v in rs if v[0] is not None], key=lambda v: -v[0])


def named_cases(cases, threads):
    """The worst case against memcpy, and those in which a peer is faster."""
    rs = by_ratio(cases, threads)
    own = [(results(c, threads)["ravel"], c) for _, c in rs]
    slower = sorted([(r["best_peer"]["median"], r["best_peer"]["name"], c["name"]) for r, c in own if "best_peer" in r], reverse=True)
    return {"worst_case": {"name": rs[0][1]["name"], "ratio": rs[0][0]} if rs else None,
            "slower_cases": [{"name": name, "peer": peer, "ratio": v} for v, peer, name in slower if v > SLOWER],
            "slow_cases": [{"name": c["name"], "ratio": v, "kernels": c["kernels"]} for v, c in rs if v > SLOW]}


def summary(cases):
    names = sorted({g for c in cases for g in c["groups"]})
    out = {"groups": {}}
    for g in names:
        mine = [c for c in cases if g in c["groups"]]
        out["groups"][g] = {str(t): group_summary(mine, t) for t in sorted({r["threads"] for c in mine for r in c["results"]})}
        for t, s in out["groups"][g].items():
            s["refused"] = sum(c.get("state") == "refused" for c in mine)
            s.update(named_cases(mine, int(t)) if s["cases"] else {})
    out["plan_ns"] = plan_summary(cases)
    return out


def plan_summary(cases):
    """Medians over the cases of PLANNED among them, or over all where there are none of those."""
    cases = [c for c in cases if set(c["groups"]) & PLANNED] or cases
    plans = [c["plan_ns"] for c in cases if "plan_ns" in c]
    first = [p["first"] for p in plans]
    return {"cases": len(plans), "first": median(first), "worst": max(first, default=None), "again": median([p["again"] for p in plans]),
            "oneDNN": median([r["plan_ns"] for c in cases for r in c["results"] if "plan_ns" in r])}


def median(v):
    return sorted(v)[len(v)//2] if v else None


def print_summary(result):
    print("\ngeometric means, x memcpy")
    print(row("group", "th", [HEADS.get(c, c) for c in COLUMNS] + ["best", "reach", "gcc/JIT", "apart"], "slower than the best peer (worst)"))
    for name, by_threads in result["summary"]["groups"].items():
        for t, s in by_threads.items():
            if not s["cases"]:
                continue
            means = [shown(s[c] and s[c]["geomean"]) for c in COLUMNS + ["best peer"]]
            reach = shown(dict(zip(("1", "2"), REACH.get(name, ()))).get(t))
            print(row("%s (%d)" % (name, s["cases"]), t, means + [reach, shown(s["gcc over ravel"]), shown(s["gcc apart"])],
                      "%d of %d (%s)" % (s["slower"], s["against"], shown(s["worst"]))))
    print_named(result["summary"]["groups"])
    print_plans(result["summary"]["plan_ns"])
    print_absent(result["cases"])


def print_named(groups):
    """A line a group; then, by name, what a peer does faster and what takes long."""
    every = [(g, t, s) for g, by_threads in groups.items() for t, s in by_threads.items() if s["cases"]]
    print("\n%-10s %2s %4s %7s %7s %7s %7s  %s" % ("group", "th", "n", "refused", "mean", "worst", "slower", "worst case"))
    for g, t, s in every:
        print("%-10s %2s %4d %7d %7.2f %7.2f %7d  %s" % (g, t, s["cases"], s["refused"], s["ravel"]["geomean"], s["worst_case"]["ratio"], s["slower"],
                                                   s["worst_case"]["name"]))
    for title, key in (("slower than the best peer by more than 5 %: x the peer", "slower_cases"), ("above %d x memcpy" % SLOW, "slow_cases")):
        print("\n" + title)
        for g, t, s in every:
            for c in s[key]:
                print("  %7.2f  %-56s %s th  %s" % (c["ratio"], c["name"], t, c["peer"] if "peer" in c else ", ".join(c["kernels"])))


def print_plans(ns):
    first, worst, dnnl = (shown(ns[k] and ns[k]*1e-6, "%.3f ms") for k in ("first", "worst", "oneDNN"))
    print("\nfrom layouts and shape to a function, of %d cases: median %s, worst %s; the same again: %s; oneDNN's reorder: %s" % (
        ns["cases"], first, worst, shown(ns["again"] and ns["again"]*1e-3, "%.2f us"), dnnl))


def print_absent(cases):
    """A line for each reason why somebody did not take part."""
    count = {}
    for r in (r for c in cases for r in c["results"] if r["state"] == "absent"):
        key = r["name"], r["threads"], r["why"]
        count[key] = count.get(key, 0) + 1
    if count:
        print("\nnot there")
    for (name, threads, why), n in sorted(count.items()):
        print("  %-18s %d thread%s, %d case%s: %s" % (name, threads, "s"*(threads > 1), n, "s"*(n > 1), why))


def write_chart(path, result):
    try:
        import chart
    except ImportError as e:
        print("no chart: %s: apt-get install python3-matplotlib" % e)
        return
    if chart.write(path, result):
        print("\nchart: %s" % path)
