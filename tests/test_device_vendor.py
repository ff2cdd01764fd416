"""Our prototypes against the vendors' headers, the code of the real NVRTC, a real device: where they are installed."""

import ctypes as ct
import glob
import os
import re
import shutil
import subprocess

import pytest

import ravel
from device_mocks import BUILDS, CUDA, cuda, Device, env, image, lib, listed, mocks, PLAIN, refused, through_memory  # noqa: F401 (fixtures too)

# --- our prototypes against the vendors' headers, where they are installed

def functions(path):
    """(what it returns, name, suffix of the symbol, parameters) of the table of functions that a file includes."""
    text = (ravel.ROOT / "runtime" / path).read_text()
    columns = re.search(r"#define F\((.*)\)", text)[1].split(", ")
    table = (ravel.ROOT / "runtime" / re.search(r'#include "(device_\w+\.def)"', text)[1]).read_text()
    rows = (" " + table.replace("\n", " ")).split(" F(")[2:]           # the first is in the comment
    out = []
    for row in rows:
        front, params = row.split("(", 1)
        got = dict(zip(columns, [c.strip() for c in front.split(",")]))
        out.append((got.get("type", "int"), got["name"], got.get("suffix", ""), "(" + params.rstrip()[:-1]))
    assert len(out) > 10
    return out


SAME = """
#include <stddef.h>
#include <stdint.h>
#include <%s>
#include <type_traits>
namespace ours { %s }
template <class A, class B> constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer<A>::value == std::is_pointer<B>::value;
template <class A, class B> struct same : std::false_type {};
template <class R, class S> struct same<R(), S()> : std::integral_constant<bool, alike<R, S>> {};
template <class R, class S, class A, class... B, class C, class... D> struct same<R(A, B...), S(C, D...)>
    : std::integral_constant<bool, alike<A, C> && same<R(B...), S(D...)>::value> {};
%s
"""


PREFIXES = ["CUDA_ERROR_", "CU_DEVICE_ATTRIBUTE_", "CU_", "NVRTC_", "CL_", "CL_DEVICE_"]


def check_numbers(folder, flags, header, file, path):
    """Our names for the vendor's numbers are the vendor's, less a prefix."""
    vendor, text = open(file).read(), (ravel.ROOT / "runtime" / path).read_text()
    ours = re.findall(r"\b([A-Z][A-Z_]+[A-Z]) = (-?\w+)\b", text)
    ours = [(n, v) for n, v in ours if not n.endswith("_MAX") and n != "PLATFORM_NOT_FOUND"]    # the last is an extension's
    found = [(p + n, v) for n, v in ours for p in PREFIXES if re.search(r"\b%s\b" % (p + n), vendor)]
    assert [n for n, _ in ours if not any(f.endswith(n) for f, _ in found)] == []
    if header.startswith("CL"):
        codes = re.findall(r'\[(\d+)\] = "(\w+)"', (ravel.ROOT / "runtime/device_code.c").read_text())
        found += [(name, "-" + code) for code, name in codes if code != "1001"]
    (folder / "numbers.cc").write_text("#include <%s>\n" % header + "".join("static_assert(%s == %s, \"\");\n" % f for f in found))
    subprocess.run(["g++", *flags, "-fsyntax-only", folder / "numbers.cc"], check=True)


@PLAIN
@pytest.mark.parametrize("header, path, types", [
    ("cuda.h", "device_cuda.h", "typedef void *Context, *Module, *Function, *Stream; typedef unsigned long long Pointer;"),
    ("nvrtc.h", "device_nvrtc.c", "typedef void *Program;"),
    ("CL/cl.h", "device_opencl.h", "typedef void *Platform, *Device, *Context, *Queue, *Program, *Kernel, *Memory, *Event, *Notify; typedef uint64_t Flags;")],
    ids=["cuda", "nvrtc", "opencl"])
def test_prototypes(header, path, types, tmp_path):
    """As many parameters, of the same sizes, pointers where they have pointers; the symbol that the header's name stands for."""
    where = [p for p in ["/usr/local/cuda/include", "/usr/include"] if os.path.exists(os.path.join(p, header))]
    if not where:
        pytest.skip("no " + header)
    rows = functions(path)
    typedefs = types + "".join("typedef %s %s%s;" % (kind, name + "_", params) for kind, name, _, params in rows)
    checks = "".join('static_assert(same<ours::%s_, decltype(%s)>::value, "%s");\n' % (name, name, name) for _, name, _, _ in rows)
    (tmp_path / "same.cc").write_text(SAME % (header, typedefs, checks))
    flags = ["-std=c++17", "-I", where[0], "-DCL_TARGET_OPENCL_VERSION=120", "-w"]
    subprocess.run(["g++", *flags, "-fsyntax-only", tmp_path / "same.cc"], check=True)
    check_numbers(tmp_path, flags, header, os.path.join(where[0], header), path)
    if header == "cuda.h":
        (tmp_path / "names.cc").write_text("#include <cuda.h>\n" + "".join("@%s\n" % name for _, name, _, _ in rows))
        said = subprocess.run(["g++", *flags, "-E", "-P", tmp_path / "names.cc"], check=True, capture_output=True, text=True).stdout
        assert re.findall(r"^@ ?(\w+)", said, re.M) == [name + suffix for _, name, suffix, _ in rows]


# --- a real device, where there is one

def test_real_device(lib, monkeypatch):
    for name in ("CUDA", "NVRTC"):
        monkeypatch.delenv("RAVEL_%s_LIBRARY" % name, raising=False)
    try:
        listed(lib, CUDA)
    except ravel.Error as e:
        pytest.skip("no CUDA device: " + e.text)
    for source in (COPY_CUDA, COPY_CUDA.replace("i < 5000", "i < 5000 && i != 4999")):
        r = through_memory(BUILDS[0], CUDA, source)
        assert (r.returncode, r.stdout) == ((0, "ok\n") if source == COPY_CUDA else (1, "wrong\n")), r
    r = through_memory(BUILDS[0], CUDA, "nonsense")
    assert r.stdout.startswith("%d NVRTC does not compile the kernel" % ravel.STATUS.index("COMPILE")), r


# --- the real NVRTC, for a device that only the stand-in has

COPY_CUDA = """
extern "C" __global__ void __launch_bounds__(64) copy(unsigned char *dst, const unsigned char *src)
{
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i < 5000)
        dst[i] = src[i];
}
"""


@pytest.fixture
def nvrtc(env):
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", *glob.glob("/usr/local/cuda*/lib*/libnvrtc.so.1[1-3]*")):
        try:
            ct.CDLL(name)
        except OSError:
            continue
        env(RAVEL_NVRTC_LIBRARY=name)
        return name
    pytest.skip("no NVRTC")


def test_real_code(lib, nvrtc, env, cuda, tmp_path):
    """An ELF file for the device's architecture with the kernel in it."""
    env(RAVEL_MOCK_ARCH=90)
    with Device(lib, "open", CUDA, 0) as d:
        d.free(d.compile(COPY_CUDA, options="-DUNUSED=1"))
    (tmp_path / "k.cubin").write_bytes(image(cuda))
    assert image(cuda)[:4] == b"\x7fELF"
    names = subprocess.run(["readelf", "-sW", tmp_path / "k.cubin"], capture_output=True, text=True).stdout
    assert re.search(r"FUNC .* copy$", names, re.M), names
    if shutil.which("cuobjdump"):
        out = subprocess.run(["cuobjdump", "-elf", tmp_path / "k.cubin"], capture_output=True, text=True).stdout
        assert "sm_90" in out


def test_real_ptx(lib, nvrtc, env, cuda):
    """A device newer than the compiler."""
    env(RAVEL_MOCK_ARCH=999)
    with Device(lib, "open", CUDA, 0) as d:
        d.free(d.compile(COPY_CUDA))
    ptx = image(cuda).decode()
    assert re.search(r"^\.version \d+\.\d+$", ptx, re.M) and re.search(r"^\.target sm_\d+$", ptx, re.M) and ".entry copy(" in ptx


def test_real_compile_failure(lib, nvrtc, env, cuda):
    env(RAVEL_MOCK_ARCH=90)
    with Device(lib, "open", CUDA, 0) as d:
        status, text = refused(d.compile, 'extern "C" __global__ void copy(int *p) { *p = nonsense; }')
        assert status == "COMPILE" and 'identifier "nonsense" is undefined' in text
        assert refused(d.compile, COPY_CUDA, options="--no-such-option")[0] == "COMPILE"
