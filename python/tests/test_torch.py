"""Tensors of PyTorch on the CPU, and its dtypes; the latter also by a stand-in, where torch is not installed."""
import numpy as np
import pytest

import ravel

SHAPE = (2, 20, 5, 7)
DTYPES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "int8": "i8", "uint8": "u8", "int16": "i16", "int32": "i32",
          "int64": "i64", "bool": "u8", "complex64": "c64", "complex128": "c128", "float8_e4m3fn": "u8"}


def stand_in(name):
    class dtype:
        def __str__(self):
            return "torch." + name
    dtype.__module__ = "torch"
    return dtype()


@pytest.mark.parametrize("name, here", DTYPES.items())
def test_dtypes(name, here):
    assert ravel.compile("NCHW", "NHWC", SHAPE, stand_in(name)).dtype == here


def test_a_dtype_that_has_no_place_here():
    with pytest.raises(ravel.Error, match="torch.qint8 have no dtype here"):
        ravel.layout("NHWC", stand_in("qint8"))


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


def dtype_of(torch, name):
    """Releases before 2.1 have no float8."""
    if not hasattr(torch, name):
        pytest.skip("torch %s has no %s" % (torch.__version__, name))
    return getattr(torch, name)


@pytest.mark.parametrize("name, here", DTYPES.items())
def test_dtypes_of_torch(torch, name, here):
    assert ravel.compile("NCHW", "NHWC", SHAPE, dtype_of(torch, name)).dtype == here


@pytest.mark.parametrize("name", ["float32", "float16", "float64", "int8", "uint8", "int16", "int32", "int64", "complex64"])
def test_tensors(torch, name):
    """Against torch's own permute, also of tensors with strides; the result is a tensor, and so is out."""
    x = torch.arange(1400).reshape(SHAPE).to(getattr(torch, name))
    y = ravel.convert(x, "NCHW", "NHWC")
    assert torch.equal(y, x.permute(0, 2, 3, 1)) and y.is_contiguous()
    assert torch.equal(ravel.compile("NCHW", "NHWC", SHAPE, x.dtype)(x), y)
    assert torch.equal(ravel.compile("NCHW", "NHWC", (None, 20, 5, 7), x.dtype)(x), y)
    channels_last = x.contiguous(memory_format=torch.channels_last)
    assert torch.equal(ravel.convert(channels_last, "NCHW", "NHWC"), x.permute(0, 2, 3, 1))
    out = torch.zeros((2, 5, 7, 20), dtype=x.dtype)
    assert ravel.convert(x[:, :, :, :], "NCHW", "NHWC", out=out) is out and torch.equal(out, x.permute(0, 2, 3, 1))
    part = torch.zeros((2, 10, 7, 20), dtype=x.dtype)
    assert torch.equal(ravel.convert(x, "NCHW", "NHWC", out=part[:, ::2])[:, 1], x.permute(0, 2, 3, 1)[:, 1]) and not part[:, 1::2].any()


def test_bfloat16(torch):
    x = torch.arange(1400).reshape(SHAPE).to(torch.bfloat16)
    out = torch.zeros((2, 5, 7, 20), dtype=torch.bfloat16)
    assert ravel.convert(x, "NCHW", "NHWC", out=out) is out and torch.equal(out, x.permute(0, 2, 3, 1))
    assert torch.equal(ravel.convert(x, "NCHW", "NHWC"), x.permute(0, 2, 3, 1))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_float8(torch, name):
    """In and out; also with strides."""
    x = torch.arange(1400, dtype=torch.uint8).reshape(SHAPE).view(dtype_of(torch, name))
    want = x.view(torch.uint8).permute(0, 2, 3, 1)
    y = ravel.convert(x, "NCHW", "NHWC")
    assert y.dtype == x.dtype and torch.equal(y.view(torch.uint8), want)
    out = torch.zeros((2, 5, 7, 20), dtype=torch.uint8).view(x.dtype)
    assert ravel.convert(x, "NCHW", "NHWC", out=out) is out and torch.equal(out.view(torch.uint8), want)
    assert torch.equal(ravel.convert(x[:, ::2], "NCHW", "NHWC").view(torch.uint8), want[..., ::2])


def test_float8_as_bytes(torch):
    x = torch.arange(1400, dtype=torch.uint8).reshape(SHAPE).view(dtype_of(torch, "float8_e4m3fn"))
    y = ravel.convert(x.view(torch.uint8), "NCHW", "NHWC").view(torch.float8_e4m3fn)
    assert torch.equal(y.view(torch.uint8), x.view(torch.uint8).permute(0, 2, 3, 1))


def test_bool(torch):
    """Also in releases that do not lend it."""
    x = torch.arange(1400).reshape(SHAPE) % 3 == 0
    assert torch.equal(ravel.convert(x, "NCHW", "NHWC"), x.permute(0, 2, 3, 1))
    out = torch.zeros((2, 5, 7, 20), dtype=torch.bool)
    assert ravel.convert(x[::2], "NCHW", "NHWC", out=out[::2]).dtype == torch.bool and torch.equal(out[0], x[0].permute(1, 2, 0)) and not out[1].any()
    of_numpy = np.zeros((2, 5, 7, 20), np.bool_)
    assert np.array_equal(ravel.convert(x, "NCHW", "NHWC", out=of_numpy), x.numpy().transpose(0, 2, 3, 1))


def test_in_place(torch):
    """The result has the memory of x, in its new shape; a plan says the same."""
    x = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    want, same = x.T.clone(), x.clone()
    y = ravel.convert(x, "{M, K}", "(M,K){K, M}", out=x)
    assert torch.equal(y, want) and y.data_ptr() == x.data_ptr()
    assert torch.equal(ravel.compile("{M, K}", "(M,K){K, M}", (2, 3), "i32", in_place=True)(same), want)


def test_results_outlive_their_sources(torch):
    y = ravel.convert(torch.arange(1400).reshape(SHAPE), "NCHW", "NC1HWC0{C0=8}")
    assert type(y) is torch.Tensor and y.shape == (2, 3, 5, 7, 8) and y[0, 2, 0, 0].tolist() == [560, 595, 630, 665, 0, 0, 0, 0]


@pytest.mark.parametrize("shape", [(), (0, 3)])
def test_without_elements_or_dims(torch, shape):
    y = ravel.convert(torch.ones(shape), "(A,B){A, B}" if shape else "(){}", "(A,B){B, A}" if shape else "(){}")
    assert type(y) is torch.Tensor and y.numel() == (not shape)


def test_negative_views(torch):
    x = torch.arange(1400).reshape(SHAPE) % 3 == 0
    z = torch.conj(x + 1j).imag
    with pytest.raises(ravel.Error, match="resolve_neg"):
        ravel.convert(z, "NCHW", "NHWC")
    assert torch.equal(ravel.convert(z.resolve_neg(), "NCHW", "NHWC"), z.permute(0, 2, 3, 1))


def test_what_torch_refuses_to_lend(torch):
    """Its own words say what to do."""
    with pytest.raises(RuntimeError, match="detach"):
        ravel.convert(torch.zeros(SHAPE, requires_grad=True), "NCHW", "NHWC")


def ways(x, out):
    """A call of each kind: by addresses and, with an extent at run time, by DLPack."""
    usual, general = ravel.compile("NCHW", "NHWC", SHAPE, x.dtype), ravel.compile("NCHW", "NHWC", (None, *SHAPE[1:]), x.dtype)
    return [lambda: ravel.convert(x, "NCHW", "NHWC", out=out), lambda: usual(x, out), lambda: general(x, out)]


@pytest.mark.parametrize("kind", ["plain", "gradient", "conjugate", "negative", "strided", "sparse", "out of another type", "out with strides", "out with a gradient"])
def test_a_tensor_is_its_memory_or_refused(torch, kind):
    """Each kind of call has the same answer."""
    x = torch.arange(1400.0).reshape(SHAPE) * (1 + 2j)
    out = torch.zeros((2, 5, 7, 20), dtype=torch.float32 if kind == "out of another type" else x.dtype)
    want = x.permute(0, 2, 3, 1)
    right = {"conjugate": x.conj(), "negative": x.conj().imag, "gradient": x.detach().requires_grad_(), "sparse": x.to_sparse()}
    given = right[kind] if kind in right else x.contiguous(memory_format=torch.channels_last) if kind == "strided" else x
    if kind == "negative":
        out = torch.zeros(out.shape)
    if kind == "out with strides":
        out = torch.zeros((2, 5, 7, 40), dtype=x.dtype)[..., ::2]
    if kind == "out with a gradient":
        out.requires_grad_()
    for i, call in enumerate(ways(given, out)):
        out.detach().zero_()
        if kind == "plain" or i == 0 and kind in ("strided", "out with strides"):
            assert call() is out and torch.equal(out, want), i
            continue
        with pytest.raises(Exception) as e:
            call()
        assert not isinstance(e.value, AssertionError) and not out.detach().any(), i


def test_holes_of_a_new_tensor_are_zero(torch):
    for _ in range(20):
        y = ravel.convert(torch.ones(5, 3), "{M, K}", "{M, K, pitch = {M = 16}}")
        assert y.count_nonzero() == 15
        del y
        torch.full((5, 4), 7.0)
