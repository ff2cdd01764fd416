"""make bench: ravel beside memcpy, a non-temporal copy and other libraries, all in one process and on the same pages.

What a ratio is: within a round every candidate runs once; the ratio of a round is its time over memcpy's of that round; told are the
median over the rounds and, in brackets, the span without the outermost tenths. memcpy and the non-temporal copy move as many bytes as the
larger of the two tensors. A candidate whose bytes are not those that the two index tables of the layouts ask for is WRONG and has no
ratio."""

import argparse
import concurrent.futures
import ctypes as ct
import math
import pathlib
import re
import sys

import numpy as np

import cases
import drawn
import peers
import plain
import report
from libs import Libraries, Measured, Pages, Ready, Wrong, extents
from pace import Pace

SAMPLE = 2_000_000           # nanoseconds that a sample lasts at least
CACHE = 64 << 20             # both tensors below this: a call before each sample puts what it needs into the cache
REST = 6_000_000             # nanoseconds before a sample on two threads: what OpenMP's threads spin after a call
SLOW = 8                     # times memcpy: such candidates sit in every third round only
SMALL = 1 << 20              # below this nothing is split over threads


def available():
    """Bytes that can be had without swapping."""
    return next(int(line.split()[1])*1024 for line in open("/proc/meminfo") if line.startswith("MemAvailable"))


def held(to, side, bits, n):
    """The bits of n bytes that are compared, None where all are: the gaps of a pitch and what is left of the last byte may hold
    anything."""
    slots = math.prod(side.extents)
    if not side.pitched and slots*bits == 8*n:
        return None
    out = np.zeros(8*n//bits, bool)
    if side.pitched:
        out[to] = True
    else:
        out[:slots] = True
    return np.packbits(np.repeat(out, bits), bitorder="little")


class Job:
    """A case on its buffers, and the bytes that it must give."""

    def __init__(self, libs, case):
        self.libs, self.case, self.objects, self.threads, self.without = libs, case, {}, 1, ()
        *self.sides, self.kernels = plain.explained(libs.build, case)
        self.nest = cases.nest(case) or plain.forward(plain.loops(case, *self.sides))
        p = libs.plan(case, 1)
        self.src_bytes, self.dst_bytes = libs.ravel.ravel_plan_src_bytes(p), libs.ravel.ravel_plan_dst_bytes(p)
        libs.ravel.ravel_plan_free(p)
        self.bytes = max(self.src_bytes, self.dst_bytes)
        need, have = 3*self.bytes + 16*case.elements, available()
        if need > have:
            raise Wrong("needs %.1f GB, %.1f are free" % (need/1e9, have/1e9))
        self.src, self.dst, self.want = (Pages(libs, self.bytes) for _ in range(3))
        libs.bench.bench_fill(self.src.at, self.bytes, case.bits >= 16)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            to, from_ = pool.map(lambda layout: libs.table(case, layout), (case.dst, case.src))
        if self.sides[1].fill:                  # of bytes: a drawn case fills no other elements
            self.want.bytes[:] = self.sides[1].fill
        libs.bench.bench_expect(self.want.at, self.src.at, to.ctypes.data, from_.ctypes.data, len(case.shape), extents(case.shape), case.bits)
        self.held = held(to, self.sides[1], case.bits, self.dst_bytes)

    def free(self):
        for p in (self.src, self.dst, self.want):
            p.free()

    def wrong(self, c):
        """Run candidate c once; what is wrong with what it gives, or None."""
        self.dst.bytes[:] = 0xA5
        if ct.CFUNCTYPE(ct.c_int64, ct.c_void_p, ct.c_int64)(c.time)(c.arg, 1) < 0:
            return "it failed"
        want, n = (self.src.at, self.bytes) if c.name in peers.COPIES else (self.want.at, self.dst_bytes)
        got = self.dst.bytes if c.result is None else c.result()
        if got.size < n:
            return "%d bytes instead of %d" % (got.size, n)
        if self.held is not None and c.name not in peers.COPIES:
            got = got[:n] & self.held
        at = self.libs.bench.bench_differ(got.ctypes.data, want, n)
        return None if at < 0 else "byte %d of %d" % (at, n)


def candidates(job):
    """Those that are there, and a record for those that are not."""
    there, records = [], []
    for name, make in peers.MAKERS:
        if name in job.without:
            continue
        try:
            there.append(make(job))
        except peers.Absent as e:
            records.append({"name": name, "threads": job.threads, "state": "absent", "why": str(e)})
        except Wrong as e:
            records.append({"name": name, "threads": job.threads, "state": "wrong", "why": str(e)})
    return there, records


def measure(job, there, rounds, sample):
    """Samples in nanoseconds a call, a row a candidate."""
    b = job.libs.bench
    ns = np.full((len(there), rounds), -1.0)
    m = (Measured*len(there))()
    base = 0.0
    for k, c in enumerate(there):
        m[k].time, m[k].arg = c.time, c.arg
        m[k].ns = ns[k].ctypes.data_as(ct.POINTER(ct.c_double))
        b.measure_calls(ct.byref(m[k]), sample, base, SLOW)
        if k == 0:
            b.measure_rounds(m, 1, 1, Ready(0, 1))
            base = ns[0, 0]
    b.measure_rounds(m, len(there), rounds, Ready(REST if job.threads > 1 else 0, int(2*job.bytes < CACHE)))
    return ns, [m[k].calls for k in range(len(there))]


def spread(b, v, base=None):
    d = ct.POINTER(ct.c_double)
    s = b.measure_spread(v.ctypes.data_as(d), len(v)) if base is None else b.measure_ratio(
        v.ctypes.data_as(d), base.ctypes.data_as(d), len(v))
    return {"median": s.median, "low": s.low, "high": s.high}


def record(job, c, why):
    r = {"name": c.name, "threads": job.threads, "state": "wrong" if why else "ok"}
    for key, v in (("why", why), ("note", c.note), ("plan_ns", c.created)):
        if v is not None:
            r[key] = v
    return r


def one_setting(job, rounds, sample=SAMPLE):
    """Records of all candidates with job.threads threads."""
    there, records = candidates(job)
    try:
        wrong = {c.name: job.wrong(c) for c in there}
        right = [c for c in there if not wrong[c.name]]
        ns, calls = measure(job, right, rounds, sample)
        wrong.update({c.name: job.wrong(c) for c in right})
        rows = {c.name: v for c, v in zip(right, ns) if not wrong[c.name]}
        told = {c.name: record(job, c, wrong[c.name]) for c in there}
        for c, n in zip(right, calls):
            if c.name in rows:
                told[c.name].update(times(job.libs.bench, rows, c.name), calls=n)
    finally:
        for c in there:
            if c.free:
                c.free()
    return sorted(records + list(told.values()), key=lambda r: [n for n, _ in peers.MAKERS].index(r["name"]))


def times(b, rows, name):
    v = rows[name]
    out = {"rounds": int((v >= 0).sum()), "ns": spread(b, v)}
    for base in peers.COPIES:
        if base in rows:
            out[base] = spread(b, v, rows[base])
    best = min((p for p in peers.PEERS if p in rows), key=lambda p: spread(b, rows[p])["median"], default=None)
    if best and name in peers.OURS:
        out["best_peer"] = dict(spread(b, v, rows[best]), name=best)
    return out


def one_case(libs, case, options):
    out = {"name": case.name, "groups": case.groups, "dtype": case.dtype, "shape": list(case.shape), "from": case.src, "to": case.dst}
    try:
        job = Job(libs, case)
    except Wrong as e:
        return dict(out, state="refused", why=str(e), results=[])
    job.without = options.without
    out.update(state="measured", src_bytes=job.src_bytes, dst_bytes=job.dst_bytes, kernels=job.kernels, results=[])
    try:
        for job.threads in options.threads:
            if job.threads == 1 or job.bytes >= SMALL:
                out["results"] += one_setting(job, options.rounds, options.sample)
    except Wrong as e:
        out.update(state="refused", why=str(e))
    finally:
        job.free()
    return out


# --- plan latency

def latency(libs, case, fresh=3, again=50):
    """Nanoseconds from layouts and shape as text to a callable function: in contexts that have compiled something else before, and
    of the same request once more while its plan is held."""
    b, rq = libs.bench, libs.request(case, 1)
    other = libs.request(cases.Case("", [], "f32", (8, 8), "(R,C){R, C}", "(R,C){C, R}"), 1)
    first = []
    for _ in range(fresh):
        cx, keep = libs.context(), ct.c_void_p()
        b.bench_compile(cx, ct.byref(other), None)
        first.append(b.bench_compile(cx, ct.byref(rq), ct.byref(keep)))
        more = sorted(b.bench_compile(cx, ct.byref(rq), None) for _ in range(again if len(first) == fresh else 0))
        libs.ravel.ravel_plan_free(keep)
        libs.ravel.ravel_context_free(cx)
    return {"first": float(np.median(first)), "again": float(np.median(more))}


def chosen(options):
    if options.seed is not None:
        found = drawn.every(options.seed, options.groups, options.quick, options.scale)
        return [c for c in found if not options.only or re.search(options.only, c.name)]
    out = [c for c in cases.every() if (not options.cases or set(c.groups) & set(options.cases)) and
           (not options.only or re.search(options.only, c.name))]
    if options.quick:
        seen = {}
        for c in out:
            seen.setdefault(c.groups[0], []).append(c)
        out = [c for v in seen.values() for c in v[::max(1, len(v)//4)]]
    if options.scale:
        out = [cases.scaled(c, options.scale) for c in out]
    return out


def arguments(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    groups = sorted({g for c in cases.every() for g in c.groups})

    def one_of(groups):
        def group(text):
            unknown = set(text.split(",")) - set(groups)
            if unknown:
                raise argparse.ArgumentTypeError("no group %s: %s" % (", ".join(unknown), " ".join(groups)))
            return text.split(",")
        return group
    p.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="the build folder")
    p.add_argument("--cases", type=one_of(groups), metavar="GROUP,...", help="of " + " ".join(groups))
    p.add_argument("--seed", type=int, metavar="N", help="draw the cases by this number instead of reading the lists")
    p.add_argument("--groups", type=one_of(drawn.GROUPS), metavar="GROUP,...",
                   help="drawn ones (by the seed 1 unless given): " + " ".join(drawn.GROUPS))
    p.add_argument("--only", metavar="REGEXP", help="cases whose name has it")
    p.add_argument("--quick", action="store_true", help="some cases of each group, three rounds")
    p.add_argument("--own", action="store_true", help="without other libraries: copies, ravel, and what it emits")
    p.add_argument("--rounds", type=int, help="9 unless given")
    p.add_argument("--threads", type=cases.numbers, metavar="N,...", help="1,2 unless given; 1 for drawn cases")
    p.add_argument("--json", type=pathlib.Path, metavar="FILE", help="BUILD/bench.json unless given")
    p.add_argument("--svg", type=pathlib.Path, metavar="FILE", help="BUILD/bench.svg unless given")
    p.add_argument("--sample", type=int, default=SAMPLE, metavar="NS", help="nanoseconds that a sample lasts at least, %d unless given" % SAMPLE)
    p.add_argument("--scale", type=int, metavar="N", help="halve extents until a case has at most N elements (for tests)")
    o = p.parse_args(argv)
    o.rounds = o.rounds or (3 if o.quick else 9)
    if o.groups and o.seed is None:
        o.seed = 1
    if o.cases and o.seed is not None:
        p.error("drawn cases are chosen by --groups")
    o.threads = o.threads or ((1, 2) if o.seed is None else (1,))
    o.without = set() if o.seed is None else {"ravel interpreter", "XLA", *(["ravel gcc"]*o.quick)}
    if o.own:
        o.without = {"ravel interpreter", *peers.PEERS}
    o.json, o.svg = o.json or o.build/"bench.json", o.svg or o.build/"bench.svg"
    if o.rounds < 1 or min(o.threads) < 1 or max(o.threads) > 64:
        p.error("rounds are 1 or more, threads from 1 to 64")
    return o


def main(argv):
    options = arguments(argv)
    libs = Libraries(options.build.resolve())
    found = chosen(options)
    if not found:
        sys.exit("bench: there is no such case")
    result = {"machine": report.machine(libs), "settings": {"rounds": options.rounds, "sample_ns": options.sample, "quick": options.quick,
                                                            "seed": options.seed, "scale": options.scale}, "cases": []}
    if options.seed is not None:
        print("seed %d: %d cases" % (options.seed, len(found)))
    report.print_head()
    pace = Pace(len(found))
    for k, case in enumerate(found, 1):
        pace.show("[%d/%d] %s" % (k, len(found), case.name), k - 1)
        c = one_case(libs, case, options)
        if c["state"] == "measured":
            c["plan_ns"] = latency(libs, case)
        report.print_case(c)
        result["cases"].append(c)
        result["summary"] = report.summary(result["cases"])
        report.write_json(options.json, result)
    report.print_summary(result)
    report.write_chart(options.svg, result)
    wrong = [(c["name"], r["name"]) for c in result["cases"] for r in c["results"] if r["state"] == "wrong" and r["name"] in peers.OURS]
    sys.exit("bench: wrong: %s" % wrong if wrong else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
