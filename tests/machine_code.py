"""What nvcc makes of kernels: the instructions that access memory, and the cases whose widths are known."""

import collections
import shutil
import struct
import subprocess

import pytest

import grids as G

ARCHS = ["sm_80", "sm_90", "sm_100", "sm_120"]
MEMORY = {0x981: "LDG", 0x381: "LDG", 0x986: "STG", 0x386: "STG", 0x984: "LDS", 0x988: "STS", 0x388: "STS", 0x983: "LDL", 0x987: "STL", 0x387: "STL"}
WIDTH = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}


def sections(elf):
    """(name, bytes) of a 64-bit ELF file's sections."""
    at, = struct.unpack_from("<Q", elf, 40)
    size, n, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQ", elf, at + i*size) for i in range(n)]
    strings = heads[names][4]
    for h in heads:
        end = elf.index(b"\0", strings + h[0])
        yield elf[strings + h[0]:end].decode(), elf[h[4]:h[4] + h[5]]


def instructions_of(code):
    """Memory instructions by name and width.  Fields: Mesa's NAK, sm70_encode.rs."""
    out = collections.Counter()
    for low, high in struct.iter_unpack("<QQ", code):
        what = MEMORY.get(low & 0xfff)
        if what:
            out["%s %d" % (what, WIDTH[high >> 9 & 7])] += 1
    return out


def codes(cubin):
    """{kernel: its machine code}"""
    return {name.removeprefix(".text."): code for name, code in sections(cubin) if name.startswith(".text.")}


def instructions(cubin):
    return sum(map(instructions_of, codes(cubin).values()), collections.Counter())


@pytest.fixture(scope="module")
def nvcc():
    path = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not path:
        pytest.skip("nvcc is not installed")
    return path


def unit(path, sources):
    """One file of kernels with names of their own, each in a namespace: nvcc reads CUDA's headers once."""
    path.write_text("#include <stdint.h>\n" + "".join('namespace n%d {\n#include "%s"\n}\n' % x for x in enumerate(sources)))
    return path


STRICT = ["-Xptxas", "-v,-warn-spills", "-Werror", "all-warnings"]
NO_SPILLS = "0 bytes spill stores, 0 bytes spill loads"


def compiled(nvcc, folder, ks, arch):
    """{entry: its machine code}; none spills."""
    out, source = folder / arch, unit(folder / "unit.cu", [k.path for k in ks])
    r = subprocess.run([nvcc, "-cubin", "-arch=" + arch, *STRICT, "-o", out, source], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    assert r.stderr.count(NO_SPILLS) == r.stderr.count("bytes spill stores") == len(ks), r.stderr
    found = codes(out.read_bytes())
    assert set(found) == {k.entry for k in ks}
    return found


WIDE = [(G.T(4096, 4096, 32), {"LDG 16": 4, "STG 16": 4, "LDS 16": 4, "STS 16": 4}), (G.T(4096, 4096, 64), {"LDG 16": 2, "STG 16": 2, "LDS 16": 2, "STS 16": 2}),
        (G.T(4096, 4096, 16), {"LDG 8": 4, "STG 8": 4, "LDS 8": 4, "STS 8": 4}), (G.T(4096, 4096, 8), {"LDG 4": 16, "STG 4": 16, "LDS 4": 16, "STS 4": 16}),
        (G.T(8192, 8192, 4), {"LDG 4": 32, "STG 4": 32, "LDS 4": 32, "STS 4": 32}),
        (("(A,B){A, B}", "(A,B){A, B, pitch = {A = 2048}}", (1024, 1024), 8), {"LDG 16": 4, "STG 16": 4}),
        (("NCHW", "NC1HWC0", (8, 64, 56, 56), 16), {"LDG 4": 8, "STG 16": 2}), (("NC1HWC0", "NCHW", (8, 64, 56, 56), 16), {"LDG 16": 2, "STG 4": 8}),
        (("NCHW", "NC1HWC0", (8, 64, 56, 56), 8), {"LDG 4": 4, "STS 4": 4, "LDS 4": 4, "STG 4": 4}), (("NC1HWC0", "NCHW", (8, 64, 56, 56), 8), {"LDG 4": 4, "STS 4": 4, "LDS 4": 4, "STG 4": 4}),
        (("NCHW", "NCHW8", (8, 64, 56, 56), 32), {"LDG 4": 4, "STG 16": 1}), (("NCHW", "{N, C//4, H, W, C%4}", (8, 64, 56, 56), 64), {"LDG 8": 2, "STG 16": 1}),
        # twice: for whole tiles and for those at an edge
        (G.T(4096, 4159, 32), {"LDG 4": 32, "STG 4": 32, "LDS 4": 32, "STS 4": 32}),
        (("NHWC", "NCHW", (8, 3, 128, 128), 8), {"LDG 16": 1, "STG 4": 3, "LDS 4": 3, "STS 16": 1}),
        (("NCHW", "NHWC", (8, 512, 7, 7), 32), {"LDG 16": 4, "STG 4": 13, "LDS 4": 13, "STS 16": 4}),
        (("NHWC", "NCHW", (8, 512, 7, 7), 16), {"LDG 4": 13, "STG 16": 4, "LDS 16": 4, "STS 2": 26}),
        (("NCHW", "NC1HWC0", (8, 7, 56, 56), 16), {"LDG 4": 7, "STG 16": 2}), (G.Z(100000, 16, 16, 16), {"LDG 4": 8, "STG 16": 2}),
        (G.M((64, 32, 32, 3), "DBCA", 32), {"LDG 4": 32, "STG 4": 30, "LDS 4": 30, "STS 4": 32})]
