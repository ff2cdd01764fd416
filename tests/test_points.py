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


# What people search for, in the words of the vendors, and what they find first.
SEARCHES = {
    "C1HWNCoC0": "C1HWNCoC0", "FRACTAL_Z_3D": "FRACTAL_Z_3D FRACTAL_Z_3D_TRANSPOSE", "FRACTAL_Z_C04": "FRACTAL_Z_C04 FRACTAL_Z_C04_GE",
    "FRACTAL_Z groups": "FRACTAL_Z_GROUPED", "DHWCN": "DHWCN", "ZZ int8": "FRACTAL_ZZ_GE", "graph engine f32": "NC1HWC0_GE",
    "NCHW4 grouped": "NCHW4_GROUP NCHW4_WEIGHT_GROUP", "NCHW4_WEIGHT": "NCHW4_WEIGHT NCHW4_WEIGHT_GROUP",
    "NCHW88 weights": "NCHW88_WEIGHT NCHW88_WEIGHT_GROUP NCHW88_WEIGHT_CHAN", "NCHW 4-bit": "NCHW_INT4", "NHWC 4-bit": "NHWC_INT4",
    "INTER_WEIGHT": "INTER_WEIGHT_DENSE INTER_WEIGHT_GROUP INTER_WEIGHT_CHAN INTER_WEIGHT_DENSEI_DOT INTER_WEIGHT_GROUPI_DOT",
    "CxRSKx": "CXRSKX", "ColumnMajorBlockLinear": "COL_BLOCK_LINEAR", "PitchLinear": "PITCHED",
    "TensorOpMultiplicand congruous": "TENSOR_OP TENSOR_OP_32 TENSOR_OP_64 TENSOR_OP_128 VOLTA_A VOLTA_B",
    "TensorOpMultiplicand crosswise": "TENSOR_OP TENSOR_OP_64_CROSS VOLTA_CROSS", "CUTLASS MN-major": "INTER_MN SW32_MN SW64_MN SW128_MN SW128_32B_MN",
    "tile_to_shape": "SW32_COL SW64_COL SW128_COL", "wgmma accumulator": "MMA_C MMA8_C WGMMA_D", "mma.m8n8k4": "SM70_ROW SM70_COL SM70_C32",
    "fragments f64": "MMA8_AB", "ldmatrix": "MMA8_AB", "128 (1 bit)": "MMA8_AB",
    "MARLIN8": "MARLIN8", "W4A8": "MARLIN_W4A8 QSERVE", "W8A8": "MARLIN_W8A8", "Marlin scales": "MARLIN_SCALES MARLIN_SCALES1",
    "GPTQ rows": "GPTQ2 GPTQ4 GPTQ8 EXLLAMA", "AWQ8": "AWQ8",
    "gemv_fast": "AWQ AWQ8 AWQ_GEMV_FAST", "Ethos-U": "NHCWB16", "Hexagon crouton 8-bit": "CROUTON_8", "Hexagon weights": "IOHW16I32O2I OHWI32O",
    "RKNN": "NC1HWC2 RKNN_A RKNN_B RKNN_C", "TPU": "TPU_TILE", "T(8,128)(2,1)": "TPU_TILE", "Tenstorrent faces": "TENSTORRENT",
    "AITER scales": "AITER_SCALES", "AITER weights": "AITER_WEIGHT", "KV": "KV_NHD KV_HND VLLM_K VLLM_V", "NHD": "KV_NHD", "HND": "KV_HND",
    "x-packed": "VLLM_K", "2:4 metadata": "META24_16 META24_32 META24_MARLIN", "2:4 sparsity": "SEMI24 SEMI24_16 SEMI24_32 META24_16 META24_32 META24_MARLIN",
    "Mali": "MALI_TILE", "GFX10 render 32": "GFX10_64K_R_X_32", "INTEL_Y": "INTEL_Y", "Tegra block linear": "BLOCK_LINEAR",
    "XNNPACK": "XNNPACK_GEMM", "displays MSB": "BIT_HIGH", "displays LSB": "BIT_LOW BIT_PAGES", "NVFP4": "SF128x4 SF8x4", "nChw16c": "NCHW16", "kCHW32": "NCHW32",
}


@pytest.mark.parametrize("words", SEARCHES)
def test_search(words):
    r = subprocess.run([str(ravel.BUILD / "ravel"), "list", *words.split()], capture_output=True, text=True, check=True)
    wanted = SEARCHES[words].split()
    assert set(wanted) == {line.split()[0] for line in r.stdout.splitlines()[:len(wanted)]}


def test_words_that_begin_words_come_first():
    def found(*words):
        r = subprocess.run([str(ravel.BUILD / "ravel"), "list", *words], capture_output=True, text=True)
        return [line.split()[0] for line in r.stdout.splitlines()]
    assert found("tpu")[0] == "TPU_TILE" and "HWCN" in found("tpu")         # output channel
    assert found("scale", "hopper") == ["HOPPER_MX_SCALES"] and found("ZZ")[:2] == ["FRACTAL_ZZ", "FRACTAL_ZZ_GE"]
    assert sorted(found("gemm")) == sorted(set(found("gemm"))) and found("gemm")[-1] == "TINYGEMM"
    r = subprocess.run([str(ravel.BUILD / "ravel"), "list", "tpu", "--json"], capture_output=True, text=True, check=True)
    assert [e["name"] for e in json.loads(r.stdout)] == found("tpu")


def test_no_point_is_of_an_unknown_layout():
    assert {r.name for r in ROWS} <= {e["name"] for e in catalogue()}
    assert len({(r.layout, r.shape, r.dtype) for r in ROWS}) == len(ROWS)
