"""What tests reached: coverage.py BUILD [--missed REGEXP].  A table by folder and file, from gcov's JSON of every object of BUILD:
lines that ran, branches that were taken.  --missed prints the lines of the files so named that did not run (-), and those with a
branch that was never taken (?)."""

import argparse
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = re.compile(r"cli/(main|cli_\w+)\.c$")


class Source:
    """Counts of a file's lines, and of the branches of each; kernels are compiled several times from one text."""

    def __init__(self):
        self.lines = collections.Counter()
        self.branches = collections.Counter()

    def add(self, line):
        at = line["line_number"]
        self.lines[at] += line["count"]
        for i, b in enumerate(line["branches"]):
            self.branches[at, line.get("function_name"), i] += b["count"]

    def figures(self):
        counts = [*self.lines.values()], [*self.branches.values()]
        return [n for c in counts for n in (sum(map(bool, c)), len(c))]


def gcov(notes):
    """The JSON of some objects, a file each."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--hash-filenames", *notes], cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        for f in pathlib.Path(folder).glob("*.json.gz"):
            yield json.loads(gzip.decompress(f.read_bytes()))


def read(build):
    """Source of every file in cli, compiler, runtime and templates."""
    notes = sorted(p for d in ("cli", "compiler", "runtime") for p in (build/d).rglob("*.gcno"))
    found = collections.defaultdict(Source)
    for data in gcov(notes):
        for f in data["files"]:
            path = (pathlib.Path(data["current_working_directory"])/f["file"]).resolve()
            if not path.is_relative_to(ROOT) or path.is_relative_to(build):
                continue
            for line in f["lines"]:
                found[str(path.relative_to(ROOT))].add(line)
    return found


def row(name, figures):
    parts = ["%6d %6d %5.1f %%" % (n, of, 100*n/of) if of else "%22s" % "" for n, of in zip(figures[::2], figures[1::2])]
    print("%-34s %s %s" % (name, *parts))


def total(name, sources):
    row(name, [sum(column) for column in zip(*(s.figures() for s in sources))])


def table(found):
    print("%-34s %6s %6s %7s %6s %6s %7s" % ("file", "lines", "of", "", "taken", "of", ""))
    for folder in sorted({str(pathlib.Path(p).parent) for p in found}):
        inside = {p: s for p, s in found.items() if str(pathlib.Path(p).parent) == folder}
        for path, s in sorted(inside.items()):
            row(path, s.figures())
        total(folder + "/", inside.values())
    total("the library", [s for p, s in found.items() if not COMMAND.search(p)])
    total("the command", [s for p, s in found.items() if COMMAND.search(p)])


def missed(path, source):
    text = (ROOT/path).read_text().splitlines()
    half = {at for (at, _, _), n in source.branches.items() if not n}
    for at in sorted(source.lines):
        if not source.lines[at] or at in half:
            print("%s:%d: %s %s" % (path, at, "?" if source.lines[at] else "-", text[at - 1]))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--missed", metavar="REGEXP")
    o = p.parse_args()
    found = read(o.build.resolve())
    if not any(sum(s.lines.values()) for s in found.values()):
        sys.exit("%s: no counts; make coverage" % o.build)
    if o.missed is None:
        table(found)
    for path in sorted(p for p in found if o.missed is not None and re.search(o.missed, p)):
        missed(path, found[path])


if __name__ == "__main__":
    main()
