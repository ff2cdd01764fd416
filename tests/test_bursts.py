"""Machines of bursts: what emit_plan of templates/bursts.lua writes runs on a machine (burst_machine.c) that refuses all that is no multiple of a burst,
leaves the local memory, reads what it does not hold, or touches what is behind a buffer; every byte held against the element formulas."""

import json
import os
import re
import subprocess
import types

import pytest

import grid_runs
import grids as G
import orders as O
import ravel
from sanitize import SANITIZE

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
TABLE = (ravel.ROOT / "templates/bursts.lua").read_text()
# Those of the other machines, fills of all widths, and places that are the least or most of two.
CASES = [c for c in G.CASES if c[3] >= 8] + [("NCHW", "(N,C,H,W){N, C//16, H, W, C%16, fill = 3}", (2, 20, 5, 7), bits) for bits in (8, 16, 32, 64, 128)] + [
    ("(A,B){A, B}", "(A,B){max(A - 10, 0), min(A, 10), B//6, B%6}", (37, 6), 16)]


def own_table(folder, burst=32, memory=192 << 10, counts=4095, change=("", "")):
    """The example's table as a user's, with other numbers."""
    text, n = re.subn(r"burst = 32, memory = 192 << 10, counts = 4095", "burst = %d, memory = %d, counts = %d" % (burst, memory, counts), TABLE)
    assert n == 1 and change[0] in text
    path = folder / "mine.lua"
    path.write_text(text.replace(*change))
    return path


class Program:
    """A case's program: its file and the plan's tiles, or why there is none."""
    def __init__(self, folder, number, case, target):
        a, b, shape, bits = case
        self.case, self.entry, self.path = case, "prog%d" % number, folder / ("prog%d.c" % number)
        r = subprocess.run([G.RAVEL, "emit", "--from", a, "--to", b, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits], "--target", target,
                            "--name", self.entry, "-o", self.path], capture_output=True, text=True)
        assert r.returncode in (0, 2), r
        self.refused = r.stderr if r.returncode else ""

    data = G.Kernel.data


def run(folder, cases, target, machine=(), program=Program):
    """(what the machine says, the cases that are wrong, those that are refused)"""
    all_ = [program(folder, i, c, target) for i, c in enumerate(cases)]
    ps = [p for p in all_ if not p.refused]
    data = [p.data() for p in ps]
    (folder / "kernels.h").write_text("".join('#include "%s.c"\n' % p.entry for p in ps) +
                                      "static void (*const kernel[])(void *, const void *) = {%s};\n" % ", ".join(p.entry for p in ps) +
                                      "static const long bytes[][2] = {%s};\n" % ", ".join("{%d, %d}" % (a.size, b.size) for a, b in data))
    grid_runs.files(folder, ps, data)
    subprocess.run(["gcc", *STRICT, *SANITIZE, *machine, "-I", folder, "-o", folder / "run", ravel.ROOT / "tests/burst_machine.c"], check=True)
    args = [str(x) for i, p in enumerate(ps) for x in (i, folder / (p.entry + ".src"), folder / (p.entry + ".dst"))]
    r = subprocess.run([folder / "run", *args], capture_output=True, text=True)
    moved = dict(map(int, line.split()) for line in r.stdout.splitlines() if re.fullmatch(r"\d+ \d+", line))
    r.moved = {ps[i].case: n for i, n in moved.items()}
    return r, grid_runs.differences(folder, ps, data), [p for p in all_ if p.refused]


def right(outcome):
    r, wrong, refused = outcome
    assert (r.returncode, r.stderr) == (0, "") and not wrong, (r.stdout[-300:], r.stderr[-3000:], wrong)
    return r, refused


def test_every_case(tmp_path):
    assert len(CASES) > 20
    r, refused = right(run(tmp_path, CASES, "bursts"))
    assert not refused, refused[0].refused


def test_random_cases(tmp_path):
    print("seed", SEED)
    r, refused = right(run(tmp_path, grid_runs.drawn(80, SEED), "bursts"))
    assert len(r.moved) > 40 and all("names in different places" in p.refused or p.case[3] < 8 for p in refused), [p.refused for p in refused]


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("memory", [192 << 10, 768])
def test_a_fill_that_each_run_is_given(tmp_path, bits, memory):
    """The function has an argument more; bits above the element's do not count, nor does a sign."""
    cases = [("NCHW", "(N,C,H,W){N, C//%d, H, W, C%%%d, fill = 3}" % (n, n), (2, 20, 5, 7), bits) for n in (3, 16, 32)] + [("(A,B){A, B}", "(A,B){B, A, pad = {A = 16, B = 8}, fill = 3}", (13, 5), bits)]
    class Given(Program):
        def __init__(self, folder, number, case, target):
            super().__init__(folder, number, (case[0], case[1].replace("fill = 3", "fill = zp"), *case[2:]), target)
            self.case, fill = case, O.encode(3, bits) - (number % 2 << bits)
            text = self.path.read_text()
            assert "int64_t fill)" in text and "fill: zp" in text
            name = self.entry
            self.path.write_text(text.replace(name + "(void", name + "_given(void") +
                                 "static void %s(void *dst, const void *src) { %s_given(dst, src, (int64_t)%du); }\n" % (name, name, fill & (1 << 64) - 1))
    machine = ["-DBURST=32", "-DMEMORY=%d" % memory, "-DCOUNTS=4095"]
    _, refused = right(run(tmp_path, cases, own_table(tmp_path, 32, memory), machine, Given))
    assert not refused


@pytest.mark.parametrize("burst, memory, counts", [(64, 2048, 255), (8, 64, 3), (512, 65536, 4095), (1, 4096, 7), (128, 384, 1)])
def test_other_machines(tmp_path, burst, memory, counts):
    """A user's table; bursts of all sizes, and local memory for next to nothing."""
    machine = ["-DBURST=%d" % burst, "-DMEMORY=%d" % memory, "-DCOUNTS=%d" % counts]
    _, refused = right(run(tmp_path, CASES, own_table(tmp_path, burst, memory, counts), machine))
    assert not refused, refused[0].refused


@pytest.mark.parametrize("burst, memory, case", [
    (32, 160, ("{A, B, C}", "{A, C, B}", (3, 7, 5), 8)), (128, 768, ("{A, B}", "{B, A}", (7, 29), 16)), (128, 768, ("{A, B, C}", "{B, C, A}", (14, 5, 6), 8)),
    (128, 896, ("{A, B}", "{B, A}", (29, 23), 8))])
def test_a_tail_that_begins_elsewhere_in_a_burst(tmp_path, burst, memory, case):
    """It may take a burst more than the tiles before it, and fits all the same."""
    machine = ["-DBURST=%d" % burst, "-DMEMORY=%d" % memory, "-DCOUNTS=4095"]
    _, refused = right(run(tmp_path, [case], own_table(tmp_path, burst, memory), machine))
    assert not refused, refused[0].refused


def test_traffic(tmp_path):
    """Where tiles fit whole bursts nothing is moved twice; nor much where a row is not whole bursts long."""
    cases = [(G.T(512, 256, 32), 1), (G.T(256, 128, 16), 1), (("NCHW", "NC1HWC0", (2, 64, 32, 32), 16), 1), (("NHWC", "NCHW", (2, 32, 16, 16), 8), 1),
             (("ROW_MAJOR", "SW128", (64, 128), 16), 1), (("ROW_MAJOR", "FRACTAL_NZ", (2, 64, 96), 16), 1), (("NCHW", "NC1HWC0", (2, 32, 7, 7), 16), 1.01)]
    r, _ = right(run(tmp_path, [c for c, _ in cases], "bursts"))
    for case, most in cases:
        _, _, shape, bits = case
        n = bits//8
        for e in shape:
            n *= e
        assert r.moved[case] <= most*2*n, (case, r.moved[case], 2*n)


@pytest.mark.parametrize("old, new, says", [
    ("dst + %s, %s, %s);", "dst + %s + 1, %s, %s);", "an address is no multiple"),
    ("if t.write.keep then fetch(w, \"dst\", t.write) end", "", None),
    ("place[#place + 1] = format(\"%d*%s\", s.pitch, name)", "", None),
    ("add(to, t.starts[1].to)", "add(to, t.starts[1].to + t.item)", None),
    ("last.n, side.bytes", "last.n, side.bytes .. ' + 32'", "")])
def test_the_machine_sees_what_is_wrong(tmp_path, old, new, says):
    r, wrong, _ = run(tmp_path, CASES[:3] + [("NCHW", "NC1HWC0", (2, 20, 5, 7), 16)], own_table(tmp_path, change=(old, new)))
    assert r.returncode == 3 and says in r.stdout if says is not None else r.returncode or wrong, (r.stdout, wrong)


# --- what is refused

def emit(folder, target, *more, shape="2,20,5,7", dtype="f16", cwd=None):
    return subprocess.run([G.RAVEL, "emit", "--from", "NCHW", "--to", "NC1HWC0", "--shape", shape, "--dtype", dtype, "--target", str(target), "-o", folder / "o", *more],
                          capture_output=True, text=True, cwd=cwd)


HEAD = 'comment_open = "", comment_line = "", comment_close = "", name = "mine", model = "bursts"'
OK = HEAD + ", burst = 32, memory = 4096"


@pytest.mark.parametrize("text, says", [
    ("return { %s, emit_plan = function(p) while true do end end }" % OK, "the table runs for more than"),
    ("return { %s, emit_plan = function(p) local s = 'x' while true do s = s .. s end end }" % OK, "the table needs more than"),
    ("return { %s, emit_plan = function(p) local t = {} while true do t[#t + 1] = {} end end }" % OK, "the table needs more than"),
    ("return { %s, emit_plan = function(p) return p end }" % OK, "emit_plan returns a table: a string is wanted"),
    ("return { %s, emit_plan = function(p) return 1 end }" % OK, "emit_plan returns a number"),
    ("return { %s, emit_plan = function(p) end }" % OK, "emit_plan returns a nil"),
    ("return { %s, emit_plan = function(p) return 'a\\0b' end }" % OK, "zero bytes"),
    ("return { %s, emit_plan = function(p) error('this machine has no bursts') end }" % OK, "mine.lua:1: this machine has no bursts"),
    ("return { %s, emit_plan = function(p) error({}) end }" % OK, "called with a table"),
    ("return { %s, emit_plan = function(p) return p.tile[1] end }" % OK, "mine.lua:1: attempt to index a nil value"),
    ("return { %s, emit_plan = function(p) return io.read() end }" % OK, "nil value (global 'io')"),
    ("return { %s, emit_plan = function(p) return load('x') end }" % OK, "nil value (global 'load')"),
    ("return { %s, emit_plan = function(p) local function f() return f() .. '' end return f() end }" % OK, "the table needs more than"),
    ("return { %s, emit_plan = 'text' }" % OK, "field 'emit_plan' is a string: a function of the plan is wanted"),
    ("return { %s }" % OK, "the table lacks 'emit_plan'"),
    ("return { %s, memory = 4096, emit_plan = function(p) return '' end }" % HEAD, "the table lacks 'burst'"),
    ("return { %s, burst = 24, memory = 4096, emit_plan = function(p) return '' end }" % HEAD, "burst = 24: a number from 1 to 65536, a power of two"),
    ("return { %s, burst = 32, memory = -1, emit_plan = function(p) return '' end }" % HEAD, "memory = -1: a number from"),
    ("return { %s, burst = 32, memory = 'much', emit_plan = function(p) return '' end }" % HEAD, "memory = much: a number from"),
    ("return { %s, burst = 32, memory = 64, counts = 0, emit_plan = function(p) return '' end }" % HEAD, "counts = 0: a number from"),
    ("return { %s, burst = 32, memory = 32, emit_plan = function(p) return '' end }" % HEAD, "holds no tile"),
    ("return { %s, burst = 32.5, memory = 32, emit_plan = function(p) return '' end }" % HEAD, "field 'burst' is a number: a whole number is wanted"),
    ("return { %s, burst = 32, memory = 64, other = function() end, emit_plan = function(p) return '' end }" % HEAD, "mine.lua: no field 'other'"),
    ("x = %s" % ("{"*300), "mine.lua")])
def test_hostile_tables(tmp_path, text, says):
    (tmp_path / "mine.lua").write_text(text)
    r = emit(tmp_path, "mine.lua", cwd=tmp_path)
    assert r.returncode == 2 and says in r.stderr and not (tmp_path / "o").exists(), r


def test_what_the_machine_cannot_do(tmp_path):
    for more, shape, dtype, says in [([], "2,20,5,7", "u4", "elements of 4 bits do not lie in whole bytes"), ([], "N,20,5,7", "f16", "extents or strides at run time"),
                                     (["--manifest", tmp_path / "m"], "2,20,5,7", "f16", "--manifest needs --kind relayout"),
                                     (["--kind", "offset"], "2,20,5,7", "f16", "relayouts only")]:
        r = emit(tmp_path, "bursts", *more, shape=shape, dtype=dtype)
        assert r.returncode == 2 and says in r.stderr and not list(tmp_path.iterdir()), r


def test_the_plan_is_data(tmp_path):
    """Nothing in it is a function; a text of the user's does not end the comment."""
    (tmp_path / "mine.lua").write_text("""
local function plain(v) if type(v) == "table" then for _, x in pairs(v) do plain(x) end else assert(type(v) ~= "function" and type(v) ~= "userdata") end end
return { %s, emit_plan = function(p) plain(p) return p.head end }""" % OK.replace('comment_open = "", comment_line = "", comment_close = ""',
                                                                                  'comment_open = "/* ", comment_line = " * ", comment_close = " */"'))
    spec = tmp_path / "s.lua"
    spec.write_text('layout "S" { dims = { A }, order = { A }, doc = "*/ int x;" }')
    r = subprocess.run([G.RAVEL, "emit", "--from", "%s:S" % spec, "--to", "(A){A, bits = 8} --[[*/ x ]]", "--shape", "8", "--dtype", "u8", "--target",
                        tmp_path / "mine.lua", "-o", "-"], capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout.count("*/") == 1 and r.stdout.rstrip().endswith("*/"), r


def test_explain_json(tmp_path):
    """Each box's tiles are those of the plan that emit_plan gets, and all of them together are the elements and the padding."""
    (tmp_path / "mine.lua").write_text("""
return { %s, emit_plan = function(p)
  local out = {}
  local function count(s) local n = 1 for _, x in ipairs(s.steps) do n = n * x.n end return string.format("%%d %%d", n, s.room) end
  for _, t in ipairs(p.tiles) do
    local tiles, items = 1, #t.starts
    for _, l in ipairs(t.loops) do tiles = tiles * l.n end
    for _, m in ipairs(t.moves) do items = items * m.n end
    out[#out + 1] = string.format("%%s|%%d %%d %%d|%%s|%%s|%%s\\n", t.what, tiles, items, t.item, t.read and count(t.read) or "", count(t.write), tostring(t.write.keep))
  end
  return table.concat(out)
end }""" % OK)
    for case in [("NCHW", "NC1HWC0", (2, 20, 5, 7), 16), G.T(64, 100, 32), ("ROW_MAJOR", "SW128", (13, 70), 16)]:
        a, b, shape, bits = case
        args = ["--from", a, "--to", b, "--shape", ",".join(map(str, shape)), "--dtype", ravel.DTYPE[bits], "--target", tmp_path / "mine.lua"]
        plan = subprocess.run([G.RAVEL, "emit", *args, "-o", "-"], capture_output=True, text=True, check=True).stdout
        j = json.loads(subprocess.run([G.RAVEL, "explain", *args, "--json"], capture_output=True, text=True, check=True).stdout)

        def side(s):
            return "%d %d" % (s["transfers"], s["local_bytes"]) if s else ""
        told = "".join("%s|%d %d %d|%s|%s|%s\n" % (x["of"], x["tiles"], x["items"], x["item_bytes"], side(x.get("read")), side(x["write"]), str(x["keeps_others"]).lower())
                       for x in j["boxes"])
        assert told == plan and plan.count("\n") == len(j["boxes"]) > 0
        moved = [sum(x["tiles"]*x["items"]*x["item_bytes"] for x in j["boxes"] if x["padding"] == p) for p in (False, True)]
        src, dst = Program.data(types.SimpleNamespace(case=case))
        assert moved == [src.size, dst.size - src.size] and (j["src_bytes"], j["dst_bytes"], j["burst"], j["memory"]) == (src.size, dst.size, 32, 4096)


def test_explain(tmp_path):
    r = subprocess.run([G.RAVEL, "explain", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "--target", "bursts"],
                       capture_output=True, text=True)
    assert r.returncode == 0 and "write 2 transfers of up to 1120 bytes for 2240" in r.stdout and "others are in them" in r.stdout, r
