"""The index arrays of a run: x[idx] with idx given to each call."""
from __future__ import annotations

import collections.abc
from typing import Any, Mapping, Optional

import numpy as np

from ._ravel import Context, Error, Plan


def numbers(name: str, given: Any, bits: int) -> np.ndarray:
    """The numbers as the plan reads them: one dim, contiguous, of 32 or 64 bits."""
    a = np.asarray(given)
    if a.dtype == bool:
        raise Error("the index array '%s' is a mask: pass np.flatnonzero of it" % name)
    if a.ndim != 1 or (a.size and a.dtype.kind not in "iu"):
        raise Error("the index array '%s' has shape %s and type %s: it must have one dim, of integers" % (name, a.shape, a.dtype))
    own = np.dtype("i%d" % (bits // 8))
    fitting = a if a.dtype == own else a.astype(own)
    if fitting is not a and a.size and (fitting != a).any():
        raise Error("a number of the index array '%s' does not fit %d bits" % (name, bits))
    return np.ascontiguousarray(fitting)


def by_name(index: Any) -> Mapping[str, Any]:
    if not isinstance(index, collections.abc.Mapping):
        raise Error("index is a %s: give numbers by the array's name, as in index={'idx': numbers}" % type(index).__name__)
    return index


def arrays(plan: Plan, index: Optional[Mapping[str, Any]]) -> tuple[np.ndarray, ...]:
    """The arrays of `index` in the order of the plan's."""
    wanted, given = plan.arrays(), {} if index is None else by_name(index)
    names = [name for name, _, _, _ in wanted]
    for name in names:
        if name not in given:
            raise Error("the layout has the index array '%s': give its numbers, as in index={'%s': numbers}" % (name, name))
    for name in given:
        if name not in names:
            raise Error("'%s' is no index array of the layouts%s" % (name, ": they have " + ", ".join(names) if names else ""))
    found = tuple(numbers(name, given[name], bits) for name, bits, _, _ in wanted)
    for (name, _, count, _), a in zip(wanted, found):
        if count is not None and count != a.size:
            raise Error("the index array '%s' has %d numbers, and the shape %d" % (name, a.size, count))
    return found


def shape_of(context: Context, layout: str, index: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of a part of a tensor: the one extent that its text leaves open is the length of the one array."""
    shape, index = context.view_shape(layout), by_name(index)
    if shape.count(-1) > 1 or (-1 in shape and len(index) != 1):
        raise Error("the shape does not follow from '%s': give shape" % layout)
    for name, given in index.items():
        if -1 in shape and not np.size(given):
            raise Error("the index array '%s' is empty: the result would have no elements" % name)
    length = max((np.size(a) for a in index.values()), default=0)
    return tuple(length if n == -1 else n for n in shape)
