"""Contexts of the library: one with the layouts that come with ravel and those of load(), and one more for each spec file in use."""
from __future__ import annotations

import functools
import os
import re
from typing import Callable

from ._ravel import Context, Error

loaded: list[tuple[str, str]] = []
listeners: list[Callable[[], None]] = []         # caches to clear when names get another meaning

# A version of a spec file: path, modification time, size.
Version = tuple[str, int, int]
Files = tuple[Version, ...]


@functools.lru_cache(maxsize=64)
def context(files: Files) -> Context:
    """The context that has what was loaded, and these files."""
    c = Context()
    for text, name in loaded:
        c.load(text, name)
    for path, _, _ in files:
        with open(path, "rb") as f:
            c.load(f.read(), path)
    return c


def checked(text: str, what: str) -> str:
    """The argument `what`, which is a text."""
    if not isinstance(text, str):
        raise TypeError("%s, and not %s" % (what, type(text).__name__))
    return text


def resolve(text: str) -> tuple[Files, str]:
    """("mine.lua:MINE") -> (the version of the file, "MINE"); other texts need no file."""
    path, mark, name = text.partition(".lua:")
    if not mark or text[:1] in "{(":
        return (), text
    path += ".lua"
    try:
        s = os.stat(path)
    except OSError as e:
        raise Error("%s: %s" % (path, e.strerror)) from None
    return ((path, s.st_mtime_ns, s.st_size),), name


def resolve_two(src: str, dst: str) -> tuple[Files, str, str]:
    """The files of two layouts and their names in them."""
    if ".lua:" not in src and ".lua:" not in dst:
        return (), src, dst
    (a, src), (b, dst) = resolve(src), resolve(dst)
    if not a or not b or a == b:
        return a or b, src, dst
    name_a, name_b = (re.split("[({]", text)[0].rstrip() for text in (src, dst))
    return in_order(a[0], name_a, b[0], name_b), src, dst


@functools.lru_cache(maxsize=64)
def in_order(a: Version, name_a: str, b: Version, name_b: str) -> Files:
    """Two files, in an order in which neither hides the layout of the other: the one loaded later may not mention its name."""
    if not mentions(b, name_a):
        return a, b
    if not mentions(a, name_b):
        return b, a
    raise Error("%s and %s both have a %s: give one of the layouts another name" % (a[0], b[0], name_a))


def mentions(file: Version, name: str) -> bool:
    with open(file[0], encoding="utf-8", errors="replace") as f:
        return re.search(r"\b%s\b" % re.escape(name), f.read()) is not None


def load(text: str, name: str = "<text>") -> None:
    """Add the layouts of a spec text.  A later definition of a name replaces an earlier one.

    Raises Error, with the line, if the text is wrong; then nothing is added.

    >>> import ravel
    >>> ravel.load("layout 'PAIRS' { dims = { M, K }, order = { M // 2, K, M % 2 } }")
    >>> ravel.layout("PAIRS").index((1, 2), (4, 3))
    5
    """
    checked(text, "a spec is a text such as \"layout 'PAIRS' { ... }\"")
    checked(name, "the name of a spec is a text such as 'mine.lua'")
    Context().load(text, name)
    loaded.append((text, name))
    context.cache_clear()
    for clear in listeners:
        clear()
