"""What the oracles of tests/formulas*.py are made of."""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Map:
    addr: np.ndarray        # int64, logical shape: storage index in elements
    size: int               # elements of storage
    storage: tuple          # extents of the storage, or None where it is not a plain box
    padding: np.ndarray = None      # without a box: addresses that elements would have beyond the extents, if there are any
    fill: int = 0           # the value of padding


@dataclass
class Formula:
    rank: object            # rank of the logical shape; None: any
    fn: object              # fn(shape, bits, **params) -> Map
    bits: object            # the only element size it has, in bits, or all of them; None: any
    shapes: list
    variants: list = field(default_factory=list)     # (params, shapes), further parameters given at use


def cd(a, b):
    return -(-a // b)


def ru(a, b):
    return cd(a, b) * b


def recipe(pads, view, permute):
    """Logical shape -> Map: the tensor, padded to multiples, as x.view(*view).permute(*permute), in the words of PyTorch.
    view: functions of the padded extents, or numbers; -1 is worked out."""
    def fn(shape, bits, **params):
        full = [ru(n, p(bits, **params) if callable(p) else p) for n, p in zip(shape, pads)]
        axes = [a(bits, *full, **params) if callable(a) else a for a in view]
        at = np.arange(math.prod(full)).reshape(axes).transpose(permute)
        addr = np.empty(at.size, np.int64)
        addr[at.reshape(-1)] = np.arange(at.size)
        return box(addr.reshape(full)[tuple(slice(n) for n in shape)], *at.shape)
    return fn


def coords(shape):
    return np.indices(shape, dtype=np.int64)


def box(addr, *storage):
    return Map(addr, math.prod(storage), tuple(int(n) for n in storage))
