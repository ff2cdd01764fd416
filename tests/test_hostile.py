"""Hostile input, but for the sandbox (tests/unit/test_sandbox.c): nobody writes C, shell, terminal codes, JSON or XML through us; sizes end in a
sentence; wrong arguments leave nothing behind; nothing in the library ends its host."""

import ctypes as ct
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import threading
import xml.dom.minidom

import numpy as np
import pytest

import ravel

RAVEL = str(ravel.BUILD / "ravel")
COMMANDS = "list show index table check emit convert explain".split()
SPEC = 'layout "A" { doc = "one", dims = { M, K }, order = { K, M } }\n'


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*args, **kw):
    kw.setdefault("timeout", 60)
    return subprocess.run([RAVEL, *args], capture_output=True, **kw)


def good(*args, **kw):
    r = run(*args, **kw)
    assert (r.returncode, r.stderr) == (0, b""), r
    return r.stdout


def bad(*args, says=(), **kw):
    """Refused: 2, nothing on standard output, nothing made, every piece of `says` in what is said."""
    before = snapshot()
    r = run(*args, **kw)
    assert (r.returncode, r.stdout) == (2, b""), r
    text = r.stderr.decode()
    assert text.startswith("ravel") and text.endswith("\n") and shown(r.stderr), r
    for s in [says] if isinstance(says, str) else says:
        assert s in text, (s, text)
    assert snapshot() == before
    return text


def snapshot():
    """Every name below here, with the bytes of what is a file."""
    return {os.path.join(d, f): open(os.path.join(d, f), "rb").read() if os.path.isfile(os.path.join(d, f)) else None
            for d, dirs, files in os.walk(b".") for f in files + dirs}


def shown(text):
    """No byte of it is for the terminal: UTF-8, and of the controls only newline and tab."""
    s = text.decode()
    return not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", s)


# --- C through names and texts

# File names, layouts' and dims' names, and texts.  b"" stands for what cannot be in an argument.
NASTY = [b"*/", b"/*", b"//", b"*/ int HACK; /*", b"\n", b"\nint HACK;\n", b"\\", b"\\\n", b"x\\\n*/", b"??/", b"??/\n", b"*??/\n/ int HACK;", b"\"",
         b"'", b"'\"'\"'", b"`touch HACK`", b"$(touch HACK)", b"; touch HACK ;", b"| touch HACK", b"$HOME", b"!!", b"~", b"*", b"?", b"[a]", b"{a,b}",
         b"#include \"/etc/passwd\"", b"\n#include </etc/passwd>\n", b"\n#define void int HACK\n", b"%s%n%99999d", b"${name}", b"$", b"-", b"--help",
         b" ", b"  a  b  ", b"\t", b"\r", b"\r\n", b"\x1b[31m", b"\x1b]0;HACK\x07", b"\x7f", b"\x80", b"\xc2\x9b31m", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80",
         b"\xe2\x80\xae;KCAH tni/*", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"\xc3\xa9", b"\\u000a", b"\\x0a", b"\\012", b"&lt;&amp;",
         b"<script>", b"]]>", b"'\\''", b"a=b", b"HACK", b"_Pragma(\"x\")", b"asm(\"hlt\")", b"x" * 200, bytes(range(1, 47)), bytes(range(48, 256))]
FILES = [s for s in NASTY if b"/" not in s] + [b"*/", b"/*", b"*/ int HACK; /*", b"??/\n"]     # a folder's end, then
WHERE = ["file", "layout", "dim", "parameter", "value", "doc", "name", "text"]
COMPILERS = {"gcc": "gcc -std=c99 -Wall -Wextra -Werror", "clang": "clang -std=c99 -Wall -Wextra -Werror", "tcc": "tcc -Wall -Werror"}


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
    """The program without its comments, as the preprocessor has it."""
    r = subprocess.run("gcc -std=c99 -fpreprocessed -dD -E -P -x c -".split(), input=c, capture_output=True)
    assert (r.returncode, r.stderr) == (0, b""), r
    return r.stdout


def emit(to, *more):
    return run("emit", "--from", "ROW_MAJOR", "--to", to, "--shape", "6,8", "--dtype", "f32", "-o", "-", *more)


def command_of(c):
    """The arguments of the command in the head, as a POSIX shell reads them."""
    line = re.match(rb"/\* (ravel emit .*)\n", c)[1]
    assert re.fullmatch(rb"[ -~]*", line), line
    r = subprocess.run([b"sh", b"-c", b"ravel() { printf '%s\\0' \"$@\"; }; " + line], capture_output=True)
    assert r.stderr == b"", (line, r)
    return r.stdout.split(b"\0")[:-1]


@pytest.mark.parametrize("where", WHERE)
def test_no_c_gets_through(where):
    """What is not refused is the same program, clean under three compilers; its head is a command that makes it again."""
    to, more = place(where, b"A" if where == "layout" else b"ok")
    plain = tokens(emit(to, *more).stdout)
    accepted, all_text = [], b""
    for s in FILES if where == "file" else NASTY:
        to, more = place(where, s)
        r = emit(to, *more)
        assert r.returncode in (0, 2) and shown(r.stderr), (s, r)
        if r.returncode:
            assert r.stdout == b"" and r.stderr.startswith(b"ravel: "), (s, r)
            continue
        accepted.append(s)
        if where not in ("name", "dim", "parameter"):
            assert tokens(r.stdout) == plain, s
        args = command_of(r.stdout)
        if where == "file":
            assert args[args.index(b"--to") + 1] == to, (s, args)
        again = run(*args, "-o", "-")
        assert (again.returncode, again.stdout) == (0, r.stdout), (s, again)
        number = len(accepted)
        all_text += r.stdout.replace(b"\nrow_major_to_", b"\nf%d_" % number).replace(b"\nravel_relayout(", b"\nf%d(" % number)
    if where in ("file", "text"):
        assert len(accepted) > len(NASTY) // 2          # all but what no file can be called
    assert not any(b"HACK" in f for f in snapshot() if f.startswith(b"./HACK"))
    compiled = [c for c in re.split(rb"(?=/\* ravel emit )", all_text) if c]
    assert len(compiled) == len(accepted)
    for i, c in enumerate(compiled):
        open("c%d.c" % i, "wb").write(c)
    for compiler in COMPILERS.values():
        if compiled:
            r = subprocess.run(compiler.split() + ["-c"] + ["c%d.c" % i for i in range(len(compiled))], capture_output=True)
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

def every_byte(keep_slash=False):
    """Names that hold each byte from 1 to 255, alone and all together."""
    return [bytes([c]) for c in range(1, 256) if c != ord("/") or keep_slash] + [bytes(c for c in range(1, 256) if c != ord("/"))]


def test_messages_with_every_byte():
    """In every place of an argument, a few bytes a run; nothing reaches the terminal as it is."""
    for i, s in enumerate(every_byte()):
        at = [["check", b"N" + s + b"X"], ["check", b"{N" + s + b"}", "--shape", "3"], ["check", "NCHW", "--shape", s], ["list", "--spec", b"no" + s],
              ["check", "NCHW", "--dtype", b"f" + s], ["check", b"no" + s + b".lua:X"], [b"lis" + s], ["check", "NCHW", b"x" + s],
              ["check", "NCHW", b"--x" + s], ["index", "NCHW", "--shape", "1,1,1,1", "--at", b"0" + s], ["check", b"NCHW{C" + s + b"=3}"],
              ["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,1,1,1", "--dtype", "f32", "-o", "-", "--name", s + b"-"],
              ["emit", "--from", "NCHW", "--to", "NHWC", "--shape", "1,1,1,1", "--dtype", "f32", "-o", b"no/" + s],
              ["convert", b"no" + s, b"o", "--from", "NCHW", "--to", "NHWC"], ["check", "NCHW", b"-" + s]]
        for args in at if s == every_byte()[-1] else [at[(i + k) % len(at)] for k in (0, 4, 9)]:
            r = run(*args)
            assert r.returncode in (0, 1, 2) and shown(r.stderr) and shown(r.stdout), (args, r)
            assert r.stderr.startswith(b"ravel") or r.returncode < 2, (args, r)
            assert r.returncode < 2 or s in b"\n" or len(r.stderr.splitlines()) < 6, (args, r)


def test_a_name_cannot_forge_a_line():
    r = run("list", "--spec", "x\nravel: all is well.lua")
    assert [line for line in r.stderr.splitlines() if line.startswith(b"ravel: ")] == r.stderr.splitlines()[:1]


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
    for s in [bytes([c]) for c in (1, 7, 10, 27, 34, 92, 127, 128, 255)] + ["é\u202e\x9b\U0001f600".encode(), every_byte()[-1]]:
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
