"""The script for a GPU, with stand-ins for driver and compiler: the launches are the plain C kernel's."""

import json
import os
import re
import subprocess
import sys

import device_mocks
import grids as G
import ravel


def gpu_script(env, *args):
    return subprocess.run([sys.executable, ravel.ROOT / "bench/gpu.py", "--build", ravel.BUILD, *args], env={**os.environ, **env}, capture_output=True, text=True)


def stand_ins(folder, case, shape, change=lambda text: text):
    """What makes the script's kernel the plain C one, changed."""
    folder.mkdir(exist_ok=True)
    subprocess.run([G.RAVEL, "emit", "--from", case.src, "--to", case.dst, "--shape", ",".join(map(str, shape)), "--dtype", case.dtype, "--target", "blocks",
                    "--name", "kern", "-o", folder / "k.c"], check=True)
    (folder / "k.c").write_text(change((folder / "k.c").read_text()))
    (folder / "kernels.c").write_text('#define kern all\n#include "k.c"\n#undef kern\n'
                                      'void kern(unsigned char *d, const unsigned char *s, uint32_t b);\n'
                                      'void kern(unsigned char *d, const unsigned char *s, uint32_t b)\n{\n    kern_block(d, s, b);\n}\n')
    out = {"RAVEL_MOCK_KERNELS": device_mocks.compiled(folder, "kernels", folder / "kernels.c")}
    for name in ("cuda", "nvrtc"):
        out["RAVEL_%s_LIBRARY" % name.upper()] = device_mocks.compiled(folder, name, *device_mocks.mock(name))
    return out


def spoilt(text):
    return text.replace("RAVEL_STORE(uint32_t, dst, ", "RAVEL_STORE(uint32_t, dst, 0 * ", 1)


def crashing(text):
    return re.sub(r"(kern_block\([^;{]*\)\s*\{)", r"\1 __builtin_trap();", text)


def sanitizer(folder, text):
    """An environment in which compute-sanitizer is a shell script."""
    (folder / "bin").mkdir()
    (folder / "bin/compute-sanitizer").write_text("#!/bin/sh\ncat > /dev/null\necho $2 >> %s/calls\n%s\n" % (folder, text))
    (folder / "bin/compute-sanitizer").chmod(0o755)
    return {"PATH": "%s:%s" % (folder / "bin", os.environ["PATH"])}


class Script:
    """Runs the script with stand-ins for one case, some parts at a time, and has its JSON file's cases."""
    def __init__(self, folder):
        sys.path.insert(0, str(ravel.ROOT / "bench"))
        import gpu
        self.folder, self.case = folder, next(c for c in gpu.cases() if c.name == "2D u8")
        self.shape = gpu.scaled(self.case.shape, 20000)

    def env(self, change=lambda text: text):
        return stand_ins(self.folder / change.__name__.strip("<>"), self.case, self.shape, change)

    def run(self, env, *args, only="^2D u8$"):
        r = gpu_script(env, "--scale", "20000", "--only", only, "--json", self.folder / "gpu.json", *args)
        self.cases = json.loads((self.folder / "gpu.json").read_text())["cases"]
        return r


CHECK, TIME, TOOLS = ("--part", "check"), ("--part", "time"), ("--part", "tools")


def test_gpu_script_by_stand_ins(tmp_path):
    s = Script(tmp_path)
    r = s.run(s.env(), *CHECK, *TIME)
    case = s.cases["2D u8"]
    assert (r.returncode, case["right"], case["parts"], case["errors"], case["rows"]) == (0, True, ["check", "time"], {}, ["tile"]), r
    assert re.search(r"^2D u8 +right; [0-9.]+ of a copy, asked 0.90$", r.stdout, re.M), r.stdout
    assert re.search(r"^\| 2D u8 \| tile \| [0-9.]+ \| 0.90 \| [0-9]+ \|  \|$", gpu_script({}, "--table", tmp_path / "gpu.json").stdout, re.M)


def test_gpu_script_sees_wrong_bytes(tmp_path):
    """The stand-in's kernel is that of u8, and spoilt: each case fails alone."""
    s = Script(tmp_path)
    r = s.run(s.env(spoilt), *CHECK, *TIME, only="^2D u(8|16)$")
    assert list(s.cases) == ["2D u16", "2D u8"] and r.returncode == 1 and not s.cases["2D u8"]["right"], r
    assert "| 2D u8 | tile | WRONG | 0.90 |  |  |" in r.stdout, r.stdout


def test_gpu_script_goes_on_after_a_crash(tmp_path):
    """A part that fails is not done and loses nothing; --more does only what is not done."""
    s, tools = Script(tmp_path), sanitizer(tmp_path, "exit 0")
    r = s.run({**s.env(crashing), **tools}, *CHECK, *TIME, *TOOLS)
    case = s.cases["2D u8"]
    assert (r.returncode, case["parts"], list(case["errors"])) == (1, ["tools"], ["check", "time"]), r
    assert case["errors"]["check"].startswith("ended with -") and "check: ended with" in r.stdout.split("| case")[0]
    r = s.run({**s.env(), **tools}, *CHECK, *TOOLS, "--more")
    case = s.cases["2D u8"]
    assert (r.returncode, case["right"], case["parts"], list(case["errors"])) == (1, True, ["check", "tools"], ["time"]), r
    assert case["tools"]["compute_sanitizer"] == "nothing found" and len((tmp_path / "calls").read_text().splitlines()) == 2
    r = s.run(s.env(crashing), *CHECK, *TIME, "--more")
    case = s.cases["2D u8"]
    assert (r.returncode, case["right"], case["parts"], list(case["errors"])) == (1, True, ["check", "tools"], ["time"]), r
    r = s.run(s.env(), *CHECK, *TIME, "--more")
    case = s.cases["2D u8"]
    assert (r.returncode, case["parts"], case["errors"]) == (0, ["check", "time", "tools"], {}), r


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_gpu_script_ends_a_case_with_its_tools(tmp_path):
    """What the case has found until then stays."""
    s, tools = Script(tmp_path), sanitizer(tmp_path, "sleep 300 & echo $! > $0.pid; wait")
    r = s.run({**s.env(), **tools}, *CHECK, *TOOLS, "--case-seconds", "12")
    case = s.cases["2D u8"]
    assert (r.returncode, case["right"], case["parts"]) == (1, True, ["check"]), r
    assert case["errors"] == {"tools": "not done when the case had taken 12 s"}
    assert not is_running(int((tmp_path / "bin/compute-sanitizer.pid").read_text()))


def test_gpu_script_says_what_a_tool_finds(tmp_path):
    s, says = Script(tmp_path), "========= RACECHECK SUMMARY: 2 hazards displayed"
    r = s.run({**s.env(), **sanitizer(tmp_path, '[ $2 != racecheck ] || { echo "%s"; exit 9; }' % says)}, *CHECK, *TOOLS)
    assert r.returncode == 1 and s.cases["2D u8"]["parts"] == ["check", "tools"], r
    assert [line.count("racecheck: RACECHECK SUMMARY: 2 hazards displayed") for line in r.stdout.splitlines() if "2D u8" in line] == [1, 1], r.stdout


def test_gpu_script_in_steps(tmp_path):
    s = Script(tmp_path)
    env = {**s.env(), **sanitizer(tmp_path, "sleep 0.6")}
    step = (*TOOLS, "--seconds", "1", "--more")
    r = s.run(env, *step, only="^2D u(8|16)$")
    assert r.returncode == 0 and list(s.cases) == ["2D u16"] and "not begun after 1 s: 2D u8; go on" in r.stdout, r
    r = s.run(env, *step, only="^2D u(8|16)$")
    assert r.returncode == 0 and list(s.cases) == ["2D u16", "2D u8"] and "not begun" not in r.stdout, r
    assert len((tmp_path / "calls").read_text().splitlines()) == 4


def test_gpu_script_says_that_there_is_none():
    r = gpu_script({"RAVEL_CUDA_LIBRARY": "/nowhere/libcuda.so"})
    assert r.returncode == 77 and r.stdout.startswith("no GPU: "), r
