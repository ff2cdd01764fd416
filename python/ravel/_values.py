"""What each run is given by name: the strides and the origin of NCHW@o(sn,sc,sh,1), the extent of ROW_MAJOR(N,6)[1:3], the fill of NC1HWC0{fill=zp}."""
from __future__ import annotations

import collections.abc
import operator
from typing import Any, Mapping, Optional

import numpy as np

from . import _index
from ._arrays import PACKED, Shape, numpy_type
from ._ravel import Error, Plan


def complete(plan: Plan, given: Optional[Mapping[str, Any]], x: Shape, out: Optional[Shape], index: Optional[Mapping[str, Any]]) -> dict[str, Any]:
    """The values, with those that follow from the shapes of the arrays: N of ROW_MAJOR(N,6)[1:3] is that of x."""
    if given is not None and not isinstance(given, collections.abc.Mapping):
        raise Error("values is a %s: give numbers by name, as in values={'ld': 64}" % type(given).__name__)
    found = plan.given(x, out, _index.shapes(index))
    return {name: n for name, n in zip(plan.values()[0], found) if n >= 0} | dict(given or {})


def numbers(plan: Plan, given: Mapping[str, Any], dtype: str) -> tuple[int, ...]:
    """The values in the order of the plan."""
    names, fill = plan.values()
    for name in names:
        if name not in given:
            raise Error("the layout has the name '%s': give its value, as in values={'%s': 64}" % (name, name))
    for name in given:
        if name not in names:
            raise Error("'%s' is no stride, extent or fill that is given to a run of the layouts%s" % (name, ": these are " + ", ".join(names) if names else ""))
    return tuple(bits(name, given[name], dtype) if name == fill else stride(name, given[name]) for name in names)


def whole(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise Error("'%s' is %r: it is a whole number" % (name, value)) from None


def stride(name: str, value: Any) -> int:
    n = whole(name, value)
    if n < 0:
        raise Error("'%s' is %d: strides and extents are 0 or more" % (name, n))
    if n >> 63:
        raise Error("'%s' is %d: it does not fit 64 bits" % (name, n))
    return n


def bits(name: str, value: Any, dtype: str) -> int:
    """The bits of a fill: a value of the type, which a float rounds."""
    if dtype in PACKED or dtype[0] in "iu":
        low, high = (-1 << (int(dtype[1:]) - 1), 1 << (int(dtype[1:]) - 1)) if dtype[0] == "i" else (0, 1 << int(dtype[1:]))
        if not low <= (fill := whole(name, value)) < high:
            raise Error("the fill '%s' is %d: %s holds %d to %d" % (name, fill, dtype, low, high - 1))
        return fill - (fill >> 63 << 64 if dtype == "u64" else 0)
    with np.errstate(over="ignore"):
        number = np.asarray(value, np.float64)
        exact = number.astype(np.float32 if dtype == "bf16" else numpy_type(dtype))
    if number.shape or (np.isinf(exact) and not np.isinf(number)):
        raise Error("the fill '%s' is %r, which %s does not hold" % (name, value, dtype))
    if dtype == "bf16":
        word = int(exact.view("u4"))
        return 0x7fc0 if np.isnan(exact) else (word + 0x7fff + (word >> 16 & 1)) >> 16
    return int(exact.view("i%d" % exact.itemsize))
