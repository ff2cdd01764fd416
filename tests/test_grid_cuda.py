"""Kernels for grids as CUDA, through nvcc to machine code: widths, guards, registers."""

import os
import re
import subprocess
import sys

import pytest

import grids as G
import ravel
from machine_code import ARCHS, compiled, instructions, instructions_of, nvcc, unit, WIDE  # noqa: F401 (nvcc is a fixture)

SEED = int(os.environ.get("RAVEL_SEED", "20240611"))


@pytest.mark.parametrize("arch", ARCHS)
def test_cuda_is_as_wide_as_planned(nvcc, tmp_path, arch):
    """No spills, no local memory, and of each access as many as the tile has."""
    wide = [(case, want) for case, want in WIDE if case[3] == 32 or arch == "sm_90"]
    ks = G.kernels(tmp_path, "cuda", [case for case, _ in wide])
    found = compiled(nvcc, tmp_path, ks, arch)
    wrong = [(case, instructions_of(found[k.entry])) for k, (case, want) in zip(ks, wide) if instructions_of(found[k.entry]) != want]
    assert len(ks) == len(wide) and not wrong


def test_whole_tiles_have_no_guards(nvcc, tmp_path):
    """Without the code for tiles at an edge and for the ends of runs: so many instructions a byte, and no access to memory below a word.  Half of what a tile of 2 bits
    loads is stored by the next one; on an H200 that is faster than to store parts of sectors, with 5 instructions."""
    most = {1: 6, 2: 9, 4: 5.5, 8: 4.2, 16: 3.5, 32: 4}
    ks = G.kernels(tmp_path, "cuda", [G.T(4099, 4097, bits) for bits in most])
    for k in ks:
        text = k.path.read_text()
        k.path.write_text(text.replace("else {", "else if (0) {").replace("if (blockIdx.x >= ", "if (0 && blockIdx.x >= "))
    found = compiled(nvcc, tmp_path, ks, "sm_90")
    assert len(ks) == len(most)
    for k, (bits, limit) in zip(ks, most.items()):
        code = found[k.entry]
        stored = sum(a["requests"]*32*a["bytes"] for a in k.manifest["boxes"][0]["analysed"][0]["accesses"] if a["memory"] == "dst")
        assert len(code)//16 <= limit*stored/256, (bits, len(code)//16, stored)
        assert not {"LDG 1", "LDG 2", "STG 1", "STG 2"} & set(instructions_of(code)), (bits, instructions_of(code))


sys.path.insert(0, str(ravel.ROOT / "bench"))
import gpu  # noqa: E402
import gpu_code  # noqa: E402

# the cases of the benchmark that miss a bound of bench/gpu_code.py, and which
MISSES = {"2D u8 odd": {"sectors"}, "2D u4 odd": {"sectors"}, "2D u1 odd": {"sectors", "instructions"}, "2D f16 odd": {"instructions"}, "SW128 f16, columns": {"instructions"},
          "FRACTAL_Z f16 7x7": {"instructions", "narrow"}, "three columns u8": {"narrow"},
          "256 KB f32": {"instructions"}, "1 MB f32": {"instructions"}, "4 MB u8": {"instructions"}}


def scanned(nvcc, folder, cases, arch):
    """Of each case: the code, the bounds that it misses, the instructions of a thread, and those that the manifest tells."""
    kernels = [gpu_code.emitted(ravel.BUILD, folder, case, "kern%d" % i) for i, case in enumerate(cases)]
    for case, code, (_, manifest) in zip(cases, gpu_code.scan(nvcc, unit(folder / "unit.cu", [path for path, _ in kernels]), kernels, arch), kernels):
        box = max(manifest["boxes"], key=lambda b: b["blocks"])
        stored = sum(a["requests"]*32*a["bytes"] for a in box["analysed"][0]["accesses"] if a["memory"] == "dst" and a["is"] == "store")
        yield case, code, set(gpu_code.missed(code, int(re.search(r"\d+", case[1])[0]))), code.per_byte*stored/256, box["instructions"]


@pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="on the plain build only")
@pytest.mark.parametrize("part", range(6))
def test_machine_code(nvcc, tmp_path, part):
    """The scan of bench/gpu_code.py, of each case for one of three architectures: sectors, widths and instructions are within the bounds, or known not to be; and what the
    manifest tells of instructions is near."""
    seen = 0
    for case, code, missed, instructions, told in scanned(nvcc, tmp_path, list(gpu.cases())[part::6], ARCHS[part % 3]):
        assert code.narrowest > 0 and missed <= MISSES.get(case.name, set()), (case, code, missed)
        assert 0.5 < told/instructions < 2, (case, told, instructions)
        # of 32 words in a row nvcc merges what the count has once for each
        assert code.row in ("loops", "inverse", "run") or case.name == "2D u1 odd" or 0.7 < told/instructions < 1.5, (case, told, instructions)
        seen += 1
    assert seen > 5


@pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="on the plain build only")
def test_machine_code_of_random_cases(nvcc, tmp_path):
    """None spills or divides."""
    print("seed", SEED)
    for case, code, missed, _, _ in scanned(nvcc, tmp_path, list(gpu_code.drawn(6, SEED)), "sm_90"):
        assert code.per_byte > 0.3 and not {"spills", "divisions"} & missed, (case, code)


MIRRORED = [("(A,B,C,D){A, B, C, 2 - D}", "(A,B,C,D){D, B, C, 39 - A}", (40, 5, 9, 3), 32), ("(A,B){A, 7 - B}", "(A,B){B, 63 - A}", (64, 8), 32),
            ("(A,B){A, 300 - B}", "(A,B){B, A}", (200, 301), 16)]


def test_sums_that_wrap_are_signed(nvcc, tmp_path):
    """nvcc 13.0 may extend an unsigned sum to 64 bits before it has added all terms: an H100 then read 16 GB beside the tensor."""
    for k in G.kernels(tmp_path, "cuda", MIRRORED):
        text = k.path.read_text()
        indices = re.findall(r"\)(?:src|dst)\)\[([^\]]*)\]", text)
        below = [i for i in indices if re.search(r"(^|[( ])- ?\w", i)]
        assert below and all(i.startswith("(int)(") for i in below), (k.case, below)
        r = subprocess.run([nvcc, "-arch=sm_90", "-ptx", "-o", tmp_path / "k.ptx", k.path], capture_output=True, text=True)
        ptx = (tmp_path / "k.ptx").read_text()
        assert r.returncode == 0 and "mul.wide.s32" in ptx and len(re.findall(r"mul\.wide\.u32", ptx)) <= len(indices) - len(below), (k.case, r.stderr)


def test_scan_sees_local_memory(nvcc, tmp_path):
    """An array that is indexed at run time is in local memory, and the scan says so."""
    (tmp_path / "kern.cu").write_text('extern "C" __global__ void k(int *p) { int v[64]; for (int i = 0; i < 64; i++) v[p[i] & 63] = i; p[0] = v[p[65] & 63]; }')
    subprocess.run([nvcc, "-cubin", "-arch=sm_90", "-o", tmp_path / "k.cubin", tmp_path / "kern.cu"], check=True)
    found = instructions((tmp_path / "k.cubin").read_bytes())
    assert any(n.startswith("STL") for n in found) and any(n.startswith("LDL") for n in found), found


def test_every_case_compiles_for_cuda(nvcc, tmp_path):
    assert compiled(nvcc, tmp_path, G.kernels(tmp_path, "cuda", G.CASES[17:23]), "sm_90")
