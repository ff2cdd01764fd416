"""The Python package: its own tests and the examples of its pages, built here and installed by pip."""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import numpy as np
import pytest

import ravel
from device_mocks import mocks  # noqa: F401 (a fixture)

HERE = ravel.ROOT / "python"
HEADER = os.path.join(sysconfig.get_paths()["include"], "Python.h")

pytestmark = pytest.mark.skipif(not os.path.exists(HEADER), reason="python3-dev is not installed")


def offline(**more):
    return {**os.environ, "RAVEL_BUILD": str(ravel.BUILD), "CI": "true", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", **more}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    there = tmp_path_factory.mktemp("python") / "lib"
    subprocess.run(["make", "-s", "python", "B=%s" % ravel.BUILD, "PYTHON=" + sys.executable, "PYTHON_LIB=%s" % there], cwd=ravel.ROOT, env=offline(),
                   check=True)
    return there


def examine(package, folder, *what, **more):
    """Runs in another process: these tests have a module ravel of their own."""
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "doctest_optionflags=ELLIPSIS", "-rs", *map(str, what)]
    r = subprocess.run(command, cwd=folder, env=offline(PYTHONPATH=str(package), **more), capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr
    return r.stdout


@pytest.mark.parametrize("file", sorted(p.name for p in HERE.glob("tests/test_*.py")))
def test_its_own_tests(package, mocks, file, tmp_path, record_property):  # noqa: F811
    said = examine(package, tmp_path, HERE / "tests" / file, RAVEL_CUDA_LIBRARY=mocks["cuda"], RAVEL_NVRTC_LIBRARY=mocks["nvrtc"],
                   RAVEL_MOCK_KERNELS=mocks["kernels"], RAVEL_MOCK_FOLDER=str(tmp_path))
    assert " passed" in said
    for place, why in re.findall(r"^SKIPPED \[\d+\] (?:.*/)?(.+?:\d+): (.+)", said, re.M):
        record_property("skipped", "%s: %s" % (place, why))


def test_examples(package, tmp_path):
    """Of the page and of every docstring; every public function has some."""
    said = examine(package, tmp_path, "--doctest-modules", "--doctest-glob=*.md", "-vv", HERE / "README.md", package / "ravel")
    for name in ("README.md", "convert.convert", "convert.compile", "Plan.__call__", "Plan.verify", "Layout.check", "Layout.index", "Layout.element",
                 "Layout.table", "Layout.storage", "Layout.show", "Layout.equals", "Layout.__eq__", "layout.layout", "specs.load"):
        assert any(name in line and "PASSED" in line for line in said.splitlines()), (name, said)


def test_einops():
    """The rows of the page say what einops does: each rearrangement is one of x or of a part of it."""
    einops = pytest.importorskip("einops")
    rows = re.findall(r"rearrange\(x, (\"[^\"]+\")([^)]*)\)`", (HERE / "README.md").read_text())
    assert len(rows) == 6
    x = np.arange(2*20*6*8).reshape(2, 20, 6, 8)
    flat = x[:, :, 0, 0]
    by_hand = [(x, x.transpose(0, 2, 3, 1)), (flat, flat.reshape(2, 4, 5)), (flat.reshape(2, 4, 5), flat),
               (x, x.transpose(0, 2, 3, 1).reshape(2, 48, 20)),
               (x, x.reshape(2, 5, 2, 2, 6, 8).transpose(0, 1, 4, 2, 5, 3).reshape(2, 5, 12, 16)),
               (x, x.reshape(2, 20, 3, 2, 4, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 80, 3, 4))]
    for (text, sizes), (a, b) in zip(rows, by_hand):
        more = {k: int(n) for k, n in re.findall(r"(\w)=(\d+)", sizes)}
        assert np.array_equal(einops.rearrange(a, text.strip('"'), **more), b), text


USER = """import numpy as np
import ravel
x = np.zeros((2, 3, 4, 5), np.float32)
plan = ravel.compile("NCHW", ravel.layout("NHWC"), (2, None, 4, 5), np.float32, threads=1)
y = plan(ravel.convert(x, "NCHW", "NCHW"), shape=(2, 3, 4, 5))
reveal_type(plan.src_shape)
reveal_type(ravel.layout("NCHW", "f16").check((1, 2, 3, 4)).collision)
ravel.convert(x, 3, "NHWC")
ravel.layout("NCHW").index(1, (2,))
"""


def test_types(package, tmp_path):
    """The package itself, and what a program that uses it is told."""
    mypy = pytest.importorskip("mypy.version", minversion="1.8", reason="mypy 1.8 is not installed")
    r = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, HERE / "ravel"], capture_output=True, text=True, cwd="/")
    assert r.returncode == 0, (mypy.__version__, r.stdout, r.stderr)
    (tmp_path / "user.py").write_text(USER)
    r = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, "user.py"], cwd=tmp_path, capture_output=True, text=True,
                       env=offline(MYPYPATH=str(package)))
    told = [line.split(": ", 1)[1] for line in r.stdout.splitlines()[:-1]]
    assert len(told) == 4 and "tuple[int, ...] | None" in told[0] and "tuple[tuple[int, ...], tuple[int, ...], int] | None" in told[1], r.stdout
    assert 'Argument 2 to "convert"' in told[2] and 'Argument 1 to "index"' in told[3], r.stdout


def test_nothing_is_exported(package):
    """Of the library inside; its names are not those of another libravel in the process."""
    [module] = package.glob("ravel/_ravel*.so")
    assert module.name == "_ravel.abi3.so"
    said = subprocess.check_output(["nm", "-D", "--defined-only", module], text=True)
    assert [line.split()[2] for line in said.splitlines()] == ["PyInit__ravel"]
    assert "libravel" not in subprocess.check_output(["readelf", "-d", module], text=True)


def test_pip(tmp_path):
    """A wheel from the folder of the project, without a network, and an installation of it; one binary for all versions of Python."""
    pip = [sys.executable, "-m", "pip", "-q"]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode:
        pytest.skip("pip is not installed")
    try:
        subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", tmp_path, ravel.ROOT], env=offline(), check=True,
                       capture_output=True)
    finally:
        shutil.rmtree(HERE / "build", ignore_errors=True)
        shutil.rmtree(HERE / "ravel.egg-info", ignore_errors=True)
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name.startswith("ravel-0.1.0-cp311-abi3-linux_")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"ravel/__init__.py", "ravel/py.typed", "ravel/_ravel.pyi", "ravel/_ravel.abi3.so"} <= set(names)
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", tmp_path / "there", wheel], env=offline(), check=True)
    said = subprocess.check_output([sys.executable, "-c", "import ravel, numpy; print(ravel.convert(numpy.ones((2, 3)), '{M, K}', '(M,K){K, M}').shape)"],
                                   cwd="/", env=offline(PYTHONPATH=str(tmp_path / "there")), text=True)
    assert said == "(3, 2)\n"


NOTEBOOK = """import ast, json, sys
nb = json.load(open(sys.argv[1]))
assert nb["nbformat"] == 4
names, shown = {}, 0
for cell in nb["cells"]:
    if cell["cell_type"] != "code":
        continue
    text = "".join(cell["source"])
    *first, last = ast.parse(text).body
    value = None
    if isinstance(last, ast.Expr):
        exec(compile(ast.Module(first, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    else:
        exec(text, names)
    if cell["outputs"]:
        want = "".join(cell["outputs"][0]["data"]["text/plain"])
        assert repr(value) == want, (text, repr(value), want)
        svg = cell["outputs"][0]["data"].get("image/svg+xml")
        assert (svg is None) == (not hasattr(value, "_repr_svg_")) and (svg is None or "".join(svg) == value._repr_svg_()), text
        shown += 1
print(shown, "cells show what they should")
"""


def test_notebook(package):
    """Every cell of the notebook, in order, as a kernel runs them; the results are those that it holds."""
    r = subprocess.run([sys.executable, "-P", "-c", NOTEBOOK, ravel.ROOT / "examples/tiles.ipynb"], env=offline(PYTHONPATH=str(package)),
                       capture_output=True, text=True)
    assert (r.returncode, r.stdout) == (0, "9 cells show what they should\n"), r.stderr
