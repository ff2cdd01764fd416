"""What an array is: objects with NumPy's interface, DLPack or the buffer protocol, and the names of element types."""
from __future__ import annotations

import sys
import weakref
from typing import Any, Collection, Optional

import numpy as np
from numpy.lib.stride_tricks import as_strided

from . import _ravel
from ._ravel import Error

# NumPy's type for each dtype.  Elements smaller than a byte are packed into uint8.
NUMPY: dict[str, np.dtype] = {"f32": np.dtype("f4"), "f16": np.dtype("f2"), "f64": np.dtype("f8"), "i8": np.dtype("i1"), "u8": np.dtype("u1"), "i16": np.dtype("i2"),
         "u16": np.dtype("u2"), "i32": np.dtype("i4"), "u32": np.dtype("u4"), "i64": np.dtype("i8"), "u64": np.dtype("u8"),
         "c64": np.dtype("c8"), "c128": np.dtype("c16"), "i4": np.dtype("u1"), "u4": np.dtype("u1"), "u2": np.dtype("u1"), "u1": np.dtype("u1")}
Shape = tuple[int, ...]
OpenShape = tuple[Optional[int], ...]                # None: an extent at run time
TORCH = {1: "i1", 2: "i2", 4: "i4", 8: "i8", 16: "c16"}          # of each size a type that torch takes from NumPy
MOVED = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}          # types of each size, to move elements that have no dtype
HOST_DEVICES = {1, 3, 11}      # of DLPack's types: the CPU, and memory of it that CUDA or ROCm has pinned
PACKED = {"i4", "u4", "u2", "u1"}
NAMES = {t: name for name, t in NUMPY.items() if name not in PACKED} | {np.dtype("?"): "u8"}
# The long names of NumPy's types.  Of the short ones i4 means something else here.
LONG = {t.name: name for t, name in NAMES.items() if t.kind != "b"} | {"bfloat16": "bf16"}


def lent(x: Any, **how: Any) -> _ravel.Tensor:
    """The memory of an object with __dlpack__.  torch lends views that negate their memory as if they did not."""
    if hasattr(x, "is_neg") and x.is_neg():
        raise Error("a tensor that is the negative of its memory: pass x.resolve_neg()")
    if hasattr(x, "element_size") and x.element_size() == 1 and "torch" in sys.modules and (x.is_floating_point() or x.dtype is sys.modules["torch"].bool):
        x = x.view(sys.modules["torch"].uint8)             # float8, which torch 2.6 does not lend, and bool, which 1.13 does not
    t = _ravel.exchange(x) if not how and is_plain(x) else None
    return _ravel.from_dlpack(capsule_of(x, how)) if t is None else t


def is_plain(x: Any) -> bool:
    """Whether x is its memory.  Other tensors of torch are refused by __dlpack__ alone, which says why."""
    return not getattr(x, "requires_grad", False) and not (hasattr(x, "is_conj") and x.is_conj())


before_dlpack_1: weakref.WeakSet[type] = weakref.WeakSet()         # whose __dlpack__ does not take a version


def capsule_of(x: Any, how: dict[str, Any]) -> Any:
    """By DLPack 1 where x has it: only that says what must not be written to."""
    if type(x) in before_dlpack_1:
        return x.__dlpack__(**how)
    try:
        return x.__dlpack__(max_version=(1, 0), **how)
    except TypeError as e:
        if not takes_no_version(e):
            raise
    old = x.__dlpack__(**how)
    before_dlpack_1.add(type(x))
    return old


def takes_no_version(e: TypeError) -> bool:
    """Whether a call with max_version failed for that: it never began, or the text says so, of a method that passes its arguments on."""
    began = e.__traceback__ is not None and e.__traceback__.tb_next is not None
    return not began or "max_version" in str(e) or "keyword" in str(e)


def is_immutable(x: Any) -> bool:
    """JAX's arrays never change, and before DLPack 1 it cannot say that."""
    return root_of(x, ("jax", "jaxlib")) is not None


def check_out(out: Any, t: Optional[_ravel.Tensor] = None) -> None:
    """Error if out must not be written to, or would stay as it is; t: what its library has lent of it."""
    if is_immutable(out):
        raise Error("out is an array of JAX, which never changes: leave out= away, and take the result")
    if t is not None and t.read_only:
        raise Error("out cannot be written to: its library says that it is read-only; leave out= away, or pass a copy")
    if t is not None and t.copied:
        raise Error("out cannot be written to: its library lends a copy of it; leave out= away")


def lent_type(t: _ravel.Tensor, x: Any) -> np.dtype:
    """NumPy's type for t, the memory of x."""
    return np.dtype("?") if t.dtype == "bool" or t.dtype == "u8" and str(getattr(x, "dtype", "")) == "torch.bool" else numpy_type(t.dtype)


def bits_of(dtype: str) -> int:
    """Of an element, from the name: complex types have that of both parts."""
    return int(dtype.lstrip("abcdefghijklmnopqrstuvwxyz"))


def bfloat16() -> np.dtype:
    """The type of ml_dtypes, or uint16 where that is not installed."""
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype("u2")
    t: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return t


def numpy_type(name: str) -> np.dtype:
    """NumPy's type for a dtype; Error if there is no such dtype."""
    if name == "bf16":
        return bfloat16()
    if name not in NUMPY:
        raise Error("unknown dtype '%s'%s the dtypes are %s" % (name, meant(name), " ".join([*NUMPY, "bf16"])))
    return NUMPY[name]


def meant(name: str) -> str:
    """The dtype that NumPy calls so."""
    try:
        return "; did you mean %s? Else" % NAMES[np.dtype(name)]
    except (TypeError, KeyError):
        return ":"


def dtype_name(given: Any) -> str:
    """The dtype of an argument of that name.  NumPy would take None as f64, and a list as a record."""
    name = name_of(given)
    numpy_type(name)           # Error if there is none
    return name


def name_of(given: Any) -> str:
    """What ravel calls a text, a type of NumPy or a dtype of torch."""
    if isinstance(given, str):
        return LONG.get(given, given)
    if type(given).__module__ == "torch" and type(given).__name__ == "dtype":
        return torch_name(str(given).rpartition(".")[2])
    if not isinstance(given, (np.dtype, type)):
        raise TypeError("a dtype is a text such as 'f16', or a type of NumPy or torch, and not %s" % type(given).__name__)
    return own_name(np.dtype(given))


def torch_name(name: str) -> str:
    """torch.NAME here; most are called as NumPy's types."""
    if name == "bfloat16":
        return "bf16"
    if name.startswith("float8"):
        return "u8"
    try:
        return own_name(np.dtype(name))
    except TypeError:
        raise Error("elements of type torch.%s have no dtype here" % name) from None


def own_name(t: np.dtype) -> str:
    """The dtype that NumPy's type is; Error if it has none.  Small types of ml_dtypes (float8, int4), which have a byte each, move as bytes."""
    if not t.isnative:
        raise Error("elements of type %s are in the other byte order: pass x.astype(x.dtype.newbyteorder('='))" % t.str)
    if t in NAMES:
        return NAMES[t]
    if t.name == "bfloat16":
        return "bf16"
    if t.itemsize == 1 and t.name.startswith(("float8", "float6", "float4", "int4", "uint4", "int2", "uint2")):
        return "u8"
    raise Error("elements of type %s have no dtype here: %s" % (t.name, view_of(t)))


def view_of(t: np.dtype) -> str:
    """How the elements of a type without a dtype can be passed."""
    if t.hasobject:
        return "arrays of objects are not taken"
    if t.itemsize in MOVED:
        return "pass x.view('%s'), and view the result as x.dtype" % MOVED[t.itemsize]
    return "its elements have %d bytes: pass a view of numbers, such as x.view('u1'), with its shape" % t.itemsize


def type_name(t: np.dtype, given: Any) -> str:
    """The dtype of an array of type t that the caller calls `given`.  Unsigned and opaque types may hold any dtype of their size."""
    if given is None:
        return own_name(t)
    name = name_of(given)
    if t.hasobject:
        return own_name(t)
    if numpy_type(name).itemsize != t.itemsize:
        raise Error("the array has elements of %d byte%s (%s), and dtype %s needs %d: pass %s" % (
            t.itemsize, "" if t.itemsize == 1 else "s", t.name, name, numpy_type(name).itemsize, "x.view('%s') if its bytes are %s" % (view_name(name), name)))
    if (t.kind not in "uV" or t.name == "bfloat16") and own_name(t) != name:
        raise Error("the array holds %s elements, not %s: pass x.view('u%d') if they are %s" % (own_name(t), name, t.itemsize, name))
    return name


def view_name(name: str) -> str:
    """What x.view() takes for a dtype."""
    return "u2" if name == "bf16" else numpy_type(name).str.lstrip("<>|")


def as_array(x: Any, what: str = "x") -> np.ndarray:
    """x, which the caller calls `what`, as an ndarray over the same memory: nothing is copied."""
    if isinstance(x, np.ma.MaskedArray):
        raise Error("an array with a mask, which the result would not have: pass x.filled(value), or x.data without it")
    if isinstance(x, np.ndarray) or hasattr(x, "__array_interface__"):
        return np.asarray(x)
    if hasattr(x, "__dlpack__"):
        if what == "out":
            check_out(x)
        t = lent(x)
        if what == "out":
            check_out(x, t)
        if 0 in t.shape:
            return np.empty(t.shape, lent_type(t, x))
        of = lent_type(t, x)
        return np.ndarray(t.shape, of, t, t.origin * of.itemsize, [s * of.itemsize for s in t.strides])  # type: ignore[arg-type]
    try:
        return np.asarray(memoryview(x))
    except TypeError:
        advice = ": pass np.array(x)" if isinstance(x, (list, tuple, int, float)) else ": the array comes first" if isinstance(x, str) else ""
        raise Error("%s is of type %s, which is no array: it has neither __array_interface__ nor __dlpack__ nor a buffer%s" % (
            what, type(x).__name__, advice if what == "x" else "")) from None


def root_of(x: Any, roots: Collection[str]) -> Optional[str]:
    """Which of these packages x comes from, also if its class is derived from one of theirs."""
    modules = (c.__module__.partition(".")[0] for c in type(x).__mro__)
    return next((m for m in modules if m in roots and m in sys.modules), None)


def as_of(x: Any, y: np.ndarray) -> Any:
    """y as an array of the library of x, whose bytes y has: torch's over the same memory, by the array API's asarray, or else y."""
    if root_of(x, ("torch",)):
        return sys.modules["torch"].from_numpy(y.view(TORCH[y.itemsize])).view(x.dtype)
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().asarray(y)
    return y


def span(x: np.ndarray, what: str) -> tuple[np.ndarray, tuple[int, ...], int]:
    """The memory from the lowest element of x to the highest as a flat array, the strides of x in elements, the place of its first element."""
    strides, origin = in_elements(x.shape, x.strides, x.itemsize, what)
    lowest = x[tuple(slice(None, None, -1 if s < 0 else 1) for s in strides)]
    flat = as_strided(lowest, (1 + sum(abs(s) * (n - 1) for n, s in zip(x.shape, strides)),), (x.itemsize,))
    return flat, strides, origin


def in_elements(shape: Shape, strides: Shape, itemsize: int, what: str) -> tuple[Shape, int]:
    """Strides in elements, and the place of the first element from the lowest on."""
    steps = [s if n > 1 else 0 for n, s in zip(shape, strides)]
    if any(s % itemsize for s in steps):
        raise Error("%s has strides that are no multiples of its elements: pass np.ascontiguousarray(%s)" % (what, what))
    of = tuple(s // itemsize for s in steps)
    return of, -sum(s * (n - 1) for n, s in zip(shape, of) if s < 0)
