/* ravel emit --from NCHW8 --to NCHW16 --shape 8,20,56,56 --dtype f32 --name nchw8_to_nchw16_f32
 * src NCHW8: 75264*N + 25088*(C//8) + 448*H + 8*W + C%8
 *     f32, N=8 C=20 H=56 W=56 in 602112 elements, 2408448 bytes
 * dst NCHW16: 100352*N + 50176*(C//16) + 896*H + 16*W + C%16
 *     f32, N=8 C=20 H=56 W=56 in 802816 elements, 3211264 bytes
 * made by ravel 0.1.0, whose licence does not cover this file */
#include <stdint.h>
#include <string.h>
#ifndef UINT8_MAX
#error "this code is for machines with bytes of 8 bits"
#endif
#ifdef __cplusplus
#define RAVEL_RESTRICT __restrict
#else
#define RAVEL_RESTRICT restrict
#endif

#ifdef _OPENMP
#include <omp.h>
#endif

/* Bytes of a cache line. */
enum { RAVEL_LINE = 64 };

/* The most bytes of padding after a run. */
enum { RAVEL_PAD_BYTES = 2048 };

/* Runs of up to RAVEL_MOVED_BYTES have loops of their own. */
enum { RAVEL_MOVED_BYTES = 128 };

/* So many bytes stay in the first cache: they are written in any order, with the longer loop
 * inside. */
enum { RAVEL_NEAR_BYTES = 16384 };

/* The buffer through which short runs become whole cache lines. */
enum { RAVEL_COPY_BUFFER = 4096 };

/* The code splits values into bytes, the lowest byte first. */
#if defined(__BIG_ENDIAN__) || \
    (defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#error "this relayout is for little-endian machines: the bytes of its values would be wrong"
#endif

/* Vectors of 1, 2 or 4 lanes of 16 bytes; only loads and stores move data across lanes.
 * RAVEL_LANES: the most lanes that the compiler's options allow (-mavx2, -march=native).
 * RAVEL_PLAIN: no vectors.  RAVEL_PORTABLE: vector extensions of the compiler, no intrinsics. */
#if !defined(RAVEL_PLAIN) && !defined(__clang__) && !(defined(__GNUC__) && __GNUC__ >= 12)
#define RAVEL_PLAIN
#endif
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
/* immintrin.h takes longer to compile than the rest, so it is included only if needed. */
#ifdef __SSSE3__
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif
#define RAVEL_SSE2
#endif

/* clang applies unroll(16) before it inlines the function whose argument is the loop's
 * bound; unroll(full) has to wait for that.  gcc warns about the pragma at -O0. */
#if !defined(__OPTIMIZE__) || defined(RAVEL_PLAIN)
#define RAVEL_UNROLL
#elif defined(__clang__)
#define RAVEL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RAVEL_UNROLL _Pragma("GCC unroll 16")
#endif

#ifndef RAVEL_PLAIN
#define RAVEL_INLINE __attribute__((always_inline, unused)) static inline

/* ravel_2x4: elements of 2 bytes, 4 lanes.  ravel_anyx4: bytes at any address. */
typedef uint8_t ravel_1x1 __attribute__((vector_size(16)));
typedef uint8_t ravel_anyx1 __attribute__((vector_size(16), aligned(1), may_alias));

/* ravel_rows: loads 16 bytes from each of w rows.  ravel_store: stores 16 * w bytes; with
 * `stream` by a non-temporal store, to an aligned address. */
RAVEL_INLINE ravel_1x1
ravel_load1(const unsigned char *s)
{
    return (ravel_1x1)*(const ravel_anyx1 *)s;
}

RAVEL_INLINE void
ravel_store1(unsigned char *d, ravel_1x1 v, int64_t stream)
{
#ifdef RAVEL_SSE2
    if (stream)
        _mm_stream_si128((__m128i *)(void *)d, (__m128i)v);
    else
#endif
        *(ravel_anyx1 *)d = v;
    (void)stream;
}
#endif

/* RAVEL_CONSTANT: inlined, because callers pass constants. */
#ifdef __GNUC__
#define RAVEL_CONSTANT __attribute__((always_inline, unused)) static inline
#else
#define RAVEL_CONSTANT static inline
#endif

/* Copies a run of `bytes` bytes by one or two moves of k bytes, which may overlap.
 * Requires k <= bytes <= 2 * k; k is a constant. */
RAVEL_CONSTANT void
ravel_move_twice(unsigned char *d, const unsigned char *s, size_t k, int64_t bytes)
{
    memcpy(d, s, k);
    if (bytes > (int64_t)k)
        memcpy(d + bytes - k, s + bytes - k, k);
}

/* In a loop of moves: some compilers make one copy of unknown length of it, which takes longer for a
 * few lines. */
#ifdef __GNUC__
#define RAVEL_LOOP(i) __asm__("" : "+r"(i))
#else
#define RAVEL_LOOP(i) (void)(i)
#endif

/* Copies a run of at most 64 bytes. */
static inline void
ravel_move_few(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    if (bytes >= 32)
        ravel_move_twice(d, s, 32, bytes);
    else if (bytes >= 16)
        ravel_move_twice(d, s, 16, bytes);
    else if (bytes >= 8)
        ravel_move_twice(d, s, 8, bytes);
    else if (bytes >= 4)
        ravel_move_twice(d, s, 4, bytes);
    else if (bytes >= 2)
        ravel_move_twice(d, s, 2, bytes);
    else if (bytes > 0)
        *d = *s;
}

/* Copies a run of more than 64 bytes by moves of 64 and one of what is left, which may
 * overlap the one before; a long run by the C library. */
RAVEL_CONSTANT void
ravel_move_many(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    enum { CALLED = 512 };
    if (bytes > CALLED) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i + 64 <= bytes; i += 64) {
        memcpy(d + i, s + i, 64);
        RAVEL_LOOP(i);
    }
    if (bytes % 64 > 32)
        memcpy(d + bytes - 64, s + bytes - 64, 64);
    else if (bytes % 64 > 16)
        memcpy(d + bytes - 32, s + bytes - 32, 32);
    else if (bytes % 64)
        memcpy(d + bytes - 16, s + bytes - 16, 16);
}

/* Copies n planes of `rows` runs with ordinary stores; k is as for ravel_move_twice. */
RAVEL_CONSTANT void
ravel_each_run(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows, size_t k,
               int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    for (int64_t b = 0; b < n; b++)
        for (int64_t r = 0; r < rows; r++)
            ravel_move_twice(d + b * dn + r * dp, s + b * sn + r * sp, k, bytes);
}

/* The same for runs whose length is not a power of two up to 64. */
static void
ravel_copy_odd(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
               int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    if (bytes < 4)
        ravel_each_run(d, s, n, rows, 2, bytes, dn, sn, dp, sp);
    else if (bytes < 8)
        ravel_each_run(d, s, n, rows, 4, bytes, dn, sn, dp, sp);
    else if (bytes < 16)
        ravel_each_run(d, s, n, rows, 8, bytes, dn, sn, dp, sp);
    else if (bytes < 32)
        ravel_each_run(d, s, n, rows, 16, bytes, dn, sn, dp, sp);
    else if (bytes < 64)
        ravel_each_run(d, s, n, rows, 32, bytes, dn, sn, dp, sp);
    else if (bytes <= RAVEL_MOVED_BYTES)
        ravel_each_run(d, s, n, rows, 64, bytes, dn, sn, dp, sp);
    else
        for (int64_t b = 0; b < n; b++)
            for (int64_t r = 0; r < rows; r++)
                ravel_move_many(d + b * dn + r * dp, s + b * sn + r * sp, bytes);
}

static void
ravel_copy_planes(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                  int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    switch (bytes) {
    case 0: break;
    case 1: ravel_each_run(d, s, n, rows, 1, 1, dn, sn, dp, sp); break;
    case 2: ravel_each_run(d, s, n, rows, 2, 2, dn, sn, dp, sp); break;
    case 4: ravel_each_run(d, s, n, rows, 4, 4, dn, sn, dp, sp); break;
    case 8: ravel_each_run(d, s, n, rows, 8, 8, dn, sn, dp, sp); break;
    case 16: ravel_each_run(d, s, n, rows, 16, 16, dn, sn, dp, sp); break;
    case 32: ravel_each_run(d, s, n, rows, 32, 32, dn, sn, dp, sp); break;
    case 64: ravel_each_run(d, s, n, rows, 64, 64, dn, sn, dp, sp); break;
    default: ravel_copy_odd(d, s, n, rows, bytes, dn, sn, dp, sp);
    }
}

static inline void
ravel_copy_runs(unsigned char *d, const unsigned char *s, int64_t rows, int64_t bytes,
                int64_t dp, int64_t sp)
{
    ravel_copy_planes(d, s, 1, rows, bytes, 0, 0, dp, sp);
}

/* Helpers for short rows and columns: padding in vectors, and a buffer for output. */
#ifndef RAVEL_PLAIN
/* Writes the `held` bytes of a buffer to *d and advances *d.  `stream`: only whole cache
 * lines, with non-temporal stores, unless this is the `last` call.  Moves the remaining
 * bytes to the start of the buffer and returns their number. */
RAVEL_INLINE int64_t
ravel_pour(unsigned char **d, unsigned char *stage, int64_t held, int64_t stream,
            int64_t last)
{
    int64_t i = stream ? (int64_t)(-(uintptr_t)*d & 63) : held;
    i = i < held ? i : held;
    memcpy(*d, stage, (size_t)i);
    for (; i + 64 <= held; i += 64)
        RAVEL_UNROLL for (int j = 0; j < 64; j += 16)
            ravel_store1(*d + i + j, ravel_load1(stage + i + j), 1);
    if (last)
        memcpy(*d + i, stage + i, (size_t)(held - i));
    else
        memmove(stage, stage + i, (size_t)(held - i));
    *d += i;
    return held - i;
}
#endif

/* Copies n planes of `rows` runs of `bytes` bytes and fills each up to `width` bytes with
 * elements of `size` bytes that have the value `value`.  Runs are dp (sp) bytes apart,
 * planes dn (sn) bytes.  `stream`: short rows that are contiguous in the destination go
 * through a buffer, in whole cache lines with non-temporal stores. */
#ifndef RAVEL_PLAIN
/* Puts rows of at most 16 bytes into the buffer, one vector for each, from row r on until
 * row `most` or until the buffer is full.  Adds their bytes to *held; returns the next
 * row. */
RAVEL_INLINE int64_t
ravel_short_rows(unsigned char *stage, int64_t *held, const unsigned char *s, int64_t r,
                 int64_t most, int64_t bytes, int64_t width, int64_t sp,
                 const unsigned char *pad)
{
    unsigned char keep[16], rest[16];
    for (int64_t i = 0; i < 16; i++) {
        keep[i] = i < bytes ? 255 : 0;
        rest[i] = (unsigned char)(i < bytes || i >= width ? 0 : pad[i - bytes]);
    }
    const ravel_1x1 mask = ravel_load1(keep), fill = ravel_load1(rest);
    int64_t at = *held;
    for (; r < most && at + width <= RAVEL_COPY_BUFFER; r++, at += width)
        ravel_store1(stage + at, (ravel_load1(s + r * sp) & mask) | fill, 0);
    *held = at;
    return r;
}

/* Rows that are whole cache lines: the padding stays in the buffer. */
static void
ravel_copy_fill_lines(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t sp, const unsigned char *pad)
{
    unsigned char stage[RAVEL_COPY_BUFFER] __attribute__((aligned(RAVEL_LINE)));
    const int64_t most = RAVEL_COPY_BUFFER / width;
    ravel_copy_runs(stage + bytes, pad, most, width - bytes, width, 0);
    for (int64_t r = 0; r < rows; r += most) {
        const int64_t k = rows - r < most ? rows - r : most;
        ravel_copy_runs(stage, s + r * sp, k, bytes, width, sp);
        ravel_pour(&d, stage, k * width, 1, 0);
    }
}

/* Rows of other sizes. */
static void
ravel_copy_fill_staged(unsigned char *d, const unsigned char *s, int64_t rows,
                       int64_t bytes, int64_t width, int64_t sp, const unsigned char *pad)
{
    unsigned char stage[RAVEL_LINE + RAVEL_COPY_BUFFER] __attribute__((aligned(RAVEL_LINE)));
    int64_t held = 0;
    /* rows from whose start 16 bytes can be read */
    const int64_t most = width <= 16 && sp > 0 ? rows - 1 - (15 + sp - bytes) / sp : 0;
    for (int64_t r = 0; r < rows;) {
        r = ravel_short_rows(stage, &held, s, r, most, bytes, width, sp, pad);
        const int64_t room = (RAVEL_COPY_BUFFER - held) / width;
        const int64_t k = rows - r < room ? rows - r : room;
        ravel_copy_runs(stage + held, s + r * sp, k, bytes, width, sp);
        ravel_copy_runs(stage + held + bytes, pad, k, width - bytes, width, 0);
        r += k;
        held = ravel_pour(&d, stage, held + k * width, 1, r == rows);
    }
}
#endif

static void
ravel_copy_fill_plane(unsigned char *d, const unsigned char *s, int64_t rows,
                      int64_t bytes, int64_t width, int64_t dp, int64_t sp,
                      int64_t stream, const unsigned char *pad)
{
#ifndef RAVEL_PLAIN
    if (stream && dp == width && width <= 2048) {
        if (((uintptr_t)d | (uintptr_t)width) % RAVEL_LINE == 0)
            ravel_copy_fill_lines(d, s, rows, bytes, width, sp, pad);
        else
            ravel_copy_fill_staged(d, s, rows, bytes, width, sp, pad);
        return;
    }
#endif
    /* of each piece the runs, then what follows each */
    const int64_t piece = 1 + RAVEL_NEAR_BYTES / width;
    (void)stream;
    for (int64_t r = 0; r < rows; r += piece) {
        const int64_t k = rows - r < piece ? rows - r : piece;
        ravel_copy_runs(d + r * dp, s + r * sp, k, bytes, dp, sp);
        ravel_copy_runs(d + r * dp + bytes, pad, k, width - bytes, dp, 0);
    }
}

/* So many bytes of elements of `size` bytes, by doubling what is there. */
static inline void
ravel_repeat(unsigned char *d, int64_t bytes, uint64_t value, int64_t size)
{
    int64_t done = size < bytes ? size : bytes;
    for (int64_t i = 0; i < done; i++)
        d[i] = (unsigned char)(i < 8 ? value >> i * 8 & 255 : 0);
    for (int64_t more; done < bytes; done += more) {
        more = bytes - done < done ? bytes - done : done;
        memcpy(d + done, d, (size_t)more);
    }
}

static void
ravel_copy_fill(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                int64_t bytes, int64_t width, int64_t dn, int64_t sn, int64_t dp,
                int64_t sp, int64_t stream, uint64_t value, int64_t size)
{
    unsigned char pad[RAVEL_PAD_BYTES];
    ravel_repeat(pad, width - bytes, value, size);
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        ravel_copy_fill_plane(d, s, rows, bytes, width, dp, sp, stream, pad);
}

#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#endif

/* Non-temporal stores, of RAVEL_STREAM bytes or of a cache line, to aligned addresses.
 * RAVEL_FRAME: not inlined, so that calls that need no buffers do not allocate them. */
#ifdef __GNUC__
#define RAVEL_FRAME __attribute__((noinline))
#else
#define RAVEL_FRAME
#endif
#if defined(__AVX2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <immintrin.h>
enum { RAVEL_STREAM = 32 };
static inline void
ravel_stream(unsigned char *d, const unsigned char *s)
{
    _mm256_stream_si256((__m256i *)(void *)d,
                        _mm256_loadu_si256((const __m256i *)(const void *)s));
}
#elif defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <emmintrin.h>
enum { RAVEL_STREAM = 16 };
static inline void
ravel_stream(unsigned char *d, const unsigned char *s)
{
    _mm_stream_si128((__m128i *)(void *)d,
                     _mm_loadu_si128((const __m128i *)(const void *)s));
}
#else
enum { RAVEL_STREAM = 32 };
static inline void
ravel_stream(unsigned char *d, const unsigned char *s)
{
    memcpy(d, s, 32);
}
#endif

static inline void
ravel_stream_line(unsigned char *d, const unsigned char *s)
{
    for (int i = 0; i < RAVEL_LINE; i += RAVEL_STREAM)
        ravel_stream(d + i, s + i);
}

/* Words before a tile's tables; bytes of its buffer; columns of rows that are written one
 * after another; rows of which the first cache holds a line of each;
 * bytes of a block that it does not hold with what is read. */
enum { RAVEL_TILE_HEAD = 16, RAVEL_TILE_BYTES = 256 * 1024, RAVEL_TILE_ALONG = 128,
       RAVEL_TILE_NEAR = 256, RAVEL_TILE_SOON = 24 * 1024 };

/* A call takes tiles: batches, columns and rows, in chunks.  The last chunk may overlap the
 * one before.  The table has words of 4 bytes; offsets are in bytes:
 *      rows, columns, batches of a tile; bytes that stay together; rows and columns of a
 *      block; blocks; runs of the destination, 0 if there is no buffer; bytes of a run; its
 *      pitch in the buffer; runs of the source; bytes of a run; its pitch in a buffer, 0 if
 *      there is none; words to the next part of the tile, 0 if there is none; the end of the
 *      source; the largest offset of a column;
 *      the destination's offset of each row; the source's of each column; both of each
 *      block; the destination's of each of its runs; the source's of each of its runs.
 * A tile of several parts has no runs. */
enum { RAVEL_T_ROW, RAVEL_T_COL, RAVEL_T_BATCH, RAVEL_T_KEPT, RAVEL_T_ROWS, RAVEL_T_COLS,
       RAVEL_T_BLOCKS, RAVEL_T_RUNS, RAVEL_T_BYTES, RAVEL_T_PITCH, RAVEL_T_FROM,
       RAVEL_T_FROM_BYTES, RAVEL_T_FROM_PITCH, RAVEL_T_NEXT, RAVEL_T_END, RAVEL_T_LAST };

/* A loop of the call: its iterations, those of one tile, its strides in bytes. */
typedef struct {
    int64_t n, chunk, dp, sp, at;
} ravel_tile_loop;
/* `d`, `s`: where the tile begins in the destination and the source. */
typedef struct {
    ravel_tile_loop loop[3];
    int64_t d, s;
} ravel_tiles;

/* Moves to the next tile, rows first; 0 if there is none. */
static inline int
ravel_tiles_next(ravel_tiles *t)
{
    for (int i = 0; i < 3; i++) {
        ravel_tile_loop *const l = &t->loop[i];
        const int64_t was = l->at, last = l->n - l->chunk;
        l->at = was == last ? 0 : was + l->chunk < last ? was + l->chunk : last;
        t->d += (l->at - was) * l->dp;
        t->s += (l->at - was) * l->sp;
        if (l->at)
            return 1;
    }
    return 0;
}

/* The lines of the source of a tile, to be prefetched. */
typedef struct {
    const unsigned char *s;
    const int32_t *run;
    int64_t runs, bytes, at;
} ravel_soon;

static inline void
ravel_soon_fetch(ravel_soon *a, int64_t lines)
{
    for (; lines > 0 && a->runs > 0; lines--) {
        RAVEL_PREFETCH(a->s + a->run[0] + a->at);
        a->at += RAVEL_LINE;
        if (a->at >= a->bytes) {
            RAVEL_PREFETCH(a->s + a->run[0] + a->bytes - 1);
            a->at = 0;
            a->run++;
            a->runs--;
        }
    }
}

/* Prefetches half of the lines over so many steps. */
static inline int64_t
ravel_soon_share(const ravel_soon *a, int64_t steps)
{
    return (a->runs * (a->bytes / RAVEL_LINE + 1) / 2 + steps - 1) / steps;
}

typedef void ravel_tile_function(unsigned char *d, const unsigned char *s,
                                 const int32_t *t, ravel_soon *soon);

/* Runs the tiles of a call on elements of whole bytes. */

static inline void
ravel_move(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    if (bytes > 64)
        ravel_move_many(d, s, bytes);
    else
        ravel_move_few(d, s, bytes);
}

/* Writes a run from the buffer, with non-temporal stores if `stream`. */
static inline void
ravel_tile_run(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t stream,
               ravel_soon *soon)
{
    int64_t head = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1));
    head = head < bytes ? head : bytes;
    if (!stream || bytes < RAVEL_LINE) {
        ravel_move(d, s, bytes);
        ravel_soon_fetch(soon, (bytes + 2 * RAVEL_LINE - 1) / (2 * RAVEL_LINE));
        return;
    }
    const int64_t end = head + (bytes - head) / RAVEL_LINE * RAVEL_LINE;
    ravel_move(d, s, head);
    for (int64_t i = head; i < end; i += RAVEL_LINE) {
        ravel_stream_line(d + i, s + i);
        if (i & RAVEL_LINE)
            ravel_soon_fetch(soon, 1);
    }
    ravel_move(d + end, s + end, bytes - end);
}

static inline void
ravel_tile_flush(unsigned char *d, const unsigned char *buffer, const int32_t *t,
                 const int32_t *run, int64_t stream, ravel_soon *soon)
{
    for (int64_t i = 0; i < t[RAVEL_T_RUNS]; i++)
        ravel_tile_run(d + run[i], buffer + i * t[RAVEL_T_PITCH], t[RAVEL_T_BYTES],
                       stream, soon);
}

/* Sets the buffer to elements of `size` bytes, at most 8: where a run is longer than what a tile
 * writes of it they are its padding. */
static inline void
ravel_tile_pad(unsigned char *buffer, const int32_t *t, uint64_t fill, int64_t size)
{
    unsigned char line[RAVEL_LINE];
    for (int64_t i = 0; i < RAVEL_LINE; i++)
        line[i] = (unsigned char)(fill >> 8 * (i % size) & 255);
    for (int64_t i = 0; i < (int64_t)t[RAVEL_T_RUNS] * t[RAVEL_T_PITCH];
         i += RAVEL_LINE)
        memcpy(buffer + i, line, RAVEL_LINE);
}

/* Permutes tiles through a buffer and prefetches the next tile. */
RAVEL_FRAME static void
ravel_tiles_staged(unsigned char *d, const unsigned char *s, ravel_tiles *at,
                   const int32_t *t, int64_t stream, uint64_t fill, int64_t size,
                   ravel_tile_function *tile)
{
    unsigned char room[RAVEL_TILE_BYTES + 2 * RAVEL_LINE];
    unsigned char *const buffer = room + (-(uintptr_t)room & (RAVEL_LINE - 1));
    const int32_t *const run = t + RAVEL_TILE_HEAD + t[RAVEL_T_ROWS] + t[RAVEL_T_COLS] +
                               2 * t[RAVEL_T_BLOCKS];
    const int32_t *const from = run + t[RAVEL_T_RUNS];
    const int64_t written = (int64_t)t[RAVEL_T_ROWS] * t[RAVEL_T_COLS] * t[RAVEL_T_BLOCKS] *
                            t[RAVEL_T_KEPT];
    if (written != (int64_t)t[RAVEL_T_RUNS] * t[RAVEL_T_BYTES])
        ravel_tile_pad(buffer, t, fill, size);
    for (int more = 1; more;) {
        unsigned char *const to = d + at->d;
        const unsigned char *const of = s + at->s;
        more = ravel_tiles_next(at);
        ravel_soon soon = {s + at->s, from, more ? t[RAVEL_T_FROM] : 0,
                           t[RAVEL_T_FROM_BYTES], 0};
        tile(buffer, of, t, &soon);
        ravel_tile_flush(to, buffer, t, run, stream, &soon);
    }
}

static void
ravel_tiles_run(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t batches,
                int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t sp,
                int64_t dq, int64_t sq, int64_t stream, uint64_t fill, int64_t size,
                ravel_tile_function *tile)
{
    ravel_tiles at = {{{rows, t[RAVEL_T_ROW], dp, sp, 0}, {cols, t[RAVEL_T_COL], dq, sq, 0},
                       {batches, t[RAVEL_T_BATCH], dn, sn, 0}}, 0, 0};
    ravel_soon soon = {s, t, 0, 0, 0};
    if (rows < 1 || cols < 1 || batches < 1)
        return;
    if (t[RAVEL_T_RUNS]) {
        ravel_tiles_staged(d, s, &at, t, stream, fill, size, tile);
        return;
    }
    do {
        const int32_t *part = t;
        for (tile(d + at.d, s + at.s, part, &soon); part[RAVEL_T_NEXT];) {
            part += part[RAVEL_T_NEXT];
            tile(d + at.d, s + at.s, part, &soon);
        }
    } while (ravel_tiles_next(&at));
}

/* Permutes digits of whole elements if the number of bytes that stay together is not 1, 2,
 * 4 or 8: these runs are copied one by one. */
RAVEL_CONSTANT void
ravel_columns_moved(unsigned char *d, const unsigned char *s, const int32_t *col, int64_t cols,
                    size_t k, int64_t kept)
{
    for (int64_t c = 0; c < cols; c++)
        ravel_move_twice(d + c * kept, s + col[c], k, kept);
}

/* Copies a run of 3 bytes and more from each column. */
static void
ravel_columns_move(unsigned char *d, const unsigned char *s, const int32_t *col, int64_t cols,
                   int64_t kept)
{
    if (kept > 64)
        for (int64_t c = 0; c < cols; c++)
            ravel_move_many(d + c * kept, s + col[c], kept);
    else if (kept == 16)
        ravel_columns_moved(d, s, col, cols, 16, 16);
    else if (kept == 32)
        ravel_columns_moved(d, s, col, cols, 32, 32);
    else if (kept > 32)
        ravel_columns_moved(d, s, col, cols, 32, kept);
    else if (kept > 16)
        ravel_columns_moved(d, s, col, cols, 16, kept);
    else if (kept >= 8)
        ravel_columns_moved(d, s, col, cols, 8, kept);
    else if (kept >= 4)
        ravel_columns_moved(d, s, col, cols, 4, kept);
    else
        ravel_columns_moved(d, s, col, cols, 2, kept);
}

static void
ravel_tile_moves(unsigned char *d, const unsigned char *s, const int32_t *t, ravel_soon *soon)
{
    enum { MANY = 64 };
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], kept = t[RAVEL_T_KEPT];
    const int32_t *const col = t + RAVEL_TILE_HEAD + rows, *const block = col + cols;
    const int64_t n = t[RAVEL_T_BLOCKS];
    const int64_t fetch = ravel_soon_share(soon, n * ((cols - 1) / MANY + 1));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c += MANY) {
            ravel_columns_move(d + block[2 * i] + c * kept, s + block[2 * i + 1], col + c,
                               cols - c < MANY ? cols - c : (int64_t)MANY, kept);
            ravel_soon_fetch(soon, fetch);
        }
}

/* The kernel composite. */
static void
ravel_composite(unsigned char *d, const unsigned char *s, const int32_t *t,
                int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream, uint64_t fill,
                int64_t size)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream, fill, size,
                    ravel_tile_moves);
}

#ifdef __cplusplus
extern "C" {
#endif
void nchw8_to_nchw16_f32_part(void *dst, const void *src, int64_t part, int64_t parts);
void nchw8_to_nchw16_f32(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t nchw8_to_nchw16_f32_table0[149] = {
    64, 1, 1, 32, 1, 128, 1, 0, 4096, 0, 2, 2048, 0, 0, 102400, 102368,
    0, 0, 100352, 32, 100384, 64, 100416, 96, 100448, 128, 100480, 160, 100512, 192, 100544, 224,
    100576, 256, 100608, 288, 100640, 320, 100672, 352, 100704, 384, 100736, 416, 100768, 448, 100800, 480,
    100832, 512, 100864, 544, 100896, 576, 100928, 608, 100960, 640, 100992, 672, 101024, 704, 101056, 736,
    101088, 768, 101120, 800, 101152, 832, 101184, 864, 101216, 896, 101248, 928, 101280, 960, 101312, 992,
    101344, 1024, 101376, 1056, 101408, 1088, 101440, 1120, 101472, 1152, 101504, 1184, 101536, 1216, 101568, 1248,
    101600, 1280, 101632, 1312, 101664, 1344, 101696, 1376, 101728, 1408, 101760, 1440, 101792, 1472, 101824, 1504,
    101856, 1536, 101888, 1568, 101920, 1600, 101952, 1632, 101984, 1664, 102016, 1696, 102048, 1728, 102080, 1760,
    102112, 1792, 102144, 1824, 102176, 1856, 102208, 1888, 102240, 1920, 102272, 1952, 102304, 1984, 102336, 2016,
    102368, 0, 0, 0, 100352
};
/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
nchw8_to_nchw16_f32_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* N=0..7 C=0..15 H=0..55 W=0..55: composite */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_composite(dst + 401408*n, src + 301056*n, nchw8_to_nchw16_f32_table0, 1, 3136, 1, 0, 0, 64, 32, 401408, 301056, 0, 0x0u, 4);
    }
    /* N=0..7 C=16..19 H=0..55 W=0..55: copy_fill */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_copy_fill(dst + 401408*n + 200704, src + 301056*n + 200704, 1, 3136, 16, 64, 401408, 301056, 64, 32, 0, 0x0u, 4);
    }
}

/* src: 2408448 bytes, dst: 3211264 bytes; they do not overlap */
void
nchw8_to_nchw16_f32(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    {
        const int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
        const int64_t turns = parts < 6 ? 6/parts : 1;
        for (int64_t i = 0; i < turns; i++)
            nchw8_to_nchw16_f32_part(dst_, src_, part*turns + i, parts*turns);
    }
#else
    for (int64_t i = 0; i < 6; i++)
        nchw8_to_nchw16_f32_part(dst_, src_, i, 6);
#endif
}
