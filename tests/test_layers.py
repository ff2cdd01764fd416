"""Which folder may include headers of which other folders, as a table; every #include of cli/, compiler/, runtime/ and templates/ is checked.
Within a folder, which files call each other in a circle: none but those of a second table."""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import file_calls
import ravel

# Folder: (what lives there; the folders it may use besides itself).  Of another folder a file may include DOOR and tables (*.def) alone.
ROOMS = {
    "compiler/base":   ("checked integers, arenas, text, errors, work", ""),
    "compiler/expr":   ("index expressions and their syntax", "compiler/base"),
    "compiler/layout": ("the layout model, element types, sizes of storage", "compiler/expr compiler/base"),
    "compiler/spec":   ("the Lua sandbox: specs and tables", "compiler/layout compiler/expr compiler/base"),
    "compiler/decide": ("one-to-one, onto, inverse, equality", "compiler/layout compiler/expr compiler/base"),
    "compiler/plan":   ("boxes, nests, kernels, cost, orders", "compiler/layout compiler/expr compiler/base templates"),
    "compiler/picture": ("drawings of a layout, as data and as text", "compiler/decide compiler/layout compiler/expr compiler/base"),
    "compiler/emit":   ("statements, targets' tables, writers", "compiler/plan compiler/decide compiler/spec compiler/layout compiler/expr compiler/base"),
    "compiler/gpu":    ("kernels for blocks of threads, banks, fragments",
                        "compiler/emit compiler/plan compiler/decide compiler/layout compiler/expr compiler/base"),
    "compiler/burst":  ("tiles and transfers for machines of bursts",
                        "compiler/gpu compiler/emit compiler/spec compiler/plan compiler/layout compiler/expr compiler/base"),
    "compiler/sparse": ("formats of levels, conversions as lists of steps",
                        "compiler/emit compiler/plan compiler/decide compiler/layout compiler/expr compiler/base templates"),
    "compiler/sides":  ("both sides of a request, and questions about such a pair",
                        "compiler/plan compiler/decide compiler/spec compiler/layout compiler/expr compiler/base"),
    "compiler":        ("the pass list", "compiler/sides compiler/sparse compiler/burst compiler/gpu compiler/emit compiler/picture compiler/plan compiler/decide compiler/spec compiler/layout compiler/expr compiler/base"),
    "templates":       ("the text of kernels", ""),
    "runtime":         ("the library", "compiler compiler/sparse compiler/plan templates"),
    "cli":             ("the command", "runtime compiler"),
}
# The header of each folder that others may include: NAME.h of folder NAME, but for ...
DOOR = {"compiler": "compile.h", "runtime": "for_command.h"}
# The text of kernels is no folder of headers: the library compiles all of it, and the planner shares its sizes.
SIZES = ("compiler/plan", "compiler/sparse")


def door(here, there):
    if there == "templates":
        return "*_size.h" if here in SIZES else "*" if here == "runtime" else ""
    return DOOR.get(there, os.path.basename(there) + ".h") + " op.def level.def kernel.def step.def"


# Within the library: files that stand alone, with what they may include of it besides their own.
INSIDE = {
    "runtime/ravel_types.h": "",
    "runtime/ravel_layout.h": "ravel_types.h",
    "runtime/ravel.h": "ravel_types.h ravel_layout.h",
    "runtime/ravel_gpu.h runtime/ravel_sparse.h runtime/ravel_dlpack.h": "ravel.h",
    "runtime/error.h": "ravel.h",
    "runtime/npy*.[ch] runtime/file*.[ch]": "npy*.h file*.h error.h ravel.h",
    "runtime/lock.[ch]": "lock.h",
    "runtime/jit.[ch] runtime/elf_*.[ch] runtime/tcc_stdio.[ch]": "jit.h elf_load.h elf_parts.h tcc_stdio.h lock.h error.h ravel.h",
    "runtime/device*.[ch]": "device*.h device*.def file.h error.h ravel.h ravel_gpu.h",
    "runtime/kernels*.[ch]": "kernels*.h jit.h processor.h ravel.h",
    "runtime/measure.[ch]": "measure.h",
    "runtime/interpret*.[ch]": "interpret*.h kernels.h jit.h ravel.h error.h",
}
# ... and these know nothing of the compiler, but for the tables that kernels are made of.
ALONE = {path: "" for path in INSIDE if "interpret" not in path} | {
    "runtime/kernels*.[ch]": "compiler/plan/kernel.def"}

# Within a folder calls go one way.  Files that call each other in a circle, and why: a circle that is not here is an error, and one that is
# here no more.
CIRCLES = {
    "compiler/expr": {
        "expr_arith.c expr_bits.c expr_sum.c":
            "each constructor simplifies by the others: a sum merges digits, a digit divides a sum, and division goes through a xor"},
    "compiler/sparse": {
        "sparse_area.c sparse_at_once.c sparse_bitmap.c sparse_pass.c sparse_plan.c sparse_strip.c sparse_test.c sparse_text.c sparse_tile.c "
        "sparse_untile.c sparse_way.c sparse_write.c":
            "not yet divided: passes, what they write and the ways to do several at once ask each other"},
}

# Headers that are not the C library's, POSIX's or Linux's, and who sees them.
FOREIGN = {
    "cpuid.h": "runtime/processor.c",
    "lua.h lauxlib.h lualib.h": "compiler/spec/* compiler/emit/target.c compiler/burst/burst_lua.c",
    "libtcc.h": "runtime/jit.c runtime/tcc_stdio.c",
    "omp.h": "runtime/threads.c",
    "jansson.h argp.h": "cli/*",
    "zlib.h": "cli/cli_zip*.c compiler/base/unpack.c",
}
LIBC = """assert.h ctype.h dirent.h errno.h fcntl.h float.h fnmatch.h inttypes.h limits.h locale.h math.h pthread.h setjmp.h signal.h stdarg.h stdatomic.h
stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h time.h unistd.h elf.h endian.h dlfcn.h immintrin.h arm_neon.h
sys/mman.h sys/stat.h sys/types.h sys/random.h sys/time.h sys/wait.h sys/prctl.h sys/resource.h sys/ioctl.h sched.h""".split()
TEMPLATE_HEADERS = ["stdint.h", "string.h", "stddef.h", "omp.h", "immintrin.h", "emmintrin.h", "arm_neon.h", "hip/hip_runtime.h"]


def fits(path, patterns):
    return any(fnmatch.fnmatchcase(path, p) for p in patterns.split())


def room_of(path):
    parent = os.path.dirname(path)
    return "templates" if parent.startswith("templates") else parent if parent in ROOMS else None


def listed(path, table):
    return next((value for patterns, value in table.items() if fits(path, patterns)), None)


def sources(root):
    for folder in ("cli", "compiler", "runtime", "templates"):
        for p in sorted((root/folder).rglob("*")):
            if p.suffix in (".c", ".h", ".def"):
                yield p.relative_to(root).as_posix(), p.read_text()


def refused_own(path, name, target):
    """What is wrong with #include "name", which is the file `target`; None when nothing is."""
    here, there, header = room_of(path), room_of(target), os.path.basename(target)
    inside, alone = listed(path, INSIDE), listed(path, ALONE)
    if here == there:
        return None if inside is None or fits(header, inside) else "%s may not include %s" % (path, name)
    if alone is not None and there != "templates" and target not in alone.split():
        return "%s may not include %s: it stands alone" % (path, name)
    if there not in ROOMS[here][1].split():
        return "%s (%s) may not include %s (%s)" % (path, here, name, there)
    if not fits(header, door(here, there)):
        return "%s may not include %s, which is %s's own" % (path, name, there)
    return None


def refused_system(path, name):
    if path.startswith("templates/"):
        return None if name in TEMPLATE_HEADERS else "%s: emitted C includes <%s>" % (path, name)
    for headers, who in FOREIGN.items():
        if name in headers.split():
            return None if fits(path, who) else "%s may not see <%s>" % (path, name)
    return None if name in LIBC else "%s: <%s> is in no list" % (path, name)


def written(root, target):
    """The file that the build expands it from (templates/README.md), or itself."""
    if target == "runtime/kernels_text.h":
        return "compiler/plan/kernel.def"
    text = re.sub(r"[1248](\.[ch])$", r"\1", target)
    return target if (root/target).is_file() or "${size}" not in ((root/text).read_text() if (root/text).is_file() else "") else text


def violations(root):
    bad = []
    for path, text in sources(root):
        if room_of(path) is None:
            bad.append("%s belongs to no room" % path)
            continue
        for kind, name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', text, re.M):
            if kind == "<":
                bad.append(refused_system(path, name))
                continue
            target = written(root, os.path.normpath(os.path.join(os.path.dirname(path), name)))
            if not (root/target).is_file() or room_of(target) is None:
                bad.append("%s includes %s, which is no file of a room" % (path, name))
            else:
                bad.append(refused_own(path, name, target))
    return [b for b in bad if b]


def test_layers():
    assert violations(ravel.ROOT) == []


def test_the_table_has_no_circle():
    """A room that could reach itself would make the others pointless."""
    def below(room, seen):
        for r in ROOMS[room][1].split():
            assert r not in seen, "%s is above itself" % r
            below(r, seen | {r})
    for room in ROOMS:
        below(room, {room})


def circle(root):
    """Headers each of which includes the next one, and the last the first; [] if there are none."""
    below, done = {}, set()
    for path, text in sources(root):
        if path.endswith(".h"):
            names = re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^">]+)"', text, re.M)
            below[path] = [written(root, os.path.normpath(os.path.join(os.path.dirname(path), name))) for name in names]

    def walk(path, way):
        if path in way:
            return way[way.index(path):]
        found = next(filter(None, (walk(p, way + [path]) for p in below.get(path, []) if p not in done)), [])
        done.add(path)
        return found
    return next(filter(None, (walk(path, []) for path in below)), [])


def test_headers_have_no_circle():
    assert circle(ravel.ROOT) == []


def test_a_circle_of_headers_is_found(tmp_path):
    (tmp_path / "runtime").mkdir()
    for name, other in ("a", "b"), ("b", "c"), ("c", "b"):
        (tmp_path / "runtime" / (name + ".h")).write_text('#include "%s.h"\n' % other)
    assert circle(tmp_path) == ["runtime/b.h", "runtime/c.h"]


def texts_of(root, room):
    return {p.name: p.read_text() for p in sorted((root/room).glob("*.[ch]"))}


def circles(root):
    """{room: sets of files that call each other in a circle}, with the rooms that have such files."""
    found = {room: file_calls.circles(file_calls.calls(texts_of(root, room))) for room in ROOMS if room != "templates"}
    return {room: sets for room, sets in found.items() if sets}


def test_files_call_one_way():
    assert circles(ravel.ROOT) == {room: sorted((frozenset(names.split()) for names in table), key=sorted) for room, table in CIRCLES.items()}


TWO = {"a.c": "int\na(void)\n{\n    return b();\n}\n", "b.c": "int\nb(void)\n{\n    return %s;\n}\n"}


@pytest.mark.parametrize("used", [
    "a()", "1 + a ()", "f(a())", "MACRO", "both[1]", "sizeof both", "twice(2)"])
def test_a_circle_of_files_is_found(used):
    """By calls, by macros of headers, and by data."""
    texts = {name: '#include "a.h"\n' + text.replace("%s", used) for name, text in TWO.items()}
    texts["a.c"] += "const int both[] = {1, 2};\nstatic int own;\nint\n(*twice(int n))(void)\n{\n    return 0;\n}\n"
    texts["a.h"] = "#define MACRO \\\n    (a() + 1)\nint a(void);\nint (*twice(int n))(void);\nextern const int both[];\n"
    assert file_calls.circles(file_calls.calls(texts)) == [{"a.c", "b.c"}]


@pytest.mark.parametrize("other", [
    "p->a()", "p.a()", "\"a()\"", "'a' /* a() */", "own(1)", "table", "own_data"])
def test_what_is_no_call_makes_no_circle(other):
    """Members, texts, comments, what is the file's own, and functions that are only named."""
    texts = {name: text.replace("%s", other) for name, text in TWO.items()}
    texts["b.c"] = "static int own_data = 1;\nstatic int\nown(int n)\n{\n    return n;\n}\n\nint (*const table[])(void) = {a};\n" + texts["b.c"]
    texts["a.c"] += "int\nown_data(void)\n{\n    return 0;\n}\n"
    assert file_calls.circles(file_calls.calls(texts)) == []


def test_circles_of_three_are_one_set():
    assert file_calls.circles({"a.c": {"b.c": []}, "b.c": {"c.c": []}, "c.c": {"a.c": [], "d.c": []}, "d.c": {}}) == [{"a.c", "b.c", "c.c"}]


def test_every_room_has_files():
    assert {room_of(path) for path, _ in sources(ravel.ROOT)} == set(ROOMS)


@pytest.mark.parametrize("path, line, says", [
    ("compiler/expr/expr.c", '#include "../layout/layout.h"', "may not include ../layout/layout.h"),
    ("compiler/base/base.h", '#include "../expr/expr.h"', "may not include"),
    ("compiler/layout/layout.c", '#include "../decide/decide.h"', "may not include"),
    ("compiler/decide/decide.c", '#include "../plan/plan.h"', "may not include"),
    ("compiler/plan/plan.c", '#  include  "../emit/emit.h"', "may not include"),
    ("compiler/emit/emit.c", '#include "../plan/kernel_family.h"', "compiler/plan's own"),
    ("compiler/spec/spec.c", '#include "../../runtime/ravel.h"', "may not include"),
    ("compiler/plan/kernel.c", '#include "../../templates/c/copy.c"', "templates's own"),
    ("compiler/emit/emit.c", '#include "../../templates/c/copy_size.h"', "may not include"),
    ("compiler/emit/emit.c", '#include <lua.h>', "may not see <lua.h>"),
    ("compiler/compile.c", '#include <jansson.h>', "may not see"),
    ("compiler/emit/render.c", '#include <libtcc.h>', "may not see"),
    ("compiler/spec/spec.c", '#include <curl/curl.h>', "in no list"),
    ("runtime/npy.c", '#include "../compiler/base/base.h"', "may not include"),
    ("runtime/jit.c", '#include "library.h"', "may not include"),
    ("runtime/verify.c", '#include "../compiler/spec/spec.h"', "may not include"),
    ("runtime/ravel.h", '#include "file.h"', "may not include"),
    ("runtime/device.c", '#include "library.h"', "may not include"),
    ("runtime/device_cuda.c", '#include <cuda.h>', "in no list"),
    ("templates/c/copy.c", '#include <stdio.h>', "emitted C includes"),
    ("compiler/stray/stray.c", '#include "../base/base.h"', "belongs to no room"),
    ("cli/cli_show.c", '#include "../runtime/device_cuda.h"', "runtime's own"),
    ("cli/cli_show.c", '#include "../compiler/gpu/swizzle.h"', "may not include"),
    ("compiler/burst/burst.c", '#include "../gpu/grid.h"', "compiler/gpu's own"),
    ("cli/cli_args.c", '#include "none.h"', "no file of a room"),
])
def test_a_wrong_include_is_found(tmp_path, path, line, says):
    for folder in ("cli", "compiler", "runtime", "templates"):
        shutil.copytree(ravel.ROOT/folder, tmp_path/folder)
    p = pathlib.Path(tmp_path/path)
    p.parent.mkdir(exist_ok=True)
    p.write_text((p.read_text() if p.exists() else "") + "\n" + line + "\n")
    [found] = violations(tmp_path)
    assert path in found and says in found


@pytest.mark.parametrize("compiler", ["gcc -xc -std=c99", "clang -xc -std=c99", "g++ -xc++ -std=c++11", "clang++ -xc++ -std=c++11"])
def test_public_headers_stand_alone(tmp_path, compiler):
    (tmp_path/"a.c").write_text('#include "ravel_sparse.h"\n#include "ravel_gpu.h"\nint main(void) { return ravel_status_text(RAVEL_OK) == 0; }\n')
    command = compiler.split()
    if not shutil.which(command[0]):
        pytest.skip(command[0] + " is not installed")
    subprocess.run(command + ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-fsyntax-only", "-I", ravel.ROOT/"runtime",
                              tmp_path/"a.c"], check=True)
