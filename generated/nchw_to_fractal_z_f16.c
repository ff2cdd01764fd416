/* ravel emit --from NCHW --to FRACTAL_Z --shape 128,64,3,3 --dtype f16 --name nchw_to_fractal_z_f16
 * src NCHW: 576*N + 9*C + 3*H + W
 *     f16, N=128 C=64 H=3 W=3 in 73728 elements, 147456 bytes
 * dst FRACTAL_Z: 18432*(C//16) + 6144*H + 2048*W + 16*N + C%16
 *     f16, N=128 C=64 H=3 W=3 in 73728 elements, 147456 bytes
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
#if defined(RAVEL_SSE2) && defined(__AVX512BW__)
#define RAVEL_LANES 4
#elif defined(RAVEL_SSE2) && defined(__AVX2__)
#define RAVEL_LANES 2
#else
#define RAVEL_LANES 1
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
/* Never inlined: a call moves much, and there are many. */
#define RAVEL_CALLED __attribute__((noinline, unused)) static

/* Interleaves the elements of the low (high) halves of the lanes of a and b; elements of n
 * bytes, m elements in a lane, w lanes. */
#define RAVEL_LOW(n, m, w, a, b) __builtin_shufflevector(a, b, RAVEL_PICK(n, w, 0, m))
#define RAVEL_HIGH(n, m, w, a, b) __builtin_shufflevector(a, b, RAVEL_PICK(n, w, (m) / 2, m))
#define RAVEL_PICK(n, w, i, m) RAVEL_EACH##w(RAVEL_ZIP##n, i, m)
#define RAVEL_EACH1(zip, i, m) zip(i, m)
#define RAVEL_EACH2(zip, i, m) RAVEL_BOTH(zip, i, m, 2 * (m))
#define RAVEL_EACH4(zip, i, m) RAVEL_BOTH(zip, i, m, 4 * (m)), RAVEL_UPPER(zip, i, m, 4 * (m))
#define RAVEL_BOTH(zip, i, m, all) zip(i, all), zip((i) + (m), all)
#define RAVEL_UPPER(zip, i, m, all) zip((i) + 2 * (m), all), zip((i) + 3 * (m), all)
#define RAVEL_ZIP8(i, b) (i), (i) + (b)
#define RAVEL_ZIP4(i, b) RAVEL_ZIP8(i, b), RAVEL_ZIP8((i) + 1, b)
#define RAVEL_ZIP2(i, b) RAVEL_ZIP4(i, b), RAVEL_ZIP4((i) + 2, b)
#define RAVEL_ZIP1(i, b) RAVEL_ZIP2(i, b), RAVEL_ZIP2((i) + 4, b)

/* Forces an address into a register: compilers would keep one for each row of a block. */
#define RAVEL_KEEP(x) __asm__("" : "+r"(x))

/* ravel_2x4: elements of 2 bytes, 4 lanes.  ravel_anyx4: bytes at any address. */
typedef uint8_t ravel_1x1 __attribute__((vector_size(16)));
typedef uint16_t ravel_2x1 __attribute__((vector_size(16)));
typedef uint32_t ravel_4x1 __attribute__((vector_size(16)));
typedef uint64_t ravel_8x1 __attribute__((vector_size(16)));
typedef uint8_t ravel_anyx1 __attribute__((vector_size(16), aligned(1), may_alias));

/* ravel_rows: loads 16 bytes from each of w rows.  ravel_store: stores 16 * w bytes; with
 * `stream` by a non-temporal store, to an aligned address. */
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
typedef uint8_t ravel_1x2 __attribute__((vector_size(32)));
typedef uint16_t ravel_2x2 __attribute__((vector_size(32)));
typedef uint32_t ravel_4x2 __attribute__((vector_size(32)));
typedef uint64_t ravel_8x2 __attribute__((vector_size(32)));
typedef uint8_t ravel_anyx2 __attribute__((vector_size(32), aligned(1), may_alias));

RAVEL_INLINE ravel_1x2
ravel_rows2(const unsigned char *const *s, int64_t at)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(s[0] + at));
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s[1] + at));
    return (ravel_1x2)_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
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
typedef uint8_t ravel_1x4 __attribute__((vector_size(64)));
typedef uint16_t ravel_2x4 __attribute__((vector_size(64)));
typedef uint32_t ravel_4x4 __attribute__((vector_size(64)));
typedef uint64_t ravel_8x4 __attribute__((vector_size(64)));
typedef uint8_t ravel_anyx4 __attribute__((vector_size(64), aligned(1), may_alias));

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

/* RAVEL_ALL: vectors of RAVEL_LANES lanes.  RAVEL_TWO: of two lanes if there are two: x86
 * processors shuffle those twice as often as wider ones, and extract lanes of them faster. */
#ifndef RAVEL_PLAIN
enum { RAVEL_ROUNDS1 = 4, RAVEL_ROUNDS2 = 3, RAVEL_ROUNDS4 = 2, RAVEL_ROUNDS8 = 1 };
#if RAVEL_LANES == 4
#define RAVEL_ALL(n) ravel_##n##x4
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 4, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 4, a, b)
#define RAVEL_ALL_ROWS ravel_rows4
#define RAVEL_ALL_STORE ravel_store4
#elif RAVEL_LANES == 2
#define RAVEL_ALL(n) ravel_##n##x2
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 2, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 2, a, b)
#define RAVEL_ALL_ROWS ravel_rows2
#define RAVEL_ALL_STORE ravel_store2
#else
#define RAVEL_ALL(n) ravel_##n##x1
#define RAVEL_ALL_LOW(n, m, a, b) RAVEL_LOW(n, m, 1, a, b)
#define RAVEL_ALL_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 1, a, b)
#define RAVEL_ALL_ROWS ravel_rows1
#define RAVEL_ALL_STORE ravel_store1
#endif

#if RAVEL_LANES > 1
enum { RAVEL_PAIR = 2 };
#define RAVEL_TWO(n) ravel_##n##x2
#define RAVEL_TWO_LOW(n, m, a, b) RAVEL_LOW(n, m, 2, a, b)
#define RAVEL_TWO_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 2, a, b)
#define RAVEL_TWO_ROWS ravel_rows2
#else
enum { RAVEL_PAIR = 1 };
#define RAVEL_TWO(n) ravel_##n##x1
#define RAVEL_TWO_LOW(n, m, a, b) RAVEL_LOW(n, m, 1, a, b)
#define RAVEL_TWO_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 1, a, b)
#define RAVEL_TWO_ROWS ravel_rows1
#endif

/* Lane i of a vector.  Stores take one lane of all vectors before the other, because
 * consecutive stores to one line are combined. */
RAVEL_INLINE ravel_1x1
ravel_lane(RAVEL_TWO(1) v, int i)
{
#if RAVEL_LANES > 1
    return (ravel_1x1)(i ? _mm256_extracti128_si256((__m256i)v, 1)
                         : _mm256_castsi256_si128((__m256i)v));
#else
    (void)i;
    return v;
#endif
}
#endif

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

#ifndef RAVEL_PLAIN
/* Transposes blocks of 8 rows in each lane: log2(8) rounds of interleaving. */
RAVEL_INLINE void
ravel_turn2(RAVEL_ALL(2) *v)
{
    RAVEL_ALL(2) w[8];
    RAVEL_UNROLL for (int round = 1; round < 8; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 8 / 2; i++) {
            w[2 * i] = RAVEL_ALL_LOW(2, 8, v[i], v[i + 8 / 2]);
            w[2 * i + 1] = RAVEL_ALL_HIGH(2, 8, v[i], v[i + 8 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 8; i++)
            v[i] = w[i];
    }
}

RAVEL_INLINE void
ravel_turn_two2(RAVEL_TWO(2) *v)
{
    RAVEL_TWO(2) w[8];
    RAVEL_UNROLL for (int round = 1; round < 8; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 8 / 2; i++) {
            w[2 * i] = RAVEL_TWO_LOW(2, 8, v[i], v[i + 8 / 2]);
            w[2 * i + 1] = RAVEL_TWO_HIGH(2, 8, v[i], v[i + 8 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 8; i++)
            v[i] = w[i];
    }
}
#endif

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

/* Pieces of blocks for the kernels composite. */
#ifndef RAVEL_PLAIN
/* The end of the source of a tile; the largest offset of its columns. */
typedef struct {
    const unsigned char *end;
    int64_t last;
} ravel_end;
/* How the blocks of a tile are transposed: one of slim, touching, parts, along, or a vector of
 * `wide` columns after another.  `lanes`: blocks at once; `steps`: in each.  `next`: short rows or
 * columns follow one another, and `picks` moves their bytes (ravel_regroup). */
typedef struct {
    int slim, next, touching, parts, along, near;
    int64_t wide, lanes, steps;
    ravel_1x1 picks;
} ravel_way;

/* The offsets of n rows, at most 8, which are read before one of the rows is written.  A processor that
 * once took a read for one of what was just written, as addresses agree in their lower 12 bits, lets it
 * wait until the addresses of all writes before it are known: an offset that is read between writes then
 * waits for the one before, and a tile takes up to 5 times as long (Emerald Rapids, one process of
 * ten). */
RAVEL_INLINE void
ravel_rows_at(int64_t *to, const int32_t *row, int n)
{
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        to[i] = row[i];
}

RAVEL_CALLED int
ravel_is_past(int64_t most, const int32_t *col, int64_t n)
{
    int past = 0;
    for (int64_t i = 0; i < n; i++)
        past |= col[i] > most;
    return past;
}

/* Whether 16 bytes of one of n columns reach beyond the end. */
RAVEL_INLINE int
ravel_is_near(const ravel_end *e, const unsigned char *s, const int32_t *col, int64_t n)
{
    const int64_t most = e->end - s - 16;
    return most < e->last && ravel_is_past(most, col, n);
}

/* Whether the next line of a row has bytes of the next row. */
RAVEL_CALLED int
ravel_rows_share_lines(const int32_t *row, int64_t rows)
{
    const int32_t step = rows > 1 ? row[1] - row[0] : 0;
    return step % 64 != 0 && step < 128 && step > -128;
}

static const int32_t ravel_part_at[16] = {0,   16,  32,  48,  64,  80,  96,  112,
                                          128, 144, 160, 176, 192, 208, 224, 240};

/* Copies `bytes`, at most 16, of each column to `part`, where columns are at ravel_part_at; what
 * follows these bytes is in no result. */
RAVEL_CALLED void
ravel_load_parts(unsigned char *part, const unsigned char *s, const int32_t *col, int64_t bytes,
                 int64_t cols)
{
    for (int64_t i = 0; i < cols; i++)
        memcpy(part + ravel_part_at[i], s + col[i], (size_t)bytes);
}

/* Stores the first `bytes` of 16, at most 16. */
#if RAVEL_LANES == 4 && defined(__AVX512VL__)
RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    _mm_mask_storeu_epi8(d, (__mmask16)((1u << bytes) - 1), (__m128i)v);
}
#elif defined(RAVEL_SSE2) && defined(__SSSE3__)
/* The register with byte `first` first. */
RAVEL_INLINE ravel_1x1
ravel_bytes_from(ravel_1x1 v, int64_t first)
{
    static const unsigned char byte[24] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (ravel_1x1)_mm_shuffle_epi8((__m128i)v, (__m128i)ravel_load1(byte + first));
}

/* By two pieces, which may overlap. */
RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    if (bytes == 16)
        ravel_store1(d, v, 0);
    else if (bytes >= 8) {
        const ravel_1x1 last = ravel_bytes_from(v, bytes - 8);
        memcpy(d, &v, 8);
        memcpy(d + bytes - 8, &last, 8);
    } else if (bytes >= 4) {
        const ravel_1x1 last = ravel_bytes_from(v, bytes - 4);
        memcpy(d, &v, 4);
        memcpy(d + bytes - 4, &last, 4);
    } else if (bytes >= 2) {
        const ravel_1x1 last = ravel_bytes_from(v, bytes - 2);
        memcpy(d, &v, 2);
        memcpy(d + bytes - 2, &last, 2);
    } else
        *d = v[0];
}
#else
/* By pieces that lie within a register's halves: others wait for the store to `part`. */
RAVEL_INLINE void
ravel_store_part(unsigned char *d, ravel_1x1 v, int64_t bytes)
{
    unsigned char part[16];
    const unsigned char *s = part;
    if (bytes == 16) {
        ravel_store1(d, v, 0);
        return;
    }
    ravel_store1(part, v, 0);
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
    if (bytes & 2) {
        memcpy(d, s, 2);
        d += 2;
        s += 2;
    }
    if (bytes & 1)
        *d = *s;
}
#endif

/* One of some offsets, `apart` words from each other, is above `most`. */
RAVEL_INLINE int
ravel_any_above(const int32_t *at, int n, int apart, int64_t most)
{
    int any = 0;
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        any |= at[i * apart] > most;
    return any;
}

/* Rows of at most so many bytes are loaded alone: vectors of four lanes transpose longer ones as
 * fast. */
enum { RAVEL_LOW_BYTES = RAVEL_LANES == 4 ? 4 : 8 };

/* Whether n offsets are `step` from each other. */
RAVEL_CALLED int
ravel_are_apart(const int32_t *at, int64_t n, int32_t step)
{
    int32_t odd = 0;
    if (n > 1 && at[1] - at[0] != step)
        return 0;
    for (int64_t i = 1; i < n; i++)
        odd |= (at[i] - at[i - 1]) ^ step;
    return !odd;
}

#if defined(RAVEL_SSE2) && defined(__SSSE3__)
#define RAVEL_PICKS 1
/* Byte i is byte at[i] of v, or 0 if at[i] is 128 or more. */
RAVEL_INLINE ravel_1x1
ravel_picked(ravel_1x1 v, ravel_1x1 at)
{
    return (ravel_1x1)_mm_shuffle_epi8((__m128i)v, (__m128i)at);
}
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <arm_neon.h>
#define RAVEL_PICKS 1
RAVEL_INLINE ravel_1x1
ravel_picked(ravel_1x1 v, ravel_1x1 at)
{
    return (ravel_1x1)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)at);
}
#else
#define RAVEL_PICKS 0
RAVEL_INLINE ravel_1x1
ravel_picked(ravel_1x1 v, ravel_1x1 at)
{
    (void)at;
    return v;
}
#endif

/* What picks, of groups of `from` bytes, the first bytes of each, to groups of `to` bytes. */
RAVEL_CALLED ravel_1x1
ravel_regroup(int from, int to)
{
    unsigned char at[16];
    int group = 0, k = 0;
    for (int i = 0; i < 16; i++) {
        at[i] = k < from && group + k < 16 ? (unsigned char)(group + k) : 128;
        k++;
        if (k == to) {
            k = 0;
            group += from;
        }
    }
    return ravel_load1(at);
}

/* The same register where groups have all their `n`. */
RAVEL_INLINE ravel_1x1
ravel_regrouped(ravel_1x1 v, ravel_1x1 picks, int64_t few, int n)
{
    return few == n ? v : ravel_picked(v, picks);
}

/* 16 bytes: `bytes`, 2, 4 or 8, at each of the offsets. */
RAVEL_INLINE ravel_1x1
ravel_load_pieces(const unsigned char *s, const int32_t *at, int bytes)
{
    uint16_t two[8] = {0};
    uint32_t four[4] = {0};
    uint64_t eight[2] = {0};
    RAVEL_UNROLL for (int i = 0; i < 16 / bytes; i++)
        if (bytes == 2)
            memcpy(&two[i & 7], s + at[i], 2);
        else if (bytes == 4)
            memcpy(&four[i & 3], s + at[i], 4);
        else
            memcpy(&eight[i & 1], s + at[i], 8);
    const ravel_2x1 twos = {two[0], two[1], two[2], two[3], two[4], two[5], two[6], two[7]};
    const ravel_4x1 fours = {four[0], four[1], four[2], four[3]};
    const ravel_8x1 eights = {eight[0], eight[1]};
    return bytes == 2 ? (ravel_1x1)twos : bytes == 4 ? (ravel_1x1)fours : (ravel_1x1)eights;
}

/* Of a number of `bytes` in memory stores `some`, 1, 2, 4 or 8, from `first` on. */
RAVEL_INLINE void
ravel_store_some(unsigned char *d, uint64_t x, int64_t first, int some, int bytes)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    first = bytes - some - first;
#endif
    (void)bytes;
    x >>= 8 * first;
    const uint32_t four = (uint32_t)x;
    const uint16_t two = (uint16_t)x;
    if (some == 8)
        memcpy(d, &x, 8);
    else if (some == 4)
        memcpy(d, &four, 4);
    else if (some == 2)
        memcpy(d, &two, 2);
    else
        *d = (unsigned char)x;
}

/* Stores the first `part` of each `bytes`, 2, 4 or 8, at its offset, `n` of them at most; part is
 * bytes or more than half of them, and then two halves overlap. */
RAVEL_INLINE void
ravel_store_pieces(unsigned char *d, const int64_t *at, ravel_1x1 v, int bytes, int64_t part,
                   int64_t n)
{
    const int half = bytes / 2;
    RAVEL_UNROLL for (int i = 0; i < 16 / bytes; i++) {
        const uint64_t x = bytes == 2 ? ((ravel_2x1)v)[i & 7]
                     : bytes == 4 ? ((ravel_4x1)v)[i & 3] : ((ravel_8x1)v)[i & 1];
        if (i >= n)
            break;
        if (part == bytes) {
            ravel_store_some(d + at[i], x, 0, bytes, bytes);
        } else {
            ravel_store_some(d + at[i], x, 0, half, bytes);
            ravel_store_some(d + at[i] + part - half, x, part - half, half, bytes);
        }
    }
}
#endif

/* Blocks with few rows or few columns, of elements of 2 bytes: they are padded to n, a power of
 * two, and n registers hold all 8 of the other kind. */
#ifndef RAVEL_PLAIN
/* Transposes at most n rows of 8 columns.  `next`: the columns follow one another, and `picks`
 * gives each the bytes of n rows. */
RAVEL_INLINE void
ravel_turn_low2(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int n, int next, ravel_1x1 picks)
{
    const int64_t step = 8 / n * rows * 2;
    ravel_2x1 v[8];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        v[i] = (ravel_2x1)(
            next ? ravel_regrouped(ravel_load1(s + col[0] + step * i), picks, rows, n)
                 : ravel_load_pieces(s, col + i * (8 / n), n * 2));
    ravel_zip2(v, n, RAVEL_ROUNDS2);
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < rows)
            ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
}

/* All columns; the last block overlaps the one before.  A register of columns that follow one another
 * may not read past the last of them. */
RAVEL_INLINE void
ravel_turn_all_low2(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                          const ravel_end *end, int n)
{
    for (int64_t c = 0; c < cols; c += 8) {
        unsigned char part[16 * 8];
        c = c + 8 > cols ? cols - 8 : c;
        if (w->next && (n == rows || (cols - c - 8) * rows * 2 >= 16))
            ravel_turn_low2(d + c * 2, s, row, col + c, rows, n, 1, w->picks);
        else if (ravel_is_near(end, s, col + c, 8)) {
            ravel_load_parts(part, s, col + c, rows * 2, 8);
            ravel_turn_low2(d + c * 2, part, row, ravel_part_at, rows, n, 0, w->picks);
        } else
            ravel_turn_low2(d + c * 2, s, row, col + c, rows, n, 0, w->picks);
    }
}

/* Transposes at most 8 rows of at most n columns.  `next`: the rows follow one another, and `picks`
 * leaves each the bytes of its columns. */
RAVEL_INLINE void
ravel_turn_thin2(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, int n, int next, ravel_1x1 picks)
{
    const int64_t step = 8 / n * cols * 2;
    ravel_2x1 v[8] = {{0}};
    int64_t to[8];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < cols)
            v[i] = (ravel_2x1)ravel_load1(s + col[i]);
    ravel_zip2(v, n, n > 4 ? 3 : n / 2);
    if (!next)
        RAVEL_UNROLL for (int i = 0; i < 8; i++)
            to[i] = row[i < rows ? i : 0];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (next)
            ravel_store1(d + row[0] + step * i, ravel_regrouped((ravel_1x1)v[i], picks, cols, n), 0);
        else
            ravel_store_pieces(d, to + i * (8 / n), (ravel_1x1)v[i], n * 2,
                               cols * 2, rows - i * (8 / n));
}

/* All rows.  A register of rows that follow one another writes what rows after it replace. */
RAVEL_INLINE void
ravel_turn_all_thin2(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                           const ravel_end *end, int n)
{
    for (int64_t r = 0; r < rows; r += 8) {
        const unsigned char *from = s + r * 2;
        const int32_t *at = col;
        const int64_t some = rows - r < 8 ? rows - r : (int64_t)8;
        unsigned char part[16 * 8];
        if (ravel_is_near(end, from, col, cols)) {
            ravel_load_parts(part, from, col, some * 2, cols);
            from = part;
            at = ravel_part_at;
        }
        if (w->next && some == 8 && (n == cols || (rows - r - 8) * cols * 2 >= 16))
            ravel_turn_thin2(d, from, row + r, at, some, cols, n, 1, w->picks);
        else
            ravel_turn_thin2(d, from, row + r, at, some, cols, n, 0, w->picks);
    }
}

/* Whether ravel_turn_slim takes such blocks. */
RAVEL_INLINE int
ravel_is_slim2(int64_t rows, int64_t cols)
{
    return 8 > 2 && (cols * 2 <= 8 || (rows * 2 <= RAVEL_LOW_BYTES && cols >= 8));
}

/* Whether the columns of a register, or its rows, follow one another. */
RAVEL_INLINE int
ravel_next2(const int32_t *row, const int32_t *col, int64_t rows, int64_t cols)
{
    const int low = cols * 2 > 8;
    const int64_t few = low ? rows : cols;
    return few > 1 && (RAVEL_PICKS || (few & (few - 1)) == 0) &&
           ravel_are_apart(low ? col : row, low ? cols : rows, (int32_t)few * 2);
}

/* What moves the bytes of rows or columns that follow one another, n of them as in ravel_turn_slim; none
 * where they are as many. */
RAVEL_INLINE ravel_1x1
ravel_picks2(int64_t rows, int64_t cols)
{
    const int few = (int)(cols * 2 > 8 ? rows : cols) * 2;
    const int all = few <= 2 * 2 ? 2 * 2 : few <= 4 * 2 ? 4 * 2 : 8 * 2;
    const ravel_1x1 none = {0};
    if (few == all)
        return none;
    return cols * 2 > 8 ? ravel_regroup(few, all) : ravel_regroup(all, few);
}

static void
ravel_turn_slim2(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                       const ravel_end *end)
{
    const int low = cols * 2 > 8;
    const int64_t few = low ? rows : cols;
    if (low && few <= 2)
        ravel_turn_all_low2(d, s, row, col, rows, cols, w, end, 2);
    else if (low && 8 >= 8 && few <= 4)
        ravel_turn_all_low2(d, s, row, col, rows, cols, w, end, 4);
    else if (low && 8 >= 16)
        ravel_turn_all_low2(d, s, row, col, rows, cols, w, end, 8);
    else if (few <= 2)
        ravel_turn_all_thin2(d, s, row, col, rows, cols, w, end, 2);
    else if (8 >= 8 && few <= 4)
        ravel_turn_all_thin2(d, s, row, col, rows, cols, w, end, 4);
    else if (8 >= 16)
        ravel_turn_all_thin2(d, s, row, col, rows, cols, w, end, 8);
}
#endif

/* Blocks of elements of 2 bytes: rows are contiguous in the source, columns in the
 * destination. */
#ifndef RAVEL_PLAIN
/* Transposes 8 columns, with 8 rows of each in a lane. */
RAVEL_INLINE void
ravel_turn_wide2(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col)
{
    enum { M = 8, SOME = M < 8 ? M : 8 };
    RAVEL_TWO(2) v[M];
    RAVEL_KEEP(col);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        memcpy(&v[i], s + col[i], sizeof v[i]);
    ravel_turn_two2(v);
    RAVEL_UNROLL for (int k = 0; k < M * RAVEL_PAIR; k += SOME) {
        int64_t to[SOME];
        ravel_rows_at(to, row + k, SOME);
        RAVEL_UNROLL for (int i = 0; i < SOME; i++)
            ravel_store1(d + to[i], ravel_lane((RAVEL_TWO(1))v[k % M + i], k / M), 0);
    }
}

/* Transposes at most 8 rows, with 8 columns of each in a lane.  near: it fetches
 * the next line of each row. */
RAVEL_INLINE void
ravel_turn_line2(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int near)
{
    for (int64_t i = 0; i < 8 && i < rows && near; i++)
        RAVEL_PREFETCH(d + row[i] + 127);
    RAVEL_KEEP(col);
    enum { SOME = 8 < 8 ? 8 : 8 };
    RAVEL_ALL(2) v[8];
    RAVEL_UNROLL for (int i = 0; i < 8; i++) {
        const unsigned char *at[RAVEL_LANES];
        RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++)
            at[lane] = s + col[lane * 8 + i];
        v[i] = (RAVEL_ALL(2))RAVEL_ALL_ROWS(at, 0);
    }
    ravel_turn2(v);
    RAVEL_UNROLL for (int k = 0; k < 8; k += SOME)
        if (k + SOME <= rows) {
            int64_t to[SOME];
            ravel_rows_at(to, row + k, SOME);
            RAVEL_UNROLL for (int i = 0; i < SOME; i++)
                RAVEL_ALL_STORE(d + to[i], (RAVEL_ALL(1))v[k + i], 0);
        } else
            RAVEL_UNROLL for (int i = 0; i < SOME; i++)
                if (k + i < rows)
                    RAVEL_ALL_STORE(d + row[k + i], (RAVEL_ALL(1))v[k + i], 0);
}

/* Transposes blocks of at most 8 rows and columns, one block in a lane. */
RAVEL_INLINE void
ravel_turn_blocks2(unsigned char *d, const unsigned char *s, const int32_t *block,
                         const int32_t *row, const int32_t *col, int64_t rows,
                         int64_t cols)
{
    enum { M = 8 };
    RAVEL_TWO(2) v[M] = {{0}};
    const unsigned char *const from[2] = {s + block[1], s + block[2 * RAVEL_PAIR - 1]};
    RAVEL_KEEP(col);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        if (i < cols)
            v[i] = (RAVEL_TWO(2))RAVEL_TWO_ROWS(from, col[i]);
    ravel_turn_two2(v);
    RAVEL_UNROLL for (int lane = 0; lane < RAVEL_PAIR; lane++, block += 2)
        RAVEL_UNROLL for (int i = 0; i < M; i++)
            if (i < rows)
                ravel_store_part(d + row[i] + block[0], ravel_lane((RAVEL_TWO(1))v[i], lane),
                                 cols * 2);
}

RAVEL_INLINE void
ravel_turn_narrow2(unsigned char *d, const unsigned char *s, const int32_t *row,
                         const int32_t *col)
{
    RAVEL_KEEP(col);
    ravel_2x1 v[8];
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        v[i] = (ravel_2x1)ravel_load1(s + col[i]);
    ravel_zip2(v, 8, RAVEL_ROUNDS2);
    enum { SOME = 8 < 8 ? 8 : 8 };
    RAVEL_UNROLL for (int k = 0; k < 8; k += SOME) {
        int64_t to[SOME];
        ravel_rows_at(to, row + k, SOME);
        RAVEL_UNROLL for (int i = 0; i < SOME; i++)
            ravel_store1(d + to[i], (ravel_1x1)v[k + i], 0);
    }
}

/* The same for one block, which may have fewer rows or columns. */
RAVEL_INLINE void
ravel_turn_few2(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int64_t cols,
                      const ravel_end *end)
{
    unsigned char part[16 * 8];
    if (ravel_is_near(end, s, col, cols)) {
        ravel_load_parts(part, s, col, rows * 2, cols);
        s = part;
        col = ravel_part_at;
    }
    RAVEL_KEEP(col);
    ravel_2x1 v[8] = {{0}};
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        if (i < cols)
            v[i] = (ravel_2x1)ravel_load1(s + col[i]);
    ravel_zip2(v, 8, RAVEL_ROUNDS2);
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        if (i < rows)
            ravel_store_part(d + row[i], (ravel_1x1)v[i], cols * 2);
}

/* Transposes all rows of 8 columns; the last block overlaps the one before. */
RAVEL_INLINE void
ravel_turn_rows2(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows)
{
    enum { WIDE = 8 * RAVEL_PAIR };
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

/* Transposes a block with fewer rows or columns than a register has elements. */
RAVEL_CALLED void
ravel_turn_short2(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const ravel_end *end)
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

/* The same of rows that follow one another, each of more than half a register: whole registers
 * are stored, and the next row replaces what is beyond one's end. */
static void
ravel_turn_touching2(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols,
                           const ravel_end *end)
{
    enum { WIDE = 8 * RAVEL_PAIR };
    int32_t all[8];
    int64_t r = 0;
    for (int64_t i = 0; i < 8; i++)
        all[i] = col[i < cols ? i : 0];
    for (; r + WIDE < rows; r += WIDE)
        ravel_turn_wide2(d, s + r * 2, row + r, all);
    ravel_turn_short2(d, s + r * 2, row + r, col, rows - r, cols, end);
}

/* Transposes all rows of a vector of columns; the last block overlaps the one before. */
RAVEL_INLINE void
ravel_turn_lines2(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, const ravel_end *end, int near)
{
    enum { WIDE = 8 * RAVEL_LANES };
    if (rows < 8 && ravel_is_near(end, s, col, WIDE)) {
        ravel_turn_short2(d, s, row, col, rows, WIDE, end);
        return;
    }
    for (int64_t r = 0; r < rows; r += 8) {
        r = r + 8 > rows && r ? rows - 8 : r;
        ravel_turn_line2(d, s + r * 2, row + r, col, rows, near);
    }
}

/* Transposes all rows of at most 8 columns, one block in a lane. */
RAVEL_INLINE void
ravel_turn_together2(unsigned char *d, const unsigned char *s, const int32_t *block,
                           const int32_t *row, const int32_t *col, int64_t rows,
                           int64_t cols)
{
    const int64_t m = rows < 8 ? rows : 8;
    for (int64_t r = 0; r < rows; r += m) {
        r = r + m > rows ? rows - m : r;
        ravel_turn_blocks2(d, s + r * 2, block, row + r, col, m, cols);
    }
}

/* Transposes all rows of some columns of a block. */
RAVEL_INLINE void
ravel_turn_columns2(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols,
                          const ravel_end *end, int near)
{
    if (cols == 8 * RAVEL_LANES)
        ravel_turn_lines2(d, s, row, col, rows, end, near);
    else if (rows >= 8 && cols == 8)
        ravel_turn_rows2(d, s, row, col, rows);
    else
        ravel_turn_short2(d, s, row, col, rows, cols, end);
}

/* Transposes rows of a few lines and less, a line of the source at a time: the first cache
 * still holds the line of which a store writes the first part when the next store writes the
 * rest.  near: it fetches the next line of each row. */
static void
ravel_turn_along2(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const ravel_end *end, int near, ravel_soon *soon, int64_t fetch)
{
    enum { WIDE = 8 * RAVEL_LANES, TALL = RAVEL_LINE / 2 };
    for (int64_t r = 0; r < rows; r += TALL) {
        r = r + TALL > rows ? rows - TALL : r;
        for (int64_t c = 0; c < cols; c += WIDE) {
            c = c + WIDE > cols ? cols - WIDE : c;
            ravel_turn_lines2(d + c * 2, s + r * 2, row + r, col + c, TALL,
                                    end, near);
        }
        ravel_soon_fetch(soon, fetch);
    }
}

/* The same of rows of less than a vector. */
static void
ravel_turn_parts2(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols)
{
    enum { TALL = RAVEL_LINE / 2 };
    for (int64_t r = 0; r < rows; r += TALL) {
        r = r + TALL > rows ? rows - TALL : r;
        for (int64_t c = 0; c < cols; c += 8) {
            c = c + 8 > cols ? cols - 8 : c;
            ravel_turn_rows2(d + c * 2, s + r * 2, row + r, col + c, TALL);
        }
    }
}

/* How the blocks of tile t are transposed. */
RAVEL_INLINE ravel_way
ravel_tile_way2(const int32_t *t, const int32_t *row, const int32_t *col)
{
    enum { WIDE = 8 * RAVEL_LANES };
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS];
    ravel_way w;
    w.wide = cols >= WIDE ? (int64_t)WIDE : cols >= 8 ? (int64_t)8 : cols;
    w.slim = ravel_is_slim2(rows, cols);
    w.next = w.slim && ravel_next2(row, col, rows, cols);
    if (w.next)
        w.picks = ravel_picks2(rows, cols);
    w.touching = !w.slim && cols < 8 && rows > 8 * RAVEL_PAIR &&
                 ravel_are_apart(row, rows, (int32_t)cols * 2);
    w.parts = w.wide == 8 && cols > w.wide && rows >= 256 / 2 &&
              rows * cols * 2 >= RAVEL_TILE_SOON;
    w.lanes = !w.slim && !w.touching && cols < WIDE && rows < 2 * 8 &&
              t[RAVEL_T_BLOCKS] >= RAVEL_PAIR ? RAVEL_PAIR : 1;
    w.along = w.wide == WIDE && cols <= RAVEL_TILE_ALONG && rows >= RAVEL_LINE / 2 &&
              (cols % WIDE == 0 || cols % WIDE * 4 >= WIDE);
    w.near = !t[RAVEL_T_RUNS] &&
             (w.along ? !ravel_rows_share_lines(row, rows) : rows <= RAVEL_TILE_NEAR);
    w.steps = w.slim || w.touching || w.parts ? 1
              : w.along ? (rows * 2 + RAVEL_LINE - 1) / RAVEL_LINE : (cols - 1) / w.wide + 1;
    return w;
}

/* A vector of columns after another, of w->lanes blocks.  `apart`: one block after another. */
RAVEL_INLINE void
ravel_tile_columns2(unsigned char *d, const unsigned char *s, const int32_t *at,
                          const int32_t *row, const int32_t *col, int64_t rows, int64_t cols,
                          const ravel_way *w, const ravel_end *end, int apart,
                          ravel_soon *soon, int64_t fetch)
{
    for (int64_t c = 0; c < cols; c += w->wide) {
        c = c + w->wide > cols ? cols - w->wide : c;
        for (int64_t l = 0; l < w->lanes && apart; l++)
            ravel_turn_columns2(d + c * 2 + at[2 * l], s + at[2 * l + 1],
                                      row, col + c, rows, w->wide, end, w->near);
        if (!apart)
            ravel_turn_together2(d + c * 2, s, at, row, col + c, rows, w->wide);
        ravel_soon_fetch(soon, fetch);
    }
}

static void
ravel_tile2(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], n = t[RAVEL_T_BLOCKS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int64_t most = t[RAVEL_T_END] - t[RAVEL_T_LAST] - 16;
    const ravel_end end = {s + t[RAVEL_T_END], t[RAVEL_T_LAST]};
    const ravel_way w = ravel_tile_way2(t, row, col);
    const int64_t fetch = ravel_soon_share(soon, (n + w.lanes - 1) / w.lanes * w.steps);
    for (int64_t i = 0; i < n; i += w.lanes) {
        i = i + w.lanes > n ? n - w.lanes : i;
        const int32_t *const at = col + cols + 2 * i;
        const int apart = w.lanes == 1 ||
                          (rows < 8 && ravel_any_above(at + 1, RAVEL_PAIR, 2, most));
        if (w.slim)
            ravel_turn_slim2(d + at[0], s + at[1], row, col, rows, cols, &w, &end);
        if (w.touching)
            ravel_turn_touching2(d + at[0], s + at[1], row, col, rows, cols, &end);
        if (w.parts)
            ravel_turn_parts2(d + at[0], s + at[1], row, col, rows, cols);
        if (w.slim || w.touching || w.parts)
            ravel_soon_fetch(soon, fetch);
        else if (w.along)
            ravel_turn_along2(d + at[0], s + at[1], row, col, rows, cols, &end, w.near,
                                    soon, fetch);
        else
            ravel_tile_columns2(d, s, at, row, col, rows, cols, &w, &end, apart, soon,
                                      fetch);
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

/* The kernel composite2. */
static void
ravel_composite2(unsigned char *d, const unsigned char *s, const int32_t *t,
                       int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream,
                       uint64_t fill, int64_t size)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream, fill, size,
                    ravel_tile2);
}

#ifdef __cplusplus
extern "C" {
#endif
void nchw_to_fractal_z_f16(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t nchw_to_fractal_z_f16_table0[2082] = {
    1, 1, 1, 2, 9, 2048, 4, 0, 147456, 0, 1, 147456, 0, 0, 147456, 146574,
    0, 4096, 8192, 12288, 16384, 20480, 24576, 28672, 32768, 0, 18, 36, 54, 72, 90, 108,
    126, 144, 162, 180, 198, 216, 234, 252, 270, 1152, 1170, 1188, 1206, 1224, 1242, 1260,
    1278, 1296, 1314, 1332, 1350, 1368, 1386, 1404, 1422, 2304, 2322, 2340, 2358, 2376, 2394, 2412,
    2430, 2448, 2466, 2484, 2502, 2520, 2538, 2556, 2574, 3456, 3474, 3492, 3510, 3528, 3546, 3564,
    3582, 3600, 3618, 3636, 3654, 3672, 3690, 3708, 3726, 4608, 4626, 4644, 4662, 4680, 4698, 4716,
    4734, 4752, 4770, 4788, 4806, 4824, 4842, 4860, 4878, 5760, 5778, 5796, 5814, 5832, 5850, 5868,
    5886, 5904, 5922, 5940, 5958, 5976, 5994, 6012, 6030, 6912, 6930, 6948, 6966, 6984, 7002, 7020,
    7038, 7056, 7074, 7092, 7110, 7128, 7146, 7164, 7182, 8064, 8082, 8100, 8118, 8136, 8154, 8172,
    8190, 8208, 8226, 8244, 8262, 8280, 8298, 8316, 8334, 9216, 9234, 9252, 9270, 9288, 9306, 9324,
    9342, 9360, 9378, 9396, 9414, 9432, 9450, 9468, 9486, 10368, 10386, 10404, 10422, 10440, 10458, 10476,
    10494, 10512, 10530, 10548, 10566, 10584, 10602, 10620, 10638, 11520, 11538, 11556, 11574, 11592, 11610, 11628,
    11646, 11664, 11682, 11700, 11718, 11736, 11754, 11772, 11790, 12672, 12690, 12708, 12726, 12744, 12762, 12780,
    12798, 12816, 12834, 12852, 12870, 12888, 12906, 12924, 12942, 13824, 13842, 13860, 13878, 13896, 13914, 13932,
    13950, 13968, 13986, 14004, 14022, 14040, 14058, 14076, 14094, 14976, 14994, 15012, 15030, 15048, 15066, 15084,
    15102, 15120, 15138, 15156, 15174, 15192, 15210, 15228, 15246, 16128, 16146, 16164, 16182, 16200, 16218, 16236,
    16254, 16272, 16290, 16308, 16326, 16344, 16362, 16380, 16398, 17280, 17298, 17316, 17334, 17352, 17370, 17388,
    17406, 17424, 17442, 17460, 17478, 17496, 17514, 17532, 17550, 18432, 18450, 18468, 18486, 18504, 18522, 18540,
    18558, 18576, 18594, 18612, 18630, 18648, 18666, 18684, 18702, 19584, 19602, 19620, 19638, 19656, 19674, 19692,
    19710, 19728, 19746, 19764, 19782, 19800, 19818, 19836, 19854, 20736, 20754, 20772, 20790, 20808, 20826, 20844,
    20862, 20880, 20898, 20916, 20934, 20952, 20970, 20988, 21006, 21888, 21906, 21924, 21942, 21960, 21978, 21996,
    22014, 22032, 22050, 22068, 22086, 22104, 22122, 22140, 22158, 23040, 23058, 23076, 23094, 23112, 23130, 23148,
    23166, 23184, 23202, 23220, 23238, 23256, 23274, 23292, 23310, 24192, 24210, 24228, 24246, 24264, 24282, 24300,
    24318, 24336, 24354, 24372, 24390, 24408, 24426, 24444, 24462, 25344, 25362, 25380, 25398, 25416, 25434, 25452,
    25470, 25488, 25506, 25524, 25542, 25560, 25578, 25596, 25614, 26496, 26514, 26532, 26550, 26568, 26586, 26604,
    26622, 26640, 26658, 26676, 26694, 26712, 26730, 26748, 26766, 27648, 27666, 27684, 27702, 27720, 27738, 27756,
    27774, 27792, 27810, 27828, 27846, 27864, 27882, 27900, 27918, 28800, 28818, 28836, 28854, 28872, 28890, 28908,
    28926, 28944, 28962, 28980, 28998, 29016, 29034, 29052, 29070, 29952, 29970, 29988, 30006, 30024, 30042, 30060,
    30078, 30096, 30114, 30132, 30150, 30168, 30186, 30204, 30222, 31104, 31122, 31140, 31158, 31176, 31194, 31212,
    31230, 31248, 31266, 31284, 31302, 31320, 31338, 31356, 31374, 32256, 32274, 32292, 32310, 32328, 32346, 32364,
    32382, 32400, 32418, 32436, 32454, 32472, 32490, 32508, 32526, 33408, 33426, 33444, 33462, 33480, 33498, 33516,
    33534, 33552, 33570, 33588, 33606, 33624, 33642, 33660, 33678, 34560, 34578, 34596, 34614, 34632, 34650, 34668,
    34686, 34704, 34722, 34740, 34758, 34776, 34794, 34812, 34830, 35712, 35730, 35748, 35766, 35784, 35802, 35820,
    35838, 35856, 35874, 35892, 35910, 35928, 35946, 35964, 35982, 36864, 36882, 36900, 36918, 36936, 36954, 36972,
    36990, 37008, 37026, 37044, 37062, 37080, 37098, 37116, 37134, 38016, 38034, 38052, 38070, 38088, 38106, 38124,
    38142, 38160, 38178, 38196, 38214, 38232, 38250, 38268, 38286, 39168, 39186, 39204, 39222, 39240, 39258, 39276,
    39294, 39312, 39330, 39348, 39366, 39384, 39402, 39420, 39438, 40320, 40338, 40356, 40374, 40392, 40410, 40428,
    40446, 40464, 40482, 40500, 40518, 40536, 40554, 40572, 40590, 41472, 41490, 41508, 41526, 41544, 41562, 41580,
    41598, 41616, 41634, 41652, 41670, 41688, 41706, 41724, 41742, 42624, 42642, 42660, 42678, 42696, 42714, 42732,
    42750, 42768, 42786, 42804, 42822, 42840, 42858, 42876, 42894, 43776, 43794, 43812, 43830, 43848, 43866, 43884,
    43902, 43920, 43938, 43956, 43974, 43992, 44010, 44028, 44046, 44928, 44946, 44964, 44982, 45000, 45018, 45036,
    45054, 45072, 45090, 45108, 45126, 45144, 45162, 45180, 45198, 46080, 46098, 46116, 46134, 46152, 46170, 46188,
    46206, 46224, 46242, 46260, 46278, 46296, 46314, 46332, 46350, 47232, 47250, 47268, 47286, 47304, 47322, 47340,
    47358, 47376, 47394, 47412, 47430, 47448, 47466, 47484, 47502, 48384, 48402, 48420, 48438, 48456, 48474, 48492,
    48510, 48528, 48546, 48564, 48582, 48600, 48618, 48636, 48654, 49536, 49554, 49572, 49590, 49608, 49626, 49644,
    49662, 49680, 49698, 49716, 49734, 49752, 49770, 49788, 49806, 50688, 50706, 50724, 50742, 50760, 50778, 50796,
    50814, 50832, 50850, 50868, 50886, 50904, 50922, 50940, 50958, 51840, 51858, 51876, 51894, 51912, 51930, 51948,
    51966, 51984, 52002, 52020, 52038, 52056, 52074, 52092, 52110, 52992, 53010, 53028, 53046, 53064, 53082, 53100,
    53118, 53136, 53154, 53172, 53190, 53208, 53226, 53244, 53262, 54144, 54162, 54180, 54198, 54216, 54234, 54252,
    54270, 54288, 54306, 54324, 54342, 54360, 54378, 54396, 54414, 55296, 55314, 55332, 55350, 55368, 55386, 55404,
    55422, 55440, 55458, 55476, 55494, 55512, 55530, 55548, 55566, 56448, 56466, 56484, 56502, 56520, 56538, 56556,
    56574, 56592, 56610, 56628, 56646, 56664, 56682, 56700, 56718, 57600, 57618, 57636, 57654, 57672, 57690, 57708,
    57726, 57744, 57762, 57780, 57798, 57816, 57834, 57852, 57870, 58752, 58770, 58788, 58806, 58824, 58842, 58860,
    58878, 58896, 58914, 58932, 58950, 58968, 58986, 59004, 59022, 59904, 59922, 59940, 59958, 59976, 59994, 60012,
    60030, 60048, 60066, 60084, 60102, 60120, 60138, 60156, 60174, 61056, 61074, 61092, 61110, 61128, 61146, 61164,
    61182, 61200, 61218, 61236, 61254, 61272, 61290, 61308, 61326, 62208, 62226, 62244, 62262, 62280, 62298, 62316,
    62334, 62352, 62370, 62388, 62406, 62424, 62442, 62460, 62478, 63360, 63378, 63396, 63414, 63432, 63450, 63468,
    63486, 63504, 63522, 63540, 63558, 63576, 63594, 63612, 63630, 64512, 64530, 64548, 64566, 64584, 64602, 64620,
    64638, 64656, 64674, 64692, 64710, 64728, 64746, 64764, 64782, 65664, 65682, 65700, 65718, 65736, 65754, 65772,
    65790, 65808, 65826, 65844, 65862, 65880, 65898, 65916, 65934, 66816, 66834, 66852, 66870, 66888, 66906, 66924,
    66942, 66960, 66978, 66996, 67014, 67032, 67050, 67068, 67086, 67968, 67986, 68004, 68022, 68040, 68058, 68076,
    68094, 68112, 68130, 68148, 68166, 68184, 68202, 68220, 68238, 69120, 69138, 69156, 69174, 69192, 69210, 69228,
    69246, 69264, 69282, 69300, 69318, 69336, 69354, 69372, 69390, 70272, 70290, 70308, 70326, 70344, 70362, 70380,
    70398, 70416, 70434, 70452, 70470, 70488, 70506, 70524, 70542, 71424, 71442, 71460, 71478, 71496, 71514, 71532,
    71550, 71568, 71586, 71604, 71622, 71640, 71658, 71676, 71694, 72576, 72594, 72612, 72630, 72648, 72666, 72684,
    72702, 72720, 72738, 72756, 72774, 72792, 72810, 72828, 72846, 73728, 73746, 73764, 73782, 73800, 73818, 73836,
    73854, 73872, 73890, 73908, 73926, 73944, 73962, 73980, 73998, 74880, 74898, 74916, 74934, 74952, 74970, 74988,
    75006, 75024, 75042, 75060, 75078, 75096, 75114, 75132, 75150, 76032, 76050, 76068, 76086, 76104, 76122, 76140,
    76158, 76176, 76194, 76212, 76230, 76248, 76266, 76284, 76302, 77184, 77202, 77220, 77238, 77256, 77274, 77292,
    77310, 77328, 77346, 77364, 77382, 77400, 77418, 77436, 77454, 78336, 78354, 78372, 78390, 78408, 78426, 78444,
    78462, 78480, 78498, 78516, 78534, 78552, 78570, 78588, 78606, 79488, 79506, 79524, 79542, 79560, 79578, 79596,
    79614, 79632, 79650, 79668, 79686, 79704, 79722, 79740, 79758, 80640, 80658, 80676, 80694, 80712, 80730, 80748,
    80766, 80784, 80802, 80820, 80838, 80856, 80874, 80892, 80910, 81792, 81810, 81828, 81846, 81864, 81882, 81900,
    81918, 81936, 81954, 81972, 81990, 82008, 82026, 82044, 82062, 82944, 82962, 82980, 82998, 83016, 83034, 83052,
    83070, 83088, 83106, 83124, 83142, 83160, 83178, 83196, 83214, 84096, 84114, 84132, 84150, 84168, 84186, 84204,
    84222, 84240, 84258, 84276, 84294, 84312, 84330, 84348, 84366, 85248, 85266, 85284, 85302, 85320, 85338, 85356,
    85374, 85392, 85410, 85428, 85446, 85464, 85482, 85500, 85518, 86400, 86418, 86436, 86454, 86472, 86490, 86508,
    86526, 86544, 86562, 86580, 86598, 86616, 86634, 86652, 86670, 87552, 87570, 87588, 87606, 87624, 87642, 87660,
    87678, 87696, 87714, 87732, 87750, 87768, 87786, 87804, 87822, 88704, 88722, 88740, 88758, 88776, 88794, 88812,
    88830, 88848, 88866, 88884, 88902, 88920, 88938, 88956, 88974, 89856, 89874, 89892, 89910, 89928, 89946, 89964,
    89982, 90000, 90018, 90036, 90054, 90072, 90090, 90108, 90126, 91008, 91026, 91044, 91062, 91080, 91098, 91116,
    91134, 91152, 91170, 91188, 91206, 91224, 91242, 91260, 91278, 92160, 92178, 92196, 92214, 92232, 92250, 92268,
    92286, 92304, 92322, 92340, 92358, 92376, 92394, 92412, 92430, 93312, 93330, 93348, 93366, 93384, 93402, 93420,
    93438, 93456, 93474, 93492, 93510, 93528, 93546, 93564, 93582, 94464, 94482, 94500, 94518, 94536, 94554, 94572,
    94590, 94608, 94626, 94644, 94662, 94680, 94698, 94716, 94734, 95616, 95634, 95652, 95670, 95688, 95706, 95724,
    95742, 95760, 95778, 95796, 95814, 95832, 95850, 95868, 95886, 96768, 96786, 96804, 96822, 96840, 96858, 96876,
    96894, 96912, 96930, 96948, 96966, 96984, 97002, 97020, 97038, 97920, 97938, 97956, 97974, 97992, 98010, 98028,
    98046, 98064, 98082, 98100, 98118, 98136, 98154, 98172, 98190, 99072, 99090, 99108, 99126, 99144, 99162, 99180,
    99198, 99216, 99234, 99252, 99270, 99288, 99306, 99324, 99342, 100224, 100242, 100260, 100278, 100296, 100314, 100332,
    100350, 100368, 100386, 100404, 100422, 100440, 100458, 100476, 100494, 101376, 101394, 101412, 101430, 101448, 101466, 101484,
    101502, 101520, 101538, 101556, 101574, 101592, 101610, 101628, 101646, 102528, 102546, 102564, 102582, 102600, 102618, 102636,
    102654, 102672, 102690, 102708, 102726, 102744, 102762, 102780, 102798, 103680, 103698, 103716, 103734, 103752, 103770, 103788,
    103806, 103824, 103842, 103860, 103878, 103896, 103914, 103932, 103950, 104832, 104850, 104868, 104886, 104904, 104922, 104940,
    104958, 104976, 104994, 105012, 105030, 105048, 105066, 105084, 105102, 105984, 106002, 106020, 106038, 106056, 106074, 106092,
    106110, 106128, 106146, 106164, 106182, 106200, 106218, 106236, 106254, 107136, 107154, 107172, 107190, 107208, 107226, 107244,
    107262, 107280, 107298, 107316, 107334, 107352, 107370, 107388, 107406, 108288, 108306, 108324, 108342, 108360, 108378, 108396,
    108414, 108432, 108450, 108468, 108486, 108504, 108522, 108540, 108558, 109440, 109458, 109476, 109494, 109512, 109530, 109548,
    109566, 109584, 109602, 109620, 109638, 109656, 109674, 109692, 109710, 110592, 110610, 110628, 110646, 110664, 110682, 110700,
    110718, 110736, 110754, 110772, 110790, 110808, 110826, 110844, 110862, 111744, 111762, 111780, 111798, 111816, 111834, 111852,
    111870, 111888, 111906, 111924, 111942, 111960, 111978, 111996, 112014, 112896, 112914, 112932, 112950, 112968, 112986, 113004,
    113022, 113040, 113058, 113076, 113094, 113112, 113130, 113148, 113166, 114048, 114066, 114084, 114102, 114120, 114138, 114156,
    114174, 114192, 114210, 114228, 114246, 114264, 114282, 114300, 114318, 115200, 115218, 115236, 115254, 115272, 115290, 115308,
    115326, 115344, 115362, 115380, 115398, 115416, 115434, 115452, 115470, 116352, 116370, 116388, 116406, 116424, 116442, 116460,
    116478, 116496, 116514, 116532, 116550, 116568, 116586, 116604, 116622, 117504, 117522, 117540, 117558, 117576, 117594, 117612,
    117630, 117648, 117666, 117684, 117702, 117720, 117738, 117756, 117774, 118656, 118674, 118692, 118710, 118728, 118746, 118764,
    118782, 118800, 118818, 118836, 118854, 118872, 118890, 118908, 118926, 119808, 119826, 119844, 119862, 119880, 119898, 119916,
    119934, 119952, 119970, 119988, 120006, 120024, 120042, 120060, 120078, 120960, 120978, 120996, 121014, 121032, 121050, 121068,
    121086, 121104, 121122, 121140, 121158, 121176, 121194, 121212, 121230, 122112, 122130, 122148, 122166, 122184, 122202, 122220,
    122238, 122256, 122274, 122292, 122310, 122328, 122346, 122364, 122382, 123264, 123282, 123300, 123318, 123336, 123354, 123372,
    123390, 123408, 123426, 123444, 123462, 123480, 123498, 123516, 123534, 124416, 124434, 124452, 124470, 124488, 124506, 124524,
    124542, 124560, 124578, 124596, 124614, 124632, 124650, 124668, 124686, 125568, 125586, 125604, 125622, 125640, 125658, 125676,
    125694, 125712, 125730, 125748, 125766, 125784, 125802, 125820, 125838, 126720, 126738, 126756, 126774, 126792, 126810, 126828,
    126846, 126864, 126882, 126900, 126918, 126936, 126954, 126972, 126990, 127872, 127890, 127908, 127926, 127944, 127962, 127980,
    127998, 128016, 128034, 128052, 128070, 128088, 128106, 128124, 128142, 129024, 129042, 129060, 129078, 129096, 129114, 129132,
    129150, 129168, 129186, 129204, 129222, 129240, 129258, 129276, 129294, 130176, 130194, 130212, 130230, 130248, 130266, 130284,
    130302, 130320, 130338, 130356, 130374, 130392, 130410, 130428, 130446, 131328, 131346, 131364, 131382, 131400, 131418, 131436,
    131454, 131472, 131490, 131508, 131526, 131544, 131562, 131580, 131598, 132480, 132498, 132516, 132534, 132552, 132570, 132588,
    132606, 132624, 132642, 132660, 132678, 132696, 132714, 132732, 132750, 133632, 133650, 133668, 133686, 133704, 133722, 133740,
    133758, 133776, 133794, 133812, 133830, 133848, 133866, 133884, 133902, 134784, 134802, 134820, 134838, 134856, 134874, 134892,
    134910, 134928, 134946, 134964, 134982, 135000, 135018, 135036, 135054, 135936, 135954, 135972, 135990, 136008, 136026, 136044,
    136062, 136080, 136098, 136116, 136134, 136152, 136170, 136188, 136206, 137088, 137106, 137124, 137142, 137160, 137178, 137196,
    137214, 137232, 137250, 137268, 137286, 137304, 137322, 137340, 137358, 138240, 138258, 138276, 138294, 138312, 138330, 138348,
    138366, 138384, 138402, 138420, 138438, 138456, 138474, 138492, 138510, 139392, 139410, 139428, 139446, 139464, 139482, 139500,
    139518, 139536, 139554, 139572, 139590, 139608, 139626, 139644, 139662, 140544, 140562, 140580, 140598, 140616, 140634, 140652,
    140670, 140688, 140706, 140724, 140742, 140760, 140778, 140796, 140814, 141696, 141714, 141732, 141750, 141768, 141786, 141804,
    141822, 141840, 141858, 141876, 141894, 141912, 141930, 141948, 141966, 142848, 142866, 142884, 142902, 142920, 142938, 142956,
    142974, 142992, 143010, 143028, 143046, 143064, 143082, 143100, 143118, 144000, 144018, 144036, 144054, 144072, 144090, 144108,
    144126, 144144, 144162, 144180, 144198, 144216, 144234, 144252, 144270, 145152, 145170, 145188, 145206, 145224, 145242, 145260,
    145278, 145296, 145314, 145332, 145350, 145368, 145386, 145404, 145422, 146304, 146322, 146340, 146358, 146376, 146394, 146412,
    146430, 146448, 146466, 146484, 146502, 146520, 146538, 146556, 146574, 0, 0, 36864, 288, 73728, 576, 110592,
    864, 0
};
/* src: 147456 bytes, dst: 147456 bytes; they do not overlap */
void
nchw_to_fractal_z_f16(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* N=0..127 C=0..63 H=0..2 W=0..2: composite2 */
    ravel_composite2(dst, src, nchw_to_fractal_z_f16_table0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0x0u, 2);
}
