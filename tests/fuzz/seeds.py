"""What the fuzz targets start from, made from what the project has anyway: the specs, the golden commands, the layouts of the
tests, the compiler's own tables.  seeds.py BUILD writes BUILD/seeds/TARGET/* and BUILD/dict/TARGET."""

import hashlib
import io
import itertools
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHAPES = {1: "37", 2: "18,34", 3: "5,6,7", 4: "2,20,5,7", 5: "2,3,4,5,6"}


def read(path):
    return (ROOT/path).read_text()


def match_all(pattern, *paths):
    """Every match in the files, each once, in order."""
    return list(dict.fromkeys(m for p in paths for m in re.findall(pattern, read(p), re.M)))


def specs():
    return sorted("specs/" + p.name for p in (ROOT/"specs").glob("*.lua"))


def dtypes():
    return match_all(r'\{"(\w+)", +\d+, \'', "compiler/layout/dtype.c")


def fields():
    return match_all(r'\{"(\w+)", read_', "compiler/spec/spec_fields.c")


def operators():
    return match_all(r'^OP\(\w+, +\d, \d, "([^"]+)"', "compiler/expr/op.def")


def names():
    return match_all(r'^layout "(\w+)"', *specs())


def inline_layouts():
    """Those that the tests hold as lines or quoted; not those that run into the time limit, which stops the fuzzer too."""
    files = ["tests/" + p.name for p in sorted((ROOT/"tests").glob("test_*.py"))] + ["README.md", "specs/README.md", "specs/reference.md"]
    found = match_all(r"""(?:^|["'`])((?:\([A-Z]\w*(?:, ?\w+)*\))?\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\})(?:$|["'`])""", *files)
    return [t for t in found if not re.search(r"\b(while|repeat|for|goto|rep)\b", t)]


def parts(text):
    """What commas separate in the outermost braces of an inline layout."""
    inner = text[text.index("{") + 1:text.rindex("}")]
    return [p.strip() for p in re.split(r",(?![^(]*\))(?![^{]*\})", inner) if p.strip()]


# --- one function a target: its seeds, as bytes

def expr():
    entries = [e for text in inline_layouts() for e in parts(text)]
    entries += match_all(r"(?<=[{,] )[^{},=\n]+(?=[,}])", *specs())
    entries += ["min(a, max(b, 3))", "-(-a)", "~(a | b & 7)", "a*b - c*d", "a[3] + b[61]", "9223372036854775807", "a << 61 >> 61",
                "(a + 4611686018427387904) % 3"]
    for i, text in enumerate(e for e in dict.fromkeys(entries) if "=" not in e):
        seen = {}
        text = re.sub(r"\b(?!min|max)[A-Za-z_]\w*", lambda m: "abcd"[seen.setdefault(m[0], len(seen)) % 4], text)
        yield bytes([i % 12]) + text.encode()


def layout():
    for text in inline_layouts():
        for rank in (1, 2, 4):
            yield ("%s %s %s" % (dtypes()[len(text) % len(dtypes())], SHAPES[rank], text)).encode()
    for command in match_all(r"^\$ ravel check (.*)$", *("tests/golden/" + p.name for p in (ROOT/"tests/golden").glob("*.txt"))):
        text, shape, dtype = re.fullmatch(r"'?(.*?)'? --shape (\S+) --dtype (\S+)", command).groups()
        yield ("%s %s %s" % (dtype, shape, text)).encode()
    for i, name in enumerate(names()):
        yield ("%s %s %s" % (dtypes()[i % len(dtypes())], SHAPES[2 if i % 2 else 4], name)).encode()
    for text in match_all(r"\b[A-Z]\w+\{\w+=[^{}\n]*\}", "README.md", "specs/README.md", "specs/reference.md", "tests/test_pairs.py", "tests/test_cli.py", "tests/test_cli_layouts.py"):
        yield ("f16 2,20,5,7 " + text).encode()


def spec():
    for path in specs():
        text = read(path)
        yield text.encode()
        for part in re.findall(r"^layout .*?^}|^for .*?^end|^local .*?^end", text, re.M | re.S):
            yield part.encode()
    for part in re.findall(r"```lua\n(.*?)```", read("README.md") + read("specs/README.md") + read("specs/reference.md"), re.S):
        yield part.encode()
    for text in inline_layouts():
        dims = text[1:text.index(")")] if text[0] == "(" else "N, C, H, W"
        order = [p for p in parts(text) if "=" not in p]
        fields = [p for p in parts(text) if "=" in p]
        yield ('layout "L" { %s }' % ", ".join(["dims = {%s}" % dims, "order = {%s}" % ", ".join(order), *fields])).encode()


def pair():
    rng = random.Random(1)
    for n in (8, 24, 48, 64, 80, 96):
        for _ in range(8):
            yield rng.randbytes(n)


def sparse():
    """Every format as the first, without damage and with it."""
    rng = random.Random(2)
    for i in range(48):
        yield bytes([i % 5, i % 2, i % 12, i % 10]) + rng.randbytes(60 + 3*i)


def npy_of(a, version=(1, 0)):
    f = io.BytesIO()
    np.lib.format.write_array(f, a, version=version)
    return f.getvalue()


def npy():
    for i, descr in enumerate(match_all(r'\{"(\w+)", \d+, \d\}', "runtime/npy_header.c")):
        shape = [(), (3,), (2, 3), (1, 2, 3), (0, 4), (3, 1, 2), (34, 33)][i % 7]
        order = "|" if descr[0] in "Vb" or descr[1:] == "1" else "<>"[i % 2]
        a = np.zeros(shape, order + descr)
        yield npy_of(np.asfortranarray(a) if i % 3 else a, [(1, 0), (2, 0), (3, 0)][i % 3])
    yield npy_of(np.arange(6, dtype=">c16").reshape(1, 2, 3, order="F"))
    yield npy_of(np.zeros((1,) * 32, "u1"))
    yield npy_of(np.zeros(2, [("a", "u1"), ("b", "f4")]))
    for text in ("{'descr': \"<f4\", 'shape': (2L, 1), \"fortran_order\": True}", "{'descr': '|O', 'fortran_order': False, 'shape': (9,), }"):
        yield b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text.encode() + bytes(8)
    yield b"PK\3\4"
    yield b"\x80\4."


ELF_SOURCE = """
void ravel_copy(void *, const void *, long);
static int count = 3, zero[40];
const int table[4] = {1, 2, 3, 4};
int (*pointer)(int);
static int twice(int x) { return 2*x + count++ + zero[x & 31]; }
int outer(int x) { pointer = twice; return twice(table[x & 3]) + pointer(x); }
void ravel_relayout(void *d, const void *s) { ravel_copy(d, s, 16 + outer(2)); }
"""


def elf():
    """As libtcc writes them, and as other compilers do."""
    calls = ELF_SOURCE.splitlines()[1]
    sources = [ELF_SOURCE, calls + "\nvoid f(void *d, const void *s) { ravel_copy(d, s, 9); }", "int f(int x) { return x*3; }"]
    compilers = ["tcc -c", "gcc -c -O1 -fPIC -fno-asynchronous-unwind-tables", "gcc -c -O1 -fno-pic -mcmodel=large", "clang -c -O1 -fPIC -fcommon"]
    with tempfile.TemporaryDirectory() as folder:
        c, o = pathlib.Path(folder, "a.c"), pathlib.Path(folder, "a.o")
        for compiler, source in itertools.product(compilers, sources):
            c.write_text(source)
            subprocess.run([*compiler.split(), c, "-o", o], check=True)
            yield o.read_bytes()


def numbers():
    texts = ["", "1", "0", "2,64,56,56", "8589934592", "9223372036854775807", "9223372036854775808", "4294967296,4294967296", "-1", "1,",
             ",", "007", "+3", " 4", "N,2", "0x10", ",".join("1"*16), ",".join("1"*17), "4611686018427387904,2", "3,4611686018427387904"]
    for i, text in enumerate(texts):
        for k in range(3):
            yield bytes([5*i + 7*k, i + 3*k]) + text.encode()


def arrays():
    """Each axis, size of element and kind of array, with right numbers and with a wrong one."""
    rng = random.Random(4)
    for i in range(120):
        yield bytes([i % 3, i // 3 % 5, i % 32, rng.randrange(40), rng.randrange(40), rng.randrange(40), rng.randrange(48)]) + rng.randbytes(50) + bytes([i % 2, i, i % 5])


def convert():
    for i, data in enumerate(npy()):
        yield bytes([i % 15, i*7 % 15, 18, 0, i % 2]) + data
        yield bytes([4, i*7 % 15, i % 19, i % 11, 0]) + data
    rng = random.Random(2)
    for n in (6, 24, 120, 240, 480):
        for i in range(19):
            yield bytes([i % 15, (i + n) % 15, i, i % 11, 1]) + rng.randbytes(n)


def wisdom():
    head = "ravel wisdom 1\n"
    line = "AMD EPYC\tavx2\t%d\t%s\t(%s)\t(A, B){A, B}\t(A, B){B//%d, A, B%%%d}\t%s\n"
    picks = ["1:transpose4:tiles", "1:copy:in order of reads, past the caches;3:fill:in order of writes", "2:none:such"]
    yield head.encode()
    for i, dtype in enumerate(dtypes()):
        shape = ",".join(["64", "7", "0", "9223372036854775807"][:i % 5])
        one = line % (i + 1, dtype, shape, i + 1, i + 1, picks[i % 3])
        yield (head + one).encode()
        yield (head + one + line % (i + 2, dtype, shape, 2, 2, picks[0])).encode()
    yield (head + 2*one).encode()
    yield (head + one).encode()[:-1]
    yield head.replace("1", "2").encode() + one.encode()


def target():
    """The tables as they are; tables like each other that change a line; what the tests hold of hostile ones."""
    tables = sorted("templates/" + p.name for p in (ROOT/"templates").glob("*.lua"))
    for path in tables:
        text = read(path)
        for job in range(9):
            yield bytes([job]) + text.encode()
        name = pathlib.Path(path).stem
        for i, (field, value) in enumerate(re.findall(r'(?:^|[ ,])(\w+) = ("(?:[^"\\\n]|\\.)*"|\d+)(?=[,\n ])', text)):
            if field != "local":
                yield bytes([i % 9]) + ('return { like = "%s", ["%s"] = %s }' % (name, field, value)).encode()
    for i, text in enumerate(match_all(r"""['"](return \{.*\})['"]""", "tests/test_targets.py", "tests/test_grid_tables.py", "tests/test_bursts.py")):
        yield bytes([i % 9]) + text.encode()


def target_words():
    text = read("compiler/emit/target.def")
    names = {w for line in re.findall(r'"(.*)"', text) for w in line.split()}
    return words(["%s = " % f for f in match_all(r"^[DN]\(\w+, +\w+, +(?:[A-Z]+, +)?(\w+),", "compiler/emit/target.def")], ["${%s}" % n for n in sorted(names)], LUA, NUMBERS,
                 ["like = \\\"cuda\\\"", "like = \\\"glsl\\\"", "like = \\\"bursts\\\"", "model = \\\"blocks\\\"", "model = \\\"bursts\\\"", "plan.tiles[1]", ".write", ".steps",
                  ".moves", ".starts", "${", "$", "blocks/permute.glsl"])


# --- dictionaries

NUMBERS = ["0", "1", "2", "3", "7", "8", "16", "31", "32", "61", "62", "63", "64", "128", "255", "4096", "2147483648", "4294967296",
           "4611686018427387904", "9223372036854775807", "9223372036854775808"]
LUA = ["function(a) return a end", "return", "end", "local", "for i = 1, 3 do", "if", "then", "else", "nil", "true", "...",
       "pcall(", "error(", "string.rep(", "string.format(", "setmetatable(", "tostring(", "table.concat(", "pairs(", "ipairs(", "math.max(",
       "load(", "--", "[[", "]]", "\\\"", "#", "..", "==", "~=", "<=", "0/0", "1e308", "-1/0", ":", ";", "goto", "_ENV", "_G", "select("]


def words(*groups):
    return [w for g in groups for w in g]


def layout_words():
    return words(operators(), dtypes(), NUMBERS, names(), [f + " = " for f in fields()],
                 ["{", "}", "(", ")", ",", "[", "]", "bytes", "bits", "reverse(...)", "...", "xor(3, 4, 3)", "\\\"none\\\"", "\\\"edge\\\"",
                  "\\\"bytes\\\"", "dims = {", "fill = ", "C0=", "swizzle = function(a) return ", " end"])


DICTS = {
    "expr": lambda: words(operators(), NUMBERS, list("abcd(),[]")),
    "layout": layout_words,
    "spec": lambda: words(layout_words(), LUA, ["layout \\\"L\\\" { ", "function(bytes, bits) return "]),
    "wisdom": lambda: words(dtypes(), NUMBERS, ["\\x09", "\\x0a", "ravel wisdom 1\\x0a", "(", ")", ",", ";", ":", "transpose4", "tiles", "\\xc3\\xa9", "\\xe2\\x80\\x8b"]),
    "target": target_words,
    "numbers": lambda: words(NUMBERS, [",", "-", "+", " "]),
    "npy": lambda: words(["<" + d for d in match_all(r'\{"(\w+)", \d+, \d\}', "runtime/npy_header.c")],
                         ["\\x93NUMPY\\x01\\x00", "\\x93NUMPY\\x02\\x00", "\\x93NUMPY\\x03\\x00", "'descr': ", "'fortran_order': ", "'shape': ",
                          "True", "False", "(2, 3), ", "()", "L", "[", "'", "\\\"", "{", "}", ">f4", "|b1", "|O", "9223372036854775807"]),
    "elf": lambda: ["\\x04\\x00\\x00\\x00", "\\x08\\x00\\x00\\x00", "\\x02\\x00\\x00\\x00", "\\x03\\x00\\x00\\x00", "\\x18\\x00\\x00\\x00\\x00\\x00\\x00\\x00",
                    "\\x00\\x10\\x00\\x00\\x00\\x00\\x00\\x00", "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff", "\\x00\\x00\\x00\\x40\\x00\\x00\\x00\\x00",
                    "\\xff\\xff", "\\xf1\\xff", "\\xf2\\xff", "\\x06\\x00\\x00\\x00", "\\x07\\x00\\x00\\x00"]
    + ["\\x%02x\\x00\\x00\\x00\\x%02x\\x00\\x00\\x00" % (t, i) for t in (1, 2, 4, 9, 41, 42) for i in (1, 2, 5)],
}
DICTS["convert"] = DICTS["npy"]
SEEDS = {f.__name__: f for f in (arrays, expr, layout, spec, pair, sparse, npy, elf, numbers, convert, wisdom, target)}


def write(build):
    for target, make in SEEDS.items():
        folder = build/"seeds"/target
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for data in make():
            (folder/hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)
        (build/"dict").mkdir(exist_ok=True)
        lines = ['"%s"' % w for w in dict.fromkeys(DICTS.get(target, list)())]
        (build/"dict"/target).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
