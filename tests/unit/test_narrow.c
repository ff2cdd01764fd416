/* The kernels of few columns, few rows, runs, planes and small elements against plain
 * loops, over shapes, strides and alignments at random; blocks of memory end where the
 * kernel must, for the sanitizer to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/kernels.h"
#include "../../templates/c/composite_size.h"
#include "../../templates/c/unpack_size.h"

typedef unsigned char Byte;
typedef int64_t i64;
typedef void Weave(Byte *, const Byte *, i64 n, i64 rows, i64 cols, i64 width, i64 dn,
                   i64 sn, i64 dp, i64 sq, i64 stream, i64 ahead, uint64_t value);
typedef void Part(Byte *, const Byte *, i64 n, i64 rows, i64 cols, i64 dn, i64 sn, i64 dp,
                  i64 sq, i64 stream, i64 ahead);
typedef void Turned(Byte *, const Byte *, i64 n, i64 sides, i64 rows, i64 cols, i64 dn,
                    i64 sn, i64 so, i64 dp, i64 sq, i64 stream, i64 ahead);
typedef void Copy(Byte *, const Byte *, i64 n, i64 rows, i64 bytes, i64 dn, i64 sn, i64 dp,
                  i64 sp, i64 stream);
typedef void Run(Byte *, i64 d, const Byte *, i64 s, i64 rows, i64 cols, i64 dr, i64 sr,
                 i64 bits);
typedef void Plane(Byte *, i64 d, const Byte *, i64 s, i64 rows, i64 cols, i64 dp, i64 sq,
                   i64 stream, i64 bits);

typedef void Tiles(Byte *, i64 d, const Byte *, i64 s, const int32_t *t, i64 batches, i64 rows,
                   i64 cols, i64 dn, i64 sn, i64 dp, i64 sp, i64 dq, i64 sq, i64 stream, i64 bits);

/* The first words of templates/c/composite_tile.h. */
enum { RAVEL_T_ROW, RAVEL_T_COL, RAVEL_T_BATCH, RAVEL_T_KEPT, RAVEL_T_ROWS, RAVEL_T_COLS,
       RAVEL_T_BLOCKS, RAVEL_T_RUNS, RAVEL_T_BYTES, RAVEL_T_PITCH, RAVEL_T_FROM,
       RAVEL_T_FROM_BYTES, RAVEL_T_FROM_PITCH, RAVEL_T_NEXT, RAVEL_T_END, RAVEL_T_LAST };
enum { ROUNDS = 4000 };
static uint64_t seed = 20261121;

/* 0 .. n - 1 */
static i64
draw(i64 n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (i64)((seed >> 33) % (uint64_t)n);
}

static void (*kernel(const char *name, int size))(void)
{
    char full[40];
    snprintf(full, sizeof full, size ? "ravel_%s%d" : "ravel_%s", name, size);
    const JitSymbol *s = jit_symbol(kernels_here()->symbols, full);
    assert_non_null(s);
    return s->fn;
}

/* Buffers of exact sizes, the destination twice. */
typedef struct {
    Byte *s, *d, *want;
    size_t dst;
    void *block;                   /* where d is, at its start or somewhat on */
} Memory;

/* Bytes at random, several of each number. */
static void
scramble(Byte *p, i64 n)
{
    uint64_t x = seed;
    for (; n >= 8; p += 8, n -= 8) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t eight = x ^ x >> 32;
        memcpy(p, &eight, 8);
    }
    seed = x;
    while (n-- > 0)
        *p++ = (Byte)draw(256);
}

static Memory
memory(i64 src, i64 dst)
{
    Memory m = {malloc((size_t)src), NULL, malloc((size_t)dst), (size_t)dst, NULL};
    i64 off = draw(3) ? 0 : draw(64);
    assert_int_equal(posix_memalign(&m.block, 64, (size_t)(off + dst)), 0);
    m.d = (Byte *)m.block + off;
    scramble(m.s, src);
    scramble(m.d, dst);
    memcpy(m.want, m.d, (size_t)dst);
    return m;
}

static void
compare(Memory m, const char *what, int round)
{
    if (memcmp(m.d, m.want, m.dst))
        fail_msg("%s, round %d", what, round);
    free(m.s);
    free(m.block);
    free(m.want);
}

/* One plane of few x many elements, few contiguous on one side, many on the other. */
typedef struct {
    i64 z, n, few, width, many, gap, long_step;
} Case;

static Case
draw_case(bool weave)
{
    Case c = {.z = 1 << draw(weave ? 4 : 3), .n = 1 + draw(3)};
    c.few = 1 + draw(weave ? 15 : 16 / c.z - 1);
    c.width = c.few + (weave && draw(2) ? draw(4) : 0);
    c.width = c.width * c.z > 120 ? c.few : c.width;
    c.many = 1 + draw(draw(2) ? 1200 : 70);
    c.gap = c.width * c.z + (draw(2) ? draw(20) : 0);
    c.long_step = c.many * c.z + (draw(2) ? draw(70) : 0);
    c.long_step = draw(2) ? (c.long_step + 63) / 64 * 64 : c.long_step;
    return c;
}

static void
weave(void **state)
{
    (void)state;
    printf("# seed %llu\n", (unsigned long long)seed);
    for (int k = 0; k < ROUNDS; k++) {
        Case c = draw_case(true);
        i64 sn = (c.few - 1) * c.long_step + c.many * c.z + draw(9), dn = c.many * c.gap;
        Memory m = memory((c.n - 1) * sn + (c.few - 1) * c.long_step + c.many * c.z,
                          (c.n - 1) * dn + (c.many - 1) * c.gap + c.width * c.z);
        uint64_t value = (uint64_t)draw(1 << 30) << 34 ^ (uint64_t)draw(1 << 30);
        ((Weave *)kernel("interleave", (int)c.z))(
            m.d, m.s, c.n, c.many, c.few, c.width, dn, sn, c.gap, c.long_step, draw(2),
            draw(2) * 256, value);
        for (i64 b = 0; b < c.n; b++)
            for (i64 p = 0; p < c.many; p++)
                for (i64 i = 0; i < c.width * c.z; i++)
                    m.want[b * dn + p * c.gap + i] = (Byte)(i < c.few * c.z
                        ? m.s[b * sn + i / c.z * c.long_step + p * c.z + i % c.z]
                        : value >> i % c.z * 8);
        compare(m, "interleave", k);
    }
}

static void
part(void **state)
{
    (void)state;
    for (int k = 0; k < ROUNDS; k++) {
        Case c = draw_case(false);
        i64 dn = ((c.few - 1) * c.long_step + c.many * c.z + 63) / 64 * 64;
        i64 sn = c.many * c.gap;
        if (draw(3) == 0) {             /* planes side by side: together they are rows */
            c.many = draw(2) ? 8 << draw(4) : c.many;
            sn = c.many * c.gap;
            dn = c.many * c.z;
            c.long_step = (c.n * dn + 63) / 64 * 64;
        }
        Memory m = memory((c.n - 1) * sn + (c.many - 1) * c.gap + c.few * c.z,
                          (c.n - 1) * dn + (c.few - 1) * c.long_step + c.many * c.z);
        ((Part *)kernel("deinterleave", (int)c.z))(m.d, m.s, c.n, c.few, c.many, dn, sn,
                                                   c.long_step, c.gap, draw(2), 0);
        for (i64 b = 0; b < c.n; b++)
            for (i64 q = 0; q < c.many; q++)
                for (i64 i = 0; i < c.few * c.z; i++)
                    m.want[b * dn + i / c.z * c.long_step + q * c.z + i % c.z] =
                        m.s[b * sn + q * c.gap + i];
        compare(m, "deinterleave", k);
    }
}

/* Runs that touch in the destination as rows of a plane (1), as planes (2), or not. */
static void
copies(void **state)
{
    (void)state;
    for (int k = 0; k < ROUNDS; k++) {
        i64 n = 1 + draw(draw(2) ? 40 : 3), rows = 1 + draw(draw(2) ? 40 : 5);
        i64 touch = draw(3), unit = 1 << draw(8);
        i64 bytes = unit * (1 + draw(256 / unit)), line = draw(2) ? 64 : 1;
        i64 dp = bytes, dn = rows * dp;
        if (touch == 1)
            dn = (dn + draw(99) + line - 1) / line * line;
        else if (touch == 2)
            dn = bytes, dp = (n * dn + (draw(2) ? draw(99) : 0) + line - 1) / line * line;
        else
            dp = (bytes + draw(99) + line - 1) / line * line, dn = rows * dp;
        i64 sp = bytes + (draw(2) ? draw(99) : 0), sn = rows * sp;
        if (draw(2))
            sn = bytes, sp = n * sn;
        Memory m = memory((n - 1) * sn + (rows - 1) * sp + bytes,
                          (n - 1) * dn + (rows - 1) * dp + bytes);
        ((Copy *)kernel("copy", 0))(m.d, m.s, n, rows, bytes, dn, sn, dp, sp, draw(4) > 0);
        for (i64 b = 0; b < n; b++)
            for (i64 r = 0; r < rows; r++)
                memcpy(m.want + b * dn + r * dp, m.s + b * sn + r * sp, (size_t)bytes);
        compare(m, "copy", k);
    }
}

/* Rows at any distance, at lines, and at distances that share sets of a cache. */
static i64
pitch(i64 least)
{
    static const i64 lines[] = {1, 64, 1024};
    i64 of = lines[draw(3)];
    return (least + (draw(2) ? draw(99) : 0) + of - 1) / of * of;
}

/* Now and then a loop goes backwards: where it begins. */
static i64
backwards(i64 *stride, i64 n)
{
    if (draw(8))
        return 0;
    *stride = -*stride;
    return (1 - n) * *stride;
}

static void
planes(void **state)
{
    (void)state;
    for (int k = 0; k < ROUNDS / 4; k++) {
        i64 z = 1 << draw(5), n = 1 + draw(3);
        i64 rows = 1 + draw(draw(2) ? 400 / z + 99 : 40);
        i64 cols = 1 + draw(draw(2) ? 900 / z + 99 : 40), sq = pitch(rows * z);
        i64 sides = draw(3) ? 1 : 2 + draw(draw(2) ? 4 : 30), so = cols * sq;
        cols = sides > 1 && draw(4) ? 1 + draw(600 / z / sides + 9) : cols;
        i64 all = sides * cols, sn = sides * so;
        i64 dp = draw(4) ? pitch(all * z) : all * z;
        i64 apart[] = {0, 128, 3 * z}, dn = rows * dp + apart[draw(3)];
        if (draw(3) == 0) {             /* one after another in the source */
            sn = rows * z;
            so = draw(2) ? n * sn : pitch(n * sn);
            sq = pitch(sides * so);
        }
        if (draw(4) == 0) {             /* side by side */
            dn = all * z;
            dp = n * dn;
        }
        Memory m = memory((n - 1) * sn + (sides - 1) * so + (cols - 1) * sq + rows * z,
                          (n - 1) * dn + (rows - 1) * dp + all * z);
        i64 d = backwards(&dn, n) + backwards(&dp, rows);
        i64 s = backwards(&sn, n) + backwards(&sq, cols) + backwards(&so, sides);
        ((Turned *)kernel("transpose", (int)z))(m.d + d, m.s + s, n, sides, rows, cols, dn,
                                                sn, so, dp, sq, draw(3), draw(2) * 256);
        for (i64 b = 0; b < n; b++)
            for (i64 p = 0; p < rows; p++)
                for (i64 q = 0; q < all; q++)
                    memcpy(m.want + d + b * dn + p * dp + q * z,
                           m.s + s + b * sn + p * z + q / cols * so + q % cols * sq,
                           (size_t)z);
        compare(m, "transpose", k);
    }
}

static unsigned
element(const Byte *s, i64 i, i64 bits)
{
    return (unsigned)s[i * bits / 8] >> i * bits % 8 & ((1u << bits) - 1);
}

static void
set_element(Byte *d, i64 i, i64 bits, unsigned v)
{
    unsigned mask = ((1u << bits) - 1) << i * bits % 8;
    Byte *at = d + i * bits / 8;
    *at = (Byte)((*at & ~mask) | v << i * bits % 8);
}

static void
small(void **state)
{
    (void)state;
    for (int k = 0; k < ROUNDS / 4; k++) {
        i64 bits = 1 << draw(3), per = 8 / bits, plane = draw(2), whole = draw(2);
        i64 rows = 1 + draw(draw(2) ? draw(9) ? 300 : 1300 : 20);
        i64 cols = 1 + draw(draw(2) ? 600 : 20);
        i64 d = draw(20), s = draw(20), dr = cols + draw(2) * draw(9);
        i64 sr = (plane ? rows : cols) + draw(9);
        if (whole) {
            d = draw(2) * per;
            s -= s % per;
            dr = (dr + 64 * per - 1) / (64 * per) * (64 * per);
            sr = (sr + per - 1) / per * per;
        }
        i64 end = plane ? s + (cols - 1) * sr + rows : s + (rows - 1) * sr + cols;
        i64 last = d + (rows - 1) * dr + cols;
        Memory m = memory((end * bits + 7) / 8, (last * bits + 7) / 8);
        if (plane)
            ((Plane *)kernel("bits_transpose", 0))(m.d, d, m.s, s, rows, cols, dr, sr,
                                                   draw(2), bits);
        else
            ((Run *)kernel("bits_run", 0))(m.d, d, m.s, s, rows, cols, dr, sr, bits);
        for (i64 p = 0; p < rows; p++)
            for (i64 q = 0; q < cols; q++)
                set_element(m.want, d + p * dr + q, bits,
                            element(m.s, plane ? s + p + q * sr : s + p * sr + q, bits));
        compare(m, plane ? "bits_transpose" : "bits_run", k);
    }
}

/* A table of one tile: rows at dr of the destination, columns at sr of the source, in elements.  Two
 * elements share a byte of the destination (source) if that is `pair_from` (`pair_to`) elements from
 * one to the other on the other side; then that side is in bytes.  direct: without a buffer of rows,
 * and of columns of bytes. */
static i64
tile(int32_t *t, i64 rows, i64 cols, i64 dr, i64 sr, i64 pair_from, i64 pair_to, bool direct)
{
    const bool rows_direct = direct && pair_from, cols_direct = pair_to > 0;
    const i64 from = cols_direct ? sr : (rows + 63) / 64 * 64;
    const i64 to = rows_direct ? dr : (cols + 63) / 64 * 64;
    t[RAVEL_PAIR_FROM] = (int32_t)pair_from;
    t[RAVEL_PAIR_TO] = (int32_t)pair_to;
    t += RAVEL_PAIR_HEAD;
    int32_t *at = t + RAVEL_TILE_HEAD;
    if ((!rows_direct && rows * to > RAVEL_UNPACKED_BYTES) ||
        (!cols_direct && cols * from > RAVEL_UNPACKED_BYTES))
        return 0;
    memset(t, 0, RAVEL_TILE_HEAD * sizeof *t);
    t[RAVEL_T_ROW] = t[RAVEL_T_COL] = t[RAVEL_T_BATCH] = t[RAVEL_T_KEPT] = t[RAVEL_T_BLOCKS] = 1;
    t[RAVEL_T_ROWS] = (int32_t)rows;
    t[RAVEL_T_RUNS] = (int32_t)(rows_direct ? 0 : rows);
    t[RAVEL_T_COLS] = t[RAVEL_T_BYTES] = t[RAVEL_T_FROM] = (int32_t)cols;
    t[RAVEL_T_FROM_BYTES] = (int32_t)rows;
    t[RAVEL_T_PITCH] = (int32_t)to;
    t[RAVEL_T_FROM_PITCH] = (int32_t)from;
    t[RAVEL_T_END] = (int32_t)(cols_direct ? from * (cols - 1) + rows : from * cols);
    t[RAVEL_T_LAST] = (int32_t)(from * (cols - 1));
    for (i64 p = 0; p < rows; p++)
        *at++ = (int32_t)(p * to);
    for (i64 q = 0; q < cols; q++)
        *at++ = (int32_t)(q * from);
    *at++ = 0;
    *at++ = 0;
    for (i64 p = 0; p < rows && !rows_direct; p++)
        *at++ = (int32_t)(p * dr);
    for (i64 q = 0; q < cols; q++)
        *at++ = (int32_t)(q * sr);
    return 1;
}

/* Where a kernel has its buffers: what is not written there is no element of any size. */
__attribute__((noinline)) static void
soil(void)
{
    enum { BYTES = 4 * RAVEL_UNPACKED_BYTES };
    Byte stack[BYTES];
    memset(stack, 0xff, sizeof stack);
    __asm__ volatile("" : : "r"(stack) : "memory");
}

static void
tiles(void **state)
{
    (void)state;
    static int32_t t[RAVEL_PAIR_HEAD + RAVEL_TILE_HEAD + 2 * (700 + 700 + 1)];
    for (int k = 0; k < ROUNDS / 4; k++) {
        i64 bits = 1 << draw(3), rows = 1 + draw(draw(2) ? 300 : 20);
        i64 cols = 1 + draw(draw(2) ? 700 : 20), d = draw(20), s = draw(20);
        i64 dr = cols + draw(9), sr = rows + draw(9);
        i64 end = s + (cols - 1) * sr + rows, last = d + (rows - 1) * dr + cols;
        if (!tile(t, rows, cols, dr, sr, 0, 0, false))
            continue;
        Memory m = memory((end * bits + 7) / 8, (last * bits + 7) / 8);
        soil();
        ((Tiles *)kernel("unpacked", 1))(m.d, d, m.s, s, t, 1, 1, 1, 0, 0, 0, 0, 0, 0, draw(2),
                                         bits);
        for (i64 p = 0; p < rows; p++)
            for (i64 q = 0; q < cols; q++)
                set_element(m.want, d + p * dr + q, bits, element(m.s, s + p + q * sr, bits));
        compare(m, "unpacked1", k);
    }
}

/* Elements of four bits of which two share a byte of the destination or, if not `from`, of the source:
 * row p of column q is the byte, and its halves are `pair` elements apart on the other side. */
static void
pairs(void **state)
{
    (void)state;
    static int32_t t[RAVEL_PAIR_HEAD + RAVEL_TILE_HEAD + 2 * (700 + 700 + 1)];
    for (int k = 0; k < ROUNDS / 2; k++) {
        const bool from = draw(2);
        i64 rows = 1 + draw(draw(2) ? 300 : 20), cols = 1 + draw(draw(2) ? 300 : 20);
        i64 d = draw(20), s = draw(20), dr = cols + draw(9), sr = rows + draw(9), pair;
        if (from) {
            d -= d % 2;
            pair = draw(2) ? sr * cols + draw(9) : 1 + draw(sr);
        } else {
            s -= s % 2;
            pair = dr * rows + draw(9);
        }
        const i64 end = from ? s + (cols - 1) * sr + rows + pair : s + 2 * ((cols - 1) * sr + rows);
        const i64 last = from ? d + 2 * ((rows - 1) * dr + cols) : d + (rows - 1) * dr + cols + pair;
        if (!tile(t, rows, cols, dr, sr, from ? pair : 0, from ? 0 : pair, draw(2)))
            continue;
        Memory m = memory((end + 1) / 2, (last + 1) / 2);
        soil();
        ((Tiles *)kernel("unpacked", 1))(m.d, d, m.s, s, t, 1, 1, 1, 0, 0, 0, 0, 0, 0, draw(2), 4);
        for (i64 p = 0; p < rows; p++)
            for (i64 q = 0; q < cols; q++)
                for (i64 half = 0; half < 2; half++) {
                    i64 to = from ? d + 2 * (p * dr + q) + half : d + p * dr + q + half * pair;
                    i64 of = from ? s + p + q * sr + half * pair : s + 2 * (p + q * sr) + half;
                    set_element(m.want, to, 4, element(m.s, of, 4));
                }
        compare(m, from ? "unpacked1 from pairs" : "unpacked1 to pairs", k);
    }
}

/* A table of one tile of which columns share bytes two and two: rows at dr of the destination, columns at
 * of[] of the source. */
static i64
couples(int32_t *t, i64 rows, i64 cols, i64 dr, const i64 *of)
{
    const i64 bytes = (cols + 1) / 2, from = (rows + 63) / 64 * 64, to = (bytes + 15) / 16 * 16;
    if (rows * to > RAVEL_UNPACKED_BYTES || bytes * from > RAVEL_UNPACKED_BYTES)
        return 0;
    memset(t, 0, (RAVEL_PAIR_HEAD + RAVEL_TILE_HEAD) * sizeof *t);
    t[RAVEL_PAIR_FROM] = RAVEL_PAIR_TABLE;
    t += RAVEL_PAIR_HEAD;
    int32_t *at = t + RAVEL_TILE_HEAD;
    t[RAVEL_T_ROW] = t[RAVEL_T_COL] = t[RAVEL_T_BATCH] = t[RAVEL_T_KEPT] = t[RAVEL_T_BLOCKS] = 1;
    t[RAVEL_T_ROWS] = t[RAVEL_T_RUNS] = t[RAVEL_T_FROM_BYTES] = (int32_t)rows;
    t[RAVEL_T_COLS] = t[RAVEL_T_FROM] = (int32_t)bytes;
    t[RAVEL_T_BYTES] = (int32_t)cols;
    t[RAVEL_T_PITCH] = (int32_t)to;
    t[RAVEL_T_FROM_PITCH] = (int32_t)from;
    t[RAVEL_T_END] = (int32_t)(from * bytes);
    t[RAVEL_T_LAST] = (int32_t)(from * (bytes - 1));
    for (i64 p = 0; p < rows; p++)
        *at++ = (int32_t)(p * to);
    for (i64 q = 0; q < bytes; q++)
        *at++ = (int32_t)(q * from);
    at += 2;
    at[-1] = at[-2] = 0;
    for (i64 p = 0; p < rows; p++)
        *at++ = (int32_t)(p * dr);
    for (i64 q = 0; q < 2 * bytes; q++)
        *at++ = (int32_t)of[q < cols ? q : cols - 1];
    return 1;
}

static void
coupled(void **state)
{
    (void)state;
    enum { COLS = 700 };
    static int32_t t[RAVEL_PAIR_HEAD + RAVEL_TILE_HEAD + 4 * (COLS + 1)];
    for (int k = 0; k < ROUNDS / 2; k++) {
        i64 rows = 1 + draw(draw(2) ? 300 : 20), cols = 1 + draw(draw(2) ? COLS : 20), of[COLS];
        i64 d = draw(20), s = draw(20), dr = cols + draw(9), sr = rows + draw(9), back = draw(2);
        for (i64 q = 0; q < cols; q++)
            of[q] = (back ? cols - 1 - q : q) * sr;
        if (!couples(t, rows, cols, dr, of))
            continue;
        Memory m = memory((s + (cols - 1) * sr + rows + 1) / 2, (d + (rows - 1) * dr + cols + 1) / 2);
        soil();
        ((Tiles *)kernel("unpacked", 1))(m.d, d, m.s, s, t, 1, 1, 1, 0, 0, 0, 0, 0, 0, draw(2), 4);
        for (i64 p = 0; p < rows; p++)
            for (i64 q = 0; q < cols; q++)
                set_element(m.want, d + p * dr + q, 4, element(m.s, s + p + of[q], 4));
        compare(m, "unpacked1 of columns that share bytes", k);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weave),
        cmocka_unit_test(part),
        cmocka_unit_test(copies),
        cmocka_unit_test(planes),
        cmocka_unit_test(small),
        cmocka_unit_test(tiles),
        cmocka_unit_test(pairs),
        cmocka_unit_test(coupled),
    };
    return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}
