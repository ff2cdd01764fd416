/* ravel emit --from ROW_MAJOR --to FRACTAL_NZ --shape 1024,768 --dtype f16 --name row_major_to_fractal_nz_f16
 * src ROW_MAJOR: 768*b0 + b1
 *     f16, b0=1024 b1=768 in 786432 elements, 1572864 bytes
 * dst FRACTAL_NZ: 16384*(W//16) + 16*H + W%16
 *     f16, H=1024 W=768 in 786432 elements, 1572864 bytes
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

static int64_t
ravel_min(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#endif

/* Bytes of a cache line. */
enum { RAVEL_LINE = 64 };

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
void row_major_to_fractal_nz_f16_part(void *dst, const void *src, int64_t part, int64_t parts);
void row_major_to_fractal_nz_f16(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t row_major_to_fractal_nz_f16_table0[321] = {
    24, 128, 1, 32, 1, 128, 24, 0, 4096, 0, 128, 768, 0, 0, 195840, 195072,
    0, 0, 1536, 3072, 4608, 6144, 7680, 9216, 10752, 12288, 13824, 15360, 16896, 18432, 19968, 21504,
    23040, 24576, 26112, 27648, 29184, 30720, 32256, 33792, 35328, 36864, 38400, 39936, 41472, 43008, 44544, 46080,
    47616, 49152, 50688, 52224, 53760, 55296, 56832, 58368, 59904, 61440, 62976, 64512, 66048, 67584, 69120, 70656,
    72192, 73728, 75264, 76800, 78336, 79872, 81408, 82944, 84480, 86016, 87552, 89088, 90624, 92160, 93696, 95232,
    96768, 98304, 99840, 101376, 102912, 104448, 105984, 107520, 109056, 110592, 112128, 113664, 115200, 116736, 118272, 119808,
    121344, 122880, 124416, 125952, 127488, 129024, 130560, 132096, 133632, 135168, 136704, 138240, 139776, 141312, 142848, 144384,
    145920, 147456, 148992, 150528, 152064, 153600, 155136, 156672, 158208, 159744, 161280, 162816, 164352, 165888, 167424, 168960,
    170496, 172032, 173568, 175104, 176640, 178176, 179712, 181248, 182784, 184320, 185856, 187392, 188928, 190464, 192000, 193536,
    195072, 0, 0, 32768, 32, 65536, 64, 98304, 96, 131072, 128, 163840, 160, 196608, 192, 229376,
    224, 262144, 256, 294912, 288, 327680, 320, 360448, 352, 393216, 384, 425984, 416, 458752, 448, 491520,
    480, 524288, 512, 557056, 544, 589824, 576, 622592, 608, 655360, 640, 688128, 672, 720896, 704, 753664,
    736, 0, 1536, 3072, 4608, 6144, 7680, 9216, 10752, 12288, 13824, 15360, 16896, 18432, 19968, 21504,
    23040, 24576, 26112, 27648, 29184, 30720, 32256, 33792, 35328, 36864, 38400, 39936, 41472, 43008, 44544, 46080,
    47616, 49152, 50688, 52224, 53760, 55296, 56832, 58368, 59904, 61440, 62976, 64512, 66048, 67584, 69120, 70656,
    72192, 73728, 75264, 76800, 78336, 79872, 81408, 82944, 84480, 86016, 87552, 89088, 90624, 92160, 93696, 95232,
    96768, 98304, 99840, 101376, 102912, 104448, 105984, 107520, 109056, 110592, 112128, 113664, 115200, 116736, 118272, 119808,
    121344, 122880, 124416, 125952, 127488, 129024, 130560, 132096, 133632, 135168, 136704, 138240, 139776, 141312, 142848, 144384,
    145920, 147456, 148992, 150528, 152064, 153600, 155136, 156672, 158208, 159744, 161280, 162816, 164352, 165888, 167424, 168960,
    170496, 172032, 173568, 175104, 176640, 178176, 179712, 181248, 182784, 184320, 185856, 187392, 188928, 190464, 192000, 193536,
    195072
};
/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
row_major_to_fractal_nz_f16_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* H=0..1023 W=0..767: composite */
    for (int64_t h = 8*part/parts*128; h < ravel_min(1024, 8*(part + 1)/parts*128); h += 128) {
        ravel_composite(dst + 32*h, src + 1536*h, row_major_to_fractal_nz_f16_table0, 1, 48, 128, 0, 0, 32768, 32, 32, 1536, 0, 0x0u, 2);
    }
}

/* src: 1572864 bytes, dst: 1572864 bytes; they do not overlap */
void
row_major_to_fractal_nz_f16(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    row_major_to_fractal_nz_f16_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    row_major_to_fractal_nz_f16_part(dst_, src_, 0, 1);
#endif
}
