"""Layouts, and what can be asked about them."""
from __future__ import annotations

import dataclasses
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _specs
from ._arrays import dtype_name
from ._ravel import Context, Error


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Properties of a layout for one shape, from Layout.check().  It is true if the layout can be a destination.

    `one_to_one` and `onto` are True, False, or None if that is not known.  `collision` is (x, y, address) of two elements at one address, or
    None.  `slots` = `elements` + `padding` + `holes`; these are 0 if the layout is not one-to-one.  `why` says why it is no destination.
    """
    one_to_one: Optional[bool]
    onto: Optional[bool]
    source: bool
    destination: bool
    bytes: int
    slots: int
    elements: int
    padding: int
    holes: int
    collision: Optional[tuple[tuple[int, ...], tuple[int, ...], int]]
    why: str

    def __bool__(self) -> bool:
        return self.destination


class Picture(str):
    """An SVG text, which notebooks show as a picture."""
    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return "<ravel.Picture: save('picture.svg') writes it>"

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as f:
            f.write(self)


A_LAYOUT = "a layout is a text such as 'NCHW', or what ravel.layout() returns"


class Layout:
    """A layout, from layout().

    Questions take `shape`, the logical extents in the order of the layout's dims, each 1 or more; and `dtype`, unless layout() was given one or no
    answer depends on it.  They raise Error, in the words of the library, if the shape has another number of dims, a dtype is needed and not given, or
    the layout cannot have this shape or dtype; TypeError if an argument is of a wrong type.
    """
    __slots__ = ("text", "dtype")
    __hash__ = None  # type: ignore[assignment]    # equal layouts have different texts

    def __init__(self, text: str, dtype: Any = None):
        self.text = _specs.checked(text, A_LAYOUT)
        self.dtype = None if dtype is None else dtype_name(dtype)
        self._context()

    def _context(self) -> tuple[Context, str, Union[str, Error]]:
        """The context, the name in it, and the dtype or the reason why one is needed."""
        files, name = _specs.resolve(self.text)
        context = _specs.context(files)
        try:
            return context, name, self.dtype or context.any_dtype(name)
        except Error as e:
            if e.status != "ARGUMENT":
                raise
            return context, name, e

    def _asked(self, dtype: Any) -> tuple[Context, str, str]:
        context, name, own = self._context()
        if dtype is not None:
            own = dtype_name(dtype)
        if isinstance(own, Error):
            raise own
        return context, name, own

    def check(self, shape: Sequence[int], dtype: Any = None) -> Verdict:
        """Decide whether the layout is one-to-one for a shape.

        Returns a Verdict, which is true if it is: then with the numbers of elements, padding and holes, and the bytes of storage; else with two
        coordinates that share an address, and the reason.  Raises Error also if that cannot be decided within the limit of work.

        >>> import ravel
        >>> v = ravel.layout("{M//2, K}").check((8, 8))
        >>> bool(v), v.collision, v.why
        (False, ((0, 0), (1, 0), 0), 'the digit M%2 is stored nowhere')
        >>> ravel.layout("NC1HWC0").check((2, 20, 5, 7), "f16").padding
        840
        """
        context, name, t = self._asked(dtype)
        return Verdict(**context.check(name, t, shape))

    def index(self, at: Sequence[int], shape: Sequence[int], dtype: Any = None) -> int:
        """The address of the element at coordinates `at`, one for each dim, counted in elements from the begin of storage.

        Raises Error also if a coordinate is outside the shape.

        >>> import ravel
        >>> ravel.layout("{M//4, K//4, M%4, K%4}").index((5, 2), (6, 8))
        38
        """
        context, name, t = self._asked(dtype)
        return context.index(name, t, shape, at)

    def element(self, address: int, shape: Sequence[int], dtype: Any = None) -> Optional[tuple[int, ...]]:
        """The coordinates of the element at an address, counted in elements; None if it is padding or a hole.

        Raises Error also if the address is outside the storage, or the layout is not one-to-one.

        >>> import ravel
        >>> ravel.layout("{M//4, K//4, M%4, K%4}").element(38, (6, 8))
        (5, 2)
        """
        context, name, t = self._asked(dtype)
        return context.element(name, t, shape, address)

    def table(self, shape: Sequence[int], dtype: Any = None) -> np.ndarray:
        """The address of every element, counted in elements: a new array of int64 of the logical shape.

        >>> import ravel
        >>> ravel.layout("(M,K){K, M}").table((2, 3)).tolist()
        [[0, 2, 4], [1, 3, 5]]
        """
        context, name, t = self._asked(dtype)
        context.storage_shape(name, t, shape)
        out = np.empty(shape, np.int64)
        context.table(name, t, shape, out)
        return out

    def storage(self, shape: Sequence[int], dtype: Any = None) -> tuple[int, ...]:
        """The shape of an array that holds a tensor in this layout: one extent for each entry of its order, padding included.

        >>> import ravel
        >>> ravel.layout("NHWC").storage((2, 3, 5, 7))
        (2, 5, 7, 3)
        """
        context, name, t = self._asked(dtype)
        return context.storage_shape(name, t, shape)

    def show(self, shape: Sequence[int], dtype: Any = None) -> Picture:
        """A picture: the address of each element, and the element at each address.

        Returns a Picture, which notebooks show, and which save() writes as SVG.  Raises Error also if the tensor is too large to draw.

        >>> import ravel
        >>> ravel.layout("{M//4, K//4, M%4, K%4}").show((6, 8)).save("/dev/null")
        """
        context, name, t = self._asked(dtype)
        return Picture(context.svg(name, t, shape))

    def equals(self, other: Union[str, Layout], shape: Optional[Sequence[int]] = None, dtype: Any = None) -> bool:
        """Whether both layouts give every element the same address, for one shape or, without one, for every shape.

        The dtype is that of one of them, or `dtype`.  Raises Error if that cannot be decided, if the layouts have different dims, or if they
        have two dtypes or none and depend on the size of elements.

        >>> import ravel
        >>> ravel.layout("NHWC").equals("NCHW", (2, 1, 5, 7))
        True
        """
        text = text_of(other)
        files, a, b = _specs.resolve_two(self.text, text)
        context = _specs.context(files)
        own = {self.dtype, other.dtype if isinstance(other, Layout) else None} - {None}
        given = dtype if dtype is not None else own.pop() if len(own) == 1 else self._any_dtype(context, a, b)
        answer, _ = context.equal(a, b, dtype_name(given), shape)
        if answer is None:
            raise Error("it cannot be decided whether %s and %s are equal%s" % (self.text, text, "" if shape else ": give a shape"))
        return answer

    @staticmethod
    def _any_dtype(context: Context, a: str, b: str) -> str:
        """A dtype for both: that of the one that fixes the size of its elements."""
        try:
            one, two = context.any_dtype(a), context.any_dtype(b)
        except Error as e:
            raise Error(str(e).replace(", such as f16", ", as in layout(..., 'f16') or a.equals(b, dtype='f16')")) from None
        return two if one == "f32" else one

    def __eq__(self, other: object) -> Any:
        """equals() for every shape.

        >>> import ravel
        >>> ravel.layout("NHWC") == "(N,C,H,W){N, H, W, C//4, C%4}", ravel.layout("NHWC") == ravel.layout("NCHW")
        (False, False)
        >>> ravel.layout("NHWC") == "(N,C,H,W){N, H, W, C}"
        True
        """
        return self.equals(other) if isinstance(other, (str, Layout)) else NotImplemented

    def __repr__(self) -> str:
        return "ravel.layout(%r%s)" % (self.text, ", %r" % self.dtype if self.dtype else "")


def text_of(layout: Union[str, Layout]) -> str:
    return layout.text if isinstance(layout, Layout) else _specs.checked(layout, A_LAYOUT)


def layout(text: str, dtype: Any = None) -> Layout:
    """The layout that a text describes; see the package's help for the forms.  Raises Error if there is none.

    >>> import ravel
    >>> ravel.layout("NC1HWCO")
    Traceback (most recent call last):
    ...
    ravel.Error: ...NC1HWC0...
    """
    return Layout(text, dtype)
