/* ravel emit --from NCHW --to FRACTAL_Z --shape 128,64,3,3 --dtype f16 --name nchw_to_fractal_z_f16
 * src NCHW: 576*N + 9*C + 3*H + W
 *     f16, N=128 C=64 H=3 W=3 in 73728 elements, 147456 bytes
 * dst FRACTAL_Z: 18432*(C//16) + 6144*H + 2048*W + 16*N + C%16
 *     f16, N=128 C=64 H=3 W=3 in 73728 elements, 147456 bytes */
#include <stdint.h>
#include <string.h>

/* Vectors of 1, 2 or 4 lanes of 16 bytes; only loads and stores move data across lanes.
 * RAVEL_LANES: the most lanes that the compiler's options allow (-mavx2, -march=native).
 * RAVEL_PLAIN: no vectors.  RAVEL_PORTABLE: vector extensions of the compiler, and no
 * intrinsics. */
#if !defined(RAVEL_PLAIN) && !defined(__clang__) && \
    !(defined(__GNUC__) && __GNUC__ >= 12)
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
#if defined(RAVEL_SSE2) && defined(__AVX512BW__)
#define RAVEL_LANES 4
#elif defined(RAVEL_SSE2) && defined(__AVX2__)
#define RAVEL_LANES 2
#else
#define RAVEL_LANES 1
#endif

#ifndef RAVEL_PLAIN
#define RAVEL_INLINE __attribute__((always_inline, unused)) static inline
/* clang applies unroll(16) before it inlines the function whose argument is the loop's
 * bound; unroll(full) has to wait for that.  gcc warns about the pragma at -O0. */
#ifndef __OPTIMIZE__
#define RAVEL_UNROLL
#elif defined __clang__
#define RAVEL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RAVEL_UNROLL _Pragma("GCC unroll 16")
#endif

/* ravel_2x4: elements of 2 bytes, 4 lanes.  ravel_anyx4: bytes at any address. */
#define RAVEL_TYPES(w)                                                           \
    typedef uint8_t ravel_1x##w __attribute__((vector_size(16 * w)));            \
    typedef uint16_t ravel_2x##w __attribute__((vector_size(16 * w)));           \
    typedef uint32_t ravel_4x##w __attribute__((vector_size(16 * w)));           \
    typedef uint64_t ravel_8x##w __attribute__((vector_size(16 * w)));           \
    typedef uint8_t ravel_anyx##w                                                \
        __attribute__((vector_size(16 * w), aligned(1), may_alias));

/* Interleaves the elements of the low (high) halves of the lanes of a and b; elements of n
 * bytes, m elements in a lane, w lanes. */
#define RAVEL_LOW(n, m, w, a, b)                                                 \
    __builtin_shufflevector(a, b, RAVEL_EACH##w(RAVEL_ZIP##n, 0, m))
#define RAVEL_HIGH(n, m, w, a, b)                                                \
    __builtin_shufflevector(a, b, RAVEL_EACH##w(RAVEL_ZIP##n, (m) / 2, m))
#define RAVEL_EACH1(zip, i, m) zip(i, m)
#define RAVEL_EACH2(zip, i, m) zip(i, 2 * (m)), zip((i) + (m), 2 * (m))
#define RAVEL_EACH4(zip, i, m) zip(i, 4 * (m)), zip((i) + (m), 4 * (m)), \
    zip((i) + 2 * (m), 4 * (m)), zip((i) + 3 * (m), 4 * (m))
#define RAVEL_ZIP8(i, b) (i), (i) + (b)
#define RAVEL_ZIP4(i, b) RAVEL_ZIP8(i, b), RAVEL_ZIP8((i) + 1, b)
#define RAVEL_ZIP2(i, b) RAVEL_ZIP4(i, b), RAVEL_ZIP4((i) + 2, b)
#define RAVEL_ZIP1(i, b) RAVEL_ZIP2(i, b), RAVEL_ZIP2((i) + 4, b)

/* Forces an address into a register.  Compilers would otherwise use a register for each
 * row of a block, more than there are. */
#define RAVEL_KEEP(x) __asm__("" : "+r"(x))

/* ravel_rows: loads 16 bytes from each of w rows.  ravel_store: stores 16 * w bytes; with
 * `stream` by a non-temporal store, to an aligned address. */
RAVEL_TYPES(1)
RAVEL_INLINE ravel_1x1
ravel_load1(const unsigned char *s)
{
    return (ravel_1x1)*(const ravel_anyx1 *)s;
}

RAVEL_INLINE ravel_1x1
ravel_rows1(const unsigned char *const *s, int64_t at)
{
    return ravel_load1(s[0] + at);
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

#if RAVEL_LANES > 1
/* Intrinsics, because gcc 12 does not use the instruction that loads an upper lane. */
RAVEL_TYPES(2)
RAVEL_INLINE ravel_1x2
ravel_rows2(const unsigned char *const *s, int64_t at)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(s[0] + at));
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s[1] + at));
    return (ravel_1x2)_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

RAVEL_INLINE ravel_1x2
ravel_load2(const unsigned char *s)
{
    return (ravel_1x2)*(const ravel_anyx2 *)s;
}

RAVEL_INLINE void
ravel_lanes2(unsigned char *low, unsigned char *high, ravel_1x2 v)
{
    _mm_storeu_si128((__m128i *)(void *)low, _mm256_castsi256_si128((__m256i)v));
    _mm_storeu_si128((__m128i *)(void *)high, _mm256_extracti128_si256((__m256i)v, 1));
}

RAVEL_INLINE void
ravel_store2(unsigned char *d, ravel_1x2 v, int64_t stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)(void *)d, (__m256i)v);
    else
        *(ravel_anyx2 *)d = v;
}
#endif

#if RAVEL_LANES > 2
RAVEL_TYPES(4)
RAVEL_INLINE ravel_1x4
ravel_rows4(const unsigned char *const *s, int64_t at)
{
    const __m256i a = (__m256i)ravel_rows2(s, at);
    const __m256i b = (__m256i)ravel_rows2(s + 2, at);
    return (ravel_1x4)_mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

RAVEL_INLINE void
ravel_store4(unsigned char *d, ravel_1x4 v, int64_t stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)(void *)d, (__m512i)v);
    else
        *(ravel_anyx4 *)d = v;
}
#endif
#endif

/* Non-temporal stores, of RAVEL_STREAM bytes or of a cache line, to aligned addresses.
 * RAVEL_FRAME: not inlined, so that calls that need no buffers do not allocate them. */
#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#define RAVEL_FRAME __attribute__((noinline))
#else
#define RAVEL_PREFETCH(p) (void)(p)
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
    for (int i = 0; i < 64; i += RAVEL_STREAM)
        ravel_stream(d + i, s + i);
}

/* Copies a short run inline; a constant size becomes one load and one store. */
static inline void
ravel_move(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    if (bytes > 128) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
    for (; bytes >= 16; bytes -= 16, d += 16, s += 16)
        memcpy(d, s, 16);
    if (bytes & 8) {
        memcpy(d, s, 8);
        d += 8;
        s += 8;
    }
    if (bytes & 4) {
        memcpy(d, s, 4);
        d += 4;
        s += 4;
    }
    for (bytes &= 3; bytes > 0; bytes--)
        *d++ = *s++;
}

/* Permutes the elements of k vectors of 8 elements of 2 bytes.  A round
 * interleaves the first half of the vectors with the second half.  This is a perfect
 * shuffle: it rotates the bits of an element's index by one.  log2(k) rounds transpose k
 * vectors to rows of k elements; log2(8) rounds do the reverse. */
#ifndef RAVEL_PLAIN
RAVEL_INLINE void
ravel_zip2(ravel_2x1 *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        ravel_2x1 t[8];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_LOW(2, 8, 1, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_HIGH(2, 8, 1, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}
#endif

/* Words before a tile's tables; bytes of its buffer. */
enum { RAVEL_TILE_HEAD = 13, RAVEL_TILE_BYTES = 256 * 1024 };

/* The tiles of a call: batches, columns and rows, in chunks; the last chunk may overlap the
 * one before.  The table has words of 4 bytes, offsets in bytes:
 *      rows, columns, batches of a tile; contiguous bytes; rows and columns of a block;
 *      number of blocks; number of runs of the destination, 0 without a buffer; bytes of
 *      one; distance of runs in the buffer; number of runs of the source; bytes of one; the
 *      end of the source;
 *      the offset of each row in the destination; of each column in the source; of each
 *      block in both; of each run of the destination; of each run of the source. */
enum { RAVEL_T_ROW, RAVEL_T_COL, RAVEL_T_BATCH, RAVEL_T_KEPT, RAVEL_T_ROWS, RAVEL_T_COLS,
       RAVEL_T_BLOCKS, RAVEL_T_RUNS, RAVEL_T_BYTES, RAVEL_T_PITCH, RAVEL_T_FROM,
       RAVEL_T_FROM_BYTES, RAVEL_T_END };

/* A loop of the call: how many iterations, of one tile; steps in bytes. */
typedef struct {
    int64_t n, chunk, dp, sp, at;
} ravel_tile_loop;
typedef struct {
    ravel_tile_loop loop[3];
    unsigned char *d;
    const unsigned char *s;
} ravel_tiles;

/* The next tile, rows first; whether there is one. */
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

/* Lines of the source of a tile, to be fetched. */
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
        a->at += 64;
        if (a->at >= a->bytes) {
            RAVEL_PREFETCH(a->s + a->run[0] + a->bytes - 1);
            a->at = 0;
            a->run++;
            a->runs--;
        }
    }
}

/* The lines to prefetch in each step, for half of all lines in `steps` steps. */
static inline int64_t
ravel_soon_share(const ravel_soon *a, int64_t steps)
{
    return (a->runs * (a->bytes / 64 + 1) / 2 + steps - 1) / steps;
}

/* A run from the buffer, past the caches where `stream` says so. */
static inline void
ravel_tile_run(unsigned char *d, const unsigned char *s, int64_t bytes, int64_t stream,
               ravel_soon *soon)
{
    int64_t head = (int64_t)(-(uintptr_t)d & 63);
    head = head < bytes ? head : bytes;
    if (!stream || bytes < 64) {
        ravel_move(d, s, bytes);
        ravel_soon_fetch(soon, (bytes + 127) / 128);
        return;
    }
    const int64_t end = head + (bytes - head) / 64 * 64;
    ravel_move(d, s, head);
    for (int64_t i = head; i < end; i += 64) {
        ravel_stream_line(d + i, s + i);
        if (i & 64)
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

typedef void ravel_tile_function(unsigned char *d, const unsigned char *s,
                                 const int32_t *t, ravel_soon *soon);

/* With a buffer; meanwhile prefetches the source of the next tile. */
RAVEL_FRAME static void
ravel_tiles_staged(ravel_tiles *at, const int32_t *t, int64_t stream,
                   ravel_tile_function *tile)
{
    unsigned char room[RAVEL_TILE_BYTES + 128];
    unsigned char *const buffer = room + (-(uintptr_t)room & 63);
    const int32_t *const run = t + RAVEL_TILE_HEAD + t[RAVEL_T_ROWS] + t[RAVEL_T_COLS] +
                               2 * t[RAVEL_T_BLOCKS];
    const int32_t *const from = run + t[RAVEL_T_RUNS];
    for (int more = 1; more;) {
        unsigned char *const d = at->d;
        const unsigned char *const s = at->s;
        more = ravel_tiles_next(at);
        ravel_soon soon = {at->s, from, more ? t[RAVEL_T_FROM] : 0,
                           t[RAVEL_T_FROM_BYTES], 0};
        tile(buffer, s, t, &soon);
        ravel_tile_flush(d, buffer, t, run, stream, &soon);
    }
}

static void
ravel_tiles_run(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t batches,
                int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t sp,
                int64_t dq, int64_t sq, int64_t stream, ravel_tile_function *tile)
{
    ravel_tiles at = {{{rows, t[RAVEL_T_ROW], dp, sp, 0}, {cols, t[RAVEL_T_COL], dq, sq, 0},
                       {batches, t[RAVEL_T_BATCH], dn, sn, 0}}, d, s};
    ravel_soon soon = {s, t, 0, 0, 0};
    if (rows < 1 || cols < 1 || batches < 1)
        return;
    if (t[RAVEL_T_RUNS]) {
        ravel_tiles_staged(&at, t, stream, tile);
        return;
    }
    do
        tile(at.d, at.s, t, &soon);
    while (ravel_tiles_next(&at));
}

/* Blocks for the kernels composite: as many lanes of rows at once as a vector has. */
#ifndef RAVEL_PLAIN
enum { RAVEL_ROUNDS1 = 4, RAVEL_ROUNDS2 = 3, RAVEL_ROUNDS4 = 2, RAVEL_ROUNDS8 = 1 };
#if RAVEL_LANES == 4
#define RAVEL_ALL(n) ravel_##n##x4
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 4, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 4, a, b)
#elif RAVEL_LANES == 2
#define RAVEL_ALL(n) ravel_##n##x2
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 2, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 2, a, b)
#else
#define RAVEL_ALL(n) ravel_##n##x1
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 1, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 1, a, b)
#endif

/* Lanes, each where it belongs: lane i to d + to[i * apart]. */
RAVEL_INLINE void
ravel_put_lanes(unsigned char *d, const int32_t *to, int apart, RAVEL_ALL(1) v)
{
#if RAVEL_LANES == 4
    const __m512i w = (__m512i)v;
    _mm_storeu_si128((__m128i *)(void *)(d + to[0]), _mm512_castsi512_si128(w));
    _mm_storeu_si128((__m128i *)(void *)(d + to[apart]), _mm512_extracti32x4_epi32(w, 1));
    _mm_storeu_si128((__m128i *)(void *)(d + to[2 * apart]),
                     _mm512_extracti32x4_epi32(w, 2));
    _mm_storeu_si128((__m128i *)(void *)(d + to[3 * apart]),
                     _mm512_extracti32x4_epi32(w, 3));
#elif RAVEL_LANES == 2
    ravel_lanes2(d + to[0], d + to[apart], v);
#else
    (void)apart;
    ravel_store1(d + to[0], v, 0);
#endif
}

/* The first `bytes` of 16; no byte from `end` on is read, or from d + bytes on written. */
RAVEL_INLINE ravel_1x1
ravel_load_part(const unsigned char *s, int64_t bytes, const unsigned char *end)
{
    unsigned char part[16] = {0};
    if (end - s >= 16)
        return ravel_load1(s);
    ravel_move(part, s, bytes);
    return ravel_load1(part);
}

RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    unsigned char part[16];
    ravel_store1(part, v, 0);
    if (bytes >= 8) {
        memcpy(d, part, 8);
        memcpy(d + bytes - 8, part + bytes - 8, 8);
    } else {
        ravel_move(d, part, bytes);
    }
}
#endif

/* Blocks of elements of 2 bytes: rows are contiguous in the source, columns in
 * the destination. */
#ifndef RAVEL_PLAIN
/* 8 columns of 8 rows a lane. */
RAVEL_INLINE void
ravel_turn_wide2(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col)
{
    RAVEL_ALL(2) v[8], w[8];
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        memcpy(&v[i], s + col[i], sizeof v[i]);
    RAVEL_UNROLL for (int round = 1; round < 8; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 8 / 2; i++) {
            w[2 * i] = RAVEL_ALL_LOW(2, 8, v[i], v[i + 8 / 2]);
            w[2 * i + 1] = RAVEL_ALL_HIGH(2, 8, v[i], v[i + 8 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 8; i++)
            v[i] = w[i];
    }
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        ravel_put_lanes(d, row + i, 8, (RAVEL_ALL(1))v[i]);
}

RAVEL_INLINE void
ravel_turn_narrow2(unsigned char *d, const unsigned char *s, const int32_t *row,
                         const int32_t *col)
{
    ravel_2x1 v[8];
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        v[i] = (ravel_2x1)ravel_load1(s + col[i]);
    ravel_zip2(v, 8, RAVEL_ROUNDS2);
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
}

/* At most 8 rows and columns, of which some may be fewer. */
RAVEL_INLINE void
ravel_turn_few2(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int64_t cols,
                      const unsigned char *end)
{
    ravel_2x1 v[8] = {{0}};
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        if (i < cols)
            v[i] = (ravel_2x1)ravel_load_part(s + col[i], rows * 2, end);
    ravel_zip2(v, 8, RAVEL_ROUNDS2);
    RAVEL_UNROLL for (int i = 0; i < 8; i++) {
        if (i < rows && cols == 8)
            ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
        else if (i < rows)
            ravel_store_part(d + row[i], (ravel_1x1)v[i], cols * 2);
    }
}

/* All rows of 8 columns: the last block lies over others. */
RAVEL_INLINE void
ravel_turn_rows2(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows)
{
    enum { WIDE = 8 * RAVEL_LANES };
    int64_t r = 0;
    for (; r + WIDE <= rows; r += WIDE)
        ravel_turn_wide2(d, s + r * 2, row + r, col);
    if (rows >= WIDE && r + 8 < rows) {
        r = rows - WIDE;
        ravel_turn_wide2(d, s + r * 2, row + r, col);
        return;
    }
    for (; r < rows; r += 8) {
        r = r + 8 > rows ? rows - 8 : r;
        ravel_turn_narrow2(d, s + r * 2, row + r, col);
    }
}

/* A block with fewer rows or columns than a register has elements. */
static void
ravel_turn_short2(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const unsigned char *end)
{
    const int64_t m = rows < 8 ? rows : 8, k = cols < 8 ? cols : 8;
    for (int64_t c = 0; c < cols; c += k) {
        c = c + k > cols ? cols - k : c;
        for (int64_t r = 0; r < rows; r += m) {
            r = r + m > rows ? rows - m : r;
            ravel_turn_few2(d + c * 2, s + r * 2, row + r, col + c, m, k,
                                  end);
        }
    }
}

static void
ravel_tile2(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], n = t[RAVEL_T_BLOCKS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int32_t *const block = col + cols;
    const int full = rows >= 8 && cols >= 8;
    const int64_t fetch = ravel_soon_share(soon, full ? n * ((cols - 1) / 8 + 1) : n);
    for (int64_t i = 0; i < n; i++) {
        unsigned char *const to = d + block[2 * i];
        const unsigned char *const from = s + block[2 * i + 1];
        if (!full)
            ravel_turn_short2(to, from, row, col, rows, cols, s + t[RAVEL_T_END]);
        for (int64_t c = 0; full && c < cols; c += 8) {
            c = c + 8 > cols ? cols - 8 : c;
            ravel_turn_rows2(to + c * 2, from, row, col + c, rows);
            ravel_soon_fetch(soon, fetch);
        }
        if (!full)
            ravel_soon_fetch(soon, fetch);
    }
}
#else
static void
ravel_tile2(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int32_t *const block = col + cols;
    (void)soon;
    for (int64_t i = 0; i < t[RAVEL_T_BLOCKS]; i++) {
        unsigned char *const to = d + block[2 * i];
        const unsigned char *const from = s + block[2 * i + 1];
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++)
                memcpy(to + row[r] + c * 2, from + col[c] + r * 2, 2);
    }
}
#endif

static void
ravel_composite2(unsigned char *d, const unsigned char *s, const int32_t *t,
                       int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream,
                    ravel_tile2);
}

static const int32_t nchw_to_fractal_z_f16_table0[1063] = {
    1, 1, 1, 2, 9, 16, 512, 0, 147456, 0, 1, 147456, 147456, 0, 4096, 8192,
    12288, 16384, 20480, 24576, 28672, 32768, 0, 18, 36, 54, 72, 90, 108, 126, 144, 162,
    180, 198, 216, 234, 252, 270, 0, 0, 32, 1152, 64, 2304, 96, 3456, 128, 4608,
    160, 5760, 192, 6912, 224, 8064, 256, 9216, 288, 10368, 320, 11520, 352, 12672, 384, 13824,
    416, 14976, 448, 16128, 480, 17280, 512, 18432, 544, 19584, 576, 20736, 608, 21888, 640, 23040,
    672, 24192, 704, 25344, 736, 26496, 768, 27648, 800, 28800, 832, 29952, 864, 31104, 896, 32256,
    928, 33408, 960, 34560, 992, 35712, 1024, 36864, 1056, 38016, 1088, 39168, 1120, 40320, 1152, 41472,
    1184, 42624, 1216, 43776, 1248, 44928, 1280, 46080, 1312, 47232, 1344, 48384, 1376, 49536, 1408, 50688,
    1440, 51840, 1472, 52992, 1504, 54144, 1536, 55296, 1568, 56448, 1600, 57600, 1632, 58752, 1664, 59904,
    1696, 61056, 1728, 62208, 1760, 63360, 1792, 64512, 1824, 65664, 1856, 66816, 1888, 67968, 1920, 69120,
    1952, 70272, 1984, 71424, 2016, 72576, 2048, 73728, 2080, 74880, 2112, 76032, 2144, 77184, 2176, 78336,
    2208, 79488, 2240, 80640, 2272, 81792, 2304, 82944, 2336, 84096, 2368, 85248, 2400, 86400, 2432, 87552,
    2464, 88704, 2496, 89856, 2528, 91008, 2560, 92160, 2592, 93312, 2624, 94464, 2656, 95616, 2688, 96768,
    2720, 97920, 2752, 99072, 2784, 100224, 2816, 101376, 2848, 102528, 2880, 103680, 2912, 104832, 2944, 105984,
    2976, 107136, 3008, 108288, 3040, 109440, 3072, 110592, 3104, 111744, 3136, 112896, 3168, 114048, 3200, 115200,
    3232, 116352, 3264, 117504, 3296, 118656, 3328, 119808, 3360, 120960, 3392, 122112, 3424, 123264, 3456, 124416,
    3488, 125568, 3520, 126720, 3552, 127872, 3584, 129024, 3616, 130176, 3648, 131328, 3680, 132480, 3712, 133632,
    3744, 134784, 3776, 135936, 3808, 137088, 3840, 138240, 3872, 139392, 3904, 140544, 3936, 141696, 3968, 142848,
    4000, 144000, 4032, 145152, 4064, 146304, 36864, 288, 36896, 1440, 36928, 2592, 36960, 3744, 36992, 4896,
    37024, 6048, 37056, 7200, 37088, 8352, 37120, 9504, 37152, 10656, 37184, 11808, 37216, 12960, 37248, 14112,
    37280, 15264, 37312, 16416, 37344, 17568, 37376, 18720, 37408, 19872, 37440, 21024, 37472, 22176, 37504, 23328,
    37536, 24480, 37568, 25632, 37600, 26784, 37632, 27936, 37664, 29088, 37696, 30240, 37728, 31392, 37760, 32544,
    37792, 33696, 37824, 34848, 37856, 36000, 37888, 37152, 37920, 38304, 37952, 39456, 37984, 40608, 38016, 41760,
    38048, 42912, 38080, 44064, 38112, 45216, 38144, 46368, 38176, 47520, 38208, 48672, 38240, 49824, 38272, 50976,
    38304, 52128, 38336, 53280, 38368, 54432, 38400, 55584, 38432, 56736, 38464, 57888, 38496, 59040, 38528, 60192,
    38560, 61344, 38592, 62496, 38624, 63648, 38656, 64800, 38688, 65952, 38720, 67104, 38752, 68256, 38784, 69408,
    38816, 70560, 38848, 71712, 38880, 72864, 38912, 74016, 38944, 75168, 38976, 76320, 39008, 77472, 39040, 78624,
    39072, 79776, 39104, 80928, 39136, 82080, 39168, 83232, 39200, 84384, 39232, 85536, 39264, 86688, 39296, 87840,
    39328, 88992, 39360, 90144, 39392, 91296, 39424, 92448, 39456, 93600, 39488, 94752, 39520, 95904, 39552, 97056,
    39584, 98208, 39616, 99360, 39648, 100512, 39680, 101664, 39712, 102816, 39744, 103968, 39776, 105120, 39808, 106272,
    39840, 107424, 39872, 108576, 39904, 109728, 39936, 110880, 39968, 112032, 40000, 113184, 40032, 114336, 40064, 115488,
    40096, 116640, 40128, 117792, 40160, 118944, 40192, 120096, 40224, 121248, 40256, 122400, 40288, 123552, 40320, 124704,
    40352, 125856, 40384, 127008, 40416, 128160, 40448, 129312, 40480, 130464, 40512, 131616, 40544, 132768, 40576, 133920,
    40608, 135072, 40640, 136224, 40672, 137376, 40704, 138528, 40736, 139680, 40768, 140832, 40800, 141984, 40832, 143136,
    40864, 144288, 40896, 145440, 40928, 146592, 73728, 576, 73760, 1728, 73792, 2880, 73824, 4032, 73856, 5184,
    73888, 6336, 73920, 7488, 73952, 8640, 73984, 9792, 74016, 10944, 74048, 12096, 74080, 13248, 74112, 14400,
    74144, 15552, 74176, 16704, 74208, 17856, 74240, 19008, 74272, 20160, 74304, 21312, 74336, 22464, 74368, 23616,
    74400, 24768, 74432, 25920, 74464, 27072, 74496, 28224, 74528, 29376, 74560, 30528, 74592, 31680, 74624, 32832,
    74656, 33984, 74688, 35136, 74720, 36288, 74752, 37440, 74784, 38592, 74816, 39744, 74848, 40896, 74880, 42048,
    74912, 43200, 74944, 44352, 74976, 45504, 75008, 46656, 75040, 47808, 75072, 48960, 75104, 50112, 75136, 51264,
    75168, 52416, 75200, 53568, 75232, 54720, 75264, 55872, 75296, 57024, 75328, 58176, 75360, 59328, 75392, 60480,
    75424, 61632, 75456, 62784, 75488, 63936, 75520, 65088, 75552, 66240, 75584, 67392, 75616, 68544, 75648, 69696,
    75680, 70848, 75712, 72000, 75744, 73152, 75776, 74304, 75808, 75456, 75840, 76608, 75872, 77760, 75904, 78912,
    75936, 80064, 75968, 81216, 76000, 82368, 76032, 83520, 76064, 84672, 76096, 85824, 76128, 86976, 76160, 88128,
    76192, 89280, 76224, 90432, 76256, 91584, 76288, 92736, 76320, 93888, 76352, 95040, 76384, 96192, 76416, 97344,
    76448, 98496, 76480, 99648, 76512, 100800, 76544, 101952, 76576, 103104, 76608, 104256, 76640, 105408, 76672, 106560,
    76704, 107712, 76736, 108864, 76768, 110016, 76800, 111168, 76832, 112320, 76864, 113472, 76896, 114624, 76928, 115776,
    76960, 116928, 76992, 118080, 77024, 119232, 77056, 120384, 77088, 121536, 77120, 122688, 77152, 123840, 77184, 124992,
    77216, 126144, 77248, 127296, 77280, 128448, 77312, 129600, 77344, 130752, 77376, 131904, 77408, 133056, 77440, 134208,
    77472, 135360, 77504, 136512, 77536, 137664, 77568, 138816, 77600, 139968, 77632, 141120, 77664, 142272, 77696, 143424,
    77728, 144576, 77760, 145728, 77792, 146880, 110592, 864, 110624, 2016, 110656, 3168, 110688, 4320, 110720, 5472,
    110752, 6624, 110784, 7776, 110816, 8928, 110848, 10080, 110880, 11232, 110912, 12384, 110944, 13536, 110976, 14688,
    111008, 15840, 111040, 16992, 111072, 18144, 111104, 19296, 111136, 20448, 111168, 21600, 111200, 22752, 111232, 23904,
    111264, 25056, 111296, 26208, 111328, 27360, 111360, 28512, 111392, 29664, 111424, 30816, 111456, 31968, 111488, 33120,
    111520, 34272, 111552, 35424, 111584, 36576, 111616, 37728, 111648, 38880, 111680, 40032, 111712, 41184, 111744, 42336,
    111776, 43488, 111808, 44640, 111840, 45792, 111872, 46944, 111904, 48096, 111936, 49248, 111968, 50400, 112000, 51552,
    112032, 52704, 112064, 53856, 112096, 55008, 112128, 56160, 112160, 57312, 112192, 58464, 112224, 59616, 112256, 60768,
    112288, 61920, 112320, 63072, 112352, 64224, 112384, 65376, 112416, 66528, 112448, 67680, 112480, 68832, 112512, 69984,
    112544, 71136, 112576, 72288, 112608, 73440, 112640, 74592, 112672, 75744, 112704, 76896, 112736, 78048, 112768, 79200,
    112800, 80352, 112832, 81504, 112864, 82656, 112896, 83808, 112928, 84960, 112960, 86112, 112992, 87264, 113024, 88416,
    113056, 89568, 113088, 90720, 113120, 91872, 113152, 93024, 113184, 94176, 113216, 95328, 113248, 96480, 113280, 97632,
    113312, 98784, 113344, 99936, 113376, 101088, 113408, 102240, 113440, 103392, 113472, 104544, 113504, 105696, 113536, 106848,
    113568, 108000, 113600, 109152, 113632, 110304, 113664, 111456, 113696, 112608, 113728, 113760, 113760, 114912, 113792, 116064,
    113824, 117216, 113856, 118368, 113888, 119520, 113920, 120672, 113952, 121824, 113984, 122976, 114016, 124128, 114048, 125280,
    114080, 126432, 114112, 127584, 114144, 128736, 114176, 129888, 114208, 131040, 114240, 132192, 114272, 133344, 114304, 134496,
    114336, 135648, 114368, 136800, 114400, 137952, 114432, 139104, 114464, 140256, 114496, 141408, 114528, 142560, 114560, 143712,
    114592, 144864, 114624, 146016, 114656, 147168, 0
};
/* src: 147456 bytes, dst: 147456 bytes; they do not overlap */
void
nchw_to_fractal_z_f16(void *dst_, const void *src_)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0..127 C=0..63 H=0..2 W=0..2: composite2 */
    ravel_composite2(dst, src, nchw_to_fractal_z_f16_table0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0);
}
