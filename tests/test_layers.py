"""Who may include whom: DESIGN section 4 as a table, held against every #include of compiler/, runtime/ and templates/."""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import ravel

# Room: (its files, the first pattern that fits decides; the rooms it may use besides itself)
ROOMS = {
    "embed":     ("compiler/embed.h", ""),
    "ground":    ("compiler/base.h compiler/arena.c compiler/buf.c compiler/diag.c compiler/int.c compiler/utf8.c compiler/work.c", ""),
    "expr":      ("compiler/expr*.[ch]", "ground"),
    "ast":       ("compiler/ast*.[ch] compiler/op.def", "expr ground"),
    "layout":    ("compiler/layout*.[ch] compiler/dtype.c", "ast expr ground"),
    "spec":      ("compiler/spec*.[ch]", "layout ast expr ground embed"),
    "notation":  ("compiler/notation_*.[ch]", "layout ast expr ground"),
    "banks":     ("compiler/bank.[ch] compiler/swizzle*.[ch]", "ground"),
    "tile":      ("compiler/bank_tile.[ch]", "banks layout ground"),
    "decide":    ("compiler/decide*.[ch]", "layout expr ground"),
    "plan":      ("compiler/plan*.[ch] compiler/kernel.c compiler/kernel_*.[ch]", "layout expr ground tables"),
    "emit":      ("compiler/emit*.[ch]", "plan decide layout expr ground"),
    "render":    ("compiler/render*.[ch] compiler/target*.[ch] compiler/target.def", "spec emit plan layout ast expr ground embed"),
    "grid":      ("compiler/grid*.[ch] compiler/grid.def", "banks render emit plan decide layout expr ground"),
    "fragments": ("compiler/frag*.[ch]", "grid banks render emit plan decide layout expr ground"),
    "bursts":    ("compiler/burst*.[ch]", "grid banks render spec emit plan decide layout ast expr ground"),
    "compile":   ("compiler/compile*.[ch]", "bursts fragments grid render emit plan decide notation spec layout ast expr ground"),
    # stands alone: bench/ builds it without the compiler
    "measure":   ("runtime/measure.[ch] compiler/cli_copy.[ch]", ""),
    "cli":       ("compiler/main.c compiler/cli*.[ch]", "measure device bursts fragments grid tile banks compile render emit plan decide notation spec layout ast expr ground public npy library"),
    "public":    ("runtime/ravel.h runtime/ravel_gpu.h", ""),
    "error":     ("runtime/error.h", "public"),
    "npy":       ("runtime/npy*.[ch] runtime/file*.[ch]", "error public"),
    "jit":       ("runtime/jit.[ch] runtime/elf_load.[ch] runtime/tcc_stdio.[ch]", "error public"),
    "device":    ("runtime/device*.[ch]", "error public"),
    "kernels":   ("runtime/kernels*.[ch]", "jit public templates tables"),
    "tables":    ("compiler/kernel.def compiler/cost.def", ""),
    "templates": ("templates/*/*.[ch]", ""),
    "interpreter": ("runtime/interpret*.[ch]", "plan layout expr ground kernels jit public"),
    # the library proper; `compiler` through two doors only
    "library":   ("runtime/*.[ch]", "measure interpreter jit kernels error public"),
}
DOORS = {"runtime/library.h": ["compiler/compile.h"], "runtime/wisdom.h": ["compiler/plan.h"], "runtime/context.c": ["compiler/embed.h"]}

# Headers that are not the C library's, POSIX's or Linux's, and who sees them.
FOREIGN = {
    "cpuid.h": "runtime/wisdom.c",
    "lua.h lauxlib.h lualib.h": "compiler/spec_*.c compiler/spec_lua.h",
    "libtcc.h": "runtime/jit.c runtime/tcc_stdio.c",
    "omp.h": "runtime/threads.c",
    "jansson.h argp.h": "compiler/main.c compiler/cli*.[ch]",
}
LIBC = """assert.h ctype.h dirent.h errno.h fcntl.h float.h inttypes.h limits.h locale.h math.h pthread.h setjmp.h signal.h stdarg.h stdatomic.h
stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h time.h unistd.h elf.h endian.h dlfcn.h immintrin.h arm_neon.h
sys/mman.h sys/stat.h sys/types.h sys/random.h sys/time.h sys/wait.h sys/prctl.h sys/resource.h sched.h""".split()
TEMPLATE_HEADERS = ["stdint.h", "string.h", "stddef.h", "omp.h", "immintrin.h", "emmintrin.h", "hip/hip_runtime.h"]


def fits(path, patterns):
    return any(fnmatch.fnmatchcase(path, p) for p in patterns.split())


def room_of(path):
    return next((room for room, (files, _) in ROOMS.items() if fits(path, files)), None)


def sources(root):
    for folder in ("compiler", "runtime", "templates"):
        for p in sorted((root/folder).rglob("*")):
            if p.suffix in (".c", ".h", ".def"):
                yield p.relative_to(root).as_posix(), p.read_text()


def refused_own(path, name, target):
    """What is wrong with #include "name", which is the file `target`; None when nothing is."""
    here, there = room_of(path), room_of(target)
    if target in DOORS.get(path, []) or here == there or there in ROOMS[here][1].split():
        return None
    return "%s (%s) may not include %s (%s)" % (path, here, name, there)


def refused_system(path, name):
    if path.startswith("templates/"):
        return None if name in TEMPLATE_HEADERS else "%s: emitted C includes <%s>" % (path, name)
    for headers, who in FOREIGN.items():
        if name in headers.split():
            return None if fits(path, who) else "%s may not see <%s>" % (path, name)
    return None if name in LIBC else "%s: <%s> is in no list" % (path, name)


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
            target = os.path.normpath(os.path.join(os.path.dirname(path), name))
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


def test_every_room_has_files():
    used = {room_of(path) for path, _ in sources(ravel.ROOT)}
    assert set(ROOMS) - used <= {"notation"}


@pytest.mark.parametrize("path, line, says", [
    ("compiler/expr.c", '#include "layout.h"', "may not include layout.h"),
    ("compiler/base.h", '#include "expr.h"', "may not include"),
    ("compiler/layout.c", '#include "decide.h"', "may not include"),
    ("compiler/decide.c", '#include "plan.h"', "may not include"),
    ("compiler/plan.c", '#  include  "emit.h"', "may not include"),
    ("compiler/plan.c", '#include "ast.h"', "may not include"),
    ("compiler/spec.c", '#include "../runtime/ravel.h"', "may not include"),
    ("compiler/emit.c", '#include <lua.h>', "may not see <lua.h>"),
    ("compiler/compile.c", '#include <jansson.h>', "may not see"),
    ("compiler/render.c", '#include <libtcc.h>', "may not see"),
    ("compiler/spec.c", '#include <curl/curl.h>', "in no list"),
    ("runtime/npy.c", '#include "../compiler/base.h"', "may not include"),
    ("runtime/jit.c", '#include "library.h"', "may not include"),
    ("runtime/verify.c", '#include "../compiler/spec.h"', "may not include"),
    ("runtime/ravel.h", '#include "file.h"', "may not include"),
    ("runtime/device.c", '#include "library.h"', "may not include"),
    ("runtime/device_cuda.c", '#include <cuda.h>', "in no list"),
    ("templates/c/copy.c", '#include <stdio.h>', "emitted C includes"),
    ("compiler/stray.c", '#include "base.h"', "belongs to no room"),
    ("compiler/cli_args.c", '#include "none.h"', "no file of a room"),
])
def test_a_wrong_include_is_found(tmp_path, path, line, says):
    for folder in ("compiler", "runtime", "templates"):
        shutil.copytree(ravel.ROOT/folder, tmp_path/folder)
    p = pathlib.Path(tmp_path/path)
    p.write_text((p.read_text() if p.exists() else "") + "\n" + line + "\n")
    [found] = violations(tmp_path)
    assert path in found and says in found


@pytest.mark.parametrize("compiler", ["gcc -xc -std=c99", "clang -xc -std=c99", "g++ -xc++ -std=c++11", "clang++ -xc++ -std=c++11"])
def test_public_header_stands_alone(tmp_path, compiler):
    (tmp_path/"a.c").write_text('#include "ravel_gpu.h"\nint main(void) { return ravel_status_text(RAVEL_OK) == 0; }\n')
    command = compiler.split()
    if not shutil.which(command[0]):
        pytest.skip(command[0] + " is not installed")
    subprocess.run(command + ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-fsyntax-only", "-I", ravel.ROOT/"runtime",
                              tmp_path/"a.c"], check=True)
