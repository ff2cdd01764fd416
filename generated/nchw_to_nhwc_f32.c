/* ravel emit --from NCHW --to NHWC --shape 8,64,56,56 --dtype f32 --name nchw_to_nhwc_f32
 * src NCHW: 200704*N + 3136*C + 56*H + W
 *     f32, N=8 C=64 H=56 W=56 in 1605632 elements, 6422528 bytes
 * dst NHWC: 200704*N + 3584*H + 64*W + C
 *     f32, N=8 C=64 H=56 W=56 in 1605632 elements, 6422528 bytes */
#include <stdint.h>
#include <string.h>

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

/* Transposes blocks in registers.  Elements have n bytes, m = 16 / n; vectors have w lanes
 * of 16 bytes.  A block has m * w rows of m elements in the source, and m rows of m * w
 * elements in the destination.  Four rows share a base address. */
#ifndef RAVEL_PLAIN
/* Transposes m x m elements in each lane.  Each of log2(m) rounds interleaves the first
 * half of the vectors with the second. */
#define RAVEL_TURN(n, m, w)                                                      \
RAVEL_INLINE void                                                                \
ravel_turn##n##x##w(ravel_##n##x##w *v)                                          \
{                                                                                \
    ravel_##n##x##w t[m];                                                        \
    RAVEL_UNROLL for (int round = 1; round < m; round *= 2) {                    \
        RAVEL_UNROLL for (int i = 0; i < m / 2; i++) {                           \
            t[2 * i] = RAVEL_LOW(n, m, w, v[i], v[i + m / 2]);                   \
            t[2 * i + 1] = RAVEL_HIGH(n, m, w, v[i], v[i + m / 2]);              \
        }                                                                        \
        RAVEL_UNROLL for (int i = 0; i < m; i++)                                 \
            v[i] = t[i];                                                         \
    }                                                                            \
}
/* Loads m rows for each lane and transposes them: out[j] is column j. */
#define RAVEL_BLOCK(n, m, w)                                                     \
RAVEL_TURN(n, m, w)                                                              \
RAVEL_INLINE void                                                                \
ravel_block##n##x##w(const unsigned char *s, int64_t sq, ravel_1x##w *out)       \
{                                                                                \
    enum { FOUR = m < 4 ? m : 4 };                                               \
    ravel_##n##x##w v[m];                                                        \
    int64_t sq3 = 3 * sq;                                                        \
    RAVEL_KEEP(sq3);                                                             \
    RAVEL_UNROLL for (int i = 0; i < m; i += FOUR) {                             \
        const unsigned char *row[w];                                             \
        RAVEL_UNROLL for (int lane = 0; lane < w; lane++) {                      \
            row[lane] = s + (lane * m + i) * sq;                                 \
            RAVEL_KEEP(row[lane]);                                               \
        }                                                                        \
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)                              \
            v[i + k] = (ravel_##n##x##w)ravel_rows##w(row, k == 3 ? sq3 : k * sq); \
    }                                                                            \
    ravel_turn##n##x##w(v);                                                      \
    RAVEL_UNROLL for (int i = 0; i < m; i++)                                     \
        out[i] = (ravel_1x##w)v[i];                                              \
}                                                                                \
/* Stores the m columns of `side` adjacent blocks as m rows. */                  \
RAVEL_INLINE void                                                                \
ravel_put##n##x##w(unsigned char *d, ravel_1x##w (*v)[m], int side, int64_t dp,  \
                   int64_t stream)                                               \
{                                                                                \
    enum { FOUR = m < 4 ? m : 4 };                                               \
    int64_t dp3 = 3 * dp;                                                        \
    RAVEL_KEEP(dp3);                                                             \
    RAVEL_UNROLL for (int j = 0; j < m; j += FOUR) {                             \
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)                              \
            RAVEL_UNROLL for (int h = 0; h < side; h++)                          \
                ravel_store##w(d + (k == 3 ? dp3 : k * dp) + 16 * w * h,         \
                               v[h][j + k], stream);                             \
        d += FOUR * dp;                                                          \
        RAVEL_KEEP(d);                                                           \
    }                                                                            \
}                                                                                \
/* Transposes c source rows of m elements, a block at a time. */                 \
RAVEL_INLINE void                                                                \
ravel_patch##n##x##w(unsigned char *d, const unsigned char *s, int64_t c,        \
                     int64_t dp, int64_t sq)                                     \
{                                                                                \
    for (int64_t k = 0; k < c; k += m * w, s += m * w * sq, d += 16 * w) {       \
        ravel_1x##w v[1][m];                                                     \
        ravel_block##n##x##w(s, sq, v[0]);                                       \
        ravel_put##n##x##w(d, v, 1, dp, 0);                                      \
    }                                                                            \
}                                                                                \
/* Transposes `side` * m * w source rows of `rows` elements. */                  \
RAVEL_INLINE void                                                                \
ravel_walk##n##x##w(unsigned char *d, const unsigned char *s, int64_t rows, int side, \
                    int64_t dp, int64_t sq, int64_t stream, int64_t ahead)       \
{                                                                                \
    for (int64_t p = 0; p < rows; p += m, s += 16, d += m * dp) {                \
        ravel_1x##w v[4 / w][m];                                                 \
        const int64_t back = p + m > rows ? p + m - rows : 0;                    \
        p -= back;                                                               \
        s -= back * n;                                                           \
        d -= back * dp;                                                          \
        if (ahead && p * n % 64 == 0)                                            \
            for (int i = 0; i < side * m * w; i++)                               \
                RAVEL_PREFETCH(s + i * sq + ahead);                              \
        RAVEL_UNROLL for (int h = 0; h < side; h++)                              \
            ravel_block##n##x##w(s + h * w * m * sq, sq, v[h]);                  \
        ravel_put##n##x##w(d, v, side, dp, stream);                              \
    }                                                                            \
}                                                                                \
static void                                                                      \
ravel_strip##n##x##w(unsigned char *d, const unsigned char *s, int64_t rows,     \
                     int64_t dp, int64_t sq)                                     \
{                                                                                \
    ravel_walk##n##x##w(d, s, rows, 1, dp, sq, 0, 0);                            \
}

#if RAVEL_LANES > 1
/* Transposes m source rows of 32 bytes; columns j and m + j are the lanes of one vector. */
#define RAVEL_PAIR(n, m)                                                         \
RAVEL_INLINE void                                                                \
ravel_pair##n(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)  \
{                                                                                \
    enum { FOUR = m < 4 ? m : 4 };                                               \
    ravel_##n##x2 v[m];                                                          \
    int64_t sq3 = 3 * sq, dp3 = 3 * dp;                                          \
    unsigned char *e = d + m * dp;                                               \
    RAVEL_KEEP(sq3);                                                             \
    RAVEL_KEEP(dp3);                                                             \
    RAVEL_UNROLL for (int i = 0; i < m; i += FOUR, s += FOUR * sq) {             \
        RAVEL_KEEP(s);                                                           \
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)                              \
            v[i + k] = (ravel_##n##x2)ravel_load2(s + (k == 3 ? sq3 : k * sq));  \
    }                                                                            \
    ravel_turn##n##x2(v);                                                        \
    RAVEL_UNROLL for (int j = 0; j < m; j += FOUR, d += FOUR * dp, e += FOUR * dp) { \
        RAVEL_KEEP(d);                                                           \
        RAVEL_KEEP(e);                                                           \
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)                              \
            ravel_lanes2(d + (k == 3 ? dp3 : k * dp), e + (k == 3 ? dp3 : k * dp), \
                         (ravel_1x2)v[j + k]);                                   \
    }                                                                            \
}
#else
#define RAVEL_PAIR(n, m)                                                         \
RAVEL_INLINE void                                                                \
ravel_pair##n(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)  \
{                                                                                \
    ravel_patch##n##x1(d, s, m, dp, sq);                                         \
    ravel_patch##n##x1(d + m * dp, s + 16, m, dp, sq);                           \
}
#endif

#if RAVEL_LANES == 4
#define RAVEL_BLOCKS(n, m) RAVEL_BLOCK(n, m, 1) RAVEL_BLOCK(n, m, 4) RAVEL_TURN(n, m, 2) \
                           RAVEL_PAIR(n, m) RAVEL_LINES(n, m, 4)
#elif RAVEL_LANES == 2
#define RAVEL_BLOCKS(n, m) RAVEL_BLOCK(n, m, 1) RAVEL_BLOCK(n, m, 2) RAVEL_PAIR(n, m) \
                           RAVEL_LINES(n, m, 2)
#else
#define RAVEL_BLOCKS(n, m) RAVEL_BLOCK(n, m, 1) RAVEL_PAIR(n, m) RAVEL_LINES(n, m, 1)
#endif
#else
#define RAVEL_BLOCKS(n, m) RAVEL_LINES(n, m, 1)
#endif

/* Rows and columns of a block of elements of n bytes in the buffers of a transpose.  With
 * several sides a block has up to a third more columns. */
#define RAVEL_TALL(n) ((n) == 1 ? 256 : (n) == 2 ? 128 : 512 / (n))
#define RAVEL_WIDE(n) ((n) == 1 ? 256 : 512 / (n))

/* Transposes `planes` planes, each of `sides` matrices of rows x cols elements of `size`
 * bytes, whose columns follow one another in the destination:
 *     d[b*dn + p*dp + (o*cols + q)*size] = s[b*sn + o*so + p*size + q*sq]
 * for b < planes, o < sides, p < rows, q < cols; each of the four is at least 1.
 *
 * Blocks are transposed in registers; adjacent blocks form cache lines of 64 bytes, which
 * are written whole.  The order is along the rows of the source, with prefetches `ahead`
 * bytes further if that is not 0.  The last blocks overlap the ones before.  `stream`: 1:
 * aligned cache lines are written with non-temporal stores.  2: also through buffers that
 * collect a part of each row of the destination: for rows that are not aligned, and for
 * rows whole pages apart, which share few memory banks and few cache sets. */

#ifndef RAVEL_PLAIN
/* The number of source rows that are read at the same time: few enough for the hardware
 * prefetcher. */
#define RAVEL_GROUP(n) ((n) == 1 ? 16 : 8)
/* Transposes columns that form one cache line, w lanes at a time. */
#define RAVEL_LINES(n, m, w)                                                     \
RAVEL_INLINE void                                                                \
ravel_lines##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t dp, int64_t sq, int64_t stream, int64_t ahead)            \
{                                                                                \
    ravel_walk##n##x##w(d, s, rows, 4 / w, dp, sq, stream, ahead);               \
}                                                                                \
/* Transposes the columns from q on, in strips of w lanes or one lane. */        \
RAVEL_INLINE void                                                                \
ravel_strips##n(unsigned char *d, const unsigned char *s, int64_t rows,          \
                int64_t q, int64_t cols, int64_t dp, int64_t sq)                 \
{                                                                                \
    for (; q + w * m <= cols; q += w * m)                                        \
        ravel_strip##n##x##w(d + q * n, s + q * sq, rows, dp, sq);               \
    for (; q < cols; q += m) {                                                   \
        q = q + m > cols ? cols - m : q;                                         \
        ravel_strip##n##x1(d + q * n, s + q * sq, rows, dp, sq);                 \
    }                                                                            \
}                                                                                \
/* Transposes `of` bytes, 16 or 32, of each of GROUP source rows into a buffer. */ \
RAVEL_INLINE void                                                                \
ravel_fill_piece##n(unsigned char *to, const unsigned char *s, int64_t of,       \
                    int64_t pitch, int64_t sq)                                   \
{                                                                                \
    enum { GROUP = RAVEL_GROUP(n) };                                             \
    const int whole = w > 1 && GROUP % (m * w) == 0;                             \
    for (int64_t p = 0; p < of / n && whole; p += m)                             \
        ravel_patch##n##x##w(to + p * pitch, s + p * n, GROUP, pitch, sq);       \
    for (int64_t k = 0; k < GROUP && !whole && of == 32; k += m)                 \
        ravel_pair##n(to + k * n, s + k * sq, pitch, sq);                        \
    if (!whole && of == 16)                                                      \
        ravel_patch##n##x1(to, s, GROUP, pitch, sq);                             \
}                                                                                \
/* Transposes GROUP source rows into a buffer, a cache line of each at a time.   \
 * Meanwhile the next rows are prefetched, row by row, because the lines of a row \
 * are in one memory bank; and as many lines of the other buffer are written, so \
 * that reads and writes overlap. */                                             \
RAVEL_INLINE void                                                                \
ravel_fill_group##n(unsigned char *to, const unsigned char *s, int64_t r,        \
                    int64_t pitch, int64_t sq, ravel_ahead next, ravel_flow *out) \
{                                                                                \
    enum { GROUP = RAVEL_GROUP(n) };                                             \
    int64_t i = 0;                                                               \
    for (; i + 64 / n <= r; i += 64 / n) {                                       \
        ravel_fetch(&next, GROUP);                                               \
        ravel_fill_piece##n(to + i * pitch, s + i * n, 32, pitch, sq);           \
        ravel_flow_lines(out, GROUP / 2);                                        \
        ravel_fill_piece##n(to + (i + 2 * m) * pitch, s + i * n + 32, 32, pitch, sq); \
        ravel_flow_lines(out, GROUP / 2);                                        \
    }                                                                            \
    if (i < r)                                                                   \
        ravel_fetch(&next, GROUP);                                               \
    for (; i < r; i += m) {                                                      \
        i = i + m > r ? r - m : i;                                               \
        ravel_fill_piece##n(to + i * pitch, s + i * n, 16, pitch, sq);           \
        ravel_flow_lines(out, GROUP / 4);                                        \
    }                                                                            \
}                                                                                \
/* Transposes r rows of c columns of one side into a buffer while the previous   \
 * block is written; prefetches `ahead` rows from `next` on. */                  \
RAVEL_INLINE void                                                                \
ravel_fill_side##n(unsigned char *to, const unsigned char *s, int64_t r, int64_t c, \
                   int64_t pitch, int64_t sq, const unsigned char *next,         \
                   int64_t ahead, ravel_flow *out)                               \
{                                                                                \
    enum { GROUP = RAVEL_GROUP(n) };                                             \
    if (c < GROUP)                                                               \
        ravel_strips##n(to, s, r, 0, c, pitch, sq);                              \
    for (int64_t k = 0; k < c && c >= GROUP; k += GROUP) {                       \
        k = k + GROUP > c ? c - GROUP : k;                                       \
        const int64_t left = c - k - GROUP, many = left > 0 ? left : ahead;      \
        const ravel_ahead soon = {left > 0 ? s + (k + GROUP) * sq : next, sq, r * n, 0, \
                                  many < GROUP ? many : GROUP};                  \
        ravel_fill_group##n(to + k * n, s + k * sq, r, pitch, sq, soon, out);    \
    }                                                                            \
}                                                                                \
/* Transposes block t into a buffer; `next` is the block after it. */            \
RAVEL_INLINE void                                                                \
ravel_fill_block##n(unsigned char *to, const unsigned char *s, const ravel_work *all, \
                    const ravel_part *t, int64_t pitch, const ravel_part *next,  \
                    ravel_flow *out)                                             \
{                                                                                \
    const int64_t each = all->each < t->c ? all->each : t->c;                    \
    for (int64_t q = 0; q < t->c; q += each) {                                   \
        const int more = q + each < t->c;                                        \
        const ravel_part at = {t->b, t->p, t->q + q, t->r, each};                \
        const ravel_part then = {t->b, t->p, t->q + q + each, t->r, each};       \
        ravel_fill_side##n(to + q * n, s + ravel_part_from(all, &at, n), t->r, each, \
                           pitch, all->sq,                                       \
                           s + ravel_part_from(all, more ? &then : next, n),     \
                           more ? each : next->c, out);                          \
    }                                                                            \
    ravel_flow_lines(out, INT64_MAX);                                            \
}                                                                                \
/* Transposes through two buffers: one is filled while the other is written.  If \
 * the planes are contiguous in the source, they are processed as one plane.  If \
 * the rows are contiguous in the destination, a block is written as one run.  A row \
 * of a buffer is preceded by space for an incomplete cache line.  With several  \
 * sides a block has at most C + C / 3 columns, and fewer rows. */               \
RAVEL_FRAME static void                                                          \
ravel_staged##n(unsigned char *d, const unsigned char *s, int64_t planes,        \
                int64_t sides, int64_t rows, int64_t cols, int64_t dn, int64_t sn, \
                int64_t so, int64_t dp, int64_t sq)                              \
{                                                                                \
    enum { C = RAVEL_WIDE(n), R = RAVEL_TALL(n), ROOM = R * (C * n + 192) };     \
    unsigned char room[2][ROOM + 128];                                           \
    const int64_t all = sides * cols, jump = dn - rows * dp;                     \
    const int64_t most = sides == 1 ? C : (C + cols / 2) / cols * cols;          \
    const int64_t wide = all < most ? all : most;                                \
    const int lines = ((uintptr_t)d | (uintptr_t)dp | (uintptr_t)(planes > 1 ? dn : 0) | \
                       (uintptr_t)(wide < all ? wide * n : 0)) % 64 == 0;        \
    const int one = sn == rows * n && jump % 64 == 0;                            \
    const int run = dp == all * n && wide == all && !(one && jump) && !lines;    \
    const int64_t across = lines ? (wide * n + 64) / 64 | 1 : (wide * n + 128) / 64; \
    const int64_t pitch = run ? dp : across * 64 + (dp & 63);                    \
    const int64_t tall = ROOM / pitch < R || run ? ROOM / pitch : R;             \
    const ravel_work work = {one ? 1 : planes, one ? planes * rows : rows, all, cols, \
                             tall - tall % (64 / n), wide, sn, so, sq, lines};   \
    ravel_part t = {0, 0, 0, 0, 0}, now;                                         \
    ravel_flow out = {.rows = 0};                                                \
    unsigned char *to = d, *buffer = RAVEL_ROOM(room[0], d);                     \
    ravel_part_size(&work, &t, m);                                               \
    for (int k = 1, more = 1; more; k ^= 1) {                                    \
        now = t;                                                                 \
        more = ravel_part_next(&work, &t, m);                                    \
        t.c = more ? t.c : 0;                                                    \
        unsigned char *then = d + t.b * dn + t.p * dp + t.p / rows * jump + t.q * n; \
        unsigned char *other = RAVEL_ROOM(room[k], then);                        \
        ravel_fill_block##n(buffer, s, &work, &now, pitch, &t, &out);            \
        if (run)                                                                 \
            out = (ravel_flow){to, buffer, other, 1, now.r * dp, 0, 0, 1, 1, 0, 0, 0, \
                               now.p == 0, now.p + now.r == work.rows};          \
        else                                                                     \
            out = (ravel_flow){to, buffer, other, now.r, now.c * n, dp, pitch,   \
                               rows - now.p % rows, rows, jump, 0, 0,            \
                               lines || now.q == 0, lines || now.q + now.c == all}; \
        ravel_flow_row(&out);                                                    \
        to = then;                                                               \
        buffer = other;                                                          \
    }                                                                            \
    ravel_flow_lines(&out, INT64_MAX);                                           \
}                                                                                \
static void                                                                      \
ravel_plane##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t cols, int64_t dp, int64_t sq, int64_t stream,             \
               int64_t ahead)                                                    \
{                                                                                \
    int64_t q = 0;                                                               \
    if (rows < m || cols < m) {                                                  \
        ravel_few##n(d, s, rows, cols, dp, sq);                                  \
        return;                                                                  \
    }                                                                            \
    for (; q + 4 * m <= cols; q += 4 * m)                                        \
        if (stream)                                                              \
            ravel_lines##n(d + q * n, s + q * sq, rows, dp, sq, 1, ahead);       \
        else                                                                     \
            ravel_lines##n(d + q * n, s + q * sq, rows, dp, sq, 0, ahead);       \
    ravel_strips##n(d, s, rows, q, cols, dp, sq);                                \
}
#else
#define RAVEL_LINES(n, m, w)                                                     \
static void                                                                      \
ravel_plane##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t cols, int64_t dp, int64_t sq, int64_t stream,             \
               int64_t ahead)                                                    \
{                                                                                \
    (void)stream;                                                                \
    (void)ahead;                                                                 \
    for (int64_t p = 0; p < rows; p += 64 / n)                                   \
        for (int64_t q = 0; q < cols; q += 64 / n)                               \
            ravel_few##n(d + p * dp + q * n, s + p * n + q * sq,                 \
                         rows - p < 64 / n ? rows - p : 64 / n,                  \
                         cols - q < 64 / n ? cols - q : 64 / n, dp, sq);         \
}                                                                                \
static void                                                                      \
ravel_staged##n(unsigned char *d, const unsigned char *s, int64_t planes,        \
                int64_t sides, int64_t rows, int64_t cols, int64_t dn, int64_t sn, \
                int64_t so, int64_t dp, int64_t sq)                              \
{                                                                                \
    for (int64_t b = 0; b < planes; b++)                                         \
        for (int64_t o = 0; o < sides; o++)                                      \
            ravel_plane##n(d + b * dn + o * cols * n, s + b * sn + o * so, rows, \
                           cols, dp, sq, 0, 0);                                  \
}
#endif

#define RAVEL_FEW(n)                                                             \
static void                                                                      \
ravel_few##n(unsigned char *d, const unsigned char *s, int64_t rows,             \
             int64_t cols, int64_t dp, int64_t sq)                               \
{                                                                                \
    for (int64_t p = 0; p < rows; p++)                                           \
        for (int64_t q = 0; q < cols; q++)                                       \
            memcpy(d + p * dp + q * n, s + p * n + q * sq, n);                   \
}
/* The kernel for elements of n bytes; m = 16 / n. */
#define RAVEL_TRANSPOSE(n, m)                                                    \
RAVEL_FEW(n)                                                                     \
RAVEL_BLOCKS(n, m)                                                               \
static void                                                                      \
ravel_transpose##n(unsigned char *d, const unsigned char *s, int64_t planes,     \
                   int64_t sides, int64_t rows, int64_t cols, int64_t dn,        \
                   int64_t sn, int64_t so, int64_t dp, int64_t sq,               \
                   int64_t stream, int64_t ahead)                                \
{                                                                                \
    if (sides == 1 && planes > 1 && dn == cols * n) {                            \
        sides = planes;                                                          \
        so = sn;                                                                 \
        planes = 1;                                                              \
        dn = sn = 0;                                                             \
    }                                                                            \
    if (stream && ((sides > 1 && dp == sides * cols * n) ||                      \
                   ((uintptr_t)d | (uintptr_t)dp | (planes > 1 ? (uintptr_t)dn : 0) | \
                    (sides > 1 ? (uintptr_t)(cols * n) : 0)) % 64))              \
        stream = 2;                                                              \
    const int buffers = stream == 2 && rows >= m && cols >= m;                   \
    if (buffers && (sides == 1 || cols <= RAVEL_WIDE(n))) {                      \
        ravel_staged##n(d, s, planes, sides, rows, cols, dn, sn, so, dp, sq);    \
        return;                                                                  \
    }                                                                            \
    for (int64_t o = 0; o < sides; o++)                                          \
        if (buffers)                                                             \
            ravel_staged##n(d + o * cols * n, s + o * so, planes, 1, rows, cols, dn, \
                            sn, so, dp, sq);                                     \
        else                                                                     \
            for (int64_t b = 0; b < planes; b++)                                 \
                ravel_plane##n(d + o * cols * n + b * dn, s + o * so + b * sn, rows, \
                               cols, dp, sq, stream, ahead);                     \
}

RAVEL_TRANSPOSE(4, 4)

/* src: 6422528 bytes, dst: 6422528 bytes; they do not overlap */
void
nchw_to_nhwc_f32_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0..7 C=0..63 H=0..55 W=0..55: transpose4 */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_transpose4(dst + 802816*n, src + 802816*n, 1, 1, 3136, 64, 802816, 802816, 0, 256, 12544, 0, 0);
    }
}

void
nchw_to_nhwc_f32(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    nchw_to_nhwc_f32_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    nchw_to_nhwc_f32_part(dst_, src_, 0, 1);
#endif
}
