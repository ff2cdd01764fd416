"""make install, then a program of a user: shared, static, as C and as C++, far from the sources."""
import os
import re
import subprocess

import pytest

import ravel

WANT = """  0  1  2  3  6  7  8  9 12 13 14 15 18 19 20 21
  4  5 -1 -1 10 11 -1 -1 16 17 -1 -1 22 23 -1 -1
 24 25 26 27 30 31 32 33 -1 -1 -1 -1 -1 -1 -1 -1
 28 29 -1 -1 34 35 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    top = tmp_path_factory.mktemp("install")
    subprocess.run(["make", "-s", "install", "DESTDIR=%s" % top, "PREFIX=/opt/r", "B=%s" % ravel.BUILD],
                   cwd=ravel.ROOT, check=True)
    return top / "opt/r"


@pytest.mark.parametrize("how", ["shared", "static", "c++"])
def test_program(prefix, how, tmp_path):
    link = {"shared": ["-L%s" % (prefix / "lib"), "-lravel"],
            "static": [prefix / "lib/libravel.a", "-llua5.4", "-lm", "-lpthread", "-lgomp"]}
    compiler = ["g++", "-x", "c++", "-std=c++11"] if how == "c++" else ["gcc", "-std=c99"]
    program = tmp_path / "program"
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-I%s" % (prefix / "include"),
                    ravel.ROOT / "examples/library.c", "-x", "none",
                    *link.get(how, link["shared"]), "-o", program], check=True)
    out = subprocess.run([program], cwd="/", env={"LD_LIBRARY_PATH": str(prefix / "lib"), "PATH": ""},
                         capture_output=True, text=True)
    assert (out.returncode, out.stdout, out.stderr) == (0, WANT, "")


def test_command_and_manual(prefix):
    out = subprocess.run([prefix / "bin/ravel", "index", "NCHW", "--shape", "1,2,3,4", "--at", "0,1,2,3"],
                         cwd="/", env={}, capture_output=True, text=True)
    assert out.stdout == "23\n"
    assert (prefix / "share/man/man1/ravel.1").read_text().startswith(".TH RAVEL 1")
    assert (prefix / "share/ravel/specs/cann.lua").exists()


def test_shared_library_is_clean(prefix):
    """No relocations in the text."""
    assert "TEXTREL" not in subprocess.check_output(["readelf", "-d", prefix / "lib/libravel.so"], text=True)


def exported(library, *options):
    lines = subprocess.check_output(["nm", "--defined-only", *options, library], text=True).splitlines()
    return sorted(f[2] for f in map(str.split, lines) if len(f) == 3)


@pytest.mark.parametrize("library", ["libravel.so", "libravel.a"])
def test_only_the_headers_names(prefix, library):
    """What both libraries define for others is what the headers declare, of the kernels and libtcc nothing."""
    text = "".join((prefix / "include" / h).read_text() for h in ("ravel.h", "ravel_gpu.h"))
    declared = re.findall(r"^RAVEL_API [\w ]+?\*?(\w+)\(", text, re.M)
    assert len(declared) == text.count("RAVEL_API ") - text.count("define RAVEL_API ") > 30
    assert exported(prefix / "lib" / library, "-D" if library.endswith("so") else "-g") == sorted(declared)


@pytest.mark.parametrize("how", ["static", "shared"])
def test_names_of_a_program(prefix, how, build, tmp_path):
    """A program may call its own functions as the library calls those inside it."""
    theirs = {*exported(build / "insides.a", "-g")} - {*exported(prefix / "lib/libravel.a", "-g")}
    assert {"arena_alloc", "render", "diag_fatal", "ravel_tcc_new"} <= theirs
    names = tmp_path / "names.c"
    names.write_text("#include <stdlib.h>\n" + "".join("__attribute__((used)) void %s(void) { abort(); }\n" % n for n in sorted(theirs)))
    link = {"shared": ["-L%s" % (prefix / "lib"), "-lravel", "-rdynamic"],
            "static": [prefix / "lib/libravel.a", "-llua5.4", "-lm", "-lpthread", "-lgomp"]}[how]
    program = tmp_path / "program"
    subprocess.run(["gcc", "-w", "-fno-builtin", "-I%s" % (prefix / "include"), ravel.ROOT / "examples/library.c", names, *link,
                    "-o", program], check=True)
    out = subprocess.run([program], env={"LD_LIBRARY_PATH": str(prefix / "lib")}, capture_output=True, text=True)
    assert (out.returncode, out.stdout, out.stderr) == (0, WANT, "")
