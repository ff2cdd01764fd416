/* ravel emit --from NCHW --to NCHW16 --shape 8,64,56,56 --dtype f32 --name nchw_to_nchw16_f32
 * src NCHW: 200704*N + 3136*C + 56*H + W
 *     f32, N=8 C=64 H=56 W=56 in 1605632 elements, 6422528 bytes
 * dst NCHW16: 200704*N + 50176*(C//16) + 896*H + 16*W + C%16
 *     f32, N=8 C=64 H=56 W=56 in 1605632 elements, 6422528 bytes
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

/* RAVEL_ALL: vectors of RAVEL_LANES lanes.  RAVEL_TWO: of two lanes if there are two: x86
 * processors shuffle those twice as often as wider ones, whose lanes take longer to
 * extract. */
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

/* Moves blocks to the destination through two buffers: while one is filled, the cache lines
 * of the other are written with non-temporal stores, and the source of the next block is
 * prefetched. */
#ifndef RAVEL_PLAIN
/* The start of a buffer in `room`: at least 64 bytes in, and at the same offset from a
 * cache line as `to`. */
#define RAVEL_ROOM(room, to) \
    ((room) + 64 + (((uintptr_t)(to) - (uintptr_t)(room)) & 63))

/* What remains to be prefetched: rows of the source, sq bytes apart, of `bytes` bytes; `at`
 * is the offset in the first. */
typedef struct {
    const unsigned char *s;
    int64_t sq, bytes, at, rows;
} ravel_ahead;
static inline void
ravel_fetch(ravel_ahead *a, int64_t lines)
{
    for (; lines > 0 && a->rows > 0; lines--) {
        RAVEL_PREFETCH(a->s + a->at);
        a->at += 64;
        if (a->at >= a->bytes) {
            a->at = 0;
            a->s += a->sq;
            a->rows--;
        }
    }
}

/* ravel_work: the planes of a call.  The columns of a plane are those of several sides one
 * after another, `each` of one side.  sn, so and sq are the strides of planes, sides and
 * columns in the source.  A block has at most `tall` rows and `wide` columns.  lines: rows
 * of a block begin and end at cache lines of the destination.
 *
 * ravel_part: a block of r rows and c columns, from row p and column q of plane b on.
 *
 * ravel_flow: the rows of a block that are still in a buffer; `left` of them are of the
 * current plane, and each plane has `plane` of them.  A row of the buffer has the same
 * offset from a cache line as its row of the destination.  If the last line of a row is
 * incomplete, its bytes are put in front of the next block's row in the other buffer. */
typedef struct {
    int64_t planes, rows, cols, each, tall, wide, sn, so, sq;
    int lines;
} ravel_work;
typedef struct {
    int64_t b, p, q, r, c;
} ravel_part;
typedef struct {
    unsigned char *d, *buffer, *other;
    int64_t rows, bytes, dp, pitch, left, plane, jump, at, to;
    int first, last;
} ravel_flow;

static inline void
ravel_flow_row(ravel_flow *f)
{
    const int64_t off = (int64_t)((uintptr_t)f->d & 63);
    f->at = -off;
    f->to = f->bytes - (int64_t)((uintptr_t)(f->d + f->bytes) & 63);
    if (f->first && off) {
        f->at = 64 - off < f->bytes ? 64 - off : f->bytes;
        f->to = f->to < f->at ? f->at : f->to;
        memcpy(f->d, f->buffer, (size_t)f->at);
    }
}

static inline void
ravel_flow_end(ravel_flow *f)
{
    if (f->last)
        memcpy(f->d + f->to, f->buffer + f->to, (size_t)(f->bytes - f->to));
    else if (f->to < f->bytes)
        memcpy(f->other - 64, f->buffer + f->bytes - 64, 64);
    f->d += f->dp;
    if (--f->left == 0) {
        f->left = f->plane;
        f->d += f->jump;
    }
    f->buffer += f->pitch;
    f->other += f->pitch;
    if (--f->rows > 0)
        ravel_flow_row(f);
}

/* Writes at most `lines` cache lines of it. */
RAVEL_INLINE void
ravel_flow_lines(ravel_flow *f, int64_t lines)
{
    if (f->rows > 0 && lines < (f->to - f->at) / 64) {
        for (int64_t i = 0; i < lines; i++)
            ravel_stream_line(f->d + f->at + 64 * i, f->buffer + f->at + 64 * i);
        f->at += 64 * lines;
        return;
    }
    for (; lines > 0 && f->rows > 0; lines--) {
        if (f->at < f->to) {
            ravel_stream_line(f->d + f->at, f->buffer + f->at);
            f->at += 64;
        }
        if (f->at >= f->to)
            ravel_flow_end(f);
    }
}

/* The offset of a block in the source, for elements of n bytes. */
static inline int64_t
ravel_part_from(const ravel_work *w, const ravel_part *t, int64_t n)
{
    return t->b * w->sn + t->p * n + t->q / w->each * w->so + t->q % w->each * w->sq;
}

/* Sets the size of a block: at least m elements, which are 16 bytes, in both directions.
 * To avoid a rest of fewer columns a block may exceed `wide`, if there is one side. */
static inline void
ravel_part_size(const ravel_work *w, ravel_part *t, int64_t m)
{
    const int64_t r = w->rows - t->p, c = w->cols - t->q;
    t->r = r <= w->tall ? r : r < w->tall + m ? r - m : w->tall;
    t->c = c < w->wide + m ? c : w->wide;
}

/* Advances to the next block: along the rows of the source or, if rows of the destination
 * do not begin at cache lines, along these.  Returns 0 if there is none. */
static inline int
ravel_part_next(const ravel_work *w, ravel_part *t, int64_t m)
{
    const int lines = w->lines;
    int64_t *inner = lines ? &t->p : &t->q, *outer = lines ? &t->q : &t->p;
    *inner += lines ? t->r : t->c;
    if (*inner >= (lines ? w->rows : w->cols)) {
        *inner = 0;
        *outer += lines ? t->c : t->r;
        if (*outer >= (lines ? w->cols : w->rows)) {
            *outer = 0;
            t->b++;
        }
    }
    ravel_part_size(w, t, m);
    return t->b < w->planes;
}
#endif

/* Permutes the elements of k vectors of 4 elements of 4 bytes.  A round
 * interleaves the first half of the vectors with the second half.  This is a perfect
 * shuffle: it rotates the bits of an element's index by one.  log2(k) rounds transpose k
 * vectors to rows of k elements; log2(4) rounds do the reverse. */
#ifndef RAVEL_PLAIN
RAVEL_INLINE void
ravel_zip4(ravel_4x1 *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        ravel_4x1 t[4];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_LOW(4, 4, 1, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_HIGH(4, 4, 1, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}
#endif

#ifndef RAVEL_PLAIN
/* Transposes blocks of 4 rows in each lane: log2(4) rounds of interleaving. */
RAVEL_INLINE void
ravel_turn4(RAVEL_ALL(4) *v)
{
    RAVEL_ALL(4) w[4];
    RAVEL_UNROLL for (int round = 1; round < 4; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 4 / 2; i++) {
            w[2 * i] = RAVEL_ALL_LOW(4, 4, v[i], v[i + 4 / 2]);
            w[2 * i + 1] = RAVEL_ALL_HIGH(4, 4, v[i], v[i + 4 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 4; i++)
            v[i] = w[i];
    }
}

RAVEL_INLINE void
ravel_turn_two4(RAVEL_TWO(4) *v)
{
    RAVEL_TWO(4) w[4];
    RAVEL_UNROLL for (int round = 1; round < 4; round *= 2) {
        RAVEL_UNROLL for (int i = 0; i < 4 / 2; i++) {
            w[2 * i] = RAVEL_TWO_LOW(4, 4, v[i], v[i + 4 / 2]);
            w[2 * i + 1] = RAVEL_TWO_HIGH(4, 4, v[i], v[i + 4 / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < 4; i++)
            v[i] = w[i];
    }
}
#endif

/* Transposes blocks in registers.  A block is 16 bytes wide in the source and 16 bytes for
 * each lane in the destination.  Elements have 4 bytes.  Four rows share a base
 * address. */
#ifndef RAVEL_PLAIN
/* Loads 4 rows for each lane, `sq` bytes apart, and transposes them: out[j] is
 * column j. */
RAVEL_INLINE void
ravel_block4(const unsigned char *s, int64_t sq, RAVEL_ALL(1) *out)
{
    enum { M = 4, FOUR = M < 4 ? M : 4 };
    RAVEL_ALL(4) v[M];
    int64_t sq3 = 3 * sq;
    RAVEL_KEEP(sq3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR) {
        const unsigned char *row[RAVEL_LANES];
        RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++) {
            row[lane] = s + (lane * M + i) * sq;
            RAVEL_KEEP(row[lane]);
        }
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            v[i + k] = (RAVEL_ALL(4))RAVEL_ALL_ROWS(row, k == 3 ? sq3 : k * sq);
    }
    ravel_turn4(v);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        out[i] = (RAVEL_ALL(1))v[i];
}

/* Stores the columns of `side` adjacent blocks. */
RAVEL_INLINE void
ravel_put4(unsigned char *d, RAVEL_ALL(1) (*v)[4], int side, int64_t dp,
                 int64_t stream)
{
    enum { M = 4, FOUR = M < 4 ? M : 4 };
    int64_t dp3 = 3 * dp;
    RAVEL_KEEP(dp3);
    RAVEL_UNROLL for (int j = 0; j < M; j += FOUR) {
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            RAVEL_UNROLL for (int h = 0; h < side; h++)
                RAVEL_ALL_STORE(d + (k == 3 ? dp3 : k * dp) + 16 * RAVEL_LANES * h,
                                v[h][j + k], stream);
        d += FOUR * dp;
        RAVEL_KEEP(d);
    }
}

/* Transposes 4 rows of c columns, a block at a time. */
RAVEL_INLINE void
ravel_patch4(unsigned char *d, const unsigned char *s, int64_t c, int64_t dp,
                   int64_t sq)
{
    enum { ALL = 4 * RAVEL_LANES };
    for (int64_t k = 0; k < c; k += ALL, s += ALL * sq, d += 16 * RAVEL_LANES) {
        RAVEL_ALL(1) v[1][4];
        ravel_block4(s, sq, v[0]);
        ravel_put4(d, v, 1, dp, 0);
    }
}

/* Transposes all rows of the columns of `side` adjacent blocks. */
RAVEL_INLINE void
ravel_walk4(unsigned char *d, const unsigned char *s, int64_t rows, int side,
                  int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { M = 4, ALL = M * RAVEL_LANES };
    for (int64_t p = 0; p < rows; p += M, s += 16, d += M * dp) {
        RAVEL_ALL(1) v[4 / RAVEL_LANES][M];
        const int64_t back = p + M > rows ? p + M - rows : 0;
        p -= back;
        s -= back * 4;
        d -= back * dp;
        if (ahead && p * 4 % 64 == 0)
            for (int i = 0; i < side * ALL; i++)
                RAVEL_PREFETCH(s + i * sq + ahead);
        RAVEL_UNROLL for (int h = 0; h < side; h++)
            ravel_block4(s + h * ALL * sq, sq, v[h]);
        ravel_put4(d, v, side, dp, stream);
    }
}

static void
ravel_strip4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t dp,
                   int64_t sq)
{
    ravel_walk4(d, s, rows, 1, dp, sq, 0, 0);
}

/* Loads and transposes a block of one lane. */
RAVEL_INLINE void
ravel_lone4(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)
{
    enum { M = 4, FOUR = M < 4 ? M : 4 };
    ravel_4x1 v[M];
    int64_t sq3 = 3 * sq, dp3 = 3 * dp;
    RAVEL_KEEP(sq3);
    RAVEL_KEEP(dp3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR, s += FOUR * sq) {
        RAVEL_KEEP(s);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            v[i + k] = (ravel_4x1)ravel_load1(s + (k == 3 ? sq3 : k * sq));
    }
    ravel_zip4(v, M, RAVEL_ROUNDS4);
    RAVEL_UNROLL for (int j = 0; j < M; j += FOUR, d += FOUR * dp) {
        RAVEL_KEEP(d);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            ravel_store1(d + (k == 3 ? dp3 : k * dp), (ravel_1x1)v[j + k], 0);
    }
}

/* Transposes 4 columns, with 4 rows of each in each of two lanes. */
RAVEL_INLINE void
ravel_tall4(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)
{
    enum { M = 4, FOUR = M < 4 ? M : 4 };
    RAVEL_TWO(4) v[M];
    int64_t sq3 = 3 * sq, dp3 = 3 * dp;
    RAVEL_KEEP(sq3);
    RAVEL_KEEP(dp3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR, s += FOUR * sq) {
        RAVEL_KEEP(s);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            memcpy(&v[i + k], s + (k == 3 ? sq3 : k * sq), sizeof v[i]);
    }
    ravel_turn_two4(v);
    RAVEL_UNROLL for (int i = 0; i < RAVEL_PAIR; i++)
        RAVEL_UNROLL for (int j = 0; j < M; j += FOUR, d += FOUR * dp) {
            RAVEL_KEEP(d);
            RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
                ravel_store1(d + (k == 3 ? dp3 : k * dp),
                             ravel_lane((RAVEL_TWO(1))v[j + k], i), 0);
        }
}

/* Transposes all rows of 4 columns; the last block may overlap the one before. */
static void
ravel_column4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t dp,
                    int64_t sq)
{
    enum { M = 4, TALL = M * RAVEL_PAIR };
    int64_t p = 0;
    for (; rows >= TALL && p + M < rows; p += TALL) {
        p = p + TALL > rows ? rows - TALL : p;
        ravel_tall4(d + p * dp, s + p * 4, dp, sq);
    }
    for (; p < rows; p += M) {
        p = p + M > rows ? rows - M : p;
        ravel_lone4(d + p * dp, s + p * 4, dp, sq);
    }
}

/* Transposes the columns from q on. */
static void
ravel_strips4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t q,
                    int64_t cols, int64_t dp, int64_t sq)
{
    enum { M = 4, ALL = M * RAVEL_LANES };
    for (; q + ALL <= cols; q += ALL)
        ravel_strip4(d + q * 4, s + q * sq, rows, dp, sq);
    for (; q < cols; q += M) {
        q = q + M > cols ? cols - M : q;
        ravel_column4(d + q * 4, s + q * sq, rows, dp, sq);
    }
}
#endif

/* Columns whose distances in the source are whole pages, or large parts of one: their lines
 * share a few sets of the first cache, which loses a line before all of it is used.  So a
 * line of each is read at once, and its blocks are turned in a buffer from which the lines of
 * the destination are put together.  Elements have 4 bytes. */
#ifndef RAVEL_PLAIN
/* Reads a line of each of 4 columns.  Row i of lane k is at 16 * (k * 4 + i *
 * RAVEL_LANES), but for the lanes of one vector, which follow one another. */
RAVEL_INLINE void
ravel_pages_read4(unsigned char *to, const unsigned char *s, int64_t sq, int64_t ahead)
{
    enum { M = 4 };
    if (ahead)
        for (int64_t i = 0; i < M; i++)
            RAVEL_PREFETCH(s + i * sq + ahead);
    RAVEL_UNROLL for (int k = 0; k < 4; k += RAVEL_LANES) {
        RAVEL_ALL(4) v[M];
        RAVEL_UNROLL for (int i = 0; i < M; i++)
            memcpy(&v[i], s + i * sq + 16 * k, sizeof v[i]);
        ravel_turn4(v);
        RAVEL_UNROLL for (int i = 0; i < M; i++)
            memcpy(to + 16 * (k * M + i * RAVEL_LANES), &v[i], sizeof v[i]);
    }
}

/* Writes the lines of the 4 rows of lane k. */
RAVEL_INLINE void
ravel_pages_write4(unsigned char *d, const unsigned char *from, int k, int64_t dp,
                         int64_t stream)
{
    enum { M = 4, COLUMNS = 64 * M };
    from += 16 * (k / RAVEL_LANES * RAVEL_LANES * M + k % RAVEL_LANES);
    d += k * M * dp;
    for (int i = 0; i < M; i++, d += dp, from += 16 * RAVEL_LANES)
        RAVEL_UNROLL for (int h = 0; h < 4; h += RAVEL_LANES) {
            const unsigned char *at[RAVEL_LANES];
            RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++)
                at[lane] = from + (h + lane) * COLUMNS;
            RAVEL_ALL_STORE(d + 16 * h, (RAVEL_ALL(1))RAVEL_ALL_ROWS(at, 0), stream);
        }
}

/* Transposes all rows, a line or more, of a line of columns.  A block is written while the
 * next one is read; the last one may overlap the one before. */
RAVEL_INLINE void
ravel_pages4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t dp,
                   int64_t sq, int64_t stream, int64_t ahead)
{
    enum { M = 4, LINE = 64 / 4 };
    unsigned char room[2][64 * LINE] __attribute__((aligned(64)));
    unsigned char *then = NULL;
    int now = 0;
    for (int64_t p = 0; p < rows; p += LINE, now ^= 1) {
        p = p + LINE > rows ? rows - LINE : p;
        for (int k = 0; k < 4; k++) {
            ravel_pages_read4(room[now] + k * 64 * M, s + p * 4 + k * M * sq, sq,
                                    ahead);
            if (then)
                ravel_pages_write4(then, room[now ^ 1], k, dp, stream);
        }
        then = d + p * dp;
    }
    for (int k = 0; k < 4; k++)
        ravel_pages_write4(then, room[now ^ 1], k, dp, stream);
}
#endif

/* Rows and columns of a block of elements of n bytes in the buffers of a transpose.  With
 * several sides a block has up to a third more columns. */
#define RAVEL_TALL(n) ((n) == 1 ? 256 : (n) == 2 ? 128 : 512 / (n))
#define RAVEL_WIDE(n) ((n) == 1 ? 256 : 512 / (n))

/* Transposes `planes` planes, each of `sides` matrices of rows x cols elements of 4
 * bytes, whose columns follow one another in the destination:
 *     d[b*dn + p*dp + (o*cols + q)*size] = s[b*sn + o*so + p*size + q*sq]
 * for b < planes, o < sides, p < rows, q < cols; each of the four is at least 1.  The
 * columns of four lanes fill a cache line, which is written whole.  The kernel proceeds
 * along the rows of the source and prefetches `ahead` bytes on if that is not 0.  Blocks at
 * edges overlap.  `stream`: 1, non-temporal stores for lines that are aligned; 2, the same
 * through a buffer that collects a part of each row of the destination, for rows that are
 * not aligned and for rows at distances of whole pages, which share few banks of the memory
 * and few sets of the caches. */
static void
ravel_few4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                 int64_t dp, int64_t sq)
{
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < cols; q++)
            memcpy(d + p * dp + q * 4, s + p * 4 + q * sq, 4);
}

#ifndef RAVEL_PLAIN
/* The rows of the source that are read in parallel into a buffer: as many streams as the
 * hardware prefetcher follows. */
enum { RAVEL_GROUP4 = 4 == 1 ? 16 : 8 };

/* Reads 16 or 64 bytes of each row of a group into a buffer. */
RAVEL_INLINE void
ravel_fill_piece4(unsigned char *to, const unsigned char *s, int64_t bytes,
                        int64_t pitch, int64_t sq)
{
    enum { M = 4, GROUP = RAVEL_GROUP4, TALL = 16 * RAVEL_PAIR };
    const int whole = RAVEL_LANES > 1 && GROUP % (M * RAVEL_LANES) == 0;
    for (int64_t p = 0; p < bytes / 4 && whole; p += M)
        ravel_patch4(to + p * pitch, s + p * 4, GROUP, pitch, sq);
    for (int64_t k = 0; k < GROUP && !whole; k += M) {
        for (int64_t b = 0; b + TALL <= bytes; b += TALL)
            ravel_tall4(to + b / 4 * pitch + k * 4, s + b + k * sq, pitch,
                              sq);
        if (bytes < TALL)
            ravel_lone4(to + k * 4, s + k * sq, pitch, sq);
    }
}

/* Reads the rows of a group into a buffer, a line of each at a time.  Meanwhile it
 * prefetches the next rows, one after another, because the lines of a row are in one bank of
 * the memory, and writes a line of the other buffer for each line that it reads: reads and
 * writes are then outstanding at the same time. */
RAVEL_INLINE void
ravel_fill_group4(unsigned char *to, const unsigned char *s, int64_t r, int64_t pitch,
                        int64_t sq, ravel_ahead next, ravel_flow *out)
{
    enum { M = 4, GROUP = RAVEL_GROUP4, LINE = 64 / 4 };
    int64_t i = 0;
    for (; i + LINE <= r; i += LINE) {
        ravel_fetch(&next, GROUP);
        ravel_fill_piece4(to + i * pitch, s + i * 4, 64, pitch, sq);
        ravel_flow_lines(out, GROUP);
    }
    if (i < r)
        ravel_fetch(&next, GROUP);
    for (; i < r; i += M) {
        i = i + M > r ? r - M : i;
        ravel_fill_piece4(to + i * pitch, s + i * 4, 16, pitch, sq);
        ravel_flow_lines(out, GROUP / 4);
    }
}

/* Reads r rows of c columns of one matrix and writes the block before it; prefetches
 * `ahead` rows of the next one. */
RAVEL_INLINE void
ravel_fill_side4(unsigned char *to, const unsigned char *s, int64_t r, int64_t c,
                       int64_t pitch, int64_t sq, const unsigned char *next, int64_t ahead,
                       ravel_flow *out)
{
    enum { GROUP = RAVEL_GROUP4 };
    if (c < GROUP)
        ravel_strips4(to, s, r, 0, c, pitch, sq);
    for (int64_t k = 0; k < c && c >= GROUP; k += GROUP) {
        k = k + GROUP > c ? c - GROUP : k;
        const int64_t left = c - k - GROUP, many = left > 0 ? left : ahead;
        const ravel_ahead soon = {left > 0 ? s + (k + GROUP) * sq : next, sq, r * 4, 0,
                                  many < GROUP ? many : (int64_t)GROUP};
        ravel_fill_group4(to + k * 4, s + k * sq, r, pitch, sq, soon, out);
    }
}

/* Reads block t; `next` is the block after it. */
RAVEL_INLINE void
ravel_fill_block4(unsigned char *to, const unsigned char *s, const ravel_work *all,
                        const ravel_part *t, int64_t pitch, const ravel_part *next,
                        ravel_flow *out)
{
    const int64_t each = all->each < t->c ? all->each : t->c;
    for (int64_t q = 0; q < t->c; q += each) {
        const int more = q + each < t->c;
        const ravel_part at = {t->b, t->p, t->q + q, t->r, each};
        const ravel_part then = {t->b, t->p, t->q + q + each, t->r, each};
        ravel_fill_side4(to + q * 4, s + ravel_part_from(all, &at, 4), t->r,
                               each, pitch, all->sq,
                               s + ravel_part_from(all, more ? &then : next, 4),
                               more ? each : next->c, out);
    }
    ravel_flow_lines(out, INT64_MAX);
}

/* Transposes rows at any distance through two buffers: one is filled while the other is
 * written.  Planes that are contiguous in the source are one plane, whose rows have a gap.
 * Rows that are contiguous in the destination are one run.  A row of a buffer has room for
 * a line before it, which holds bytes that do not fill a line yet.  The columns of several
 * matrices are at most a third more than C, and such blocks have fewer rows. */
RAVEL_FRAME static void
ravel_staged4(unsigned char *d, const unsigned char *s, int64_t planes, int64_t sides,
                    int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t so,
                    int64_t dp, int64_t sq)
{
    enum { N = 4, M = 4, C = RAVEL_WIDE(N), R = RAVEL_TALL(N),
           ROOM = R * (C * N + 192) };
    unsigned char room[2][ROOM + 128];
    const int64_t all = sides * cols, jump = dn - rows * dp;
    const int64_t most = sides == 1 ? (int64_t)C : (C + cols / 2) / cols * cols;
    const int64_t wide = all < most ? all : most;
    const int lines = ((uintptr_t)d | (uintptr_t)dp | (uintptr_t)(planes > 1 ? dn : 0) |
                       (uintptr_t)(wide < all ? wide * N : 0)) % 64 == 0;
    const int one = sn == rows * N && jump % 64 == 0;
    const int run = dp == all * N && wide == all && !(one && jump) && !lines;
    const int64_t across = lines ? (wide * N + 64) / 64 | 1 : (wide * N + 128) / 64;
    const int64_t pitch = run ? dp : across * 64 + (dp & 63);
    const int64_t tall = ROOM / pitch < R || run ? ROOM / pitch : (int64_t)R;
    const ravel_work work = {one ? 1 : planes, one ? planes * rows : rows, all, cols,
                             tall - tall % (64 / N), wide, sn, so, sq, lines};
    ravel_part t = {0, 0, 0, 0, 0}, now;
    ravel_flow out = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    unsigned char *to = d, *buffer = RAVEL_ROOM(room[0], d);
    ravel_part_size(&work, &t, M);
    for (int k = 1, more = 1; more; k ^= 1) {
        now = t;
        more = ravel_part_next(&work, &t, M);
        t.c = more ? t.c : 0;
        unsigned char *then = d + t.b * dn + t.p * dp + t.p / rows * jump + t.q * N;
        unsigned char *other = RAVEL_ROOM(room[k], then);
        ravel_fill_block4(buffer, s, &work, &now, pitch, &t, &out);
        if (run)
            out = (ravel_flow){to, buffer, other, 1, now.r * dp, 0, 0, 1, 1, 0, 0, 0,
                               now.p == 0, now.p + now.r == work.rows};
        else
            out = (ravel_flow){to, buffer, other, now.r, now.c * N, dp, pitch,
                               rows - now.p % rows, rows, jump, 0, 0,
                               lines || now.q == 0, lines || now.q + now.c == all};
        ravel_flow_row(&out);
        to = then;
        buffer = other;
    }
    ravel_flow_lines(&out, INT64_MAX);
}

static void
ravel_plane4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = 4, M = 4, SIDE = 4 / RAVEL_LANES };
    const int pages = sq % (1024 * N) == 0 && rows >= 64 / N;
    int64_t q = 0;
    if (rows < M || cols < M) {
        ravel_few4(d, s, rows, cols, dp, sq);
        return;
    }
    for (; q + 4 * M <= cols; q += 4 * M)
        if (pages && stream)
            ravel_pages4(d + q * N, s + q * sq, rows, dp, sq, 1, ahead);
        else if (pages)
            ravel_pages4(d + q * N, s + q * sq, rows, dp, sq, 0, 0);
        else if (stream)
            ravel_walk4(d + q * N, s + q * sq, rows, SIDE, dp, sq, 1, ahead);
        else
            ravel_walk4(d + q * N, s + q * sq, rows, SIDE, dp, sq, 0, ahead);
    ravel_strips4(d, s, rows, q, cols, dp, sq);
}
#else
static void
ravel_plane4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = 4, LINE = 64 / N };
    (void)stream;
    (void)ahead;
    for (int64_t p = 0; p < rows; p += LINE)
        for (int64_t q = 0; q < cols; q += LINE)
            ravel_few4(d + p * dp + q * N, s + p * N + q * sq,
                             rows - p < LINE ? rows - p : LINE,
                             cols - q < LINE ? cols - q : LINE, dp, sq);
}

static void
ravel_staged4(unsigned char *d, const unsigned char *s, int64_t planes, int64_t sides,
                    int64_t rows, int64_t cols, int64_t dn, int64_t sn, int64_t so,
                    int64_t dp, int64_t sq)
{
    for (int64_t b = 0; b < planes; b++)
        for (int64_t o = 0; o < sides; o++)
            ravel_plane4(d + b * dn + o * cols * 4, s + b * sn + o * so, rows,
                               cols, dp, sq, 0, 0);
}
#endif

static void
ravel_transpose4(unsigned char *d, const unsigned char *s, int64_t planes,
                       int64_t sides, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t so, int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = 4, M = 4 };
    if (sides == 1 && planes > 1 && dn == cols * N) {
        sides = planes;
        so = sn;
        planes = 1;
        dn = sn = 0;
    }
    if (stream && ((sides > 1 && dp == sides * cols * N) ||
                   ((uintptr_t)d | (uintptr_t)dp | (planes > 1 ? (uintptr_t)dn : 0) |
                    (sides > 1 ? (uintptr_t)(cols * N) : 0)) % 64))
        stream = 2;
    const int buffers = stream == 2 && rows >= M && cols >= M;
    if (buffers && (sides == 1 || cols <= RAVEL_WIDE(N))) {
        ravel_staged4(d, s, planes, sides, rows, cols, dn, sn, so, dp, sq);
        return;
    }
    for (int64_t o = 0; o < sides; o++)
        if (buffers)
            ravel_staged4(d + o * cols * N, s + o * so, planes, 1, rows, cols, dn, sn,
                                so, dp, sq);
        else
            for (int64_t b = 0; b < planes; b++)
                ravel_plane4(d + o * cols * N + b * dn, s + o * so + b * sn, rows, cols,
                                   dp, sq, stream, ahead);
}

#ifdef __cplusplus
extern "C" {
#endif
void nchw_to_nchw16_f32_part(void *dst, const void *src, int64_t part, int64_t parts);
void nchw_to_nchw16_f32(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

/* src: 6422528 bytes, dst: 6422528 bytes; they do not overlap */
void
nchw_to_nchw16_f32_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* N=0..7 C=0..63 H=0..55 W=0..55: transpose4 */
    for (int64_t nc1_ = 32*part/parts; nc1_ < 32*(part + 1)/parts; nc1_++) {
        ravel_transpose4(dst + 200704*nc1_, src + 200704*nc1_, 1, 1, 3136, 16, 200704, 200704, 0, 64, 12544, 0, 0);
    }
}

void
nchw_to_nchw16_f32(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    nchw_to_nchw16_f32_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    nchw_to_nchw16_f32_part(dst_, src_, 0, 1);
#endif
}
