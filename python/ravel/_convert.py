"""Conversions: convert(), and plans to keep."""
from __future__ import annotations

import functools
import math
import operator
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _device, _index, _ravel, _specs, _torch, _values
from ._arrays import PACKED, OpenShape, Shape, as_array, as_of, bits_of, dtype_name, in_elements, numpy_type, span, type_name
from ._layout import Layout, text_of
from ._ravel import Error

ndarray = np.ndarray         # found faster than np.ndarray
LayoutLike = Union[str, Layout]
DTypeLike = Any              # a text, a type of NumPy, or a dtype of torch


class Plan:
    """A compiled conversion, from compile().  plan(x) and plan(x, out) run it, from any thread.

    `shape` is the logical shape, with None for extents at run time; `dtype` the element type; `src_shape` and `dst_shape` are the shapes of
    x and of the result, or None if there are extents at run time; `way` is "machine code", or why not; `source` its C text; `arrays` has
    the names of the index arrays, and `values` those of strides, of extents of tensors and of the fill, which each call is given.  `in_place` is true if a call converts x within its own memory.
    """
    __slots__ = ("_plan", "_run", "_type", "_files", "src", "dst", "shape", "dtype", "src_shape", "dst_shape", "arrays", "values", "in_place", "_usual", "_new")

    def __init__(self, files: _specs.Files, src: str, dst: str, dtype: str, shape: OpenShape, threads: int, in_place: bool = False):
        context = _specs.context(files)
        self._plan = context.compile(src, dst, dtype, shape, threads, in_place)
        self.in_place = in_place
        self._run, self._type, self._files = self._plan.run, numpy_type(dtype), files
        self.src, self.dst, self.shape, self.dtype = src, dst, shape, dtype
        self.arrays = tuple(a[0] for a in self._plan.arrays(None))
        self.values = self._plan.values()[0]
        self.src_shape: Optional[Shape] = None
        self.dst_shape: Optional[Shape] = None
        if None not in shape and not self.values:
            self.src_shape, self.dst_shape = self._shapes(None)
        self._usual = self.src_shape is not None and not self.arrays and not in_place
        self._new = np.empty if self._usual and self._dense() else np.zeros

    def _dense(self) -> bool:
        """Whether a call writes all of a new array: the elements fill it."""
        return math.prod(numbers(self.shape)) * bits_of(self.dtype) == self._plan.bytes(None)[1] * 8

    def _shapes(self, at: Optional[Shape]) -> tuple[Shape, Shape]:
        (src, dst), (src_bytes, dst_bytes) = self._plan.shapes(at), self._plan.bytes(at)
        return self._array_shape(src, src_bytes), self._array_shape(dst, dst_bytes)

    def _array_shape(self, shape: Shape, size: int) -> Shape:
        """The shape if it holds all bytes, else that of a flat array."""
        return shape if math.prod(shape) * self._type.itemsize == size else (size // self._type.itemsize,)

    def __call__(self, x: Any, out: Any = None, *, shape: Optional[Sequence[int]] = None, index: Optional[Mapping[str, Any]] = None,
                 values: Optional[Mapping[str, Any]] = None) -> Any:
        """Convert x; returns out, or a new array of the library and the element type of x.

        x and out are C-contiguous arrays of src_shape and dst_shape, or flat ones of as many elements.  Padding receives the fill of the
        destination; holes are not written (in a new array they are 0).  With extents at run time `shape` is the logical shape; it can be
        omitted if it follows from x.shape.  `index` has the numbers of the index arrays by name: integers in one dim each, or for `along` in
        the shape of the part.  `values` has what the layouts leave to each run by name: strides, in elements, extents of
        tensors, and the fill, a value of the element type.  Raises Error if x, out or an array do not fit or overlap, or if a number is out of range; then nothing is
        written.

        >>> import numpy as np, ravel
        >>> plan = ravel.compile("NHWC", "NCHW", (1, 3, 2, 2), "u8")
        >>> plan.src_shape, plan.dst_shape
        ((1, 2, 2, 3), (1, 3, 2, 2))
        >>> plan(np.arange(12, dtype="u1").reshape(1, 2, 2, 3)).tolist()
        [[[[0, 3], [6, 9]], [[1, 4], [7, 10]], [[2, 5], [8, 11]]]]
        """
        if (self._usual and type(x) is ndarray and type(out) is ndarray and x is not out and x.dtype is self._type and out.dtype is self._type
                and x.shape == self.src_shape and out.shape == self.dst_shape and shape is None and index is None and not values):
            self._run(x, out)              # the usual call: each of these checks costs a hundredth of a microsecond
            return out
        if self._usual and shape is None and index is None and not values and _torch.is_tensor(x):
            y = _torch.run(self, x, _torch.address(x), out)
            if y is not None:
                return y
        same = out is x
        if type(x) is not ndarray:
            if _device.holds(x):
                return self._run_on_device(_device.array(x), out, shape, index, values)
            if out is None or same:
                a = as_array(x, "out" if same and x is not None else "x")
                return as_of(x, self(a, a if same else None, shape=shape, index=index, values=values))
            x = as_array(x)
        if self.in_place:
            return self._run_in_place(x, x if same or out is None else out)
        if x.dtype is not self._type:
            type_name(x.dtype, self.dtype)
        if self.dst_shape is None or shape is not None:
            return self._run_at(x, out, shape, index, values)
        if values:
            _values.numbers(self._plan, values, self.dtype)      # which says that it has no such names
        more = (None, _index.arrays(self._plan, index)) if self.arrays or index else ()
        if x.shape != self.src_shape and x.ndim != 1:
            raise Error("x has shape %s, and %s of logical shape %s is stored as %s" % (x.shape, self.src, self.shape, self.src_shape))
        if out is None:
            new = self._new(self.dst_shape, x.dtype)
            self._run(x, new, *more)
            return new
        if same:
            raise Error("out is x, and this plan has a buffer for each: compile it with in_place=True")
        self._run(x, self._checked(out, x, self.dst_shape), *more)
        return out

    def _run_in_place(self, x: np.ndarray, out: Any) -> np.ndarray:
        if x is not out:
            raise Error("the plan is in place: out is x, or left out")
        type_name(x.dtype, self.dtype)
        if x.shape != self.src_shape and x.ndim != 1:
            raise Error("x has shape %s, and %s of logical shape %s is stored as %s" % (x.shape, self.src, self.shape, self.src_shape))
        self._run(x, x)
        result: np.ndarray = x if x.ndim == 1 or self.dst_shape is None else x.reshape(self.dst_shape)
        return result

    def _run_on_device(self, x: _device.Array, out: Any, shape: Optional[Sequence[int]], index: Optional[Mapping[str, Any]],
                       values: Optional[Mapping[str, Any]]) -> Any:
        type_name(x.dtype, self.dtype)
        if self.src_shape is not None and self.dst_shape is not None and shape is None:
            return _device.run(self, x, out, (self.src_shape, self.dst_shape), None, index)
        at = self._shape_of(x.shape, None if out is None else tuple(out.shape), shape, index, values)
        return _device.run(self, x, out, self._shapes(at), at, index)

    @staticmethod
    def _checked(out: Any, x: np.ndarray, shape: Shape) -> np.ndarray:
        a = out if type(out) is ndarray else as_array(out, "out")
        if a.dtype is not x.dtype and a.dtype.itemsize != x.dtype.itemsize:
            raise Error("out has elements of %d bytes, and x of %d" % (a.dtype.itemsize, x.dtype.itemsize))
        if a.dtype is not x.dtype and not a.dtype.isnative:
            raise Error("out has elements of type %s, in the other byte order: pass an array of %s" % (a.dtype.str, x.dtype))
        if a.dtype is not x.dtype and a.dtype != x.dtype:
            raise Error("out has elements of type %s, and x of %s: pass out.view(x.dtype) to have the bytes of x there" % (a.dtype, x.dtype))
        if a.shape != shape and a.ndim != 1:
            raise Error("out has shape %s, and the result has %s" % (a.shape, shape))
        return a

    def _shape_of(self, stored: Shape, out: Optional[Shape], shape: Optional[Sequence[int]], index: Optional[Mapping[str, Any]],
                  values: Optional[Mapping[str, Any]]) -> Shape:
        """The logical shape of a call of a plan with extents at run time, and what it is given by name."""
        if self.src_shape is not None:
            raise Error("all extents of this plan are numbers: omit shape")
        given = _values.complete(self._plan, values, stored, out, index) if self.values else values
        more = _values.numbers(self._plan, given or {}, self.dtype) if self.values or given else ()
        if shape is None and None not in self.shape:
            return numbers(self.shape) + more
        at = numbers(extents(shape)) if shape is not None else self._shape_by(stored, index)
        if len(at) != len(self.shape):
            raise Error("a shape of %d extents, and the plan has %d" % (len(at), len(self.shape)))
        return at + more

    def _shape_by(self, stored: Shape, index: Optional[Mapping[str, Any]]) -> Shape:
        """The logical shape that follows from the shapes of the arrays."""
        _index.given(self._plan, index)
        return logical_shape(self._files, self.src, self.dtype, stored, _index.shapes(index))

    def _run_at(self, x: np.ndarray, out: Any, shape: Optional[Sequence[int]], index: Optional[Mapping[str, Any]],
                values: Optional[Mapping[str, Any]]) -> Any:
        at = self._shape_of(x.shape, None if out is None else np.shape(out), shape, index, values)
        stored, result = self._shapes(at)
        if x.shape != stored and x.ndim != 1 and x.size:
            raise Error("x has shape %s, and %s of logical shape %s is stored as %s" % (x.shape, self.src, at[:len(self.shape)], stored))
        new = np.zeros(result, x.dtype) if out is None else self._checked(out, x, result)
        self._run(x, new, at, *([_index.arrays(self._plan, index, at)] if self.arrays or index else []))
        return new if out is None else out

    @property
    def way(self) -> str:
        return self._plan.way

    @property
    def source(self) -> Optional[str]:
        return self._plan.source

    @property
    def threads(self) -> int:
        return self._plan.threads

    def verify(self) -> dict[str, Any]:
        """Prove the code for the shape of the plan, and say what was examined.  Raises Error if it is wrong.

        >>> import ravel
        >>> ravel.compile("NCHW", "NC1HWC0", (1, 20, 2, 2), "f16").verify()["padding"]
        48
        """
        return self._plan.verify()

    def __repr__(self) -> str:
        return "<ravel.Plan %s -> %s of %s, %s: %s>" % (self.src, self.dst, self.shape, self.dtype, self.way)


def extents(shape: Sequence[Optional[int]]) -> OpenShape:
    """The argument `shape` as a tuple."""
    if isinstance(shape, (str, bytes)) or not hasattr(type(shape), "__iter__"):
        raise TypeError("a shape is a sequence of integers, as in (2, 64, 56, 56), and not %s" % type(shape).__name__)
    return tuple(shape)


def numbers(shape: OpenShape) -> Shape:
    """The shape of a call."""
    at = tuple(n for n in shape if n is not None)
    if len(at) < len(shape):
        raise Error("None in the shape of a call: its extents are numbers, as in (2, 64, 56, 56)")
    return at


def compile(src: LayoutLike, dst: LayoutLike, shape: Sequence[Optional[int]], dtype: DTypeLike, *, threads: int = 0,
            in_place: bool = False) -> Plan:
    """Compile the conversion of tensors of a logical shape from layout src to layout dst.

    `shape` has the extents in the order of the dims of src; None is an extent at run time.  `dtype` is f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32
    i64 u64 i4 u4 u2 u1 c64 c128, or a type of NumPy.  `threads` is the most threads of a call; 0: one for each processor.  A plan that is
    `in_place` converts x within its own memory.  Raises Error if a layout is wrong, or cannot be what it is to be.

    >>> import ravel
    >>> ravel.compile("NCHW", "{N//2, C}", (2, 20, 5, 7), "f16")
    Traceback (most recent call last):
    ...
    ravel.Error: ...
    """
    files, src, dst = _specs.resolve_two(text_of(src), text_of(dst))
    return Plan(files, src, dst, dtype_name(dtype), extents(shape), threads, in_place)


def logical_shape(files: _specs.Files, src: str, dtype: str, stored: Shape, arrays: tuple[tuple[str, Shape], ...] = ()) -> Shape:
    """The logical shape of what is stored in an array of this shape."""
    if not src.endswith("]"):
        return _specs.context(files).logical_shape(src, dtype, stored)
    shape = _index.part_of(files, src, dtype, stored, arrays)[1]
    if -1 in shape:
        raise Error("the logical shape does not follow from the stored array%s in layout '%s': give the shape%s"
                    % ((" and the shapes of the index arrays", src, "") if arrays else ("", src, ", or the numbers of an index array, as in index={'idx': numbers}")))
    return shape


@functools.lru_cache(maxsize=256)
def kept(files: _specs.Files, src: str, dst: str, t: np.dtype, stored: Shape, shape: Optional[OpenShape], dtype: Optional[DTypeLike], threads: int,
         in_place: bool = False) -> Plan:
    """The plan of a call of convert().  Extents of 0 are extents at run time: a plan of numbers has elements."""
    name = type_name(t, dtype)
    at = shape if shape is not None else logical_shape(files, src, name, stored)
    if 0 in at:
        return Plan(files, src, dst, name, tuple(n or None for n in at), threads)
    return Plan(files, src, dst, name, at, threads, in_place)


_specs.listeners.append(kept.cache_clear)


@functools.lru_cache(maxsize=256)
def kept_for_torch(src: str, dst: str, t: Any, stored: Shape, threads: int) -> Optional[Plan]:
    """The plan of a usual call with a tensor of torch's type t; None: what it is has to be found out."""
    try:
        plan = kept((), src, dst, _torch.numpy_type_of(t), tuple(stored), None, None, threads)
    except Error:
        return None
    return plan if plan._usual else None


_specs.listeners.append(kept_for_torch.cache_clear)


def convert(x: Any, src: LayoutLike, dst: LayoutLike, *, shape: Optional[Sequence[int]] = None, dtype: Optional[DTypeLike] = None,
            out: Any = None, threads: int = 0, index: Optional[Mapping[str, Any]] = None, values: Optional[Mapping[str, Any]] = None) -> Any:
    """Convert x from layout src to layout dst; returns out, or a new array of the element type of x: a tensor of torch for a tensor of torch.

    x is an array of NumPy, or an object with __array_interface__, __dlpack__ or a buffer; its memory is read as it is, with its strides, in the
    shape of the storage of src.  What the strides of out leave out is not written.  An array on a CUDA device, with __dlpack__ or
    __cuda_array_interface__, is converted there: the call enqueues a kernel on the array's stream, and out is on the same device.  If src has blocks, padding or a pitch, `shape` gives the logical shape.  `dtype` says what the bytes of an
    unsigned type mean, as in dtype="bf16" for uint16 or dtype="i4" for packed uint8.  `index` has the numbers of index arrays by name, and
    `values` the strides and the fill that are names.  The conversion is compiled once; later calls find it, also with other values.  Other threads run meanwhile.  With out=x the memory of x is converted in place, and the
    result is x in its new shape.  Raises Error, in the words of the library.

    >>> import numpy as np, ravel
    >>> x = np.arange(6, dtype="i4").reshape(2, 3)
    >>> ravel.convert(x, "{M, K}", "(M,K){K, M}")
    array([[0, 3],
           [1, 4],
           [2, 5]], dtype=int32)
    >>> ravel.convert(x[:, ::-2], "{M, K}", "(M,K){K, M}")
    array([[2, 5],
           [0, 3]], dtype=int32)
    >>> ravel.convert(x, "{M, K}(2,3)[:, idx]", "{M, K}", index={"idx": [2, 2, 0, 1]})
    array([[2, 2, 0, 1],
           [5, 5, 3, 4]], dtype=int32)
    >>> ravel.convert(x, "{M, K}", "{M, K//4, K%4, fill = zp}", values={"zp": -1}).tolist()
    [[[0, 1, 2, -1]], [[3, 4, 5, -1]]]
    """
    if (type(x) is ndarray and type(src) is str and type(dst) is str and shape is None and dtype is None and index is None and values is None
            and out is not x and type(threads) is int and ".lua:" not in src and ".lua:" not in dst and src[-1:] != "]" != dst[-1:]
            and (out is None or type(out) is ndarray)):
        if x.flags.c_contiguous and (out is None or out.flags.c_contiguous):
            plan = kept((), src, dst, x.dtype, x.shape, None, None, threads)
            if plan._usual:
                return plan(x, out)        # the usual call; what follows does the same for every other
        else:
            y = usual_strided(src, dst, x, out, threads)
            if y is not None:
                return y
    if (_torch.is_tensor(x) and type(src) is str and type(dst) is str and shape is None and dtype is None and index is None and values is None
            and type(threads) is int and ".lua:" not in src and ".lua:" not in dst):
        at = _torch.address(x)
        of_torch = kept_for_torch(src, dst, x.dtype, x.shape, threads) if at else None
        y = _torch.run(of_torch, x, at, out) if of_torch is not None else None
        if y is None and out is not x:
            y = strided_tensor(src, dst, x, out, threads)
        if y is not None:
            return y
    same = out is x
    if dtype is not None and type(dtype) is not str:
        dtype = dtype_name(dtype)
    threads = operator.index(threads)
    if type(x) is not ndarray and _device.holds(x):
        x = _device.array(x)
        dtype = x.name if dtype is None else dtype
    elif type(x) is not ndarray or out is not None and type(out) is not ndarray:
        a = as_array(x, "out" if same and x is not None else "x")
        o = a if same else None if out is None else as_array(out, "out")
        y = convert(a, src, dst, shape=shape, dtype=dtype, out=o, threads=threads, index=index, values=values)
        return as_of(x, y) if out is None or same else out
    if type(src) is not str:
        src = text_of(src)
    if type(dst) is not str:
        dst = text_of(dst)
    files, src, dst = _specs.resolve_two(src, dst)
    arrays = _index.shapes(index)
    given = src, dst
    name = type_name(x.dtype, dtype) if src.endswith("]") or dst.endswith("]") else ""
    if src.endswith("]") and (shape is None or name not in PACKED):
        src, part = _index.part_of(files, src, name, tuple(x.shape), arrays)
        if shape is None and (arrays or -1 not in part):
            shape = tuple(None if n == -1 else n for n in part)
    if dst.endswith("]") and out is not None and name not in PACKED:
        dst = _index.part_of(files, dst, name, tuple(out.shape), arrays)[0]
    if not same and index is None and values is None and type(x) is ndarray and not are_contiguous(x, out):
        known = shapes_of(files, src, dst, x.dtype, x.shape, extents(shape) if shape is not None else None, dtype)
        if known is not None:
            return of_strided(files, src, dst, known, x, out, threads)
    try:
        plan = kept(files, src, dst, x.dtype, x.shape, extents(shape) if shape is not None else None, dtype, threads, same and type(x) is np.ndarray)
    except Error:                          # an index may need a number where another one leaves a name
        numbered = in_numbers(files, *given, name, x, out, arrays)
        if values is not None or numbered == (src, dst):
            raise
        plan = kept(files, *numbered, x.dtype, x.shape, extents(shape) if shape is not None else None, dtype, threads, same and type(x) is np.ndarray)
    if type(x) is _device.Array:
        return plan._run_on_device(x, out, None, index, values)
    if None in plan.shape:
        return plan(x, None if same else out, shape=shape if shape is None or None not in shape else None, index=index, values=values)
    if same:
        return plan(x, x, index=index, values=values)
    if not are_contiguous(x, out):
        return between(plan, x, out, threads, index, values)
    return plan(x, out, index=index, values=values) if index is not None or values is not None else plan(x, out)


def in_numbers(files: _specs.Files, src: str, dst: str, dtype: str, x: Any, out: Any, arrays: tuple[tuple[str, Shape], ...]) -> tuple[str, str]:
    """The layouts with numbers for all names that follow from the arrays."""
    return numbered_one(files, src, dtype, x, arrays), numbered_one(files, dst, dtype, out, arrays)


def numbered_one(files: _specs.Files, layout: str, dtype: str, a: Any, arrays: tuple[tuple[str, Shape], ...]) -> str:
    if not layout.endswith("]") or a is None:
        return layout
    try:
        return _index.part_of(files, layout, dtype, tuple(a.shape), arrays, True)[0]
    except Error:                          # the rank of its tensor does not follow
        return layout


def are_contiguous(x: np.ndarray, out: Optional[np.ndarray]) -> bool:
    return bool(x.flags.c_contiguous and (out is None or out.flags.c_contiguous))


Known = tuple[str, Shape, Shape, Shape]    # dtype, logical shape, shapes of x and of out


@functools.lru_cache(maxsize=256)
def shapes_of(files: _specs.Files, src: str, dst: str, t: np.dtype, stored: Shape, shape: Optional[OpenShape],
              dtype: Optional[DTypeLike]) -> Optional[Known]:
    """What a plan between contiguous arrays would say, without that plan; None: only it can say that, or what is wrong."""
    context = _specs.context(files)
    try:
        name = type_name(t, dtype)
        at = shape if shape is not None else logical_shape(files, src, name, stored)
        if name in PACKED or None in at or 0 in at or stored != context.storage_shape(src, name, at):
            return None
        return name, numbers(at), stored, context.storage_shape(dst, name, at)
    except Error:
        return None


_specs.listeners.append(shapes_of.cache_clear)


def placed(files: _specs.Files, dtype: str, layout: str, shape: Any, a: np.ndarray, what: str) -> tuple[str, np.ndarray]:
    """The layout of an array with strides, and its memory."""
    if a.flags.c_contiguous:
        return layout, a
    if dtype in PACKED or a.shape != shape:
        raise Error("%s is not a C-contiguous array%s: pass np.ascontiguousarray(%s)"
                    % (what, "" if dtype in PACKED else ", and not of shape %s" % (shape,), what))
    memory, strides, origin = span(a, what)
    return _specs.context(files).strided(layout, strides, origin), memory


def of_strided(files: _specs.Files, src: str, dst: str, known: Known, x: np.ndarray, out: Any, threads: int,
               index: Optional[Mapping[str, Any]] = None, values: Optional[Mapping[str, Any]] = None) -> Any:
    """Convert arrays of which one has strides, as a plan would convert contiguous ones."""
    dtype, shape, of_x, of_out = known
    src, memory = placed(files, dtype, src, of_x, x, "x")
    dst, result = (dst, None) if out is None else placed(files, dtype, dst, of_out, out, "out")
    new = kept(files, src, dst, x.dtype, (), shape, dtype, threads)(memory, result, index=index, values=values)
    return new if out is None else out


def usual_strided(src: str, dst: str, x: np.ndarray, out: Optional[np.ndarray], threads: int) -> Optional[np.ndarray]:
    """of_strided() by addresses, as a call of it takes ten times as long as a small conversion; None: the arrays have to be looked at."""
    known = shapes_of((), src, dst, x.dtype, x.shape, None, None)
    if known is None or out is not None and not (out.dtype is x.dtype and out.shape == known[3] and out.flags.writeable):
        return None
    kept_so = kept_strided(src, dst, known, x.dtype, strides_of(x), None if out is None else strides_of(out), threads)
    if kept_so is None:
        return None
    plan, x_below, out_below = kept_so
    y = plan._new(plan.dst_shape, x.dtype) if out is None else out
    plan._plan.run_at(x.__array_interface__["data"][0] - x_below, y.__array_interface__["data"][0] - out_below)
    return y


def strided_tensor(src: str, dst: str, x: Any, out: Any, threads: int) -> Optional[Any]:
    """usual_strided() with tensors of torch."""
    if not _torch.is_memory(x) or out is not None and not (type(out) is type(x) and out.dtype is x.dtype and _torch.is_memory(out)):
        return None
    kept_so = kept_for_tensors(src, dst, x.dtype, x.shape, _torch.strides(x), None if out is None else out.shape,
                               None if out is None else _torch.strides(out), threads)
    if kept_so is None:
        return None
    plan, x_below, out_below = kept_so
    y = _torch.new(plan, x) if out is None else out
    plan._plan.run_at(x.data_ptr() - x_below, y.data_ptr() - out_below)
    return y


@functools.lru_cache(maxsize=256)
def kept_for_tensors(src: str, dst: str, t: Any, stored: Shape, x_strides: Optional[Shape], out_shape: Optional[Shape], out_strides: Optional[Shape],
                     threads: int) -> Optional[tuple[Plan, int, int]]:
    """kept_strided() for tensors of torch's type t; None: they have to be looked at."""
    try:
        of = _torch.numpy_type_of(t)
        known = shapes_of((), src, dst, of, tuple(stored), None, None)
        if known is None or out_shape is not None and tuple(out_shape) != known[3]:
            return None
        return kept_strided(src, dst, known, of, x_strides, out_strides, threads)
    except Error:
        return None


_specs.listeners.append(kept_for_tensors.cache_clear)


def strides_of(a: np.ndarray) -> Optional[Shape]:
    """None: a is contiguous."""
    return None if a.flags.c_contiguous else a.strides


@functools.lru_cache(maxsize=256)
def kept_strided(src: str, dst: str, known: Known, t: np.dtype, x_strides: Optional[Shape], out_strides: Optional[Shape], threads: int) -> Optional[tuple[Plan, int, int]]:
    """The plan between arrays with strides, and how many bytes below their first elements the memory of both begins."""
    name, shape, of_x, of_out = known

    def side(layout: str, stored: Shape, strides: Optional[Shape], what: str) -> tuple[str, int]:
        if strides is None:
            return layout, 0
        by, first = in_elements(stored, strides, t.itemsize, what)
        return _specs.context(()).strided(layout, by, first), first * t.itemsize

    (src, x_below), (dst, out_below) = side(src, of_x, x_strides, "x"), side(dst, of_out, out_strides, "out")
    plan = kept((), src, dst, t, (), shape, name, threads)
    return (plan, x_below, out_below) if plan._usual else None


_specs.listeners.append(kept_strided.cache_clear)


def between(plan: Plan, x: np.ndarray, out: Any, threads: int, index: Optional[Mapping[str, Any]], values: Optional[Mapping[str, Any]]) -> Any:
    """of_strided() by what a plan between contiguous arrays says."""
    if plan.values:
        values = _values.complete(plan._plan, values, x.shape, None if out is None else out.shape, index)
    of_x, of_out = plan._shapes(numbers(plan.shape) + _values.numbers(plan._plan, values or {}, plan.dtype) if plan.values else None)
    return of_strided(plan._files, plan.src, plan.dst, (plan.dtype, numbers(plan.shape), of_x, of_out), x, out, threads, index, values)
