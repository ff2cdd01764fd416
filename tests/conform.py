"""Whether a target (templates/README.md) has all that its plans need: conform.py TARGET [--check COMMAND]

TARGET is a name or a table, as of `ravel emit --target`: of blocks, or of bursts.  The kernels of every case of tests/grids.py are written with it (for
bursts those whose elements are whole bytes, and fills of every width), index functions, and loads and stores of fragments where the table has them; and
COMMAND, in which {} is the file, is run on each.  Ends with 1 and a sentence for each that failed."""

import argparse
import itertools
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import grids as G
import ravel

SUFFIX = {"blocks": "c", "bursts": "c", "cuda": "cu", "glsl": "comp", "hip": "hip", "opencl": "cl"}
FILLS = [("NCHW", "(N,C,H,W){N, C//16, H, W, C%16, fill = 3}", (2, 20, 5, 7), bits) for bits in (8, 16, 32, 64, 128)]
LEAST = [("(A,B){A, B}", "(A,B){max(A - 10, 0), min(A, 10), B//6, B%6}", (1300, 6), 16)]
INDEX = [(kind, None, layout, shape, bits) for kind in ("offset", "inverse")
         for layout, shape, bits in [("NC1HWC0", (2, 20, 5, 7), 16), ("SW128", (8, 64), 16), ("ROW_MAJOR", (1, 1), 32), ("(A,B){A, 63 - B}", (9, 64), 8)]]
FRAGMENTS = [("load", a, "MMA_A", (20, 64), 16) for a in ("ROW_MAJOR", "COL_MAJOR", "SW128")] + [
    ("load", "ROW_MAJOR", "MMA_C", (64, 20), 32), ("store", "MMA_C", "ROW_MAJOR", (64, 64), 32), ("store", "MMA_C", "COL_MAJOR", (20, 12), 32)]


def emit(path, target, case, *more):
    """Why it is refused; nothing where it is not."""
    kind, a, b, shape, bits = case
    args = [*(["--from", a] if a else []), "--to", b, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits], "--target", target, "--kind", kind]
    r = subprocess.run([G.RAVEL, "emit", *args, "-o", path, *more], capture_output=True, text=True)
    return r.stderr or "ended with %d" % r.returncode if r.returncode else ""


def model(target):
    r = subprocess.run([G.RAVEL, "explain", "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--shape", "8,8", "--dtype", "f32", "--target", target, "--json"],
                       capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr.strip())
    return "bursts" if "burst" in json.loads(r.stdout) else "blocks"


class Run:
    """Texts by one target, each through the command; counts and says what failed."""
    def __init__(self, folder, target, check):
        self.folder, self.target, self.check, self.number, self.rows = folder, target, check, itertools.count(), set()

    def refused(self, path, case, has_manifest):
        manifest = self.folder / "manifest.json"
        why = emit(path, self.target, case, *(["--manifest", manifest] if has_manifest else []), *(["--name", path.stem]))
        if not why and has_manifest:
            self.rows |= {b["by"] for b in json.loads(manifest.read_text())["boxes"]}
        if not why and self.check:
            r = subprocess.run(shlex.split(self.check.replace("{}", str(path))), capture_output=True, text=True)
            why = r.stdout + r.stderr or "the command ended with %d" % r.returncode if r.returncode else ""
        return why

    def all(self, cases, has_manifest=False):
        """How many failed."""
        failed = 0
        for case in cases:
            why = self.refused(self.folder / ("kern%d.%s" % (next(self.number), SUFFIX.get(self.target, "txt"))), case, has_manifest)
            failed += bool(why)
            if why:
                print("%s\n  %s" % (case, why.strip().replace("\n", "\n  ")))
        return failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("target")
    p.add_argument("--check", metavar="COMMAND", help="as in 'nvcc -arch=sm_90 -cubin -o /dev/null {}'")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(pathlib.Path(folder), o.target, o.check)
        if model(o.target) == "bursts":
            cases = [("relayout", *c) for c in G.CASES if c[3] >= 8] + [("relayout", *c) for c in FILLS + LEAST]
            failed = run.all(cases)
            print("%d cases, %d failed" % (len(cases), failed))
            return failed > 0
        cases = [("relayout", *c) for c in G.CASES]
        failed = run.all(cases, True)
        print("%d cases, %d failed; rows: %s" % (len(cases), failed, ", ".join(sorted(run.rows))))
        functions = run.all(INDEX)
        print("%d index functions, %d failed" % (len(INDEX), functions))
        if "has no tile loads" in emit("/dev/null", o.target, FRAGMENTS[0]):
            print("no fragments: the table has no tile loads")
            return failed + functions > 0
        fragments = run.all(FRAGMENTS)
        print("%d loads and stores of fragments, %d failed" % (len(FRAGMENTS), fragments))
    return failed + functions + fragments > 0


if __name__ == "__main__":
    sys.exit(main())
