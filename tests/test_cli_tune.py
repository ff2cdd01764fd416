"""The command tune, whose times no test looks at, and its files of wisdom."""

import json

import pytest

from command import bad, files, good, here, run  # noqa: F401 (here is a fixture)

PAIR = ("--from", "NCHW", "--to", "NHWC", "--shape", "2,16,9,7", "--dtype", "f32")
# Rows of 28 bytes, which several kernels move about as fast with any instruction set.
RUNS = ("--from", "NCHW", "--to", "(N, C, H, W){N, H, C, W}", "--shape", "2,16,9,7", "--dtype", "f32")
HEAD = "ravel wisdom 1\n"


def tune(*args, pair=PAIR):
    return json.loads(good("tune", *pair, "--threads", "1", "--seconds", "1", "--json", *args))


def test_tune():
    j = tune("--wisdom", "w.txt", pair=RUNS)
    assert [t["nest"] for t in j["trials"]] == [1]*len(j["trials"]) and len(j["trials"]) > 1 and j["threads"] == 1
    assert sum(t["winner"] for t in j["trials"]) == sum(t["model"] for t in j["trials"]) == 1
    assert not any(t["refused"] for t in j["trials"]) and all(t["ns"] > 0 and t["memcpy"]["median"] > 0 for t in j["trials"])
    assert j["wisdom"] == "w.txt" and j["bytes"] == 2*16*9*7*4 and files() == ["w.txt"]
    head, line, end = open("w.txt").read().split("\n")
    won = next(t for t in j["trials"] if t["winner"])
    assert (head + "\n", end) == (HEAD, "")
    assert line.split("\t")[2:] == ["1", "f32", "(2,16,9,7)", "(N, C, H, W){N, C, H, W}", "(N, C, H, W){N, H, C, W}",
                                    "1:%(kernel)s:%(order)s" % won]
    text = good("tune", *RUNS, "--threads", "1", "--seconds", "1")
    assert "not remembered" in text and "chosen by the model" in text and files() == ["w.txt"]


def test_wisdom_of_others_stays(monkeypatch):
    """Beside what is there; in the file that RAVEL_WISDOM names, which need not be there; all others take it from there."""
    other = "Some CPU\tavx2\t2\tf32\t(2,64)\t(A, B){A, B}\t(A, B){B, A}\t1:copy:unheard of\n"
    open("w.txt", "w").write(HEAD + other)
    tune("--wisdom", "w.txt")
    both = open("w.txt").read()
    assert other in both and both.count("\n") == 3
    monkeypatch.setenv("RAVEL_WISDOM", "v.txt")
    plain = good("explain", *PAIR)
    assert "as tuned" not in plain
    tune()
    assert open("v.txt").read().count("\n") == 2
    assert ", as tuned: about " in good("explain", *PAIR, "--threads", "1")
    monkeypatch.delenv("RAVEL_WISDOM")
    assert "as tuned" not in good("explain", *PAIR, "--threads", "1")
    good("explain", *PAIR, "--wisdom", "w.txt")


@pytest.mark.parametrize("command", [("explain",), ("emit", "-o", "f.c"), ("verify",), ("bench",), ("tune",)])
def test_wrong_wisdom(command):
    """Told by all that take it, and nothing is made or changed."""
    open("w.txt", "w").write(HEAD + "x\n")
    bad(*command, *PAIR, "--wisdom", "w.txt", says=["w.txt", "line 2"])
    bad(*command, *PAIR, "--wisdom", ".", says=["."])
    if command != ("tune",):
        bad(*command, *PAIR, "--wisdom", "none.txt", says="none.txt")
    assert files() == ["w.txt"] and open("w.txt").read() == HEAD + "x\n"


def test_wisdom_changes_the_code():
    """A choice that is not the model's, and gives the same."""
    tune("--wisdom", "w.txt")
    text = open("w.txt").read()
    made = {}
    for pick in ("strided:in order of writes", "transpose4:in order of writes", "nobody:knows it"):
        open("w.txt", "w").write(text[:text.rindex("\t")] + "\t1:" + pick + "\n")
        assert ("1 by " + pick.replace(":", ", ") + ", as tuned" in good("explain", *PAIR, "--threads", "1", "--wisdom", "w.txt")) == \
            ("nobody" not in pick)
        good("emit", *PAIR, "--threads", "1", "--wisdom", "w.txt", "-o", "f.c")
        made[pick] = open("f.c").read()
    good("emit", *PAIR, "-o", "f.c")
    assert open("f.c").read() == made["nobody:knows it"]
    assert len(set(made.values())) == 2


LATER = ("--from", "NCHW", "--to", "NHWC", "--dtype", "f32")


def test_tune_at():
    """With extents left to run time: one entry whatever their names are, for no shape of numbers."""
    j = json.loads(good("tune", *LATER, "--shape", "N,16,H,W", "--at", "2,16,209,207", "--threads", "1", "--seconds", "1", "--json", "--wisdom", "w.txt"))
    assert j["at"] == [2, 16, 209, 207] and j["bytes"] == 2*16*209*207*4 and j["threads"] == 1 and len(j["trials"]) > 1
    head, line, end = open("w.txt").read().split("\n")
    won = next(t for t in j["trials"] if t["winner"])
    assert line.split("\t")[2:] == ["1", "f32", "(a,16,b,c)", "(N, C, H, W){N, C, H, W}", "(N, C, H, W){N, H, W, C}",
                                    "%(nest)d:%(kernel)s:%(order)s" % won]
    wise = ("--threads", "1", "--wisdom", "w.txt")
    for shape, tuned in (("N,16,H,W", True), ("x,16,y,z", True), ("N,17,H,W", False), ("N,C,H,W", False), ("2,16,9,7", False), ("2,16,H,W", False)):
        assert (", as tuned" in good("explain", *LATER, "--shape", shape, *wise)) == tuned, shape
    good("verify", *LATER, "--shape", "N,16,H,W", *wise[2:])
    text = good("tune", *LATER, "--shape", "N,16,h,w", "--at", "3,16,9,7", "--seconds", "1", *wise)
    assert text.startswith("at (3,16,9,7): 12096 bytes, 1 thread;") and open("w.txt").read().count("\n") == 2


@pytest.mark.parametrize("args, says", [
    (["N,16,H,W"], "has names: --at gives the extents to measure at"), (["2,16,9,7", "--at", "2,16,9,7"], "--at is for a --shape with names"),
    (["N,16,H,W", "--at", "2,16,9"], "--at '2,16,9' has 3 extents, --shape 'N,16,H,W' has 4"), (["N,16,N,W", "--at", "2,16,2,9"], "N occurs twice"),
    (["N,16,H,W", "--at", "2,15,9,7"], "extent of C is 15: the plan is for 16"), (["N,16,H,W", "--at", "0,16,9,7"], "extent of N is 0"),
    (["N,16,H,W", "--at", "N,16,9,7"], "--at 'N,16,9,7': numbers are needed here"),
    (["N,16,H,W", "--at", "9223372036854775807,16,9,7"], "extent of N is 9223372036854775807: 0 to "),
    (["N,16,H,W", "--at", "9999999,16,9999,7"], "do not fit this machine's memory"), (["N,16,H,W", "--at", "4611686018427387904,16,9,7"], "64 bits")])
def test_tune_at_what(args, says):
    bad("tune", *LATER, "--wisdom", "w.txt", "--shape", *args, says=says)
    assert files() == []


def test_a_file_with_a_known_name():
    """FILE:NAME beside NAME of another spec: both names are looked up where the file's is the newest."""
    open("mine.lua", "w").write('layout "NCHW" { dims = {N, C, H, W}, order = {N, H, W, C} }')
    more = ["--shape", "2,3,4,5", "--dtype", "u8"]
    for a, b in (("NCHW", "mine.lua:NCHW"), ("mine.lua:NCHW", "NCHW"), ("NCHW(2,3,4,5)", "mine.lua:NCHW")):
        bad("verify", "--from", a, "--to", b, *more, says=["'NCHW' is a layout of the given file and of another spec"])
    good("verify", "--from", "mine.lua:NCHW", "--to", "mine.lua:NCHW", *more)


def test_two_files_with_one_name():
    """The second file's layout does not stand in for that of the first."""
    for name, order in (("a", "K, M"), ("b", "M, K")):
        open(name + ".lua", "w").write('layout "SAME" { dims = { M, K }, order = { %s } }\nlayout "%s" { dims = { M, K }, order = { %s } }' % (order, name.upper(), order))
    for args in (["check", "a.lua:SAME", "--equals", "b.lua:SAME"], ["check", "a.lua:SAME", "--equals", "b.lua:B"],
                 ["emit", "--from", "a.lua:SAME", "--to", "b.lua:SAME", "--shape", "2,3", "--dtype", "u8", "-o", "o.c"]):
        bad(*args, says=["a.lua and b.lua", "'SAME'", "another name"])
    assert run("check", "a.lua:A", "--equals", "b.lua:SAME").returncode == 1
    good("check", "a.lua:A", "--equals", "a.lua:SAME"), good("check", "b.lua:B", "--equals", "b.lua:SAME")
