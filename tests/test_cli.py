"""The command line: what shows the job done, help, and errors that teach."""

import os
import re
import subprocess

import numpy as np
import pytest

import formulas as F
import ravel
from command import bad, COMMANDS, files, good, here, RAVEL, run  # noqa: F401 (here is a fixture)


@pytest.mark.parametrize("args, says", [
    (["tune", "--seconds", "-1"], "--seconds '-1': a whole number from 1 to 3600"), (["tune", "--seconds", "1e3"], "--seconds '1e3': a whole number from 1 to 3600"),
    (["tune", "--seconds", "1,2"], "--seconds '1,2': a whole number from 1 to 3600"), (["bench", "--rounds", ""], "--rounds '': a whole number from 1 to "),
    (["bench", "--rounds", "99999999999999999999"], "--rounds '99999999999999999999': a whole number from 1 to "), (["bench", "--threads", " 1"], "--threads ' 1': a whole"),
    (["check", "--banks", "K:-4"], "--banks K:-4: a lane accesses 1, 2, 4, 8 or 16 bytes"), (["check", "--banks", "K:"], "--banks K:: a lane accesses 1, 2, 4, 8 or 16 bytes"),
    (["check", "--banks", "K:4x"], "--banks K:4x: a lane accesses 1, 2, 4, 8 or 16 bytes"), (["check", "--banks", "K:3"], "a lane accesses 1, 2, 4, 8 or 16 bytes")])
def test_what_a_number_may_be(args, says):
    sides = ["(M,K){M, K}"] if args[0] == "check" else ["--from", "(M,K){M, K}", "--to", "(M,K){K, M}"]
    r = run(*args, *sides, "--shape", "8,8", "--dtype", "f16")
    assert r.returncode == 2 and r.stdout == b"" and says in r.stderr.decode() and r.stderr.count(b"\n") == 1, r



# --- what shows it

def test_shows_table():
    good("table", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "-o", "t.npy")
    t = np.load("t.npy")
    assert t.dtype == np.int64 and t.shape == (2, 20, 5, 7) and t[1, 17, 4, 6] == 2225
    assert np.array_equal(t, F.evaluate("NC1HWC0", t.shape, 16).addr)


@pytest.mark.parametrize("layout, shape, dtype, at, answer", [
    ("FRACTAL_Z", "20,35,3,3", "f16", "18,33,2,1", 13089),
    ("{R//128, C//4, R%32, R//32%4, C%4}", "200,10", None, "197,9", 2649)])
def test_shows_index(layout, shape, dtype, at, answer):
    of = ["index", layout, "--shape", shape] + (["--dtype", dtype] if dtype else [])
    assert good(*of, "--at", at) == "%d\n" % answer
    assert good(*of, "--at", answer, "--inverse") == at + "\n"


def test_shows_check():
    yes = good("check", "{M, (K//8%8) ~ (M%8), K%8}", "--shape", "6,64")
    assert yes.startswith("yes")
    no = run("check", "{M//2, K}", "--shape", "8,8")
    assert no.returncode == 1 and no.stderr == b"" and no.stdout.startswith(b"no")
    x, y = re.findall(r"\((\d+),(\d+)\)", no.stdout.decode())[:2]
    assert x != y and [int(x[0])//2, x[1]] == [int(y[0])//2, y[1]]


def test_shows_emit():
    good("emit", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "-o", "f.c")
    subprocess.run("cc -std=c99 -Wall -Wextra -Wconversion -Werror -c f.c", shell=True, check=True)


def test_shows_convert():
    x = np.random.default_rng(1).random((2, 3, 40, 50), np.float32)
    np.save("x.npy", x)
    assert "verified" in good("convert", "x.npy", "y.npy", "--from", "NCHW", "--to", "FRACTAL_NZ", "--verify")
    assert np.load("y.npy").shape == (2, 3, 7, 3, 16, 8)
    good("convert", "y.npy", "z.npy", "--from", "FRACTAL_NZ", "--to", "NCHW", "--shape", "2,3,40,50")
    assert open("x.npy", "rb").read() == open("z.npy", "rb").read()


def test_processors():
    """Kernels are chosen for a processor that is named; what is emitted does not depend on the one that it is emitted on."""
    at = ["--from", "NCHW", "--to", "NHWC", "--shape", "8,64,56,56", "--dtype", "f32"]
    default = good("explain", *at)
    assert "by the cost model for the processor default" in default
    assert "processor zen3 " in good("explain", *at, "--processor", "zen3")
    costs = {re.search(r"cost: about (\S+ .s) ", good("explain", *at, "--processor", p)).group(1) for p in ("default", "zen3", "zen4", "emerald-rapids")}
    assert len(costs) == 4
    zen3 = {**os.environ, "RAVEL_PROCESSOR": "zen3"}
    assert good("explain", *at, env=zen3) == default
    assert "processor zen3 " in good("explain", *at, "--processor", "here", env=zen3)
    assert good("emit", *at, "-o", "-", env=zen3) == good("emit", *at, "-o", "-")
    assert "one of default zen3" in bad("explain", *at, "--processor", "z80")


def test_what_a_processor_can():
    """It comes from the instruction set in use, not from the costs."""
    at = ["--from", "(P,C){P, C}", "--to", "(P,C){P, 2 - C}", "--shape", "1000,3", "--dtype", "u8", "--processor"]
    said = lambda *a, **env: re.search(r"for the processor (.*?) \(", good("explain", *at, *a, env={**os.environ, **env})).group(1)
    assert said("default", RAVEL_PROCESSOR="zen4") == "default" and said("zen4") == "zen4" and said("zen3") == "zen3"
    has = set(open("/proc/cpuinfo").read().split())
    for isa, flags, zen3, zen4 in (("avx2", {"avx2"}, "zen3", "zen4 without VBMI"),
                                   ("avx512vbmi", {"avx512bw", "avx512vl", "avx512vbmi", "gfni"}, "zen3 with VBMI", "zen4")):
        if flags <= has:
            assert said("here", RAVEL_PROCESSOR="zen3", RAVEL_ISA=isa) == zen3
            assert said("here", RAVEL_PROCESSOR="zen4", RAVEL_ISA=isa) == zen4


def test_shows_explain():
    text = good("explain", "--from", "NCHW8", "--to", "{N, C//16, H, W, C%16}", "--shape", "16,20,56,56", "--dtype", "f32")
    assert len(re.findall(r"^ +\d+\. (copy|composite|copy_fill|fill) ", text, re.M)) == 3 and "no guards" in text
    assert "n=3136" in text                         # h and w are one loop
    for box in ("C=0..15", "C=16..19", "C=20..31"):
        assert box in text


def test_dims_that_change_places_are_said():
    """A line says it, and none where dims keep their places."""
    line, at = "dims by name: (A,B) to (B,A)", ["--shape", "40,60", "--dtype", "f32"]
    moved, kept = ["--from", "(A,B){A, B}", "--to", "(B,A){B, A}"], ["--from", "(A,B){A, B}", "--to", "(A,B){B, A}"]
    np.save("x.npy", np.zeros((40, 60), np.float32))
    for command in (["explain", *at], ["emit", *at, "-o", "-"], ["emit", *at, "--target", "cuda", "-o", "-"], ["emit", "--shape", "A,B", "--dtype", "f32", "-o", "-"],
                    ["convert", "x.npy", "y.npy"]):
        assert line in good(*command, *moved) and "by name" not in good(*command, *kept), command
    assert "dims by name: (N,K) to (K,N)" in good("explain", "--from", "TINYGEMM", "--to", "MARLIN_W4A8", "--shape", "64,256", "--dtype", "u4")


def test_statements_are_those_of_the_code():
    """As many calls of each kernel, and of a device as many barriers."""
    for shape in ("2,20,5,7", "N,20,H,W", "N,C,H,W"):
        at = ["--from", "NCHW", "--to", "NC1HWC0", "--shape", shape, "--dtype", "f16"]
        calls = [k for k in re.findall(r"^ *call (\w+)\(", good("explain", *at, "--statements"), re.M) if k != "ravel_table_add"]
        code = good("emit", *at, "--name", "f", "-o", "-")
        code = code[code.rindex("\nf"):] if shape[0] == "2" else code[code.rindex("\nf_part("):]
        assert calls and calls == re.findall(r"^ *ravel_(\w+)\(dst", code, re.M)
    at = ["--from", "NCHW", "--to", "NHWC", "--shape", "8,64,56,56", "--dtype", "f16", "--target"]
    assert good("explain", *at, "cuda", "--statements").count("barrier") == good("emit", *at, "cuda", "-o", "-").count("__syncthreads") == 1


# --- help and errors

@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command):
    text = good(command, "--help")
    assert "Usage: ravel " + command in text and re.search(r"^  ravel " + command, text, re.M)


def test_lines_of_the_help_fit():
    """The C library breaks longer ones again."""
    lines = re.findall(r'^ {5,}"(.*?)(?:\\n)+"', (ravel.ROOT/"cli/cli_commands.c").read_text(), re.M)
    assert len(lines) > 100 and [x for x in lines if len(x.replace('\\"', '"')) > 78] == []


MEASURE = {"bench", "tune"}             # for seconds on a slow build, which other tests of them have


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in MEASURE or "RAVEL_AGAIN" not in os.environ])
def test_examples_of_the_help_work(command):
    """In the order they stand there, the arrays they start from given."""
    np.save("x.npy", np.arange(2*20*5*7, dtype="f2").reshape(2, 20, 5, 7))
    np.savez("arrays.npz", weight=np.zeros((3, 5), "f2"), bias=np.zeros(5))
    open("mine.lua", "w").write('layout "MINE" { dims = { M, K }, order = { K, M } }\n')
    open("kernels.txt", "w").write("--from NCHW --to NHWC --shape 2,3,5,7 --dtype f32\n")
    open("a.mtx", "w").write("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 0.5\n2 3 4\n")
    lines = re.findall(r"^  ((?:ravel|gcc) .*)$", good(command, "--help"), re.M)
    env = dict(os.environ, PATH=str(ravel.BUILD) + ":" + os.environ["PATH"])
    for line in lines:
        r = subprocess.run(line, shell=True, env=env, capture_output=True, timeout=60)
        no = "{M//2, K}' --shape 8,8" in line or "--banks" in line
        assert r.returncode == (1 if no else 0) and r.stderr == b"", (line, r)


def test_help_of_all():
    for ask in (["--help"], ["-h"], ["help"]):
        text = good(*ask)
        assert all(re.search(r"^  %s\b" % c, text, re.M) for c in COMMANDS)
    assert good("--version").startswith("ravel ")
    bad(says="Usage")


@pytest.mark.parametrize("args, says", [
    (["tabel"], ["tabel", "table"]),
    (["index", "NC1HWCO", "--shape", "1,1,1,1", "--at", "0,0,0,0"], ["NC1HWCO", "NC1HWC0"]),
    (["index", "NCHW", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--dtype", "float32"], ["float32", "f32", "bf16"]),
    (["index", "NCHW", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--shap", "1"], []),
    (["index", "NCHW", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--colour"], ["--colour", "--help"]),
    (["index", "NCHW", "--at", "0,0,0,0"], ["--shape"]),
    (["index", "NCHW", "--shape", "1,1,1,1"], ["--at"]),
    (["index", "--shape", "1,1,1,1", "--at", "0"], ["LAYOUT"]),
    (["index", "NCHW", "NHWC", "--shape", "1,1,1,1", "--at", "0"], ["NHWC"]),
    (["index", "NC1HWC0", "--shape", "1,1,1,1", "--at", "0,0,0,0"], ["--dtype"]),
    (["index", "NC1HWC0{C9=4}", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--dtype", "f16"], ["C9", "C0"]),
    (["index", "NC1HWC0{C0=0}", "--shape", "1,1,1,1", "--at", "0,0,0,0", "--dtype", "f16"], []),
    (["index", "MARLIN", "--shape", "16,64", "--at", "0,0", "--dtype", "f16"], ["MARLIN", "4-bit"]),
    (["table", "NCHW", "--shape", "1,1,1,1"], ["--output"]),
    (["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "-o", "f.c"], ["--dtype"]),
    (["emit", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c"], ["--from"]),
    (["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c", "--target", "fortran"],
     ["fortran", "c"]),
    (["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c", "--kind", "x"], ["relayout", "inverse"]),
    (["emit", "--from", "NCHW", "--to", "ROW_MAJORX", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c"], ["ROW_MAJOR"]),
    (["emit", "--from", "NCHW", "--to", "{N, C}", "--shape", "1,2,3,4", "--dtype", "f32", "-o", "f.c"], ["dims"]),
    (["explain", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4"], ["--dtype"]),
    (["explain", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "u8", "--statements", "--target", "bursts"], ["--statements"]),
    (["explain", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "u8", "--statements", "--json"], ["--statements"]),
    (["explain", "--kind", "load", "--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "64,64", "--dtype", "f16", "--target", "cuda"], ["--kind load", "--statements"]),
    (["explain", "--kind", "offset", "--from", "ROW_MAJOR", "--to", "MMA_A", "--shape", "64,64", "--dtype", "f16", "--statements"], ["--kind offset", "--to"]),
    (["explain", "--kind", "visit", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f16"], ["--kind visit", "--statements"]),
    (["explain", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f16"], ["--from"]),
    (["check", "{N, C"], []), (["check", "{N,, C}"], []), (["check", ""], []), (["check", "()"], []),
    (["check", "onednn:nChw16c", "--shape", "1,2,3,4"], ["onednn"]),
    (["check", "{N//0, N%4}", "--shape", "9"], []), (["check", "{N//-2, N%2}", "--shape", "9"], []),
    (["check", "{M, K, fil = 3}", "--shape", "2,2"], ["fil"]),
    (["check", "{M, K, pad = {X = 3}}", "--shape", "2,2"], ["X"]),
    (["check", "{M, K, pitch = {M = 3}}", "--shape", "2,2", "--dtype", "f32"], ["pitch", "3"]),
    (["list", "--spec", "none.lua"], ["none.lua"]),
    (["devices", "extra"], ["extra"]),
    (["list", *["w"] * 17], ["'w'"]),
])
def test_wrong_use(args, says):
    bad(*args, says=says)
    assert files() == []


def test_output_that_cannot_be_written():
    bad("table", "NCHW", "--shape", "1,2,3,4", "-o", "no/such/t.npy", says="no/such")
    bad("emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "-o", ".", says=".")
    with open("/dev/full", "w") as full:
        r = subprocess.run([RAVEL, "list"], stdout=full, stderr=subprocess.PIPE)
    assert r.returncode == 2 and r.stderr
