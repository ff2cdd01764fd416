"""Every stage as text, for two dozen conversions: tests/golden/NAME.txt holds what `check`, `explain` and
`emit` say.  `make golden` rewrites the files; the diff is the review."""
import os
import pathlib
import re
import shlex
import subprocess

import pytest

import ravel

FOLDER = pathlib.Path(__file__).parent / "golden"

# name: from, to, shape, dtype
CASES = {
    "transpose": ("NCHW", "NHWC", "2,3,4,5", "u8"),
    "padded": ("NCHW", "NC1HWC0", "2,20,5,7", "f16"),
    "unpadded": ("NC1HWC0", "NCHW", "2,20,5,7", "f16"),
    "nested_blocks": ("NCHW8", "{N, C//16, H, W, C%16}", "16,20,56,56", "f32"),
    "segments": ("(C,X){C//6, X, C%6}", "(C,X){C//4, X, C%4}", "20,3", "f32"),
    "fractal_nz": ("NCHW", "FRACTAL_NZ", "2,3,18,34", "f16"),
    "fractal_z": ("NCHW", "FRACTAL_Z", "20,35,3,3", "f16"),
    "swizzle": ("ROW_MAJOR", "SW128", "16,64", "f16"),
    "swizzled_address": ("ROW_MAJOR", "SEED83", "32,32", "f32"),
    "bits": ("ROW_MAJOR", "MARLIN", "16,64", "u4"),
    "nibbles": ("ROW_MAJOR", "INT4_HIGH", "3,5", "u4"),
    "scales": ("ROW_MAJOR", "SF128x4", "200,10", "u8"),
    "edge": ("ROW_MAJOR", "(R,C){R//4, C//4, R%4, C%4, fill='edge'}", "6,7", "i16"),
    "pitch": ("ROW_MAJOR", "(R,C){R, C, pitch={R=64}}", "3,20", "f32"),
    "rotated": ("ROW_MAJOR", "(Q,N){Q//4, N//4, (Q%4 - N%4)%4, N%4}", "8,8", "f32"),
    "sum": ("ROW_MAJOR", "(R,C){R*2 + C%2, C//2}", "4,6", "u8"),
}


def run(*args):
    r = subprocess.run([str(ravel.BUILD / "ravel"), *args], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return "$ ravel %s\n%s" % (" ".join("'%s'" % a if set(a) & set("{}() ") else a for a in args), r.stdout)


def stages(a, b, shape, dtype):
    at = ["--shape", shape, "--dtype", dtype]
    return "\n".join([run("check", b, *at), run("explain", "--from", a, "--to", b, *at),
                      run("emit", "--from", a, "--to", b, *at, "--name", "f", "-o", "-")])


def any_shape(a, b, shape, dtype):
    """Of a plan with extents left to run time: the plan, its statements, and the code that they become."""
    at = ["--from", a, "--to", b, "--shape", shape, "--dtype", dtype]
    return "\n".join([run("explain", *at), run("explain", *at, "--statements"), run("emit", *at, "--name", "f", "-o", "-")])


def device(a, b, shape, dtype):
    """Of a plan for a device: what its accesses cost, its statements, and the kernel."""
    at = ["--from", a, "--to", b, "--shape", shape, "--dtype", dtype, "--target", "cuda"]
    return "\n".join([run("explain", *at), run("explain", *at, "--statements"), run("emit", *at, "--name", "f", "-o", "-")])


def fragment(kind, a, b, shape, dtype):
    """Of a load or a store of a fragment: its statements, and the function."""
    at = ["--kind", kind, "--from", a, "--to", b, "--shape", shape, "--dtype", dtype, "--target", "cuda"]
    return "\n".join([run("explain", *at, "--statements"), run("emit", *at, "--name", "f", "-o", "-")])


def function(kind, of, shape, dtype):
    """Of a function of a layout: its statements, and the code that they become."""
    at = ["--kind", kind, "--to", of, "--shape", shape, "--dtype", dtype]
    return "\n".join([run("explain", *at, "--statements"), run("emit", *at, "--name", "f", "-o", "-")])


TEXTS = {name: lambda c=case: stages(*c) for name, case in CASES.items()}
TEXTS |= {
    "any_transpose": lambda: any_shape("NCHW", "NHWC", "N,64,H,W", "f32"),
    "any_padded": lambda: any_shape("NCHW", "NC1HWC0", "N,C,H,W", "f16"),
    "any_segments": lambda: any_shape("(C,X){C//6, X, C%6}", "(C,X){C//4, X, C%4}", "C,3", "f32"),
    "any_gather": lambda: any_shape("ROW_MAJOR", "SW128", "M,64", "f16"),
    "device_tile": lambda: device("NCHW", "NHWC", "8,64,56,56", "f16"),
    "device_padded": lambda: device("NCHW", "NC1HWC0", "2,20,5,7", "f16"),
    "device_runtime": lambda: device("NCHW", "NC1HWC0", "N,71,H,W", "f16"),
    "device_nibbles": lambda: device("ROW_MAJOR", "INT4_HIGH", "64,64", "u4"),
    "fragment_load": lambda: fragment("load", "COL_MAJOR", "MMA_A", "16,20", "i8"),
    "fragment_nibbles": lambda: fragment("load", "COL_MAJOR", "MMA_B", "64,8", "i4"),
    "fragment_store": lambda: fragment("store", "MMA_C", "ROW_MAJOR", "64,64", "f32"),
    "offset": lambda: function("offset", "SW128", "M,64", "f16"),
    "inverse": lambda: function("inverse", "NC1HWC0", "N,20,H,W", "f16"),
    "visit": lambda: function("visit", "(A,B){A, (B + 3)%extent(B)}", "8,B", "f16"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_golden(name):
    path, now = FOLDER / (name + ".txt"), TEXTS[name]()
    if os.environ.get("RAVEL_UPDATE"):
        path.write_text(now)
    assert path.read_text() == now, "run `make golden` and look at the diff"


# --- docs/ir: what the pages show is what the program prints

PAGES = sorted((ravel.ROOT / "docs/ir").glob("*.md"))


def test_there_is_a_page_for_each():
    assert [p.stem for p in PAGES] == ["expr", "gridstmt", "layout", "plan", "sparse", "stmt"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_examples_of_the_pages(page):
    """A line `...` stands for lines that are left out."""
    examples = re.findall(r"^```\n\$ ravel (.*)\n((?:.*\n)*?)```$", page.read_text(), re.M)
    assert examples
    for command, lines in examples:
        printed = iter(run(*shlex.split(command)).splitlines()[1:])
        left_out = False
        for line in lines.splitlines():
            if line != "...":
                assert line in printed if left_out else line == next(printed, None), "ravel %s: no line '%s', or not there" % (command, line)
            left_out = line == "..."
        assert left_out or next(printed, None) is None, "ravel %s: more lines, which no line ... stands for" % command
