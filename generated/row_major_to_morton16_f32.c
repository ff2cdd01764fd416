/* ravel emit --from ROW_MAJOR --to MORTON16 --shape 1024,768 --dtype f32 --name row_major_to_morton16_f32
 * src ROW_MAJOR: 768*b0 + b1
 *     f32, b0=1024 b1=768 in 786432 elements, 3145728 bytes
 * dst MORTON16: 12288*(Y//16) + 256*(X//16) + 128*(Y//8%2) + 64*(X//8%2) + 32*(Y//4%2) + 16*(X//4%2) + 8*(Y//2%2) + 4*(X//2%2) + 2*(Y%2) + X%2
 *     f32, Y=1024 X=768 in 786432 elements, 3145728 bytes
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

/* Permutes the elements of k vectors of 2 elements of 8 bytes.  A round
 * interleaves the first half of the vectors with the second half.  This is a perfect
 * shuffle: it rotates the bits of an element's index by one.  log2(k) rounds transpose k
 * vectors to rows of k elements; log2(2) rounds do the reverse. */
#ifndef RAVEL_PLAIN
RAVEL_INLINE void
ravel_zip8(ravel_8x1 *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        ravel_8x1 t[2];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_LOW(8, 2, 1, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_HIGH(8, 2, 1, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}
#endif

#ifndef RAVEL_PLAIN
/* Transposes blocks of 2 rows in each lane: log2(2) rounds of interleaving. */
RAVEL_INLINE void
ravel_turn8(RAVEL_ALL(8) *v)
{
    RAVEL_ALL(8) w[2];
    RAVEL_UNROLL for (int round = 1; round < 2; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 2 / 2; i++) {
            w[2 * i] = RAVEL_ALL_LOW(8, 2, v[i], v[i + 2 / 2]);
            w[2 * i + 1] = RAVEL_ALL_HIGH(8, 2, v[i], v[i + 2 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 2; i++)
            v[i] = w[i];
    }
}

RAVEL_INLINE void
ravel_turn_two8(RAVEL_TWO(8) *v)
{
    RAVEL_TWO(8) w[2];
    RAVEL_UNROLL for (int round = 1; round < 2; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 2 / 2; i++) {
            w[2 * i] = RAVEL_TWO_LOW(8, 2, v[i], v[i + 2 / 2]);
            w[2 * i + 1] = RAVEL_TWO_HIGH(8, 2, v[i], v[i + 2 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 2; i++)
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

/* Blocks with few rows or few columns, of elements of 8 bytes: they are padded to n, a power of
 * two, and n registers hold all 2 of the other kind. */
#ifndef RAVEL_PLAIN
/* Transposes at most n rows of 2 columns.  `next`: the columns follow one another, and `picks`
 * gives each the bytes of n rows. */
RAVEL_INLINE void
ravel_turn_low8(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int n, int next, ravel_1x1 picks)
{
    const int64_t step = 2 / n * rows * 8;
    ravel_8x1 v[2];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        v[i] = (ravel_8x1)(
            next ? ravel_regrouped(ravel_load1(s + col[0] + step * i), picks, rows, n)
                 : ravel_load_pieces(s, col + i * (2 / n), n * 8));
    ravel_zip8(v, n, RAVEL_ROUNDS8);
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < rows)
            ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
}

/* All columns; the last block overlaps the one before.  A register of columns that follow one another
 * may not read past the last of them. */
RAVEL_INLINE void
ravel_turn_all_low8(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                          const ravel_end *end, int n)
{
    for (int64_t c = 0; c < cols; c += 2) {
        unsigned char part[16 * 2];
        c = c + 2 > cols ? cols - 2 : c;
        if (w->next && (n == rows || (cols - c - 2) * rows * 8 >= 16))
            ravel_turn_low8(d + c * 8, s, row, col + c, rows, n, 1, w->picks);
        else if (ravel_is_near(end, s, col + c, 2)) {
            ravel_load_parts(part, s, col + c, rows * 8, 2);
            ravel_turn_low8(d + c * 8, part, row, ravel_part_at, rows, n, 0, w->picks);
        } else
            ravel_turn_low8(d + c * 8, s, row, col + c, rows, n, 0, w->picks);
    }
}

/* Transposes at most 2 rows of at most n columns.  `next`: the rows follow one another, and `picks`
 * leaves each the bytes of its columns. */
RAVEL_INLINE void
ravel_turn_thin8(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, int n, int next, ravel_1x1 picks)
{
    const int64_t step = 2 / n * cols * 8;
    ravel_8x1 v[2] = {{0}};
    int64_t to[2];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < cols)
            v[i] = (ravel_8x1)ravel_load1(s + col[i]);
    ravel_zip8(v, n, n > 4 ? 3 : n / 2);
    if (!next)
        RAVEL_UNROLL for (int i = 0; i < 2; i++)
            to[i] = row[i < rows ? i : 0];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (next)
            ravel_store1(d + row[0] + step * i, ravel_regrouped((ravel_1x1)v[i], picks, cols, n), 0);
        else
            ravel_store_pieces(d, to + i * (2 / n), (ravel_1x1)v[i], n * 8,
                               cols * 8, rows - i * (2 / n));
}

/* All rows.  A register of rows that follow one another writes what rows after it replace. */
RAVEL_INLINE void
ravel_turn_all_thin8(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                           const ravel_end *end, int n)
{
    for (int64_t r = 0; r < rows; r += 2) {
        const unsigned char *from = s + r * 8;
        const int32_t *at = col;
        const int64_t some = rows - r < 2 ? rows - r : (int64_t)2;
        unsigned char part[16 * 2];
        if (ravel_is_near(end, from, col, cols)) {
            ravel_load_parts(part, from, col, some * 8, cols);
            from = part;
            at = ravel_part_at;
        }
        if (w->next && some == 2 && (n == cols || (rows - r - 2) * cols * 8 >= 16))
            ravel_turn_thin8(d, from, row + r, at, some, cols, n, 1, w->picks);
        else
            ravel_turn_thin8(d, from, row + r, at, some, cols, n, 0, w->picks);
    }
}

/* Whether ravel_turn_slim takes such blocks. */
RAVEL_INLINE int
ravel_is_slim8(int64_t rows, int64_t cols)
{
    return 2 > 2 && (cols * 8 <= 8 || (rows * 8 <= RAVEL_LOW_BYTES && cols >= 2));
}

/* Whether the columns of a register, or its rows, follow one another. */
RAVEL_INLINE int
ravel_next8(const int32_t *row, const int32_t *col, int64_t rows, int64_t cols)
{
    const int low = cols * 8 > 8;
    const int64_t few = low ? rows : cols;
    return few > 1 && (RAVEL_PICKS || (few & (few - 1)) == 0) &&
           ravel_are_apart(low ? col : row, low ? cols : rows, (int32_t)few * 8);
}

/* What moves the bytes of rows or columns that follow one another, n of them as in ravel_turn_slim; none
 * where they are as many. */
RAVEL_INLINE ravel_1x1
ravel_picks8(int64_t rows, int64_t cols)
{
    const int few = (int)(cols * 8 > 8 ? rows : cols) * 8;
    const int all = few <= 2 * 8 ? 2 * 8 : few <= 4 * 8 ? 4 * 8 : 8 * 8;
    const ravel_1x1 none = {0};
    if (few == all)
        return none;
    return cols * 8 > 8 ? ravel_regroup(few, all) : ravel_regroup(all, few);
}

static void
ravel_turn_slim8(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                       const ravel_end *end)
{
    const int low = cols * 8 > 8;
    const int64_t few = low ? rows : cols;
    if (low && few <= 2)
        ravel_turn_all_low8(d, s, row, col, rows, cols, w, end, 2);
    else if (low && 2 >= 8 && few <= 4)
        ravel_turn_all_low8(d, s, row, col, rows, cols, w, end, 4);
    else if (low && 2 >= 16)
        ravel_turn_all_low8(d, s, row, col, rows, cols, w, end, 8);
    else if (few <= 2)
        ravel_turn_all_thin8(d, s, row, col, rows, cols, w, end, 2);
    else if (2 >= 8 && few <= 4)
        ravel_turn_all_thin8(d, s, row, col, rows, cols, w, end, 4);
    else if (2 >= 16)
        ravel_turn_all_thin8(d, s, row, col, rows, cols, w, end, 8);
}
#endif

/* Blocks of elements of 8 bytes: rows are contiguous in the source, columns in the
 * destination. */
#ifndef RAVEL_PLAIN
/* Transposes 2 columns, with 2 rows of each in a lane. */
RAVEL_INLINE void
ravel_turn_wide8(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col)
{
    enum { M = 2, SOME = M < 8 ? M : 8 };
    RAVEL_TWO(8) v[M];
    RAVEL_KEEP(col);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        memcpy(&v[i], s + col[i], sizeof v[i]);
    ravel_turn_two8(v);
    RAVEL_UNROLL for (int k = 0; k < M * RAVEL_PAIR; k += SOME) {
        int64_t to[SOME];
        ravel_rows_at(to, row + k, SOME);
        RAVEL_UNROLL for (int i = 0; i < SOME; i++)
            ravel_store1(d + to[i], ravel_lane((RAVEL_TWO(1))v[k % M + i], k / M), 0);
    }
}

/* Transposes at most 2 rows, with 2 columns of each in a lane.  near: it fetches
 * the next line of each row. */
RAVEL_INLINE void
ravel_turn_line8(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int near)
{
    for (int64_t i = 0; i < 2 && i < rows && near; i++)
        RAVEL_PREFETCH(d + row[i] + 127);
    RAVEL_KEEP(col);
    enum { SOME = 2 < 8 ? 2 : 8 };
    RAVEL_ALL(8) v[2];
    RAVEL_UNROLL for (int i = 0; i < 2; i++) {
        const unsigned char *at[RAVEL_LANES];
        RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++)
            at[lane] = s + col[lane * 2 + i];
        v[i] = (RAVEL_ALL(8))RAVEL_ALL_ROWS(at, 0);
    }
    ravel_turn8(v);
    RAVEL_UNROLL for (int k = 0; k < 2; k += SOME)
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

/* Transposes blocks of at most 2 rows and columns, one block in a lane. */
RAVEL_INLINE void
ravel_turn_blocks8(unsigned char *d, const unsigned char *s, const int32_t *block,
                         const int32_t *row, const int32_t *col, int64_t rows,
                         int64_t cols)
{
    enum { M = 2 };
    RAVEL_TWO(8) v[M] = {{0}};
    const unsigned char *const from[2] = {s + block[1], s + block[2 * RAVEL_PAIR - 1]};
    RAVEL_KEEP(col);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        if (i < cols)
            v[i] = (RAVEL_TWO(8))RAVEL_TWO_ROWS(from, col[i]);
    ravel_turn_two8(v);
    RAVEL_UNROLL for (int lane = 0; lane < RAVEL_PAIR; lane++, block += 2)
        RAVEL_UNROLL for (int i = 0; i < M; i++)
            if (i < rows)
                ravel_store_part(d + row[i] + block[0], ravel_lane((RAVEL_TWO(1))v[i], lane),
                                 cols * 8);
}

RAVEL_INLINE void
ravel_turn_narrow8(unsigned char *d, const unsigned char *s, const int32_t *row,
                         const int32_t *col)
{
    RAVEL_KEEP(col);
    ravel_8x1 v[2];
    RAVEL_UNROLL for (int i = 0; i < 2; i++)
        v[i] = (ravel_8x1)ravel_load1(s + col[i]);
    ravel_zip8(v, 2, RAVEL_ROUNDS8);
    enum { SOME = 2 < 8 ? 2 : 8 };
    RAVEL_UNROLL for (int k = 0; k < 2; k += SOME) {
        int64_t to[SOME];
        ravel_rows_at(to, row + k, SOME);
        RAVEL_UNROLL for (int i = 0; i < SOME; i++)
            ravel_store1(d + to[i], (ravel_1x1)v[k + i], 0);
    }
}

/* The same for one block, which may have fewer rows or columns. */
RAVEL_INLINE void
ravel_turn_few8(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int64_t cols,
                      const ravel_end *end)
{
    unsigned char part[16 * 2];
    if (ravel_is_near(end, s, col, cols)) {
        ravel_load_parts(part, s, col, rows * 8, cols);
        s = part;
        col = ravel_part_at;
    }
    RAVEL_KEEP(col);
    ravel_8x1 v[2] = {{0}};
    RAVEL_UNROLL for (int i = 0; i < 2; i++)
        if (i < cols)
            v[i] = (ravel_8x1)ravel_load1(s + col[i]);
    ravel_zip8(v, 2, RAVEL_ROUNDS8);
    RAVEL_UNROLL for (int i = 0; i < 2; i++)
        if (i < rows)
            ravel_store_part(d + row[i], (ravel_1x1)v[i], cols * 8);
}

/* Transposes all rows of 2 columns; the last block overlaps the one before. */
RAVEL_INLINE void
ravel_turn_rows8(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows)
{
    enum { WIDE = 2 * RAVEL_PAIR };
    int64_t r = 0;
    for (; r + WIDE <= rows; r += WIDE)
        ravel_turn_wide8(d, s + r * 8, row + r, col);
    if (rows >= WIDE && r + 2 < rows) {
        r = rows - WIDE;
        ravel_turn_wide8(d, s + r * 8, row + r, col);
        return;
    }
    for (; r < rows; r += 2) {
        r = r + 2 > rows ? rows - 2 : r;
        ravel_turn_narrow8(d, s + r * 8, row + r, col);
    }
}

/* Transposes a block with fewer rows or columns than a register has elements. */
RAVEL_CALLED void
ravel_turn_short8(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const ravel_end *end)
{
    const int64_t m = rows < 2 ? rows : 2, k = cols < 2 ? cols : 2;
    for (int64_t c = 0; c < cols; c += k) {
        c = c + k > cols ? cols - k : c;
        for (int64_t r = 0; r < rows; r += m) {
            r = r + m > rows ? rows - m : r;
            ravel_turn_few8(d + c * 8, s + r * 8, row + r, col + c, m, k,
                                  end);
        }
    }
}

/* The same of rows that follow one another, each of more than half a register: whole registers
 * are stored, and the next row replaces what is beyond one's end. */
static void
ravel_turn_touching8(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols,
                           const ravel_end *end)
{
    enum { WIDE = 2 * RAVEL_PAIR };
    int32_t all[2];
    int64_t r = 0;
    for (int64_t i = 0; i < 2; i++)
        all[i] = col[i < cols ? i : 0];
    for (; r + WIDE < rows; r += WIDE)
        ravel_turn_wide8(d, s + r * 8, row + r, all);
    ravel_turn_short8(d, s + r * 8, row + r, col, rows - r, cols, end);
}

/* Transposes all rows of a vector of columns; the last block overlaps the one before. */
RAVEL_INLINE void
ravel_turn_lines8(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, const ravel_end *end, int near)
{
    enum { WIDE = 2 * RAVEL_LANES };
    if (rows < 2 && ravel_is_near(end, s, col, WIDE)) {
        ravel_turn_short8(d, s, row, col, rows, WIDE, end);
        return;
    }
    for (int64_t r = 0; r < rows; r += 2) {
        r = r + 2 > rows && r ? rows - 2 : r;
        ravel_turn_line8(d, s + r * 8, row + r, col, rows, near);
    }
}

/* Transposes all rows of at most 2 columns, one block in a lane. */
RAVEL_INLINE void
ravel_turn_together8(unsigned char *d, const unsigned char *s, const int32_t *block,
                           const int32_t *row, const int32_t *col, int64_t rows,
                           int64_t cols)
{
    const int64_t m = rows < 2 ? rows : 2;
    for (int64_t r = 0; r < rows; r += m) {
        r = r + m > rows ? rows - m : r;
        ravel_turn_blocks8(d, s + r * 8, block, row + r, col, m, cols);
    }
}

/* Transposes all rows of some columns of a block. */
RAVEL_INLINE void
ravel_turn_columns8(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols,
                          const ravel_end *end, int near)
{
    if (cols == 2 * RAVEL_LANES)
        ravel_turn_lines8(d, s, row, col, rows, end, near);
    else if (rows >= 2 && cols == 2)
        ravel_turn_rows8(d, s, row, col, rows);
    else
        ravel_turn_short8(d, s, row, col, rows, cols, end);
}

/* Transposes rows of a few lines and less, a line of the source at a time: the first cache
 * still holds the line of which a store writes the first part when the next store writes the
 * rest.  near: it fetches the next line of each row. */
static void
ravel_turn_along8(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const ravel_end *end, int near, ravel_soon *soon, int64_t fetch)
{
    enum { WIDE = 2 * RAVEL_LANES, TALL = RAVEL_LINE / 8 };
    for (int64_t r = 0; r < rows; r += TALL) {
        r = r + TALL > rows ? rows - TALL : r;
        for (int64_t c = 0; c < cols; c += WIDE) {
            c = c + WIDE > cols ? cols - WIDE : c;
            ravel_turn_lines8(d + c * 8, s + r * 8, row + r, col + c, TALL,
                                    end, near);
        }
        ravel_soon_fetch(soon, fetch);
    }
}

/* The same of rows of less than a vector. */
static void
ravel_turn_parts8(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols)
{
    enum { TALL = RAVEL_LINE / 8 };
    for (int64_t r = 0; r < rows; r += TALL) {
        r = r + TALL > rows ? rows - TALL : r;
        for (int64_t c = 0; c < cols; c += 2) {
            c = c + 2 > cols ? cols - 2 : c;
            ravel_turn_rows8(d + c * 8, s + r * 8, row + r, col + c, TALL);
        }
    }
}

/* How the blocks of tile t are transposed. */
RAVEL_INLINE ravel_way
ravel_tile_way8(const int32_t *t, const int32_t *row, const int32_t *col)
{
    enum { WIDE = 2 * RAVEL_LANES };
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS];
    ravel_way w;
    w.wide = cols >= WIDE ? (int64_t)WIDE : cols >= 2 ? (int64_t)2 : cols;
    w.slim = ravel_is_slim8(rows, cols);
    w.next = w.slim && ravel_next8(row, col, rows, cols);
    if (w.next)
        w.picks = ravel_picks8(rows, cols);
    w.touching = !w.slim && cols < 2 && rows > 2 * RAVEL_PAIR &&
                 ravel_are_apart(row, rows, (int32_t)cols * 8);
    w.parts = w.wide == 2 && cols > w.wide && rows >= 256 / 8 &&
              rows * cols * 8 >= RAVEL_TILE_SOON;
    w.lanes = !w.slim && !w.touching && cols < WIDE && rows < 2 * 2 &&
              t[RAVEL_T_BLOCKS] >= RAVEL_PAIR ? RAVEL_PAIR : 1;
    w.along = w.wide == WIDE && cols <= RAVEL_TILE_ALONG && rows >= RAVEL_LINE / 8 &&
              (cols % WIDE == 0 || cols % WIDE * 4 >= WIDE);
    w.near = !t[RAVEL_T_RUNS] &&
             (w.along ? !ravel_rows_share_lines(row, rows) : rows <= RAVEL_TILE_NEAR);
    w.steps = w.slim || w.touching || w.parts ? 1
              : w.along ? (rows * 8 + RAVEL_LINE - 1) / RAVEL_LINE : (cols - 1) / w.wide + 1;
    return w;
}

/* A vector of columns after another, of w->lanes blocks.  `apart`: one block after another. */
RAVEL_INLINE void
ravel_tile_columns8(unsigned char *d, const unsigned char *s, const int32_t *at,
                          const int32_t *row, const int32_t *col, int64_t rows, int64_t cols,
                          const ravel_way *w, const ravel_end *end, int apart,
                          ravel_soon *soon, int64_t fetch)
{
    for (int64_t c = 0; c < cols; c += w->wide) {
        c = c + w->wide > cols ? cols - w->wide : c;
        for (int64_t l = 0; l < w->lanes && apart; l++)
            ravel_turn_columns8(d + c * 8 + at[2 * l], s + at[2 * l + 1],
                                      row, col + c, rows, w->wide, end, w->near);
        if (!apart)
            ravel_turn_together8(d + c * 8, s, at, row, col + c, rows, w->wide);
        ravel_soon_fetch(soon, fetch);
    }
}

static void
ravel_tile8(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], n = t[RAVEL_T_BLOCKS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int64_t most = t[RAVEL_T_END] - t[RAVEL_T_LAST] - 16;
    const ravel_end end = {s + t[RAVEL_T_END], t[RAVEL_T_LAST]};
    const ravel_way w = ravel_tile_way8(t, row, col);
    const int64_t fetch = ravel_soon_share(soon, (n + w.lanes - 1) / w.lanes * w.steps);
    for (int64_t i = 0; i < n; i += w.lanes) {
        i = i + w.lanes > n ? n - w.lanes : i;
        const int32_t *const at = col + cols + 2 * i;
        const int apart = w.lanes == 1 ||
                          (rows < 2 && ravel_any_above(at + 1, RAVEL_PAIR, 2, most));
        if (w.slim)
            ravel_turn_slim8(d + at[0], s + at[1], row, col, rows, cols, &w, &end);
        if (w.touching)
            ravel_turn_touching8(d + at[0], s + at[1], row, col, rows, cols, &end);
        if (w.parts)
            ravel_turn_parts8(d + at[0], s + at[1], row, col, rows, cols);
        if (w.slim || w.touching || w.parts)
            ravel_soon_fetch(soon, fetch);
        else if (w.along)
            ravel_turn_along8(d + at[0], s + at[1], row, col, rows, cols, &end, w.near,
                                    soon, fetch);
        else
            ravel_tile_columns8(d, s, at, row, col, rows, cols, &w, &end, apart, soon,
                                      fetch);
    }
}
#else
static void
ravel_tile8(unsigned char *d, const unsigned char *s, const int32_t *t,
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
                memcpy(to + row[r] + c * 8, from + col[c] + r * 8, 8);
    }
}
#endif

/* The kernel composite8. */
static void
ravel_composite8(unsigned char *d, const unsigned char *s, const int32_t *t,
                       int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream,
                       uint64_t fill, int64_t size)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream, fill, size,
                    ravel_tile8);
}

#ifdef __cplusplus
extern "C" {
#endif
void row_major_to_morton16_f32_part(void *dst, const void *src, int64_t part, int64_t parts);
void row_major_to_morton16_f32(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t row_major_to_morton16_f32_table0[82] = {
    4, 1, 1, 8, 32, 2, 8, 0, 4096, 0, 16, 256, 0, 0, 46336, 3072,
    0, 16, 64, 80, 256, 272, 320, 336, 1024, 1040, 1088, 1104, 1280, 1296, 1344, 1360,
    2048, 2064, 2112, 2128, 2304, 2320, 2368, 2384, 3072, 3088, 3136, 3152, 3328, 3344, 3392, 3408,
    0, 3072, 0, 0, 32, 6144, 128, 12288, 160, 18432, 512, 24576, 544, 30720, 640, 36864,
    672, 43008, 0, 3072, 6144, 9216, 12288, 15360, 18432, 21504, 24576, 27648, 30720, 33792, 36864, 39936,
    43008, 46080
};
/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
row_major_to_morton16_f32_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* Y=0..1023 X=0..767: composite8 */
    for (int64_t y4 = 32*part/parts*2; y4 < ravel_min(64, 32*(part + 1)/parts*2); y4 += 2) {
        ravel_composite8(dst + 49152*y4, src + 49152*y4, row_major_to_morton16_f32_table0, 1, 48, 2, 0, 0, 1024, 64, 49152, 49152, 0, 0x0u, 4);
    }
}

/* src: 3145728 bytes, dst: 3145728 bytes; they do not overlap */
void
row_major_to_morton16_f32(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    row_major_to_morton16_f32_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    row_major_to_morton16_f32_part(dst_, src_, 0, 1);
#endif
}
