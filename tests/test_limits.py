"""limit = { T = 4096 }: the largest extent of a dim; and strides that leave room for the last slot only."""

import subprocess

import numpy as np
import pytest

import ravel
from views import RAVEL, random_bytes


def run(*words, code=0):
    r = subprocess.run([RAVEL, *words], capture_output=True, text=True, timeout=60)
    assert r.returncode == code, r.stdout + r.stderr
    return r.stdout + r.stderr


@pytest.mark.parametrize("words", [
    ("check", "{T, H, limit = {T = 4}}", "--shape", "5,3"), ("index", "{T, H, limit = {T = 4}}", "--shape", "5,3", "--at", "0,0"), ("show", "{T, H, limit = {T = 4}}", "--shape", "5,3"),
    ("verify", "--from", "{T, H}", "--to", "{T, H, limit = {T = 4}}", "--shape", "5,3", "--dtype", "f32"), ("verify", "--from", "{T, H, limit = {T = 4}}", "--to", "{T, H}", "--shape", "5,N", "--dtype", "f32"),
    ("check", "{T, H}", "--equals", "(T,H){T, H, limit = {T = 4}}", "--shape", "5,3"), ("emit", "--kind", "offset", "--to", "{T, H, limit = {T = 4}}", "--shape", "5,3", "--dtype", "f32"),
    ("check", "{T, H, P = 2, limit = {T = 2*P}}", "--shape", "5,3")])
def test_numbers(words):
    assert "extent of T is 5: the limit of layout" in run(*words, code=2)


def test_part(cx):
    """The limit is that of the tensor, and not of its part."""
    with pytest.raises(ravel.Error, match="extent of T is 5: the limit"):
        cx.plan("{T, H, limit = {T = 4}}(5,3)[1:3]", "{A, B}", (2, 3), "f32")
    with cx.plan("{T, H, limit = {T = 5}}(5,3)[1:3]", "{A, B}", (2, 3), "f32") as p:
        assert p.p


@pytest.mark.parametrize("src, dst, most", [("{T, H}", "{T, H, limit = {T = 4}}", 4), ("{T, H, limit = {T = 4}}", "{T, H}", 4), ("{T, H, limit = {T = 7}}", "(T,H){H, T, limit = {T = 4, H = 9}}", 4),
                                            ("{T, H}", "{T, H, limit = {T = 4}}[1:]", 3), ("{T, H, limit = {T = 4}}[1:, ::-1]", "{T, H}", 3), ("(A,B){A, B}", "VNNI2{}(T,H)", 1 << 62)])
def test_at_run_time(cx, src, dst, most):
    with cx.plan(src, dst, (-1, 4), "bf16") as p:
        if most < 9:
            one = ravel.PlanAt(p, (most, 4))
            raw = random_bytes(one.src_bytes, 1)
            assert one.run(raw).nbytes == one.dst_bytes
            for n in (most + 1, 1 << 40):
                with pytest.raises(ravel.Error, match="is %d: 0 to %d" % (n, most)):
                    ravel.PlanAt(p, (n, 4))


def test_emitted(tmp_path):
    assert "> 4096) return 1;" in run("emit", "--from", "{T, H}", "--to", "{T, H, limit = {T = 4096}}", "--shape", "T,3", "--dtype", "f32")


@pytest.mark.parametrize("layout, why", [("{T, H, limit = {X = 3}}", "limit: there is no dim 'X'"), ("{T, H, limit = {T = H}}", "unknown name 'H'"), ("{T, H, limit = {T = 0}}", "limit must be a number above 0"),
                                         ("{T, H, limit = 3}", "limit"), ("{T, H, limit = {T = extent(H)}}", "has no value here")])
def test_wrong(layout, why):
    assert why in run("check", layout, "--shape", "2,3", code=2)


def test_printed():
    """With everything else: a text that reads back."""
    assert "limit = {T = 4096}" in run("explain", "--from", "{T, H, limit = {T = 4096}}", "--to", "{T, H}", "--shape", "2,3", "--dtype", "f32")
    assert "limit = {N = 4}" in run("explain", "--from", "{T, H, limit = {T = 4}}", "--to", "{T, H}", "--shape", "2,3", "--dtype", "f32").replace("T = 4", "N = 4")


@pytest.mark.parametrize("layout, strides, shape", [("{M, K, stride = {M = 9, K = 2}}", (9, 2), (4, 5)), ("{M, K, stride = {M = 13, K = 3}}", (13, 3), (3, 5)), ("{N, M, K, stride = {N = 31, M = 9, K = 2}}", (31, 9, 2), (2, 3, 5))])
def test_strides_that_just_fit(cx, layout, strides, shape):
    """As the same strides given by @ do."""
    at = sum(x * s for x, s in zip(np.indices(shape), strides))
    plain = "{%s}" % ", ".join("XYZ"[:len(shape)])
    assert np.array_equal(cx.table(layout, shape, "f32"), at)
    with cx.plan(plain, layout, shape, "f32") as p:
        raw = np.arange(at.size, dtype="u4")
        want = np.full(p.dst_bytes // 4, 0xa5a5a5a5, "u4")
        want[at] = raw.reshape(shape)
        assert np.array_equal(p.run(raw.view("u1")).view("u4"), want)
    run("verify", "--from", plain, "--to", layout, "--shape", ",".join(map(str, shape)), "--dtype", "f32")
    less = layout.replace(str(strides[0]), str(1 + sum((n - 1) * s for n, s in zip(shape[1:], strides[1:])) - 1))
    with pytest.raises(ravel.Error, match="but the entries after it take"):
        cx.table(less, shape, "f32")
