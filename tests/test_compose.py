"""Two conversions as one (ravel_compose, --via), against NumPy; what is lost between them is named."""
import ctypes as ct

import numpy as np
import pytest

import ravel
from command import bad, good, here          # noqa: F401: the fixture `here`

RNG = np.random.default_rng(11)


def request(src, dst, shape, dtype="f32"):
    return ravel.Request(src.encode(), dst.encode(), dtype.encode(), len(shape), ravel.extents(shape), 1)


def compose(cx, first, second):
    """A plan of ravel.Plan, made by ravel_compose."""
    plan = ravel.Plan.__new__(ravel.Plan)
    plan.p = ct.c_void_p()
    ravel.call(ravel.lib.ravel_compose, cx.p, ct.byref(request(*first)), ct.byref(request(*second)), ct.byref(plan.p))
    plan.src_bytes, plan.dst_bytes = ravel.lib.ravel_plan_src_bytes(plan.p), ravel.lib.ravel_plan_dst_bytes(plan.p)
    return plan


@pytest.fixture(scope="module")
def cx():
    with ravel.Context() as c:
        yield c


def order(axes):
    return "(A, B, C, D){%s}" % ", ".join("ABCD"[i] for i in axes)


def test_permutations(cx):
    """Any order of the dims by way of any other: a transpose of NumPy's."""
    x = RNG.standard_normal((2, 3, 4, 5)).astype("f4")
    for _ in range(20):
        p, q, r = (RNG.permutation(4) for _ in range(3))
        with compose(cx, (order(p), order(q), x.shape), (order(q), order(r), x.shape)) as plan:
            assert plan.run(np.frombuffer(x.transpose(p).tobytes(), "u1")).tobytes() == x.transpose(r).tobytes()


PARTS = [("[1]", np.s_[1]), ("[:, 1:3]", np.s_[:, 1:3]), ("[..., ::-1]", np.s_[..., ::-1]), ("[:, None, 2, ::2]", np.s_[:, None, 2, ::2]),
         ("[:, [2, 0]]", np.s_[:, [2, 0]]), ("(2,3,4,5)[:, 1:][..., 0]", np.s_[:, 1:, :, 0])]


@pytest.mark.parametrize("text, part", PARTS, ids=[t for t, _ in PARTS])
def test_a_part_of_what_is_between(cx, text, part):
    x = RNG.standard_normal((2, 3, 4, 5)).astype("f4")
    y = x[part]
    text = text if text[0] == "(" else "(2,3,4,5)" + text
    q = RNG.permutation(4)
    with compose(cx, ("NCHW", "(N, C, H, W){%s}" % ", ".join("NCHW"[i] for i in q), x.shape),
                 ("(N, C, H, W){%s}%s" % (", ".join("NCHW"[i] for i in q), text), "ROW_MAJOR", y.shape)) as plan:
        assert plan.run(np.frombuffer(x.tobytes(), "u1")).tobytes() == y.tobytes()


def test_a_part_of_a_part(cx):
    x = RNG.standard_normal((4, 5, 6)).astype("f4")
    with compose(cx, ("(A, B, C){A, B, C}(4,5,6)[1:, ::-1]", "(A, B, C){C, A, B}", (3, 5, 6)),
                 ("(A, B, C){C, A, B}(3,5,6)[2]", "(B, C){C, B}", (5, 6))) as plan:
        assert plan.run(np.frombuffer(x.tobytes(), "u1")).tobytes() == x[1:, ::-1][2].T.tobytes()


def test_padding_between_is_not_lost(cx):
    """The elements of NC1HWC0 are those of its tensor; its padding is nobody's."""
    x = RNG.standard_normal((2, 20, 5, 7)).astype("f2")
    with compose(cx, ("NCHW", "NC1HWC0", x.shape, "f16"), ("NC1HWC0", "NHWC", x.shape, "f16")) as plan:
        assert plan.run(np.frombuffer(x.tobytes(), "u1")).tobytes() == x.transpose(0, 2, 3, 1).tobytes()
        plan.verify()


LOST = [
    (("(M,K){M, K}", "(M,K){K, M}", (3, 4)), ("(M,K){M, K}", "(M,K){K, M}", (3, 4)), "the first writes element (0,1) to address 3"),
    (("(M,K){M, K}", "(M,K){K, M}", (3, 4)), ("(M,K){K, M}", "(M,K){M, K}", (4, 4)), "the first writes (M, K){K, M} of (3,4), the second reads (M, K){K, M} of (4,4)"),
    (("(M,K){M, K}", "(M,K){K, M}(5,4)[:3]", (3, 4)), ("(M,K){K, M}", "(M,K){M, K}", (5, 4)), "the first writes (M, K){K, M}(5,4)[:3] of (3,4)"),
    (("(M,K){M, K}", "(K,M){M, K}", (3, 4)), ("(K,M){M, K}(4,3)[1]", "ROW_MAJOR", (3,)), "dims in different orders, so a part"),
    (("(M,K){M, K}", "(X,Y){X, Y}", (3, 4)), ("(X,Y){X, Y}", "(K,M){K, M}", (3, 4)), "belong together than by way of (X, Y){X, Y}"),
    (("(M,K){M, K}", "(M,K){K, M}", (3, 4)), ("(M,K){K, M}", "(M,K){M, K}", (3, 4), "f16"), "the first is of f32, the second of f16"),
    (("(M,K){M, K}", "(M,K){M//2, K}", (3, 4)), ("(M,K){M//2, K}", "(M,K){M, K}", (3, 4)), "not one-to-one")]


@pytest.mark.parametrize("first, second, says", LOST)
def test_what_is_lost(cx, first, second, says):
    with pytest.raises(ravel.Error) as e:
        compose(cx, first, second)
    assert e.value.status == "LAYOUT" and says in e.value.text
    with pytest.raises(ravel.Error) as e:
        compose(cx, (*first[:2], (-1, 4)), second)
    assert e.value.status == "ARGUMENT" and "extents are numbers" in e.value.text


def test_via(here):                            # noqa: F811
    x = RNG.standard_normal((2, 20, 5, 7)).astype("f2")
    np.save("x.npy", x)
    good("convert", "x.npy", "y.npy", "--from", "NCHW", "--via", "NC1HWC0", "--to", "NHWC", "--verify")
    assert np.array_equal(np.load("y.npy"), x.transpose(0, 2, 3, 1))
    good("convert", "x.npy", "z.npy", "--from", "NCHW", "--via", "NHWC[:, 1:17, ..., ::-1]", "--to", "NHWC", "--verify")
    assert np.array_equal(np.load("z.npy"), x[:, 1:17, ..., ::-1].transpose(0, 2, 3, 1))
    good("convert", "x.npy", "p.npy", "--from", "NCHW", "--via", "NC1HWC0{C0=4}[:, 1:17]", "--to", "NHWC")
    assert np.array_equal(np.load("p.npy"), x[:, 1:17].transpose(0, 2, 3, 1))
    of = ["--from", "NCHW", "--shape", "2,20,5,7", "--dtype", "f16", "--to", "NHWC"]
    assert good("explain", *of, "--via", "NC1HWC0").startswith("via NC1HWC0: nothing is lost, so it is one conversion\n")
    good("emit", *of, "--via", "NHWC[:, 1:3]", "--name", "f", "-o", "f.c", "--check", "gcc")
    assert "void f(void *dst, const void *src)" in open("f.c").read()
    bad("explain", *of, "--via", "{N, C, H, W//2}", says="not one-to-one")
    bad("explain", *of[:3], "N,20,5,7", *of[4:], "--via", "NHWC", says="numbers")
