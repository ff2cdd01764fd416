"""make install, then programs of a user: shared, static, as C and as C++, by pkg-config and by CMake, far from the sources.  make uninstall
leaves nothing."""
import os
import platform
import re
import shutil
import subprocess

import pytest

import ravel

WANT = """  0  1  2  3  6  7  8  9 12 13 14 15 18 19 20 21
  4  5 -1 -1 10 11 -1 -1 16 17 -1 -1 22 23 -1 -1
 24 25 26 27 30 31 32 33 -1 -1 -1 -1 -1 -1 -1 -1
 28 29 -1 -1 34 35 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
"""


def make(target, top):
    subprocess.run(["make", "-s", target, "DESTDIR=%s" % top, "PREFIX=/opt/r", "B=%s" % ravel.BUILD, "STAGE=%s" % top.with_name(top.name + "-stage")], cwd=ravel.ROOT, check=True)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    top = tmp_path_factory.mktemp("install")
    make("install", top)
    yield top / "opt/r"
    make("uninstall", top)
    left = {str(p.relative_to(top/"opt/r")) for p in (top/"opt/r").rglob("*")}
    assert left <= {"bin", "lib", "include", "share", "share/man"}


def test_the_loader_learns_of_it(tmp_path):
    """Where the files are those of this machine, and not below DESTDIR."""
    told = tmp_path / "ldconfig"
    told.write_text("#!/bin/sh\nls -d %s/opt/lib/libravel.so.0 >> %s/told\n" % (tmp_path, tmp_path))
    told.chmod(0o755)
    for top, prefix in (("", tmp_path / "opt"), (tmp_path, "/other")):
        subprocess.run(["make", "-s", "install", "DESTDIR=%s" % top, "PREFIX=%s" % prefix, "LDCONFIG=%s" % told, "B=%s" % ravel.BUILD, "STAGE=%s" % (tmp_path / "stage")],
                       cwd=ravel.ROOT, check=True)
    assert (tmp_path / "told").read_text() == "%s/opt/lib/libravel.so.0\n" % tmp_path


def output(program, *args, **env):
    """What it prints, far from the sources and with no environment but `env`."""
    out = subprocess.run([program, *args], cwd="/", env=env, capture_output=True, text=True)
    assert (out.returncode, out.stderr) == (0, ""), out
    return out.stdout


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("how", ["shared", "static"])
def test_program_by_pkg_config(prefix, how, language, tmp_path):
    """-Bstatic: of the library itself; libc and libgomp stay shared."""
    there = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(prefix.parent.parent), "PATH": os.environ["PATH"]}
    ask = ["pkg-config", "--cflags", "--libs", *(["--static"] if how == "static" else []), "ravel >= 0.1"]
    flags = subprocess.check_output(ask, env=there, text=True).split()
    if how == "static":
        flags[flags.index("-lravel")] = "-l:libravel.a"
    compiler = ["g++", "-x", "c++", "-std=c++11"] if language == "c++" else ["gcc", "-std=c99"]
    program = tmp_path / "program"
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", ravel.ROOT / "examples/library.c", "-x", "none", *flags, "-o", program], check=True)
    assert output(program, LD_LIBRARY_PATH=str(prefix / "lib"), PATH="") == WANT
    needed = "libravel.so.0" in subprocess.check_output(["readelf", "-d", program], text=True)
    assert needed == (how == "shared")


def test_example_by_cmake(prefix, tmp_path):
    """examples/cmake, copied away alone: it finds the package, has kernels made at build time, and links both libraries."""
    shutil.copytree(ravel.ROOT / "examples/cmake", tmp_path / "cmake")
    build = tmp_path / "build"
    subprocess.run(["cmake", "-S", tmp_path / "cmake", "-B", build, "-DCMAKE_PREFIX_PATH=%s" % prefix], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
    for program in ("with_ravel", "with_static"):
        assert output(build / program) == "MINE: 5120 bytes, as the library converts them\n"


def test_example_by_make(prefix, tmp_path):
    """examples/accelerator, copied away: its kernels are made again when the spec changes, and not otherwise."""
    folder = tmp_path / "accelerator"
    shutil.copytree(ravel.ROOT / "examples/accelerator", folder)
    env = {"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(prefix.parent.parent)}

    def run(*goal):
        r = subprocess.run(["make", "-C", folder, "RAVEL=%s" % (prefix / "bin/ravel"), "CFLAGS=-O1 -Werror", *goal], env=env, capture_output=True, text=True)
        assert r.returncode == 0, r.stdout + r.stderr
        return r.stdout

    tested = "TERN: 16384 bytes of a map, 0 wrong; back: the same\n"
    said = run()
    assert " emit " in said and tested in said
    said = run()
    assert " emit " not in said and tested in said
    os.utime(folder / "tern.lua", (2 ** 32, 2 ** 32))
    assert " emit " in run()
    run("clean")
    assert sorted(p.name for p in folder.iterdir()) == sorted(p.name for p in (ravel.ROOT / "examples/accelerator").iterdir())


def test_example_of_a_runtime(prefix, tmp_path):
    """examples/inference, copied away: compiled plans, its own threads, DLPack tensors."""
    shutil.copytree(ravel.ROOT / "examples/inference", tmp_path / "inference")
    env = {"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(prefix.parent.parent)}
    r = subprocess.run(["make", "-s", "-C", tmp_path / "inference", "CFLAGS=-O1 -Werror"], env=env, capture_output=True, text=True)
    assert r.returncode == 0 and "the result is right; the pool ran both conversions and the convolution" in r.stdout, r


CMAKE = """cmake_minimum_required(VERSION 3.20)
project(kernels %s)
find_package(ravel REQUIRED)
add_executable(program program.cc)
ravel_add_kernels(program "a spec.lua"%s)
"""


def test_prototypes_of_kernels(prefix, tmp_path):
    """They are those of the functions, also where names of extents are alike, occur twice or are those of other arguments; for C++ too."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    names = {"square": "N,N", "alike": "N,n", "taken": "src,dst_bytes", "fixed": "2,3", "both": "M,3"}
    (folder / "CMakeLists.txt").write_text(CMAKE % ("C CXX", "".join(' "%s {M,K} COLUMNS u8 %s"' % k for k in names.items())))
    (folder / "a spec.lua").write_text("layout 'COLUMNS' { dims = { M, K }, order = { K, M } }")
    calls = ["fixed(d, s)", "square(d, s, 2)", "alike(d, s, 2, 3)", "taken(d, s, 2, 3)", "both(d, s, 2)", "square_bytes(2, &a, &b)", "alike_bytes(2, 3, &a, &b)"]
    (folder / "program.cc").write_text(
        '#include <stdio.h>\n#include "ravel_kernels.h"\nint main(void) { unsigned char s[6] = {0, 1, 2, 3, 4, 5}, d[6]; int64_t a, b; int n = 0;\n' +
        "".join("%s%s;\n" % ("" if c.startswith("fixed") else "n += ", c) for c in calls) +
        'printf("%d %d %d\\n", n, (int)(a + b), d[1]); return 0; }\n')
    build = folder / "build"
    subprocess.run(["cmake", "-S", folder, "-B", build, "-DCMAKE_PREFIX_PATH=%s" % prefix], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
    assert output(build / "program") == "0 12 3\n"


@pytest.mark.parametrize("wrong", ["f NCHW NHWC f32", "f NCHW NHWC f32 1,2 x", ""])
def test_kernels_that_are_wrong(prefix, wrong, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CMAKE % ("NONE", ' "%s"' % wrong))
    (tmp_path / "program.cc").touch()
    r = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", "-DCMAKE_PREFIX_PATH=%s" % prefix], capture_output=True, text=True)
    assert r.returncode and "'%s' is not NAME FROM TO DTYPE SHAPE" % wrong in " ".join(r.stderr.split())


def test_a_version_that_is_not_there(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nfind_package(ravel ${WANT} REQUIRED)\n")
    for want, found in (("0", True), ("0.1", True), ("0.1.0", True), ("0.2", False), ("0.1.9", False), ("1", False)):
        r = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / want, "-DCMAKE_PREFIX_PATH=%s" % prefix, "-DWANT=" + want], capture_output=True)
        assert (r.returncode == 0) == found, (want, r.stderr)


def test_command(prefix):
    """Without the sources: layouts that come with ravel, and the text of kernels and of targets."""
    at = ["--shape", "1,2,3,4", "--at", "0,1,2,3"]
    assert output(prefix / "bin/ravel", "index", "NCHW", *at) == "23\n"
    assert output(prefix / "bin/ravel", "index", "%s:NHWC" % (prefix / "share/ravel/specs/nchw.lua"), *at) == "23\n"
    assert str(ravel.ROOT).encode() not in (prefix / "bin/ravel").read_bytes()
    for target in ("c", "cuda", "glsl"):
        made = prefix.parent / target
        output(prefix / "bin/ravel", "emit", "--from=NCHW", "--to=NHWC", "--shape=2,3,5,7", "--dtype=f32", "--target", target, "-o", str(made))
        made.unlink()


def test_manuals(prefix):
    """They are formatted without a warning; every function has a page, with its prototype and its comment."""
    man = prefix / "share/man"
    for page in ("man1/ravel.1", "man3/ravel.3", "man3/ravel_layout.3", "man3/ravel_sparse.3", "man3/ravel_gpu.3"):
        r = subprocess.run(["man", "--warnings=all", "-l", man / page], env={**os.environ, "MANWIDTH": "100"}, capture_output=True, text=True)
        assert r.returncode == 0 and not r.stderr and len(r.stdout) > 4000, (page, r.stderr)
        source = (man / page).read_text()
        assert re.match(r'\.TH [A-Z_]+ [13] "\d{4}-\d\d-\d\d" "ravel [\d.]+"', source) and "\n.SH INTERFACE\n.PP" not in source
        assert not re.search(r"#define \w+_H\b", source), page
    main = (man / "man3/ravel.3").read_text()
    assert "\n.nf\n  ravel_context *cx;" in main and ".BR ravel_layout (3)" in main
    for function in functions(prefix):
        page = (man / ("man3/%s.3" % function)).read_text()
        there = (man / page.split()[1]).read_text()
        assert re.search(r"^\\fB[\w *]+\b%s\(" % function, there, re.M) and re.search(r"^\.SH NAME\n.*\b%s[, ]" % function, there, re.M)
    text = r.stdout
    assert "Free a kernel when its launches have finished." in text and "*/" not in re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def test_shared_library_is_clean(prefix):
    """Its name, and no relocations in the text."""
    said = subprocess.check_output(["readelf", "-d", prefix / "lib/libravel.so"], text=True)
    assert "TEXTREL" not in said and "soname: [libravel.so.0]" in said
    assert os.readlink(prefix / "lib/libravel.so") == "libravel.so.0" and os.readlink(prefix / "lib/libravel.so.0") == "libravel.so.0.1.0"


@pytest.mark.parametrize("file", ["bin/ravel", "lib/libravel.so.0.1.0", "lib/libravel.a"])
def test_stripped(prefix, file):
    said = subprocess.check_output(["readelf", "-S", "-W", prefix / file], text=True)
    assert ".debug_info" not in said and (".gnu_debuglink" in said) == (not file.endswith(".a"))


def test_size(prefix):
    """What docs/building.md says of it, as Debian's gcc 12 makes it, with room for some kernels."""
    library = prefix / "lib/libravel.so.0.1.0"
    assert platform.machine() != "x86_64" or library.stat().st_size < 2_000_000


def test_symbols_for_a_debugger(prefix):
    """A debugger that follows .gnu_debuglink, as addr2line does, finds the line of an address."""
    make("install-debug", prefix.parent.parent)
    library = prefix / "lib/libravel.so.0.1.0"
    [at] = re.findall(r"^(\w+) T ravel_compile@", subprocess.check_output(["nm", "-D", library], text=True), re.M)
    assert "runtime/ravel.c:" in subprocess.check_output(["addr2line", "-e", library, at], text=True)


def exported(library, *options):
    lines = subprocess.check_output(["nm", "--defined-only", "--without-symbol-versions", *options, library], text=True).splitlines()
    return sorted(f[2] for f in map(str.split, lines) if len(f) == 3 and f[2] != "RAVEL_0")


def functions(prefix):
    """Those that the headers declare."""
    text = "".join((prefix / "include" / h).read_text() for h in ("ravel.h", "ravel_layout.h", "ravel_sparse.h", "ravel_gpu.h"))
    declared = re.findall(r"^RAVEL_API [\w ]+?\*?(\w+)\(", text, re.M)
    assert len(declared) == text.count("RAVEL_API ") > 30
    return sorted(declared)


def test_a_program_that_is_linked_in_the_build_folder_starts(build, tmp_path):
    subprocess.run(["gcc", "-Iruntime", "examples/library.c", "-L%s" % build, "-lravel", "-o", tmp_path / "program"], cwd=ravel.ROOT, check=True)
    out = subprocess.run([tmp_path / "program"], env={"LD_LIBRARY_PATH": str(build)}, capture_output=True, text=True)
    assert (out.returncode, out.stdout, out.stderr) == (0, WANT, "")


@pytest.mark.parametrize("library", ["libravel.so", "libravel.a"])
def test_only_the_headers_names(prefix, library):
    """What both libraries define for others is what the headers declare, of the kernels and libtcc nothing."""
    assert exported(prefix / "lib" / library, "-D" if library.endswith("so") else "-g") == functions(prefix)


def test_versions_of_the_names(prefix):
    said = subprocess.check_output(["nm", "-D", "--defined-only", prefix / "lib/libravel.so"], text=True)
    assert set(re.findall(r" T \w+@@(\w+)$", said, re.M)) == {"RAVEL_0"} and len(re.findall(" T ", said)) == len(functions(prefix))


@pytest.mark.parametrize("how", ["static", "shared"])
def test_names_of_a_program(prefix, how, build, tmp_path):
    """A program may call its own functions as the library calls those inside it."""
    theirs = {*exported(build / "insides.a", "-g")} - {*exported(prefix / "lib/libravel.a", "-g")}
    assert {"arena_alloc", "render", "diag_fatal", "ravel_tcc_new"} <= theirs
    names = tmp_path / "names.c"
    names.write_text("#include <stdlib.h>\n" + "".join("__attribute__((used)) void %s(void) { abort(); }\n" % n for n in sorted(theirs)))
    link = {"shared": ["-L%s" % (prefix / "lib"), "-lravel", "-rdynamic"],
            "static": [prefix / "lib/libravel.a", "-llua5.4", "-lz", "-lm", "-lpthread", "-lgomp"]}[how]
    program = tmp_path / "program"
    subprocess.run(["gcc", "-w", "-fno-builtin", "-I%s" % (prefix / "include"), ravel.ROOT / "examples/library.c", names, *link,
                    "-o", program], check=True)
    out = subprocess.run([program], env={"LD_LIBRARY_PATH": str(prefix / "lib")}, capture_output=True, text=True)
    assert (out.returncode, out.stdout, out.stderr) == (0, WANT, "")
