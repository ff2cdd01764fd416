"""Runs the fuzz targets: run.py BUILD [TARGET ...] [--seconds N] [--keep], two at a time, and prints a table.

What is found is minimised and kept in tests/fuzz/found/TARGET, where tests/test_fuzz.py replays it for ever.  With --keep
tests/fuzz/corpus/TARGET becomes the fewest of all inputs known that reach what the seeds do not."""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import seeds

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = sorted(p.stem.removeprefix("fuzz_") for p in HERE.glob("fuzz_*.c"))
# Longest input, seconds of wall time for the slowest on a busy machine, inputs of the short run in CI.  A spec may take 2 s
# of processor time.
LIMITS = {"arrays": (70, 20, 300), "convert": (700, 20, 3000), "elf": (3000, 20, 60000), "expr": (160, 20, 6000), "layout": (240, 60, 4000),
          "npy": (2000, 20, 60000), "numbers": (80, 20, 1250), "pair": (96, 60, 150), "sparse": (200, 20, 4000), "spec": (2000, 60, 4000),
          "target": (8000, 60, 1500), "wisdom": (600, 20, 25000)}
ROOM = 40000                                       # bytes of a target's corpus, at most
SMALL_STEPS = {"arrays", "pair", "numbers", "convert", "sparse"}       # inputs that are choices: no growing from short ones
ENV = {"ASAN_OPTIONS": "allocator_may_return_null=1:detect_stack_use_after_return=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


def kept(target):
    """What is committed: inputs that reach what seeds do not, and all that were ever found."""
    return [d for d in (HERE/"corpus"/target, HERE/"found"/target) if d.is_dir()]


def command(build, target, *options):
    return [build/"fuzz"/("fuzz_" + target), "-close_fd_mask=1", "-rss_limit_mb=1024", "-timeout=%d" % LIMITS[target][1], *options]


def mutate(build, target, *options):
    """The command that makes new inputs; they go to BUILD/corpus."""
    folders = [build/"corpus"/target, build/"artifacts"/target]
    for f in folders:
        f.mkdir(parents=True, exist_ok=True)
    return command(build, target, "-max_len=%d" % LIMITS[target][0], "-dict=%s" % (build/"dict"/target), "-len_control=%d" %
                   (0 if target in SMALL_STEPS else 100), "-print_final_stats=1", "-artifact_prefix=%s/" % folders[1], *options,
                   folders[0], build/"seeds"/target, *kept(target))


def call(args, log=None):
    """Exit status and all that was said."""
    r = subprocess.run([str(a) for a in args], env={**os.environ, **ENV}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = r.stderr.decode(errors="replace")
    if log:
        log.write_text(text)
    return r.returncode, text


def last(pattern, text, default="-"):
    return (re.findall(pattern, text) or [default])[-1]


def figures(text):
    stat = {k: last(r"stat::%s: +(\d+)" % k, text) for k in
            ("number_of_executed_units", "average_exec_per_sec", "slowest_unit_time_sec", "peak_rss_mb")}
    return [stat["number_of_executed_units"], last(r"cov: (\d+)", text), last(r"ft: (\d+)", text), last(r"corp: (\d+)", text),
            stat["average_exec_per_sec"], stat["slowest_unit_time_sec"], stat["peak_rss_mb"]]


def content_name(data):
    return hashlib.sha1(data).hexdigest()[:12]


def keep(build, target, crash):
    """Minimise a finding and keep it; its path."""
    small = crash.with_suffix(".small")
    call(command(build, target, "-minimize_crash=1", "-max_total_time=60", "-exact_artifact_path=%s" % small, crash))
    data = (small if small.exists() else crash).read_bytes()
    at = HERE/"found"/target/content_name(data)
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_bytes(data)
    return at


def minimise(build, target):
    """Edges of the code count, not how often one is taken; where there is too much the shortest inputs stay."""
    with tempfile.TemporaryDirectory() as folder:
        merged = pathlib.Path(folder, "merged")
        shutil.copytree(build/"seeds"/target, merged)
        code, text = call(command(build, target, "-max_len=%d" % LIMITS[target][0], "-set_cover_merge=1", "-use_counters=0",
                                  merged, build/"corpus"/target, *kept(target)))
        if code:
            sys.exit("%s: the merge failed\n%s" % (target, text[-3000:]))
        new = [p.read_bytes() for p in merged.iterdir() if not (build/"seeds"/target/p.name).exists()]
    at, room = HERE/"corpus"/target, ROOM
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir(parents=True)
    for data in sorted(new, key=lambda d: (len(d), d)):
        room -= len(data)
        if room >= 0:
            (at/content_name(data)).write_bytes(data)


def fuzz(build, target, seconds):
    log = build/("%s.log" % target)
    old = set((build/"artifacts"/target).glob("*"))
    code, text = call(mutate(build, target, "-max_total_time=%d" % seconds, "-report_slow_units=5"), log)
    new = sorted(p for p in set((build/"artifacts"/target).glob("*")) - old if p.name.split("-")[0] in ("crash", "leak", "oom", "timeout"))
    found = [keep(build, target, p) for p in new]
    return [target, *figures(text), len(found)], found, code


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--seconds", type=int, default=600)
    p.add_argument("--keep", action="store_true")
    p.add_argument("targets", nargs="*", default=TARGETS)
    o = p.parse_args()
    build = o.build.resolve()
    seeds.write(build)
    rows, bad = [], False
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for row, found, code in pool.map(lambda t: fuzz(build, t, o.seconds), o.targets):
            rows.append(row)
            for f in found:
                print("%s: replay with %s %s" % (row[0], o.build/"fuzz"/("fuzz_" + row[0]), f))
            bad |= code != 0 or bool(found)
    if o.keep and not bad:
        for target in o.targets:
            minimise(build, target)
    print("%-8s %11s %6s %7s %6s %7s %9s %6s %6s" % ("target", "executions", "cov", "ft", "corpus", "exec/s", "slowest s", "MB", "found"))
    for row in rows:
        print("%-8s %11s %6s %7s %6s %7s %9s %6s %6s" % tuple(row))
    return bad


if __name__ == "__main__":
    sys.exit(main())
