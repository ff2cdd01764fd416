/* ravel emit --from ROW_MAJOR --to MARLIN --shape 1024,768 --dtype u4 --name row_major_to_marlin_u4
 * src ROW_MAJOR: 768*b0 + b1
 *     u4, b0=1024 b1=768 in 786432 elements, 393216 bytes
 * dst MARLIN: 12288*(K//16) + 1024*(N//64) + 128*(N%8) + 32*(K//2%4) + 8*(N//16%4) + 4*(K%2) + 2*(N//8%2) + K//8%2
 *     u4, K=1024 N=768 in 786432 elements, 393216 bytes
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

/* Permutes the elements of k vectors of 16 elements of 1 bytes.  A round
 * interleaves the first half of the vectors with the second half.  This is a perfect
 * shuffle: it rotates the bits of an element's index by one.  log2(k) rounds transpose k
 * vectors to rows of k elements; log2(16) rounds do the reverse. */
#ifndef RAVEL_PLAIN
RAVEL_INLINE void
ravel_zip1(ravel_1x1 *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        ravel_1x1 t[16];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_LOW(1, 16, 1, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_HIGH(1, 16, 1, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}
#endif

#ifndef RAVEL_PLAIN
/* Transposes blocks of 16 rows in each lane: log2(16) rounds of interleaving. */
RAVEL_INLINE void
ravel_turn1(RAVEL_ALL(1) *v)
{
    RAVEL_ALL(1) w[16];
    RAVEL_UNROLL for (int round = 1; round < 16; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 16 / 2; i++) {
            w[2 * i] = RAVEL_ALL_LOW(1, 16, v[i], v[i + 16 / 2]);
            w[2 * i + 1] = RAVEL_ALL_HIGH(1, 16, v[i], v[i + 16 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 16; i++)
            v[i] = w[i];
    }
}

RAVEL_INLINE void
ravel_turn_two1(RAVEL_TWO(1) *v)
{
    RAVEL_TWO(1) w[16];
    RAVEL_UNROLL for (int round = 1; round < 16; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 16 / 2; i++) {
            w[2 * i] = RAVEL_TWO_LOW(1, 16, v[i], v[i + 16 / 2]);
            w[2 * i + 1] = RAVEL_TWO_HIGH(1, 16, v[i], v[i + 16 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 16; i++)
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

/* Blocks with few rows or few columns, of elements of 1 bytes: they are padded to n, a power of
 * two, and n registers hold all 16 of the other kind. */
#ifndef RAVEL_PLAIN
/* Transposes at most n rows of 16 columns.  `next`: the columns follow one another, and `picks`
 * gives each the bytes of n rows. */
RAVEL_INLINE void
ravel_turn_low1(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int n, int next, ravel_1x1 picks)
{
    const int64_t step = 16 / n * rows * 1;
    ravel_1x1 v[16];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        v[i] = (ravel_1x1)(
            next ? ravel_regrouped(ravel_load1(s + col[0] + step * i), picks, rows, n)
                 : ravel_load_pieces(s, col + i * (16 / n), n * 1));
    ravel_zip1(v, n, RAVEL_ROUNDS1);
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < rows)
            ravel_store1(d + row[i], (ravel_1x1)v[i], 0);
}

/* All columns; the last block overlaps the one before.  A register of columns that follow one another
 * may not read past the last of them. */
RAVEL_INLINE void
ravel_turn_all_low1(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                          const ravel_end *end, int n)
{
    for (int64_t c = 0; c < cols; c += 16) {
        unsigned char part[16 * 16];
        c = c + 16 > cols ? cols - 16 : c;
        if (w->next && (n == rows || (cols - c - 16) * rows * 1 >= 16))
            ravel_turn_low1(d + c * 1, s, row, col + c, rows, n, 1, w->picks);
        else if (ravel_is_near(end, s, col + c, 16)) {
            ravel_load_parts(part, s, col + c, rows * 1, 16);
            ravel_turn_low1(d + c * 1, part, row, ravel_part_at, rows, n, 0, w->picks);
        } else
            ravel_turn_low1(d + c * 1, s, row, col + c, rows, n, 0, w->picks);
    }
}

/* Transposes at most 16 rows of at most n columns.  `next`: the rows follow one another, and `picks`
 * leaves each the bytes of its columns. */
RAVEL_INLINE void
ravel_turn_thin1(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, int n, int next, ravel_1x1 picks)
{
    const int64_t step = 16 / n * cols * 1;
    ravel_1x1 v[16] = {{0}};
    int64_t to[16];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (i < cols)
            v[i] = (ravel_1x1)ravel_load1(s + col[i]);
    ravel_zip1(v, n, n > 4 ? 3 : n / 2);
    if (!next)
        RAVEL_UNROLL for (int i = 0; i < 16; i++)
            to[i] = row[i < rows ? i : 0];
    RAVEL_UNROLL for (int i = 0; i < n; i++)
        if (next)
            ravel_store1(d + row[0] + step * i, ravel_regrouped((ravel_1x1)v[i], picks, cols, n), 0);
        else
            ravel_store_pieces(d, to + i * (16 / n), (ravel_1x1)v[i], n * 1,
                               cols * 1, rows - i * (16 / n));
}

/* All rows.  A register of rows that follow one another writes what rows after it replace. */
RAVEL_INLINE void
ravel_turn_all_thin1(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                           const ravel_end *end, int n)
{
    for (int64_t r = 0; r < rows; r += 16) {
        const unsigned char *from = s + r * 1;
        const int32_t *at = col;
        const int64_t some = rows - r < 16 ? rows - r : (int64_t)16;
        unsigned char part[16 * 16];
        if (ravel_is_near(end, from, col, cols)) {
            ravel_load_parts(part, from, col, some * 1, cols);
            from = part;
            at = ravel_part_at;
        }
        if (w->next && some == 16 && (n == cols || (rows - r - 16) * cols * 1 >= 16))
            ravel_turn_thin1(d, from, row + r, at, some, cols, n, 1, w->picks);
        else
            ravel_turn_thin1(d, from, row + r, at, some, cols, n, 0, w->picks);
    }
}

/* Whether ravel_turn_slim takes such blocks. */
RAVEL_INLINE int
ravel_is_slim1(int64_t rows, int64_t cols)
{
    return 16 > 2 && (cols * 1 <= 8 || (rows * 1 <= RAVEL_LOW_BYTES && cols >= 16));
}

/* Whether the columns of a register, or its rows, follow one another. */
RAVEL_INLINE int
ravel_next1(const int32_t *row, const int32_t *col, int64_t rows, int64_t cols)
{
    const int low = cols * 1 > 8;
    const int64_t few = low ? rows : cols;
    return few > 1 && (RAVEL_PICKS || (few & (few - 1)) == 0) &&
           ravel_are_apart(low ? col : row, low ? cols : rows, (int32_t)few * 1);
}

/* What moves the bytes of rows or columns that follow one another, n of them as in ravel_turn_slim; none
 * where they are as many. */
RAVEL_INLINE ravel_1x1
ravel_picks1(int64_t rows, int64_t cols)
{
    const int few = (int)(cols * 1 > 8 ? rows : cols) * 1;
    const int all = few <= 2 * 1 ? 2 * 1 : few <= 4 * 1 ? 4 * 1 : 8 * 1;
    const ravel_1x1 none = {0};
    if (few == all)
        return none;
    return cols * 1 > 8 ? ravel_regroup(few, all) : ravel_regroup(all, few);
}

static void
ravel_turn_slim1(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int64_t cols, const ravel_way *w,
                       const ravel_end *end)
{
    const int low = cols * 1 > 8;
    const int64_t few = low ? rows : cols;
    if (low && few <= 2)
        ravel_turn_all_low1(d, s, row, col, rows, cols, w, end, 2);
    else if (low && 16 >= 8 && few <= 4)
        ravel_turn_all_low1(d, s, row, col, rows, cols, w, end, 4);
    else if (low && 16 >= 16)
        ravel_turn_all_low1(d, s, row, col, rows, cols, w, end, 8);
    else if (few <= 2)
        ravel_turn_all_thin1(d, s, row, col, rows, cols, w, end, 2);
    else if (16 >= 8 && few <= 4)
        ravel_turn_all_thin1(d, s, row, col, rows, cols, w, end, 4);
    else if (16 >= 16)
        ravel_turn_all_thin1(d, s, row, col, rows, cols, w, end, 8);
}
#endif

/* Blocks of elements of 1 bytes: rows are contiguous in the source, columns in the
 * destination. */
#ifndef RAVEL_PLAIN
/* Transposes 16 columns, with 16 rows of each in a lane. */
RAVEL_INLINE void
ravel_turn_wide1(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col)
{
    enum { M = 16, SOME = M < 8 ? M : 8 };
    RAVEL_TWO(1) v[M];
    RAVEL_KEEP(col);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        memcpy(&v[i], s + col[i], sizeof v[i]);
    ravel_turn_two1(v);
    RAVEL_UNROLL for (int k = 0; k < M * RAVEL_PAIR; k += SOME) {
        int64_t to[SOME];
        ravel_rows_at(to, row + k, SOME);
        RAVEL_UNROLL for (int i = 0; i < SOME; i++)
            ravel_store1(d + to[i], ravel_lane((RAVEL_TWO(1))v[k % M + i], k / M), 0);
    }
}

/* Transposes at most 16 rows, with 16 columns of each in a lane.  near: it fetches
 * the next line of each row. */
RAVEL_INLINE void
ravel_turn_line1(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows, int near)
{
    for (int64_t i = 0; i < 16 && i < rows && near; i++)
        RAVEL_PREFETCH(d + row[i] + 127);
    RAVEL_KEEP(col);
    enum { SOME = 16 < 8 ? 16 : 8 };
    RAVEL_ALL(1) v[16];
    RAVEL_UNROLL for (int i = 0; i < 16; i++) {
        const unsigned char *at[RAVEL_LANES];
        RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++)
            at[lane] = s + col[lane * 16 + i];
        v[i] = (RAVEL_ALL(1))RAVEL_ALL_ROWS(at, 0);
    }
    ravel_turn1(v);
    RAVEL_UNROLL for (int k = 0; k < 16; k += SOME)
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

/* Transposes blocks of at most 16 rows and columns, one block in a lane. */
RAVEL_INLINE void
ravel_turn_blocks1(unsigned char *d, const unsigned char *s, const int32_t *block,
                         const int32_t *row, const int32_t *col, int64_t rows,
                         int64_t cols)
{
    enum { M = 16 };
    RAVEL_TWO(1) v[M] = {{0}};
    const unsigned char *const from[2] = {s + block[1], s + block[2 * RAVEL_PAIR - 1]};
    RAVEL_KEEP(col);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        if (i < cols)
            v[i] = (RAVEL_TWO(1))RAVEL_TWO_ROWS(from, col[i]);
    ravel_turn_two1(v);
    RAVEL_UNROLL for (int lane = 0; lane < RAVEL_PAIR; lane++, block += 2)
        RAVEL_UNROLL for (int i = 0; i < M; i++)
            if (i < rows)
                ravel_store_part(d + row[i] + block[0], ravel_lane((RAVEL_TWO(1))v[i], lane),
                                 cols * 1);
}

RAVEL_INLINE void
ravel_turn_narrow1(unsigned char *d, const unsigned char *s, const int32_t *row,
                         const int32_t *col)
{
    RAVEL_KEEP(col);
    ravel_1x1 v[16];
    RAVEL_UNROLL for (int i = 0; i < 16; i++)
        v[i] = (ravel_1x1)ravel_load1(s + col[i]);
    ravel_zip1(v, 16, RAVEL_ROUNDS1);
    enum { SOME = 16 < 8 ? 16 : 8 };
    RAVEL_UNROLL for (int k = 0; k < 16; k += SOME) {
        int64_t to[SOME];
        ravel_rows_at(to, row + k, SOME);
        RAVEL_UNROLL for (int i = 0; i < SOME; i++)
            ravel_store1(d + to[i], (ravel_1x1)v[k + i], 0);
    }
}

/* The same for one block, which may have fewer rows or columns. */
RAVEL_INLINE void
ravel_turn_few1(unsigned char *d, const unsigned char *s, const int32_t *row,
                      const int32_t *col, int64_t rows, int64_t cols,
                      const ravel_end *end)
{
    unsigned char part[16 * 16];
    if (ravel_is_near(end, s, col, cols)) {
        ravel_load_parts(part, s, col, rows * 1, cols);
        s = part;
        col = ravel_part_at;
    }
    RAVEL_KEEP(col);
    ravel_1x1 v[16] = {{0}};
    RAVEL_UNROLL for (int i = 0; i < 16; i++)
        if (i < cols)
            v[i] = (ravel_1x1)ravel_load1(s + col[i]);
    ravel_zip1(v, 16, RAVEL_ROUNDS1);
    RAVEL_UNROLL for (int i = 0; i < 16; i++)
        if (i < rows)
            ravel_store_part(d + row[i], (ravel_1x1)v[i], cols * 1);
}

/* Transposes all rows of 16 columns; the last block overlaps the one before. */
RAVEL_INLINE void
ravel_turn_rows1(unsigned char *d, const unsigned char *s, const int32_t *row,
                       const int32_t *col, int64_t rows)
{
    enum { WIDE = 16 * RAVEL_PAIR };
    int64_t r = 0;
    for (; r + WIDE <= rows; r += WIDE)
        ravel_turn_wide1(d, s + r * 1, row + r, col);
    if (rows >= WIDE && r + 16 < rows) {
        r = rows - WIDE;
        ravel_turn_wide1(d, s + r * 1, row + r, col);
        return;
    }
    for (; r < rows; r += 16) {
        r = r + 16 > rows ? rows - 16 : r;
        ravel_turn_narrow1(d, s + r * 1, row + r, col);
    }
}

/* Transposes a block with fewer rows or columns than a register has elements. */
RAVEL_CALLED void
ravel_turn_short1(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const ravel_end *end)
{
    const int64_t m = rows < 16 ? rows : 16, k = cols < 16 ? cols : 16;
    for (int64_t c = 0; c < cols; c += k) {
        c = c + k > cols ? cols - k : c;
        for (int64_t r = 0; r < rows; r += m) {
            r = r + m > rows ? rows - m : r;
            ravel_turn_few1(d + c * 1, s + r * 1, row + r, col + c, m, k,
                                  end);
        }
    }
}

/* The same of rows that follow one another, each of more than half a register: whole registers
 * are stored, and the next row replaces what is beyond one's end. */
static void
ravel_turn_touching1(unsigned char *d, const unsigned char *s, const int32_t *row,
                           const int32_t *col, int64_t rows, int64_t cols,
                           const ravel_end *end)
{
    enum { WIDE = 16 * RAVEL_PAIR };
    int32_t all[16];
    int64_t r = 0;
    for (int64_t i = 0; i < 16; i++)
        all[i] = col[i < cols ? i : 0];
    for (; r + WIDE < rows; r += WIDE)
        ravel_turn_wide1(d, s + r * 1, row + r, all);
    ravel_turn_short1(d, s + r * 1, row + r, col, rows - r, cols, end);
}

/* Transposes all rows of a vector of columns; the last block overlaps the one before. */
RAVEL_INLINE void
ravel_turn_lines1(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, const ravel_end *end, int near)
{
    enum { WIDE = 16 * RAVEL_LANES };
    if (rows < 16 && ravel_is_near(end, s, col, WIDE)) {
        ravel_turn_short1(d, s, row, col, rows, WIDE, end);
        return;
    }
    for (int64_t r = 0; r < rows; r += 16) {
        r = r + 16 > rows && r ? rows - 16 : r;
        ravel_turn_line1(d, s + r * 1, row + r, col, rows, near);
    }
}

/* Transposes all rows of at most 16 columns, one block in a lane. */
RAVEL_INLINE void
ravel_turn_together1(unsigned char *d, const unsigned char *s, const int32_t *block,
                           const int32_t *row, const int32_t *col, int64_t rows,
                           int64_t cols)
{
    const int64_t m = rows < 16 ? rows : 16;
    for (int64_t r = 0; r < rows; r += m) {
        r = r + m > rows ? rows - m : r;
        ravel_turn_blocks1(d, s + r * 1, block, row + r, col, m, cols);
    }
}

/* Transposes all rows of some columns of a block. */
RAVEL_INLINE void
ravel_turn_columns1(unsigned char *d, const unsigned char *s, const int32_t *row,
                          const int32_t *col, int64_t rows, int64_t cols,
                          const ravel_end *end, int near)
{
    if (cols == 16 * RAVEL_LANES)
        ravel_turn_lines1(d, s, row, col, rows, end, near);
    else if (rows >= 16 && cols == 16)
        ravel_turn_rows1(d, s, row, col, rows);
    else
        ravel_turn_short1(d, s, row, col, rows, cols, end);
}

/* Transposes rows of a few lines and less, a line of the source at a time: the first cache
 * still holds the line of which a store writes the first part when the next store writes the
 * rest.  near: it fetches the next line of each row. */
static void
ravel_turn_along1(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols,
                        const ravel_end *end, int near, ravel_soon *soon, int64_t fetch)
{
    enum { WIDE = 16 * RAVEL_LANES, TALL = RAVEL_LINE / 1 };
    for (int64_t r = 0; r < rows; r += TALL) {
        r = r + TALL > rows ? rows - TALL : r;
        for (int64_t c = 0; c < cols; c += WIDE) {
            c = c + WIDE > cols ? cols - WIDE : c;
            ravel_turn_lines1(d + c * 1, s + r * 1, row + r, col + c, TALL,
                                    end, near);
        }
        ravel_soon_fetch(soon, fetch);
    }
}

/* The same of rows of less than a vector. */
static void
ravel_turn_parts1(unsigned char *d, const unsigned char *s, const int32_t *row,
                        const int32_t *col, int64_t rows, int64_t cols)
{
    enum { TALL = RAVEL_LINE / 1 };
    for (int64_t r = 0; r < rows; r += TALL) {
        r = r + TALL > rows ? rows - TALL : r;
        for (int64_t c = 0; c < cols; c += 16) {
            c = c + 16 > cols ? cols - 16 : c;
            ravel_turn_rows1(d + c * 1, s + r * 1, row + r, col + c, TALL);
        }
    }
}

/* How the blocks of tile t are transposed. */
RAVEL_INLINE ravel_way
ravel_tile_way1(const int32_t *t, const int32_t *row, const int32_t *col)
{
    enum { WIDE = 16 * RAVEL_LANES };
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS];
    ravel_way w;
    w.wide = cols >= WIDE ? (int64_t)WIDE : cols >= 16 ? (int64_t)16 : cols;
    w.slim = ravel_is_slim1(rows, cols);
    w.next = w.slim && ravel_next1(row, col, rows, cols);
    if (w.next)
        w.picks = ravel_picks1(rows, cols);
    w.touching = !w.slim && cols < 16 && rows > 16 * RAVEL_PAIR &&
                 ravel_are_apart(row, rows, (int32_t)cols * 1);
    w.parts = w.wide == 16 && cols > w.wide && rows >= 256 / 1 &&
              rows * cols * 1 >= RAVEL_TILE_SOON;
    w.lanes = !w.slim && !w.touching && cols < WIDE && rows < 2 * 16 &&
              t[RAVEL_T_BLOCKS] >= RAVEL_PAIR ? RAVEL_PAIR : 1;
    w.along = w.wide == WIDE && cols <= RAVEL_TILE_ALONG && rows >= RAVEL_LINE / 1 &&
              (cols % WIDE == 0 || cols % WIDE * 4 >= WIDE);
    w.near = !t[RAVEL_T_RUNS] &&
             (w.along ? !ravel_rows_share_lines(row, rows) : rows <= RAVEL_TILE_NEAR);
    w.steps = w.slim || w.touching || w.parts ? 1
              : w.along ? (rows * 1 + RAVEL_LINE - 1) / RAVEL_LINE : (cols - 1) / w.wide + 1;
    return w;
}

/* A vector of columns after another, of w->lanes blocks.  `apart`: one block after another. */
RAVEL_INLINE void
ravel_tile_columns1(unsigned char *d, const unsigned char *s, const int32_t *at,
                          const int32_t *row, const int32_t *col, int64_t rows, int64_t cols,
                          const ravel_way *w, const ravel_end *end, int apart,
                          ravel_soon *soon, int64_t fetch)
{
    for (int64_t c = 0; c < cols; c += w->wide) {
        c = c + w->wide > cols ? cols - w->wide : c;
        for (int64_t l = 0; l < w->lanes && apart; l++)
            ravel_turn_columns1(d + c * 1 + at[2 * l], s + at[2 * l + 1],
                                      row, col + c, rows, w->wide, end, w->near);
        if (!apart)
            ravel_turn_together1(d + c * 1, s, at, row, col + c, rows, w->wide);
        ravel_soon_fetch(soon, fetch);
    }
}

static void
ravel_tile1(unsigned char *d, const unsigned char *s, const int32_t *t,
                  ravel_soon *soon)
{
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], n = t[RAVEL_T_BLOCKS];
    const int32_t *const row = t + RAVEL_TILE_HEAD, *const col = row + rows;
    const int64_t most = t[RAVEL_T_END] - t[RAVEL_T_LAST] - 16;
    const ravel_end end = {s + t[RAVEL_T_END], t[RAVEL_T_LAST]};
    const ravel_way w = ravel_tile_way1(t, row, col);
    const int64_t fetch = ravel_soon_share(soon, (n + w.lanes - 1) / w.lanes * w.steps);
    for (int64_t i = 0; i < n; i += w.lanes) {
        i = i + w.lanes > n ? n - w.lanes : i;
        const int32_t *const at = col + cols + 2 * i;
        const int apart = w.lanes == 1 ||
                          (rows < 16 && ravel_any_above(at + 1, RAVEL_PAIR, 2, most));
        if (w.slim)
            ravel_turn_slim1(d + at[0], s + at[1], row, col, rows, cols, &w, &end);
        if (w.touching)
            ravel_turn_touching1(d + at[0], s + at[1], row, col, rows, cols, &end);
        if (w.parts)
            ravel_turn_parts1(d + at[0], s + at[1], row, col, rows, cols);
        if (w.slim || w.touching || w.parts)
            ravel_soon_fetch(soon, fetch);
        else if (w.along)
            ravel_turn_along1(d + at[0], s + at[1], row, col, rows, cols, &end, w.near,
                                    soon, fetch);
        else
            ravel_tile_columns1(d, s, at, row, col, rows, cols, &w, &end, apart, soon,
                                      fetch);
    }
}
#else
static void
ravel_tile1(unsigned char *d, const unsigned char *s, const int32_t *t,
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
                memcpy(to + row[r] + c * 1, from + col[c] + r * 1, 1);
    }
}
#endif

/* Sets n bits of a byte, from bit `at` on; the other bits stay.  volatile, because the
 * vectorisers of clang 14 and 15 move the load of a byte above a store to it. */
static void
ravel_bits_into(unsigned char *d, int64_t at, unsigned v, int64_t n)
{
    const unsigned mask = ((1u << n) - 1) << at;
    volatile unsigned char *byte = d;
    *byte = (unsigned char)((*byte & ~mask) | v << at);
}

#ifndef RAVEL_PLAIN
/* Returns the 16 bytes that begin at bit `by` of s, 0 < by < 8; reads 17. */
RAVEL_INLINE ravel_1x1
ravel_bits_vector(const unsigned char *s, int64_t by)
{
    const uint64_t low = (uint64_t)(0xff >> by) * 0x0101010101010101;
    const ravel_8x1 a = (ravel_8x1)ravel_load1(s), b = (ravel_8x1)ravel_load1(s + 1);
    return (ravel_1x1)((a >> (uint64_t)by & low) | (b << (uint64_t)(8 - by) & ~low));
}
#endif

/* Words before those of a tile of elements smaller than a byte.  Of four bits, two may share a byte of the
 * destination: in the source the second is so many elements after the first; or share one of the source,
 * and are so far apart in the destination.  0: each has a byte in a buffer.  RAVEL_PAIR_TABLE, as
 * RAVEL_PAIR_FROM: columns two and two share the bytes of the buffers, and are anywhere in the source; a
 * run of the destination, a row of a block, begins at any element. */
enum { RAVEL_PAIR_FROM, RAVEL_PAIR_TO, RAVEL_PAIR_HEAD, RAVEL_PAIR_TABLE = -1 };
/* Bytes of each of the two buffers of a tile of elements smaller than a byte. */
enum { RAVEL_UNPACKED_BYTES = 16 * 1024 };

/* Eight elements of 1, 2 or 4 bits to a byte each, and back: words of `bits` bytes and of 8.
 * The first element of a byte is in its lowest bits.  `bits` is a constant. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#ifndef RAVEL_PLAIN
#define RAVEL_UNPACK_LINES
#if RAVEL_LANES == 4 && defined(__AVX512VBMI__)
#define RAVEL_UNPACK_VBMI
#endif
#endif
RAVEL_CONSTANT uint64_t
ravel_word_load(const unsigned char *s, int bytes)
{
    uint64_t x = *s;
    uint32_t y;
    uint16_t z;
    if (bytes == 8) {
        memcpy(&x, s, 8);
    } else if (bytes == 4) {
        memcpy(&y, s, 4);
        x = y;
    } else if (bytes == 2) {
        memcpy(&z, s, 2);
        x = z;
    }
    return x;
}

RAVEL_CONSTANT void
ravel_word_store(unsigned char *d, uint64_t x, int bytes)
{
    const uint32_t y = (uint32_t)x;
    const uint16_t z = (uint16_t)x;
    if (bytes == 8)
        memcpy(d, &x, 8);
    else if (bytes == 4)
        memcpy(d, &y, 4);
    else if (bytes == 2)
        memcpy(d, &z, 2);
    else
        *d = (unsigned char)x;
}
#else
RAVEL_CONSTANT uint64_t
ravel_word_load(const unsigned char *s, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)s[i] << 8 * i;
    return x;
}

RAVEL_CONSTANT void
ravel_word_store(unsigned char *d, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        d[i] = (unsigned char)(x >> 8 * i);
}
#endif

/* The bits of fields of `step` elements, of which one begins in each `step` bytes. */
RAVEL_CONSTANT uint64_t
ravel_fields(int step, int bits)
{
    return (uint64_t)-1 / (((uint64_t)2 << (8 * step - 1)) - 1) * (((uint64_t)1 << step * bits) - 1);
}

/* Moves the elements of a word to a byte each: halves, quarters, single elements. */
RAVEL_CONSTANT uint64_t
ravel_spread(uint64_t x, int bits)
{
    RAVEL_UNROLL for (int step = 4; step > 0; step /= 2)
        x = (x | x << step * (8 - bits)) & ravel_fields(step, bits);
    return x;
}

/* The inverse of ravel_spread. */
RAVEL_CONSTANT uint64_t
ravel_unspread(uint64_t x, int bits)
{
    RAVEL_UNROLL for (int step = 1; step < 8; step *= 2) {
        x &= ravel_fields(step, bits);
        x |= x >> step * (8 - bits);
    }
    return x;
}

/* A word from bit `at` of the source on, a byte an element.  Both words that an element may be in are
 * read; they have the same bits where they overlap. */
RAVEL_CONSTANT uint64_t
ravel_unpacked_word(const unsigned char *s, int64_t at, int bits)
{
    uint64_t x = ravel_word_load(s + (at >> 3), bits);
    if (at & 7)
        x = (x >> (at & 7) | ravel_word_load(s + (at >> 3) + 1, bits) << (8 - (at & 7))) &
            (uint64_t)-1 >> (64 - 8 * bits);
    return ravel_spread(x, bits);
}

RAVEL_CONSTANT void
ravel_pack_word(unsigned char *d, const unsigned char *s, int up, int bits)
{
    ravel_word_store(d, ravel_unspread(ravel_word_load(s, 8) >> up, bits), bits);
}

/* n elements, fewer than 8, from bit `at` of a byte on; other bits stay.  Reads 8 bytes. */
RAVEL_CONSTANT void
ravel_pack_few(unsigned char *d, int at, const unsigned char *s, int n, int up, int bits)
{
    if (bits == 4 && n == 1) {
        ravel_bits_into(d, at, *s >> up & 15, 4);
        return;
    }
    uint64_t x = ravel_unspread(ravel_word_load(s, 8) >> up, bits);
    for (n *= bits; n > 0; at = 0) {
        const int part = n < 8 - at ? n : 8 - at;
        ravel_bits_into(d++, at, (unsigned)x & ((1u << part) - 1), part);
        x >>= part;
        n -= part;
    }
}

/* Runs of elements of 1, 2 or 4 bits to a byte each, and back, by lines of 64 elements: processors
 * with VBMI, which permute bytes and take any 8 bits of a word.  The first element of a byte is in
 * its lowest bits.  `bits` is a constant. */
#ifdef RAVEL_UNPACK_VBMI
/* Each byte of a line of 64 elements to a word of as many bytes as it has elements. */
RAVEL_INLINE ravel_8x4
ravel_widen(const unsigned char *s, int bits)
{
    if (bits == 4)
        return (ravel_8x4)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)s));
    if (bits == 2)
        return (ravel_8x4)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)s));
    return (ravel_8x4)_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)s));
}

/* 64 elements from bit `by`, below 8, of s on.  begins: where those of widened bytes do in a word of
 * eight elements. */
RAVEL_INLINE void
ravel_unpack_line(unsigned char *d, const unsigned char *s, int by, const __m512i *begins, int bits)
{
    const ravel_8x4 x = ravel_widen(s, bits), next = by ? ravel_widen(s + 1, bits) << 8 : x << 4;
    ravel_8x4 v = bits < 4 && !by ? x : x | next;
    if (bits < 4)
        v = (ravel_8x4)_mm512_multishift_epi64_epi8(begins[by], (__m512i)v);
    else if (by)
        v = x >> 4 | next;
    v &= ravel_fields(1, bits);
    memcpy(d, &v, sizeof v);
}

/* So many whole lines, and the last `rest` elements, if any, by a line that overlaps the one before. */
RAVEL_INLINE void
ravel_unpack_lines(unsigned char *d, const unsigned char *s, int64_t at, int64_t lines, int64_t rest,
                   int64_t ahead, const __m512i *begins, int bits)
{
    const unsigned char *of = s + (at >> 3), *const end = of + lines * 8 * bits;
    if (at & 7)
        for (; of != end; of += 8 * bits, d += RAVEL_LINE) {
            RAVEL_PREFETCH(of + ahead);
            ravel_unpack_line(d, of, bits == 4 ? 4 : (int)(at & 7), begins, bits);
        }
    else
        for (; of != end; of += 8 * bits, d += RAVEL_LINE) {
            RAVEL_PREFETCH(of + ahead);
            ravel_unpack_line(d, of, 0, begins, bits);
        }
    if (!rest)
        return;
    const int64_t last = (at & 7) + (rest - RAVEL_LINE) * bits;
    d += rest - RAVEL_LINE;
    of = end + (last >> 3);
    RAVEL_PREFETCH(of + ahead + 8 * bits);
    if (last & 7)
        ravel_unpack_line(d, of, bits == 4 ? 4 : (int)(last & 7), begins, bits);
    else
        ravel_unpack_line(d, of, 0, begins, bits);
}

/* The bytes that have the elements of each word of a line. */
RAVEL_INLINE __m512i
ravel_unpack_bytes(int bits)
{
    ravel_1x4 at = {0};
    RAVEL_UNROLL for (int i = 0; i < 64; i++)
        at[i] = (uint8_t)(i / 8 * bits + (i % 8 <= bits ? i % 8 : 0));
    __asm__("" : "+v"(at));          /* else gcc makes it again for each run */
    return (__m512i)at;
}

/* At most 64 elements, in the bytes `read` of s: to each word the bytes that have its elements, which
 * begin in it at begins[]. */
RAVEL_INLINE void
ravel_unpack_some(unsigned char *d, const unsigned char *s, __m512i bytes, __m512i begins,
                  uint64_t read, int bits)
{
    __m512i v = _mm512_maskz_loadu_epi8((__mmask64)read, s);
    v = _mm512_permutexvar_epi8(bytes, v);
    v = _mm512_multishift_epi64_epi8(begins, v);
    v = _mm512_and_si512(v, _mm512_set1_epi8((char)((1 << bits) - 1)));
    memcpy(d, &v, sizeof v);
}

/* Where the eight elements of a word begin, of widened bytes (`wide`) and of those that have them. */
RAVEL_INLINE __m512i
ravel_unpack_begins(int by, int wide, int bits)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++)
        x |= (uint64_t)(by + i * bits + (wide ? i * bits / 8 * (64 / bits - 8) : 0)) << 8 * i;
    return _mm512_set1_epi64((long long)x);
}

/* Each run of n elements to `pitch` bytes after the one before, and up to 63 bytes after it.  Fetches
 * what is `ahead` bytes from them. */
RAVEL_CONSTANT void
ravel_unpack_runs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                  const int32_t *from, int64_t runs, int64_t n, int64_t ahead, int bits)
{
    const int whole = n >= RAVEL_LINE;
    const __m512i bytes = ravel_unpack_bytes(bits);
    __m512i begins[8];
    uint64_t read[8] = {0};
    for (int by = 0; by < 8; by += bits) {
        begins[by] = ravel_unpack_begins(by, whole, bits);
        if (!whole)
            read[by] = (uint64_t)-1 >> (64 - ((by + n * bits + 7) >> 3));
    }
    for (int64_t i = 0; i < runs && whole; i++, to += pitch)
        ravel_unpack_lines(to, src, (s + from[i]) * bits, n / RAVEL_LINE, n % RAVEL_LINE, ahead, begins,
                           bits);
    for (int64_t i = 0; i < runs && !whole; i++, to += pitch) {
        const int64_t at = (s + from[i]) * bits, by = at & 7;
        const unsigned char *const of = src + (at >> 3);
        RAVEL_PREFETCH(of + ahead);
        RAVEL_PREFETCH(of + ahead + n * bits / 8);
        ravel_unpack_some(to, of, bytes, begins[by], read[by], bits);
    }
}

/* Of which bytes the first 8 * bits of a line become. */
RAVEL_INLINE __m512i
ravel_pack_at(int bits)
{
    ravel_1x4 at = {0};
    RAVEL_UNROLL for (int i = 0; i < 64; i++)
        at[i] = (uint8_t)(i * (8 / bits) % 64);
    __asm__("" : "+v"(at));
    return (__m512i)at;
}

/* 64 elements in the first 8 * bits bytes.  What is no element, after them, changes only bytes that
 * have some of it.  Those of four bits begin at bit `up` of their bytes. */
RAVEL_INLINE __m256i
ravel_packed(const unsigned char *s, __m512i at, int up, int bits)
{
    __m512i v = _mm512_loadu_si512(s);
    if (bits == 4 && up)
        v = _mm512_srli_epi16(v, 4);
    if (bits == 4)
        v = _mm512_and_si512(v, _mm512_set1_epi8(15));
    const __m512i two = _mm512_maddubs_epi16(v, _mm512_set1_epi16((short)(1 | 256 << bits)));
    const __m512i four = _mm512_madd_epi16(two, _mm512_set1_epi32(1 | 65536 << 2 * bits));
    const uint64_t eight = _mm512_test_epi8_mask(v, _mm512_set1_epi8(1));
    if (bits == 1)                   /* of which clang 14 makes no broadcast: it reads s instead */
        return _mm256_castsi128_si256(_mm_cvtsi64_si128((long long)eight));
    return _mm512_castsi512_si256(_mm512_permutexvar_epi8(at, bits == 2 ? four : two));
}

RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, __m512i at, int up, int bits)
{
    const __m256i v = ravel_packed(s, at, up, bits);
    memcpy(d, &v, 8 * (size_t)bits);
}

/* The byte of which s has the first element.  What is no element may have more bits than one. */
RAVEL_CONSTANT unsigned
ravel_pack_byte(const unsigned char *s, int up, int bits)
{
    const uint64_t two = bits == 4 ? ravel_word_load(s, 2) >> up & 0x0f0f : 0;
    unsigned v = 0;
    if (bits == 4)
        return (unsigned)(two | two >> 4) & 255;
    RAVEL_UNROLL for (int i = 0; i < 8 / bits; i++)
        v |= (s[i] >> up & ((1u << bits) - 1)) << i * bits;
    return v;
}

/* What runs of n elements have that begin at a bit of a byte: whole bytes, after the lines of which
 * some are written; elements in the byte after them. */
typedef struct {
    int64_t lines, bytes;
    __mmask32 first, last;
    unsigned begin, end;             /* the bits of the first and of the last byte that stay */
} ravel_pack_run;

RAVEL_INLINE ravel_pack_run
ravel_pack_run_at(int by, int64_t n, int bits)
{
    const int64_t all = n * bits + by, bytes = all >> 3, lines = bytes ? (bytes - 1) / (8 * bits) : 0;
    const unsigned begin = (1u << by) - 1, end = 255u & ~((1u << (all & 7)) - 1);
    const __mmask32 first = (__mmask32)((uint64_t)2 << (8 * bits - 1)) - 1 - (by > 0);
    const __mmask32 last = (__mmask32)(((uint64_t)1 << (bytes - lines * 8 * bits)) - 1);
    const ravel_pack_run run = {lines, bytes, first, lines ? last : last & first,
                                bytes ? begin : begin | end, bytes ? end : 255};
    return run;
}

/* Lines begin with the element that would be the first of a byte.  The bytes of which bits stay are
 * read and written first: what is next to a masked store waits for it. */
RAVEL_INLINE void
ravel_pack_bits(unsigned char *d, const unsigned char *s, const ravel_pack_run *r, __m512i at,
                int up, int bits)
{
    if (r->begin)
        *d = (unsigned char)((*d & r->begin) | (ravel_pack_byte(s, up, bits) & ~r->begin));
    if (r->end != 255) {
        unsigned char *const end = d + r->bytes;
        const unsigned v = ravel_pack_byte(s + r->bytes * (8 / bits), up, bits);
        *end = (unsigned char)((*end & r->end) | (v & ~r->end));
    }
    if (r->lines) {
        _mm256_mask_storeu_epi8(d, r->first, ravel_packed(s, at, up, bits));
        for (int64_t k = 1; k < r->lines; k++)
            ravel_pack_line(d + k * 8 * bits, s + k * RAVEL_LINE, at, up, bits);
        d += r->lines * 8 * bits;
        s += r->lines * RAVEL_LINE;
    }
    _mm256_mask_storeu_epi8(d, r->last, ravel_packed(s, at, up, bits));
}

RAVEL_INLINE void
ravel_pack_part(unsigned char *d, int by, const unsigned char *s, int64_t n, __m512i at, int up, int bits)
{
    const ravel_pack_run r = ravel_pack_run_at(by, n, bits);
    ravel_pack_bits(d, s - by / bits, &r, at, up, bits);
}

/* n elements to bit `by` of a byte and what follows; lines of a cache by non-temporal stores. */
RAVEL_INLINE void
ravel_pack_past(unsigned char *d, int by, const unsigned char *s, int64_t n, __m512i at, int up, int bits)
{
    const int64_t each = 8 * RAVEL_LINE / bits;
    const int64_t before = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1));
    const int64_t left = by && !before ? (int64_t)RAVEL_LINE : before;
    const int64_t most = (8 * left - by) / bits, head = most < n ? most : n;
    unsigned char line[RAVEL_LINE];
    ravel_pack_part(d, by, s, head, at, up, bits);
    for (d += left, s += head, n -= head; n >= each; n -= each, s += each, d += RAVEL_LINE) {
        RAVEL_UNROLL for (int k = 0; k < 8 / bits; k++)
            ravel_pack_line(line + k * 8 * bits, s + k * RAVEL_LINE, at, up, bits);
        ravel_stream_line(d, line);
    }
    if (n > 0)
        ravel_pack_part(d, 0, s, n, at, up, bits);
}

/* The bytes of which elements of four bits are read, in two loads: the second is a byte further on, where
 * the first element is the upper half of a byte. */
typedef struct {
    __mmask64 at, next;
} ravel_halves;

/* Of n elements, at most 128. */
RAVEL_INLINE ravel_halves
ravel_halves_of(int64_t n)
{
    const ravel_halves h = {~(__mmask64)0 >> (64 - (n + 1) / 2),
                            n > 1 ? ~(__mmask64)0 >> (64 - n / 2) : 0};
    return h;
}

RAVEL_INLINE __m512i
ravel_halves_load(const unsigned char *s, int by, const ravel_halves *h)
{
    const __m512i v = _mm512_maskz_loadu_epi8(h->at, s);
    if (!by)
        return v;
    const __m512i next = _mm512_maskz_loadu_epi8(h->next, s + 1);
    return _mm512_ternarylogic_epi32(_mm512_set1_epi8(15), _mm512_srli_epi16(v, 4),
                                     _mm512_slli_epi16(next, 4), 0xca);
}

/* n elements of four bits, at most 128, from bit `by` of s on, each with one from bit `on` of `pair` on
 * in the upper half of its byte. */
RAVEL_INLINE void
ravel_unpack_both(unsigned char *d, const unsigned char *s, int by, const unsigned char *pair, int on,
                  const ravel_halves *h, const __m512i *zip, int64_t n)
{
    const __m512i a = ravel_halves_load(s, by, h), b = ravel_halves_load(pair, on, h);
    const __m512i low = _mm512_set1_epi8(15);
    const __m512i even = _mm512_ternarylogic_epi32(low, a, _mm512_slli_epi16(b, 4), 0xca);
    const __m512i odd = _mm512_ternarylogic_epi32(low, _mm512_srli_epi16(a, 4), b, 0xca);
    _mm512_storeu_si512(d, _mm512_permutex2var_epi8(even, zip[0], odd));
    if (n > RAVEL_LINE)
        _mm512_storeu_si512(d + RAVEL_LINE, _mm512_permutex2var_epi8(even, zip[1], odd));
}

/* Of a run: two lines at a time, the last of which may be a part. */
RAVEL_INLINE void
ravel_unpack_pair(unsigned char *d, const unsigned char *s, int by, const unsigned char *pair, int on,
                  int64_t n, int64_t ahead, const ravel_halves *last, const __m512i *zip)
{
    enum { SOME = 2 * RAVEL_LINE };
    const ravel_halves all = {~(__mmask64)0, ~(__mmask64)0};
    for (; n > SOME; n -= SOME, d += SOME, s += SOME / 2, pair += SOME / 2) {
        RAVEL_PREFETCH(s + ahead);
        RAVEL_PREFETCH(pair + ahead);
        ravel_unpack_both(d, s, by, pair, on, &all, zip, SOME);
    }
    RAVEL_PREFETCH(s + ahead);
    RAVEL_PREFETCH(pair + ahead);
    ravel_unpack_both(d, s, by, pair, on, last, zip, n);
}

/* As ravel_unpack_runs, of elements of four bits, each with the one that is `pair` elements on;
 * RAVEL_PAIR_TABLE: from[] has both offsets of each. */
static void
ravel_unpack_pairs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                   const int32_t *from, int64_t runs, int64_t n, int64_t pair, int64_t ahead)
{
    const int two = pair == RAVEL_PAIR_TABLE;
    const int64_t rest = (n - 1) % (2 * RAVEL_LINE) + 1;
    const ravel_halves last = ravel_halves_of(rest);
    ravel_1x4 low = {0}, high;
    RAVEL_UNROLL for (int i = 0; i < 64; i++)
        low[i] = (uint8_t)(i / 2 + i % 2 * 64);
    high = low + 32;
    const __m512i zip[2] = {(__m512i)low, (__m512i)high};
    for (int64_t i = 0; i < runs; i++, to += pitch) {
        const int64_t at = s + from[two ? 2 * i : i], on = two ? s + from[2 * i + 1] : at + pair;
        const unsigned char *const a = src + (at >> 1), *const b = src + (on >> 1);
        if (at & on & 1)
            ravel_unpack_pair(to, a, 4, b, 4, n, ahead, &last, zip);
        else if (at & 1)
            ravel_unpack_pair(to, a, 4, b, 0, n, ahead, &last, zip);
        else if (on & 1)
            ravel_unpack_pair(to, a, 0, b, 4, n, ahead, &last, zip);
        else
            ravel_unpack_pair(to, a, 0, b, 0, n, ahead, &last, zip);
    }
}

/* The inverse of ravel_unpack_runs; elements begin at bit `up` of their bytes.  Up to 63 bytes after a
 * run, and 7 before it, are read. */
RAVEL_CONSTANT void
ravel_pack_runs(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
                const unsigned char *from, int64_t pitch, int64_t n, int64_t stream, int up,
                int bits)
{
    const __m512i packed = ravel_pack_at(bits);
    ravel_pack_run r[8];
    for (int by = 0; by < 8; by += bits)
        r[by] = ravel_pack_run_at(by, n, bits);
    for (int64_t i = 0; i < runs; i++, from += pitch) {
        const int64_t at = (d + to[i]) * bits;
        const int by = (int)(at & 7);
        if (stream)
            ravel_pack_past(dst + (at >> 3), by, from, n, packed, up, bits);
        else
            ravel_pack_bits(dst + (at >> 3), from - by / bits, &r[by], packed, up, bits);
    }
}
#endif

/* A register of elements of 1, 2 or 4 bits to a byte each, and back.  The first element of a byte is
 * in its lowest bits.  `bits` is a constant. */
#if defined(RAVEL_UNPACK_LINES) && !defined(RAVEL_UNPACK_VBMI)
#if RAVEL_LANES > 1
enum { RAVEL_UNPACKED = 32 };
/* 32 elements, of 4 * bits bytes: each byte to a word of as many bytes as it has elements. */
RAVEL_INLINE __m256i
ravel_widen(const unsigned char *s, int bits)
{
    int32_t four;
    if (bits == 4)
        return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)s));
    if (bits == 2)
        return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)s));
    memcpy(&four, s, sizeof four);
    return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
}

/* 32 elements from bit `by`, below 8, of s on. */
RAVEL_INLINE void
ravel_unpack_line(unsigned char *d, const unsigned char *s, int by, int bits)
{
    ravel_8x2 x = (ravel_8x2)ravel_widen(s, bits);
    if (by)
        x = (x | (ravel_8x2)ravel_widen(s + 1, bits) << 8) >> (uint64_t)by &
            ravel_fields(8 / bits, bits);
    RAVEL_UNROLL for (int step = 4 / bits; step > 0; step /= 2)
        x = (x | x << (uint64_t)(step * (8 - bits))) & ravel_fields(step, bits);
    memcpy(d, &x, sizeof x);
}

#define RAVEL_UNPACK_PAIRS
/* 32 bytes; the first 16 if few. */
RAVEL_INLINE __m256i
ravel_halves_of(const unsigned char *s, int few)
{
    if (few)
        return _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)s));
    return _mm256_loadu_si256((const __m256i *)s);
}

/* 64 elements of four bits from element `at` of s on, or 32 if few. */
RAVEL_INLINE __m256i
ravel_halves_load(const unsigned char *s, int64_t at, int few)
{
    const __m256i v = ravel_halves_of(s + (at >> 1), few), low = _mm256_set1_epi8(15);
    if (!(at & 1))
        return v;
    const __m256i next = ravel_halves_of(s + (at >> 1) + 1, few);
    return _mm256_or_si256(_mm256_and_si256(low, _mm256_srli_epi16(v, 4)),
                           _mm256_andnot_si256(low, _mm256_slli_epi16(next, 4)));
}

/* 64 elements, or 32 if few, from element `at` on, each with that from element `on` on in the upper half
 * of its byte. */
RAVEL_INLINE void
ravel_unpack_both(unsigned char *d, const unsigned char *s, int64_t at, int64_t on, int few)
{
    const __m256i a = ravel_halves_load(s, at, few), b = ravel_halves_load(s, on, few);
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i even = _mm256_or_si256(_mm256_and_si256(low, a),
                                         _mm256_andnot_si256(low, _mm256_slli_epi16(b, 4)));
    const __m256i odd = _mm256_or_si256(_mm256_and_si256(low, _mm256_srli_epi16(a, 4)),
                                        _mm256_andnot_si256(low, b));
    const __m256i x = _mm256_unpacklo_epi8(even, odd), y = _mm256_unpackhi_epi8(even, odd);
    _mm256_storeu_si256((__m256i *)d, _mm256_permute2x128_si256(x, y, 0x20));
    if (!few)
        _mm256_storeu_si256((__m256i *)(d + 32), _mm256_permute2x128_si256(x, y, 0x31));
}

RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, int up, int bits)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)s);
    if (bits == 4 && up)
        v = _mm256_srli_epi16(v, 4);
    if (bits == 4)
        v = _mm256_and_si256(v, _mm256_set1_epi8(15));
    const int one = _mm256_movemask_epi8(_mm256_slli_epi16(v, 7));
    const __m256i two = _mm256_maddubs_epi16(v, _mm256_set1_epi16((short)(1 | 256 << bits)));
    const __m256i four = _mm256_madd_epi16(two, _mm256_set1_epi32(1 | 65536 << 2 * bits));
    const __m256i x = bits == 4 ? two : _mm256_packus_epi32(four, four);
    const __m256i bytes = _mm256_packus_epi16(x, x);
    const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    if (bits == 1)
        memcpy(d, &one, 4);
    else if (bits == 2)
        _mm_storel_epi64((__m128i *)d, _mm_unpacklo_epi32(low, high));
    else
        _mm_storeu_si128((__m128i *)d, _mm_unpacklo_epi64(low, high));
}
#else
enum { RAVEL_UNPACKED = 64 };
/* 64 elements: 8, 16 or 32 packed bytes, and as many words. */
typedef uint8_t ravel_packed1 __attribute__((vector_size(8)));
typedef uint8_t ravel_packed2 __attribute__((vector_size(16)));
typedef uint8_t ravel_packed4 __attribute__((vector_size(32)));
typedef uint64_t ravel_line1 __attribute__((vector_size(RAVEL_LINE)));
typedef uint32_t ravel_line2 __attribute__((vector_size(RAVEL_LINE)));
typedef uint16_t ravel_line4 __attribute__((vector_size(RAVEL_LINE)));

/* Each byte to a word of as many bytes as it has elements. */
RAVEL_INLINE void
ravel_widen(ravel_line1 *x, const unsigned char *s, int bits)
{
    ravel_packed1 one;
    ravel_packed2 two;
    ravel_packed4 four;
    if (bits == 1) {
        memcpy(&one, s, sizeof one);
        *x = __builtin_convertvector(one, ravel_line1);
    } else if (bits == 2) {
        memcpy(&two, s, sizeof two);
        *x = (ravel_line1)__builtin_convertvector(two, ravel_line2);
    } else {
        memcpy(&four, s, sizeof four);
        *x = (ravel_line1)__builtin_convertvector(four, ravel_line4);
    }
}

/* The inverse of ravel_widen. */
RAVEL_INLINE void
ravel_narrow(unsigned char *d, const ravel_line1 *x, int bits)
{
    const ravel_packed1 one = __builtin_convertvector(*x, ravel_packed1);
    const ravel_packed2 two = __builtin_convertvector((ravel_line2)*x, ravel_packed2);
    const ravel_packed4 four = __builtin_convertvector((ravel_line4)*x, ravel_packed4);
    if (bits == 1)
        memcpy(d, &one, sizeof one);
    else if (bits == 2)
        memcpy(d, &two, sizeof two);
    else
        memcpy(d, &four, sizeof four);
}

/* 64 elements from bit `by`, below 8, of s on. */
RAVEL_INLINE void
ravel_unpack_line(unsigned char *d, const unsigned char *s, int by, int bits)
{
    ravel_line1 x, next;
    ravel_widen(&x, s, bits);
    if (by) {
        ravel_widen(&next, s + 1, bits);
        x = (x | next << 8) >> (uint64_t)by & ravel_fields(8 / bits, bits);
    }
    RAVEL_UNROLL for (int step = 4 / bits; step > 0; step /= 2)
        x = (x | x << (uint64_t)(step * (8 - bits))) & ravel_fields(step, bits);
    memcpy(d, &x, sizeof x);
}

RAVEL_INLINE void
ravel_pack_line(unsigned char *d, const unsigned char *s, int up, int bits)
{
    ravel_line1 x;
    memcpy(&x, s, sizeof x);
    x >>= (uint64_t)up;
    RAVEL_UNROLL for (int step = 1; step < 8 / bits; step *= 2) {
        x &= ravel_fields(step, bits);
        x |= x >> (uint64_t)(step * (8 - bits));
    }
    ravel_narrow(d, &x, bits);
}
#endif
#endif

/* Runs of elements of 1, 2 or 4 bits to a byte each, and back: by registers, words of eight, single
 * ones.  The first element of a byte is in its lowest bits.  `bits` is a constant. */
#ifndef RAVEL_UNPACK_VBMI
#ifdef RAVEL_UNPACK_LINES
/* The registers of n elements; the last one may overlap the one before.  Returns the elements
 * that are done: n, or 0 if it is less than one. */
RAVEL_CONSTANT int64_t
ravel_unpack_lines(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    enum { LINE = RAVEL_UNPACKED };
    const unsigned char *of = s + (at >> 3);
    int64_t i = 0;
    for (; !(at & 7) && i + LINE <= n; i += LINE, of += LINE / 8 * bits)
        ravel_unpack_line(d + i, of, 0, bits);
    for (; i + LINE <= n; i += LINE, of += LINE / 8 * bits)
        ravel_unpack_line(d + i, of, (int)(at & 7), bits);
    if (i == n || n < LINE)
        return i;
    at += (n - LINE) * bits;
    if (at & 7)
        ravel_unpack_line(d + n - LINE, s + (at >> 3), (int)(at & 7), bits);
    else
        ravel_unpack_line(d + n - LINE, s + (at >> 3), 0, bits);
    return n;
}
#endif

/* n elements from bit `at` of s on; the last word may overlap the one before. */
RAVEL_CONSTANT void
ravel_unpack_bits(unsigned char *d, const unsigned char *s, int64_t at, int64_t n, int bits)
{
    int64_t i = 0;
#ifdef RAVEL_UNPACK_LINES
    i = ravel_unpack_lines(d, s, at, n, bits);
#endif
    for (; n >= 8 && i < n; i += 8) {
        i = i + 8 > n ? n - 8 : i;
        ravel_word_store(d + i, ravel_unpacked_word(s, at + i * bits, bits), 8);
    }
    for (; i < n; i++)
        d[i] = (unsigned char)(s[(at + i * bits) >> 3] >> ((at + i * bits) & 7) &
                               ((1 << bits) - 1));
}

/* Each run of n elements to `pitch` bytes after the one before.  Fetches what is `ahead` bytes from
 * them; 0: nothing. */
RAVEL_CONSTANT void
ravel_unpack_runs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                  const int32_t *from, int64_t runs, int64_t n, int64_t ahead, int bits)
{
    for (int64_t i = 0; i < runs; i++, to += pitch) {
        const int64_t at = (s + from[i]) * bits, end = (at + n * bits) >> 3;
        for (int64_t k = at >> 3; ahead && k < end; k += 64)
            RAVEL_PREFETCH(src + ahead + k);
        ravel_unpack_bits(to, src, at, n, bits);
    }
}

/* n elements of four bits from element `at` of s on, each with that from element `on` on in the upper half
 * of its byte. */
static void
ravel_unpack_pair(unsigned char *d, const unsigned char *s, int64_t at, int64_t on, int64_t n)
{
    int64_t i = 0;
#ifdef RAVEL_UNPACK_PAIRS
    enum { FEW = 32, SOME = 64 };
    for (; i + SOME <= n; i += SOME)
        ravel_unpack_both(d + i, s, at + i, on + i, 0);
    for (; i < n && n >= FEW; i += FEW) {
        i = i + FEW > n ? n - FEW : i;
        ravel_unpack_both(d + i, s, at + i, on + i, 1);
    }
#endif
    for (; n >= 8 && i < n; i += 8) {
        i = i + 8 > n ? n - 8 : i;
        ravel_word_store(d + i, ravel_unpacked_word(s, 4 * (at + i), 4) |
                                    ravel_unpacked_word(s, 4 * (on + i), 4) << 4, 8);
    }
    for (; i < n; i++)
        d[i] = (unsigned char)((s[(at + i) >> 1] >> ((at + i) & 1) * 4 & 15) |
                               (s[(on + i) >> 1] >> ((on + i) & 1) * 4 & 15) << 4);
}

/* As ravel_unpack_runs, of elements of four bits, each with the one that is `pair` elements on;
 * RAVEL_PAIR_TABLE: from[] has both offsets of each. */
static void
ravel_unpack_pairs(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
                   const int32_t *from, int64_t runs, int64_t n, int64_t pair, int64_t ahead)
{
    const int two = pair == RAVEL_PAIR_TABLE;
    for (int64_t i = 0; i < runs; i++, to += pitch) {
        const int64_t at = s + from[two ? 2 * i : i], on = two ? s + from[2 * i + 1] : at + pair;
        for (int64_t k = 0; ahead && k < n; k += 2 * RAVEL_LINE) {
            RAVEL_PREFETCH(src + ahead + (at + k) / 2);
            RAVEL_PREFETCH(src + ahead + (on + k) / 2);
        }
        ravel_unpack_pair(to, src, at, on, n);
    }
}

/* n elements to whole bytes, the last of which may keep bits: it is read first, as to read next to
 * what was just written takes longer.  The last register or word of whole bytes may overlap the
 * one before. */
RAVEL_CONSTANT void
ravel_pack_bytes(unsigned char *d, const unsigned char *s, int64_t n, int up, int bits)
{
    const int64_t whole = n < 8 ? 0 : n - n % (8 / bits);
    int64_t i = 0;
    if (whole < n)
        ravel_pack_few(d + whole * bits / 8, 0, s + whole, (int)(n - whole), up, bits);
#ifdef RAVEL_UNPACK_LINES
    for (; i + RAVEL_UNPACKED <= whole; i += RAVEL_UNPACKED)
        ravel_pack_line(d + i / 8 * bits, s + i, up, bits);
    if (i < whole && whole >= RAVEL_UNPACKED) {
        i = whole - RAVEL_UNPACKED;
        ravel_pack_line(d + i * bits / 8, s + i, up, bits);
        i = whole;
    }
#endif
    for (; i < whole; i += 8) {
        i = i + 8 > whole ? whole - 8 : i;
        ravel_pack_word(d + i * bits / 8, s + i, up, bits);
    }
}

/* The same; lines of a cache by non-temporal stores. */
RAVEL_CONSTANT void
ravel_pack_past(unsigned char *d, const unsigned char *s, int64_t n, int up, int bits)
{
    const int64_t each = 8 * RAVEL_LINE / bits;
    const int64_t most = (int64_t)(-(uintptr_t)d & (RAVEL_LINE - 1)) * 8 / bits;
    const int64_t head = most < n ? most : n, tail = (n - head) % each;
    const int64_t part[] = {head, tail};
    unsigned char line[RAVEL_LINE];
    for (int k = 0; k < 2; k++) {
        ravel_pack_bytes(d, s, part[k], up, bits);
        s += part[k];
        d += part[k] * bits / 8;
        for (int64_t i = head; i + each <= n && !k; i += each, s += each, d += RAVEL_LINE) {
            ravel_pack_bytes(line, s, each, up, bits);
            ravel_stream_line(d, line);
        }
    }
}

/* n elements to bit `at` of d and what follows. */
RAVEL_CONSTANT void
ravel_pack_bits(unsigned char *d, int64_t at, const unsigned char *s, int64_t n, int64_t stream,
                int up, int bits)
{
    const int64_t first = (-at & 7) / bits, head = first < n ? first : n;
    d += at >> 3;
    if (head) {
        ravel_pack_few(d++, (int)(at & 7), s, (int)head, up, bits);
        s += head;
        n -= head;
    }
    if (stream)
        ravel_pack_past(d, s, n, up, bits);
    else
        ravel_pack_bytes(d, s, n, up, bits);
}

/* The inverse of ravel_unpack_runs; elements begin at bit `up` of their bytes.  Up to
 * 63 bytes after a run are read. */
RAVEL_CONSTANT void
ravel_pack_runs(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
                const unsigned char *from, int64_t pitch, int64_t n, int64_t stream, int up,
                int bits)
{
    for (int64_t i = 0; i < runs; i++, from += pitch)
        ravel_pack_bits(dst, (d + to[i]) * bits, from, n, stream, up, bits);
}
#endif

/* Runs of elements of `bits` bits: a constant for each. */
static void
ravel_unpack(unsigned char *to, int64_t pitch, const unsigned char *src, int64_t s,
             const int32_t *from, int64_t runs, int64_t n, int64_t ahead, int64_t bits)
{
    if (bits == 4)
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 4);
    else if (bits == 2)
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 2);
    else
        ravel_unpack_runs(to, pitch, src, s, from, runs, n, ahead, 1);
}

static void
ravel_pack(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
           const unsigned char *from, int64_t pitch, int64_t n, int64_t stream, int up,
           int64_t bits)
{
    if (bits == 4)
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, up, 4);
    else if (bits == 2)
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, 0, 2);
    else
        ravel_pack_runs(dst, d, to, runs, from, pitch, n, stream, 0, 1);
}

/* Elements of four bits from bytes that have two each, to any element of the destination. */
#if defined(RAVEL_UNPACK_VBMI)
/* Bytes of a run that begins in the upper half of its first byte if `odd`; that byte is written again. */
RAVEL_CONSTANT void
ravel_put_bytes(unsigned char *d, const unsigned char *s, int64_t bytes, int odd)
{
    const __m512i low = _mm512_set1_epi8(odd ? 15 : 0);
    const __m128i by = _mm_cvtsi32_si128(4 * odd);
    for (int64_t i = 0; i < bytes; i += 64) {
        const __m512i v = _mm512_loadu_si512(s + i), before = _mm512_loadu_si512(s + i - 1);
        const __m512i x = _mm512_ternarylogic_epi32(low, _mm512_srli_epi16(before, 4),
                                                    _mm512_sll_epi16(v, by), 0xca);
        if (i + 64 <= bytes)
            _mm512_storeu_si512(d + i, x);
        else
            _mm512_mask_storeu_epi8(d + i, ((__mmask64)1 << (bytes - i)) - 1, x);
    }
}
#else
RAVEL_CONSTANT void
ravel_put_bytes(unsigned char *d, const unsigned char *s, int64_t bytes, int odd)
{
    int64_t i = odd;
#ifndef RAVEL_PLAIN
    for (; bytes >= 16 + odd && i < bytes; i += 16) {
        i = i + 16 > bytes ? bytes - 16 : i;
        ravel_store1(d + i, odd ? ravel_bits_vector(s + i - 1, 4) : ravel_load1(s + i), 0);
    }
#endif
    for (; i < bytes; i++)
        d[i] = (unsigned char)(odd ? s[i - 1] >> 4 | s[i] << 4 : s[i]);
}
#endif

/* n elements of each run to element d + to[] of the destination.  Other elements stay: what bytes have of
 * them is read before others are written, as a read waits for a store to bytes next to it.  The byte
 * before a run and the 64 after it are read. */
static void
ravel_put_runs(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
               const unsigned char *s, int64_t pitch, int64_t n)
{
    for (int64_t i = 0; i < runs; i++, s += pitch) {
        const int64_t at = d + to[i], bytes = ((at + n) >> 1) - (at >> 1);
        unsigned char *const begin = dst + (at >> 1);
        const int odd = (int)(at & 1);
        const unsigned first = (*begin & 15u) | (unsigned)s[0] << 4;
        if ((at + n) & 1)
            ravel_bits_into(begin + bytes, 0, odd ? s[bytes - 1] >> 4 : s[bytes] & 15u, 4);
        ravel_put_bytes(begin, s, bytes, odd);
        if (odd)
            *begin = (unsigned char)first;
    }
}

/* Tiles of elements of 1, 2 or 4 bits: the source's runs are unpacked to a byte an element,
 * these are permuted as a tile of bytes, the destination's runs are packed.  The table has,
 * after RAVEL_PAIR_HEAD words, offsets in elements: those of runs in the destination and the
 * source, all others in the buffers. */

/* Where a tile begins in both buffers, in elements, and the one after it in the source; -1: it is
 * the last.  Of elements that share bytes, as RAVEL_PAIR_FROM and RAVEL_PAIR_TO say, those bytes. */
typedef struct {
    unsigned char *dst;
    const unsigned char *src;
    int64_t d, s, soon, stream, bits, from, to;
} ravel_unpacked_at;

/* Writes the destination's runs from the buffer. */
static void
ravel_unpacked_out(const ravel_unpacked_at *a, const unsigned char *turned, const int32_t *t,
                   const int32_t *run)
{
    const int64_t runs = t[RAVEL_T_RUNS], n = t[RAVEL_T_BYTES], pitch = t[RAVEL_T_PITCH];
    ravel_soon none = {turned, t, 0, 0, 0};
    if (a->from == RAVEL_PAIR_TABLE)
        ravel_put_runs(a->dst, a->d, run, runs, turned, pitch, n);
    for (int64_t i = 0; i < runs && a->from > 0; i++)
        ravel_tile_run(a->dst + a->d / 2 + run[i], turned + i * pitch, n, a->stream, &none);
    for (int up = 0; up <= (a->to ? 4 : 0) && !a->from; up += 4)
        ravel_pack(a->dst, a->d + (up ? a->to : 0), run, runs, turned, pitch, n, a->stream, up,
                   a->bits);
}

/* A part of a tile, through the buffers `wide` and `turned`; a side
 * whose bytes are the elements of the tile has no buffer. */
static void
ravel_unpacked_part(const ravel_unpacked_at *a, unsigned char *wide, unsigned char *turned,
                    const int32_t *t, ravel_tile_function *tile)
{
    const int32_t *const run = t + RAVEL_TILE_HEAD + t[RAVEL_T_ROWS] + t[RAVEL_T_COLS] +
                               2 * t[RAVEL_T_BLOCKS];
    const int32_t *const from = run + t[RAVEL_T_RUNS];
    const int64_t n = t[RAVEL_T_FROM_BYTES], runs = t[RAVEL_T_FROM], pitch = t[RAVEL_T_FROM_PITCH];
    const int64_t ahead = a->soon < 0 ? 0 : (a->soon - a->s) * a->bits / 8;
    ravel_soon soon = {a->src + a->s / 2 + ahead, from, a->to && a->soon >= 0 ? runs : 0, n, 0};
    if (a->from)
        ravel_unpack_pairs(wide, pitch, a->src, a->s, from, runs, n, a->from, ahead);
    else if (!a->to)
        ravel_unpack(wide, pitch, a->src, a->s, from, runs, n, ahead, a->bits);
    tile(t[RAVEL_T_RUNS] ? turned : a->dst + a->d / 2, a->to ? a->src + a->s / 2 : wide, t, &soon);
    ravel_unpacked_out(a, turned, t, run);
}

/* As ravel_tiles_run, for elements of `bits` bits. */
RAVEL_FRAME static void
ravel_unpacked_run(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                   const int32_t *table, ravel_tiles *at, int64_t stream, int64_t bits,
                   ravel_tile_function *tile)
{
    enum { SPACE = RAVEL_UNPACKED_BYTES + RAVEL_LINE };
    unsigned char room[2 * SPACE + RAVEL_LINE];
    unsigned char *const wide = room + (-(uintptr_t)room & (RAVEL_LINE - 1));
    unsigned char *const turned = wide + SPACE;
    const int32_t *const t = table + RAVEL_PAIR_HEAD;
    for (int more = 1; more;) {
        ravel_unpacked_at a = {dst, src, d + at->d, s + at->s, -1, stream, bits,
                               table[RAVEL_PAIR_FROM], table[RAVEL_PAIR_TO]};
        more = ravel_tiles_next(at);
        a.soon = more ? s + at->s : -1;
        const int32_t *part = t;
        for (ravel_unpacked_part(&a, wide, turned, part, tile); part[RAVEL_T_NEXT];) {
            part += part[RAVEL_T_NEXT];
            ravel_unpacked_part(&a, wide, turned, part, tile);
        }
    }
}

/* The kernel unpacked1: 1 of the elements stay together. */
static void
ravel_unpacked1(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                      const int32_t *t, int64_t batches, int64_t rows, int64_t cols,
                      int64_t dn, int64_t sn, int64_t dp, int64_t sp, int64_t dq,
                      int64_t sq, int64_t stream, int64_t bits)
{
    const int32_t *const tile = t + RAVEL_PAIR_HEAD;
    ravel_tiles at = {{{rows, tile[RAVEL_T_ROW], dp, sp, 0}, {cols, tile[RAVEL_T_COL], dq, sq, 0},
                       {batches, tile[RAVEL_T_BATCH], dn, sn, 0}}, 0, 0};
    if (rows > 0 && cols > 0 && batches > 0)
        ravel_unpacked_run(dst, d, src, s, t, &at, stream, bits, ravel_tile1);
}

#ifdef __cplusplus
extern "C" {
#endif
void row_major_to_marlin_u4(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t row_major_to_marlin_u4_table0[115] = {
    6144, 0, 1, 1, 1, 1, 8, 64, 12, 0, 6144, 0, 1, 6144, 6208, 0,
    6208, 5432, 0, 64, 128, 192, 256, 320, 384, 448, 0, 8, 768, 776, 16, 24,
    784, 792, 32, 40, 800, 808, 48, 56, 816, 824, 1536, 1544, 2304, 2312, 1552, 1560,
    2320, 2328, 1568, 1576, 2336, 2344, 1584, 1592, 2352, 2360, 3072, 3080, 3840, 3848, 3088, 3096,
    3856, 3864, 3104, 3112, 3872, 3880, 3120, 3128, 3888, 3896, 4608, 4616, 5376, 5384, 4624, 4632,
    5392, 5400, 4640, 4648, 5408, 5416, 4656, 4664, 5424, 5432, 0, 0, 512, 64, 1024, 128,
    1536, 192, 2048, 256, 2560, 320, 3072, 384, 3584, 448, 4096, 512, 4608, 576, 5120, 640,
    5632, 704, 0
};
/* src: 393216 bytes, dst: 393216 bytes; they do not overlap */
void
row_major_to_marlin_u4(void *dst_, const void *src_)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* K=0..1023 N=0..767: unpacked1 */
    ravel_unpacked1(dst, 0, src, 0, row_major_to_marlin_u4_table0, 1, 64, 1, 0, 0, 12288, 12288, 0, 0, 0, 4);
}
