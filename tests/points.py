"""The golden points of points.txt."""

import pathlib
import re
from dataclasses import dataclass, field

ROW = re.compile(r"(\w+(?:\{[^}]*\})?) ([\d,]+) (\w+), (\d+) slots: (.*)")
WORDS = ("padding", "hole")


@dataclass
class Row:
    layout: str
    shape: tuple
    dtype: str
    slots: int              # of the storage
    by: str                 # what said so
    at: dict = field(default_factory=dict)          # coordinates -> slot
    empty: dict = field(default_factory=dict)       # slot -> "padding" or "hole"

    @property
    def name(self):
        return self.layout.partition("{")[0]


def numbers(text):
    return tuple(int(x) for x in text.split(","))


def read(line, by):
    layout, shape, dtype, slots, points = ROW.fullmatch(line).groups()
    row = Row(layout, numbers(shape), dtype, int(slots), by.strip())
    for where, slot in (p.split(" at ") for p in points.split("; ")):
        if where in WORDS:
            row.empty[int(slot)] = where
        else:
            row.at[numbers(where)] = int(slot)
    return row


def rows():
    lines = [x for x in pathlib.Path(__file__).with_name("points.txt").read_text().splitlines() if x and not x.startswith("#")]
    assert len(lines) % 2 == 0 and all(x.startswith("  ") for x in lines[1::2])
    return [read(a, b) for a, b in zip(lines[::2], lines[1::2])]
