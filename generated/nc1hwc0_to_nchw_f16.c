/* ravel emit --from NC1HWC0 --to NCHW --shape 8,71,56,56 --dtype f16 --name nc1hwc0_to_nchw_f16
 * src NC1HWC0: 250880*N + 50176*(C//16) + 896*H + 16*W + C%16
 *     f16, N=8 C=71 H=56 W=56 in 2007040 elements, 4014080 bytes
 * dst NCHW: 222656*N + 3136*C + 56*H + W
 *     f16, N=8 C=71 H=56 W=56 in 1781248 elements, 3562496 bytes
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
void nc1hwc0_to_nchw_f16_part(void *dst, const void *src, int64_t part, int64_t parts);
void nc1hwc0_to_nchw_f16(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t nc1hwc0_to_nchw_f16_table1[3161] = {
    1568, 1, 1, 2, 7, 1568, 1, 0, 3136, 0, 1568, 14, 0, 0, 50158, 50144,
    0, 6272, 12544, 18816, 25088, 31360, 37632, 0, 32, 64, 96, 128, 160, 192, 224, 256,
    288, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 672, 704, 736, 768,
    800, 832, 864, 896, 928, 960, 992, 1024, 1056, 1088, 1120, 1152, 1184, 1216, 1248, 1280,
    1312, 1344, 1376, 1408, 1440, 1472, 1504, 1536, 1568, 1600, 1632, 1664, 1696, 1728, 1760, 1792,
    1824, 1856, 1888, 1920, 1952, 1984, 2016, 2048, 2080, 2112, 2144, 2176, 2208, 2240, 2272, 2304,
    2336, 2368, 2400, 2432, 2464, 2496, 2528, 2560, 2592, 2624, 2656, 2688, 2720, 2752, 2784, 2816,
    2848, 2880, 2912, 2944, 2976, 3008, 3040, 3072, 3104, 3136, 3168, 3200, 3232, 3264, 3296, 3328,
    3360, 3392, 3424, 3456, 3488, 3520, 3552, 3584, 3616, 3648, 3680, 3712, 3744, 3776, 3808, 3840,
    3872, 3904, 3936, 3968, 4000, 4032, 4064, 4096, 4128, 4160, 4192, 4224, 4256, 4288, 4320, 4352,
    4384, 4416, 4448, 4480, 4512, 4544, 4576, 4608, 4640, 4672, 4704, 4736, 4768, 4800, 4832, 4864,
    4896, 4928, 4960, 4992, 5024, 5056, 5088, 5120, 5152, 5184, 5216, 5248, 5280, 5312, 5344, 5376,
    5408, 5440, 5472, 5504, 5536, 5568, 5600, 5632, 5664, 5696, 5728, 5760, 5792, 5824, 5856, 5888,
    5920, 5952, 5984, 6016, 6048, 6080, 6112, 6144, 6176, 6208, 6240, 6272, 6304, 6336, 6368, 6400,
    6432, 6464, 6496, 6528, 6560, 6592, 6624, 6656, 6688, 6720, 6752, 6784, 6816, 6848, 6880, 6912,
    6944, 6976, 7008, 7040, 7072, 7104, 7136, 7168, 7200, 7232, 7264, 7296, 7328, 7360, 7392, 7424,
    7456, 7488, 7520, 7552, 7584, 7616, 7648, 7680, 7712, 7744, 7776, 7808, 7840, 7872, 7904, 7936,
    7968, 8000, 8032, 8064, 8096, 8128, 8160, 8192, 8224, 8256, 8288, 8320, 8352, 8384, 8416, 8448,
    8480, 8512, 8544, 8576, 8608, 8640, 8672, 8704, 8736, 8768, 8800, 8832, 8864, 8896, 8928, 8960,
    8992, 9024, 9056, 9088, 9120, 9152, 9184, 9216, 9248, 9280, 9312, 9344, 9376, 9408, 9440, 9472,
    9504, 9536, 9568, 9600, 9632, 9664, 9696, 9728, 9760, 9792, 9824, 9856, 9888, 9920, 9952, 9984,
    10016, 10048, 10080, 10112, 10144, 10176, 10208, 10240, 10272, 10304, 10336, 10368, 10400, 10432, 10464, 10496,
    10528, 10560, 10592, 10624, 10656, 10688, 10720, 10752, 10784, 10816, 10848, 10880, 10912, 10944, 10976, 11008,
    11040, 11072, 11104, 11136, 11168, 11200, 11232, 11264, 11296, 11328, 11360, 11392, 11424, 11456, 11488, 11520,
    11552, 11584, 11616, 11648, 11680, 11712, 11744, 11776, 11808, 11840, 11872, 11904, 11936, 11968, 12000, 12032,
    12064, 12096, 12128, 12160, 12192, 12224, 12256, 12288, 12320, 12352, 12384, 12416, 12448, 12480, 12512, 12544,
    12576, 12608, 12640, 12672, 12704, 12736, 12768, 12800, 12832, 12864, 12896, 12928, 12960, 12992, 13024, 13056,
    13088, 13120, 13152, 13184, 13216, 13248, 13280, 13312, 13344, 13376, 13408, 13440, 13472, 13504, 13536, 13568,
    13600, 13632, 13664, 13696, 13728, 13760, 13792, 13824, 13856, 13888, 13920, 13952, 13984, 14016, 14048, 14080,
    14112, 14144, 14176, 14208, 14240, 14272, 14304, 14336, 14368, 14400, 14432, 14464, 14496, 14528, 14560, 14592,
    14624, 14656, 14688, 14720, 14752, 14784, 14816, 14848, 14880, 14912, 14944, 14976, 15008, 15040, 15072, 15104,
    15136, 15168, 15200, 15232, 15264, 15296, 15328, 15360, 15392, 15424, 15456, 15488, 15520, 15552, 15584, 15616,
    15648, 15680, 15712, 15744, 15776, 15808, 15840, 15872, 15904, 15936, 15968, 16000, 16032, 16064, 16096, 16128,
    16160, 16192, 16224, 16256, 16288, 16320, 16352, 16384, 16416, 16448, 16480, 16512, 16544, 16576, 16608, 16640,
    16672, 16704, 16736, 16768, 16800, 16832, 16864, 16896, 16928, 16960, 16992, 17024, 17056, 17088, 17120, 17152,
    17184, 17216, 17248, 17280, 17312, 17344, 17376, 17408, 17440, 17472, 17504, 17536, 17568, 17600, 17632, 17664,
    17696, 17728, 17760, 17792, 17824, 17856, 17888, 17920, 17952, 17984, 18016, 18048, 18080, 18112, 18144, 18176,
    18208, 18240, 18272, 18304, 18336, 18368, 18400, 18432, 18464, 18496, 18528, 18560, 18592, 18624, 18656, 18688,
    18720, 18752, 18784, 18816, 18848, 18880, 18912, 18944, 18976, 19008, 19040, 19072, 19104, 19136, 19168, 19200,
    19232, 19264, 19296, 19328, 19360, 19392, 19424, 19456, 19488, 19520, 19552, 19584, 19616, 19648, 19680, 19712,
    19744, 19776, 19808, 19840, 19872, 19904, 19936, 19968, 20000, 20032, 20064, 20096, 20128, 20160, 20192, 20224,
    20256, 20288, 20320, 20352, 20384, 20416, 20448, 20480, 20512, 20544, 20576, 20608, 20640, 20672, 20704, 20736,
    20768, 20800, 20832, 20864, 20896, 20928, 20960, 20992, 21024, 21056, 21088, 21120, 21152, 21184, 21216, 21248,
    21280, 21312, 21344, 21376, 21408, 21440, 21472, 21504, 21536, 21568, 21600, 21632, 21664, 21696, 21728, 21760,
    21792, 21824, 21856, 21888, 21920, 21952, 21984, 22016, 22048, 22080, 22112, 22144, 22176, 22208, 22240, 22272,
    22304, 22336, 22368, 22400, 22432, 22464, 22496, 22528, 22560, 22592, 22624, 22656, 22688, 22720, 22752, 22784,
    22816, 22848, 22880, 22912, 22944, 22976, 23008, 23040, 23072, 23104, 23136, 23168, 23200, 23232, 23264, 23296,
    23328, 23360, 23392, 23424, 23456, 23488, 23520, 23552, 23584, 23616, 23648, 23680, 23712, 23744, 23776, 23808,
    23840, 23872, 23904, 23936, 23968, 24000, 24032, 24064, 24096, 24128, 24160, 24192, 24224, 24256, 24288, 24320,
    24352, 24384, 24416, 24448, 24480, 24512, 24544, 24576, 24608, 24640, 24672, 24704, 24736, 24768, 24800, 24832,
    24864, 24896, 24928, 24960, 24992, 25024, 25056, 25088, 25120, 25152, 25184, 25216, 25248, 25280, 25312, 25344,
    25376, 25408, 25440, 25472, 25504, 25536, 25568, 25600, 25632, 25664, 25696, 25728, 25760, 25792, 25824, 25856,
    25888, 25920, 25952, 25984, 26016, 26048, 26080, 26112, 26144, 26176, 26208, 26240, 26272, 26304, 26336, 26368,
    26400, 26432, 26464, 26496, 26528, 26560, 26592, 26624, 26656, 26688, 26720, 26752, 26784, 26816, 26848, 26880,
    26912, 26944, 26976, 27008, 27040, 27072, 27104, 27136, 27168, 27200, 27232, 27264, 27296, 27328, 27360, 27392,
    27424, 27456, 27488, 27520, 27552, 27584, 27616, 27648, 27680, 27712, 27744, 27776, 27808, 27840, 27872, 27904,
    27936, 27968, 28000, 28032, 28064, 28096, 28128, 28160, 28192, 28224, 28256, 28288, 28320, 28352, 28384, 28416,
    28448, 28480, 28512, 28544, 28576, 28608, 28640, 28672, 28704, 28736, 28768, 28800, 28832, 28864, 28896, 28928,
    28960, 28992, 29024, 29056, 29088, 29120, 29152, 29184, 29216, 29248, 29280, 29312, 29344, 29376, 29408, 29440,
    29472, 29504, 29536, 29568, 29600, 29632, 29664, 29696, 29728, 29760, 29792, 29824, 29856, 29888, 29920, 29952,
    29984, 30016, 30048, 30080, 30112, 30144, 30176, 30208, 30240, 30272, 30304, 30336, 30368, 30400, 30432, 30464,
    30496, 30528, 30560, 30592, 30624, 30656, 30688, 30720, 30752, 30784, 30816, 30848, 30880, 30912, 30944, 30976,
    31008, 31040, 31072, 31104, 31136, 31168, 31200, 31232, 31264, 31296, 31328, 31360, 31392, 31424, 31456, 31488,
    31520, 31552, 31584, 31616, 31648, 31680, 31712, 31744, 31776, 31808, 31840, 31872, 31904, 31936, 31968, 32000,
    32032, 32064, 32096, 32128, 32160, 32192, 32224, 32256, 32288, 32320, 32352, 32384, 32416, 32448, 32480, 32512,
    32544, 32576, 32608, 32640, 32672, 32704, 32736, 32768, 32800, 32832, 32864, 32896, 32928, 32960, 32992, 33024,
    33056, 33088, 33120, 33152, 33184, 33216, 33248, 33280, 33312, 33344, 33376, 33408, 33440, 33472, 33504, 33536,
    33568, 33600, 33632, 33664, 33696, 33728, 33760, 33792, 33824, 33856, 33888, 33920, 33952, 33984, 34016, 34048,
    34080, 34112, 34144, 34176, 34208, 34240, 34272, 34304, 34336, 34368, 34400, 34432, 34464, 34496, 34528, 34560,
    34592, 34624, 34656, 34688, 34720, 34752, 34784, 34816, 34848, 34880, 34912, 34944, 34976, 35008, 35040, 35072,
    35104, 35136, 35168, 35200, 35232, 35264, 35296, 35328, 35360, 35392, 35424, 35456, 35488, 35520, 35552, 35584,
    35616, 35648, 35680, 35712, 35744, 35776, 35808, 35840, 35872, 35904, 35936, 35968, 36000, 36032, 36064, 36096,
    36128, 36160, 36192, 36224, 36256, 36288, 36320, 36352, 36384, 36416, 36448, 36480, 36512, 36544, 36576, 36608,
    36640, 36672, 36704, 36736, 36768, 36800, 36832, 36864, 36896, 36928, 36960, 36992, 37024, 37056, 37088, 37120,
    37152, 37184, 37216, 37248, 37280, 37312, 37344, 37376, 37408, 37440, 37472, 37504, 37536, 37568, 37600, 37632,
    37664, 37696, 37728, 37760, 37792, 37824, 37856, 37888, 37920, 37952, 37984, 38016, 38048, 38080, 38112, 38144,
    38176, 38208, 38240, 38272, 38304, 38336, 38368, 38400, 38432, 38464, 38496, 38528, 38560, 38592, 38624, 38656,
    38688, 38720, 38752, 38784, 38816, 38848, 38880, 38912, 38944, 38976, 39008, 39040, 39072, 39104, 39136, 39168,
    39200, 39232, 39264, 39296, 39328, 39360, 39392, 39424, 39456, 39488, 39520, 39552, 39584, 39616, 39648, 39680,
    39712, 39744, 39776, 39808, 39840, 39872, 39904, 39936, 39968, 40000, 40032, 40064, 40096, 40128, 40160, 40192,
    40224, 40256, 40288, 40320, 40352, 40384, 40416, 40448, 40480, 40512, 40544, 40576, 40608, 40640, 40672, 40704,
    40736, 40768, 40800, 40832, 40864, 40896, 40928, 40960, 40992, 41024, 41056, 41088, 41120, 41152, 41184, 41216,
    41248, 41280, 41312, 41344, 41376, 41408, 41440, 41472, 41504, 41536, 41568, 41600, 41632, 41664, 41696, 41728,
    41760, 41792, 41824, 41856, 41888, 41920, 41952, 41984, 42016, 42048, 42080, 42112, 42144, 42176, 42208, 42240,
    42272, 42304, 42336, 42368, 42400, 42432, 42464, 42496, 42528, 42560, 42592, 42624, 42656, 42688, 42720, 42752,
    42784, 42816, 42848, 42880, 42912, 42944, 42976, 43008, 43040, 43072, 43104, 43136, 43168, 43200, 43232, 43264,
    43296, 43328, 43360, 43392, 43424, 43456, 43488, 43520, 43552, 43584, 43616, 43648, 43680, 43712, 43744, 43776,
    43808, 43840, 43872, 43904, 43936, 43968, 44000, 44032, 44064, 44096, 44128, 44160, 44192, 44224, 44256, 44288,
    44320, 44352, 44384, 44416, 44448, 44480, 44512, 44544, 44576, 44608, 44640, 44672, 44704, 44736, 44768, 44800,
    44832, 44864, 44896, 44928, 44960, 44992, 45024, 45056, 45088, 45120, 45152, 45184, 45216, 45248, 45280, 45312,
    45344, 45376, 45408, 45440, 45472, 45504, 45536, 45568, 45600, 45632, 45664, 45696, 45728, 45760, 45792, 45824,
    45856, 45888, 45920, 45952, 45984, 46016, 46048, 46080, 46112, 46144, 46176, 46208, 46240, 46272, 46304, 46336,
    46368, 46400, 46432, 46464, 46496, 46528, 46560, 46592, 46624, 46656, 46688, 46720, 46752, 46784, 46816, 46848,
    46880, 46912, 46944, 46976, 47008, 47040, 47072, 47104, 47136, 47168, 47200, 47232, 47264, 47296, 47328, 47360,
    47392, 47424, 47456, 47488, 47520, 47552, 47584, 47616, 47648, 47680, 47712, 47744, 47776, 47808, 47840, 47872,
    47904, 47936, 47968, 48000, 48032, 48064, 48096, 48128, 48160, 48192, 48224, 48256, 48288, 48320, 48352, 48384,
    48416, 48448, 48480, 48512, 48544, 48576, 48608, 48640, 48672, 48704, 48736, 48768, 48800, 48832, 48864, 48896,
    48928, 48960, 48992, 49024, 49056, 49088, 49120, 49152, 49184, 49216, 49248, 49280, 49312, 49344, 49376, 49408,
    49440, 49472, 49504, 49536, 49568, 49600, 49632, 49664, 49696, 49728, 49760, 49792, 49824, 49856, 49888, 49920,
    49952, 49984, 50016, 50048, 50080, 50112, 50144, 0, 0, 0, 32, 64, 96, 128, 160, 192,
    224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 672, 704,
    736, 768, 800, 832, 864, 896, 928, 960, 992, 1024, 1056, 1088, 1120, 1152, 1184, 1216,
    1248, 1280, 1312, 1344, 1376, 1408, 1440, 1472, 1504, 1536, 1568, 1600, 1632, 1664, 1696, 1728,
    1760, 1792, 1824, 1856, 1888, 1920, 1952, 1984, 2016, 2048, 2080, 2112, 2144, 2176, 2208, 2240,
    2272, 2304, 2336, 2368, 2400, 2432, 2464, 2496, 2528, 2560, 2592, 2624, 2656, 2688, 2720, 2752,
    2784, 2816, 2848, 2880, 2912, 2944, 2976, 3008, 3040, 3072, 3104, 3136, 3168, 3200, 3232, 3264,
    3296, 3328, 3360, 3392, 3424, 3456, 3488, 3520, 3552, 3584, 3616, 3648, 3680, 3712, 3744, 3776,
    3808, 3840, 3872, 3904, 3936, 3968, 4000, 4032, 4064, 4096, 4128, 4160, 4192, 4224, 4256, 4288,
    4320, 4352, 4384, 4416, 4448, 4480, 4512, 4544, 4576, 4608, 4640, 4672, 4704, 4736, 4768, 4800,
    4832, 4864, 4896, 4928, 4960, 4992, 5024, 5056, 5088, 5120, 5152, 5184, 5216, 5248, 5280, 5312,
    5344, 5376, 5408, 5440, 5472, 5504, 5536, 5568, 5600, 5632, 5664, 5696, 5728, 5760, 5792, 5824,
    5856, 5888, 5920, 5952, 5984, 6016, 6048, 6080, 6112, 6144, 6176, 6208, 6240, 6272, 6304, 6336,
    6368, 6400, 6432, 6464, 6496, 6528, 6560, 6592, 6624, 6656, 6688, 6720, 6752, 6784, 6816, 6848,
    6880, 6912, 6944, 6976, 7008, 7040, 7072, 7104, 7136, 7168, 7200, 7232, 7264, 7296, 7328, 7360,
    7392, 7424, 7456, 7488, 7520, 7552, 7584, 7616, 7648, 7680, 7712, 7744, 7776, 7808, 7840, 7872,
    7904, 7936, 7968, 8000, 8032, 8064, 8096, 8128, 8160, 8192, 8224, 8256, 8288, 8320, 8352, 8384,
    8416, 8448, 8480, 8512, 8544, 8576, 8608, 8640, 8672, 8704, 8736, 8768, 8800, 8832, 8864, 8896,
    8928, 8960, 8992, 9024, 9056, 9088, 9120, 9152, 9184, 9216, 9248, 9280, 9312, 9344, 9376, 9408,
    9440, 9472, 9504, 9536, 9568, 9600, 9632, 9664, 9696, 9728, 9760, 9792, 9824, 9856, 9888, 9920,
    9952, 9984, 10016, 10048, 10080, 10112, 10144, 10176, 10208, 10240, 10272, 10304, 10336, 10368, 10400, 10432,
    10464, 10496, 10528, 10560, 10592, 10624, 10656, 10688, 10720, 10752, 10784, 10816, 10848, 10880, 10912, 10944,
    10976, 11008, 11040, 11072, 11104, 11136, 11168, 11200, 11232, 11264, 11296, 11328, 11360, 11392, 11424, 11456,
    11488, 11520, 11552, 11584, 11616, 11648, 11680, 11712, 11744, 11776, 11808, 11840, 11872, 11904, 11936, 11968,
    12000, 12032, 12064, 12096, 12128, 12160, 12192, 12224, 12256, 12288, 12320, 12352, 12384, 12416, 12448, 12480,
    12512, 12544, 12576, 12608, 12640, 12672, 12704, 12736, 12768, 12800, 12832, 12864, 12896, 12928, 12960, 12992,
    13024, 13056, 13088, 13120, 13152, 13184, 13216, 13248, 13280, 13312, 13344, 13376, 13408, 13440, 13472, 13504,
    13536, 13568, 13600, 13632, 13664, 13696, 13728, 13760, 13792, 13824, 13856, 13888, 13920, 13952, 13984, 14016,
    14048, 14080, 14112, 14144, 14176, 14208, 14240, 14272, 14304, 14336, 14368, 14400, 14432, 14464, 14496, 14528,
    14560, 14592, 14624, 14656, 14688, 14720, 14752, 14784, 14816, 14848, 14880, 14912, 14944, 14976, 15008, 15040,
    15072, 15104, 15136, 15168, 15200, 15232, 15264, 15296, 15328, 15360, 15392, 15424, 15456, 15488, 15520, 15552,
    15584, 15616, 15648, 15680, 15712, 15744, 15776, 15808, 15840, 15872, 15904, 15936, 15968, 16000, 16032, 16064,
    16096, 16128, 16160, 16192, 16224, 16256, 16288, 16320, 16352, 16384, 16416, 16448, 16480, 16512, 16544, 16576,
    16608, 16640, 16672, 16704, 16736, 16768, 16800, 16832, 16864, 16896, 16928, 16960, 16992, 17024, 17056, 17088,
    17120, 17152, 17184, 17216, 17248, 17280, 17312, 17344, 17376, 17408, 17440, 17472, 17504, 17536, 17568, 17600,
    17632, 17664, 17696, 17728, 17760, 17792, 17824, 17856, 17888, 17920, 17952, 17984, 18016, 18048, 18080, 18112,
    18144, 18176, 18208, 18240, 18272, 18304, 18336, 18368, 18400, 18432, 18464, 18496, 18528, 18560, 18592, 18624,
    18656, 18688, 18720, 18752, 18784, 18816, 18848, 18880, 18912, 18944, 18976, 19008, 19040, 19072, 19104, 19136,
    19168, 19200, 19232, 19264, 19296, 19328, 19360, 19392, 19424, 19456, 19488, 19520, 19552, 19584, 19616, 19648,
    19680, 19712, 19744, 19776, 19808, 19840, 19872, 19904, 19936, 19968, 20000, 20032, 20064, 20096, 20128, 20160,
    20192, 20224, 20256, 20288, 20320, 20352, 20384, 20416, 20448, 20480, 20512, 20544, 20576, 20608, 20640, 20672,
    20704, 20736, 20768, 20800, 20832, 20864, 20896, 20928, 20960, 20992, 21024, 21056, 21088, 21120, 21152, 21184,
    21216, 21248, 21280, 21312, 21344, 21376, 21408, 21440, 21472, 21504, 21536, 21568, 21600, 21632, 21664, 21696,
    21728, 21760, 21792, 21824, 21856, 21888, 21920, 21952, 21984, 22016, 22048, 22080, 22112, 22144, 22176, 22208,
    22240, 22272, 22304, 22336, 22368, 22400, 22432, 22464, 22496, 22528, 22560, 22592, 22624, 22656, 22688, 22720,
    22752, 22784, 22816, 22848, 22880, 22912, 22944, 22976, 23008, 23040, 23072, 23104, 23136, 23168, 23200, 23232,
    23264, 23296, 23328, 23360, 23392, 23424, 23456, 23488, 23520, 23552, 23584, 23616, 23648, 23680, 23712, 23744,
    23776, 23808, 23840, 23872, 23904, 23936, 23968, 24000, 24032, 24064, 24096, 24128, 24160, 24192, 24224, 24256,
    24288, 24320, 24352, 24384, 24416, 24448, 24480, 24512, 24544, 24576, 24608, 24640, 24672, 24704, 24736, 24768,
    24800, 24832, 24864, 24896, 24928, 24960, 24992, 25024, 25056, 25088, 25120, 25152, 25184, 25216, 25248, 25280,
    25312, 25344, 25376, 25408, 25440, 25472, 25504, 25536, 25568, 25600, 25632, 25664, 25696, 25728, 25760, 25792,
    25824, 25856, 25888, 25920, 25952, 25984, 26016, 26048, 26080, 26112, 26144, 26176, 26208, 26240, 26272, 26304,
    26336, 26368, 26400, 26432, 26464, 26496, 26528, 26560, 26592, 26624, 26656, 26688, 26720, 26752, 26784, 26816,
    26848, 26880, 26912, 26944, 26976, 27008, 27040, 27072, 27104, 27136, 27168, 27200, 27232, 27264, 27296, 27328,
    27360, 27392, 27424, 27456, 27488, 27520, 27552, 27584, 27616, 27648, 27680, 27712, 27744, 27776, 27808, 27840,
    27872, 27904, 27936, 27968, 28000, 28032, 28064, 28096, 28128, 28160, 28192, 28224, 28256, 28288, 28320, 28352,
    28384, 28416, 28448, 28480, 28512, 28544, 28576, 28608, 28640, 28672, 28704, 28736, 28768, 28800, 28832, 28864,
    28896, 28928, 28960, 28992, 29024, 29056, 29088, 29120, 29152, 29184, 29216, 29248, 29280, 29312, 29344, 29376,
    29408, 29440, 29472, 29504, 29536, 29568, 29600, 29632, 29664, 29696, 29728, 29760, 29792, 29824, 29856, 29888,
    29920, 29952, 29984, 30016, 30048, 30080, 30112, 30144, 30176, 30208, 30240, 30272, 30304, 30336, 30368, 30400,
    30432, 30464, 30496, 30528, 30560, 30592, 30624, 30656, 30688, 30720, 30752, 30784, 30816, 30848, 30880, 30912,
    30944, 30976, 31008, 31040, 31072, 31104, 31136, 31168, 31200, 31232, 31264, 31296, 31328, 31360, 31392, 31424,
    31456, 31488, 31520, 31552, 31584, 31616, 31648, 31680, 31712, 31744, 31776, 31808, 31840, 31872, 31904, 31936,
    31968, 32000, 32032, 32064, 32096, 32128, 32160, 32192, 32224, 32256, 32288, 32320, 32352, 32384, 32416, 32448,
    32480, 32512, 32544, 32576, 32608, 32640, 32672, 32704, 32736, 32768, 32800, 32832, 32864, 32896, 32928, 32960,
    32992, 33024, 33056, 33088, 33120, 33152, 33184, 33216, 33248, 33280, 33312, 33344, 33376, 33408, 33440, 33472,
    33504, 33536, 33568, 33600, 33632, 33664, 33696, 33728, 33760, 33792, 33824, 33856, 33888, 33920, 33952, 33984,
    34016, 34048, 34080, 34112, 34144, 34176, 34208, 34240, 34272, 34304, 34336, 34368, 34400, 34432, 34464, 34496,
    34528, 34560, 34592, 34624, 34656, 34688, 34720, 34752, 34784, 34816, 34848, 34880, 34912, 34944, 34976, 35008,
    35040, 35072, 35104, 35136, 35168, 35200, 35232, 35264, 35296, 35328, 35360, 35392, 35424, 35456, 35488, 35520,
    35552, 35584, 35616, 35648, 35680, 35712, 35744, 35776, 35808, 35840, 35872, 35904, 35936, 35968, 36000, 36032,
    36064, 36096, 36128, 36160, 36192, 36224, 36256, 36288, 36320, 36352, 36384, 36416, 36448, 36480, 36512, 36544,
    36576, 36608, 36640, 36672, 36704, 36736, 36768, 36800, 36832, 36864, 36896, 36928, 36960, 36992, 37024, 37056,
    37088, 37120, 37152, 37184, 37216, 37248, 37280, 37312, 37344, 37376, 37408, 37440, 37472, 37504, 37536, 37568,
    37600, 37632, 37664, 37696, 37728, 37760, 37792, 37824, 37856, 37888, 37920, 37952, 37984, 38016, 38048, 38080,
    38112, 38144, 38176, 38208, 38240, 38272, 38304, 38336, 38368, 38400, 38432, 38464, 38496, 38528, 38560, 38592,
    38624, 38656, 38688, 38720, 38752, 38784, 38816, 38848, 38880, 38912, 38944, 38976, 39008, 39040, 39072, 39104,
    39136, 39168, 39200, 39232, 39264, 39296, 39328, 39360, 39392, 39424, 39456, 39488, 39520, 39552, 39584, 39616,
    39648, 39680, 39712, 39744, 39776, 39808, 39840, 39872, 39904, 39936, 39968, 40000, 40032, 40064, 40096, 40128,
    40160, 40192, 40224, 40256, 40288, 40320, 40352, 40384, 40416, 40448, 40480, 40512, 40544, 40576, 40608, 40640,
    40672, 40704, 40736, 40768, 40800, 40832, 40864, 40896, 40928, 40960, 40992, 41024, 41056, 41088, 41120, 41152,
    41184, 41216, 41248, 41280, 41312, 41344, 41376, 41408, 41440, 41472, 41504, 41536, 41568, 41600, 41632, 41664,
    41696, 41728, 41760, 41792, 41824, 41856, 41888, 41920, 41952, 41984, 42016, 42048, 42080, 42112, 42144, 42176,
    42208, 42240, 42272, 42304, 42336, 42368, 42400, 42432, 42464, 42496, 42528, 42560, 42592, 42624, 42656, 42688,
    42720, 42752, 42784, 42816, 42848, 42880, 42912, 42944, 42976, 43008, 43040, 43072, 43104, 43136, 43168, 43200,
    43232, 43264, 43296, 43328, 43360, 43392, 43424, 43456, 43488, 43520, 43552, 43584, 43616, 43648, 43680, 43712,
    43744, 43776, 43808, 43840, 43872, 43904, 43936, 43968, 44000, 44032, 44064, 44096, 44128, 44160, 44192, 44224,
    44256, 44288, 44320, 44352, 44384, 44416, 44448, 44480, 44512, 44544, 44576, 44608, 44640, 44672, 44704, 44736,
    44768, 44800, 44832, 44864, 44896, 44928, 44960, 44992, 45024, 45056, 45088, 45120, 45152, 45184, 45216, 45248,
    45280, 45312, 45344, 45376, 45408, 45440, 45472, 45504, 45536, 45568, 45600, 45632, 45664, 45696, 45728, 45760,
    45792, 45824, 45856, 45888, 45920, 45952, 45984, 46016, 46048, 46080, 46112, 46144, 46176, 46208, 46240, 46272,
    46304, 46336, 46368, 46400, 46432, 46464, 46496, 46528, 46560, 46592, 46624, 46656, 46688, 46720, 46752, 46784,
    46816, 46848, 46880, 46912, 46944, 46976, 47008, 47040, 47072, 47104, 47136, 47168, 47200, 47232, 47264, 47296,
    47328, 47360, 47392, 47424, 47456, 47488, 47520, 47552, 47584, 47616, 47648, 47680, 47712, 47744, 47776, 47808,
    47840, 47872, 47904, 47936, 47968, 48000, 48032, 48064, 48096, 48128, 48160, 48192, 48224, 48256, 48288, 48320,
    48352, 48384, 48416, 48448, 48480, 48512, 48544, 48576, 48608, 48640, 48672, 48704, 48736, 48768, 48800, 48832,
    48864, 48896, 48928, 48960, 48992, 49024, 49056, 49088, 49120, 49152, 49184, 49216, 49248, 49280, 49312, 49344,
    49376, 49408, 49440, 49472, 49504, 49536, 49568, 49600, 49632, 49664, 49696, 49728, 49760, 49792, 49824, 49856,
    49888, 49920, 49952, 49984, 50016, 50048, 50080, 50112, 50144
};
static const int32_t nc1hwc0_to_nchw_f16_table0[1603] = {
    1568, 1, 1, 2, 16, 1568, 1, 0, 3136, 0, 1, 50176, 0, 0, 50176, 50144,
    0, 6272, 12544, 18816, 25088, 31360, 37632, 43904, 50176, 56448, 62720, 68992, 75264, 81536, 87808, 94080,
    0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480,
    512, 544, 576, 608, 640, 672, 704, 736, 768, 800, 832, 864, 896, 928, 960, 992,
    1024, 1056, 1088, 1120, 1152, 1184, 1216, 1248, 1280, 1312, 1344, 1376, 1408, 1440, 1472, 1504,
    1536, 1568, 1600, 1632, 1664, 1696, 1728, 1760, 1792, 1824, 1856, 1888, 1920, 1952, 1984, 2016,
    2048, 2080, 2112, 2144, 2176, 2208, 2240, 2272, 2304, 2336, 2368, 2400, 2432, 2464, 2496, 2528,
    2560, 2592, 2624, 2656, 2688, 2720, 2752, 2784, 2816, 2848, 2880, 2912, 2944, 2976, 3008, 3040,
    3072, 3104, 3136, 3168, 3200, 3232, 3264, 3296, 3328, 3360, 3392, 3424, 3456, 3488, 3520, 3552,
    3584, 3616, 3648, 3680, 3712, 3744, 3776, 3808, 3840, 3872, 3904, 3936, 3968, 4000, 4032, 4064,
    4096, 4128, 4160, 4192, 4224, 4256, 4288, 4320, 4352, 4384, 4416, 4448, 4480, 4512, 4544, 4576,
    4608, 4640, 4672, 4704, 4736, 4768, 4800, 4832, 4864, 4896, 4928, 4960, 4992, 5024, 5056, 5088,
    5120, 5152, 5184, 5216, 5248, 5280, 5312, 5344, 5376, 5408, 5440, 5472, 5504, 5536, 5568, 5600,
    5632, 5664, 5696, 5728, 5760, 5792, 5824, 5856, 5888, 5920, 5952, 5984, 6016, 6048, 6080, 6112,
    6144, 6176, 6208, 6240, 6272, 6304, 6336, 6368, 6400, 6432, 6464, 6496, 6528, 6560, 6592, 6624,
    6656, 6688, 6720, 6752, 6784, 6816, 6848, 6880, 6912, 6944, 6976, 7008, 7040, 7072, 7104, 7136,
    7168, 7200, 7232, 7264, 7296, 7328, 7360, 7392, 7424, 7456, 7488, 7520, 7552, 7584, 7616, 7648,
    7680, 7712, 7744, 7776, 7808, 7840, 7872, 7904, 7936, 7968, 8000, 8032, 8064, 8096, 8128, 8160,
    8192, 8224, 8256, 8288, 8320, 8352, 8384, 8416, 8448, 8480, 8512, 8544, 8576, 8608, 8640, 8672,
    8704, 8736, 8768, 8800, 8832, 8864, 8896, 8928, 8960, 8992, 9024, 9056, 9088, 9120, 9152, 9184,
    9216, 9248, 9280, 9312, 9344, 9376, 9408, 9440, 9472, 9504, 9536, 9568, 9600, 9632, 9664, 9696,
    9728, 9760, 9792, 9824, 9856, 9888, 9920, 9952, 9984, 10016, 10048, 10080, 10112, 10144, 10176, 10208,
    10240, 10272, 10304, 10336, 10368, 10400, 10432, 10464, 10496, 10528, 10560, 10592, 10624, 10656, 10688, 10720,
    10752, 10784, 10816, 10848, 10880, 10912, 10944, 10976, 11008, 11040, 11072, 11104, 11136, 11168, 11200, 11232,
    11264, 11296, 11328, 11360, 11392, 11424, 11456, 11488, 11520, 11552, 11584, 11616, 11648, 11680, 11712, 11744,
    11776, 11808, 11840, 11872, 11904, 11936, 11968, 12000, 12032, 12064, 12096, 12128, 12160, 12192, 12224, 12256,
    12288, 12320, 12352, 12384, 12416, 12448, 12480, 12512, 12544, 12576, 12608, 12640, 12672, 12704, 12736, 12768,
    12800, 12832, 12864, 12896, 12928, 12960, 12992, 13024, 13056, 13088, 13120, 13152, 13184, 13216, 13248, 13280,
    13312, 13344, 13376, 13408, 13440, 13472, 13504, 13536, 13568, 13600, 13632, 13664, 13696, 13728, 13760, 13792,
    13824, 13856, 13888, 13920, 13952, 13984, 14016, 14048, 14080, 14112, 14144, 14176, 14208, 14240, 14272, 14304,
    14336, 14368, 14400, 14432, 14464, 14496, 14528, 14560, 14592, 14624, 14656, 14688, 14720, 14752, 14784, 14816,
    14848, 14880, 14912, 14944, 14976, 15008, 15040, 15072, 15104, 15136, 15168, 15200, 15232, 15264, 15296, 15328,
    15360, 15392, 15424, 15456, 15488, 15520, 15552, 15584, 15616, 15648, 15680, 15712, 15744, 15776, 15808, 15840,
    15872, 15904, 15936, 15968, 16000, 16032, 16064, 16096, 16128, 16160, 16192, 16224, 16256, 16288, 16320, 16352,
    16384, 16416, 16448, 16480, 16512, 16544, 16576, 16608, 16640, 16672, 16704, 16736, 16768, 16800, 16832, 16864,
    16896, 16928, 16960, 16992, 17024, 17056, 17088, 17120, 17152, 17184, 17216, 17248, 17280, 17312, 17344, 17376,
    17408, 17440, 17472, 17504, 17536, 17568, 17600, 17632, 17664, 17696, 17728, 17760, 17792, 17824, 17856, 17888,
    17920, 17952, 17984, 18016, 18048, 18080, 18112, 18144, 18176, 18208, 18240, 18272, 18304, 18336, 18368, 18400,
    18432, 18464, 18496, 18528, 18560, 18592, 18624, 18656, 18688, 18720, 18752, 18784, 18816, 18848, 18880, 18912,
    18944, 18976, 19008, 19040, 19072, 19104, 19136, 19168, 19200, 19232, 19264, 19296, 19328, 19360, 19392, 19424,
    19456, 19488, 19520, 19552, 19584, 19616, 19648, 19680, 19712, 19744, 19776, 19808, 19840, 19872, 19904, 19936,
    19968, 20000, 20032, 20064, 20096, 20128, 20160, 20192, 20224, 20256, 20288, 20320, 20352, 20384, 20416, 20448,
    20480, 20512, 20544, 20576, 20608, 20640, 20672, 20704, 20736, 20768, 20800, 20832, 20864, 20896, 20928, 20960,
    20992, 21024, 21056, 21088, 21120, 21152, 21184, 21216, 21248, 21280, 21312, 21344, 21376, 21408, 21440, 21472,
    21504, 21536, 21568, 21600, 21632, 21664, 21696, 21728, 21760, 21792, 21824, 21856, 21888, 21920, 21952, 21984,
    22016, 22048, 22080, 22112, 22144, 22176, 22208, 22240, 22272, 22304, 22336, 22368, 22400, 22432, 22464, 22496,
    22528, 22560, 22592, 22624, 22656, 22688, 22720, 22752, 22784, 22816, 22848, 22880, 22912, 22944, 22976, 23008,
    23040, 23072, 23104, 23136, 23168, 23200, 23232, 23264, 23296, 23328, 23360, 23392, 23424, 23456, 23488, 23520,
    23552, 23584, 23616, 23648, 23680, 23712, 23744, 23776, 23808, 23840, 23872, 23904, 23936, 23968, 24000, 24032,
    24064, 24096, 24128, 24160, 24192, 24224, 24256, 24288, 24320, 24352, 24384, 24416, 24448, 24480, 24512, 24544,
    24576, 24608, 24640, 24672, 24704, 24736, 24768, 24800, 24832, 24864, 24896, 24928, 24960, 24992, 25024, 25056,
    25088, 25120, 25152, 25184, 25216, 25248, 25280, 25312, 25344, 25376, 25408, 25440, 25472, 25504, 25536, 25568,
    25600, 25632, 25664, 25696, 25728, 25760, 25792, 25824, 25856, 25888, 25920, 25952, 25984, 26016, 26048, 26080,
    26112, 26144, 26176, 26208, 26240, 26272, 26304, 26336, 26368, 26400, 26432, 26464, 26496, 26528, 26560, 26592,
    26624, 26656, 26688, 26720, 26752, 26784, 26816, 26848, 26880, 26912, 26944, 26976, 27008, 27040, 27072, 27104,
    27136, 27168, 27200, 27232, 27264, 27296, 27328, 27360, 27392, 27424, 27456, 27488, 27520, 27552, 27584, 27616,
    27648, 27680, 27712, 27744, 27776, 27808, 27840, 27872, 27904, 27936, 27968, 28000, 28032, 28064, 28096, 28128,
    28160, 28192, 28224, 28256, 28288, 28320, 28352, 28384, 28416, 28448, 28480, 28512, 28544, 28576, 28608, 28640,
    28672, 28704, 28736, 28768, 28800, 28832, 28864, 28896, 28928, 28960, 28992, 29024, 29056, 29088, 29120, 29152,
    29184, 29216, 29248, 29280, 29312, 29344, 29376, 29408, 29440, 29472, 29504, 29536, 29568, 29600, 29632, 29664,
    29696, 29728, 29760, 29792, 29824, 29856, 29888, 29920, 29952, 29984, 30016, 30048, 30080, 30112, 30144, 30176,
    30208, 30240, 30272, 30304, 30336, 30368, 30400, 30432, 30464, 30496, 30528, 30560, 30592, 30624, 30656, 30688,
    30720, 30752, 30784, 30816, 30848, 30880, 30912, 30944, 30976, 31008, 31040, 31072, 31104, 31136, 31168, 31200,
    31232, 31264, 31296, 31328, 31360, 31392, 31424, 31456, 31488, 31520, 31552, 31584, 31616, 31648, 31680, 31712,
    31744, 31776, 31808, 31840, 31872, 31904, 31936, 31968, 32000, 32032, 32064, 32096, 32128, 32160, 32192, 32224,
    32256, 32288, 32320, 32352, 32384, 32416, 32448, 32480, 32512, 32544, 32576, 32608, 32640, 32672, 32704, 32736,
    32768, 32800, 32832, 32864, 32896, 32928, 32960, 32992, 33024, 33056, 33088, 33120, 33152, 33184, 33216, 33248,
    33280, 33312, 33344, 33376, 33408, 33440, 33472, 33504, 33536, 33568, 33600, 33632, 33664, 33696, 33728, 33760,
    33792, 33824, 33856, 33888, 33920, 33952, 33984, 34016, 34048, 34080, 34112, 34144, 34176, 34208, 34240, 34272,
    34304, 34336, 34368, 34400, 34432, 34464, 34496, 34528, 34560, 34592, 34624, 34656, 34688, 34720, 34752, 34784,
    34816, 34848, 34880, 34912, 34944, 34976, 35008, 35040, 35072, 35104, 35136, 35168, 35200, 35232, 35264, 35296,
    35328, 35360, 35392, 35424, 35456, 35488, 35520, 35552, 35584, 35616, 35648, 35680, 35712, 35744, 35776, 35808,
    35840, 35872, 35904, 35936, 35968, 36000, 36032, 36064, 36096, 36128, 36160, 36192, 36224, 36256, 36288, 36320,
    36352, 36384, 36416, 36448, 36480, 36512, 36544, 36576, 36608, 36640, 36672, 36704, 36736, 36768, 36800, 36832,
    36864, 36896, 36928, 36960, 36992, 37024, 37056, 37088, 37120, 37152, 37184, 37216, 37248, 37280, 37312, 37344,
    37376, 37408, 37440, 37472, 37504, 37536, 37568, 37600, 37632, 37664, 37696, 37728, 37760, 37792, 37824, 37856,
    37888, 37920, 37952, 37984, 38016, 38048, 38080, 38112, 38144, 38176, 38208, 38240, 38272, 38304, 38336, 38368,
    38400, 38432, 38464, 38496, 38528, 38560, 38592, 38624, 38656, 38688, 38720, 38752, 38784, 38816, 38848, 38880,
    38912, 38944, 38976, 39008, 39040, 39072, 39104, 39136, 39168, 39200, 39232, 39264, 39296, 39328, 39360, 39392,
    39424, 39456, 39488, 39520, 39552, 39584, 39616, 39648, 39680, 39712, 39744, 39776, 39808, 39840, 39872, 39904,
    39936, 39968, 40000, 40032, 40064, 40096, 40128, 40160, 40192, 40224, 40256, 40288, 40320, 40352, 40384, 40416,
    40448, 40480, 40512, 40544, 40576, 40608, 40640, 40672, 40704, 40736, 40768, 40800, 40832, 40864, 40896, 40928,
    40960, 40992, 41024, 41056, 41088, 41120, 41152, 41184, 41216, 41248, 41280, 41312, 41344, 41376, 41408, 41440,
    41472, 41504, 41536, 41568, 41600, 41632, 41664, 41696, 41728, 41760, 41792, 41824, 41856, 41888, 41920, 41952,
    41984, 42016, 42048, 42080, 42112, 42144, 42176, 42208, 42240, 42272, 42304, 42336, 42368, 42400, 42432, 42464,
    42496, 42528, 42560, 42592, 42624, 42656, 42688, 42720, 42752, 42784, 42816, 42848, 42880, 42912, 42944, 42976,
    43008, 43040, 43072, 43104, 43136, 43168, 43200, 43232, 43264, 43296, 43328, 43360, 43392, 43424, 43456, 43488,
    43520, 43552, 43584, 43616, 43648, 43680, 43712, 43744, 43776, 43808, 43840, 43872, 43904, 43936, 43968, 44000,
    44032, 44064, 44096, 44128, 44160, 44192, 44224, 44256, 44288, 44320, 44352, 44384, 44416, 44448, 44480, 44512,
    44544, 44576, 44608, 44640, 44672, 44704, 44736, 44768, 44800, 44832, 44864, 44896, 44928, 44960, 44992, 45024,
    45056, 45088, 45120, 45152, 45184, 45216, 45248, 45280, 45312, 45344, 45376, 45408, 45440, 45472, 45504, 45536,
    45568, 45600, 45632, 45664, 45696, 45728, 45760, 45792, 45824, 45856, 45888, 45920, 45952, 45984, 46016, 46048,
    46080, 46112, 46144, 46176, 46208, 46240, 46272, 46304, 46336, 46368, 46400, 46432, 46464, 46496, 46528, 46560,
    46592, 46624, 46656, 46688, 46720, 46752, 46784, 46816, 46848, 46880, 46912, 46944, 46976, 47008, 47040, 47072,
    47104, 47136, 47168, 47200, 47232, 47264, 47296, 47328, 47360, 47392, 47424, 47456, 47488, 47520, 47552, 47584,
    47616, 47648, 47680, 47712, 47744, 47776, 47808, 47840, 47872, 47904, 47936, 47968, 48000, 48032, 48064, 48096,
    48128, 48160, 48192, 48224, 48256, 48288, 48320, 48352, 48384, 48416, 48448, 48480, 48512, 48544, 48576, 48608,
    48640, 48672, 48704, 48736, 48768, 48800, 48832, 48864, 48896, 48928, 48960, 48992, 49024, 49056, 49088, 49120,
    49152, 49184, 49216, 49248, 49280, 49312, 49344, 49376, 49408, 49440, 49472, 49504, 49536, 49568, 49600, 49632,
    49664, 49696, 49728, 49760, 49792, 49824, 49856, 49888, 49920, 49952, 49984, 50016, 50048, 50080, 50112, 50144,
    0, 0, 0
};
/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
nc1hwc0_to_nchw_f16_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* N=0..7 C=0..63 H=0..55 W=0..55: composite2 */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_composite2(dst + 445312*n, src + 501760*n, nc1hwc0_to_nchw_f16_table0, 1, 3136, 4, 445312, 501760, 2, 32, 100352, 100352, 0, 0x0u, 2);
    }
    /* N=0..7 C=64..70 H=0..55 W=0..55: composite2 */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_composite2(dst + 445312*n + 401408, src + 501760*n + 401408, nc1hwc0_to_nchw_f16_table1, 1, 3136, 1, 0, 0, 2, 32, 445312, 501760, 0, 0x0u, 2);
    }
}

/* src: 4014080 bytes, dst: 3562496 bytes; they do not overlap */
void
nc1hwc0_to_nchw_f16(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    {
        const int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
        const int64_t turns = parts < 6 ? 6/parts : 1;
        for (int64_t i = 0; i < turns; i++)
            nc1hwc0_to_nchw_f16_part(dst_, src_, part*turns + i, parts*turns);
    }
#else
    for (int64_t i = 0; i < 6; i++)
        nc1hwc0_to_nchw_f16_part(dst_, src_, i, 6);
#endif
}
