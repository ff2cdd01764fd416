"""The log of a context: what its lines say, that they are commands, and when there are none."""
import ctypes as ct
import os
import re
import subprocess

import numpy as np
import pytest

import ravel
import sparse

RAVEL = str(ravel.BUILD / "ravel")
CALLBACK = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_char_p)
PLAN = re.compile(r"ravel explain (.+)  # plan: \w+ x\d+( \+ \w+ x\d+)*, [\d.e-]+ ms(, (\d+) -> (\d+) bytes)?, (machine code|interpreter: .+)")
RUN = re.compile(r"ravel bench (.+)  # run: \w+ x\d+( \+ \w+ x\d+)*, ([\d.e-]+) ms, (\d+) -> (\d+) bytes, ([\d.e+-]+) GB/s")


@pytest.fixture
def logged():
    """A context, and the list that its log goes to."""
    lines = []
    with ravel.Context() as cx:
        f = CALLBACK(lambda host, line: lines.append((host, line.decode())))
        ravel.call(ravel.lib.ravel_set_log, cx.p, ct.cast(f, ct.c_void_p), ct.c_void_p(77))
        yield cx, lines
        ravel.call(ravel.lib.ravel_set_log, cx.p, None, None)


def repeat(line):
    """The line as it stands, in a shell; a measurement is cut short."""
    line = line.replace("  #", " --rounds 1  #") if line.startswith("ravel bench") else line
    env = {**os.environ, "PATH": str(ravel.BUILD) + ":" + os.environ["PATH"]}
    return subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, check=True).stdout


def test_a_plan_and_its_runs(logged):
    cx, lines = logged
    with cx.plan("NCHW", "{N, C//16, H, W, C%16}", (2, 20, 5, 7), "f16") as plan:
        x = np.zeros(plan.src_bytes, np.uint8)
        plan.run(x)
        plan.run(x)
    with cx.plan("NCHW", "{N, C//16, H, W, C%16}", (2, 20, 5, 7), "f16"):
        pass                       # of the cache
    assert {host for host, _ in lines} == {77}
    made, *runs = [line for _, line in lines]
    m = PLAN.fullmatch(made)
    assert m and m[4] == "2800" and m[5] == "4480" and len(runs) == 2
    for line in runs:
        m = RUN.fullmatch(line)
        assert m and (m[4], m[5]) == ("2800", "4480")
        assert float(m[6]) == pytest.approx((2800 + 4480) / (float(m[3]) * 1e6), rel=0.01)
    assert "storage   (2,2,5,7,16), 4480 bytes" in repeat(made)
    assert "(2,20,5,7)" in repeat(runs[0])


def kernels(text):
    """Those of a line, or of what explain prints, with their numbers."""
    return sorted(re.findall(r"\b([a-z]\w*) +x(\d+)\b", text))


@pytest.mark.parametrize("src, dst, shape, dtype", [("NCHW", "NHWC", (2, 40, 20, 7), "u4"), ("NCHW", "NC1HWC0", (2, 20, 5, 7), "f16"), ("ROW_MAJOR", "SW128", (64, 128), "f16"),
                                                    ("NCHW", "NHWC", (-1, 3, -1, -1), "u8")])
def test_the_kernels_of_the_line_are_those_of_the_command(logged, src, dst, shape, dtype):
    """Also where the processor of this machine has others than the default."""
    cx, lines = logged
    with cx.plan(src, dst, shape, dtype):
        pass
    [(_, made)] = lines
    assert kernels(made.split("  # plan:")[1]) == kernels(repeat(made).split("\nkernels\n")[1].split("\ncost:")[0]) != []


def test_run_time_extents(logged):
    """The plan's line has their names, the run's their values."""
    cx, lines = logged
    rt = ct.c_int64 * 4
    with cx.plan("NCHW", "NHWC", (-1, 3, -1, -1), "u8") as plan:
        src, dst = np.arange(105, dtype=np.uint8), np.zeros(105, np.uint8)
        ravel.call(ravel.lib.ravel_run_shape, plan.p, ct.c_void_p(dst.ctypes.data), ct.c_void_p(src.ctypes.data), rt(1, 3, 5, 7))
    assert np.array_equal(dst.reshape(5, 7, 3), src.reshape(3, 5, 7).transpose(1, 2, 0))
    made, run = [line for _, line in lines]
    assert "--shape N,3,H,W " in made and PLAN.fullmatch(made)[4] is None and "--shape 1,3,5,7 " in run
    assert RUN.fullmatch(run)[4] == "105"
    assert "interleave" in repeat(made)


def test_names_that_a_shell_would_change(logged, tmp_path, monkeypatch):
    """A layout of a file is named with it."""
    cx, lines = logged
    monkeypatch.chdir(tmp_path)
    spec = b"layout 'IT' { dims = { M, K }, order = { K, M } }"
    (tmp_path / "a b.lua").write_bytes(spec)
    ravel.call(ravel.lib.ravel_load, cx.p, spec, len(spec), b"a b.lua")
    with cx.plan("(M,K){M, K}", "IT", (3, 5), "u8"):
        pass
    [(_, line)] = lines
    assert "--to 'a b.lua:IT'" in line and "a b.lua:IT" in repeat(line)


def test_errors_are_not_logged(logged):
    cx, lines = logged
    with pytest.raises(ravel.Error):
        cx.plan("NCHW", "NHWC", (1, 2), "u8")
    assert lines == [] and ravel.lib.ravel_set_log(None, None, None, None) == ravel.STATUS.index("ARGUMENT")


@pytest.mark.parametrize("value, lines", [(None, 0), ("", 0), ("0", 0), ("1", 2)])
def test_environment(tmp_path, value, lines):
    np.save(tmp_path / "x.npy", np.zeros((2, 3, 5, 7), "f4"))
    env = {k: v for k, v in os.environ.items() if k != "RAVEL_VERBOSE"} | ({"RAVEL_VERBOSE": value} if value is not None else {})
    r = subprocess.run([RAVEL, "convert", "x.npy", "y.npy", "--from", "NCHW", "--to", "NHWC"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    said = r.stderr.splitlines()
    assert len(said) == lines and all(m.fullmatch(s) for m, s in zip((PLAN, RUN), said)) and "ravel " not in r.stdout


@pytest.mark.parametrize("more", [[], ["--verify"], ["--threads", "2"]])
def test_a_file_in_blocks(tmp_path, more):
    """One line for all blocks.  It can be repeated."""
    np.save(tmp_path / "x.npy", np.zeros((700, 900), "f4"))
    env = {**os.environ, "RAVEL_VERBOSE": "1", "PATH": str(ravel.BUILD) + ":" + os.environ["PATH"]}
    r = subprocess.run([RAVEL, "convert", "x.npy", "y.npy", "--from", "{M,K}", "--to", "(M,K){K,M}", "--mem", "1M", *more], cwd=tmp_path, env=env,
                       capture_output=True, text=True, check=True)
    runs = [s for s in r.stderr.splitlines() if s.endswith(" blocks")]          # a proof has runs of its own
    m = re.fullmatch(r"ravel bench (.+)  # run: \w+ x\d+( \+ \w+ x\d+)*, [\d.e+-]+ ms, 2520000 -> 2520000 bytes, [\d.e+-]+ GB/s, (\d+) blocks?", runs[0])
    assert len(runs) == 1 and m and "--shape 700,900 " in m[1] and int(m[3]) > 1
    subprocess.run(["sh", "-c", runs[0]], env={**env, "RAVEL_VERBOSE": ""}, capture_output=True, text=True, check=True)


WRITTEN = re.compile(r"ravel emit (.+)  # plan: \w+ x\d+( \+ \w+ x\d+)*, [\d.e-]+ ms(, (\d+) -> (\d+) bytes)?, text")


@pytest.mark.parametrize("more, fixed", [([], True), (["--target", "cuda"], True), (["--in-place", "--to", "(M,K){K, M}"], True), (["--shape", "M,5"], False),
                                         (["--processor", "zen3", "--name", "f"], True)])
def test_a_plan_that_is_written(tmp_path, more, fixed):
    """The line is the command that writes it."""
    env = {**os.environ, "RAVEL_VERBOSE": "1", "PATH": str(ravel.BUILD) + ":" + os.environ["PATH"]}
    args = ["--from", "(M,K){M, K}", "--to", "{K//4, M, K%4}", "--shape", "12,5", "--dtype", "f32", *more]
    r = subprocess.run([RAVEL, "emit", *args], cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    m = WRITTEN.fullmatch(r.stderr.rstrip("\n"))
    assert m and (m[4] is not None) == fixed, r.stderr
    again = subprocess.run(["sh", "-c", r.stderr], env={**env, "RAVEL_VERBOSE": ""}, capture_output=True, text=True, check=True)
    assert again.stdout == r.stdout and again.stderr == ""


def test_plans_of_a_list(tmp_path):
    (tmp_path / "l.txt").write_text("--from NCHW --to NHWC --shape 1,3,4,5 --dtype u8\n--from NHWC --to NCHW --shape 1,3,4,5 --dtype u8 --name back\n")
    r = subprocess.run([RAVEL, "emit", "--list", "l.txt", "-o", "all.c"], cwd=tmp_path, env={**os.environ, "RAVEL_VERBOSE": "1"}, capture_output=True, text=True, check=True)
    first, second = r.stderr.splitlines()
    assert WRITTEN.fullmatch(first) and "--name back  #" in WRITTEN.fullmatch(second)[0]


def test_environment_that_is_wrong():
    r = subprocess.run([RAVEL, "show", "NCHW", "--shape", "1,2,3,4"], env={**os.environ, "RAVEL_VERBOSE": "yes"}, capture_output=True, text=True)
    assert r.returncode == 2 and r.stderr == "ravel: RAVEL_VERBOSE is 'yes': 0 or 1\n"


def test_a_sparse_conversion(logged):
    """A line for the plan and one for each run, with the way; both are commands."""
    cx, lines = logged
    plan = sparse.Plan(cx, "COO", "CSR", (3, 4), "f64")
    source = {"pos1": [0, 3], "crd1": [2, 0, 2], "crd2": [1, 3, 1]}
    plan({**{k: np.array(v, "i4") for k, v in source.items()}, "val": np.array([1.0, 2, 3])})
    said = [line for _, line in lines]
    assert re.fullmatch(r"ravel explain --from COO --to CSR --shape 3,4 --dtype f64  # plan: by rows, [\d.e-]+ ms, (machine code|interpreter)", said[0])
    assert re.fullmatch(r"ravel explain --from COO --to CSR --shape 3,4 --dtype f64  # run: by rows, [\d.e-]+ ms, 3 -> 2 values", said[1])
    assert len(said) == 2 and "by rows" in repeat(said[0])


def test_a_proof_at_many_shapes_has_no_line_for_each():
    env = {**os.environ, "RAVEL_VERBOSE": "1"}
    r = subprocess.run([ravel.BUILD / "ravel", "verify", "--from", "NCHW", "--to", "NHWC", "--shape", "N,4,5,6", "--dtype", "f32"], env=env, capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout.count("yes:") == 2, r.stdout + r.stderr
    assert r.stderr.count("# plan:") == 2 and "# run:" not in r.stderr
