"""What tests of kernels for grids share: a program of them in plain C or for OpenCL that is run, random cases, the table of a target of one's own."""

import os
import random
import subprocess

import numpy as np
import pytest

import draw
import orders as O
import ravel
import relayouts as R
from sanitize import SANITIZE

ALIGNED = "-DOFFSET=0"
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror"]

# main: kernel number argv[1] of source file argv[2] to destination file argv[3], all of its blocks; the buffers begin OFFSET bytes after a multiple of 16.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
%s
static void (*const kernel[])(void *, const void *) = {%s};
static const long bytes[][2] = {%s};
int main(int argc, char **argv)
{
    for (int i = 1; i + 2 < argc; i += 3) {
        int k = atoi(argv[i]);
        unsigned char *room[] = {malloc((size_t)bytes[k][0] + OFFSET), malloc((size_t)bytes[k][1] + OFFSET)}, *src = room[0] + OFFSET, *dst = room[1] + OFFSET;
        FILE *in = fopen(argv[i + 1], "rb"), *out = fopen(argv[i + 2], "r+b");
        if (fread(src, 1, (size_t)bytes[k][0], in) + fread(dst, 1, (size_t)bytes[k][1], out) != (size_t)(bytes[k][0] + bytes[k][1])) return 1;
        kernel[k](dst, src);
        rewind(out);
        fwrite(dst, 1, (size_t)bytes[k][1], out);
        fclose(in); fclose(out); free(room[0]); free(room[1]);
    }
    return 0;
}
"""


def program(folder, ks, flags):
    """All kernels of ks in one program."""
    main = folder / "main.c"
    data = [k.data() for k in ks]
    main.write_text(MAIN % ("".join("void %s(void *, const void *);\n" % k.entry for k in ks), ", ".join(k.entry for k in ks),
                            ", ".join("{%d, %d}" % (a.size, b.size) for a, b in data)))
    out = folder / "run"
    subprocess.run(["gcc", "-g1", *flags, "-o", out, main, *(k.path for k in ks)], check=True)
    return out, data


def files(folder, ks, data):
    for k, (src, want) in zip(ks, data):
        src.tofile(folder / (k.entry + ".src"))
        np.full(want.size, ravel.POISON, np.uint8).tofile(folder / (k.entry + ".dst"))


def differences(folder, ks, data):
    out = []
    for k, (_, want) in zip(ks, data):
        got = np.fromfile(folder / (k.entry + ".dst"), np.uint8)
        if got.size != want.size or not np.array_equal(got, want):
            out.append((k.case, int(np.flatnonzero(got != want)[0])))
    return out


def run_blocks(folder, ks, flags=SANITIZE, offset=ALIGNED):
    exe, data = program(folder, ks, [*STRICT, *flags, offset])
    files(folder, ks, data)
    args = [x for i, k in enumerate(ks) for x in (i, folder / (k.entry + ".src"), folder / (k.entry + ".dst"))]
    r = subprocess.run(list(map(str, [exe, *args])), capture_output=True, text=True)
    return r, differences(folder, ks, data)


def drawn(n, seed):
    """Random cases, of any two layouts, that can be converted."""
    rng = random.Random(seed)

    def one(_):
        case = draw.case(rng)
        try:
            R.expected(case)
        except O.Refused:
            return None
        return case["from"], case["to"], tuple(case["shape"]), case["bits"]

    return draw.taken(n, one)


def run_opencl(folder, ks, **env):
    data = [k.data() for k in ks]
    files(folder, ks, data)
    jobs = "".join("%s %s %d %d %d %s %s\n" % (k.path, k.entry, k.manifest["grid"][0], k.manifest["block"][0], k.manifest["shared_bytes"],
                                               folder / (k.entry + ".src"), folder / (k.entry + ".dst")) for k in ks)
    r = subprocess.run([ravel.BUILD / "tests/grid_run", "1"], input=jobs, capture_output=True, text=True, env={**os.environ, **env})
    if "open: " in r.stdout:
        pytest.skip(r.stdout.strip())
    return r, differences(folder, ks, data)


def own_table(folder, *changes):
    """The target blocks, as a user's table."""
    text = (ravel.ROOT / "templates/blocks.lua").read_text()
    prologue = (ravel.ROOT / "templates/blocks/blocks.h").read_text()
    for old, new in [('  prologue = "blocks/blocks.h",\n', "  prologue_text = [==[%s]==],\n" % prologue), *changes]:
        assert old in text
        text = text.replace(old, new)
    (folder / "mine.lua").write_text(text)
    return folder / "mine.lua"
