/* ravel emit --from NCHW --to NHWC --shape 8,64,56,56 --dtype f32 --name nchw_to_nhwc_f32
 * src NCHW: 200704*N + 3136*C + 56*H + W
 *     f32, N=8 C=64 H=56 W=56 in 1605632 elements, 6422528 bytes
 * dst NHWC: 200704*N + 3584*H + 64*W + C
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

/* RAVEL_ALL: vectors of RAVEL_LANES lanes.  RAVEL_TWO: of two lanes if there are two: x86
 * processors shuffle those twice as often as wider ones, and extract lanes of them faster. */
#ifndef RAVEL_PLAIN
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
#endif

#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#endif

/* Bytes of a cache line. */
enum { RAVEL_LINE = 64 };

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
#endif
/* Elements of n bytes in a line; rows that ordinary stores write before those after them. */
#define RAVEL_LINE_OF(n) (RAVEL_LINE / (n))
#define RAVEL_NEAR_ROWS(n) ((n) == 1 ? 64 : 32)

/* Transposes blocks in registers.  A block is 16 bytes wide in the source and 16 bytes for
 * each lane in the destination.  Elements have 4 bytes.  Four rows share a base
 * address. */
#ifndef RAVEL_PLAIN
/* Loads 4 rows for each lane, `sq` bytes apart, and transposes them: out[j] is column j. */
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

/* Transposes all rows of `side` adjacent blocks; fetches the next lines of rows far apart. */
RAVEL_INLINE void
ravel_walk4(unsigned char *d, const unsigned char *s, int64_t rows, int side,
                  int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { M = 4, ALL = M * RAVEL_LANES, FAR = 160 };
    for (int64_t p = 0; p < rows; p += M, s += 16, d += M * dp) {
        RAVEL_ALL(1) v[4 / RAVEL_LANES][M];
        const int64_t back = p + M > rows ? p + M - rows : 0;
        p -= back;
        s -= back * 4;
        d -= back * dp;
        if (ahead && p * 4 % 64 == 0)
            for (int i = 0; i < side * ALL; i++)
                RAVEL_PREFETCH(s + i * sq + ahead);
        for (int64_t i = 0; i < M && !stream && dp >= FAR; i++)
            RAVEL_PREFETCH(d + i * dp + 127);
        RAVEL_UNROLL for (int h = 0; h < side; h++)
            ravel_block4(s + h * ALL * sq, sq, v[h]);
        ravel_put4(d, v, side, dp, stream);
    }
}
#endif

/* Transposes `planes` planes, each of `sides` matrices of rows x cols elements of 4
 * bytes, whose columns follow one another in the destination:
 *     d[b*dn + p*dp + (o*cols + q)*size] = s[b*sn + o*so + p*size + q*sq]
 * for b < planes, o < sides, p < rows, q < cols; each of the four is at least 1.  Columns of
 * four lanes fill a line, which is written whole; `ahead` bytes of a row of the source are
 * prefetched.  `stream`: 1, non-temporal stores of aligned lines; 2, the same through a buffer
 * of parts of rows of the destination that are not aligned or whole pages apart. */
static void
ravel_few4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                 int64_t dp, int64_t sq)
{
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < cols; q++)
            memcpy(d + p * dp + q * 4, s + p * 4 + q * sq, 4);
}

#ifndef RAVEL_PLAIN
/* Ordinary stores go to a few rows at a time: the first cache holds lines written in part. */
static void
ravel_plane4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = 4, M = 4, SIDE = 4 / RAVEL_LANES, NEAR = RAVEL_NEAR_ROWS(N) };
    (void)stream;
    if (rows < M || cols < M) {
        ravel_few4(d, s, rows, cols, dp, sq);
        return;
    }
    for (int64_t p = 0, r, q; p < rows; p += r, d += r * dp, s += r * N) {
        r = rows - p < NEAR + M ? rows - p : (int64_t)NEAR;
        for (q = 0; q + 4 * M <= cols; q += 4 * M)
            ravel_walk4(d + q * N, s + q * sq, r, SIDE, dp, sq, 0, ahead);
    }
}
#else
static void
ravel_plane4(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    const int64_t n = 4, line = RAVEL_LINE_OF(4);
    (void)stream, (void)ahead;
    for (int64_t p = 0; p < rows; p += line)
        for (int64_t q = 0; q < cols; q += line)
            ravel_few4(d + p * dp + q * n, s + p * n + q * sq,
                             rows - p < line ? rows - p : line,
                             cols - q < line ? cols - q : line, dp, sq);
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
    for (int64_t o = 0; o < sides; o++)
        for (int64_t b = 0; b < planes; b++)
            ravel_plane4(d + o * cols * N + b * dn, s + o * so + b * sn, rows, cols, dp,
                               sq, stream, ahead);
}

#ifdef __cplusplus
extern "C" {
#endif
void nchw_to_nhwc_f32_part(void *dst, const void *src, int64_t part, int64_t parts);
void nchw_to_nhwc_f32(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
nchw_to_nhwc_f32_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* N=0..7 C=0..63 H=0..55 W=0..55: transpose4 */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_transpose4(dst + 802816*n, src + 802816*n, 1, 1, 3136, 64, 802816, 802816, 0, 256, 12544, 0, 0);
    }
}

/* src: 6422528 bytes, dst: 6422528 bytes; they do not overlap */
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
