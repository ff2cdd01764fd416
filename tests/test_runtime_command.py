"""Extents left to run time on the command line: what is refused, tuned, verified and checked; loops of the emitted code that only some shapes have."""

import json
import re
import subprocess

import pytest

from runtime_cases import built, emitted, Function, RAVEL, values_of


def command(*args, code=0):
    r = subprocess.run([RAVEL, *args], capture_output=True, text=True, timeout=120)
    assert r.returncode == code, r
    return r.stdout if code < 2 else r.stderr


REFUSED = [
    ("ROW_MAJOR", "(R,C){R, C, swizzle = xor(1, 0, 2)}", "R,64", "a swizzle fits storage"),
    ("ROW_MAJOR", "(A,B){A//2, B}", "A,B", "A%2 is stored nowhere"),
    ("ROW_MAJOR", "(A,B){A, B//4, B%3}", "A,B", "B is cut at 3 and at 4"),
    ("ROW_MAJOR", "(A,B){A*B%7, B}", "A,B", "digits|give"),
]


@pytest.mark.parametrize("a, b, shape, why", REFUSED)
def test_what_is_refused(tmp_path, a, b, shape, why):
    text = command("explain", "--from", a, "--to", b, "--shape", shape, "--dtype", "u8", code=2)
    assert re.search(why, text) and len(text) > 40, text


def test_tuned(tmp_path, monkeypatch):
    """Measured at one shape by one process, whatever was tried there is right at others, emitted by another under other names."""
    case = ("NCHW", "NC1HWC0", "n,c,h,w", "f16")
    monkeypatch.setenv("RAVEL_WISDOM", str(tmp_path / "w.txt"))
    trials = json.loads(command("tune", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "N,C,H,W", "--at", "2,37,209,207", "--dtype", "f16",
                                "--seconds", "1", "--json"))["trials"]
    text = (tmp_path / "w.txt").read_text()
    assert len(trials) > 1 and text.count("\n") == 2 and "\tf16\t(a,b,c,d)\t" in text
    made = set()
    for t in trials:
        pick = "%(nest)d:%(kernel)s:%(order)s" % t
        (tmp_path / "w.txt").write_text(text[:text.rindex("\t") + 1] + pick + "\n")
        told = command("explain", "--from", case[0], "--to", case[1], "--shape", case[2], "--dtype", case[3])
        assert "nest %(nest)d by %(kernel)s, %(order)s, as tuned\n" % t in told
        made.add(emitted(tmp_path / "f.c", case))
        f = Function(built(tmp_path / "f.c", "gcc"), case)
        (tmp_path / "f.gcc.so").unlink()                 # the next is another file, which is not loaded already
        for v in values_of(case)[::3] + [(2, 37, 209, 207)]:
            f.assert_right(v, 16)
    assert len(made) > 1


def test_names_are_for_some_commands(tmp_path):
    for args in (("show", "NCHW"), ("index", "NCHW", "--at", "0"), ("table", "NCHW", "-o", str(tmp_path / "t.npy"))):
        assert "is for the --shape of emit, explain, verify, tune, and check" in command(*args, "--shape", "N,3,4,5", "--dtype", "u8", code=2)
    for bad in ("N,,3", "N-1,3,4,5", "N,3,4,", "é,1,1,1"):
        command("explain", "--from", "NCHW", "--to", "NHWC", "--shape", bad, "--dtype", "u8", code=2)


@pytest.mark.parametrize("shape, why", [("N ,C,H,W", "a name is a letter"), ("_,C,H,W", "a name is a letter"), ("1N,C,H,W", "numbers and names"),
                                        ("N,,3,4", "numbers and names"), ("N,3,4,", "numbers and names"), ("N,-3,4,5", "numbers and names")])
def test_shapes_that_are_no_list(shape, why):
    said = command("explain", "--from", "NCHW", "--to", "NHWC", "--shape", shape, "--dtype", "u8", code=2)
    assert "--shape '%s'" % shape in said and why in said


def test_verify_and_check():
    proofs = json.loads(command("verify", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "N,C,4,W", "--dtype", "f16", "--json"))
    assert proofs["answer"] == "yes" and [p["shape"] for p in proofs["proofs"]] == ["(N,C,4,W)"]*2
    assert all(p["every_residue"] and p["shapes"] > 20 and p["elements"] > 0 for p in proofs["proofs"])
    for proof in proofs["proofs"]:
        said = command("explain", "--from", proof["from"], "--to", proof["to"], "--shape", "N,C,4,W", "--dtype", "f16", "--processor", "here")
        assert "plan: %d nests" % proof["nests"] in said and proof["nests"] > 2, said
    assert "for every shape with C = 20" in command("check", "NC1HWC0", "--shape", "N,20,H,W", "--dtype", "f16")
    assert "never dense" in command("check", "NC1HWC0", "--shape", "N,20,H,W", "--dtype", "f16")
    assert "dense exactly when C is a multiple of 16" in command("check", "NC1HWC0", "--shape", "N,C,H,7", "--dtype", "f16")
    command("check", "{A//2, B}", "--shape", "A,7", code=1)


@pytest.mark.parametrize("a,b,shape,dtype", [
    ("ROW_MAJOR", "SW128", "M,64", "f16"),                             # a gather: its table at every shape
    ("(A){A}", "(A){A//8, A%8 ~ A//8%8, fill = 1}", "A", "u8"),        # padding ends within a block of a higher digit
    ("(A,B){A//8, B, A%8}", "(A,B){A, B, pad = {B = 8}}", "A,6", "u8"),
    ("(A,B){A, B}", "(A,B){A, B%8 ~ B//8%8, B//8}", "A,64", "u8"),
], ids=["gather", "higher digit", "padding follows", "gather of bytes"])
def test_plans_that_choose_as_numbers_do_are_proven(a, b, shape, dtype):
    assert command("verify", "--from", a, "--to", b, "--shape", shape, "--dtype", dtype).count("yes: ") == 2


@pytest.mark.parametrize("a,b,shape,dtype,kernel", [
    ("ROW_MAJOR", "AWQ", "K,256", "i4", "shuffle"),
    ("ROW_MAJOR", "AWQ", "K,24", "i4", "shuffle shuffle bits"),             # a chunk is 4 blocks, and one row has 3
    ("ROW_MAJOR", "AWQ", "K,8", "i4", "shuffle shuffle bits"),
    ("(A,B){A, B}", "(A,B){A, B//4, 1 - B%2, B//2%2}", "A,32", "u8", "shuffle shuffle"),
    ("(A,B){A, B}", "(A,B){A, B//16, B%4, B//4%4}", "A,160", "u2", "shuffle shuffle"),
], ids=["AWQ", "few blocks", "one block", "bytes", "2 bits"])
def test_tiles_in_a_fused_loop(a, b, shape, dtype, kernel):
    """The loop over the blocks of a row is fused with the loop over rows: its count depends on the shape and is a multiple of the blocks in a row.  Where that
    is less than a chunk, a nest with a smaller tile and one without a tile do the shapes with fewer iterations."""
    args = ["--from", a, "--to", b, "--shape", shape, "--dtype", dtype]
    assert " ".join(re.findall(r"^  \d\. (\w+) ", command("explain", *args), re.M)) == kernel
    assert command("verify", *args).count("yes: ") == 2


def test_one_name_for_two_extents(tmp_path):
    body = emitted(tmp_path / "f.c", ("ROW_MAJOR", "COL_MAJOR", "n,n", "f32"))
    assert "kern(void *dst, const void *src, int64_t n)" in body
    body = emitted(tmp_path / "g.c", ("(S,N){S, N}", "(S,N){N, S//4, S%4}", "S1,part", "f32"))
    assert "int64_t s1, int64_t part_" in body
    built(tmp_path / "g.c", "gcc")
