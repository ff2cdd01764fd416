"""Schedules that the cost model must choose for a processor: of each pair of layouts the one that was the quickest, or within a
twentieth of it, of all schedules that `make bench-fit` timed there; others took 1.2 to 3 times as long."""

import os
import re
import subprocess

import pytest

import ravel

# element type, shape, layouts; kernel and order
CHOSEN = [
    ("bf16", "4096,4096", "(K,N){K, N}", "(K,N){N//16, K//16, K//2%8, N%16, K%2}", "interleave2, planes along the source"),
    ("f32", "128,3,224,224", "NHWC", "NCHW", "deinterleave4, parts of the long loop"),
    ("f32", "64,64,112,112", "NCHW8", "NCHW16", "copy, runs abreast, past the caches"),
    ("f32", "43408,1216", "(a,b){a, b}", "(a,b){b, a}", "transpose4, (tiles|lines along the source)"),
    ("f32", "75,96,75,96", "(a,b,c,d){a, b, c, d}", "(a,b,c,d){d, a, c, b}", "transpose4, lines along (a loop|the source)"),
    ("u4", "4608,6272", "INT4_LOW", "MARLIN", "butterfly, in order of writes"),
    ("u4", "1072,13120", "AWQ", "MARLIN", "butterfly, in order of writes"),
    ("f32", "15,15,32,15,32,16", "(a,b,c,d,e,f){a, b, c, d, e, f}", "(a,b,c,d,e,f){e, b, a, d, c, f}", "copy, runs abreast, past the caches"),
    ("f64", "4,3,2,4,2,137", "(a,b,c,d,e,f){a, b, c, d, e, f}", "(a,b,c,d,e,f){f, e, a, d, c, b}", "composite8, by tiles"),
    ("f64", "6,2,2,4,913", "(a,b,c,d,e){a, b, c, d, e}", "(a,b,c,d,e){a, c, e, d, b}", "composite8, by tiles"),
    ("f64", "1,71,37,38", "NHWC", "NCHW", "transpose8, in order of writes"),
    ("u8", "1,71,118,119", "NCHW", "NHWC", "transpose1, in order of writes"),
    ("bf16", "4442,112", "(R,C){R, C}", "VNNI2", "interleave2, parts of the long loop"),
    ("u8", "1,178,17,16", "NCHW", "NCHW32", "transpose1, in order of writes"),
    ("f32", "1,3,216,216", "NHWC", "NCHW", "shuffle, in order of writes"),
    ("f32", "24814,3", "(a,b){a, b}", "(a,b){b, a}", "shuffle, in order of writes"),
    ("f64", "1302,768", "(a,b){a, b}", "(a,b){b, a}", "transpose8, in order of writes"),
    ("f16", "39,102564", "(a,b){a, b}", "(a,b){b, a}", "transpose2, in order of writes"),
    ("f16", "3,5,176378", "(a,b,c){a, b, c}", "(a,b,c){c, b, a}", "composite2, by tiles"),
]
ON_ZEN4 = [
    ("u8", "64,3,7,7", "FRACTAL_Z", "NHWC", "copy, in order of writes"),
    ("u8", "64,2,7,7", "FRACTAL_Z", "NHWC", "copy, in order of writes"),
    ("f16", "64,5,7,7", "FRACTAL_Z", "NHWC", "copy, in order of writes"),
    ("u8", "256,3,16,16", "FRACTAL_Z", "NHWC", "copy, in order of reads"),
    ("u8", "32,3,224,224", "FRACTAL_Z", "NHWC", "copy, in order of reads"),
    ("f16", "576,5632", "SW32", "ROW_MAJOR", "gather, in order of writes"),
    ("f32", "8,3,224,224", "NCHW", "NHWC", "interleave4, parts of the long loop"),
    ("f32", "24,3,224,224", "NCHW", "NHWC", "interleave4, parts of the long loop"),
]
ALL = [("emerald-rapids", *c) for c in CHOSEN] + [("zen4", *c) for c in ON_ZEN4]


@pytest.mark.parametrize("processor, dtype, shape, src, dst, want", ALL)
def test_the_quickest_is_chosen(processor, dtype, shape, src, dst, want):
    out = subprocess.run([str(ravel.BUILD/"ravel"), "explain", "--from", src, "--to", dst, "--dtype", dtype, "--shape", shape, "--threads", "1",
                          "--processor", processor], capture_output=True, text=True, check=True, timeout=60).stdout
    assert re.search(r"^  nest 1 by %s: about " % want, out, re.M), out[out.index("\ncost"):]


@pytest.mark.parametrize("to, processor, shape, merged", [
    ("NC1HWC0", "default", "2,20,57,57", False), ("NC1HWC0", "default", "2,25,57,57", False), ("NC1HWC0", "default", "2,5,57,57", True),
    ("NC1HWC0", "emerald-rapids", "2,24,296,298", False), ("NC1HWC0", "emerald-rapids", "2,50,240,247", False), ("NCHW32", "emerald-rapids", "4,20,72,69", False), ("NCHW32", "emerald-rapids", "4,17,72,69", False), ("NCHW32", "emerald-rapids", "4,3,72,69", True)])
def test_padding_goes_with_rows_only_where_a_kernel_does_both_well(to, processor, shape, merged):
    out = subprocess.run([str(ravel.BUILD/"ravel"), "explain", "--from", "NCHW", "--to", to, "--dtype", "u8", "--shape", shape, "--threads", "1",
                          "--processor", processor],
                         capture_output=True, text=True, check=True, timeout=60).stdout
    assert ("written with those before them" in out) is merged, out[out.index("\nplan"):]


# Tiles of four loops whose runs of 64 elements are a little more, so that a buffer of a byte for each does not hold them.
@pytest.mark.parametrize("shape", ["7,198,2727,3", "7,198,2728,3", "5,203,640,3"])
def test_short_runs_are_unpacked_where_longer_ones_do_not_fit(shape):
    out = subprocess.run([str(ravel.BUILD/"ravel"), "explain", "--from", "{a,b,c,d}", "--to", "{d,c,b,a}", "--dtype", "u4", "--shape", shape, "--threads", "1"],
                         capture_output=True, text=True, check=True, timeout=60).stdout
    subprocess.run([str(ravel.BUILD/"ravel"), "verify", "--from", "{a,b,c,d}", "--to", "{d,c,b,a}", "--dtype", "u4", "--shape", shape], check=True, timeout=60)
    assert re.search(r"^  1\. unpacked1 ", out, re.M), out[out.index("\nplan"):]


# Blocks of a tile write to the same lines: there are at most as many rows as lines that wait for data, or columns are whole lines.  Numbers of a tile are in the order of templates/c/composite_size.h.
@pytest.mark.parametrize("dtype, shape, dst", [("f64", "2,738,2,10,11", "(a,b,c,d,e){c, d, e, b, a}"), ("f64", "10,9,4,29,38", "(a,b,c,d,e){d, e, b, a, c}")])
def test_lines_of_a_tile_are_completed_soon(dtype, shape, dst):
    out = subprocess.run([str(ravel.BUILD/"ravel"), "emit", "--from", "{a,b,c,d,e}", "--to", dst, "--dtype", dtype, "--shape", shape, "--threads", "1"],
                         capture_output=True, text=True, check=True, timeout=60).stdout
    head = [int(w) for w in re.search(r"_table0\[\d+\] = \{\n(.*)\n", out).group(1).split(",") if w.strip()]
    kept, rows, columns = head[3], head[4], head[5]
    assert rows <= 16 or columns * kept >= 64, head


# A row of a block is a part of a line of the source, and blocks after many columns have the other parts: the first cache has lost it.
@pytest.mark.parametrize("shape", ["1536,636", "768,1276", "512,640"])
def test_lines_of_the_source_are_read_whole(shape):
    out = subprocess.run([str(ravel.BUILD/"ravel"), "emit", "--from", "SF128x4", "--to", "(R,C){R, C}", "--dtype", "u8", "--shape", shape, "--threads", "1"],
                         capture_output=True, text=True, check=True, timeout=60).stdout
    head = [int(w) for w in re.search(r"_table0\[\d+\] = \{\n(.*)\n", out).group(1).split(",") if w.strip()]
    kept, rows, columns = head[3], head[4], head[5]
    assert rows * kept >= 64 or columns <= 256, head


# Rows of a block begin within lines, so a store begins a line that the store of the next columns completes: the first cache has lost it
# if many rows come between.
@pytest.mark.parametrize("dtype, shape, dst", [("bf16", "187,127,27", "c, b, a"), ("bf16", "183,133,27", "c, b, a"),
                                               ("f16", "21,80,2,297", "d, a, c, b")])
def test_lines_of_long_rows_are_completed_soon(dtype, shape, dst):
    src = ", ".join("abcd"[:shape.count(",") + 1])
    out = subprocess.run([str(ravel.BUILD/"ravel"), "emit", "--from", "(%s){%s}" % (src, src), "--to", "(%s){%s}" % (src, dst), "--dtype", dtype,
                          "--shape", shape, "--threads", "1", "--processor", "emerald-rapids"], capture_output=True, text=True, check=True, timeout=60).stdout
    head = [int(w) for w in re.search(r"_table0\[\d+\] = \{\n(.*)\n", out).group(1).split(",") if w.strip()]
    rows, columns = head[4], head[5]
    assert rows <= 256 or columns <= 128, head


# Two elements of a tile share a byte of the destination (the first number of the table: how far apart they are in the source) or of
# the source (the second); one run of the source holds both, or rows are cut into tiles of which the last overlaps.
@pytest.mark.parametrize("order, shape, words", [("c, b, a", "38,2,1151", "2302, 0,"), ("c, d, a, b", "2,20,47,55", "2585, 0,"),
                                                 ("c, a, b", "705,2,7", "7, 0,"), ("d, c, a, b", "2,280,91,2", "182, 0,"),
                                                 ("a, c, b", "70,371,4", "0, 371,"), ("d, a, b, c", "30,27,16,8", "8, 0,"),
                                                 ("c, b, a", "1518,341,2", "682, 0,"), ("d, b, c, a", "9,7,9,12", "0, 567,"),
                                                 ("b, d, c, a", "4,4,7,3097", "86716, 0,")])
def test_elements_that_share_a_byte_move_as_that_byte(order, shape, words, tmp_path):
    dims = "abcd"[:len(shape.split(","))]
    of = ["--from", "{%s}" % ",".join(dims), "--to", "(%s){%s}" % (",".join(dims), order), "--dtype", "u4", "--shape", shape]
    subprocess.run([str(ravel.BUILD/"ravel"), "emit", *of, "--processor", "emerald-rapids", "-o", str(tmp_path/"out.c")], check=True, timeout=60)
    text = (tmp_path/"out.c").read_text()
    assert "ravel_unpacked1(dst" in text and re.search(r"ravel_relayout_table0\[\d+\] = \{\s*" + words, text), text[-3000:]
    subprocess.run([str(ravel.BUILD/"ravel"), "verify", *of], check=True, timeout=60)


# Columns of a block share the bytes of the buffers two and two, wherever they are in the source, and rows begin at any element.
COUPLED = [("c, b, a", "37,235,115"), ("f, d, e, b, a, c", "88,4,3,14,2,13"), ("f, b, d, e, a, c", "17,3,97,10,2,5")]


@pytest.mark.parametrize("order, shape", COUPLED)
def test_columns_share_bytes_where_no_loop_is_of_pairs(order, shape, tmp_path):
    dims = "abcdef"[:len(shape.split(","))]
    of = ["--from", "{%s}" % ",".join(dims), "--to", "(%s){%s}" % (",".join(dims), order), "--dtype", "u4", "--shape", shape]
    subprocess.run([str(ravel.BUILD/"ravel"), "emit", *of, "--processor", "emerald-rapids", "-o", str(tmp_path/"out.c")], check=True, timeout=60)
    text = (tmp_path/"out.c").read_text()
    assert "ravel_unpacked1(dst" in text and re.search(r"ravel_relayout_table0\[\d+\] = \{\s*-1, 0,", text), text[-3000:]
    for isa in ["scalar", "sse2", "avx2", "avx512", "avx512vbmi"]:
        subprocess.run([str(ravel.BUILD/"ravel"), "verify", *of], check=True, timeout=60,
                       env={**os.environ, "RAVEL_ISA": isa, "RAVEL_PROCESSOR": "emerald-rapids"})


# Blocks of the destination of which the source has one element.
@pytest.mark.parametrize("src, dst, dtype, shape", [("CHWN4", "NHWCD4", "u8", "1,17,76,76"), ("(N,C,H,W){C, H, W, N}", "(N,C,H,W){N, C//8, H, W, C%8}", "bf16", "2,17,50,50"),
                                                    ("(N,C,H,W){N, W, C, H}", "(N,C,H,W){N, C//2, H, W, C%2}", "f64", "1,7,12,40"), ("NCHW", "(N,C,H,W){N, C//4, W, H, C%4, fill=7}", "f32", "2,5,H,30")])
def test_padding_after_single_elements_is_written_with_them(src, dst, dtype, shape):
    of = ["--from", src, "--to", dst, "--dtype", dtype, "--shape", shape]
    out = subprocess.run([str(ravel.BUILD/"ravel"), "explain", *of, "--threads", "1", "--processor", "emerald-rapids"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "written with those before them" in out and re.search(r"kernel one +n=1 ", out), out[out.index("\nplan"):]
    subprocess.run([str(ravel.BUILD/"ravel"), "verify", *of], check=True, timeout=60)


# Pairs of rows past the caches: by registers, not by tiles with a byte for each element.
@pytest.mark.parametrize("dtype", ["u4", "u2", "u1"])
@pytest.mark.parametrize("src, dst", [("{K, N}", "(K,N){K//2, N, K%2}"), ("(K,N){K//2, N, K%2}", "{K, N}")])
def test_pairs_of_long_rows_of_bits_keep_their_bytes(src, dst, dtype):
    out = subprocess.run([str(ravel.BUILD/"ravel"), "explain", "--from", src, "--to", dst, "--dtype", dtype, "--shape", "8192,16384", "--threads", "1",
                          "--processor", "emerald-rapids"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert re.search(r"^  1\. shuffle ", out, re.M), out[out.index("\nplan"):]


# Rows of planes of bits that are no whole number of vectors.
@pytest.mark.parametrize("dtype, per", [("u4", 2), ("u2", 4), ("u1", 8)])
def test_the_last_vectors_of_planes_overlap(dtype, per):
    for n in [per*64, per*65, per*127, 3000, 3008]:
        for a, b in [("{K, N}", "(K,N){K//%d, N, K%%%d}" % (per, per)), ("(K,N){K//%d, N, K%%%d}" % (per, per), "{K, N}")]:
            subprocess.run([str(ravel.BUILD/"ravel"), "verify", "--from", a, "--to", b, "--dtype", dtype, "--shape", "%d,%d" % (4*per, n)], check=True, timeout=60,
                           capture_output=True)


# Padding that follows rows as a part of a byte, whole bytes, a part of a byte; and rows that begin within bytes.
@pytest.mark.parametrize("dtype, dst, shape", [("u4", "NC1HWC0", "2,17,9,7"), ("u2", "NC1HWC0", "2,3,19,7"), ("u1", "NC1HWC0", "1,7,70,2"),
                                               ("i4", "(N,C,H,W){N, C//6, H, W, C%6, fill=-3}", "2,5,9,7"), ("u1", "(N,C,H,W){N, C//37, H, W, C%37, fill=1}", "2,5,9,7"),
                                               ("u8", "NC1HWC0", "3,20,17,5"), ("u16", "NC1HWC0{C0=32}", "3,25,17,5")])
def test_padding_is_written(dtype, dst, shape):
    subprocess.run([str(ravel.BUILD/"ravel"), "verify", "--from", "NCHW", "--to", dst, "--dtype", dtype, "--shape", shape], check=True, timeout=60)
