"""Break ravel in small ways, one at a time, and see that the tests notice: tests/mutants.toml lists the ways.

    mutate.py --build build [--every N] [--only TEXT] [--jobs J] [--trust]

Each worker has a copy of the tree, in which it puts one mutant, builds, and runs the tests below until the first one fails.  A
mutant that all of them pass has survived, and so has a hole in the tests.  Goldens and "is generated/ current" are not among
them: they notice any change, right or wrong."""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREE = ["Makefile", "cli", "compiler", "runtime", "templates", "specs", "generated", "tests", "examples", "bench", "docs", "package", "python", "pyproject.toml"]
UNITS = ["build/tests/test_" + u for u in (
    "narrow", "choices", "plan", "plan_at", "combs", "kernels", "decide", "decide_known", "expr", "cache", "parts", "interpret", "wisdom", "tuning", "bank",
    "shuffle")]
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
FEW = {"RAVEL_AGAIN": "1", "RAVEL_DECISIONS": "40", "ROUNDS": "1500"}
LIMIT = 900                        # seconds; a mutant that loops is noticed too
# cheapest first
STAGES = [[u] for u in UNITS] + [PYTEST + stage for stage in (
    ["tests/test_random.py", "-k", "test_cases"],
    ["tests/test_blocks.py"],
    ["tests/test_runtime.py", "tests/test_runtime_plans.py", "tests/test_runtime_command.py", "-k", "library or closed or zero or alone or sizes or checked or alike or random or boxes or shared or past or few or residuals or proven"],
    ["tests/test_pairs.py"],
    ["tests/test_emit.py", "tests/test_verify.py", "tests/test_generated.py", "-k", "not current"],
    ["tests/test_random.py", "tests/test_decisions.py", "tests/test_tables.py", "tests/test_banks.py"],
)]

SPARSE = ["tests/test_sparse%s.py" % part for part in ("", "_ranked", "_places", "_kept", "_large", "_hostile", "_emit", "_command", "_files", "_ordered", "_packed")]

# Files that have tests of their own, which no other sees.
OWN = {"compiler/plan/plan_join": ["tests/test_swizzles.py"], "runtime/device_files": ["tests/test_device_plan.py"], "runtime/device": ["tests/test_device.py", "tests/test_device_opencl.py"], "runtime/gpu_": ["tests/test_device_plan.py"], "compiler/gpu/grid": ["tests/test_grid.py", "tests/test_grid_costs.py", "tests/test_glsl.py"],
       "templates/glsl.lua": ["tests/test_glsl.py"], "templates/blocks/permute.glsl": ["tests/test_glsl.py"],
       "compiler/gpu/bank_frag": ["tests/test_banks_fragments.py"], "compiler/burst/": ["tests/test_bursts.py"], "compiler/gpu/frag": ["tests/test_fragments.py"],
       "compiler/sparse/": SPARSE, "templates/c/sparse": SPARSE}


def stages(m):
    """A mutant may name its tests itself."""
    own = m.get("tests") or [test for start, tests in OWN.items() if m["file"].startswith(start) for test in tests]
    return [PYTEST + [test] for test in own] or STAGES


def mutants():
    with open(ROOT / "tests" / "mutants.toml", "rb") as f:
        return tomllib.load(f)["mutant"]


def name(m):
    return "%s: %s" % (m["file"], m["what"])


def mutated(m):
    """The file's text with the mutant in it.  What is replaced stands there once."""
    text = (ROOT / m["file"]).read_text()
    assert text.count(m["find"]) == 1, "%s: %d places read '%s'" % (m["file"], text.count(m["find"]), m["find"])
    assert m["put"] != m["find"]
    return text.replace(m["find"], m["put"])


def slot(build, number):
    """A copy of the tree with its objects, in which make has nothing to do."""
    at = build / "mutants" / str(number)
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir(parents=True)
    for part in TREE:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, at / part, **({"symlinks": True} if copy is shutil.copytree else {}))
    shutil.copytree(build, at / "build", ignore=shutil.ignore_patterns("mutants", "run", "*.o.tmp"))
    return at


def run(at, args):
    """(exit code, output); None where it had to be stopped."""
    env = {**os.environ, **FEW, "RAVEL_BUILD": "build"}
    env.pop("CI", None)            # a mutant may well leave a variable unused
    try:
        r = subprocess.run(args, cwd=at, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, ""
    return r.returncode, r.stdout


def killer(at, stages):
    """Who noticed: the first failing test, or how it ended; None when all passed."""
    for args in stages:
        code, out = run(at, args)
        if code == 0:
            continue
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)|^\[  FAILED  \] (\w+)$", out, re.M)
        assert code is None or code < 0 or failed, "%s ended with %d:\n%s" % (args, code, out[-2000:])
        return (failed[1] or failed[2]) if failed else "%s ended by %s" % (args[0] if len(args) == 1 else args[len(PYTEST)], code or "the time limit")
    return None


def units(m):
    """The unit tests that a mutant's own tests run."""
    return re.findall(r"test_unit\[(\w+)-plain\]", " ".join(m.get("tests", [])))


def build(at, m=None):
    own = ["build/tests/" + u for u in (units(m) if m else [])]
    own += ["build/tests/plan_choices"]*(m is not None and "tests/test_plan_choices.py" in m.get("tests", []))
    code, out = run(at, ["make", "-s", "all", "build/tests/grid_run", "build/tests/device_memory", *dict.fromkeys(UNITS + own)])
    assert code == 0, "does not build:\n" + out[-2000:]


def try_mutant(slots, m):
    at = slots.get()
    path = at / m["file"]
    good = path.read_text()
    try:
        path.write_text(mutated(m))
        build(at, m)
        return killer(at, stages(m))
    finally:
        path.write_text(good)
        slots.put(at)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default="build", help="the build folder to start from")
    p.add_argument("--every", type=int, default=1, help="take every Nth mutant")
    p.add_argument("--only", default="", help="take those whose name contains this")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--trust", action="store_true", help="the tests are known to pass without a mutant")
    o = p.parse_args()
    chosen = [m for m in mutants() if o.only in name(m)][::o.every]
    slots = queue.Queue()
    for i in range(o.jobs):
        slots.put(slot(ROOT / o.build, i))
    first = slots.get()
    build(first)
    used = [stage for m in chosen for stage in stages(m)]
    by = None if o.trust else killer(first, [stage for i, stage in enumerate(used) if stage not in used[:i]])
    assert by is None, "the tests fail without any mutant: " + by
    slots.put(first)
    survived = 0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for m, by in zip(chosen, pool.map(lambda m: try_mutant(slots, m), chosen)):
            survived += by is None
            print("%-8s %s%s" % ("survived" if by is None else "killed", name(m), "" if by is None else "\n         by " + by), flush=True)
    print("%d mutants, %d killed, %d survived" % (len(chosen), len(chosen) - survived, survived))
    shutil.rmtree(ROOT / o.build / "mutants")
    return survived > 0


if __name__ == "__main__":
    sys.exit(main())
