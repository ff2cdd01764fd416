"""The table of wrong inputs: each gets exit code 2, one short message that says what wrong_inputs.toml expects, below it at most the
place in the text, and makes no file."""

import os
import shlex
import struct
import tomllib
import zipfile

import numpy as np

import ravel
from command import here, run          # noqa: F401: the fixture `here`

TABLE = tomllib.loads((ravel.ROOT / "tests/wrong_inputs.toml").read_text())["wrong"]
SPEC = 'layout "MINE" { dims = { M, K }, order = { M//4, K, M%4 } }\nlayout "OTHER" { dims = { M, K }, order = { K, M } }\n'

X = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 20, 5, 7), }".ljust(117) + b"\n"
MATRIX = b"%%MatrixMarket matrix coordinate real general\n"
DAMAGED = {
    "trunc.npy": X + bytes(2700), "head.npy": X[:50], "cut.safetensors": struct.pack("<Q", 10**12) + b"{}",
    "v9.gguf": b"GGUF" + struct.pack("<IQQ", 9, 0, 0) + bytes(64), "hdr.mtx": MATRIX, "short.mtx": MATRIX + b"3 3 4\n1 1 1.0\n",
    "syntax.lua": b'layout "A" {\n  dims = { M, K },\n  order = { M, K\n}\n', "fails.lua": b'local t = nil\nlayout "A" { dims = { M, K }, order = { M, t.x } }\n',
    "loop.lua": b"while true do end\n", "unknown.lua": b'layout "A" { dims = { M, K }, order = { M, Q } }\n',
    "twice.lua": b'layout "A" { dims = { M, M }, order = { M } }\n', "none.lua": b"x = 1\n"}


def test_every_wrong_input():
    open("t.lua", "w").write(SPEC)
    np.save("x.npy", np.zeros((2, 20, 5, 7), "f2"))
    np.save("m.npy", np.zeros((4, 5), "f2"))
    np.save("s.npy", np.zeros((), "f2"))
    open("a.mtx", "w").write("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1.5\n")
    open("io.lua", "w").write('io.open("x")\n')
    np.save("i.npy", np.array([1, 0]))
    np.save("e.npy", np.array([], "i8"))
    np.save("c.npy", np.zeros((2, 3), "S4"))
    for name in "z.h5", "z.h5.bin":
        open(name, "wb").write(b"\x89HDF\r\n\x1a\n")
    for name in "e.bin", "e.gguf", "e.npz":
        open(name, "wb").close()
    os.mkdir("folder")
    for name, data in DAMAGED.items():
        open(name, "wb").write(data)
    with zipfile.ZipFile("z.pt", "w") as z:
        z.writestr("archive/data/0", bytes(8))
    files, flaws = set(os.listdir()), []
    for command, says in TABLE:
        r = run(*shlex.split(command))
        first, *more = r.stderr.decode().splitlines() or [""]
        fine = (r.returncode, r.stdout) == (2, b"") and first.startswith("ravel") and says in first and len(first) < 400
        if not fine or [line for line in more if not line.startswith(("Try `ravel ", "      "))] or set(os.listdir()) != files:
            flaws.append((command, says, r))
    assert not flaws, flaws


def test_the_table_is_large_and_has_no_row_twice():
    assert len(TABLE) >= 100 and len({c for c, _ in TABLE}) == len(TABLE)
