"""The page of --html in headless Chromium: pointed at, clicked, steered by keys, and read; addresses against the published formulas."""

import html
import json
import re

import numpy as np
import pytest

import browser
import formulas as F
from command import bad, good, here          # noqa: F401: the fixture `here`
from test_pictures import contrast

if not browser.found():
    pytest.skip("chromium is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def tab():
    with browser.Browser() as b:
        yield b


@pytest.fixture
def page(tab, here):                          # noqa: F811
    """Opens the page that a command writes; at the end nothing has gone wrong in it."""
    def opened(*args):
        good(*args, "--html", "p.html")
        tab.open("p.html")
        return tab
    tab.problems.clear()
    tab.size(1280, 800)
    yield opened
    assert tab.problems == []
    assert tab.text("#error") == ""


def cells(tab, table, layout=0):
    """Rows of (element, address, text) of a table; None for no element."""
    return tab.js("[...document.querySelectorAll('section[data-layout=\"%d\"] table.%s tbody tr')].map(r => [...r.querySelectorAll('td[data-a]')]"
                  ".map(c => [c.dataset.x || null, c.dataset.a, c.textContent]))" % (layout, table))


def addresses(tab, layout=0):
    return [[int(a) for _, a, _ in row] for row in cells(tab, "plane", layout)]


def info(tab):
    return tab.text("#info")


def test_shape_and_parameters(page):
    tab = page("show", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16")
    assert addresses(tab) == F.evaluate("NC1HWC0", (2, 20, 5, 7), 16).addr[0, :, 0, :].tolist()
    for d, n in enumerate((3, 37, 4, 9)):
        tab.put("#%s-%d" % ("range" if d % 2 else "extent", d), n)
    assert addresses(tab) == F.evaluate("NC1HWC0", (3, 37, 4, 9), 16).addr[0, :, 0, :].tolist()
    for step, c0 in enumerate((4, 8, 16, 32, 64)):
        tab.put(".param", step)
        assert addresses(tab) == F.evaluate("NC1HWC0{C0=%d}" % c0, (3, 37, 4, 9), 16).addr[0, :, 0, :].tolist(), c0
    tab.put("#row", 2)
    tab.put("#at-0", 2)
    tab.put("#at-1", 33)
    tab.put("#at-3", 4)
    assert addresses(tab) == F.evaluate("NC1HWC0{C0=64}", (3, 37, 4, 9), 16).addr[2, 33, :, 4:].tolist()


@pytest.mark.parametrize("layout, first, shape, dtype", [
    ("SW128", "8,64", (16, 60), "f16"), ("BLOCKED_RR", "8,8", (7, 11), "f32"), ("ROW_MAJOR", "4,4", (5, 9), "f32"), ("MMA_A", "16,16", (32, 32), "f16")])
def test_other_shapes(page, layout, first, shape, dtype):
    tab = page("show", layout, "--shape", first, "--dtype", dtype)
    for d, n in enumerate(shape):
        tab.put("#extent-%d" % d, n)
    m = F.evaluate(layout, shape, F.BITS[dtype])
    at = {x: int(a) for x, a in np.ndenumerate(m.addr)}
    seen = {tuple(map(int, x.split(","))): int(a) for row in cells(tab, "plane") for x, a, _ in row}
    assert seen == at
    stored = {int(a): x for row in cells(tab, "storage") for x, a, _ in row if x}
    assert stored == {a: ",".join(map(str, x)) for x, a in at.items() if a in stored} and len(stored) >= min(m.addr.size, 480)


def test_a_parameter_that_depends_on_another(page):
    """MMA_A has 4*P registers: both sliders move, and the page shows a layout that there is."""
    tab = page("show", "MMA_A", "--shape", "16,16", "--dtype", "f16")
    shown = "[...document.querySelectorAll('.param')].map(s => s.nextElementSibling.textContent)"
    assert tab.js(shown) == ["2", "8"]
    tab.put(".param[data-name='P']", 2)
    assert tab.js(shown) == ["4", "16"]
    good("table", "MMA_A{P=4}", "--shape", "16,16", "--dtype", "f16", "-o", "t.npy")
    assert addresses(tab) == np.load("t.npy").tolist()


def test_a_swizzle_of_addresses_has_one_shape(page):
    tab = page("show", "SEED84", "--shape", "32,32", "--dtype", "f32")
    assert tab.js("document.querySelector('#extent-0').disabled") and "swizzle" in tab.js("document.querySelector('#extent-0').title")
    assert addresses(tab) == F.evaluate("SEED84", (32, 32), 32).addr.tolist()


def test_numbers_beyond_doubles(page):
    """Addresses above 2^53 are exact, and storage beyond 64 bits is refused."""
    tab = page("show", "ROW_MAJOR", "--shape", "4,5", "--dtype", "u8")
    tab.put("#extent-0", 2**22 + 1)
    tab.put("#extent-1", 2**34 + 3)
    tab.put("#at-0", 2**22 - 1)
    tab.put("#at-1", 2**34 - 1)
    assert addresses(tab) == [[i*(2**34 + 3) + j for j in range(2**34 - 1, 2**34 + 3)] for i in (2**22 - 1, 2**22)]
    tab.put("#extent-0", 2**39)
    assert "exceeds 64 bits" in tab.text("#error")
    tab.put("#extent-0", 4)
    assert tab.text("#error") == ""


def test_pointing(page):
    tab = page("show", "{M//4, K//4, M%4, K%4}", "--shape", "6,8", "--dtype", "f16")
    tab.hover("table.plane td[data-x='5,2']")
    assert info(tab).startswith("element (5,2)\n") and "address 38; M//4=1 K//4=0 M%4=1 K%4=2; byte 76, bank 19, line 1" in info(tab)
    assert tab.js("[...document.querySelectorAll('.hot')].map(c => c.closest('table').className + c.dataset.x + ' ' + c.dataset.a)") == [
        "cells plane5,2 38", "cells storage5,2 38"]
    tab.hover("table.storage td[data-a='13']")
    assert info(tab).startswith("element (3,1)\n")
    tab.hover("table.storage td[data-a='60']")
    assert info(tab).endswith("address 60: padding, which holds the fill value")
    tab = page("show", "(M,K){M, K, pitch = {M = 16}}", "--shape", "3,5", "--dtype", "f16")
    tab.hover("table.storage td[data-a='13']")
    assert info(tab).endswith("address 13: a hole, which is never written")


def test_keys(page):
    """Everything is reached by Tab, and the arrows move in a table."""
    tab = page("show", "{M//4, K//4, M%4, K%4}", "--shape", "6,8")
    tab.click("#title")
    reached = []
    for _ in range(40):
        tab.press("Tab")
        reached.append(tab.js("document.activeElement.id || document.activeElement.dataset.x || document.activeElement.tagName"))
    assert ["range-0", "extent-0", "range-1", "extent-1", "row", "col", "at-0", "at-1", "by"] == [r for r in reached if re.match("[a-z]", r)][:9]
    assert "0,0" in reached
    tab.js("document.querySelector('table.plane td').focus()")
    for k in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown", "ArrowLeft"):
        tab.press(k)
    assert info(tab).startswith("element (1,1)\n")
    tab.press("ArrowLeft"), tab.press("ArrowLeft"), tab.press("ArrowLeft")
    assert info(tab).startswith("element (1,0)\n")


def test_what_cells_show(page):
    tab = page("show", "SW128", "--shape", "16,64", "--dtype", "f16", "--by", "bank")
    a = F.evaluate("SW128", (16, 64), 16).addr
    i, j = np.indices((16, 64))
    for by, want in [("bank", a*2//4 % 32), ("line", a*2//64), ("tile", i//8*8 + j//8), ("K%8", j % 8), ("address", a)]:
        assert tab.js("document.querySelector('#by').value") == "bank" or by != "bank"
        tab.put("#by", by)
        assert [[int(t) for _, _, t in row] for row in cells(tab, "plane")] == want.tolist(), by
    tab = page("show", "MMA_A", "--shape", "16,16", "--dtype", "f16", "--by", "lane")
    m = F.evaluate("MMA_A", (16, 16), 16).addr
    assert [[int(t) for _, _, t in row] for row in cells(tab, "plane")] == (m//8).tolist()
    assert [len(row) for row in cells(tab, "storage")] == [8]*32


def test_an_expression_is_over_the_dims_of_the_first(page):
    tab = page("show", "BLOCKED_RR{BM=2, BN=3}", "--shape", "4,6", "--dtype", "f32", "--by", "BM*M", "--beside", "(A,B){B, A}")
    want = [[str(2 * i)] * 6 for i in range(4)]
    assert [[t for _, _, t in row] for row in cells(tab, "plane")] == [[t for _, _, t in row] for row in cells(tab, "plane", 1)] == want


def test_two_layouts_and_the_conversion(page):
    tab = page("show", "ROW_MAJOR", "--shape", "8,16", "--dtype", "f16", "--beside", "{M//4, K//8, M%4, K%8}")
    assert addresses(tab, 1) == [[(i//4*2 + j//8)*32 + i % 4*8 + j % 8 for j in range(16)] for i in range(8)]
    tab.hover("section[data-layout='0'] table.plane td[data-x='5,9']")
    assert "address 89" in info(tab) and "address 105" in info(tab) and tab.js("document.querySelectorAll('.hot').length") == 4
    assert tab.text("#steptext") == "4 tiles"
    tab.put("#step", 1)
    assert tab.text("#steptext") == "tile 2 of 4: 32 elements"
    now = tab.js("[...document.querySelectorAll('section[data-layout=\"0\"] table.plane td.now')].map(c => c.dataset.x)")
    assert now == ["%d,%d" % (i, j) for i in range(4) for j in range(8, 16)]
    later = tab.js("[...document.querySelectorAll('section[data-layout=\"1\"] table.plane td.later')].map(c => c.dataset.x)")
    assert later == ["%d,%d" % (i, j) for i in range(4, 8) for j in range(16)]
    tab.click("#play")
    assert tab.text("#play") == "pause"
    tab.js("new Promise(r => setTimeout(r, 700))")
    assert tab.text("#steptext").startswith("tile 3 of 4")
    tab.click("#play")
    assert tab.text("#play") == "play"


def test_columns_are_equally_wide(page):
    """Numbers of three and of four digits."""
    tab = page("show", "SW128", "--shape", "16,64", "--dtype", "f16")
    widths = tab.js("[...document.querySelector('table.plane tbody tr').cells].slice(1).map(c => c.offsetWidth)")
    assert len(widths) == 64 and max(widths) - min(widths) <= 2, widths          # borders of tiles


def test_the_plan(page):
    of = ["--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16"]
    text = good("explain", *of)
    tab = page("explain", *of)
    boxes = [(k, b, int(n)) for k, b, n in re.findall(r"^  \d+\. (\S+)  (.*?)  (\d+) elements", text, re.M)]
    rows = tab.js("[...document.querySelectorAll('#plan table')[0].rows].slice(1).map(r => [...r.cells].map(c => c.textContent.trim()))")
    assert [(r[1], r[2], int(r[3])) for r in rows] == boxes and len(boxes) == 3
    assert re.search(r"About (\S+ [num]s) ", tab.text("#plan"))[1] == re.search(r"cost: about (\S+ [num]s) ", text)[1]
    assert [tab.js("time(%r)" % ms) for ms in (0.000473, 0.0009994, 0.0009996, 1.5, 12345.6)] == ["473 ns", "999 ns", "1 us", "1.5 ms", "12.3 s"]
    assert [e for e in re.findall(r"^  address   (.*)$", text, re.M)] == tab.js("[...document.querySelectorAll('main p code')].map(c => c.textContent).filter(t => /N/.test(t))")
    shown = [[int(t) for _, _, t in row] for row in cells(tab, "plane", 1)]
    assert shown == [[1 if c < 16 else 2]*7 for c in range(20)]
    stored = json.loads(html.unescape(re.search(r'type="application/json">(.*?)</script>', open("p.html").read(), re.S)[1]))["plan"]["boxes"]
    m = F.evaluate("NC1HWC0", (2, 20, 5, 7), 16)
    want = np.full(m.size, 2)
    want[m.addr[:, :16].ravel()], want[m.addr[:, 16:].ravel()] = 0, 1
    assert stored == want.tolist()
    tab.hover("section[data-layout='1'] table.storage td.padding")
    assert info(tab).endswith("padding, which holds the fill value, box 3 of the plan")


@pytest.mark.parametrize("to, shape, dtype", [("SW128", (20, 70), "f16"), ("(M,K){M//48, K//3, M%48, K%3}", (100, 20), "f32"), ("MORTON8", (16, 24), "f16"),
                                              ("(M,K){K, M, pitch = {K = 128}}", (20, 9), "f32")])
def test_boxes_of_other_plans(page, to, shape, dtype):
    """Each slot of an element has a box, and the boxes have as many slots as the plan says."""
    of = ["--from", "(M,K){M//32, K, M%32}", "--to", to, "--shape", "%d,%d" % shape, "--dtype", dtype]
    want = [int(n) for n in re.findall(r"^  \d+\. .*?(\d+) elements", good("explain", *of), re.M)]
    tab = page("explain", *of)
    boxes = np.array(tab.js("data.plan.boxes"))
    assert [int((boxes == i).sum()) for i in range(len(want))] == want
    good("table", to, "--shape", "%d,%d" % shape, "--dtype", dtype, "-o", "t.npy")
    assert (boxes[np.load("t.npy").ravel()] >= 0).all()


def test_an_address_at_a_shape(tab, here):     # noqa: F811
    """Numbers in place of extents, as the shape changes."""
    good("show", "NC1HWC0", "--shape", "2,20,5,7", "--dtype", "f16", "--html", "p.html")
    tab.open("p.html")
    text = tab.text("section[data-layout='0'] p code")
    assert "|" not in text and "s1" not in text
    x = dict(N=1, C=17, H=4, W=6)
    assert eval(text, x) == F.evaluate("NC1HWC0", (2, 20, 5, 7), 16).addr[1, 17, 4, 6]


def test_measured_times(page):
    """Those of bench, but for noise."""
    of = ["--from", "NCHW", "--to", "NHWC", "--shape", "2,20,5,7", "--dtype", "f16"]
    tab = page("explain", *of)
    assert not tab.js("!!document.querySelector('#measured')")
    tab = page("explain", *of, "--measure")
    m = re.fullmatch(r"Measured on this machine: (\S+) [num]s on 1 thread, (\S+) times as long as memcpy\.", tab.text("#measured"))
    assert m and 0 < float(m[1]) < 1000 and 0 < float(m[2]) < 1000
    assert [0 < float(time.split()[0]) < 1000 and time.split()[1] in ("ns", "us", "ms") for time in tab.js("[...document.querySelectorAll('#plan .alone')].map(e => e.textContent)")] == [True]
    bad("explain", *of, "--measure", says="bench prints them")


def test_a_permuted_destination(page):
    """Dims in another order are matched by name: x, the element, counts in the dims of the first layout."""
    tab = page("explain", "--from", "(A,B,C){A, B, C}", "--to", "(C,A,B){B, A, C}", "--shape", "2,3,4", "--dtype", "f32")
    seen = {tuple(map(int, x.split(","))): int(a) for row in cells(tab, "plane", 1) for x, a, _ in row}
    assert len(seen) >= 6 and all(a == (x[1]*2 + x[0])*4 + x[2] for x, a in seen.items())


@pytest.mark.parametrize("layout, shape, says", [
    ("{M//4, K//4, M%4, K%4}", "6,8", "64 slots; each cell: the element; hatched: padding"), ("{M, K}", "6,8", "48 slots; each cell: the element"),
    ("(M,K){M, K, pitch = {M = 32}, fill = 'none'}", "3,4", "24 slots; each cell: the element; dashed: holes"),
    ("NCHW", "1,2,2,2", "8 slots; each cell: the element; \u00b7: other planes"), ("NCHW", "1,2,200,200", "80000 slots; each cell: the element")])
def test_what_hatched_and_dashed_cells_are(page, layout, shape, says):
    tab = page("show", layout, "--shape", shape, "--dtype", "f32")
    assert tab.js("document.querySelectorAll('figcaption')[1].textContent") == "storage: " + says
    style = "(c => [c.borderTopWidth, c.borderLeftWidth])(getComputedStyle(document.querySelector('table.plane td')))"
    assert tab.js(style) == ["2px", "2px"]


def test_texts_of_specs_stay_texts(page):
    doc = "</script><script>document.title = 'x'</script><img src=x onerror=alert(1)> & \u2028"
    open("t.lua", "w").write('layout "A" { doc = [[%s]], dims = { M, K }, order = { M, K } }' % doc)
    tab = page("show", "t.lua:A", "--shape", "2,3")
    assert tab.text("#doc") == doc and tab.js("document.images.length + document.scripts.length") == 2 and tab.js("document.title") == "ravel: t.lua:A"


def test_narrow_windows_and_contrast(page):
    tab = page("explain", "--from", "NCHW", "--to", "NC1HWC0", "--shape", "2,40,9,30", "--dtype", "f16")
    for width in (400, 1280):
        tab.size(width, 800)
        assert tab.js("document.documentElement.scrollWidth") <= width
        assert tab.js("[...document.querySelectorAll('#plan .scroll')].every(e => e.scrollWidth <= e.clientWidth)"), "a table of the plan is cut"
    pairs = tab.js("""(() => {
        const seen = new Set();
        for (const e of document.body.querySelectorAll('*')) {
            if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length) continue;
            let b = e;
            while (b && getComputedStyle(b).backgroundColor === 'rgba(0, 0, 0, 0)') b = b.parentElement;
            seen.add(getComputedStyle(e).color + ' on ' + (b ? getComputedStyle(b).backgroundColor : 'rgb(255, 255, 255)'));
        }
        return [...seen];
    })()""")
    assert len(pairs) > 5
    for p in pairs:
        a, b = ("#%02x%02x%02x" % tuple(map(int, re.findall(r"\d+", c)[:3])) for c in p.split(" on "))
        assert contrast(a, b) >= 4.5, p


def test_refused():
    bad("show", "NCHW", "--html", "p.html", says="give --shape")
    bad("show", "NCHW", "--shape", "1,2,3,4", "--html", "p.html", "--svg", "p.svg", says="one picture")
    bad("explain", "--from", "NCHW", "--to", "NHWC", "--shape", "N,2,3,4", "--dtype", "f32", "--html", "p.html", says="numbers")
    bad("show", "NCHW", "--shape", "1,2,3,4", "--html", "no/p.html", says="no/p.html")
    for more in (["--target", "cuda"], ["--statements"]):
        bad("explain", "--from", "NCHW", "--to", "NHWC", "--shape", "1,2,3,4", "--dtype", "f32", "--html", "p.html", *more, says="code in C")
    path = "d\udcff.lua"                                  # a name in bytes that are not UTF-8
    open(path, "w").write('layout "A" { dims = { M }, order = { M } }')
    bad("show", path + ":A", "--shape", "3", "--html", "p.html", says="not UTF-8")
    open("t.lua", "wb").write(b'layout "A" { doc = "\xff", dims = { M }, order = { M } }')
    bad("show", "t.lua:A", "--shape", "3", "--html", "p.html", says="not UTF-8")
