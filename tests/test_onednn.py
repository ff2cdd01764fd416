"""oneDNN as the second oracle: its reorders give the same bytes as ours, padding included."""

import re
import subprocess

import numpy as np
import pytest

import formulas as F
import ravel

SOURCE = ravel.ROOT / "tests" / "unit" / "dnnl_reorder.c"
SEED = 20240611
BITS = {"f32": 32, "bf16": 16, "s8": 8}
OURS = {"f32": "f32", "bf16": "bf16", "s8": "i8"}
SHAPES = {1: [(37,)], 2: [(70, 133), (1, 1), (64, 128), (13, 3)], 3: [(18, 35, 5), (1, 1, 1), (32, 64, 3)],
          4: [(3, 37, 5, 7), (1, 1, 1, 1), (33, 17, 3, 2), (16, 64, 4, 4)],
          5: [(3, 35, 2, 5, 7), (1, 1, 1, 1, 1), (17, 19, 3, 2, 2)], 6: [(2, 3, 17, 2, 5, 3), (3, 18, 5, 2, 2, 1)]}

# Our names for its tags; T: its tag is for the transposed matrix.
NAMED = [("NCHW", "abcd"), ("NHWC", "acdb"), ("CHWN", "bcda"), ("HWCN", "cdba"), ("NCHW4", "aBcd4b"), ("NCHW8", "aBcd8b"),
         ("NCHW16", "aBcd16b"), ("NCHW32", "aBcd32b"), ("NC1HWC0{C0=16}", "aBcd16b"), ("NCDHW", "abcde"), ("NDHWC", "acdeb"),
         ("ROW_MAJOR", "ab"), ("ROW_MAJOR", "abcdef"), ("COL_MAJOR", "ba"), ("BLOCKED_RR{BM=16, BN=16}", "AB16a16b"),
         ("BLOCKED_RR{BM=32, BN=32}", "AB32a32b"), ("BLOCKED_CR{BM=16, BN=16}", "BA16a16b"), ("BLOCKED_CR{BM=16, BN=64}", "BA16a64b"),
         ("AMX_B16", "BA16a64b2a"), ("AMX_B8", "BA16a64b4a")]


@pytest.fixture(scope="session")
def driver(tmp_path_factory, build):
    """The one that make builds, or one made here."""
    built = build / "tests" / "dnnl_reorder"
    if built.exists() and built.stat().st_mtime > SOURCE.stat().st_mtime:
        return str(built)
    exe = tmp_path_factory.mktemp("dnnl") / "dnnl_reorder"
    r = subprocess.run(["cc", "-O1", "-o", exe, SOURCE, "-ldnnl"], capture_output=True, text=True)
    if "dnnl.h: No such file" in r.stderr:
        pytest.skip("oneDNN is not installed: apt-get install libdnnl-dev")
    assert r.returncode == 0, r.stderr
    return str(exe)


def data(shape, dtype, rng):
    """Numbers, no NaN: oneDNN may change what is in one."""
    n = int(np.prod(shape))
    if dtype == "s8":
        return rng.integers(0, 256, n, np.uint8)
    f = rng.standard_normal(n).astype(np.float32)
    return (f if dtype == "f32" else (f.view(np.uint32) >> 16).astype(np.uint16)).view(np.uint8)


def ask(driver, jobs):
    """jobs: (tag, dtype, shape, raw) -> bytes of each, or None where oneDNN has no such thing."""
    text = b"".join(b"%s %s %s\n" % (t.encode(), d.encode(), ",".join(map(str, s)).encode()) + raw.tobytes() for t, d, s, raw in jobs)
    out = subprocess.run([driver], input=text, stdout=subprocess.PIPE, check=True).stdout
    answers, at = [], 0
    for _ in jobs:
        end = out.index(b"\n", at)
        n = int(out[at:end])
        answers.append(np.frombuffer(out, np.uint8, n, end + 1) if n else None)
        at = end + 1 + n
    assert at == len(out)
    return answers


def inline(tag):
    """aBcd8b -> (a,b,c,d){a, b//8, c, d, b%8}; several inner blocks of a dim are its digits, the last the lowest."""
    outer, inner = re.fullmatch(r"([a-fA-F]+)((?:\d+[a-f])*)", tag).groups()
    blocks = [(int(n), d) for n, d in re.findall(r"(\d+)([a-f])", inner)]
    low, parts = {}, []
    for n, d in reversed(blocks):
        of = d if low.get(d, 1) == 1 else "%s//%d" % (d, low[d])
        parts.append("%s%%%d" % (of, n))
        low[d] = low.get(d, 1)*n
    first = [d.lower() if d.islower() else "%s//%d" % (d.lower(), low[d.lower()]) for d in outer]
    assert all(d.islower() or d.lower() in low for d in outer)
    return "(%s){%s}" % (",".join(sorted(outer.lower())), ", ".join(first + parts[::-1]))


def rank(tag):
    return len(re.match("[a-fA-F]+", tag)[0])


def compare(cx, driver, pairs, shapes, rng):
    """Both sides of every (layout, tag); how many there were."""
    jobs = [(layout, tag, dtype, shape, data(shape, dtype, rng))
            for layout, tag in pairs for shape in shapes[rank(tag)] for dtype in BITS]
    answers = ask(driver, [j[1:] for j in jobs])
    for (layout, tag, dtype, shape, raw), want in zip(jobs, answers):
        if want is None:
            print("oneDNN has no reorder to %s of %s" % (tag, dtype))
            continue
        with cx.plan("ROW_MAJOR", layout, shape, OURS[dtype]) as p:
            got = p.run(raw)
        assert np.array_equal(got, want), "%s and %s of %s, %s" % (layout, tag, shape, dtype)
        with cx.plan(layout, "ROW_MAJOR", shape, OURS[dtype]) as p:
            assert np.array_equal(p.run(got), raw), "%s of %s, %s, back" % (layout, shape, dtype)
    return sum(a is not None for a in answers)


@pytest.mark.parametrize("layout, tag", NAMED)
def test_named(cx, driver, layout, tag):
    rng = np.random.default_rng(SEED)
    assert compare(cx, driver, [(layout, tag)], SHAPES, rng) == 3*len(SHAPES[rank(tag)])


@pytest.mark.parametrize("layout, tag", [("COL_INTERLEAVED{I=16}", "Abc16a"), ("COL_INTERLEAVED", "Abcd32a")])
def test_interleaved(cx, driver, layout, tag):
    """Blocks of columns in rows are blocks of rows of the transpose; oneDNN has that for more dims only, so they are 1."""
    rng = np.random.default_rng(SEED)
    compared = 0
    for R, C in [(5, 40), (64, 32), (1, 1), (33, 65)]:
        for dtype in BITS:
            raw = data((R, C), dtype, rng)
            turned = np.ascontiguousarray(raw.reshape(R, C, -1).transpose(1, 0, 2)).reshape(-1)
            [want] = ask(driver, [(tag, dtype, (C, R) + (1,)*(rank(tag) - 2), turned)])
            if want is not None:
                compared += 1
                with cx.plan("ROW_MAJOR", layout, (R, C), OURS[dtype]) as p:
                    assert np.array_equal(p.run(raw), want)
    if not compared:
        pytest.skip("this oneDNN has no tag " + tag)


def tags(driver):
    all_tags = subprocess.run([driver, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return [t for t in all_tags if re.fullmatch(r"[a-fA-F]+(\d+[a-f])*", t) and "undef" not in t]


@pytest.mark.parametrize("part", range(8))
def test_every_tag(cx, driver, part):
    """Each of its formats as an inline layout, for one shape each."""
    rng = np.random.default_rng([SEED, part])
    known = [t for t in tags(driver) if rank(t) <= 6]
    assert len(known) > 200
    mine = known[part::8]
    one = {r: [s[part % len(s)]] for r, s in SHAPES.items()}
    n = compare(cx, driver, [(inline(t), t) for t in mine], one, rng)
    print(n, "of", 3*len(mine))
    assert n > 2*len(mine)


def test_the_oracles_agree(driver):
    """The formula of formulas_bits.onednn and the library itself."""
    for layout, tag in [("AMX_B8", "BA16a64b4a"), ("AMX_B16", "BA16a64b2a"), ("NCHW16", "aBcd16b")]:
        shape = SHAPES[rank(tag)][0]
        raw = np.arange(np.prod(shape), dtype=np.uint32).astype(np.float32)
        [got] = ask(driver, [(tag, "f32", shape, raw.view(np.uint8))])
        assert np.array_equal(got.view(np.float32)[F.evaluate(layout, shape, 32).addr].reshape(-1), raw)
