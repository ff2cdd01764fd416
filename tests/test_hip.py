"""Kernels for HIP as machine code of AMD GPUs: widths of accesses, no scratch, no spills, shared memory as the manifest says.  By
clang with a header of ours, and by hipcc with HIP's own where there is one."""

import collections
import re
import shutil
import subprocess

import pytest

import grids as G
import machine_code
import ravel

COMPILERS = {
    "clang": ["-nogpuinc", "-nogpulib", "-I", ravel.ROOT / "tests/mock"],
    "hipcc": ["-Wno-unused-command-line-argument"],
}
FLAGS = ["--cuda-device-only", "-O3", "-Wall", "-Wextra", "-Werror", "-S", "-x", "hip"]
WIDTH = {"ubyte": 1, "sbyte": 1, "byte": 1, "u8": 1, "i8": 1, "b8": 1, "ushort": 2, "sshort": 2, "short": 2, "u16": 2, "i16": 2, "b16": 2,
         "dword": 4, "b32": 4, "dwordx2": 8, "b64": 8, "dwordx3": 12, "b96": 12, "dwordx4": 16, "b128": 16}
NAME = {"global_load": "LDG", "global_store": "STG", "ds_read": "LDS", "ds_write": "STS", "ds_load": "LDS", "ds_store": "STS"}


@pytest.fixture(params=COMPILERS)
def compiler(request):
    if not shutil.which(request.param):
        pytest.skip("%s is not installed" % request.param)
    return [request.param, *FLAGS, *COMPILERS[request.param]]


def compiled(compiler, folder, texts, arch="gfx90a"):
    """{entry: (its instructions, what the object tells of it)} of all texts as one."""
    (folder / "all.hip").write_text("\n".join(texts))
    r = subprocess.run([*compiler, "--offload-arch=" + arch, "-o", folder / "all.s", folder / "all.hip"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr[-3000:]
    text = (folder / "all.s").read_text()
    out = {}
    for block in re.split(r"\n  - \.", text[text.index("amdhsa.kernels:"):])[1:]:
        facts = dict(re.findall(r"^ *\.?(\w+): +(\w+)$", block, re.M))
        name = facts["name"]
        out[name] = text[text.index("\n%s:" % name):].split("\n.Lfunc_end")[0], {k: int(v) for k, v in facts.items() if v.isdigit()}
    return out


def instructions(code):
    """Memory instructions by name and width, under the names of machine_code.instructions."""
    out = collections.Counter()
    for what, two, width in re.findall(r"^\t((?:global|ds|flat|scratch|buffer)_[a-z]+)(2st64|2)?_(?:d16_)?(?:hi_)?(\w+?)(?:_d16)?(?:_hi)?\b", code, re.M):
        out["%s %d" % (NAME.get(what, what), WIDTH[width])] += 2 if two else 1
    return out


def of_planned_width(seen, want):
    """Wider accesses as that many of the width of their kind in `want`, which the compiler has merged; all others as they are."""
    planned, out = dict(n.split() for n in want), collections.Counter()
    assert len(planned) == len(want)
    for name, count in seen.items():
        kind, width = name.split()
        times, rest = divmod(int(width), int(planned.get(kind, width)))
        out[name if rest or not times else "%s %s" % (kind, planned.get(kind, width))] += count*(1 if rest or not times else times)
    return out


def kernels(folder, cases):
    ks = G.kernels(folder, "hip", cases)
    assert len(ks) == len(cases)
    return ks, [k.path.read_text() for k in ks]


def test_every_case(compiler, tmp_path):
    ks, texts = kernels(tmp_path, G.CASES[::3] if compiler[0] == "hipcc" else G.CASES)
    found = compiled(compiler, tmp_path, texts)
    for k in ks:
        code, facts = found[k.entry]
        assert (facts["private_segment_fixed_size"], facts["vgpr_spill_count"], facts["sgpr_spill_count"]) == (0, 0, 0), k.case
        assert (facts["group_segment_fixed_size"], facts["max_flat_workgroup_size"]) == (k.manifest["shared_bytes"], k.manifest["block"][0]), k.case
        assert not any(n.startswith(("flat", "scratch", "buffer")) for n in instructions(code)), (k.case, instructions(code))


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1030"])
def test_as_wide_as_planned(compiler, tmp_path, arch):
    """Of each access as many as the tile has, as on CUDA.  Of a body in two copies, with guards and without, the compiler may move
    what both have in front of the branch.  It may also merge neighbours into wider accesses; none is narrower."""
    ks, texts = kernels(tmp_path, [case for case, _ in machine_code.WIDE])
    found = compiled(compiler, tmp_path, texts, arch)
    for k, text, (_, want) in zip(ks, texts, machine_code.WIDE):
        seen = of_planned_width(instructions(found[k.entry][0]), want)
        least = {n: want[n]//2 if "else {" in text else want[n] for n in want}
        assert seen.keys() == want.keys() and all(least[n] <= seen[n] <= want[n] for n in want), (k.case, seen, want)


@pytest.mark.parametrize("seen, same", [
    ({"LDS 4": 3, "STG 4": 3}, True), ({"LDS 12": 1, "STG 4": 3}, True), ({"LDS 8": 1, "LDS 4": 1, "STG 12": 1}, True), ({"LDS 12": 2, "STG 4": 3}, False),
    ({"LDS 8": 1, "STG 4": 3}, False), ({"LDS 1": 12, "STG 4": 3}, False), ({"LDS 2": 6, "STG 4": 3}, False), ({"LDS 6": 2, "STG 4": 3}, False),
    ({"LDS 12": 1, "STG 2": 6}, False), ({"LDS 12": 1, "STG 4": 3, "LDG 4": 1}, False)])
def test_merged_accesses(seen, same):
    want = {"LDS 4": 3, "STG 4": 3}
    assert (of_planned_width(seen, want) == want) == same


def test_narrow_stores_are_seen(compiler, tmp_path):
    [k], [text] = kernels(tmp_path, [G.T(4096, 4096, 32)])
    bad = re.sub(r"\(\(uint4 \*\)dst\)\[(.*)\] = v;", lambda m: " ".join("((volatile unsigned *)dst)[4*(%s) + %d] = v.%s;" % (m[1], i, c)
                                                                          for i, c in enumerate("xyzw")), text)
    assert bad != text
    seen = instructions(compiled(compiler, tmp_path, [bad])[k.entry][0])
    assert of_planned_width(seen, machine_code.WIDE[0][1]) == seen
    assert (seen["STG 16"], seen["flat_store 4"]) == (0, 16), seen


def test_scratch_is_seen(compiler, tmp_path):
    """An array that is indexed at run time is in scratch memory."""
    text = ('#include <hip/hip_runtime.h>\nextern "C" __global__ void k(int *p)\n{\n    int v[512];\n'
            '    for (int i = 0; i < 512; i++) v[p[i] & 511] = i;\n    p[0] = v[p[513] & 511];\n}\n')
    code, facts = compiled(compiler, tmp_path, [text])["k"]
    assert facts["private_segment_fixed_size"] >= 2048 and any(n.startswith(("scratch", "buffer")) for n in instructions(code)), code
