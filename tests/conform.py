"""Whether a target of blocks (templates/README.md) has all that kernels need: conform.py TARGET [--check COMMAND]

TARGET is a name or a table, as of `ravel emit --target`.  The kernels of every case of tests/grids.py are written with it, and COMMAND, in which {} is
the file, is run on each.  Ends with 1 and a sentence for each that failed."""

import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile

import grids as G


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("target")
    p.add_argument("--check", metavar="COMMAND", help="as in 'nvcc -arch=sm_90 -cubin -o /dev/null {}'")
    o = p.parse_args()
    failed, rows = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for i, case in enumerate(G.CASES):
            k = G.Kernel(pathlib.Path(folder), i, case, o.target)
            why = k.refused
            if not why and o.check:
                r = subprocess.run(shlex.split(o.check.replace("{}", str(k.path))), capture_output=True, text=True)
                why = r.stdout + r.stderr if r.returncode else ""
            rows |= {b["by"] for b in k.manifest["boxes"]} if k.manifest else set()
            failed += bool(why)
            if why:
                print("%s\n  %s" % (case, why.strip().replace("\n", "\n  ")))
    print("%d cases, %d failed; rows: %s" % (len(G.CASES), failed, ", ".join(sorted(rows))))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
