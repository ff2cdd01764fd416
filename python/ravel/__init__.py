"""Convert tensors between layouts, and ask about layouts.

A layout says at which address of the storage each element of a tensor lies.  It is given as text: a name ("NC1HWC0"), a name with parameters
("NC1HWC0{C0=32}"), an inline table ("{N, C//16, H, W, C%16}"), or a layout of a file ("mine.lua:MINE").

>>> import numpy as np, ravel
>>> x = np.arange(2*20*5*7, dtype=np.float16).reshape(2, 20, 5, 7)
>>> ravel.convert(x, "NCHW", "NC1HWC0").shape
(2, 2, 5, 7, 16)
"""
from ._convert import Plan, compile, convert
from ._layout import Layout, Picture, Verdict, layout
from ._ravel import Error
from ._ravel import version as __version__
from ._specs import load

__all__ = ["Error", "Layout", "Picture", "Plan", "Verdict", "compile", "convert", "layout", "load"]
