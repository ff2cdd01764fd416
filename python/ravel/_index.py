"""The index arrays of a run: x[idx] with idx given to each call."""
from __future__ import annotations

import collections.abc
import functools
from typing import Any, Mapping, Optional

import numpy as np

from . import _specs
from ._ravel import Error, Plan


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


def shapes(index: Optional[Mapping[str, Any]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The shape of each array."""
    return tuple((name, np.shape(a)) for name, a in by_name(index).items()) if index else ()


@functools.lru_cache(maxsize=256)
def part_of(files: _specs.Files, layout: str, dtype: str, stored: tuple[int, ...], arrays: tuple[tuple[str, tuple[int, ...]], ...],
            numbers: bool = False) -> tuple[str, tuple[int, ...]]:
    """A part of a tensor that is stored in an array of this shape: its layout, with the extents of the tensor or with `numbers` for all names,
    and its shape, with -1 for an extent that does not follow."""
    return _specs.context(files).part_of(layout, dtype, stored, arrays, numbers)


_specs.listeners.append(part_of.cache_clear)
