"""The usual calls with tensors of PyTorch on the CPU, by their addresses: DLPack takes about three microseconds for a tensor."""
from __future__ import annotations

import functools
import sys
from typing import Any, Optional

import numpy as np

from ._arrays import name_of, numpy_type


def numpy_type_of(t: Any) -> np.dtype:
    """What the bytes of torch's type t are to NumPy, as DLPack's are."""
    return np.dtype("?") if str(t) == "torch.bool" else numpy_type(name_of(t))


@functools.lru_cache(maxsize=64)
def is_of(t: Any, dtype: str) -> bool:
    """Whether elements of torch's type t have this dtype."""
    return name_of(t) == dtype


@functools.lru_cache(maxsize=16)
def is_dense(layout: Any) -> bool:
    """Whether a tensor of this torch.layout has its elements at strides."""
    return str(layout) == "torch.strided"


def is_tensor(x: Any) -> bool:
    """Whether x is one of torch's own tensors: a derived class may be anything."""
    torch = sys.modules.get("torch")
    return torch is not None and type(x) is getattr(torch, "Tensor", None)


def is_memory(x: Any) -> bool:
    """Whether the tensor is its memory, which is no device's."""
    is_so: bool = x.is_cpu and is_dense(x.layout) and not (x.requires_grad or x.is_conj() or x.is_neg())
    return is_so


def address(x: Any) -> int:
    """Where the elements of a tensor lie one after the other; 0: they do not, or the tensor is not its memory."""
    at: int = x.data_ptr() if x.is_contiguous() and is_memory(x) else 0
    return at


def strides(x: Any) -> Optional[tuple[int, ...]]:
    """Those in bytes; None: x is contiguous."""
    size = x.element_size()
    return None if x.is_contiguous() else tuple(s * size for s in x.stride())


def new(plan: Any, x: Any) -> Any:
    return (x.new_empty if plan._new is np.empty else x.new_zeros)(plan.dst_shape)


def run(plan: Any, x: Any, src: int, out: Any) -> Optional[Any]:
    """Run a plan without extents at run time on tensors that fit it, of which x is at the address src: out, or a new tensor.  None: they do not fit,
    or have to be looked at."""
    if not src or x.shape != plan.src_shape or not is_of(x.dtype, plan.dtype):
        return None
    if out is None:
        out = new(plan, x)
        dst = out.data_ptr()
    elif type(out) is type(x) and out is not x and out.shape == plan.dst_shape and out.dtype is x.dtype:
        dst = address(out)
    else:
        dst = 0
    if not dst:
        return None
    plan._plan.run_at(src, dst)
    return out
