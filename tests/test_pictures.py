"""Pictures of layouts: cells against the published formulas, colours for every reader, the terminal, what is refused."""

import itertools
import os
import pty
import re
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import formulas as F
import ravel
from command import bad, good, here, run          # noqa: F401: the fixture `here`

RAVEL = str(ravel.BUILD / "ravel")
BITS = F.BITS
SVG = "{http://www.w3.org/2000/svg}"
# layout, shape, dtype, plane (rows, columns, where the others are), as slices of the formula's array
PLANES = [("NC1HWC0", (2, 20, 5, 7), "f16", ["--plane", "H,W", "--at", "N=1,C=17"], np.s_[1, 17, :, :]),
          ("NC1HWC0", (2, 20, 5, 7), "f16", ["--plane", "C,H", "--at", "W=6,C=3"], np.s_[0, 3:, :, 6]),
          ("NC1HWC0", (2, 20, 5, 7), "f16", ["--plane", "C", "--at", "N=1,C=14"], np.s_[1, None, 14:, 0, 0]),
          ("SW128", (16, 64), "f16", [], np.s_[:, :]), ("MORTON8", (16, 16), "f32", [], np.s_[:, :]),
          ("SEED84", (32, 32), "f32", ["--at", "R=9,C=2"], np.s_[9:, 2:]), ("MMA_A", (16, 16), "f16", ["--plane", "K,M"], np.s_[:, :]),
          ("INT4_LOW", (5, 7), "u4", [], np.s_[:, :])]


def values(address, bits):
    at = address*bits//8
    return {"address": address, "bank": at//4 % 32, "line": at//64}


def plane_lines(text):
    """The lines below the title of the plane: the numbers of the columns, then the rows."""
    return re.split(r"^.*columns are .*\n", text, flags=re.M)[1].split("\n\n")[0].splitlines()


def printed(text):
    """The numbers of the plane, without those of rows and columns, and without the lines between tiles."""
    return [[int(n) for n in re.findall(r"\d+", r.replace("|", ""))[1:]] for r in plane_lines(text)[1:] if re.match(r" *\d", r)]


@pytest.mark.parametrize("layout, shape, dtype, plane, where", PLANES, ids=[p[0] + "".join(p[3]) for p in PLANES])
def test_cells_of_planes(layout, shape, dtype, plane, where):
    address = F.evaluate(layout, shape, BITS[dtype]).addr
    if plane[1:2] == ["K,M"]:
        address = address.T
    for by, want in values(address[where], BITS[dtype]).items():
        of = ["show", layout, "--shape", ",".join(map(str, shape)), "--dtype", dtype, "--by", by, *plane]
        assert printed(good(*of, env={**os.environ, "COLUMNS": "900"})) == want[:24].tolist(), by
        good(*of, "--svg", "p.svg")
        assert [row for row in drawn("p.svg", "plane", int)] == want.tolist(), by


def texts(path, group=None):
    doc = ET.parse(path).getroot()
    of = next((g for g in doc.iter(SVG + "g") if g.get("class") == group), doc)
    for t in of.iter(SVG + "text"):
        yield float(t.get("x")), float(t.get("y")), t.get("class", ""), t.text or ""


def drawn(path, group, of=str):
    """The texts of the cells of the plane or the storage, row by row."""
    cells = sorted((y, x, t) for x, y, c, t in texts(path, group) if c == "")
    return [[of(t) for _, _, t in row] for _, row in itertools.groupby(cells, lambda t: t[0])]


def test_every_label_fits_its_cell():
    """Six digits and 64 x 64: no text is wider than its cell, at 7 units a character of 11 pixels."""
    good("show", "(A,B){A//8, B//8, A%8, B%8}", "--shape", "640,640", "--at", "A=570,B=570", "--svg", "p.svg")
    plane = next(g for g in ET.parse("p.svg").getroot().iter(SVG + "g") if g.get("class") == "plane")
    rects = {(float(r.get("x")) + float(r.get("width"))//2, float(r.get("y"))): float(r.get("width")) for r in plane.iter(SVG + "rect")}
    labels = [(x, y, t) for x, y, c, t in texts("p.svg", "plane") if c == ""]
    assert len(labels) == 64*64 and max(len(t) for _, _, t in labels) == 6
    assert all(len(t)*6.4 < rects[x, y - 15] for x, y, t in labels)


def test_storage_of_a_picture():
    """Each address shows its element; padding is hatched, holes are dashed, a run of lines of other planes is one line."""
    m = F.evaluate("NC1HWC0", (1, 20, 2, 3), 16)
    good("show", "NC1HWC0", "--shape", "1,20,2,3", "--dtype", "f16", "--plane", "C,W", "--svg", "p.svg")
    storage = sum(drawn("p.svg", "storage"), [])
    want = [("%d,%d" % (c, w), int(m.addr[0, c, 0, w])) for c in range(20) for w in range(3)]
    assert [t for t in storage if t not in ("\u00b7", "...")] == [t for t, _ in sorted(want, key=lambda e: e[1])]
    svg = open("p.svg").read()
    assert 'class="p"' in svg and 'class="h"/' not in svg and ">...<" in svg and ">padding<" in svg
    good("show", "(M,K){M, K, pitch = {M = 64}, fill = 'none'}", "--shape", "3,20", "--dtype", "f16", "--svg", "h.svg")
    svg = open("h.svg").read()
    assert svg.count('class="h"/') == 3*12 + 1 and ">hole<" in svg and 'class="p"' not in svg


@pytest.mark.parametrize("shape", ["2,20,5,7", "3,64,30,40"])
def test_storage_of_a_plane_far_in(shape):
    """Long storage is shown from the first line that has elements of the plane; each cell is where its line says, and gaps are padding."""
    extents = tuple(map(int, shape.split(",")))
    m = F.evaluate("NC1HWC0", extents, 16).addr
    good("show", "NC1HWC0", "--shape", shape, "--dtype", "f16", "--plane", "C,W", "--at", "N=1,H=2", "--svg", "p.svg")
    lines = {}
    for x, y, c, t in texts("p.svg", "storage"):
        if c == "n":
            lines[y] = int(t)
    first = min(int(m[1, c, 2, w]) for c in range(extents[1]) for w in range(extents[3]))
    first = min(first, extents[0] * ((extents[1] + 15) // 16) * extents[2] * extents[3] * 16 - 64 * 16)          # all 64 lines are used
    assert min(lines.values()) == first and any("storage from address %d on: " % first in t for *_, t in texts("p.svg"))
    seen = {}
    for y, row in itertools.groupby(sorted((y, x, t) for x, y, c, t in texts("p.svg", "storage") if c == ""), lambda t: t[0]):
        for k, (_, _, t) in enumerate(row):
            if "," in t:
                seen[tuple(map(int, t.split(",")))] = lines[y] + k
    assert seen and all(int(m[1, c, 2, w]) == a for (c, w), a in seen.items())
    assert len(seen) == sum(first <= m[1, c, 2, w] < first + 64 * 16 for c in range(extents[1]) for w in range(extents[3]))
    assert ('class="p"' in open("p.svg").read()) == (extents[1] % 16 != 0)


def test_style_is_for_the_picture_alone():
    """A notebook puts the picture into its page, which has texts and paths of its own."""
    good("show", "NCHW", "--shape", "1,2,3,4", "--svg", "p.svg")
    root = ET.parse("p.svg").getroot()
    selectors = [s.strip() for rule in root.find(SVG + "style").text.split("}")[:-1] for s in rule.split("{")[0].split(",")]
    assert root.get("class") == "ravel" and len(selectors) > 10 and all(s.startswith(".ravel ") for s in selectors)


def test_values_by_expression_tile_lane_and_register():
    of = ["--shape", "16,16", "--dtype", "f16"]
    i, j = np.indices((16, 16))
    m = F.evaluate("MMA_A", (16, 16), 16).addr
    for layout, by, want in [("MMA_A", "lane", m//8), ("MMA_A", "register", m % 8), ("{M//4, K//8, M%4, K%8}", "tile", i//4*2 + j//8),
                             ("{M, K}", "K//8 ~ M%2", j//8 ^ i % 2), ("NHWC", None, None), ("BLOCKED_RR{BM=2, BN=3}", "BM*M + BN", 2*i + 3)]:
        if by:
            assert printed(good("show", layout, *of, "--by", by)) == want.tolist(), by


def test_negative_values_stay_apart():
    text = good("show", "{M, K}", "--shape", "12,12", "--by", "M - K")
    rows = [[int(n) for n in r.split()[1:]] for r in plane_lines(text)[1:]]
    assert rows == [[i - j for j in range(12)] for i in range(12)]


def test_beside():
    text = good("show", "SW128", "--shape", "8,64", "--dtype", "f16", "--by", "bank", "--beside", "ROW_MAJOR")
    assert "\nROW_MAJOR\nbank" in text and text.count("rows are") == 2
    good("show", "SW128", "--shape", "8,64", "--dtype", "f16", "--beside", "ROW_MAJOR", "--svg", "p.svg")
    assert {t for *_, c, t in texts("p.svg") if c == "h"} == {"SW128 of (8,64), f16", "ROW_MAJOR of (8,64), f16"}


def test_beside_a_layout_with_other_names():
    """An expression is over the dims of the first, which are those of the other by position."""
    i, j = np.indices((8, 12))
    for by, want in (("K//8 + 10*M", j//8 + 10*i), ("BM*M", 2*i)):
        text = good("show", "BLOCKED_RR{BM=2, BN=3}" if "BM" in by else "(M,K){M//4, K, M%4}", "--shape", "8,12", "--by", by, "--beside", "(A,B){B, A}",
                    env={**os.environ, "COLUMNS": "200"})
        first, second = text.split("\n(A, B){B, A}\n")
        assert printed(first) == printed("\n" + second) == want.tolist()


@pytest.mark.parametrize("args, says", [
    (["--plane", "H,X"], "no dim 'X'; its dims are N C H W"), (["--plane", "h,W"], "no dim 'h'; its dims are N C H W"), (["--plane", "H,H"], "different dims"),
    (["--plane", "H,W,C"], "two dims, rows and columns"), (["--plane", ""], "no dim ''"), (["--at", "N"], "as in --at N=1"),
    (["--at", "N=2"], "N=2 is outside 0..1"), (["--at", "N=-1"], "--at '-1'"), (["--at", "Q=1"], "no dim 'Q'"), (["--at", "N="], "N needs a number"),
    (["--by", "colour"], "'colour' is no dim; known: N C H W address bank line tile lane register"), (["--by", "lane"], "is no fragment"),
    (["--by", "C//"], "--by:1"), (["--by", "C//(W-W)"], "--by"), (["--by", "C//W"], "--by"), (["--beside", "ROW_MAJOR{"], "ROW_MAJOR"),
    (["--beside", "MORTON8"], "MORTON8")])
def test_refused(args, says):
    text = bad("show", "NCHW", "--shape", "2,3,4,5", *args)
    assert says in text, text


# --- for every shape

def lua(text, names):
    """The value of an expression as it is printed."""
    text = re.sub(r"\|(\w+)\|", r"n_\1", text).replace("~", "^")
    return eval(text, {"min": min, "max": max}, names)


@pytest.mark.parametrize("layout, shapes, dtype", [
    ("NC1HWC0", [(2, 20, 5, 7), (1, 3, 2, 1)], "f16"), ("SW128", [(16, 64), (5, 130)], "f16"), ("NHWC", [(2, 3, 4, 5)], "f32"),
    ("BLOCKED_RR{BM=3, BN=4}", [(7, 9), (3, 4)], "f32"), ("ROW_MAJOR", [(3, 4)], "f32")])
def test_the_form_for_every_shape(layout, shapes, dtype):
    text = good("show", layout, "--dtype", dtype)
    scalars = re.findall(r"^  (s\d+) = (.+)$", text, re.M)
    address, size = re.search(r"^address = (.+)$", text, re.M)[1], re.search(r"^storage: (.+) elements$", text, re.M)[1]
    dims = list(dict.fromkeys(re.findall(r"\b[A-Z]\w*\b|\bb\d\b", re.sub(r"\|\w+\|", "", address))))
    for shape in shapes:
        m = F.evaluate(layout, shape, BITS[dtype])
        own = sorted(dims, key="NCHWDMKRb0b1".find) if layout in ("NC1HWC0", "NHWC") else dims
        names = dict(zip(own, np.indices(shape))) | {"n_" + d: n for d, n in zip(own, shape)}
        for name, value in scalars:
            names[name] = lua(value, names)
        assert np.array_equal(lua(address, names), m.addr) and lua(size, names) == m.size


def test_no_dims_and_sums():
    assert "address = M + K\n" in good("show", "{M + K, view = true}") and "(){0}\n" in good("show", "(){0}")
    assert "address\n" in good("show", "(){0}", "--shape", "")


def test_a_layout_that_needs_a_shape():
    text = good("show", "SWIZZLE")
    assert "give --shape" in text and "swizzle" in text
    for option, value in [("--svg", "p.svg"), ("--by", "bank"), ("--plane", "R,C"), ("--at", "R=1"), ("--beside", "NCHW")]:
        bad("show", "SWIZZLE", option, value, says=[option, "give --shape"])


# --- terminals

def on_terminal(args, columns=80, **env):
    """Standard output on a terminal."""
    import fcntl
    import struct
    import termios
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    p = subprocess.Popen([RAVEL, *args], stdout=follower, stderr=follower, stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm-256color", **env})
    os.close(follower)
    out = b""
    while True:
        try:
            more = os.read(leader, 65536)
        except OSError:
            more = b""
        if not more:
            break
        out += more
    os.close(leader)
    assert p.wait(timeout=20) == 0
    return out.decode().replace("\r\n", "\n")


def test_colours_of_a_terminal():
    """Cells of one value have one colour, and a conflict is a column of one colour."""
    for layout, colours in [("ROW_MAJOR", 1), ("SW128", 8)]:
        text = on_terminal(["show", layout, "--shape", "16,64", "--dtype", "f16", "--by", "bank"], 300)
        cells = re.findall(r"\x1b\[30;48;5;(\d+)m +(\d+)\x1b\[0m", text)
        assert len(cells) >= 16*16 and len({c for c, _ in cells}) == 8
        assert all(len({c for c, v in cells if v == value}) == 1 for value in {v for _, v in cells})
        first = re.findall(r"^ +\d+\x1b\[30;48;5;(\d+)m", text, re.M)
        assert len(first) == 16 and len(set(first)) == colours
        plain = re.sub(r"\x1b\[[\d;]*m", "", text)
        assert max(map(len, plane_lines(plain))) <= 300


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours(env):
    assert "\x1b" not in on_terminal(["show", "{M, K}", "--shape", "8,8"], **env)
    assert "\x1b" not in good("show", "{M, K}", "--shape", "8,8")


@pytest.mark.parametrize("columns", [40, 60, 200])
def test_columns_fit_the_window(columns):
    text = on_terminal(["show", "{M//4, K//4, M%4, K%4}", "--shape", "40,400", "--at", "K=97"], columns, NO_COLOR="1")
    lines = plane_lines(text)
    assert columns - 12 <= max(map(len, lines)) <= columns and lines[0].split()[0] == "97" and lines[-1].strip() == "..."


# --- colours: WCAG contrast; colour-blindness by Machado, Oliveira and Fernandes (2009), severity 1; distance in CIELAB

BLIND = {"none": np.eye(3),
         "protan": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
         "deutan": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
         "tritan": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]])}


def linear(colour):
    c = np.array([int(colour[i:i+2], 16)/255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c/12.92, ((c + 0.055)/1.055)**2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    x, y = sorted([luminance(a), luminance(b)])
    return (y + 0.05)/(x + 0.05)


def lab(rgb):
    xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]) @ np.clip(rgb, 0, 1)
    t = xyz/[0.95047, 1, 1.08883]
    f = np.where(t > 216/24389, np.cbrt(t), (24389/27*t + 16)/116)
    return np.array([116*f[1] - 16, 500*(f[0] - f[1]), 200*(f[1] - f[2])])


def palette():
    return re.findall(r'"(#[0-9a-f]{6})"', (ravel.ROOT / "compiler/picture/picture_color.c").read_text())


def test_black_text_is_readable_on_every_colour():
    assert len(palette()) == 40 and min(contrast(c, "#000000") for c in palette()) >= 7


@pytest.mark.parametrize("kind", BLIND)
def test_hues_differ_for_every_reader(kind):
    seen = [lab(BLIND[kind] @ linear(c)) for c in palette()[:8]]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 20


@pytest.mark.parametrize("kind", BLIND)
def test_the_ramp_darkens_for_every_reader(kind):
    light = [lab(BLIND[kind] @ linear(c))[0] for c in palette()[8:]]
    assert all(a > b for a, b in zip(light, light[1:])) and light[0] - light[-1] > 25
