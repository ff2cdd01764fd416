"""generated/ is current, compiles without a warning, does what the oracle says, and is proven as each compiler made it: `ravel verify
--object`, and Valgrind."""
import ctypes
import subprocess

import numpy as np
import pytest

import formulas
import generated
import precompiled
import ravel

WARNINGS = "-std=c99 -Wall -Wextra -Wconversion -Werror".split()
COMPILERS = {"gcc": ["gcc", *WARNINGS, "-O2"], "native": ["gcc", *WARNINGS, "-O3", "-march=native"], "clang": ["clang", *WARNINGS, "-O2"],
             "tcc": ["tcc"]}


def test_at_most_thirty():
    assert len(list(generated.commands())) <= 30
    assert {p.stem for p in generated.FOLDER.glob("*.c")} == {n for n, _ in generated.commands()}


@pytest.mark.parametrize("name,args", generated.commands(), ids=lambda v: v if isinstance(v, str) else "")
def test_current(name, args):
    now = generated.text(str(ravel.BUILD / "ravel"), args)
    assert (generated.FOLDER / (name + ".c")).read_bytes() == now, "run `make generated`"


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    """What to add to the command of the compiler that reads the header of vectors."""
    return precompiled.header([*COMPILERS["native"], "-fPIC"], tmp_path_factory.mktemp("vectors"))


def shared(name, compiler, folder, native, wrapper=""):
    """The file as a shared object; wrapper makes its inline function callable."""
    source, so = folder / (name + ".c"), folder / (name + compiler + ".so")
    source.write_bytes((generated.FOLDER / (name + ".c")).read_bytes() + wrapper.encode())
    vectors = native(source) if compiler == "native" else []
    subprocess.run([*COMPILERS[compiler], "-fPIC", *vectors, "-shared", "-o", so, source], check=True)
    return str(so)


def proven(name, so):
    """What `ravel verify` says of the very binary."""
    a, b, shape, dtype = generated.RELAYOUTS[name]
    args = ["--from", a, "--to", b, "--shape", shape, "--dtype", dtype, "--object", so, "--name", name]
    r = subprocess.run([str(ravel.BUILD / "ravel"), "verify", *args], capture_output=True, text=True)
    return r.returncode == 0 and r.stderr == "" and r.stdout.startswith("yes: "), r.stdout + r.stderr


def address(layout, shape, bits):
    """From the published formula; for inline layouts from the library, whose tables other tests
    hold against an evaluator of their own."""
    if layout[0] not in "({":
        m = formulas.evaluate(layout, shape, bits)
        return m.addr, m.size
    with ravel.Context() as cx:
        return cx.table(layout, shape, bits), cx.bytes(layout, shape, bits) * 8 // bits


@pytest.mark.parametrize("name", generated.RELAYOUTS)
def test_relayouts(name, tmp_path, native):
    a, b, shape, dtype = generated.RELAYOUTS[name]
    shape, bits = tuple(int(n) for n in shape.split(",")), formulas.BITS[dtype]
    (src, src_size), (dst, dst_size) = address(a, shape, bits), address(b, shape, bits)
    data = np.random.default_rng(7).integers(0, 256, src_size * bits // 8, np.uint8)
    elements = ravel.unpack(data, bits)
    want = np.zeros(dst_size, elements.dtype)
    want[dst.ravel()] = elements[src.ravel()]
    for compiler in COMPILERS:
        so = shared(name, compiler, tmp_path, native)
        got = np.full(dst_size * bits // 8, ravel.POISON, np.uint8)
        f = getattr(ctypes.CDLL(so), name)
        f.argtypes, f.restype = [ctypes.c_void_p] * 2, None
        f(got.ctypes.data, data.ctypes.data)
        assert np.array_equal(ravel.unpack(got, bits), want), compiler
        yes, text = proven(name, so)
        assert yes, (compiler, text)


@pytest.mark.parametrize("name", generated.FUNCTIONS)
def test_functions(name, tmp_path, native):
    kind, layout, shape, dtype = generated.FUNCTIONS[name]
    shape = tuple(int(n) for n in shape.split(","))
    m = formulas.evaluate(layout, shape, formulas.BITS[dtype])
    rank = len(shape)
    at = ", ".join("i[%d]" % d for d in range(rank))
    body = {"offset": "return %s(%s);" % (name, at), "inverse": "return %s(a, i);" % name}[kind]
    unused = {"offset": "(void)a;", "inverse": ""}[kind]
    where, index = dict(zip(m.addr.ravel().tolist(), np.ndindex(*shape))), (ctypes.c_int64 * rank)()
    for compiler in COMPILERS:
        so = shared(name, compiler, tmp_path, native, "int64_t f(int64_t a, int64_t *i);\n"
                    "int64_t f(int64_t a, int64_t *i) { %s %s }\n" % (unused, body))
        f = ctypes.CDLL(so).f
        f.restype, f.argtypes = ctypes.c_int64, [ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)]
        for a in range(0, m.size, max(1, m.size // 20000)):
            if kind == "inverse":
                found = f(a, index)
                assert (tuple(index) if found else None) == where.get(a), compiler
            elif a in where:
                index[:] = where[a]
                assert f(0, index) == a, compiler
