"""Spec files of every kind, and texts and questions that would take forever."""

import os
import re
import resource
import threading

import pytest

import ravel
from hostile import bad, good, here, run, shown, snapshot, SPEC          # noqa: F401: fixtures too


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
        bad("list", "--limit", n, says="a whole number above 0")


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
