"""What use and review have found, a case each, so that it stays found."""
import collections
import ctypes
import itertools
import json
import math
import os
import random
import re
import subprocess

import numpy as np
import pytest

import orders as O
import ravel

RAVEL = str(ravel.BUILD / "ravel")
AGAIN = "RAVEL_AGAIN" in os.environ                  # the slow build


def run(*args, code=0, data=None):
    r = subprocess.run([RAVEL, *args], capture_output=True, input=data, timeout=60)
    assert r.returncode == code, r.stderr.decode()
    return (r.stdout if code < 2 else r.stderr).decode(errors="replace")


@pytest.fixture(scope="module")
def cx():
    with ravel.Context() as c:
        yield c


@pytest.mark.parametrize("layout,shape", [
    ("(A,B,C){A~B~C, B, C}", (4, 4, 4)),                                    # several dims in one operand
    ("(C,H){(C+H)%7 | C//3, min(C,3), max(H,C)}", (2, 20)),
    ("(M,K){M, K//64, ((K//8%8) ~ (M%8))*8 + K%8}", (16, 128)),
    ("(M,K){((M-5) ~ (K-3))//3%7, M, K}", (8, 8)),                          # negative operands of xor
    ("(B,b1,b){B//2, b1, b//2, B%2, b%2}", (4, 2, 4)),                      # names alike but for case and level
    ("(unix,linux,typeof){typeof, unix//2, linux, unix%2}", (4, 4, 3)),     # names that compilers define
    ("(Y,X){" + ", ".join("%s[%d]" % (d, b) for b in range(7, -1, -1) for d in "YX") + "}", (200, 100)),
    ("(A,B,C,D,E,F,G,H){%s, %s, fill='edge'}" % (", ".join(d + "//2" for d in "ABCDEFGH"),
                                                 ", ".join(d + "%2" for d in "ABCDEFGH")), (3,) * 8),
    ("(A,B){B//4, A, B%2, (B//8 ~ B%8//2), B//8, pad={B=3}}", (7, 10)),
])
def test_verified_both_ways(cx, layout, shape):
    for bits in (8, 4):
        try:
            cx.table(layout, shape, bits)
        except ravel.Error as e:                # a digit stored twice is refused, whatever else
            assert "stored twice" in str(e)
            continue
        for pair in (("ROW_MAJOR", layout), (layout, "ROW_MAJOR")):
            with cx.plan(*pair, shape, bits) as plan:
                plan.verify()


@pytest.mark.parametrize("shape,bits", [((1537, 2048), 4)] + ([] if AGAIN else [((6146, 2048), 2)]))
def test_parts_that_meet_within_a_byte(cx, shape, bits):
    """Odd rows of small elements: the border of a tile lies inside a byte, which two threads wrote."""
    with cx.plan("(R,C){R, C}", "(R,C){C, R}", shape, bits) as plan:
        plan.verify()


def test_sixteen_ragged_dims(tmp_path):
    dims = "ABCDEFGHIJKLMNOP"
    layout = "(%s){%s, %s}" % (",".join(dims), ", ".join(d + "//2" for d in dims), ", ".join(d + "%2" for d in dims))
    run("emit", "--from", "ROW_MAJOR", "--to", layout, "--shape", ",".join(["3"] * 16), "--dtype", "u8",
        "-o", str(tmp_path / "f.c"))


@pytest.mark.parametrize("layout,says", [
    ("{C%16}", "with C up to 16"),
    ("{M, (K//8%8) ~ (M%8), K%8}", "with K up to 64"),
    ("{N, C//16, H, W, C%16}", "for every shape\n"),
])
def test_every_shape_says_how_far(layout, says):
    assert says in run("check", layout)


def test_every_shape_is_not_claimed_of_swizzles():
    assert "give --shape" in run("check", "{dims={M,K}, order={M,K}, swizzle=xor(3,4,3)}", code=1)


@pytest.mark.parametrize("swizzle,shape", [("((a%2) ~ (a>>1&1)) << 1", 4), ("a%4 ~ (a>>2) ~ ((a>>2)<<1)", 6)])
def test_swizzle_witnesses_are_true(swizzle, shape):
    out = run("check", "{A, swizzle=function(a) return %s end}" % swizzle, "--shape", str(shape), code=1)
    x, y, at = (int(w) for w in out.split("addresses ")[1].replace("and", "").replace("both go to", "").split()[:3])
    f = eval("lambda a: " + swizzle.replace("~", "^"))
    assert x != y and 0 <= x < shape and 0 <= y < shape and f(x) == f(y) == at


def test_pitch_by_entry_counts_order_not_dims(cx):
    """Entry 1 is C, whatever the batch dims behind it come to."""
    layout = "(..., C){C, ..., pitch = {[1] = 64}}"
    for shape in [(5,), (3, 5), (2, 3, 5)]:
        batch = int(np.prod(shape[:-1]))
        t = cx.table(layout, shape, 8)
        assert t[(0,) * (len(shape) - 1) + (1,)] == -(-batch // 64) * 64


@pytest.mark.parametrize("layout,shape,dtype", [("NCHW", (1, 3, 1, 4), "f32"), ("NC1HWC0", (1, 3, 1, 4), "f16"),
                                                ("{A}", (1,), "f32"), ("{B, A//2, A%2, pitch={[1]=4}}", (1, 1), "u8")])
def test_index_functions_with_extents_of_one(cx, layout, shape, dtype, tmp_path):
    where = dict(zip(cx.table(layout, shape, dtype).ravel().tolist(), itertools.product(*map(range, shape))))
    at = ["--to", layout, "--shape", ",".join(map(str, shape)), "--dtype", dtype]
    text = run("emit", "--kind", "offset", *at, "--name", "off", "-o", "-")
    text += run("emit", "--kind", "inverse", *at, "--name", "inv", "-o", "-")
    text += "int call(int64_t a, int64_t *x);\nint call(int64_t a, int64_t *x) { return inv(a, x); }\n"
    (tmp_path / "f.c").write_text(text)
    for compiler in ("gcc", "clang"):
        subprocess.run([compiler, *"-std=c99 -Wall -Wextra -Wconversion -Werror -shared -fPIC -o".split(),
                        tmp_path / "f.so", tmp_path / "f.c"], check=True)
    f = ctypes.CDLL(str(tmp_path / "f.so")).call
    f.argtypes = [ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)]
    x = (ctypes.c_int64 * len(shape))()
    for a in range(-3, 40):
        assert (tuple(x) if f(a, x) else None) == where.get(a)


def test_head_names_the_spec_file(tmp_path):
    (tmp_path / "my specs.lua").write_text('layout "P" { dims = { A }, order = { A // 2, A % 2 } }')
    text = run("emit", "--from", "ROW_MAJOR", "--to", str(tmp_path / "my specs.lua:P"), "--shape", "6", "--dtype", "u8",
               "-o", "-")
    command = text.splitlines()[0][len("/* ravel "):]
    again = subprocess.run(RAVEL + " " + command + " -o -", shell=True, capture_output=True, text=True)
    assert again.stdout == text


def test_npy_through_pipes(tmp_path):
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    np.save(tmp_path / "x.npy", x)
    r = subprocess.run([RAVEL, "convert", "-", "-", "--from", "ROW_MAJOR", "--to", "COL_MAJOR"],
                       input=(tmp_path / "x.npy").read_bytes(), capture_output=True)
    (tmp_path / "y.npy").write_bytes(r.stdout)
    assert np.array_equal(np.load(tmp_path / "y.npy"), x.transpose(2, 1, 0))


def test_a_dtype_that_is_not_the_files(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 3), "f4"))
    assert "holds f32" in run("convert", str(tmp_path / "x.npy"), str(tmp_path / "y.npy"), "--from", "ROW_MAJOR",
                              "--to", "COL_MAJOR", "--dtype", "i32", code=2)


def test_file_too_large_leaves_nothing(tmp_path):
    r = subprocess.run("ulimit -f 1; %s table ROW_MAJOR --shape 100,100 -o t.npy" % RAVEL, shell=True, cwd=tmp_path,
                       capture_output=True, text=True)
    assert r.returncode == 2 and "too large" in r.stderr and list(tmp_path.iterdir()) == []


def test_inverse_of_xors_that_do_not_give_way_one_by_one():
    layout = "{A//2,B//2,C//2,(A%2)~(B%2),(B%2)~(C%2),(A%2)~(B%2)~(C%2)}"
    at = ["--shape", "4096,4096,4096"]
    assert run("index", layout, *at, "--at", "68719476735", "--inverse") == "4094,4095,4094\n"
    assert run("index", layout, *at, "--at", "4094,4095,4094") == "68719476735\n"


@pytest.mark.skipif(AGAIN, reason="it spends a budget of work, which takes seconds on the slow build")
def test_inverse_without_a_closed_form_does_not_walk_for_ever():
    assert "no inverse in closed form" in run(
        "index", "{A, B, swizzle=function(a) return a//64*64 + (a+7)%64 end}", "--shape", "4096,2048",
        "--at", "8388600", "--inverse", code=2)


@pytest.mark.parametrize("text,says", [
    ("{A*2147483647*2147483647*4}", "(inline):1:"), ("{A, fill=3}", None),
    ("{os.exit(1)}", "'os' is a library of Lua; a spec has none"), ("{A, C0=0.5}", "'C0' is 0.5"), ("{A, unit='bytes'}", "no swizzle"),
    ("{A//P, A%P, P=function(b) return nosuch(b) end}", "'nosuch' is not a function"),
    ("x.lua", "x.lua:NAME"), ("{A//3, A%3, fill=9007199254740995}", "2^53"),
])
def test_messages(text, says):
    out = run("check", text, "--shape", "4", "--dtype", "f32", code=2 if says else 0)
    assert not says or says in out


FILLS = [("{M//16, K//16, (K+M)%16, M%16, fill = 200}", (n, k)) for n, k in ((10, 10), (20, 20), (40, 25))] + [
    ("{M//16, K//16, (K + M%16)%16, M%16, fill = 200}", (20, 7)), ("{M//16, (3*M + K)%16, M%16, K//16, fill = 5}", (20, 20)),
    ("{M//4, K//8, (K + 2*M) & 7, M%4, fill = 200}", (5, 13)), ("{(K + M)%16, M, fill = 3}", (5, 9)),
    ("{M//8, K//8, ((K ~ M) + 3)%8, M%8, fill = 3}", (5, 9)), ("{M//8, K//8, (2*K + M)//2%8, M%8, K%8, fill = 3}", (5, 9)),
    ("{M, (K//8%6) ~ (M%8), K%8, fill = 1}", (8, 48)), ("(M,K){6*(M//4) + M%4, K, fill = 0}", (7, 3)),
    ('(M,K){6*(M//4) + M%4, K, fill = "edge"}', (7, 3)), ("(Y,X){9*Y + X, fill = 0}", (3, 4)),
    ('{M//4, K, M%4, pitch = {K = 64}, fill = 3}', (6, 5)), ('{M//4, K + 8*(M%4), pitch = {[2] = 7}, fill = 3}', (6, 5)),
    ("{A%7, A%3, B//4, B%4, fill = 9}", (9, 6))]


@pytest.mark.parametrize("layout,shape", FILLS)
def test_a_declared_fill_fills_or_is_refused(cx, layout, shape):
    """Slots that are no element hold it, but for what a pitch leaves; or there is no plan, and none without the fill is refused."""
    t = O.inline(layout).box(shape, 8)
    slots = np.zeros(t[-1], bool)                        # those that some value of every entry goes to
    slots[sum(np.arange(n).reshape([-1] + [1]*i)*s for i, (n, s) in enumerate(zip(reversed(t[4]), reversed(t[5]))))] = True
    data = np.arange(100, 100 + np.prod(shape), dtype=np.uint8)
    rows = "(%s){%s}" % ((",".join(O.inline(layout).dims),)*2)
    try:
        plan = cx.plan(rows, layout, shape, 8)
    except ravel.Error as e:
        assert "no coordinate goes there; write fill = \"none\"" in str(e)
        assert "unfilled" in run("check", layout, "-s", ",".join(map(str, shape)), "-d", "u8", "--json")
        for fill in ("", ', fill = "none"'):
            with cx.plan(rows, layout[:layout.index(", fill")] + fill + "}", shape, 8) as plan:
                plan.verify()
        return
    with plan:
        plan.verify()
        got = plan.run(data)
    empty = slots.copy()
    empty[cx.table(layout, shape, 8).reshape(-1)] = False
    assert "edge" not in layout and (got[empty] == int(layout.split("fill = ")[1].strip("}"))).all()


def test_both_ways_with_a_fill_are_seen(cx):
    """Of the layouts above some are filled, some refused."""
    refused = ["unfilled" in run("check", layout, "-s", ",".join(map(str, shape)), "-d", "u8", "--json") for layout, shape in FILLS]
    assert 3 <= sum(refused) <= len(FILLS) - 8


@pytest.mark.parametrize("to,code", [("(M,K){6*(M//4) + M%4, K, fill = 5}", 2), ("(M,K){6*(M//4) + M%4, K}", 0),
                                     ('(M,K){6*(M//4) + M%4, K, fill = "edge"}', 2), ("(M,K){M//4, K, M%4, fill = 5}", 0)])
def test_a_declared_fill_at_run_time(to, code):
    text = run("emit", "--from", "{M, K}", "--to", to, "-s", "M,5", "-d", "u8", "-o", "-", code=code)
    assert code == 0 or "cannot be written to, already at shape 8,5: it declares fill" in text


def test_a_declared_fill_reads_back():
    """fill = 0 says more than no fill."""
    assert "fill = 0}" in run("emit", "--from", "{M}", "--to", "{M//4, M%4, fill = 0}", "-s", "6", "-d", "u8", "-o", "-")
    assert "fill" not in run("emit", "--from", "{M}", "--to", "{M//4, M%4}", "-s", "6", "-d", "u8", "-o", "-").split("*/")[0]


@pytest.mark.parametrize("layout,shape,says", [
    ("(Y,X){Y, X + Y%2*(12 - 2*X)}", "4,15", "order[2], 'X + Y%2*(12 - 2*X)', can be negative (-2 at Y = 1, X = 14)"),
    ("(Y,X){Y - X, X}", "4,15", "can be negative (-14 at Y = 0, X = 14)"),
    ("(Y,X){Y, 14 - X, pad = {X = 32}}", "4,15", "can be negative (-17 at X = 31, in the padding)"),
    ("(Y,X){Y - X, X}", "40000,1500", "can be negative (-1499 at Y = 0, X = 1499)"),
    ("(Y,X){2*Y - Y%3, X}", "40000,5", "'2*Y - Y%3', is not known to be 0 or more for every coordinate (at least -2)")])
def test_what_is_negative_is_shown(layout, shape, says):
    assert says in run("check", layout, "-s", shape, code=2)


def strided(rng):
    """Rows a stride apart, perhaps padded, with a swizzle that fits the storage or does not."""
    shape = rng.randrange(1, 8), rng.randrange(1, 20)
    row = shape[1] + rng.randrange(12)
    order = rng.choice(["%d*A + B" % row, "A, B", "A//2, B, A%2", "A%4, B, A//4"])
    pad = rng.choice(["", "", ", pad = {A = 4}", ", pad = {B = 8}"])
    n, m, s = rng.randrange(1, 4), rng.randrange(4), rng.randrange(1, 5)
    swizzle = "xor(%d, %d, %d)" % (n, m, max(n, s)*rng.choice([1, -1])) if rng.random() < 0.8 else \
        "function(a) return (3*a + %d) %% %d end" % (rng.randrange(9), 1 << rng.randrange(4, 9))
    return "(A,B){%s%s, swizzle = %s}" % (order, pad, swizzle), shape


def test_swizzles_of_storage_that_is_no_whole_blocks(cx):
    """A layout is taken where every element's new address lies in its storage, and another element's nowhere."""
    rng, seen = random.Random(1101), collections.Counter()
    print("seed 1101")
    for _ in range(100 if AGAIN else 400):
        layout, shape = strided(rng)
        print(layout, shape)
        x = O.inline(layout)
        size = x.box(shape, 8)[-1]
        whole = O.tells_apart(x.map(np.arange(size), 8), size)
        try:
            want = x.place(shape, 8)
        except O.Refused:
            with pytest.raises(ravel.Error, match="takes address|one-to-one"):
                cx.plan("(A,B){A, B}", layout, shape, 8)
            seen["refused"] += 1
            continue
        assert np.array_equal(cx.table(layout, shape, 8).reshape(-1), want.addr.reshape(-1))
        j = json.loads(run("check", layout, "-s", "%d,%d" % shape, "-d", "u8", "--json"))
        assert j["elements"] + j["padding"] + j["holes"] == size and ("*A" in layout or j["padding"] == want.pad.size)
        for pair in (("(A,B){A, B}", layout), (layout, "(A,B){B, A}"))[:1 if AGAIN else 2]:
            with cx.plan(*pair, shape, 8) as plan:
                plan.verify()
        seen["whole" if whole else "not whole"] += 1
        seen["inverse"] += "inverse" in j and not whole
    print(dict(seen))
    assert min(seen[k] for k in ("refused", "whole", "not whole", "inverse")) > (4 if AGAIN else 20), seen


@pytest.mark.parametrize("shape, bits", [((60, 63), (3, 4, 3)), ((7, 33), (3, 4, 3)), ((10, 48), (3, 3, 3)), ((3, 5, 7), (2, 1, 2)), ((1, 1099), (4, 2, 5))])
def test_the_pad_that_a_message_advises(shape, bits):
    """Pasted into the layout it fits, and no powers of two for one dim or two have a smaller storage of whole blocks."""
    dims, at = "ABC"[:len(shape)], ["-s", ",".join(map(str, shape)), "-d", "u8"]
    layout = "{%s, swizzle = xor(%d,%d,%d)" % (",".join(dims), *bits)
    said = run("check", layout + "}", *at, code=1)
    block, advice = int(re.search(r"blocks of (\d+)", said).group(1)), re.search(r", as by (pad = \{.*\})$", said, re.M).group(1)
    text = run("check", "%s, %s}" % (layout, advice), *at)
    slots = int(re.search(r"elements in (\d+) \(", text).group(1))
    pads = [2 ** k for k in range(1, block.bit_length())]
    trials = [{d: p} for d in range(len(dims)) for p in pads] + [{c: p, d: q} for d in range(len(dims)) for c in range(d) for p in pads for q in pads]
    sizes = [math.prod(-(-n // t.get(d, 1)) * t.get(d, 1) for d, n in enumerate(shape)) for t in trials]
    assert slots == min(n for n in sizes if n % block == 0)


@pytest.mark.parametrize("layout,shape,says", [
    ("(A,B){0*A + B, swizzle = xor(1,0,1), view = true}", "4,3", "address 2 to 3, outside the 3 elements of storage; pad the dims"),
    ("(A,B){A, B, swizzle = xor(3,3,3)}", "10,48", "whole number of its blocks of 512, as by pad = {A = 8, B = 32}"),
    ("(A,B){0*A + B, swizzle = xor(1,0,1), view = true}", "4,4", None), ("(A,B){A, B, swizzle = function(a) return a//2 end, view = true}", "3,5", None)])
def test_a_view_with_a_swizzle(cx, layout, shape, says):
    """It is read where its elements are in storage, and told why not where they are not."""
    n = tuple(map(int, shape.split(",")))
    if says:
        text = run("table", layout, "-s", shape, "-d", "u8", "-o", "-", code=2)
        assert says in text and "is a view" not in text and "both at" not in text
        assert "usable as --from" not in run("check", layout, "-s", shape, code=1)
        with pytest.raises(ravel.Error, match="takes address"):
            cx.table(layout, n, 8)
        return
    assert "usable as --from" in run("check", layout, "-s", shape, code=1)
    with cx.plan(layout, "(A,B){A, B}", n, 8) as plan:
        plan.verify()


@pytest.mark.parametrize("args,says", [
    (("check", "{M^2, K}", "-s", "4,4"), "'^' is not for indices"),
    (("check", "{M, K, swizzle = function(a) return a ~ b end}", "-s", "4,4"), "unknown name 'b'; known here: a"),
    (("index", "(M,K){K, view = true}", "-s", "4,4", "--at", "1", "--inverse"), "is a view that has no inverse"),
    (("emit", "--kind", "inverse", "--to", "(M,K){K, view = true}", "-s", "4,4", "-d", "u8", "-o", "-"), "is a view that has no inverse"),
    (("emit", "--from", "{M, K}", "--to", "{M, K, N}", "-s", "4,4", "-d", "u8", "-o", "-"), "has dims (M, K, N), the shape has 2 extents"),
    (("emit", "--from", "{M, K}", "--to", "{M, K, N}", "-s", "A,4", "-d", "u8", "-o", "-"), "has dims (M, K, N), the shape has 2 extents")])
def test_the_right_reason(args, says):
    assert says in run(*args, code=2)


@pytest.mark.skipif(AGAIN, reason="proofs of more than 1 MB, which the plain build makes")
@pytest.mark.parametrize("pair", [("(B,M,K){K, M, B}", "(B,M,K){(M%32) ~ (K%2), B, K//2, K%2}", "3000,32,23", "u4"),
                                  ("ROW_MAJOR", "(M,K){M//8, (M%8) ~ (K%8), K//8, K%8}", "2801,3007", "u1")], ids=lambda p: p[3])
def test_a_byte_belongs_to_one_thread(pair):
    """Its parts are far apart in the loops where a xor selects the byte by a digit within it."""
    a, b, shape, dtype = pair
    assert "no byte is written by two parts" in run("verify", "--from", a, "--to", b, "--shape", shape, "--dtype", dtype)


@pytest.mark.parametrize("src,dst,shape,dtype", [
    ("(A,B,C){B,C,A}", "(A,B,C){C, A//16, A%16, B//32, B%32}", "30,2,4", "f32"),
    ("(A,B,C,X){A,C,B,X}(5,31,2,3)[:,:,:,0]", "(A,B,C){A, B//2, B%2, C//32, C%32}", "5,31,2", "u8"),
    ("(A,B,C,X){B,C,A,X}(6,13,12,3)[:,:,:,0]", "(A,B,C){B//3, B%3, A//3, A%3, C//64, C%64}", "6,13,12", "u8"),
    ("(A,B,C,X){B,A,C,X}(13,3,16,3)[:,:,::-1,0]", "(A,B,C){C//16, B//16, C%16, A%8, A//8, B%16}", "13,3,16", "f32"),
    ("(A,B,C){C,B,A}", "(A,B,C){A//64, C%5, B, C//5, A%64}", "4,33,15", "u8"),
    ("(A,B,C){B%16, C%2, A%16, B//16, A//16, C//2}", "(A,B,C){C//4, C%4, B//8, B%8, A//2, A%2}", "32,31,16", "u2"),
    ("CXRSKX", "ROW_MAJOR", "48,64,3,1", "u8")])
def test_tiles_that_a_table_repeats(src, dst, shape, dtype):
    """With padding in the tile; where rows or columns of a call have no loop."""
    run("verify", "--from", src, "--to", dst, "--shape", shape, "--dtype", dtype)
