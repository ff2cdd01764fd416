"""The harness of bench/ and of `ravel bench`: what it measures is right, what is wrong is told; no test looks at how long anything takes."""

import ctypes as ct
import json
import os
import subprocess
import sys
import xml.dom.minidom

import numpy as np
import pytest

import ravel

sys.path.insert(0, str(ravel.ROOT / "bench"))
import bench            # noqa: E402
import cases            # noqa: E402
import drawn            # noqa: E402
import libs             # noqa: E402
import peers            # noqa: E402
import plain            # noqa: E402
import report           # noqa: E402

RAVEL = str(ravel.BUILD / "ravel")
CASES = cases.every()
TINY = 3000
SEED = 20240611


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The build folder with the C part in it; one process at a time makes it."""
    import fcntl
    with open(ravel.BUILD / "bench.lock.tmp", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", "bench-build", "B=%s" % ravel.BUILD], cwd=ravel.ROOT, check=True)
    return ravel.BUILD


@pytest.fixture(scope="module")
def lib(built):
    return libs.Libraries(built)


def driver(built, tmp_path, *args, env={}):
    """Exit code, standard output and the JSON of a run on tiny shapes."""
    out = tmp_path / "b.json"
    r = subprocess.run([sys.executable, ravel.ROOT / "bench/bench.py", "--build", built, "--json", out, "--svg", tmp_path / "b.svg",
                        "--scale", str(TINY), "--rounds", "2", "--sample", "1", "--threads", "1", *args],
                       capture_output=True, text=True, env=dict(os.environ, **env), timeout=300)
    assert out.exists(), r
    return r.returncode, r.stdout + r.stderr, json.loads(out.read_text())


# --- the lists

def test_lists():
    assert len({c.name for c in CASES}) == len(CASES)
    count = {g: sum(g in c.groups for c in CASES) for c in CASES for g in c.groups}
    assert count["headline"] == 16 and count["ttc"] == 57 and count["narrow"] == 6
    sizes = [c.elements*c.bits//8 for c in CASES if "cache" in c.groups]
    assert min(sizes) == 4096 and max(sizes) == 4 << 20
    assert all(c.dtype == "f32" for c in CASES if "headline" in c.groups)


@pytest.mark.parametrize("c", CASES, ids=lambda c: c.name)
def test_case_is_right_when_small(cx, c):
    """ravel's result and the strides that the peers get, by the index tables of both layouts."""
    c = cases.scaled(c, TINY)
    to, at = (cx.table(x, c.shape, c.dtype) for x in (c.dst, c.src))
    rng = np.random.default_rng(SEED)
    with cx.plan(c.src, c.dst, c.shape, c.dtype) as p:
        raw = rng.integers(0, 256, p.src_bytes, np.uint8)
        el = ravel.unpack(raw, c.bits)
        want = np.zeros(p.dst_bytes*8//c.bits, el.dtype)
        want[to.reshape(-1)] = el[at.reshape(-1)]
        assert np.array_equal(p.run(raw), ravel.pack(want, c.bits))
    nest = cases.nest(c)
    if nest and c.bits >= 8:
        shape, i, o = zip(*nest)
        got = np.zeros_like(want)
        s = el.itemsize
        np.lib.stride_tricks.as_strided(got, shape, [s*x for x in o])[...] = np.lib.stride_tricks.as_strided(el, shape, [s*x for x in i])
        assert np.array_equal(got, want)


def test_ttc_is_column_major(cx):
    for (perm, sizes, *_), c in zip(cases.rows("ttc.txt"), [c for c in CASES if "ttc" in c.groups]):
        c = cases.scaled(c, TINY)
        a = np.arange(c.elements, dtype="u4").reshape(c.shape[::-1], order="F")
        with cx.plan(c.src, c.dst, c.shape, "u32") as p:
            got = p.run(a.ravel("F").view(np.uint8)).view("u4")
        assert np.array_equal(got, a.transpose(cases.numbers(perm)).ravel("F")), c.name


@pytest.mark.parametrize("tag", "ab ba acdb aBcd16b ABcd16b16a ABcd8b16a2b AcdB8a2b BAcd16b16a ABcd32a32b ABcde2a8b16a2b".split())
def test_tags_go_both_ways(tag):
    assert cases.tag(cases.of_tag(tag)) == tag


def test_what_is_no_strided_copy_has_no_strides():
    by = {c.name: cases.nest(c) for c in CASES}
    assert by["nchw-nChw16c C=71 f32"] is None and by["blocks of 48-32 f32"] is None
    assert by["nchw-nhwc f32"] == [(64, 802816, 802816), (12544, 1, 64), (64, 12544, 1)]


# --- drawn cases

def test_drawing_is_by_the_seed():
    all_ = drawn.every(7)
    assert all_ == drawn.every(7) and all_ != drawn.every(8)
    count = {g: sum(c.groups == [g] for c in all_) for g in drawn.GROUPS}
    assert count["random"] == 200 and count["pairs"] == 100 and count["models"] == len(drawn.RECORDED) > 400
    assert min(count.values()) >= 60 and len({c.name for c in all_}) == len(all_)
    few = drawn.every(7, quick=True)
    assert len(few) == 16*len(drawn.GROUPS) and all(c in all_ for c in few)
    assert drawn.every(7, ["tiles"]) == [c for c in all_ if c.groups == ["tiles"]]


def test_drawn_permutations_and_sizes():
    c = [c for c in drawn.every(SEED) if c.groups == ["random"]]
    assert {x.dtype for x in c} == {"u4", "u8", "f16", "f32", "f64", "c128"} and {len(x.shape) for x in c} == {2, 3, 4, 5, 6}
    sizes = [x.elements*x.bits/8 for x in c]
    assert max(sizes) <= 64 << 20 and min(sizes) > 16 << 10 and sum(s > 1 << 20 for s in sizes) > 80 < sum(s < 4 << 20 for s in sizes)
    extents = [n for x in c for n in x.shape]
    assert sum(n < 8 for n in extents) > 100 < sum(n > 64 for n in extents)
    assert all(c.elements*c.bits <= (4 << 20)*8 for c in drawn.every(SEED, ["cache"]))


def test_written_out_is_the_catalogue(cx):
    for name, text in drawn.WRITTEN.items():
        assert np.array_equal(cx.table(name, (2, 71, 5, 3), "f32"), cx.table(text, (2, 71, 5, 3), "f32"))


@pytest.mark.parametrize("group", drawn.GROUPS)
@pytest.mark.parametrize("seed", [1, SEED])
def test_drawn_cases_are_right_when_small(cx, tmp_path, seed, group):
    """ravel's elements by the index tables of both layouts; the plain loops' bytes by ravel's."""
    text, runs = [], []
    rng = np.random.default_rng(SEED)
    for k, c in enumerate(drawn.every(seed, [group], quick=True, limit=TINY)):
        to, at = (cx.table(x, c.shape, c.dtype).reshape(-1) for x in (c.dst, c.src))
        with cx.plan(c.src, c.dst, c.shape, c.dtype) as p:
            raw = rng.integers(0, 256, p.src_bytes, np.uint8)
            out = p.run(raw).copy()
        assert np.array_equal(ravel.unpack(out, c.bits)[to], ravel.unpack(raw, c.bits)[at]), c
        text.append(plain.source(c, *plain.explained(ravel.BUILD, c)[:2], "plain%d" % k))
        runs.append((c, raw, out))
    (tmp_path / "p.c").write_text("".join(text))
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", tmp_path / "p.so", tmp_path / "p.c"], check=True)
    so = ct.CDLL(str(tmp_path / "p.so"))
    for k, (c, raw, out) in enumerate(runs):
        src, dst = ravel.Guarded(raw.size, 0), ravel.Guarded(out.size, 0)
        src.body[:] = raw
        getattr(so, "plain%d" % k)(ct.c_void_p(dst.body.ctypes.data), ct.c_void_p(src.body.ctypes.data))
        assert dst.intact() and np.array_equal(dst.body, out), c


@pytest.mark.parametrize("c", CASES, ids=lambda c: c.name)
def test_loops_are_the_strides_of_the_text(c):
    """Two ways to the loops of a strided copy: what ravel explains, and the layouts' text."""
    c = cases.scaled(c, TINY)
    assert plain.forward(plain.loops(c, *plain.explained(ravel.BUILD, c)[:2])) == cases.nest(c)


def test_a_plain_loop_as_text(tmp_path):
    c = cases.Case("", [], "u4", (6, 10), "(R,C){R, C}", "(R,C){C, R}")
    text = plain.source(c, *plain.explained(ravel.BUILD, c)[:2])
    assert "for (long i0 = 0; i0 < 10; i0++)" in text and "for (long i1 = 0; i1 < 3; i1++)" in text
    c = cases.Case("", [], "f32", (6, 20), "(R,C){R, C}", "(R,C){C//16, R, C%16}")
    assert "if (x1 < 20) d[96*(x1/16) + 16*x0 + x1%16] = s[20*x0 + x1];" in plain.source(c, *plain.explained(ravel.BUILD, c)[:2])
    with pytest.raises(plain.NoLoop):
        c = cases.Case("", [], "u8", (6,), "{A}", "(A){A%2, A%3}")
        plain.source(c, *plain.explained(ravel.BUILD, c)[:2])


# --- the measuring core

def spread(lib, v, base=None):
    d = [(ct.c_double*len(x))(*x) for x in (v, base or [])]
    s = lib.bench.measure_ratio(d[0], d[1], len(v)) if base else lib.bench.measure_spread(d[0], len(v))
    return s.median, s.low, s.high, s.n


def test_spread(lib):
    assert spread(lib, [3, 1, 2]) == (2, 1, 3, 3)
    assert spread(lib, [4, -1, 1, 2, -1, 3]) == (2.5, 1, 4, 4)
    assert spread(lib, list(range(10))) == (4.5, 1, 8, 10)
    assert spread(lib, [-1, -1]) == (-1, -1, -1, 0)
    assert spread(lib, [2, 9, 8, -1], [1, 3, 2, 1]) == (3, 2, 4, 3)


def measured(takes, called, name):
    """A thing whose call takes so many nanoseconds, by its own account."""
    def timer(_, calls):
        called.append((name, calls))
        return takes*calls
    f = libs.TIME(timer)
    return libs.Measured(libs.address(f), None, None, 1, 1, (ct.c_double*9)()), f


def test_calls_fill_a_sample(lib):
    for takes, base, calls, every in [(100, 0, 20000, 1), (3_000_000, 0, 1, 1), (100, 100, 20000, 1), (900, 100, 2222, 3),
                                      (3999, 100, 500, 3), (4001, 100, 499, 2**31 - 1)]:
        m, keep = measured(takes, [], "")
        lib.bench.measure_calls(ct.byref(m), 2_000_000, base, 8)
        assert (m.calls, m.every) == (calls, every)


def test_all_take_turns(lib):
    called, keep = [], []
    m = (libs.Measured*3)()
    for k, name in enumerate("abc"):
        m[k], f = measured((k + 1)*100, called, name)
        keep.append((f, m[k].ns))
    m[1].every, m[2].calls = 2, 5
    lib.bench.measure_rounds(m, 3, 3, libs.Ready(0, 0))
    assert called == [(n, 5 if n == "c" else 1) for n in "abc" "ca" "cab"]
    assert [list(x.ns[:3]) for x in m] == [[100]*3, [200, -1, 200], [300]*3]
    del called[:]
    lib.bench.measure_rounds(m, 1, 1, libs.Ready(0, 2))
    assert called == [("a", 2), ("a", 1)]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_copies_copy(lib, kind, threads):
    rng = np.random.default_rng(SEED)
    for n, shift in [(1, 0), (63, 1), (64*7, 0), (1000, 3), (100003, 60)]:
        src, dst = rng.integers(0, 256, n, np.uint8), ravel.Guarded(n, shift)
        c = lib.bench.copier_new(kind, dst.body.ctypes.data, src.ctypes.data, n, threads)
        time = libs.TIME(libs.address(lib.bench.copier_time))
        for _ in range(3):
            dst.body[:] = 0
            assert time(c, 2) >= 0
            assert np.array_equal(dst.body, src) and dst.intact()
        lib.bench.copier_free(c)


def test_pages(lib):
    for n in (1, 4096, (2 << 20) + 1):
        p = libs.Pages(lib, n)
        assert p.at % (2 << 20) == 0 and not p.bytes.any()
        p.bytes[:] = 1
        p.free()


def test_floats_that_are_filled_in_are_normal(lib):
    p = libs.Pages(lib, 1 << 16)
    lib.bench.bench_fill(p.at, p.n, 1)
    h = p.bytes.view("u2")
    assert ((h >> 10 & 31) % 31 != 0).all() and ((h >> 7 & 255) % 255 != 0).all() and len(set(h.tolist())) > 10000
    p.free()


# --- the whole

SPREAD = {"median", "low", "high"}


def check_result(r):
    assert r["state"] in ("ok", "wrong", "absent") and r["threads"] == 1 and isinstance(r["name"], str)
    if r["state"] == "ok":
        assert r["rounds"] >= 1 and r["calls"] >= 1
        assert all(r[k]["low"] <= r[k]["median"] <= r[k]["high"] for k in ("ns", "memcpy"))
        assert r["name"] != "memcpy" or r["memcpy"] == dict.fromkeys(SPREAD, 1)
    else:
        assert r["why"] and not SPREAD & set(r) and "memcpy" not in r


def test_everybody_is_right(built, tmp_path):
    code, text, j = driver(built, tmp_path, "--quick")
    assert code == 0, text
    assert set(j) == {"machine", "settings", "cases", "summary"}
    assert {g for c in j["cases"] for g in c["groups"]} == {g for c in CASES for g in c.groups}
    for c in j["cases"]:
        assert c["state"] == "measured" and set(c["plan_ns"]) == {"first", "again"}, c
        names = [r["name"] for r in c["results"]]
        assert names[:4] == ["memcpy", "ntcopy", "ravel", "ravel gcc"] and len(set(names)) == len(names)
        for r in c["results"]:
            check_result(r)
            assert r["state"] != "wrong", (c["name"], r)
            assert r["state"] == "ok" or r["why"] in text
    assert set(j["summary"]["groups"]) == {g for c in CASES for g in c.groups}


def test_what_is_wrong_has_no_ratio(built, tmp_path):
    """Our own code with one bit flipped after each call."""
    code, text, j = driver(built, tmp_path, "--only", "cache 2D f32 16K|pairs of rows", env={"RAVEL_BENCH_PLANT": "wrong"})
    assert code == 1 and "WRONG: ravel: byte " in text and "bench: wrong: " in text
    for c in j["cases"]:
        [r] = [r for r in c["results"] if r["name"] == "ravel"]
        assert r["state"] == "wrong" and r["why"].startswith("byte ")
        assert not {"ns", "memcpy", "best_peer"} & set(r)
        assert [r["state"] for r in c["results"] if r["name"] == "ravel gcc"] == ["ok"]
    assert all(s["1"] == {"cases": 0, "refused": 0} for s in j["summary"]["groups"].values())


def test_drawn_cases_are_measured(built, tmp_path):
    code, text, j = driver(built, tmp_path, "--seed", "3", "--groups", "packed,pixels", "--quick")
    assert code == 0 and "seed 3: 32 cases" in text and j["settings"]["seed"] == 3, text
    assert set(j["summary"]["groups"]) == {"packed", "pixels"}
    for c in j["cases"]:
        names = [r["name"] for r in c["results"]]
        assert names[:3] == ["memcpy", "ntcopy", "ravel"] and names[-1] == "plain loop" and c["kernels"]
        for r in c["results"]:
            check_result(r)
            assert r["state"] != "wrong", (c["name"], r)
        assert [r["state"] for r in c["results"] if r["name"] == "plain loop"] == ["ok"]
    worst = j["summary"]["groups"]["packed"]["1"]["worst_case"]
    assert "%7.2f" % worst["ratio"] in text and worst["name"] in [c["name"] for c in j["cases"]]


def test_groups_that_are_not_there():
    for args in (["--groups", "ttc"], ["--cases", "random"], ["--cases", "ttc", "--seed", "1"]):
        with pytest.raises(SystemExit):
            bench.arguments(args)
    assert bench.arguments(["--groups", "tiles"]).seed == 1 and bench.arguments([]).seed is None


STAND_IN = """
#define F(name, T, ...) void name(const int *perm, int dim, __VA_ARGS__ const T *a, const int *size, const int *oa, Z b, T *d, \
                                  const int *ob, int threads, int rows) \
{ \
    long step[16], n = 1; \
    for (int k = dim - 1; k >= 0; k--) { step[k] = n; n *= size[k]; } \
    for (long i = 0; i < n; i++) { \
        long at = 0, left = i; \
        for (int k = dim - 1; k >= 0; k--) { at += left % size[perm[k]]*step[perm[k]]; left /= size[perm[k]]; } \
        d[i] = a[at]; \
    } \
}
typedef float Z;
F(sTensorTranspose, float, float alpha,)
#define Z double _Complex
F(zTensorTranspose, double _Complex, double _Complex alpha, int conj,)
"""


def test_hptt_is_called(lib, tmp_path, monkeypatch):
    """By a stand-in with its functions for C."""
    (tmp_path / "h.c").write_text(STAND_IN)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "h.so", tmp_path / "h.c"], check=True)
    for dtype in ("f32", "c128", "u8"):
        j = bench.Job(lib, cases.Case("", ["random"], dtype, (3, 4, 5, 6), "(a,b,c,d){a,b,c,d}", "(a,b,c,d){c,a,d,b}"))
        monkeypatch.delenv("HPTT_LIBRARY", raising=False)
        with pytest.raises(peers.Absent, match="HPTT_LIBRARY"):
            peers.hptt(j)
        monkeypatch.setenv("HPTT_LIBRARY", str(tmp_path / "h.so"))
        if dtype == "u8":
            with pytest.raises(peers.Absent, match="type"):
                peers.hptt(j)
        else:
            assert j.wrong(peers.hptt(j)) is None
        j.free()


def test_without_a_compiler(lib, monkeypatch):
    """Two candidates are absent, with the reason; the others are measured."""
    monkeypatch.setenv("PATH", "/nowhere")
    j = bench.Job(lib, cases.Case("", ["random"], "f32", (3, 4, 5, 6), "(a,b,c,d){a,b,c,d}", "(a,b,c,d){c,a,d,b}"))
    for candidate in (peers.emitted, peers.loop):
        with pytest.raises(peers.Absent, match="gcc is not here: apt-get install gcc"):
            candidate(j)
    assert j.wrong(peers.ours(j)) is None
    j.free()


def test_opencv_is_called(lib):
    pytest.importorskip("cv2")
    kinds = set()
    for c in drawn.every(5, ["pixels"], limit=TINY):
        j = bench.Job(lib, c)
        try:
            assert j.wrong(peers.opencv(j)) is None, c
            kinds.add(c.kind)
        except peers.Absent:
            assert c.kind.startswith("24-bit")
        j.free()
    assert set(peers.MIXED) | set(peers.COLOURS) <= kinds | {"byte swap 2", "byte swap 4", "byte swap 8"}


def test_gaps_are_not_compared(lib):
    """The nibbles between rows of whole bytes may hold anything; padding may not."""
    j = bench.Job(lib, cases.Case("", [], "u4", (3, 5), "(R,C){R, C}", "INT4_LOW"))
    assert j.held.tolist() == [255, 255, 15]*3
    j.free()
    j = bench.Job(lib, cases.Case("", [], "u1", (3, 5), "(R,C){R, C}", "(R,C){C, R}"))
    assert j.held.tolist() == [255, 127]
    j.free()
    j = bench.Job(lib, cases.Case("", [], "u8", (3, 5), "(R,C){R, C}", "(R,C){C//4, R, C%4, fill = 9}"))
    assert j.held is None and (j.want.bytes[:j.dst_bytes] == 9).sum() >= 9
    j.free()


@pytest.fixture
def job(lib):
    j = bench.Job(lib, cases.scaled(next(c for c in CASES if c.name == "nchw-nhwc u8"), TINY))
    yield j
    j.free()


def test_who_does_nothing_is_wrong(job):
    assert job.wrong(peers.ours(job)) is None
    assert job.wrong(peers.of_python("idle", lambda: None)) == "byte 0 of %d" % job.dst_bytes
    assert job.wrong(peers.of_python("failing", lambda: 1//0)) == "it failed"


def test_who_is_wrong_later_has_no_ratio(job, monkeypatch):
    """And is no best peer."""
    def turning_bad(job):
        own, calls = peers.numpy(job), []

        def call():
            own.keep[1]()
            calls.append(0)
            if len(calls) > 1:
                job.dst.bytes[5] ^= 4
        return peers.of_python("XLA", call)
    makers = [m for m in peers.MAKERS if m[0] in ("memcpy", "ravel", "numpy")]
    monkeypatch.setattr(peers, "MAKERS", makers + [("XLA", turning_bad)])
    by = {r["name"]: r for r in bench.one_setting(job, 2)}
    assert (by["XLA"]["state"], by["XLA"]["why"]) == ("wrong", "byte 5 of %d" % job.dst_bytes) and "memcpy" not in by["XLA"]
    assert by["ravel"]["state"] == "ok" and by["ravel"]["best_peer"]["name"] == "numpy"


def test_expected_bytes(lib, cx):
    """By the reader of bits in ravel.py."""
    for c in ("pairs of rows u4", "nhwc-nChw16c C=3 u8", "ttc 43: 032541 of 16x32x15x32x15x15"):
        j = bench.Job(lib, cases.scaled(next(x for x in CASES if x.name == c), TINY))
        c = j.case
        el = ravel.unpack(j.src.bytes[:j.src_bytes], c.bits)
        want = np.zeros(j.dst_bytes*8//c.bits, el.dtype)
        want[cx.table(c.dst, c.shape, c.dtype)] = el[cx.table(c.src, c.shape, c.dtype)]
        assert np.array_equal(j.want.bytes[:j.dst_bytes], ravel.pack(want, c.bits))
        j.free()


def test_chart(tmp_path):
    pytest.importorskip("matplotlib")
    import chart
    s = {"cases": 3, **{k: {"geomean": v, "low": v/2, "high": v*3, "cases": 3} for k, v in
                        (("ravel", 0.93), ("best peer", 2.41), ("ntcopy", 0.71))}}
    assert chart.write(tmp_path / "c.svg", {"summary": {"groups": {"int4": {"1": s, "2": {"cases": 0}}}}})
    svg = xml.dom.minidom.parse(str(tmp_path / "c.svg")).toxml()
    for w in ("ravel", "best peer", "non-temporal copy", "4-bit", "1 thread", "0.93", "2.41", "0.71", "prefers-color-scheme: dark"):
        assert w in svg
    assert "2 threads" not in svg
    assert set(drawn.GROUPS) <= set(chart.TITLES)
    assert not chart.write(tmp_path / "d.svg", {"summary": {"groups": {"int4": {"1": {"cases": 0}}}}})


def test_emitted_code_is_told_beside_the_library():
    """The mean of its times over the library's, and the largest factor either way."""
    def case(own, gcc):
        return {"name": "c", "kernels": ["k"], "groups": ["g"], "results": [
            {"name": n, "threads": 1, "state": "ok", "why": "", "memcpy": dict.fromkeys(SPREAD, v)} for n, v in (("ravel", own), ("ravel gcc", gcc))]}
    s = report.summary([case(1, 2), case(3, 1.5), case(2, 0.5)])["groups"]["g"]["1"]
    assert abs(s["gcc over ravel"] - 0.25**(1/3)) < 1e-9 and s["gcc apart"] == 4


def test_the_best_peer_is_a_right_one():
    """A summary by hand: geometric means over cases that have both; the wrong peer does not count."""
    def result(name, m, state="ok", **kw):
        s = dict.fromkeys(SPREAD, m)
        return dict({"name": name, "threads": 1, "state": state, "why": ""}, **({"memcpy": s} if state == "ok" else {}), **kw)

    def case(own, dnnl, state="ok"):
        return {"name": "own %g" % own, "kernels": ["k"], "groups": ["g"], "results": [result("ravel", own, best_peer={"median": own/4, "name": "numpy"}), result("oneDNN", dnnl, state),
                                             result("numpy", 4)]}
    s = report.summary([case(1, 2), case(4.4, 0.001, "wrong")])["groups"]["g"]["1"]
    assert s["gcc over ravel"] is None and s["cases"] == 2 and abs(s["ravel"]["geomean"] - 4.4**.5) < 1e-9 and s["oneDNN"]["cases"] == 1
    assert abs(s["best peer"]["geomean"] - 8**.5) < 1e-9 and (s["slower"], s["against"]) == (1, 2) and abs(s["worst"] - 1.1) < 1e-9
    assert s["worst_case"] == {"name": "own 4.4", "ratio": 4.4} and s["gcc apart"] is None
    assert s["slower_cases"] == [{"name": "own 4.4", "peer": "numpy", "ratio": 1.1}]
    assert s["slow_cases"] == [{"name": "own 4.4", "ratio": 4.4, "kernels": ["k"]}]


# --- the command

def test_command():
    args = [RAVEL, "bench", "--from", "NCHW", "--to", "NCHW16", "--shape", "2,17,5,7", "--dtype", "f16", "--rounds", "3"]
    r = subprocess.run(args, capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr == ""
    for w in ("NCHW -> NCHW16 of (2,17,5,7), f16: 2380 bytes to 4480; the code is proven", "memcpy", "this conversion", "non-temporal"):
        assert w in r.stdout
    j = json.loads(subprocess.run(args + ["--json", "--threads", "2"], capture_output=True, check=True).stdout)
    assert (j["from"], j["to"], j["shape"], j["dtype"]) == ("NCHW", "NCHW16", [2, 17, 5, 7], "f16")
    assert (j["src_bytes"], j["dst_bytes"], j["rounds"], j["threads"]) == (2380, 4480, 3, 2)
    assert [x["name"] for x in j["results"]] == ["memcpy", "ravel", "ntcopy"]
    assert all(x["ns"]["low"] <= x["ns"]["median"] <= x["ns"]["high"] and x["calls"] >= 1 for x in j["results"])


@pytest.mark.parametrize("args, says", [
    (["--shape", "8,8", "--rounds", "0"], "--rounds"), (["--shape", "8,8", "--rounds", "x"], "--rounds"),
    (["--shape", "8,8", "--threads", "1000"], "--threads"), (["--shape", "8,8,8"], "dims"),
    (["--shape", "8000000,8000000"], "memory")])
def test_command_refuses(args, says):
    r = subprocess.run([RAVEL, "bench", "--from", "{R, C}", "--to", "(R,C){C, R}", "--dtype", "u8", *args], capture_output=True, text=True)
    assert r.returncode == 2 and says in r.stderr and r.stdout == ""
