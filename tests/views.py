"""What the tests of views share: tensors as arrays of their addresses, which NumPy indexes, and the command."""

import math
import subprocess

import numpy as np

import ravel

RAVEL = str(ravel.BUILD / "ravel")


def grid(shape):
    return np.indices(shape) if shape else np.zeros((0,), int)


def blocked(shape, order):
    """Addresses of an array with one axis for each entry of `order`, (coordinate, slots)."""
    at = 0
    for x, n in order:
        at = at * n + x
    return at + np.zeros(shape, int)


def ceil(a, b):
    return -(-a // b)


def nc1hwc0(shape):
    n, c, h, w = grid(shape)
    return blocked(shape, [(n, shape[0]), (c // 16, ceil(shape[1], 16)), (h, shape[2]), (w, shape[3]), (c % 16, 16)])


def tiles(shape):
    a, b = grid(shape)
    return blocked(shape, [(a // 4, ceil(shape[0], 4)), (b // 3, ceil(shape[1], 3)), (b % 3, 3), (a % 4, 4)])


def turned(shape):
    a, b = grid(shape)
    return blocked(shape, [(b, shape[1]), (a // 4, ceil(shape[0], 4)), (3 - a % 4, 4)])


# Layout: its addresses, by formula; rank, 0: any.
TENSORS = {
    "ROW_MAJOR": (lambda s: np.arange(math.prod(s)).reshape(s), 0),
    "COL_MAJOR": (lambda s: np.arange(math.prod(s)).reshape(s[::-1]).transpose(), 0),
    "NHWC": (lambda s: np.arange(math.prod(s)).reshape(s[0], s[2], s[3], s[1]).transpose(0, 3, 1, 2), 4),
    "NC1HWC0{C0 = 16}": (nc1hwc0, 4),
    "(A,B){A//4, B//3, B%3, A%4}": (tiles, 2),
    "(A,B){B, A//4, 3 - A%4}": (turned, 2),
}


def numpys(at, index):
    return eval("at" + index, {"at": at, "None": None})


def plain(rank):
    return "(%s){%s}" % (",".join("STUVPQRZ"[:rank]), ",".join("STUVPQRZ"[:rank])) if rank else "ROW_MAJOR"


def random_bytes(n, seed):
    return np.random.default_rng(seed).integers(0, 256, n, np.uint8)


def ran(*args):
    r = subprocess.run([RAVEL, *args], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r.stdout
