"""Every layout of the catalogue against the published formulas: tables, sizes, golden points, and the way there and back."""

import zlib

import numpy as np
import pytest

import formulas as F
import ravel
from formulas_base import cd

CASES = {}
for _layout, _shape, _bits in F.cases():
    CASES.setdefault(_layout, []).append((_shape, _bits))


def where(layout, shape, bits):
    return "%s of %s, %d bits" % (layout, shape, bits)


@pytest.mark.parametrize("layout", CASES)
def test_table(cx, layout):
    for shape, bits in CASES[layout]:
        want = F.evaluate(layout, shape, bits)
        np.testing.assert_array_equal(cx.table(layout, shape, bits), want.addr, where(layout, shape, bits))
        assert cx.bytes(layout, shape, bits) == cd(want.size*bits, 8), where(layout, shape, bits)


def expected(m, values, bits):
    """Storage of a Map: padding 0.  What pitch leaves between rows is no padding and stays as it was."""
    el = ravel.poisoned(m.size, bits)
    if m.storage:
        el[:m.size] = np.full(1, m.fill).astype(el.dtype) if m.fill else np.zeros(1, el.dtype)
    if m.padding is not None:
        el[m.padding.reshape(-1)] = np.zeros(1, el.dtype)
    el[m.addr.reshape(-1)] = values
    return ravel.pack(el, bits)


@pytest.mark.parametrize("layout", CASES)
def test_round_trip(cx, layout):
    seed = zlib.crc32(layout.encode())
    rng = np.random.default_rng(seed)
    print("seed", seed)
    for shape, bits in CASES[layout]:
        say = where(layout, shape, bits)
        m = F.evaluate(layout, shape, bits)
        n = m.addr.size
        raw = rng.integers(0, 256, cd(n*bits, 8), np.uint8)
        values = ravel.unpack(raw, bits)[:n]
        shift = int(rng.integers(16))
        with cx.plan("ROW_MAJOR", layout, shape, bits) as there:
            stored = there.run(raw, shift)
        assert np.array_equal(stored, expected(m, values, bits)), say
        with cx.plan(layout, "ROW_MAJOR", shape, bits) as back:
            got = back.run(stored, shift)
        assert np.array_equal(ravel.unpack(got, bits)[:n], values), say + ", back"


@pytest.mark.parametrize("layout, shape, dtype, index, address", F.GOLDEN + F.GOLDEN_INLINE)
def test_golden(cx, layout, shape, dtype, index, address):
    assert cx.table(layout, shape, dtype)[index] == address


@pytest.mark.parametrize("layout, shape, dtype, size", F.GOLDEN_SIZE)
def test_golden_size(cx, layout, shape, dtype, size):
    assert cx.bytes(layout, shape, dtype) == cd(size*F.BITS[dtype], 8)


def test_catalogue_is_the_oracles(cx):
    """Nothing in specs/ goes untested."""
    with pytest.raises(ravel.Error, match="unknown layout"):
        cx.table("NO_SUCH", (1,), "f32")
    import re
    specs = "\n".join(p.read_text() for p in sorted((ravel.ROOT/"specs").glob("*.lua")))
    plain = set(re.findall(r'^layout "(\w+)"', specs, re.M)) | set(re.findall(r'^rows_of_bytes\("(\w+)"', specs, re.M))
    family = {name for line in re.findall(r"^-- ((?:[A-Z][A-Z0-9_]*\d ?)+)$", specs, re.M) for name in line.split()}
    assert plain | family == set(F.LAYOUTS)
