"""The index arrays of a run: x[idx] with idx given to each call."""
from __future__ import annotations

import collections.abc
from typing import Any, Mapping, Optional

import numpy as np

from ._ravel import Context, Error, Plan


def numbers(name: str, given: Any, bits: int, shape: tuple[int, ...]) -> np.ndarray:
    """The numbers as the plan reads them: contiguous, of 32 or 64 bits, in this shape."""
    a = np.asarray(given)
    if a.dtype == bool:
        raise Error("the index array '%s' is a mask: pass np.flatnonzero of it" % name)
    if a.shape != shape or (a.size and a.dtype.kind not in "iu"):
        raise Error("the index array '%s' has shape %s and type %s: it must have shape %s, of integers" % (name, a.shape, a.dtype, shape))
    own = np.dtype("i%d" % (bits // 8))
    fitting = a if a.dtype == own else a.astype(own)
    if fitting is not a and a.size and (fitting != a).any():
        raise Error("a number of the index array '%s' does not fit %d bits" % (name, bits))
    return np.ascontiguousarray(fitting)


def by_name(index: Any) -> Mapping[str, Any]:
    if not isinstance(index, collections.abc.Mapping):
        raise Error("index is a %s: give numbers by the array's name, as in index={'idx': numbers}" % type(index).__name__)
    return index


def given(plan: Plan, index: Optional[Mapping[str, Any]], shape: Optional[tuple[int, ...]] = None) -> list[tuple[str, Any, int, tuple[int, ...]]]:
    """Name, array, bits of a number and shape of each index array, in the order of the plan's, which has extents at run time if a shape is
    given."""
    wanted, given = plan.arrays(shape), {} if index is None else by_name(index)
    names = [name for name, *_ in wanted]
    for name in names:
        if name not in given:
            raise Error("the layout has the index array '%s': give its numbers, as in index={'%s': numbers}" % (name, name))
    for name in given:
        if name not in names:
            raise Error("'%s' is no index array of the layouts%s" % (name, ": they have " + ", ".join(names) if names else ""))
    return [(name, given[name], bits, tuple(extents)) for name, bits, extents in wanted]


def arrays(plan: Plan, index: Optional[Mapping[str, Any]], shape: Optional[tuple[int, ...]] = None) -> tuple[np.ndarray, ...]:
    """The arrays as the plan reads them."""
    return tuple(numbers(*one) for one in given(plan, index, shape))


def shape_of(context: Context, layout: str, index: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of a part of a tensor: what its text leaves open is the length, or the shape, that all arrays have."""
    shape, index = context.view_shape(layout), by_name(index)
    if -1 not in shape:
        return tuple(shape)
    given = {np.shape(a) for a in index.values()}
    size: tuple[int, ...] = given.pop() if len(given) == 1 else ()
    if len(size) == 1 and shape.count(-1) == 1:
        size = tuple(size[0] if n == -1 else n for n in shape)
    if len(size) != len(shape) or any(n not in (-1, m) for n, m in zip(shape, size)):
        raise Error("the shape does not follow from '%s': give shape" % layout)
    for name, a in index.items():
        if not np.size(a):
            raise Error("the index array '%s' is empty: the result would have no elements" % name)
    return size
