"""Arrays on a CUDA device: objects with __dlpack__ or __cuda_array_interface__, and conversions of them on their stream."""
from __future__ import annotations

import functools
import math
import sys
from typing import Any, Callable, Mapping, NamedTuple, Optional

import numpy as np

from . import _index, _ravel, _specs
from ._arrays import HOST_DEVICES, PACKED, OpenShape, Shape, bits_of, check_out, lent, lent_type, root_of
from ._ravel import Error

CUDA_DEVICES = {2, 13}       # of DLPack's types: a device's memory, and memory that CUDA manages
LEGACY = 1                   # the legacy default stream, for DLPack and for the driver


class Library(NamedTuple):
    """What a library does for its arrays: its current stream, and new arrays on the device of another one."""
    stream: Callable[[Any, Any], int]
    new: Callable[[Any, Any, Shape, str], Any]
    flag: Callable[[Any, Any], Any]              # one zero of 32 bits


def torch_stream(torch: Any, x: Any) -> int:
    return int(torch.cuda.current_stream(x.device).cuda_stream)


def torch_new(torch: Any, x: Any, shape: Shape, how: str) -> Any:
    return getattr(torch, how)(shape, dtype=x.dtype, device=x.device)


def torch_flag(torch: Any, x: Any) -> Any:
    return torch.zeros(1, dtype=torch.int32, device=x.device)


def cupy_stream(cupy: Any, x: Any) -> int:
    with x.device:
        return int(cupy.cuda.get_current_stream().ptr)


def cupy_new(cupy: Any, x: Any, shape: Shape, how: str) -> Any:
    with x.device:
        return getattr(cupy, how)(shape, x.dtype)


def cupy_flag(cupy: Any, x: Any) -> Any:
    with x.device:
        return cupy.zeros(1, "i4")


LIBRARIES = {"torch": Library(torch_stream, torch_new, torch_flag), "cupy": Library(cupy_stream, cupy_new, cupy_flag)}


def library_of(x: Any) -> Optional[str]:
    """The library of x, also if its class is derived from the library's."""
    return root_of(x, LIBRARIES)


class Array(NamedTuple):
    """An array on a device.  Strides and the origin, its first element, are in elements from its lowest one, which is at the address."""
    object: Any
    dtype: np.dtype
    name: Optional[str]      # its dtype here; None: that of its type
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    origin: int
    address: int
    bytes: int
    device: _ravel.Device
    stream: int
    owner: Any               # of the memory, beside the object: its capsule

    @property
    def contiguous(self) -> bool:
        next_ = [math.prod(self.shape[d + 1:]) for d in range(len(self.shape))]
        return 0 in self.shape or all(n == 1 or s == m for n, s, m in zip(self.shape, self.strides, next_))


def holds(x: Any) -> bool:
    """Whether x is an array on a device.  torch's own attribute is 2 microseconds faster than its __dlpack_device__."""
    if getattr(x, "is_cpu", None) is True:
        return False
    where = getattr(x, "__dlpack_device__", None)
    return where()[0] not in HOST_DEVICES if where is not None else hasattr(x, "__cuda_array_interface__")


def array(x: Any, stream: Optional[int] = None) -> Array:
    """What is known of x.  Its library makes the given stream, or else the one that it works on, wait for what writes x."""
    stream = stream or stream_of(x)
    return from_dlpack(x, stream) if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__") else from_interface(x, stream)


def stream_of(x: Any) -> int:
    library = library_of(x)
    if library is not None:
        return LIBRARIES[library].stream(sys.modules[library], x) or LEGACY
    interface = getattr(x, "__cuda_array_interface__", {})
    return interface.get("stream") or LEGACY


def from_dlpack(x: Any, stream: int) -> Array:
    kind, ordinal = x.__dlpack_device__()
    if kind not in CUDA_DEVICES:
        raise Error("an array on a device of DLPack's type %d: conversions are on the CPU and on CUDA devices; copy it to the CPU first" % kind)
    t = lent(x, stream=stream)
    return Array(x, lent_type(t, x), "u8" if t.dtype == "bool" else t.dtype, t.shape, t.strides, t.origin, *t.memory, opened(ordinal), stream, t)


def from_interface(x: Any, stream: int) -> Array:
    """By version 3 of the CUDA array interface; numba has nothing else."""
    i = x.__cuda_array_interface__
    if i.get("mask") is not None:
        raise Error("an array with a mask")
    if (i.get("stream") or stream) != stream:
        raise Error("out is used on stream %#x, and x on %#x: wait for one of them, and pass both on one stream" % (i["stream"], stream))
    t, shape = np.dtype(i["typestr"]), tuple(i["shape"])
    given = i.get("strides") or [t.itemsize * math.prod(shape[d + 1:]) for d in range(len(shape))]
    if any(s % t.itemsize for n, s in zip(shape, given) if n > 1):
        raise Error("an array with strides that are no multiples of its elements")
    strides = tuple(s // t.itemsize if n > 1 else 0 for n, s in zip(shape, given))
    ends = [s * (n - 1) for n, s in zip(shape, strides)]
    origin = -sum(e for e in ends if e < 0)
    size = 0 if 0 in shape else (1 + sum(map(abs, ends))) * t.itemsize
    return Array(x, t, None, shape, strides, origin, i["data"][0] - origin * t.itemsize, size, of_current_context(), stream, None)


@functools.lru_cache(maxsize=None)
def opened(ordinal: int) -> _ravel.Device:
    """A device by its number, with its primary context, which is also the CUDA runtime's."""
    return _ravel.Device(ordinal)


contexts: dict[int, _ravel.Device] = {}


def of_current_context() -> _ravel.Device:
    """The interface does not name the device: it is that of the context that is current on this thread."""
    device = _ravel.Device(None)
    return contexts.setdefault(device.context, device)


@functools.lru_cache(maxsize=256)
def plan_for(device: _ravel.Device, files: _specs.Files, src: str, dst: str, dtype: str, shape: OpenShape, align: int) -> _ravel.DevicePlan:
    return _specs.context(files).device_plan(device, src, dst, dtype, shape, align)


_specs.listeners.append(plan_for.cache_clear)


def new_array(plan: Any, x: Array, shape: Shape, at: Shape) -> Any:
    """An array of x's library for the result; holes are 0, as in a new array of NumPy: where elements do not fill it, all is 0 first."""
    library = library_of(x.object)
    if library is None:
        raise Error("x is on a device, and %s has no arrays that are allocated here: give out=" % type(x.object).__module__.partition(".")[0])
    filled = not plan.values and not plan.arrays and math.prod(at) * bits_of(plan.dtype) == math.prod(shape) * x.dtype.itemsize * 8
    how = "empty" if filled else "zeros"
    return LIBRARIES[library].new(sys.modules[library], x.object, shape, how)


def new_flag(x: Array) -> Any:
    """An array of x's library that has one zero of 32 bits, beside x."""
    library = library_of(x.object)
    if library is None:
        raise Error("index arrays on a device are taken beside arrays of torch and CuPy: %s allocates nothing here"
                    % type(x.object).__module__.partition(".")[0])
    return LIBRARIES[library].flag(sys.modules[library], x.object)


def result_array(out: Any, x: Array, shape: Shape) -> Array:
    """out, if the result fits in it and it is beside x."""
    if not holds(out):
        raise Error("x is on a device, and out is not")
    o = array(out, x.stream)
    if o.device.context != x.device.context:
        raise Error("x and out are on two devices")
    if isinstance(o.owner, _ravel.Tensor):
        check_out(out, o.owner)
    if getattr(out, "__cuda_array_interface__", {}).get("data", (0, False))[1]:
        raise Error("out is not an array that can be written to")
    if o.dtype.itemsize != x.dtype.itemsize:
        raise Error("out has elements of %d bytes, and x of %d" % (o.dtype.itemsize, x.dtype.itemsize))
    if o.dtype != x.dtype:
        raise Error("out has elements of type %s, and x of %s" % (o.dtype, x.dtype))
    if o.shape != shape and len(o.shape) != 1:
        raise Error("out has shape %s, and the result has %s" % (o.shape, shape))
    if x.address < o.address + o.bytes and o.address < x.address + x.bytes:
        raise Error("out and x overlap: there is no conversion in place")
    return o


def placed(plan: Any, layout: str, shape: Shape, a: Array, what: str) -> str:
    """The layout of an array with strides."""
    if a.contiguous:
        return layout
    if plan.dtype in PACKED or a.shape != shape:
        raise Error("%s is not a C-contiguous array%s" % (what, "" if plan.dtype in PACKED else ", and not of shape %s" % (shape,)))
    return _specs.context(plan._files).strided(layout, a.strides, a.origin)


def index_arrays(plan: Any, x: Array, index: Optional[Mapping[str, Any]], at: Optional[Shape]) -> tuple[Array, ...]:
    """The index arrays of a run, which are beside x."""
    out = []
    for name, given, bits, shape in _index.given(plan._plan, index, at):
        if not holds(given):
            raise Error("the index array '%s' is not on the device of x" % name)
        a = array(given, x.stream)
        if a.device.context != x.device.context:
            raise Error("x and the index array '%s' are on two devices" % name)
        if a.shape != shape or a.dtype != np.dtype("i%d" % (bits // 8)) or not a.contiguous:
            raise Error("the index array '%s' has shape %s and type %s%s: it must have shape %s, of int%d" % (
                name, a.shape, a.dtype, "" if a.contiguous else ", with strides", shape, bits))
        out.append(a)
    return tuple(out)


def check(bad: Any, names: tuple[str, ...]) -> None:
    """Wait for a run, and see what it found in its index arrays."""
    found = int(bad.item())
    if found:
        raise Error("a number of the index array '%s' is out of range: nothing was written" % names[found - 1])


def run(plan: Any, x: Array, out: Any, shapes: tuple[Shape, Shape], at: Optional[Shape], index: Optional[Mapping[str, Any]]) -> Any:
    """Enqueue a conversion of x on its stream, and return out or a new array; `shapes` are those of x and of the result."""
    if x.shape != shapes[0] and len(x.shape) != 1 and 0 not in x.shape:
        raise Error("x has shape %s, and %s of logical shape %s is stored as %s" % (x.shape, plan.src, at or plan.shape, shapes[0]))
    arrays = index_arrays(plan, x, index, at)
    result = new_array(plan, x, shapes[1], at or plan.shape) if out is None else out
    o = result_array(result, x, shapes[1])
    src, dst = placed(plan, plan.src, shapes[0], x, "x"), placed(plan, plan.dst, shapes[1], o, "out")
    both = x.address | o.address | 16
    made = plan_for(x.device, plan._files, src, dst, plan.dtype, plan.shape, both & -both)
    if not plan.arrays:
        made.run(x.stream, o.address, o.bytes, x.address, x.bytes, at)
        return result
    bad = new_flag(x)
    made.run(x.stream, o.address, o.bytes, x.address, x.bytes, at, tuple(a.address for a in arrays), array(bad, x.stream).address)
    check(bad, plan.arrays)
    return result
