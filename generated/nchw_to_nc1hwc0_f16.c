/* ravel emit --from NCHW --to NC1HWC0 --shape 8,71,56,56 --dtype f16 --name nchw_to_nc1hwc0_f16
 * src NCHW: 222656*N + 3136*C + 56*H + W
 *     f16, N=8 C=71 H=56 W=56 in 1781248 elements, 3562496 bytes
 * dst NC1HWC0: 250880*N + 50176*(C//16) + 896*H + 16*W + C%16
 *     f16, N=8 C=71 H=56 W=56 in 2007040 elements, 4014080 bytes
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
#else
enum { RAVEL_PAIR = 1 };
#define RAVEL_TWO(n) ravel_##n##x1
#define RAVEL_TWO_LOW(n, m, a, b) RAVEL_LOW(n, m, 1, a, b)
#define RAVEL_TWO_HIGH(n, m, a, b) RAVEL_HIGH(n, m, 1, a, b)
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

#ifdef __GNUC__
#define RAVEL_PREFETCH(p) __builtin_prefetch(p)
#else
#define RAVEL_PREFETCH(p) (void)(p)
#endif

/* Bytes of a cache line. */
enum { RAVEL_LINE = 64 };

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
/* Elements of n bytes in a line; rows that ordinary stores write before those after them. */
#define RAVEL_LINE_OF(n) (RAVEL_LINE / (n))
#define RAVEL_NEAR_ROWS(n) ((n) == 1 ? 64 : 32)

/* Transposes blocks in registers.  A block is 16 bytes wide in the source and 16 bytes for
 * each lane in the destination.  Elements have 2 bytes.  Four rows share a base
 * address. */
#ifndef RAVEL_PLAIN
/* Loads 8 rows for each lane, `sq` bytes apart, and transposes them: out[j] is column j. */
RAVEL_INLINE void
ravel_block2(const unsigned char *s, int64_t sq, RAVEL_ALL(1) *out)
{
    enum { M = 8, FOUR = M < 4 ? M : 4 };
    RAVEL_ALL(2) v[M];
    int64_t sq3 = 3 * sq;
    RAVEL_KEEP(sq3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR) {
        const unsigned char *row[RAVEL_LANES];
        RAVEL_UNROLL for (int lane = 0; lane < RAVEL_LANES; lane++) {
            row[lane] = s + (lane * M + i) * sq;
            RAVEL_KEEP(row[lane]);
        }
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            v[i + k] = (RAVEL_ALL(2))RAVEL_ALL_ROWS(row, k == 3 ? sq3 : k * sq);
    }
    ravel_turn2(v);
    RAVEL_UNROLL for (int i = 0; i < M; i++)
        out[i] = (RAVEL_ALL(1))v[i];
}

/* Stores the columns of `side` adjacent blocks. */
RAVEL_INLINE void
ravel_put2(unsigned char *d, RAVEL_ALL(1) (*v)[8], int side, int64_t dp,
                 int64_t stream)
{
    enum { M = 8, FOUR = M < 4 ? M : 4 };
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
ravel_walk2(unsigned char *d, const unsigned char *s, int64_t rows, int side,
                  int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { M = 8, ALL = M * RAVEL_LANES, FAR = 160 };
    for (int64_t p = 0; p < rows; p += M, s += 16, d += M * dp) {
        RAVEL_ALL(1) v[4 / RAVEL_LANES][M];
        const int64_t back = p + M > rows ? p + M - rows : 0;
        p -= back;
        s -= back * 2;
        d -= back * dp;
        if (ahead && p * 2 % 64 == 0)
            for (int i = 0; i < side * ALL; i++)
                RAVEL_PREFETCH(s + i * sq + ahead);
        for (int64_t i = 0; i < M && !stream && dp >= FAR; i++)
            RAVEL_PREFETCH(d + i * dp + 127);
        RAVEL_UNROLL for (int h = 0; h < side; h++)
            ravel_block2(s + h * ALL * sq, sq, v[h]);
        ravel_put2(d, v, side, dp, stream);
    }
}

static void
ravel_strip2(unsigned char *d, const unsigned char *s, int64_t rows, int64_t dp,
                   int64_t sq)
{
    ravel_walk2(d, s, rows, 1, dp, sq, 0, 0);
}

/* Loads and transposes a block of one lane. */
RAVEL_INLINE void
ravel_lone2(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)
{
    enum { M = 8, FOUR = M < 4 ? M : 4 };
    ravel_2x1 v[M];
    int64_t sq3 = 3 * sq, dp3 = 3 * dp;
    RAVEL_KEEP(sq3);
    RAVEL_KEEP(dp3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR, s += FOUR * sq) {
        RAVEL_KEEP(s);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            v[i + k] = (ravel_2x1)ravel_load1(s + (k == 3 ? sq3 : k * sq));
    }
    ravel_zip2(v, M, RAVEL_ROUNDS2);
    RAVEL_UNROLL for (int j = 0; j < M; j += FOUR, d += FOUR * dp) {
        RAVEL_KEEP(d);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            ravel_store1(d + (k == 3 ? dp3 : k * dp), (ravel_1x1)v[j + k], 0);
    }
}

/* Transposes 8 columns, with 8 rows of each in each of two lanes. */
RAVEL_INLINE void
ravel_tall2(unsigned char *d, const unsigned char *s, int64_t dp, int64_t sq)
{
    enum { M = 8, FOUR = M < 4 ? M : 4 };
    RAVEL_TWO(2) v[M];
    int64_t sq3 = 3 * sq, dp3 = 3 * dp;
    RAVEL_KEEP(sq3);
    RAVEL_KEEP(dp3);
    RAVEL_UNROLL for (int i = 0; i < M; i += FOUR, s += FOUR * sq) {
        RAVEL_KEEP(s);
        RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
            memcpy(&v[i + k], s + (k == 3 ? sq3 : k * sq), sizeof v[i]);
    }
    ravel_turn_two2(v);
    RAVEL_UNROLL for (int i = 0; i < RAVEL_PAIR; i++)
        RAVEL_UNROLL for (int j = 0; j < M; j += FOUR, d += FOUR * dp) {
            RAVEL_KEEP(d);
            RAVEL_UNROLL for (int k = 0; k < FOUR; k++)
                ravel_store1(d + (k == 3 ? dp3 : k * dp),
                             ravel_lane((RAVEL_TWO(1))v[j + k], i), 0);
        }
}

/* Transposes all rows of 8 columns; the last block may overlap the one before. */
static void
ravel_column2(unsigned char *d, const unsigned char *s, int64_t rows, int64_t dp,
                    int64_t sq)
{
    enum { M = 8, TALL = M * RAVEL_PAIR };
    int64_t p = 0;
    for (; rows >= TALL && p + M < rows; p += TALL) {
        p = p + TALL > rows ? rows - TALL : p;
        ravel_tall2(d + p * dp, s + p * 2, dp, sq);
    }
    for (; p < rows; p += M) {
        p = p + M > rows ? rows - M : p;
        ravel_lone2(d + p * dp, s + p * 2, dp, sq);
    }
}

/* Transposes the columns from q on; the last ones may overlap those before. */
static void
ravel_strips2(unsigned char *d, const unsigned char *s, int64_t rows, int64_t q,
                    int64_t cols, int64_t dp, int64_t sq)
{
    enum { M = 8, ALL = M * RAVEL_LANES };
    for (; q + ALL <= cols || (q + ALL / 2 < cols && cols >= ALL); q += ALL) {
        q = q + ALL > cols ? cols - ALL : q;
        ravel_strip2(d + q * 2, s + q * sq, rows, dp, sq);
    }
    for (; q < cols; q += M) {
        q = q + M > cols ? cols - M : q;
        ravel_column2(d + q * 2, s + q * sq, rows, dp, sq);
    }
}
#endif

/* Transposes `planes` planes, each of `sides` matrices of rows x cols elements of 2
 * bytes, whose columns follow one another in the destination:
 *     d[b*dn + p*dp + (o*cols + q)*size] = s[b*sn + o*so + p*size + q*sq]
 * for b < planes, o < sides, p < rows, q < cols; each of the four is at least 1.  Columns of
 * four lanes fill a line, which is written whole; `ahead` bytes of a row of the source are
 * prefetched.  `stream`: 1, non-temporal stores of aligned lines; 2, the same through a buffer
 * of parts of rows of the destination that are not aligned or whole pages apart. */
static void
ravel_few2(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                 int64_t dp, int64_t sq)
{
    for (int64_t p = 0; p < rows; p++)
        for (int64_t q = 0; q < cols; q++)
            memcpy(d + p * dp + q * 2, s + p * 2 + q * sq, 2);
}

#ifndef RAVEL_PLAIN
/* Ordinary stores go to a few rows at a time: the first cache holds lines written in part. */
static void
ravel_plane2(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = 2, M = 8, SIDE = 4 / RAVEL_LANES, NEAR = RAVEL_NEAR_ROWS(N) };
    (void)stream;
    if (rows < M || cols < M) {
        ravel_few2(d, s, rows, cols, dp, sq);
        return;
    }
    for (int64_t p = 0, r, q; p < rows; p += r, d += r * dp, s += r * N) {
        r = rows - p < NEAR + M ? rows - p : (int64_t)NEAR;
        for (q = 0; q + 4 * M <= cols; q += 4 * M)
            ravel_walk2(d + q * N, s + q * sq, r, SIDE, dp, sq, 0, ahead);
        ravel_strips2(d, s, r, q, cols, dp, sq);
    }
}
#else
static void
ravel_plane2(unsigned char *d, const unsigned char *s, int64_t rows, int64_t cols,
                   int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    const int64_t n = 2, line = RAVEL_LINE_OF(2);
    (void)stream, (void)ahead;
    for (int64_t p = 0; p < rows; p += line)
        for (int64_t q = 0; q < cols; q += line)
            ravel_few2(d + p * dp + q * n, s + p * n + q * sq,
                             rows - p < line ? rows - p : line,
                             cols - q < line ? cols - q : line, dp, sq);
}
#endif

static void
ravel_transpose2(unsigned char *d, const unsigned char *s, int64_t planes,
                       int64_t sides, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                       int64_t so, int64_t dp, int64_t sq, int64_t stream, int64_t ahead)
{
    enum { N = 2, M = 8 };
    if (sides == 1 && planes > 1 && dn == cols * N) {
        sides = planes;
        so = sn;
        planes = 1;
        dn = sn = 0;
    }
    for (int64_t o = 0; o < sides; o++)
        for (int64_t b = 0; b < planes; b++)
            ravel_plane2(d + o * cols * N + b * dn, s + o * so + b * sn, rows, cols, dp,
                               sq, stream, ahead);
}

/* The most bytes of a row of interleaved columns. */
enum { RAVEL_WOVEN_BYTES = 120 };

/* The code splits values into bytes, the lowest byte first. */
#if defined(__BIG_ENDIAN__) || \
    (defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#error "this relayout is for little-endian machines: the bytes of its values would be wrong"
#endif

/* Helpers for short rows and columns: padding in vectors, and a buffer for output. */
#ifndef RAVEL_PLAIN
#if defined(RAVEL_SSE2) && defined(__SSSE3__)
#define RAVEL_SHUFFLE(v, by) ((ravel_1x1)_mm_shuffle_epi8((__m128i)(v), (__m128i)(by)))
#elif defined(__aarch64__) && !defined(__clang__)
#define RAVEL_SHUFFLE(v, by) __builtin_shuffle(v, by)
#endif

/* Byte indices for RAVEL_SHUFFLE: byte i comes from byte i / in * out + i % in.  This moves
 * pieces that are `out` bytes apart to a distance of `in` bytes. */
RAVEL_INLINE ravel_1x1
ravel_apart(int64_t in, int64_t out)
{
    ravel_1x1 by = {0};
    for (int i = 0; i < 16; i++)
        by[i] = (uint8_t)((i / in * out + i % in) & 15);
    return by;
}

/* The power of two to which a row of at most 16 bytes is padded. */
RAVEL_INLINE int64_t
ravel_slot(int64_t bytes)
{
    return bytes <= 2 ? 2 : bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

/* Copies a few bytes. */
RAVEL_INLINE void
ravel_few_bytes(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    int64_t i = 0;
    for (; i + 16 <= bytes; i += 16)
        memcpy(d + i, s + i, 16);
    for (; i + 4 <= bytes; i += 4)
        memcpy(d + i, s + i, 4);
    for (; i < bytes; i++)
        d[i] = s[i];
}

/* Writes the `held` bytes of a buffer to *d and advances *d.  `stream`: only whole cache
 * lines, with non-temporal stores, unless this is the `last` call.  Moves the remaining
 * bytes to the start of the buffer and returns their number. */
RAVEL_INLINE int64_t
ravel_pour(unsigned char **d, unsigned char *stage, int64_t held, int64_t stream,
            int64_t last)
{
    int64_t i = stream ? (int64_t)(-(uintptr_t)*d & 63) : held;
    i = i < held ? i : held;
    memcpy(*d, stage, (size_t)i);
    for (; i + 64 <= held; i += 64)
        RAVEL_UNROLL for (int j = 0; j < 64; j += 16)
            ravel_store1(*d + i + j, ravel_load1(stage + i + j), 1);
    if (last)
        memcpy(*d + i, stage + i, (size_t)(held - i));
    else
        memmove(stage, stage + i, (size_t)(held - i));
    *d += i;
    return held - i;
}
#endif

/* Transposes n planes with few columns:
 * d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for b < n, p < rows, q < cols, with
 * elements of `size` bytes.  A row of the destination has `width` elements, at most
 * RAVEL_WOVEN_BYTES bytes; those from `cols` on get the value `value`.
 *
 * `stream`: contiguous rows are written with non-temporal stores: directly if a row is a
 * cache line, or has 2, 4 or 8 bytes without padding in planes of whole lines; else through
 * a buffer.  A store may write beyond a row; the next row is written after it.  The buffer
 * prevents this at the end of the destination. */
#ifndef RAVEL_PLAIN
enum { RAVEL_STAGE = 3968 };

/* A plane; strides in bytes. */
typedef struct {
    int64_t cols, sq, width, dp, stream, ahead;
    int64_t n, dn, sn;             /* planes, and their strides */
    int64_t exact;                 /* rows are contiguous and have no padding */
    int64_t lines;                 /* rows are cache lines, for non-temporal stores */
    const unsigned char *value;    /* the value, repeated to 16 bytes */
    ravel_1x1 by;                  /* byte indices that drop padding: ravel_apart */
} ravel_Woven;

RAVEL_INLINE ravel_1x1
ravel_column(const unsigned char *s, int64_t q, ravel_Woven w)
{
    return ravel_load1(q < w.cols ? s + q * w.sq : w.value);
}

/* Stores the first `kept` bytes of each `of` bytes of v, contiguously. */
RAVEL_INLINE void
ravel_keep(unsigned char *d, ravel_1x1 v, int64_t of, int64_t kept, ravel_1x1 by)
{
    if (of == kept || of == 16) {
        ravel_store1(d, v, 0);
        return;
    }
#ifdef RAVEL_SHUFFLE
    ravel_store1(d, RAVEL_SHUFFLE(v, by), 0);
#else
    (void)by;
    for (int i = 0; i < 2; i++) {
        const uint64_t low = ((ravel_8x1)v)[i], high = low >> 32;
        memcpy(d + 8 * i / of * kept, &low, 8);
        if (of == 4)
            memcpy(d + (2 * i + 1) * kept, &high, 8);
    }
#endif
}
#endif

/* The kernel interleave for elements of 2 bytes. */
#ifndef RAVEL_PLAIN
/* Transposes at most k columns to 8 contiguous rows. */
RAVEL_INLINE void
ravel_weave2(unsigned char *d, const unsigned char *s, ravel_Woven w, int k,
             int rounds)
{
    const int64_t bytes = w.width * 2;
    ravel_2x1 v[8];
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        v[i] = (ravel_2x1)ravel_column(s, i, w);
    ravel_zip2(v, k, rounds);
    RAVEL_UNROLL for (int i = 0; i < k; i++)
        ravel_keep(d + i * (8 / k) * bytes, (ravel_1x1)v[i], k * 2, bytes,
                   w.by);
}

/* Transposes 8 or more columns to 8 rows, in groups of 8 columns; the
 * last group may overlap the one before.  Rows that are cache lines are written one after
 * another. */
RAVEL_INLINE void
ravel_group2(ravel_2x1 *v, const unsigned char *s, int64_t q, ravel_Woven w,
             int rounds)
{
    RAVEL_UNROLL for (int i = 0; i < 8; i++)
        v[i] = (ravel_2x1)ravel_column(s, q + i, w);
    if (q < w.cols)
        ravel_zip2(v, 8, rounds);
}

RAVEL_INLINE void
ravel_wide2(unsigned char *d, const unsigned char *s, ravel_Woven w, int rounds)
{
    ravel_2x1 v[4][8];
    if (w.lines) {
        for (int g = 0; g < 4 && 2 == 1; g++)
            ravel_group2(v[g], s, g * 8, w, rounds);
        RAVEL_UNROLL for (int g = 0; g < 4 && 2 > 1; g++)
            ravel_group2(v[g], s, g * 8, w, rounds);
        RAVEL_UNROLL for (int i = 0; i < 8; i++)
            RAVEL_UNROLL for (int g = 0; g < 4; g++)
                ravel_store1(d + i * 64 + g * 16, (ravel_1x1)v[g][i], 1);
        return;
    }
    for (int64_t q = 0; q < w.width; q += 8) {
        q = q + 8 > w.width ? w.width - 8 : q;
        ravel_group2(v[0], s, q, w, rounds);
        RAVEL_UNROLL for (int i = 0; i < 8; i++)
            ravel_store1(d + (i * w.width + q) * 2, (ravel_1x1)v[0][i], 0);
    }
}

/* Transposes 8 or more rows of at most k columns; k = 0: of 8 or more columns.
 * May write up to 15 bytes after them. */
RAVEL_INLINE void
ravel_weave_all2(unsigned char *d, const unsigned char *s, int64_t rows,
                 const ravel_Woven *of, int k, int rounds)
{
    const ravel_Woven w = *of;
    for (int64_t b = 0; b < w.n; b++, d += w.dn, s += w.sn)
        for (int64_t p = 0; p < rows; p += 8) {
            p = p + 8 > rows ? rows - 8 : p;
            if (w.ahead && p * 2 % RAVEL_LINE == 0)
                for (int64_t q = 0; q < w.cols; q++)
                    __builtin_prefetch(s + p * 2 + q * w.sq + w.ahead);
            if (k)
                ravel_weave2(d + p * w.width * 2, s + p * 2, w, k,
                             rounds);
            else
                ravel_wide2(d + p * w.width * 2, s + p * 2, w, rounds);
        }
}

/* Transposes planes of k columns to contiguous rows without padding, 8 rows at a
 * time. */
RAVEL_INLINE void
ravel_exact2(unsigned char *d, const unsigned char *s, int64_t rows,
             const ravel_Woven *of, int k, int rounds)
{
    const ravel_Woven w = *of;
    for (int64_t b = 0; b < w.n; b++, d += w.dn, s += w.sn)
        for (int64_t p = 0; p < rows; p += 8) {
            ravel_2x1 v[8];
            p = p + 8 > rows ? rows - 8 : p;
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                v[i] = (ravel_2x1)ravel_load1(s + p * 2 + i * w.sq);
            ravel_zip2(v, k, rounds);
            RAVEL_UNROLL for (int i = 0; i < k; i++)
                if (w.stream)
                    ravel_store1(d + p * k * 2 + 16 * i, (ravel_1x1)v[i], 1);
                else
                    ravel_store1(d + p * k * 2 + 16 * i, (ravel_1x1)v[i], 0);
        }
}

/* Transposes 8 or more rows by the functions above: interleave2.c. */
static void ravel_woven2(unsigned char *d, const unsigned char *s, int64_t rows,
                         const ravel_Woven *w);

/* Transposes 8 or more rows of one plane through a buffer. */
static void
ravel_gathered2(unsigned char *d, const unsigned char *s, int64_t rows,
                const ravel_Woven *w)
{
    unsigned char stage[RAVEL_LINE + RAVEL_STAGE + 16] __attribute__((aligned(RAVEL_LINE)));
    const int64_t bytes = w->width * 2;
    const int64_t step = RAVEL_STAGE / bytes / 8 * 8;
    int64_t held = 0, take;
    for (int64_t p = 0; p < rows; p += take) {
        take = rows - p;
        take = take <= step ? take : take < step + 8 ? step - 8 : step;
        ravel_woven2(stage + held, s + p * 2, take, w);
        held += take * bytes;
        if (w->dp == bytes)
            held = ravel_pour(&d, stage, held, w->stream, p + take == rows);
        else
            for (held = 0; held < take; held++)
                ravel_few_bytes(d + (p + held) * w->dp, stage + held * bytes, bytes);
        held = w->dp == bytes ? held : 0;
    }
}

static void
ravel_plane_woven2(unsigned char *d, const unsigned char *s, int64_t rows,
                   const ravel_Woven *w)
{
    const int64_t bytes = w->width * 2;
    if (w->dp == bytes && !w->stream && rows >= 2 * 8) {
        ravel_woven2(d, s, rows - 8, w);
        d += (rows - 8) * bytes;
        s += (rows - 8) * 2;
        rows = 8;
    }
    ravel_gathered2(d, s, rows, w);
}

/* Transposes n planes of 8 or more rows.  Rows that are as wide as a store need no
 * buffer at the end of a plane. */
RAVEL_INLINE void
ravel_planes_woven2(unsigned char *d, const unsigned char *s, int64_t n,
                    int64_t rows, int64_t dn, int64_t sn, ravel_Woven w)
{
    const int64_t bytes = w.width * 2, stream = w.stream;
    if (bytes < ravel_slot(bytes))
        w.by = ravel_apart(bytes, ravel_slot(bytes));
    w.stream = stream && w.dp == bytes && rows * bytes % RAVEL_LINE == 0 &&
               ((uintptr_t)d | (n > 1 ? (uintptr_t)dn : 0)) % RAVEL_LINE == 0;
    w.lines = w.stream && bytes % RAVEL_LINE == 0;
    if (w.lines || (w.dp == bytes && bytes == ravel_slot(bytes))) {
        w.exact = !w.lines && w.cols == w.width;
        w.n = n;
        w.dn = dn;
        w.sn = sn;
        ravel_woven2(d, s, rows, &w);
    } else {
        w.stream = stream;
        for (int64_t b = 0; b < n; b++, d += dn, s += sn)
            ravel_plane_woven2(d, s, rows, &w);
    }
}
#endif

/* The kernel: uses vectors if there are enough rows for one. */
static void
ravel_interleave2(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                  int64_t cols, int64_t width, int64_t dn, int64_t sn, int64_t dp,
                  int64_t sq, int64_t stream, int64_t ahead, uint64_t value)
{
    unsigned char v[16];
    for (int i = 0; i < 16; i += 2)
        memcpy(v + i, &value, 2);
#ifndef RAVEL_PLAIN
    if (rows >= 8 && width > 1 && dp >= width * 2 &&
        width * 2 <= RAVEL_WOVEN_BYTES) {
        const ravel_Woven w = {cols, sq, width, dp, stream, ahead, 1, 0, 0, 0, 0, v, {0}};
        ravel_planes_woven2(d, s, n, rows, dn, sn, w);
        return;
    }
#endif
    (void)stream;
    (void)ahead;
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)
        for (int64_t p = 0; p < rows; p++)
            for (int64_t q = 0; q < width; q++)
                memcpy(d + p * dp + q * 2, q < cols ? s + p * 2 + q * sq : v,
                       2);
}

#ifndef RAVEL_PLAIN
static void
ravel_woven2(unsigned char *d, const unsigned char *s, int64_t rows, const ravel_Woven *w)
{
    if (w->exact && w->width == 2)
        ravel_exact2(d, s, rows, w, 2, 1);
    else if (w->exact && w->width == 4)
        ravel_exact2(d, s, rows, w, 4, 2);
    else if (w->width <= 2)
        ravel_weave_all2(d, s, rows, w, 2, 1);
    else if (w->width <= 4)
        ravel_weave_all2(d, s, rows, w, 4, 2);
    else if (w->width < 8)
        ravel_weave_all2(d, s, rows, w, 8, 3);
    else
        ravel_weave_all2(d, s, rows, w, 0, 3);
}
#endif

#ifdef __cplusplus
extern "C" {
#endif
void nchw_to_nc1hwc0_f16_part(void *dst, const void *src, int64_t part, int64_t parts);
void nchw_to_nc1hwc0_f16(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
nchw_to_nc1hwc0_f16_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* N=0..7 C=0..63 H=0..55 W=0..55: transpose2 */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        ravel_transpose2(dst + 501760*n, src + 445312*n, 4, 1, 3136, 16, 100352, 100352, 0, 32, 6272, 0, 0);
    }
    /* N=0..7 C=64..70 H=0..55 W=0..55: interleave2 */
    for (int64_t n = 8*part/parts; n < 8*(part + 1)/parts; n++) {
        for (int64_t hw_ = 0; hw_ < 3136; hw_ += 2048) {
            ravel_interleave2(dst + 501760*n + 32*hw_ + 401408, src + 445312*n + 2*hw_ + 401408, 1, ravel_min(-hw_ + 3136, 2048), 7, 16, 501760, 445312, 32, 6272, 0, 0, 0x0u);
        }
    }
}

/* src: 3562496 bytes, dst: 4014080 bytes; they do not overlap */
void
nchw_to_nc1hwc0_f16(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    {
        const int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
        const int64_t turns = parts < 7 ? 7/parts : 1;
        for (int64_t i = 0; i < turns; i++)
            nchw_to_nc1hwc0_f16_part(dst_, src_, part*turns + i, parts*turns);
    }
#else
    for (int64_t i = 0; i < 7; i++)
        nchw_to_nc1hwc0_f16_part(dst_, src_, i, 7);
#endif
}
