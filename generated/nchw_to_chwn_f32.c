/* ravel emit --from NCHW --to CHWN --shape 8,64,56,56 --dtype f32 --name nchw_to_chwn_f32
 * src NCHW: 200704*N + 3136*C + 56*H + W
 *     f32, N=8 C=64 H=56 W=56 in 1605632 elements, 6422528 bytes
 * dst CHWN: 25088*C + 448*H + 8*W + N
 *     f32, N=8 C=64 H=56 W=56 in 1605632 elements, 6422528 bytes */
#include <stdint.h>
#include <string.h>

static int64_t
ravel_min(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

#ifdef _OPENMP
#include <omp.h>
#endif

/* Vectors of 1, 2 or 4 lanes of 16 bytes; no operation but a load crosses a lane.
 * RAVEL_LANES: the widest that the compiler was told of (-mavx2, -march=native).
 * RAVEL_PLAIN: no vectors; RAVEL_PORTABLE: the compiler's own, no intrinsics. */
#if !defined(RAVEL_PLAIN) && !defined(__clang__) && \
    !(defined(__GNUC__) && __GNUC__ >= 12)
#define RAVEL_PLAIN
#endif
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
/* The large header takes a compiler longer than all of ours. */
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
#define RAVEL_UNROLL _Pragma("GCC unroll 16")

/* ravel_2x4: elements of 2 bytes, 4 lanes; ravel_anyx4: of bytes, at any address. */
#define RAVEL_TYPES(w)                                                           \
    typedef uint8_t ravel_1x##w __attribute__((vector_size(16 * w)));            \
    typedef uint16_t ravel_2x##w __attribute__((vector_size(16 * w)));           \
    typedef uint32_t ravel_4x##w __attribute__((vector_size(16 * w)));           \
    typedef uint64_t ravel_8x##w __attribute__((vector_size(16 * w)));           \
    typedef uint8_t ravel_anyx##w                                                \
        __attribute__((vector_size(16 * w), aligned(1), may_alias));

/* An element of a, one of b, and so on, from the low (high) half of every lane;
 * elements of n bytes, m of them a lane, w lanes. */
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

/* 16 bytes from each of w rows, `step` bytes from one to the next; and 16 * w bytes
 * back, past the caches where `stream` says so and the address is aligned. */
RAVEL_TYPES(1)
RAVEL_INLINE ravel_1x1
ravel_load1(const unsigned char *s, int64_t step)
{
    (void)step;
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

#if RAVEL_LANES > 1
/* Intrinsics: gcc 12 does not find the instruction that loads an upper lane. */
RAVEL_TYPES(2)
RAVEL_INLINE ravel_1x2
ravel_load2(const unsigned char *s, int64_t step)
{
    const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)s);
    const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s + step));
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
RAVEL_TYPES(4)
RAVEL_INLINE ravel_1x4
ravel_load4(const unsigned char *s, int64_t step)
{
    const __m256i a = (__m256i)ravel_load2(s, step);
    const __m256i b = (__m256i)ravel_load2(s + 2 * step, step);
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

/* Past the caches: RAVEL_STREAM bytes, a line or more of them, aligned in the destination;
 * and a run of any bytes. */
#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#define RAVEL_PREFETCH_L2(p) __builtin_prefetch(p, 0, 2)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#define RAVEL_PREFETCH_L2(p) (void)(p)
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

/* Whole lines; `next` is what will be read after them: fetched meanwhile. */
static inline void
ravel_stream_lines(unsigned char *d, const unsigned char *s, int64_t bytes,
                   const unsigned char *next)
{
    for (int64_t i = 0; i < bytes; i += 64) {
        RAVEL_PREFETCH(next + i);
        ravel_stream_line(d + i, s + i);
    }
}

static inline void
ravel_stream_next(unsigned char *d, const unsigned char *s, int64_t bytes,
                  const unsigned char *next)
{
    int64_t head = (int64_t)(-(uintptr_t)d & 63);
    head = head < bytes ? head : bytes;
    const int64_t lines = (bytes - head) / 64 * 64, end = head + lines;
    if (head)
        memcpy(d, s, (size_t)head);
    ravel_stream_lines(d + head, s + head, lines, next + head);
    if (bytes > end)
        memcpy(d + end, s + end, (size_t)(bytes - end));
}

static inline void
ravel_stream_run(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    ravel_stream_next(d, s, bytes, s + 512);
}

/* Planes, b < planes of them:  d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for
 * p < rows, q < cols.  A block is 16 bytes wide in the source, 16 bytes a lane in the
 * destination; four lanes make a line of 64 bytes, written whole.  The walk is along the
 * rows of the source, with prefetches `ahead` bytes on where that is not 0.  Edges
 * overlap what is done.  `stream`: 1, lines go past the caches, if they are aligned; 2,
 * they do by way of a buffer that gathers a piece of each row of the destination: for
 * rows that are not aligned, and rows whole pages apart, which share few banks of the
 * memory and few sets of the cache. */
enum { RAVEL_BUFFER = 32768 };
#ifndef RAVEL_PLAIN
/* Rows of the source to fetch while stores go out: what is left of them. */
typedef struct {
    const unsigned char *s;
    int64_t sq, bytes, at, rows;
} ravel_ahead;
static inline void
ravel_fetch(ravel_ahead *a, int64_t lines)
{
    for (; lines > 0 && a->rows > 0; lines--) {
        RAVEL_PREFETCH_L2(a->s + a->at);
        a->at += 64;
        if (a->at >= a->bytes) {
            a->at = 0;
            a->s += a->sq;
            a->rows--;
        }
    }
}

/* A row's next bytes, which are in a buffer and at the same distance from a line there:
 * the whole lines past the caches, what is left before the next piece.  What is
 * before the first whole line of a row and after its last goes the common way. */
static void
ravel_flush(unsigned char *d, unsigned char *buffer, int64_t bytes, int64_t piece,
            int first, int last)
{
    const int64_t off = (int64_t)((uintptr_t)d & 63);
    int64_t from = first && off ? 64 - off : -off;
    int64_t to = bytes - (int64_t)((uintptr_t)(d + bytes) & 63);
    if (first) {
        from = from < bytes ? from : bytes;
        memcpy(d, buffer, (size_t)(from > 0 ? from : 0));
        to = to < from ? from : to;
    }
    for (int64_t i = from; i < to; i += 64)
        ravel_stream_line(d + i, buffer + i);
    if (last)
        memcpy(d + to, buffer + to, (size_t)(bytes - to));
    else
        memcpy(buffer + to - piece, buffer + to, 64);
}

/* m rows a lane: v[j] becomes column j.  Each of log2(m) rounds zips the first half
 * of the vectors with the second. */
#define RAVEL_BLOCK(n, m, w)                                                     \
RAVEL_INLINE void                                                                \
ravel_block##n##x##w(const unsigned char *s, int64_t sq, ravel_1x##w *out)       \
{                                                                                \
    ravel_##n##x##w v[m], t[m];                                                  \
    RAVEL_UNROLL for (int i = 0; i < m; i++)                                     \
        v[i] = (ravel_##n##x##w)ravel_load##w(s + i * sq, m * sq);               \
    RAVEL_UNROLL for (int round = 1; round < m; round *= 2) {                    \
        RAVEL_UNROLL for (int i = 0; i < m / 2; i++) {                           \
            t[2 * i] = RAVEL_LOW(n, m, w, v[i], v[i + m / 2]);                   \
            t[2 * i + 1] = RAVEL_HIGH(n, m, w, v[i], v[i + m / 2]);              \
        }                                                                        \
        RAVEL_UNROLL for (int i = 0; i < m; i++)                                 \
            v[i] = t[i];                                                         \
    }                                                                            \
    RAVEL_UNROLL for (int i = 0; i < m; i++)                                     \
        out[i] = (ravel_1x##w)v[i];                                              \
}                                                                                \
/* All rows of m * w columns. */                                                 \
static void                                                                      \
ravel_strip##n##x##w(unsigned char *d, const unsigned char *s, int64_t rows,     \
                     int64_t dp, int64_t sq)                                     \
{                                                                                \
    for (int64_t p = 0; p < rows; p += m) {                                      \
        ravel_1x##w v[m];                                                        \
        p = p + m > rows ? rows - m : p;                                         \
        ravel_block##n##x##w(s + p * n, sq, v);                                  \
        RAVEL_UNROLL for (int j = 0; j < m; j++)                                 \
            ravel_store##w(d + (p + j) * dp, v[j], 0);                           \
    }                                                                            \
}

/* All rows of a line of columns, of w lanes at a time. */
#define RAVEL_LINES(n, m, w)                                                     \
RAVEL_INLINE void                                                                \
ravel_lines##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t dp, int64_t sq, int64_t stream, int64_t ahead)            \
{                                                                                \
    for (int64_t p = 0; p < rows; p += m) {                                      \
        ravel_1x##w v[4 / w][m];                                                 \
        p = p + m > rows ? rows - m : p;                                         \
        if (ahead && p * n % 64 == 0)                                            \
            for (int i = 0; i < 4 * m; i++)                                      \
                RAVEL_PREFETCH(s + p * n + i * sq + ahead);                      \
        RAVEL_UNROLL for (int h = 0; h < 4 / w; h++)                             \
            ravel_block##n##x##w(s + p * n + h * w * m * sq, sq, v[h]);          \
        RAVEL_UNROLL for (int j = 0; j < m; j++)                                 \
            RAVEL_UNROLL for (int h = 0; h < 4 / w; h++)                         \
                ravel_store##w(d + (p + j) * dp + 16 * w * h, v[h][j], stream);  \
    }                                                                            \
}                                                                                \
/* The columns from q on, strips of at most w lanes. */                          \
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
/* r rows of c columns into a buffer, the rows of the source fetched before use. \
 * Many rows whose distance leaves them few sets of the first cache are copied to one \
 * another's side first: a line is read there several times. */                  \
RAVEL_INLINE void                                                                \
ravel_fill_buffer##n(unsigned char *buffer, const unsigned char *s, int64_t r,   \
                     int64_t c, int64_t pitch, int64_t sq)                       \
{                                                                                \
    enum { STEP = n == 1 ? RAVEL_LANES * m : 8 > m ? 8 : m, BESIDE = 256 };       \
    const int beside = n == 1 && sq % 1024 == 0 && r >= 16 && r <= BESIDE;       \
    unsigned char rows[n == 1 ? STEP * BESIDE : 1];                              \
    for (int64_t k = 0; k < c; k += STEP) {                                      \
        const int64_t end = k + STEP < c ? k + STEP : c;                         \
        for (int64_t i = k + STEP; i < k + 2 * STEP && i < c; i++)               \
            for (int64_t j = 0; j < r * n; j += 64)                              \
                RAVEL_PREFETCH(s + i * sq + j);                                  \
        if (beside && end - k >= m) {                                            \
            for (int64_t i = k; i < end; i++)                                    \
                for (int64_t j = 0; j < r; j += 16) {                            \
                    j = j + 16 > r ? r - 16 : j;                                 \
                    ravel_store1(rows + (i - k) * BESIDE + j,                    \
                                 ravel_load1(s + i * sq + j, 0), 0);             \
                }                                                                \
            ravel_strips##n(buffer + k * n, rows, r, 0, end - k, pitch, BESIDE); \
        } else {                                                                 \
            ravel_strips##n(buffer, s, r, k, end, pitch, sq);                    \
        }                                                                        \
    }                                                                            \
}                                                                                \
/* The planes' rows touch: the destination is one run. */                        \
static void                                                                      \
ravel_staged_run##n(unsigned char *d, const unsigned char *s, int64_t rows,      \
                    int64_t cols, int64_t sq, const unsigned char *then)         \
{                                                                                \
    unsigned char buffer[RAVEL_BUFFER];                                          \
    const int64_t run = cols * n, most = RAVEL_BUFFER / run;                     \
    if (rows < m || cols < m)        /* never, which not every compiler sees */  \
        return;                                                                  \
    for (int64_t p = 0, r; p < rows; p += r) {                                   \
        r = rows - p < most ? rows - p : most;                                   \
        r = rows - p - r < m && rows - p > r ? r - m : r;                        \
        ravel_fill_buffer##n(buffer, s + p * n, r, cols, run, sq);               \
        ravel_ahead next = {s + (p + r) * n, sq, r * n, 0, cols};                \
        if (p + r == rows)                                                       \
            next.s = then;                                                       \
        for (int64_t i = 0; i < r * run; i += 512) {                             \
            const int64_t bytes = r * run - i < 512 ? r * run - i : 512;         \
            ravel_fetch(&next, 1 + r * n * cols / (r * run / 8));                \
            ravel_stream_run(d + p * run + i, buffer + i, bytes);                \
        }                                                                        \
    }                                                                            \
}                                                                                \
/* Rows of all planes, side by side in the destination: together they are one run of it. \
 * In the source the planes of the next call may follow, and are fetched. */     \
static void                                                                      \
ravel_staged_planes##n(unsigned char *d, const unsigned char *s, int64_t planes, \
                       int64_t rows, int64_t cols, int64_t sn, int64_t sq)       \
{                                                                                \
    unsigned char buffer[RAVEL_BUFFER];                                          \
    const int64_t run = planes * cols * n, bytes = rows * run;                   \
    ravel_ahead next = {s + planes * sn, sq, planes * sn, 0, sn == rows * n ? cols : 0}; \
    if (rows < m || cols < m)        /* never, which not every compiler sees */  \
        return;                                                                  \
    for (int64_t b = 0; b < planes; b++)                                         \
        ravel_strips##n(buffer + b * cols * n, s + b * sn, rows, 0, cols, run, sq); \
    for (int64_t i = 0; i < bytes; i += 512) {                                   \
        ravel_fetch(&next, 9);                                                   \
        ravel_stream_run(d + i, buffer + i, bytes - i < 512 ? bytes - i : 512);  \
    }                                                                            \
}                                                                                \
/* One block by way of the buffer, whose rows are as far off a line as the       \
 * destination's; meanwhile what comes next is fetched. */                       \
RAVEL_INLINE void                                                                \
ravel_block_staged##n(unsigned char *d, const unsigned char *s, int64_t r,       \
                      int64_t c, int64_t dp, int64_t sq, unsigned char *buffer,  \
                      int64_t pitch, int64_t piece, ravel_ahead next,            \
                      int first, int last)                                       \
{                                                                                \
    ravel_fill_buffer##n(buffer, s, r, c, pitch, sq);                            \
    for (int64_t i = 0; i < r; i++) {                                            \
        ravel_fetch(&next, 1 + c * n / 64);                                      \
        ravel_flush(d + i * dp, buffer + i * pitch, c * n, piece, first, last);  \
    }                                                                            \
}                                                                                \
/* Rows at any distance.  Blocks of some bytes of each go along the rows of the   \
 * source; or, where rows do not start at lines, along those of the destination, so \
 * that what is left of a row's last line can wait in the buffer. */             \
static void                                                                      \
ravel_staged##n(unsigned char *d, const unsigned char *s, int64_t rows,          \
                int64_t cols, int64_t dp, int64_t sq, const unsigned char *then) \
{                                                                                \
    enum { R = n == 1 ? 192 : 256 / n, C = n == 1 ? 256 : 512 / n };             \
    unsigned char room[R * (C * n + 192) + 128];                                 \
    const int64_t pitch = C * n + 128 + (dp & 63);                               \
    const int lines = ((uintptr_t)d | (uintptr_t)dp) % 64 == 0;                  \
    int64_t p = 0, q = 0, r, c;                                                  \
    if (rows < m || cols < m)        /* never, as above */                       \
        return;                                                                  \
    while (p < rows && q < cols) {                                               \
        c = cols - q < C + m ? cols - q : C;                                     \
        r = rows - p < R + m ? rows - p : R;                                     \
        r = r > R ? r - m : r;                                                   \
        unsigned char *to = d + p * dp + q * n;                                  \
        unsigned char *buffer = room + 64 + (((uintptr_t)to - (uintptr_t)room) & 63); \
        const int first = lines || q == 0, last = lines || q + c == cols;        \
        const unsigned char *from = s + p * n + q * sq;                          \
        if (lines && (p += r) >= rows) {                                         \
            p = 0;                                                               \
            q += c;                                                              \
        } else if (!lines && (q += c) >= cols) {                                 \
            q = 0;                                                               \
            p += r;                                                              \
        }                                                                        \
        ravel_ahead next = {s + p * n + q * sq, sq, r * n, 0, c};                \
        if (p >= rows || q >= cols)                                              \
            next.s = then;                                                       \
        ravel_block_staged##n(to, from, r, c, dp, sq, buffer, pitch, C * n,      \
                              next, first, last);                                \
    }                                                                            \
}                                                                                \
static void                                                                      \
ravel_plane##n(unsigned char *d, const unsigned char *s, int64_t rows,           \
               int64_t cols, int64_t dp, int64_t sq, int64_t stream,             \
               int64_t ahead, const unsigned char *then)                         \
{                                                                                \
    int64_t q = 0;                                                               \
    if (rows < m || cols < m) {                                                  \
        ravel_few##n(d, s, rows, cols, dp, sq);                                  \
        return;                                                                  \
    }                                                                            \
    if (stream == 2 && dp == cols * n && dp <= 512) {                            \
        ravel_staged_run##n(d, s, rows, cols, sq, then);                         \
        return;                                                                  \
    }                                                                            \
    if (stream == 2) {                                                           \
        ravel_staged##n(d, s, rows, cols, dp, sq, then);                         \
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
               int64_t ahead, const unsigned char *then)                         \
{                                                                                \
    (void)then;                                                                  \
    (void)stream;                                                                \
    (void)ahead;                                                                 \
    for (int64_t p = 0; p < rows; p += 64 / n)                                   \
        for (int64_t q = 0; q < cols; q += 64 / n)                               \
            ravel_few##n(d + p * dp + q * n, s + p * n + q * sq,                 \
                         rows - p < 64 / n ? rows - p : 64 / n,                  \
                         cols - q < 64 / n ? cols - q : 64 / n, dp, sq);         \
}                                                                                \
static void                                                                      \
ravel_staged_planes##n(unsigned char *d, const unsigned char *s, int64_t planes, \
                       int64_t rows, int64_t cols, int64_t sn, int64_t sq)       \
{                                                                                \
    for (int64_t b = 0; b < planes; b++)                                         \
        ravel_few##n(d + b * cols * n, s + b * sn, rows, cols, planes * cols * n, sq); \
}
#define RAVEL_BLOCK(n, m, w)
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
#if RAVEL_LANES == 4
#define RAVEL_WIDE(n, m) RAVEL_BLOCK(n, m, 4) RAVEL_LINES(n, m, 4)
#elif RAVEL_LANES == 2
#define RAVEL_WIDE(n, m) RAVEL_BLOCK(n, m, 2) RAVEL_LINES(n, m, 2)
#else
#define RAVEL_WIDE(n, m) RAVEL_LINES(n, m, 1)
#endif
/* The kernel of elements of n bytes, m of them 16 bytes. */
#define RAVEL_TRANSPOSE(n, m)                                                    \
RAVEL_FEW(n)                                                                     \
RAVEL_BLOCK(n, m, 1)                                                             \
RAVEL_WIDE(n, m)                                                                 \
static void                                                                      \
ravel_transpose##n(unsigned char *d, const unsigned char *s, int64_t planes,     \
                   int64_t rows, int64_t cols, int64_t dn, int64_t sn,           \
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)        \
{                                                                                \
    if (stream && planes > 1 && dn == cols * n && dp == planes * dn &&           \
        rows * dp <= RAVEL_BUFFER && rows >= m && cols >= m) {                   \
        ravel_staged_planes##n(d, s, planes, rows, cols, sn, sq);                \
        return;                                                                  \
    }                                                                            \
    if (stream == 1 &&                                                           \
        ((uintptr_t)d | (uintptr_t)dp | (planes > 1 ? (uintptr_t)dn : 0)) % 64)  \
        stream = 2;                                                              \
    for (int64_t b = 0; b < planes; b++)                                         \
        ravel_plane##n(d + b * dn, s + b * sn, rows, cols, dp, sq, stream,       \
                       ahead, s + (b + 1 < planes ? b + 1 : b) * sn);            \
}

RAVEL_TRANSPOSE(4, 4)

/* src: 6422528 bytes, dst: 6422528 bytes; they do not overlap */
void
nchw_to_chwn_f32_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *restrict dst = dst_;
    const unsigned char *restrict src = src_;
    /* N=0..7 C=0..63 H=0..55 W=0..55: transpose4 */
    for (int64_t chw_ = 32*part/parts*6400; chw_ < ravel_min(200704, 32*(part + 1)/parts*6400); chw_ += 6400) {
        ravel_transpose4(dst + 32*chw_, src + 4*chw_, 1, ravel_min(-chw_ + 200704, 6400), 8, 0, 0, 32, 802816, 0, 0);
    }
}

void
nchw_to_chwn_f32(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    nchw_to_chwn_f32_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    nchw_to_chwn_f32_part(dst_, src_, 0, 1);
#endif
}
