"""Emitted C under Valgrind: buffers malloc'ed to the byte, holes and padding of the source undefined.  No error, and afterwards every
element and padding of the destination is defined, to the bit, and every hole still is not."""

import shutil
import subprocess

import numpy as np
import pytest

import formulas as F
import generated
import orders as O
import ravel
import test_emit

DRIVER = ravel.BUILD / "tests/memcheck"
BITS = {**F.BITS, **test_emit.BITS}
BATCH = 8


def undefined(n, bits, slots):
    """The storage of n elements as bits: 0 at the slots, 1 elsewhere."""
    el = ravel.unpack(np.full(-(-n*bits//8), 0xFF, np.uint8), bits).copy()
    el[slots] = np.zeros((), el.dtype)
    return ravel.pack(el, bits)


def masks(a, b, shape, bits):
    """Undefined bits of the source before, of the destination after.  b's dims are a's, in the same order."""
    src, dst = O.place(a, shape, bits), O.place(b, shape, bits)
    written = np.ravel(dst.addr)
    if dst.fill != "none":
        written = np.concatenate([written, np.ravel(dst.pad)])
    return undefined(src.size, bits, np.ravel(src.addr)), undefined(dst.size, bits, written)


def compiled(source, so):
    subprocess.run(["gcc", "-std=c99", "-O1", "-g1", "-shared", "-fPIC", "-o", str(so), str(source)], check=True)


class Jobs:
    def __init__(self, folder):
        self.folder, self.lines = folder, []

    def add(self, name, function, source, before, after):
        so, bits = self.folder / (name + ".so"), [self.folder / (name + end) for end in (".before", ".after")]
        path = self.folder / (name + ".c")
        path.write_text(source)
        compiled(path, so)
        for p, mask in zip(bits, (before, after)):
            p.write_bytes(mask.tobytes())
        self.lines.append("%s %s %d %d %s %s\n" % (so, function, before.size, after.size, *bits))

    def run(self):
        """Whether Valgrind has nothing to say, and what was said."""
        r = subprocess.run(["valgrind", "-q", "--error-exitcode=9", "--leak-check=no", str(DRIVER)], input="".join(self.lines),
                           capture_output=True, text=True)
        return r.returncode == 0 and r.stderr == "" and r.stdout == "%d jobs\n" % len(self.lines), r.stdout + r.stderr


@pytest.fixture
def jobs(tmp_path):
    assert shutil.which("valgrind") and DRIVER.exists(), "valgrind, or `make unit`, is missing"
    return Jobs(tmp_path)


RELAYOUTS = [(n, *generated.RELAYOUTS[n]) for n in generated.RELAYOUTS]


@pytest.mark.parametrize("part", range(0, len(RELAYOUTS), BATCH))
def test_generated_relayouts(jobs, part):
    for name, a, b, shape, dtype in RELAYOUTS[part:part+BATCH]:
        shape = tuple(int(n) for n in shape.split(","))
        jobs.add(name, name, (generated.FOLDER / (name + ".c")).read_text(), *masks(a, b, shape, BITS[dtype]))
    clean, text = jobs.run()
    assert clean, text


CALLS = {"inverse": "for (int64_t a = -3; a < %d; a += 7) (void)%s(a, d);",
         "offset": "int64_t *x = d; for (x[0] = 0; x[0] < %d; x[0] += 7) x[1] = %s(%s);"}


def test_generated_functions(jobs):
    """Through an array of exactly their rank; what it held before is not asked for."""
    for name, (kind, layout, shape, dtype) in generated.FUNCTIONS.items():
        rank, size = shape.count(",") + 1, O.place(layout, tuple(map(int, shape.split(","))), BITS[dtype]).size
        body = CALLS[kind] % ((size + 3, name) if kind == "inverse" else (8, name, ", ".join(["x[0]"] + ["0"]*(rank - 1))))
        room = np.zeros(8*(rank if kind == "inverse" else 2), np.uint8)
        jobs.add(name, "f", (generated.FOLDER / (name + ".c")).read_text() +
                 "void f(void *d, const void *s);\nvoid f(void *d, const void *s) { (void)s; %s }\n" % body, room, room)
    clean, text = jobs.run()
    assert clean, text


def test_small_ones(jobs, tmp_path):
    """Every width, fill, tails, swizzles, pitches."""
    for i, case in enumerate(test_emit.CASES):
        source = test_emit.relayout(tmp_path / "f.c", case)
        jobs.add("k%d" % i, "kern", source, *masks(*case[:3], BITS[case[3]]))
    clean, text = jobs.run()
    assert clean, text


@pytest.mark.parametrize("old, new, says", [
    ("for (int64_t r = 0; r < rows; r++)", "for (int64_t r = 0; r <= rows; r++)", "Invalid"),
    ("RAVEL_RESTRICT dst = (unsigned char *)dst_;", "RAVEL_RESTRICT dst = (unsigned char *)dst_; dst[60] = 0;", "undefined, 0xff should be"),
    ("int64_t r = 0", "int64_t r = 1", "undefined, 0x00 should be"),
    ("RAVEL_RESTRICT src = (const unsigned char *)src_;", "RAVEL_RESTRICT src = (const unsigned char *)src_; if (src[11]) return;", "uninitialised")])
def test_what_it_finds(jobs, tmp_path, old, new, says):
    """One more row, a hole written to, a row not written, a decision on a hole."""
    case = ("(R,C){R, C, pitch = {R = 32}}", "(R,C){R, C, pitch = {R = 64}}", (3, 5), "u8")
    source = test_emit.relayout(tmp_path / "f.c", case)
    assert old in source
    jobs.add("bug", "kern", source.replace(old, new), *masks(*case[:3], 8))
    clean, text = jobs.run()
    assert not clean and says in text, text
