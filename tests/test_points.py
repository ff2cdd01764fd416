"""The catalogue: each layout has an owner, a source, a version and golden points, which ravel and the oracle both meet."""

import dataclasses
import json
import subprocess

import numpy as np
import pytest

import formulas as F
import points
import ravel
from formulas_base import cd, Map

ROWS = points.rows()
EXCEPT = {}             # layouts that lack something, each with the reason


def text(row):
    return "%s of %s %s" % (row.layout, ",".join(map(str, row.shape)), row.dtype)


@pytest.mark.parametrize("row", ROWS, ids=text)
def test_points(cx, row):
    table, bits = cx.table(row.layout, row.shape, row.dtype), F.BITS[row.dtype]
    assert {i: int(table[i]) for i in row.at} == row.at
    assert cx.bytes(row.layout, row.shape, row.dtype) == cd(row.slots*bits, 8)
    assert not set(row.empty) & set(table.reshape(-1).tolist())


@pytest.mark.parametrize("row", [r for r in ROWS if r.empty], ids=text)
def test_empty_slots(cx, row):
    """A conversion of elements that are nowhere 0 puts the fill into padding, and leaves holes."""
    bits = F.BITS[row.dtype]
    fill = F.evaluate(row.layout, row.shape, bits).fill
    n = int(np.prod(row.shape))
    raw = ravel.pack(ravel.unpack(np.full(cd(n*bits, 8), 0xff, np.uint8), bits)[:n], bits)
    with cx.plan("ROW_MAJOR", row.layout, row.shape, row.dtype) as p:
        got = ravel.unpack(p.run(raw), bits)
    before = ravel.poisoned(row.slots, bits)
    nothing = np.full(1, fill).astype(got.dtype) if fill else np.zeros(1, got.dtype)
    assert {s: got[s].tobytes() for s in row.empty} == {
        s: (nothing[0] if word == "padding" else before[s]).tobytes() for s, word in row.empty.items()}


@pytest.mark.parametrize("row", ROWS, ids=text)
def test_the_oracle_agrees(row):
    m = F.evaluate(row.layout, row.shape, F.BITS[row.dtype])
    assert {i: int(m.addr[i]) for i in row.at} == row.at and m.size == row.slots


def pads(name):
    """Whether some storage of the layout has more slots than elements, by the oracle."""
    f = F.LAYOUTS[name]
    bits = f.bits[0] if isinstance(f.bits, tuple) else f.bits or 16
    return any(m.size > m.addr.size for m in (f.fn(s, bits) for s in f.shapes))


def lacks(entry):
    """What a layout of the catalogue has not, in words."""
    mine = [r for r in ROWS if r.name == entry["name"]]
    at = [(r, i) for r in mine for i in r.at]
    if not all(entry.get(k) for k in ("doc", "owner", "source", "version")):
        yield "a description, an owner, a source or a version"
    if entry["file"].endswith("/sparse.lua"):      # formats of levels: tests/test_sparse*.py
        return
    if entry["name"] not in F.LAYOUTS:
        yield "an oracle"
        return
    if len(at) < 3:
        yield "three golden points"
    if not any(all(x % 2 or n == 1 for x, n in zip(i, r.shape)) for r, i in at):
        yield "a golden point at odd coordinates"
    if not any(i == tuple(n - 1 for n in r.shape) for r, i in at):
        yield "the last element as a golden point"
    if pads(entry["name"]) and not any(r.empty for r in mine):
        yield "a golden point of padding"
    if not all(r.by for r in mine):
        yield "what its golden points are from"


def catalogue():
    r = subprocess.run([str(ravel.BUILD / "ravel"), "list", "--json"], capture_output=True, text=True, check=True)
    return json.loads(r.stdout)


def test_no_layout_lacks_anything():
    missing = {e["name"]: list(lacks(e)) for e in catalogue()}
    assert {n: what for n, what in missing.items() if what and n not in EXCEPT} == {}
    assert [n for n in EXCEPT if not missing.get(n)] == [], "an exception that is none"


def test_what_a_layout_lacks_is_named(monkeypatch):
    entry = {"name": "X", "doc": "a", "owner": "b", "source": "c", "version": "d", "file": "specs/x.lua"}
    row = points.read("X 3,5 u8, 16 slots: 1,3 at 9; 0,2 at 2; 2,4 at 14; padding at 15", "  somebody")
    monkeypatch.setitem(F.LAYOUTS, "X", F.Formula(2, lambda shape, bits: Map(np.zeros(shape), 16, None), 8, [(3, 5)]))

    def says(row, **changes):
        monkeypatch.setitem(globals(), "ROWS", [dataclasses.replace(row, **changes)])
        return list(lacks(entry))
    assert says(row) == []
    assert says(row, at={(0, 2): 2, (1, 3): 9}) == ["three golden points", "the last element as a golden point"]
    assert says(row, at={(0, 2): 2, (0, 1): 1, (2, 4): 14}) == ["a golden point at odd coordinates"]
    assert says(row, empty={}) == ["a golden point of padding"] and says(row, by="") == ["what its golden points are from"]
    entry["version"] = ""
    assert says(row) == ["a description, an owner, a source or a version"]
    entry |= {"version": "d", "name": "NONE"}
    assert says(row) == ["an oracle"]


def test_no_point_is_of_an_unknown_layout():
    assert {r.name for r in ROWS} <= {e["name"] for e in catalogue()}
    assert len({(r.layout, r.shape, r.dtype) for r in ROWS}) == len(ROWS)
