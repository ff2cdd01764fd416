"""Hostile input, but for the sandbox (tests/unit/test_sandbox.c): nobody writes C, shell, terminal codes, JSON or XML through us; nothing in the
library ends its host."""

import ctypes as ct
import json
import os
import re
import subprocess
import sys
import xml.dom.minidom

import numpy as np
import pytest

import ravel
from hostile import bad, COMPILERS, good, here, run, shown, SPEC          # noqa: F401: fixtures too

# File names, layouts' and dims' names, and texts.  b"" stands for what cannot be in an argument.
NASTY = [b"*/", b"/*", b"//", b"*/ int HACK; /*", b"\n", b"\nint HACK;\n", b"\\", b"\\\n", b"x\\\n*/", b"??/", b"??/\n", b"*??/\n/ int HACK;", b"\"",
         b"'", b"'\"'\"'", b"`touch HACK`", b"$(touch HACK)", b"; touch HACK ;", b"| touch HACK", b"$HOME", b"!!", b"~", b"*", b"?", b"[a]", b"{a,b}",
         b"#include \"/etc/passwd\"", b"\n#include </etc/passwd>\n", b"\n#define void int HACK\n", b"%s%n%99999d", b"${name}", b"$", b"-", b"--help",
         b" ", b"  a  b  ", b"\t", b"\r", b"\r\n", b"\x1b[31m", b"\x1b]0;HACK\x07", b"\x7f", b"\x80", b"\xc2\x9b31m", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80",
         b"\xe2\x80\xae;KCAH tni/*", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"\xc3\xa9", b"\\u000a", b"\\x0a", b"\\012", b"&lt;&amp;",
         b"<script>", b"]]>", b"'\\''", b"a=b", b"HACK", b"_Pragma(\"x\")", b"asm(\"hlt\")", b"x" * 200, bytes(range(1, 47)), bytes(range(48, 256))]
FILES = [s for s in NASTY if b"/" not in s] + [b"*/", b"/*", b"*/ int HACK; /*", b"??/\n"]     # a folder's end, then
WHERE = ["file", "layout", "dim", "parameter", "value", "doc", "name", "text"]


def lua(s):
    return b'"' + b"".join(b"\\x%02x" % c for c in s) + b'"'


def place(where, s):
    """(--to, more arguments) that bring s to a place; what is needed is made."""
    spec, more = SPEC.encode(), []
    to = b"t.lua:A"
    if where == "file":
        path = b"d" + s + b".lua"
        os.makedirs(os.path.dirname(path) or b".", exist_ok=True)
        open(path, "wb").write(spec)
        return path + b":A", more
    if where == "name":
        return b"(M,K){K, M}", ["--name", s]
    if where == "text":
        return b"(M,K){K, M --[==[" + s + b"]==] }", more
    q = lua(s)
    if where == "layout":
        spec, to = b"layout(" + q + b") { dims = { M, K }, order = { K, M } }", b"t.lua:" + s
    elif where == "dim":
        spec = b"local d = _ENV[" + q + b'] layout "A" { dims = { d, K }, order = { K, d } }'
    elif where == "parameter":
        spec = b'layout "A" { dims = { M, K }, order = { K, M // _ENV[' + q + b"], M % 4 }, [" + q + b"] = 4 }"
    elif where == "value":
        spec = b'layout "A" { dims = { M, K }, order = { K, M // P, M % P }, P = ' + q + b" }"
    elif where == "doc":
        spec = b'layout "A" { doc = ' + q + b", dims = { M, K }, order = { K, M } }"
    open("t.lua", "wb").write(spec)
    return to, more


def tokens(c):
    """What is left of it without its comments, every branch of an #if."""
    r = subprocess.run("gcc -std=c99 -fpreprocessed -dD -E -P -x c -".split(), input=c, capture_output=True)
    assert (r.returncode, r.stderr) == (0, b""), r
    return r.stdout.strip()


def emit(to, *more):
    return run("emit", "--from", "ROW_MAJOR", "--to", to, "--shape", "6,8", "--dtype", "f32", "-o", "-", *(more or ["--name", "f"]))


def split(c):
    """The comment on top, and the program."""
    head, mark, rest = c.partition(b" */\n")
    assert head.startswith(b"/* ravel emit ") and mark
    return head + mark, rest


def command_of(c):
    """The arguments of the command in the head, as a POSIX shell reads them."""
    line = re.match(rb"/\* (ravel emit .*)\n", c)[1]
    assert re.fullmatch(rb"[ -~]*", line), line
    r = subprocess.run([b"sh", b"-c", b"ravel() { printf '%s\\0' \"$@\"; }; " + line], capture_output=True)
    assert r.stderr == b"", (line, r)
    return r.stdout.split(b"\0")[:-1]


@pytest.mark.parametrize("where", WHERE)
def test_no_c_gets_through(where):
    """What is not refused is the same program, with a head that three compilers take for a comment, and a shell for a command that makes it
    again."""
    to, more = place(where, b"A" if where == "layout" else b"ok")
    r = emit(to, *more)
    plain = split(r.stdout)[1] if where != "value" else b""         # a string is no value
    heads = []
    for s in FILES if where == "file" else NASTY:
        to, more = place(where, s)
        r = emit(to, *more)
        assert r.returncode in (0, 2) and shown(r.stderr), (s, r)
        if r.returncode:
            assert r.stdout == b"" and r.stderr.startswith(b"ravel: "), (s, r)
            continue
        head, rest = split(r.stdout)
        heads.append(head)
        assert rest.replace(b"HACK", b"ok") == plain if where == "name" else where == "dim" or rest == plain, s
        args = command_of(head)
        if where == "file":
            assert args[args.index(b"--to") + 1] == to, (s, args)
        again = run(*args, "-o", "-")
        assert (again.returncode, again.stdout) == (0, r.stdout), (s, again)
    if where in ("file", "text"):
        assert len(heads) > len(NASTY) // 2          # all but what no file can be called
    assert not os.path.exists("HACK") and bool(heads) == (where != "value")
    open("f.c", "wb").write(b"".join(heads) + plain)
    assert tokens(b"".join(heads)) == b"" and tokens(b"int HACK;") == b"int HACK;"
    for compiler in COMPILERS.values():
        r = subprocess.run(compiler.split() + ["-c", "f.c"], capture_output=True)
        assert (r.returncode, r.stderr) == (0, b""), r.stderr.decode(errors="replace")


@pytest.mark.parametrize("kind", ["offset", "inverse"])
def test_no_c_gets_through_index_functions(kind):
    for s in FILES:
        to, _ = place("file", s)
        r = run("emit", "--kind", kind, "--to", to, "--shape", "6,8", "--dtype", "f32", "-o", "-")
        if r.returncode == 0:
            args = command_of(r.stdout)
            assert args[args.index(b"--to") + 1] == to and args[args.index(b"--kind") + 1] == kind.encode()


def test_no_c_gets_through_the_jit():
    """The text that is compiled in the process knows no name of the user's but dims, which are words."""
    texts = set()
    for s in [b"ok"] + NASTY:
        with ravel.Context() as cx:
            spec = SPEC.encode()
            err = ravel.Err()
            assert ravel.lib.ravel_load(cx.p, spec, len(spec), s.replace(b"/", b"") + b".lua", ct.byref(err)) == 0
            with cx.plan("ROW_MAJOR", "A", (6, 8), 32) as plan:
                plan.verify()
                texts.add(plan.source)
    assert len(texts) == 1 and "HACK" not in texts.pop()


def test_emitted_code_runs_as_the_plain_one(cx):
    """The program of the worst file name is loaded and does what the plan does."""
    to, _ = place("file", b"*/ int HACK; /*")
    open("f.c", "wb").write(emit(to).stdout)
    subprocess.run("gcc -O1 -shared -fPIC -o f.so f.c".split(), check=True)
    [name] = re.findall(r"^(\w+)\(void \*dst_", open("f.c").read(), re.M)
    src, dst = np.arange(48, dtype=np.uint32), np.zeros(48, np.uint32)
    getattr(ct.CDLL("./f.so"), name)(dst.ctypes.data_as(ct.c_void_p), src.ctypes.data_as(ct.c_void_p))
    assert np.array_equal(dst.reshape(8, 6), src.reshape(6, 8).T)


# --- the terminal, JSON, XML

def every_byte():
    """Names that hold each byte from 1 to 255 but the slash, a few a name, none beside another."""
    each = [bytes([c]) + b"x" for c in range(1, 256) if c != ord("/")]
    return [b"".join(each[i:i+24]) for i in range(0, len(each), 24)]


PLACES = [["check", b"N%sX"], ["check", b"{N%s!}", "--shape", "3"], ["check", "NCHW", "--shape", b"%s"], ["list", "--spec", b"no%s"],
          ["check", "NCHW", "--shape", "1,1,1,1", "--dtype", b"f%s"], ["check", b"no%s.lua:X"], [b"lis%s"], ["check", "NCHW", b"x%s"],
          ["check", "NCHW", b"--x%s"], ["check", "NCHW", b"-%s"], ["index", "NCHW", "--shape", "1,1,1,1", "--at", b"0%s"], ["check", b"NCHW{C%s=3}"],
          ["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,1,1,1", "--dtype", "f32", "-o", "-", "--name", b"%s-"],
          ["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,1,1,1", "--dtype", "f32", "-o", b"no/%s"],
          ["convert", b"no%s", "o", "--from", "NCHW", "--to", "NHWC"]]


@pytest.mark.parametrize("args", PLACES, ids=range(len(PLACES)))
def test_messages_with_every_byte(args):
    """In every place of an argument; nothing reaches the terminal as it is, nor is it lost."""
    for s in every_byte():
        bad(*[a % s if isinstance(a, bytes) else a for a in args])


def test_a_name_cannot_forge_a_line():
    r = run("list", "--spec", "x\nravel: all is well.lua")
    assert [line for line in r.stderr.splitlines() if line.startswith(b"ravel: ")] == r.stderr.splitlines()[:1]


def test_every_character_is_shown_or_escaped():
    """Characters arrive whole wherever a stream's buffer happens to end, and odd ones as their number."""
    for k in range(4):
        doc = "x" * k + "é\u20ac\U0001f600" * 3000
        open("t.lua", "w").write('layout "A" { doc = "%s", dims = { M }, order = { M } }' % doc)
        assert doc in good("list", "--spec", "t.lua").decode()
    open("t.lua", "w").write('layout "A" { doc = "a\u202eb\u200bc\x9bd", dims = { M }, order = { M } }')
    assert rb"a\u202eb\u200bc\u009bd" in good("list", "--spec", "t.lua")


@pytest.mark.parametrize("message", [b"\x1b[31m", b"\x07\x08", b"a\nravel: b", b"\xc2\x9b", b"\xff", b"\xe2\x80\xae"])
def test_messages_of_specs(message):
    open("t.lua", "wb").write(b"error(" + lua(message) + b")")
    r = run("list", "--spec", "t.lua")
    assert r.returncode == 2 and shown(r.stderr) and r.stderr.count(b"\nravel") == 0, r


def test_output_with_every_byte_in_a_file_name():
    for s in every_byte():
        path = b"d" + s + b".lua"
        open(path, "wb").write(SPEC.encode())
        of = [path + b":A", "--shape", "2,3"]
        assert shown(good("check", *of)) and shown(good("show", *of))
        good("show", *of, "--svg", "p.svg")
        text = xml.dom.minidom.parse("p.svg").documentElement.toxml()
        assert "d" in text and ".lua:A" in text
        os.remove(path)


def test_json_with_every_byte_in_a_file_name():
    for s in [bytes([c]) for c in (1, 7, 10, 27, 34, 92, 127, 128, 255)] + ["é\u202e\x9b\U0001f600".encode(), *every_byte()]:
        path = b"d" + s + b".lua"
        open(path, "wb").write(SPEC.encode())
        for args in (["list", "--spec", path, "--json"], ["check", path + b":A", "--shape", "2,3", "--json"]):
            r = run(*args)
            try:
                name = path.decode()
            except UnicodeDecodeError:
                assert r.returncode == 2 and b"UTF-8" in r.stderr and r.stdout == b"" and shown(r.stderr), r
                continue
            assert r.returncode == 0 and shown(r.stdout), r
            j = json.loads(r.stdout)
            if args[0] == "list":
                assert [e["file"] for e in j if e["name"] == "A"] == [name]
            else:
                assert j["layout"] == name + ":A"


def test_json_of_hostile_texts():
    for s in NASTY:
        r = run("check", b"{M, K --[==[" + s + b"]==] }", "--shape", "2,3", "--json")
        assert r.returncode in (0, 2) and shown(r.stdout) and shown(r.stderr), r
        if r.returncode == 0:
            assert json.loads(r.stdout)["layout"].encode() == b"{M, K --[==[" + s + b"]==] }"


def test_docs_are_shown_as_text():
    for s in NASTY:
        open("t.lua", "wb").write(b'layout "A" { doc = ' + lua(s) + b", dims = { M }, order = { M } }")
        r = run("list", "--spec", "t.lua", "--json")
        assert r.returncode in (0, 2) and shown(r.stdout) and shown(r.stderr), r
        if r.returncode == 0:
            assert [e["doc"].encode() for e in json.loads(r.stdout) if e["name"] == "A"] == [s]
            assert shown(good("list", "--spec", "t.lua"))


# --- the host lives on

# What would end the host, speak for it, or start something.  libtcc's own, in one object, are renamed to functions that do none of it.
NEVER = """exit _exit _Exit quick_exit abort __assert_fail printf puts putchar vprintf __printf_chk __vprintf_chk perror stdout stderr raise kill
system popen fork vfork execve execvp posix_spawn getenv setenv signal sigaction""".split()
RENAMED = "exit abort stdout stderr environ open fdopen fopen unlink fflush fprintf __fprintf_chk malloc calloc realloc free system".split()


def undefined(objects):
    """(object, symbol) of every symbol that an object wants."""
    out = subprocess.run(["nm", "-uA", *objects], capture_output=True, text=True, check=True).stdout
    return {(os.path.basename(line.split(":")[0]), line.split()[-1]) for line in out.splitlines()}


def test_the_library_never_exits_or_prints():
    ours = [f for d in ("compiler", "runtime") for f in (ravel.BUILD/d).rglob("*.o")]
    assert len(ours) > 30
    asked = {("kernels.o", "getenv"), ("context_new.o", "getenv"), ("processor.o", "getenv"),
             ("log.o", "getenv"), ("log.o", "stderr"),        # RAVEL_ISA, RAVEL_CODE, RAVEL_PROCESSOR, RAVEL_VERBOSE: what ravel.h says of them
             ("file_spool.o", "getenv")}                      # TMPDIR: files of the command, which no function of ravel.h reads or writes
    assert {x for x in undefined(ours) if x[1] in NEVER} == asked
    assert [x for x in undefined([ravel.BUILD / "tcc_pic.o"]) if x[1] in RENAMED] == []
    assert {"stdout", "stderr", "signal"} & {s for _, s in undefined([ravel.BUILD / "cli/main.o"])}        # nm does see such


MDWE = """
import ctypes, mmap, sys
sys.path.insert(0, sys.argv[1])
import ravel
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(65, 1, 0, 0, 0):
    sys.exit(77)
libc.mmap.restype = ctypes.c_void_p
p = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
assert libc.mprotect(ctypes.c_void_p(p), ctypes.c_size_t(4096), 5) == -1
with ravel.Context() as cx:
    for pair in (("NCHW", "NC1HWC0"), ("NHWC", "NCHW"), ("NCHW", "{N, W//4, H, C, W%4, fill = 1}")):
        with cx.plan(*pair, (2, 20, 5, 7), "f16") as plan:
            plan.verify()
maps = [line.split()[1] for line in open("/proc/self/maps")]
assert not [m for m in maps if "w" in m and "x" in m]
"""


def test_no_exec_gain_through_the_library():
    """Compile, run and verify where memory that was writable never becomes executable."""
    r = subprocess.run([sys.executable, "-c", MDWE, os.path.dirname(ravel.__file__)], capture_output=True, text=True)
    if r.returncode == 77:
        pytest.skip("this kernel has no PR_SET_MDWE")
    assert (r.returncode, r.stdout, r.stderr) == (0, "", ""), r
