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
COMMANDS = "list devices show index table check emit convert explain".split()
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
    asked = {("kernels.o", "getenv"), ("context.o", "getenv"), ("processor.o", "getenv"),
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


# --- sizes

HUGE = [("{M,K}", "4294967296,4294967296", "f64"), ("{M,K}", "9223372036854775807,2", "u8"), ("{M,K}", "4611686018427387904,2", "u1"),
        ("{M,K}", "1152921504606846976,8", "f64"), ("{M}", "9223372036854775807", "u1"), ("{M}", "9223372036854775807", "c128"),
        ("{M//P, M%P, P = 1 << 62}", "7", "u8"), ("{M//P, M%P, P = 1 << 61}", "7", "f64"), ("{M//P, M%P, P = math.maxinteger}", "7", "u8"),
        ("{M//P, M%P, P = Q*Q, Q = 1 << 40}", "7", "u8"), ("{M, K, pad = {M = 1 << 62}}", "7,7", "u8"),
        ("{M, K, pad = {M = 1 << 31, K = 1 << 32}}", "7,7", "u8"), ("{M, K, pitch = {M = 1 << 62}}", "7,7", "u8"),
        ("{M, K, pitch = {M = math.maxinteger}}", "7,7", "u8"), ("{M, K, pitch = {M = (1 << 60) + 8}}", "9,7", "f64"),
        ("{M*(1 << 62), K}", "7,7", "u8"), ("{M*math.maxinteger, K}", "2,7", "u8"), ("{M + math.maxinteger, K}", "2,7", "u8"),
        ("{M << 61, K}", "9,7", "u8"), ("{M, K, swizzle = function(a) return a * (1 << 60) end}", "7,7", "u8"),
        ("NC1HWC0{C0 = 4611686018427387904}", "7,7,7,7", "u8"), ("NC1HWC0{C0 = 1 << 62}", "7,7,7,7", "f64"),
        ("{%s}" % ",".join("A%d" % i for i in range(16)), ",".join(["65536"] * 16), "u8")]


@pytest.mark.parametrize("layout, shape, dtype", HUGE, ids=lambda x: x if len(x) < 50 else "sixteen")
def test_what_does_not_fit_64_bits(cx, layout, shape, dtype):
    of = ["--shape", shape, "--dtype", dtype]
    for args in (["check", layout], ["show", layout], ["index", layout, "--at", "0"], ["table", layout, "-o", "t.npy"],
                 ["emit", "--kind", "offset", "--to", layout, "-o", "f.c"], ["emit", "--from", "ROW_MAJOR", "--to", layout, "-o", "f.c"],
                 ["explain", "--from", layout, "--to", layout]):
        r = run(*args, *of)
        assert (r.returncode, r.stdout, snapshot()) == (2, b"", {}) or r.returncode == 1 and args[0] == "check", r
        assert r.returncode == 1 or re.search(b"64 bits|outside the .* of storage|does not fit|has no value", r.stderr), r
    with pytest.raises(ravel.Error):
        cx.bytes(layout, [int(n) for n in shape.split(",")], dtype)


@pytest.mark.parametrize("dtype, bits", [("u1", 1), ("u4", 4), ("u8", 8), ("f32", 32), ("c128", 128)])
def test_the_largest_that_fits(dtype, bits):
    """Up to some power of two everything holds at the far end, and beyond it everything is refused: nothing lies between."""
    answers = []
    for k in range(48, 64):
        n = min(1 << k, (1 << 63) - 1)
        r = run("index", "{M}", "--shape", str(n), "--dtype", dtype, "--at", str(n - 1))
        answers.append(r.returncode == 0)
        assert r.stdout == b"%d\n" % (n - 1) if r.returncode == 0 else b"64 bits" in r.stderr, r
        if r.returncode == 0:
            assert good("index", "{M}", "--shape", str(n), "--dtype", dtype, "--at", str(n - 1), "--inverse") == b"%d\n" % (n - 1)
            assert b" %d bytes" % (n * bits // 8) in good("check", "{M}", "--shape", str(n), "--dtype", dtype)
    assert answers == sorted(answers, reverse=True) and answers[0] and not answers[-1]


S = 1 << 17
FAR = [("(M,K){K, M}", (S, S), lambda m, k: k*S + m),
       ("(M,K){M//48, K, M%48}", (S, S), lambda m, k: (m//48*S + k)*48 + m % 48),
       ("(M,K){K, M, swizzle = xor(3, 4, 3)}", (S, S), lambda m, k: (k*S + m) ^ ((k*S + m) >> 3 & 0x70)),
       ("(M,K){K//8, M//8, M%8, K%8}", (S, 3*S), lambda m, k: ((k//8*(S//8) + m//8)*8 + m % 8)*8 + k % 8),
       ("(M,K){M, K, pitch = {M = 1 << 33}}", (5, 8), lambda m, k: (m << 33) + k)]
CALL = """
#include "offset.c"
#include "inverse.c"
int64_t offset(const int64_t *x);
int64_t offset(const int64_t *x) { return off(x[0], x[1]); }
int inverse(int64_t a, int64_t *x);
int inverse(int64_t a, int64_t *x) { return inv(a, x); }
"""


@pytest.mark.parametrize("layout, shape, address", FAR, ids=lambda x: x if isinstance(x, str) else "")
def test_index_functions_beyond_32_bits(layout, shape, address):
    """Of 2^33 elements and more, as emitted and as the command has it, at both ends and between."""
    of = ["--to", layout, "--shape", "%d,%d" % shape, "--dtype", "u8"]
    for kind in ("offset", "inverse"):
        good("emit", "--kind", kind, *of, "--name", kind[:3], "-o", kind + ".c")
    open("f.c", "w").write(CALL)
    rng = np.random.default_rng(5)
    points = [(0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] - 1, 0), (0, shape[1] - 1)] + [tuple(int(rng.integers(n)) for n in shape) for _ in range(300)]
    assert max(address(*x) for x in points) > 1 << 32
    for compiler in COMPILERS.values():
        subprocess.run(compiler.split() + "-shared -fPIC -o f.so f.c".split(), check=True)
        so = ct.CDLL(os.path.abspath("f.so"))
        so.offset.restype = ct.c_int64
        so.inverse.argtypes = [ct.c_int64, ct.c_void_p]
        x, back = np.zeros(2, np.int64), np.zeros(2, np.int64)
        for p in points:
            x[:] = p
            a = so.offset(x.ctypes.data_as(ct.c_void_p))
            assert a == address(*p) and so.inverse(a, back.ctypes.data) and tuple(back) == p, (compiler, p)
        os.remove("f.so")
    for p in points[:8]:
        a = b"%d" % address(*p)
        at = ["--shape", "%d,%d" % shape, "--dtype", "u8", "--at"]
        assert good("index", layout, *at, "%d,%d" % p) == a + b"\n"
        assert good("index", layout, *at, a, "--inverse") == b"%d,%d\n" % p


# Few elements, far apart: the kernels' own 64-bit arithmetic, for the price of the pages that are touched.
SPARSE = [("(M,K){M, K, pitch = {M = 1 << 33}}", "u8"), ("(M,K){K, M, pitch = {K = 1 << 33}}", "u8"), ("(M,K){K, M, pitch = {K = 1 << 33}}", "u4"),
          ("(M,K){M, K, pitch = {M = 1 << 33}}", "u1"), ("(M,K){M//2, K, M%2, pitch = {[1] = 1 << 33}}", "f64"),
          ("(M,K){K//3, M, K%3, pitch = {[1] = 1 << 34}, fill = 1}", "f32")]


@pytest.mark.parametrize("layout, dtype", SPARSE)
def test_kernels_beyond_32_bits(cx, layout, dtype):
    import mmap
    shape = (5, 8)
    with cx.plan("ROW_MAJOR", layout, shape, dtype) as there, cx.plan(layout, "ROW_MAJOR", shape, dtype) as back:
        assert there.dst_bytes > 1 << 33
        far = mmap.mmap(-1, there.dst_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)       # MAP_NORESERVE
        bits = {"u1": 1, "u4": 4, "f32": 32}.get(dtype, 64 if dtype == "f64" else 8)
        raw = np.random.default_rng(3).integers(0, 256, there.src_bytes, np.uint8)
        out = np.zeros(there.src_bytes, np.uint8)
        view = np.frombuffer(far, np.uint8)
        p = view.ctypes.data
        assert ravel.lib.ravel_run(there.p, p, raw.ctypes.data) == 0
        elements = ravel.unpack(raw, bits)
        table = cx.table(layout, shape, dtype).reshape(-1)
        assert table.max() * bits // 8 > 1 << 33
        for e, a in zip(elements, table.tolist()):
            byte = view[a*bits//8:(a*bits + bits + 7)//8]
            assert (byte[0] >> a*bits % 8 & ((1 << bits) - 1) if bits < 8 else byte.copy().view(elements.dtype)[0]) == e
        assert ravel.lib.ravel_run(back.p, out.ctypes.data, p) == 0 and np.array_equal(out, raw)
        del view, byte


# --- ranks and extents

def test_ranks(cx):
    dims = ["A%d" % i for i in range(65)]
    for n, says in ((16, None), (17, "16"), (65, "16")):
        layout, shape = "(%s){%s}" % ((",".join(dims[:n]),) * 2), ",".join(["2"] * min(n, 16) + ["1"] * (n - 16))
        for name in (layout, "ROW_MAJOR"):
            args = [["check", name], ["show", name], ["index", name, "--at", ",".join("0" * n)], ["table", name, "-o", "t.npy"],
                    ["emit", "--from", name, "--to", name, "-o", "f.c"], ["explain", "--from", name, "--to", name]]
            for a in args:
                a += ["--shape", shape, "--dtype", "u8"]
                if says:
                    bad(*a, says=says)
                else:
                    good(*a)
            if not says:
                os.remove("t.npy"), os.remove("f.c")
    for n in (17, 65):
        bad("check", "(%s){%s}" % ((",".join(dims[:n]),) * 2), says="more than 1")


@pytest.mark.parametrize("rank", [-1, 17, 65, 2**31 - 1, -2**31])
def test_ranks_of_the_api(cx, rank):
    shape = (ct.c_int64 * 65)(*[1] * 65)
    err, p, n = ravel.Err(), ct.c_void_p(1), ct.c_int64(-7)
    rq = ravel.Request(b"ROW_MAJOR", b"COL_MAJOR", b"f32", rank, shape)
    says = b"a rank of %d: 0 to 16" % rank
    assert ravel.lib.ravel_compile(cx.p, ct.byref(rq), ct.byref(p), ct.byref(err)) == 1 and not p.value and err.text == says
    assert ravel.lib.ravel_storage_bytes(cx.p, b"ROW_MAJOR", b"f32", rank, shape, ct.byref(n), ct.byref(err)) == 1 and n.value == -7
    assert ravel.lib.ravel_table(cx.p, b"ROW_MAJOR", b"f32", rank, shape, ct.byref(n), ct.byref(err)) == 1 and n.value == -7


@pytest.mark.parametrize("extent", ["0", "-1", "-9223372036854775808"])
def test_extents_below_one_are_refused_everywhere(cx, extent):
    """No layout of nothing: a sentence that says so, from every command, from convert of raw data, and from the library."""
    zero = extent == "0"
    says = "extents are 1 or more" if zero else "whole numbers"
    for shape in (extent + ",3", "3," + extent):
        at = ["--shape", shape, "--dtype", "f32"]
        for args in (["check", "{M,K}"], ["show", "{M,K}"], ["index", "{M,K}", "--at", "0,0"], ["table", "{M,K}", "-o", "t.npy"],
                     ["emit", "--from", "(M,K){M,K}", "--to", "(M,K){K,M}", "-o", "f.c"], ["emit", "--kind", "inverse", "--to", "{M,K}", "-o", "f.c"],
                     ["explain", "--from", "(M,K){M,K}", "--to", "(M,K){K,M}"]):
            bad(*args, *at, says=says)
        numbers = [int(n) for n in shape.split(",")]
        asks = [lambda: cx.bytes("{M,K}", numbers, 32)]
        if extent != "-1":                           # RAVEL_RUNTIME: any extent, in a plan
            asks.append(lambda: cx.plan("(M,K){M,K}", "(M,K){K,M}", numbers, 32))
        for ask in asks:
            with pytest.raises(ravel.Error, match="extents are 1 or more"):
                ask()
    if zero:
        open("e.bin", "wb")
        for shape in ((0, 3), (3, 0), (0,), (2, 0, 3)):
            text = ",".join(map(str, shape))
            bad("convert", "e.bin", "o.bin", "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--shape", text, "--dtype", "f32", says=says)


# --- names

def test_names_with_every_byte(cx):
    """Of dims, layouts and parameters: a word or nothing; one that ends in a zero byte is none."""
    word = re.compile(rb"[A-Za-z0-9_]")
    for c in range(256):
        name, ok = b'"Q' + b"\\x%02x" % c + b'"', bool(word.match(bytes([c])))
        for spec in (b"layout(%s) { dims = { M }, order = { M } }" % name, b"local d = _ENV[%s] layout 'A' { dims = { d }, order = { d } }" % name,
                     b"layout 'A' { dims = { M }, order = { M // _ENV[%s], M %% 2 }, [%s] = 2 }" % (name, name),
                     b"layout 'A' { dims = { M }, order = { M }, pad = { [%s] = 2 } }" % name.replace(b"Q", b"M" if c else b"Q")):
            err = ravel.Err()
            status = ravel.lib.ravel_load(cx.p, spec, len(spec), b"t.lua", ct.byref(err))
            assert (status == 0) == (ok and b"pad" not in spec), (c, spec, err.text)
            assert status == 0 or len(err.text) > 15


def test_a_dim_with_a_zero_byte_is_no_dim(cx):
    with pytest.raises(ravel.Error):
        cx.load("layout 'A' { dims = { M }, order = { M }, pad = { ['M\\0x'] = 2 } }")


LONG = "N" * 65536


@pytest.mark.parametrize("args", [["check", LONG], ["check", "{%s}" % LONG], ["check", "(%s){N}" % LONG], ["check", "NCHW{%s=3}" % LONG], [LONG],
                                  ["check", "NCHW", LONG], ["check", "NCHW", "--" + LONG], ["check", "NCHW", "--dtype", LONG],
                                  ["check", "NCHW", "--shape", LONG], ["check", "NCHW", "--shape", "1," * 40000 + "1"],
                                  ["check", "NCHW", "--shape", "1" * 65536], ["list", "--spec", LONG], ["check", LONG + ".lua:A"],
                                  ["check", "t.lua:" + LONG], ["index", "NCHW", "--shape", "1,1,1,1", "--at", "0" * 65536],
                                  ["table", "{M}", "--shape", "3", "-o", LONG], ["show", "{M}", "--shape", "3", "--svg", LONG],
                                  ["emit", "--from", "{M}", "--to", "{M}", "--shape", "3", "--dtype", "f32", "-o", "-", "--name", LONG],
                                  ["convert", LONG, "o.npy", "--from", "{M}", "--to", "{M}"], ["convert", "x.npy", LONG, "--from", "{M}", "--to", "{M}"],
                                  ["convert", LONG + ".npy", "o.npy", "--from", "{M}", "--to", "{M}"]],
                         ids=lambda a: " ".join(x[:12] for x in a))
def test_names_of_64_kilobytes(args):
    """The message keeps room for what is wrong."""
    open("t.lua", "w").write(SPEC)
    np.save("x.npy", np.zeros(3, "f4"))
    text = bad(*args)
    if LONG not in text:
        assert len(text) < 2000
        assert re.search("unknown|at most|is not|has no|has more|whole numbers|too long|cannot name|no command|number|one argument too many", text), text


# --- spec files of every kind

def test_many_layouts():
    open("t.lua", "w").write("".join("layout 'L%d' { dims = { M }, order = { M } }\n" % i for i in range(10000)))
    assert sum(line.startswith(b"L") for line in good("list", "--spec", "t.lua").splitlines()) == 10000
    assert good("index", "t.lua:L9999", "--shape", "5", "--at", "3") == b"3\n"
    open("t.lua", "w").write("layout 'A' { dims = { M }, order = { %s } }" % ("M, " * 10000))
    bad("list", "--spec", "t.lua", says=["t.lua:1", "more than 64 parts"])
    open("t.lua", "w").write("layout 'A' { dims = { %s }, order = { } }" % ", ".join("M%d" % i for i in range(10000)))
    bad("list", "--spec", "t.lua", says=["t.lua:1", "more than 16 dims"])


def test_sizes_of_spec_files():
    for n, says in ((0, None), (1 << 20, None), ((1 << 22) - 200, None), (1 << 22, None), ((1 << 22) + 1, "larger than 4194304 bytes"), (1 << 26, "larger")):
        tail = SPEC if n else ""
        open("t.lua", "w").write("--" + "x" * (n - len(tail) - 3) + "\n" + tail if n else "")
        assert os.path.getsize("t.lua") == n
        if says:
            bad("list", "--spec", "t.lua", says=["t.lua", says])
        else:
            assert (b"\nA " in b"\n" + good("list", "--spec", "t.lua")) == (n > 0)


def test_what_is_no_plain_file():
    os.mkdir("dir.lua")
    os.symlink("loop2.lua", "loop1.lua"), os.symlink("loop1.lua", "loop2.lua"), os.symlink("nowhere", "dangling.lua")
    for path, says in (("dir.lua", "directory"), ("loop1.lua", "symbolic links"), ("dangling.lua", "No such file"), ("none.lua", "No such file"),
                       ("", "No such file"), ("dir.lua/x.lua", "No such file"), ("/dev/zero", "larger than"), ("/dev/full", "larger than"),
                       ("/proc/self/mem", "cannot read")):
        bad("list", "--spec", path, says=[path or "''", says])
        if path.endswith(".lua"):
            bad("check", path + ":A", "--shape", "2,3", says=[path, says])
    good("list", "--spec", "/dev/null")
    good("list", "--spec", "-", input=SPEC.encode())


def test_a_spec_from_a_pipe():
    os.mkfifo("t.lua")
    feed = threading.Thread(target=lambda: open("t.lua", "w").write(SPEC))
    feed.start()
    assert b"one-to-one" in good("check", "t.lua:A", "--shape", "2,3")
    feed.join()


def test_a_spec_that_changes_while_it_is_read():
    """An answer or a sentence each time; the file is not waited for, nor read beyond its limit."""
    stop = threading.Event()

    def change():
        k = 0
        while not stop.is_set():
            with open("t.lua", "r+b") as f:
                f.truncate((k * 7919) % 300000)
                f.seek(0)
                f.write((SPEC + "--" + "x" * ((k * 104729) % 200000)).encode())
            k += 1
    open("t.lua", "w").write(SPEC)
    t = threading.Thread(target=change)
    t.start()
    try:
        for _ in range(30):
            r = run("check", "t.lua:A", "--shape", "2,3")
            assert r.returncode in (0, 2) and bool(r.stderr) == (r.returncode == 2) and shown(r.stderr), r
    finally:
        stop.set()
        t.join()


# --- texts and questions that would take forever

# Processor time, so that a machine at work on other things does not fail them: what is refused is refused by a count, not by this.
SECONDS = 100 if "asan" in str(ravel.BUILD) else 20
ARGUMENTS = ",".join("a%d" % i for i in range(70))
PARSED = {
    "elseif": lambda n: "local x = 1 if x == 0 then " + "elseif x == 2 then " * n + "end ",
    "and": lambda n: "local y = x" + " and x" * n + " ",
    "or": lambda n: "local function f() return x" + " or x" * n + " end ",
    "not": lambda n: "local y = a" + " and (not b)" * n + " ",
    "labels": lambda n: "".join("::a%d:: x = y " % i for i in range(n)),
    "goto": lambda n: "local x ::b:: " + "".join("::a%d:: x = 1 " % i for i in range(32)) + "if x then goto b end " * n,
    "numerals": lambda n: "local t = {" + ",".join(str(131071*(i + 1)) for i in range(n)) + "} ",
    "floats": lambda n: "local t = {" + ",".join(".%d" % i for i in range(n)) + "} ",
    "names": lambda n: "".join("local function f() local " + ARGUMENTS + " " for _ in range(150)) + "x = y " * n + "end " * 150,
    "arguments": lambda n: ("".join("local function f() local " + ARGUMENTS + " " for _ in range(150)) +
                            ("do local a f(" + "x,"*99 + "x) end ") * (n // 100) + "end " * 150),
    "parameters": lambda n: "".join("local function f(" + ARGUMENTS + ") " for _ in range(150)) + "x = y " * n + "end " * 150,
}
# (how many take seconds to minutes, how many are nothing)
SIZES = {"labels": (32000, 6000), "names": (300000, 300), "arguments": (300000, 300), "parameters": (300000, 300)}
RUN = {
    "whole numbers that meet": "local t = {} for i = 1, 1000000 do t[i*131071*8191] = 1 end",
    "long strings compared": "local s = ('x'):rep(60000) for i = 1, 6 do s = s .. s end local u = s .. 'y' local v = s .. 'z' while u < v do end",
    "an inserted beginning": "local t = {} for i = 1, 400000 do t[i] = i end while true do table.insert(t, 1, 1) end",
    "layouts by one function": "local f = function(a) local b = a for i = 1, 10 do b = b ~ b end return a ~ b end "
                               "for i = 1, 100000 do layout('L' .. i) { dims = { M }, order = { M }, swizzle = f } end",
    "expressions": "local x = M for i = 1, 1000 do for j = 1, 10 do x = M for k = 1, 140 do x = x + K end end end",
}


def in_seconds():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def answered(*args, **kw):
    """It ends by itself, with an answer or a sentence; every sentence names what was too much."""
    r = run(*args, preexec_fn=in_seconds, timeout=600, **kw)
    assert r.returncode in (0, 1, 2) and shown(r.stderr), r
    return r.returncode, (r.stdout + r.stderr).decode()


@pytest.mark.parametrize("kind", PARSED)
def test_a_text_that_is_parsed_forever(kind):
    """Lua's parser has no hook: what it takes the square of is counted before; small ones are read."""
    large, small = SIZES.get(kind, (120000, 9000))
    text = PARSED[kind](large)
    assert len(text) < 1 << 22
    open("t.lua", "w").write(text + SPEC)
    code, said = answered("list", "--spec", "t.lua")
    assert code == 2 and "t.lua: to read " in said and "more work than the limit allows" in said and "--limit" in said, said
    open("t.lua", "w").write(SPEC + "if false then " + PARSED[kind](small) + " end")
    code, said = answered("list", "--spec", "t.lua")
    assert code == 0 and said.splitlines()[0].split()[0] == "A", said


def test_words_that_are_no_code_count_for_nothing():
    """In comments and strings."""
    many = "elseif and or goto x ::a:: 123456789 " * 60000
    open("t.lua", "w").write("--[==[ %s ]==] local s = [[%s]] --%s\n%s" % (many[:1 << 20], many[:1 << 18], many[:1 << 20], SPEC))
    code, said = answered("list", "--spec", "t.lua")
    assert code == 0 and said.splitlines()[0].split()[0] == "A", said


@pytest.mark.parametrize("what", RUN)
def test_a_text_that_is_run_forever(what):
    open("t.lua", "w").write(RUN[what])
    code, said = answered("list", "--spec", "t.lua")
    assert code == 2 and "t.lua" in said and re.search("limit allows|runs for more than|MB of", said), said


def test_a_limit_scales_what_a_text_may_do():
    loop = "for i = 1, 4000000 do end " + SPEC
    open("t.lua", "w").write(loop)
    assert answered("list", "--spec", "t.lua")[0] == 0
    code, said = answered("list", "--spec", "t.lua", "--limit", "1")
    assert code == 2 and "2.5 million instructions" in said, said
    open("t.lua", "w").write(loop.replace("4000000", "9000000"))
    assert "5 million instructions" in answered("list", "--spec", "t.lua")[1]
    assert answered("list", "--spec", "t.lua", "--limit", "8")[0] == 0
    for n in ("0", "-1", "x", "1,2", "", "1.5", "1e-9", "nan", " 3", "99999999999999999999"):
        bad("list", "--limit", n, says="a whole number of seconds above 0")


def terms(n, entries):
    """Entries of n terms each, of which no structure is seen and whose values stay below 97."""
    return ",".join("(%s)%%97" % " + ".join("(M*%d + K*%d)%%%d" % (j + 1 + i, 2*j + 3, 7 + j) for j in range(n)) for i in range(entries))


def rows(n):
    """An xor of about half the bits an entry: a matrix over GF(2) which has no inverse."""
    state, out = 1, []
    for i in range(n):
        bits = [i]
        for j in range(n):
            state = (state*6364136223846793005 + 1442695040888963407) % 2**64
            bits += [j] if j != i and state >> 63 else []
        out.append("~".join("(M//%d%%2)" % (1 << j) for j in bits))
    return "{%s}" % ",".join(out)


TERMS = "{%s, M, K}" % terms(100, 4)


def zero(dim, n):
    """0, as a square has no remainder of 2 by 3, in operators that nothing simplifies away."""
    return " + ".join("(%s + %d)*(%s + %d)%%3//2" % (dim, j, dim, j) for j in range(n))


SWIZZLE = "{M, K, swizzle = function(a) return a + %s end}" % zero("a", 60)
# command, arguments, a part of the answer; what is undecided is no error where there is an answer for it
QUESTIONS = [
    (["check", "{%s}" % terms(100, 4), "-s", "2000,2000"], 1, "unknown"),
    (["check", "{(%s)%%2003, M}" % "+".join("(M*%d + K*%d)%%2003" % (2003*j + 1, 2003*j + 1) for j in range(90)), "-s", "2000,2000"], 1, "limit allows"),
    (["check", "{(%s)%%1009, M}" % "+".join("(M*%d + K*%d)%%2003" % (j + 1, j + 3) for j in range(90)), "--equals",
      "{(%s)%%1009, M}" % "+".join("(M*%d + K*%d)%%2003" % (j + 1, j + 3) for j in reversed(range(90))), "-s", "2000,2000"], 0, "yes"),
    (["check", TERMS, "-s", "2000,2000"], 0, "yes"),
    (["check", SWIZZLE, "-s", "2000,2000", "-d", "u8"], 1, "limit allows"),
    (["check", rows(22), "-s", str(1 << 22)], 1, ""),
    (["check", "{%s}" % terms(60, 6)], 1, "(0,0) and (0,15) are both at address 0"),
    (["check", rows(40)], 1, "unknown"),
    (["emit", "-F", "{M, K}", "-T", "{%s, (M + K)//2, K}" % terms(100, 4), "-s", "2000,2000", "-d", "u8", "-o", "f.c"], 2, "cannot decide"),
    (["table", "{%s, M, K}" % terms(100, 2), "-s", "2000,2000", "-d", "u8", "-o", "t.npy"], 2, ""),
    (["check", "{%s, M, K}" % terms(100, 2), "-s", "200,200", "-d", "u8", "--banks", "K:1"], 2, ""),
    (["verify", "-F", "{A//300, B//299, A%300, B%299}", "-T", "{A//301, B//302, A%301, B%302}", "-s", "A,B", "-d", "u8"], 2, "boundaries of its blocks"),
    (["verify", "-F", "(A,B,C){A//7, B//8, C//9, A%7, B%8, C%9}", "-T", "(A,B,C){A//11, B//13, C//15, A%11, B%13, C%15}", "-s", "A,B,C", "-d", "u8"], 2,
     "limit allows"),
]


@pytest.mark.parametrize("args, code, says", QUESTIONS, ids=[q[0][0] + str(i) for i, q in enumerate(QUESTIONS)])
def test_a_question_that_is_worked_on_forever(args, code, says):
    got, said = answered(*args)
    assert got == code and says in said, (got, said[-600:])
    assert snapshot() == {}


def test_more_of_a_limit_decides():
    """What the count refuses is answered where the limit is larger, and the sentence says so."""
    for layout in ("{(M + K + %s)%%2003, M}" % zero("M", 6), "{M, K, swizzle = function(a) return a + %s end}" % zero("a", 6)):
        args = ["check", layout, "-s", "2000,2000", "-d", "u8"]
        code, said = answered(*args, "--limit", "1")
        assert code == 1 and "--limit" in said and "limit allows" in said, said
        assert answered(*args, "--limit", "1") == (code, said)
        assert answered(*args, "--limit", "60")[0] == 0


# --- every command, every kind of wrong argument

LAYOUTS = ["", " ", "NOPE", "nope.lua:A", "t.lua:NOPE", "t.lua:", "t.lua", "onednn:abc", "{", "{M", "{M}}", "(M", "(M){", "{M,,K}", "{M//0}", "{M/2}", "NCHW{",
           "NCHW{X=1}", "{os.exit()}", "{M} {K}", "\xff"]
SHAPES = ["", ",", "1,", ",1", "1,,2", "a", "1,b!", "1,b,", "0,b", "b,0", "1,b", "1.5", "1e3", "0x10", "+1", "-1", "0", " 1", "1 ", "1;2", "9223372036854775808", "1," * 16 + "1", "٣"]
NAMED = {"check", "emit", "explain"}     # where a name leaves an extent to run time
DTYPES = ["", "f", "f33", "F32", "float32", "f32 ", "f32,f16", "%s", "u3"]
NUMBERS = ["", ",", "a", "-1", "1.5", "9223372036854775808", "0,0,0"]
PATHS = ["", ".", "no/such/x", "t.lua/x", "dir", "dir/"]
# option: the wrong values it is given, and what the message then names; "" names it by its own value
WRONG = {"LAYOUT": LAYOUTS, "--from": LAYOUTS, "--to": LAYOUTS, "--shape": SHAPES, "--dtype": DTYPES, "--at": NUMBERS, "--output": PATHS, "--svg": PATHS,
         "--by": ["", "x", "M%", "lane"], "--plane": ["", "x", "M,M", "M,K,M", "M,"], "--beside": LAYOUTS,
         "--spec": ["", "nope.lua", "dir", "bad.lua"], "--kind": ["", "x", "Offset"], "--target": ["", "metal", "C", "nope.lua", "t.lua"],
         "--name": ["", "a b", "int", "1a", "a-b", "main"],
         "IN": ["", "nope.npy", "dir", "t.lua", "bad.npy"], "OUT": ["", "dir", "no/such/y.npy", "t.lua/y.npy"],
         "--list": ["", "nope.txt", "dir", "t.lua"], "--header": PATHS, "--depfile": PATHS}
WITHOUT = {("show", "--shape")}          # what a command prints without it is another form
BASE = {"list": ({}, ["--spec"]), "devices": ({}, []),
        "show": ({"LAYOUT": "t.lua:A", "--shape": "6,8"}, ["--dtype", "--svg", "--by", "--plane", "--at", "--beside", "--spec"]),
        "index": ({"LAYOUT": "t.lua:A", "--shape": "6,8", "--at": "1,2"}, ["--dtype", "--spec"]),
        "table": ({"LAYOUT": "t.lua:A", "--shape": "6,8", "--output": "o.npy"}, ["--dtype", "--spec"]),
        "check": ({"LAYOUT": "t.lua:A"}, ["--shape", "--dtype", "--spec"]),
        "emit": ({"--from": "ROW_MAJOR", "--to": "t.lua:A", "--shape": "6,8", "--dtype": "f32"},
                 ["--output", "--kind", "--target", "--name", "--spec", "--list", "--header", "--depfile"]),
        "convert": ({"IN": "x.npy", "OUT": "o.npy", "--from": "ROW_MAJOR", "--to": "t.lua:A"}, ["--shape", "--dtype", "--spec"]),
        "explain": ({"--from": "ROW_MAJOR", "--to": "t.lua:A", "--shape": "6,8", "--dtype": "f32"}, ["--spec"])}


def arguments(command, given):
    words = [given[k] for k in ("LAYOUT", "IN", "OUT") if k in given]
    return [command] + ["--%s=%s" % (k[2:], v) for k, v in given.items() if k.startswith("--")] + ["--"] + words


def names(option, value, text):
    """Does the message name the argument: by its option, its value, or the file and what is in it."""
    value = value.strip()
    if value == "\xff":
        return "\\" in text or "ÿ" in text
    place = {"LAYOUT": "layout", "IN": "''", "OUT": "''", "--spec": "''", "--output": "''", "--svg": "''", "--header": "''", "--depfile": "''",
             "--beside": "layout", "--from": "layout", "--to": "layout"}
    return option in text or bool(value) and value[:40].split("{")[0].split(":")[0] in text or place.get(option, option) in text or "(inline)" in text or \
        option == "--shape" and ("extent" in text or "dims" in text) or option == "--dtype" and "dtype" in text or option == "--name" and "name" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_wrong_argument(command):
    """One at a time, all else right: 2, the argument is named, nothing on standard output, nothing made."""
    os.mkdir("dir")
    open("t.lua", "w").write(SPEC)
    open("bad.lua", "w").write("layout 'A' {")
    open("bad.npy", "wb").write(b"\x93NUMPY\x01\x00")
    np.save("x.npy", np.zeros((6, 8), "f4"))
    right, more = BASE[command]
    r = run(*arguments(command, right))
    assert r.returncode == 0, r
    for path in ("o.npy", "o.c"):
        if os.path.exists(path):
            os.remove(path)
    for option in list(right) + more:
        for value in WRONG[option]:
            if (option, value) == ("--shape", "1,b") and command in NAMED:
                continue
            text = bad(*arguments(command, {**right, option: value}))
            assert names(option, value, text), (option, value, text)
        if option in right and (command, option) not in WITHOUT:
            text = bad(*arguments(command, {k: v for k, v in right.items() if k != option}))
            words = {"LAYOUT": "LAYOUT", "IN": "IN OUT", "OUT": "IN OUT", "--output": "--output"}
            assert words.get(option, option) in text, (option, text)
    if command != "list":                # whose arguments are words to look for
        bad(*arguments(command, right), "one-more", says="one-more")
    bad(command, "--nonsense", says="--nonsense")
    bad(command, "-Z", says="Z")
    for option in ("--shape", "--dtype", "--at", "--from", "--to", "--kind", "--target", "--name", "--output", "--svg", "--verify", "--json", "--inverse"):
        if option not in right and option not in more and option not in good(command, "--help").decode():
            bad(*arguments(command, {**right, option: "x"}), says=option)


# --- convert

def header(text, version=b"\x01\x00"):
    text = text.encode() + b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text


def few_megabytes():
    resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))


CLAIMS = ["{'descr': '<f4', 'fortran_order': %s, 'shape': %s, }" % (f, s) for f in ("False", "True")
          for s in ("(1048576, 1048576)", "(1099511627776,)", "(9223372036854775807,)", "(3037000500, 3037000500)", "(4294967296, 4294967296, 4294967296)",
                    "(2305843009213693952, 2)", "(18446744073709551617,)")]


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_header_is_not_believed(claim):
    """A hundred bytes that promise terabytes are refused without asking for them."""
    open("x.npy", "wb").write(header(claim) + b"1234")
    for to in ("o.npy", "o.bin"):
        bad("convert", "x.npy", to, "--from", "ROW_MAJOR", "--to", "COL_MAJOR", says="x.npy",
            **({} if "asan" in str(ravel.BUILD) else {"preexec_fn": few_megabytes}))


@pytest.mark.parametrize("array", [np.array([{}, 3], object), np.zeros(3, "U5"), np.zeros(3, "S5"), np.zeros(3, "M8[s]"),
                                   np.zeros(3, [("a", "f4"), ("b", "i2")]), np.zeros(3, "V7"), np.zeros(3, "?"),
                                   np.zeros(3, "f2").astype(np.longdouble)], ids=lambda a: a.dtype.str)
def test_dtypes_that_are_none_of_ours(array):
    np.save("x.npy", array, allow_pickle=True)
    r = run("convert", "x.npy", "o.npy", "--from", "ROW_MAJOR", "--to", "COL_MAJOR")
    if array.dtype == np.bool_ and r.returncode == 0:
        return
    assert r.returncode == 2 and b"x.npy" in r.stderr and r.stdout == b"" and set(snapshot()) == {b"./x.npy"}, r


X = np.arange(48, dtype="<f4").reshape(6, 8)


@pytest.mark.parametrize("how", ["same", "hard link", "symbolic link", "other spelling"])
def test_output_over_the_input(how):
    """Read whole before anything is written; a symbolic link stays one, a hard link's other name keeps the old content."""
    np.save("x.npy", X)
    out = {"same": "x.npy", "hard link": "y.npy", "symbolic link": "y.npy", "other spelling": "./x.npy"}[how]
    if how == "hard link":
        os.link("x.npy", out)
    if how == "symbolic link":
        os.symlink("x.npy", out)
    good("convert", "x.npy", out, "--from", "ROW_MAJOR", "--to", "COL_MAJOR", "--verify")
    assert np.array_equal(np.load(out), X.T) and os.path.islink(out) == (how == "symbolic link")
    assert np.array_equal(np.load("x.npy"), X if how == "hard link" else X.T)
    assert len(snapshot()) == (1 if out.endswith("x.npy") else 2)


def test_outputs_that_are_links_or_folders():
    np.save("x.npy", X)
    os.mkdir("dir.npy"), os.symlink("dir.npy", "to_dir.npy"), os.symlink("y.npy", "dangling.npy"), os.symlink("loop.npy", "loop.npy")
    by = ["--from", "ROW_MAJOR", "--to", "COL_MAJOR"]
    for out in ("dir.npy", "dir.npy/", "to_dir.npy", "loop.npy", "x.npy/y.npy", "no/y.npy"):
        bad("convert", "x.npy", out, *by, says=out)
    good("convert", "x.npy", "dangling.npy", *by)
    assert os.path.islink("dangling.npy") and np.array_equal(np.load("y.npy"), X.T)
    os.symlink("x.npy", "in.npy")
    good("convert", "in.npy", "/dev/null", *by)


def test_an_existing_output_is_kept_on_failure():
    np.save("x.npy", np.tile(X, (100, 100)))
    np.save("y.npy", X + 1)
    for wrong in (["--to", "{M//2, K}"], ["--to", "COL_MAJOR", "--shape", "800,600"], ["--to", "COL_MAJOR", "--dtype", "u8"],
                  ["--to", "COL_MAJOR", "--spec", "none.lua"]):
        bad("convert", "x.npy", "y.npy", "--from", "ROW_MAJOR", *wrong)
    r = run("convert", "x.npy", "y.npy", "--from", "ROW_MAJOR", "--to", "COL_MAJOR",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18)))
    assert r.returncode == 2 and b"y.npy" in r.stderr, r
    assert np.array_equal(np.load("y.npy"), X + 1) and set(snapshot()) == {b"./x.npy", b"./y.npy"}
