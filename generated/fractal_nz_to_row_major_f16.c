/* ravel emit --from FRACTAL_NZ --to ROW_MAJOR --shape 1024,768 --dtype f16 --name fractal_nz_to_row_major_f16
 * src FRACTAL_NZ: 16384*(W//16) + 16*H + W%16
 *     f16, H=1024 W=768 in 786432 elements, 1572864 bytes
 * dst ROW_MAJOR: 768*b0 + b1
 *     f16, b0=1024 b1=768 in 786432 elements, 1572864 bytes
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

/* Permutes digits of whole elements if the number of bytes that stay together is not 1, 2,
 * 4 or 8: these runs are copied one by one. */
RAVEL_CONSTANT void
ravel_columns_moved(unsigned char *d, const unsigned char *s, const int32_t *col, int64_t cols,
                    size_t k, int64_t kept)
{
    for (int64_t c = 0; c < cols; c++)
        ravel_move_twice(d + c * kept, s + col[c], k, kept);
}

/* Copies a run of 3 bytes and more from each column. */
static void
ravel_columns_move(unsigned char *d, const unsigned char *s, const int32_t *col, int64_t cols,
                   int64_t kept)
{
    if (kept > 64)
        for (int64_t c = 0; c < cols; c++)
            ravel_move_many(d + c * kept, s + col[c], kept);
    else if (kept == 16)
        ravel_columns_moved(d, s, col, cols, 16, 16);
    else if (kept == 32)
        ravel_columns_moved(d, s, col, cols, 32, 32);
    else if (kept > 32)
        ravel_columns_moved(d, s, col, cols, 32, kept);
    else if (kept > 16)
        ravel_columns_moved(d, s, col, cols, 16, kept);
    else if (kept >= 8)
        ravel_columns_moved(d, s, col, cols, 8, kept);
    else if (kept >= 4)
        ravel_columns_moved(d, s, col, cols, 4, kept);
    else
        ravel_columns_moved(d, s, col, cols, 2, kept);
}

static void
ravel_tile_moves(unsigned char *d, const unsigned char *s, const int32_t *t, ravel_soon *soon)
{
    enum { MANY = 64 };
    const int64_t rows = t[RAVEL_T_ROWS], cols = t[RAVEL_T_COLS], kept = t[RAVEL_T_KEPT];
    const int32_t *const col = t + RAVEL_TILE_HEAD + rows, *const block = col + cols;
    const int64_t n = t[RAVEL_T_BLOCKS];
    const int64_t fetch = ravel_soon_share(soon, n * ((cols - 1) / MANY + 1));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c += MANY) {
            ravel_columns_move(d + block[2 * i] + c * kept, s + block[2 * i + 1], col + c,
                               cols - c < MANY ? cols - c : (int64_t)MANY, kept);
            ravel_soon_fetch(soon, fetch);
        }
}

/* The kernel composite. */
static void
ravel_composite(unsigned char *d, const unsigned char *s, const int32_t *t,
                int64_t batches, int64_t rows, int64_t cols, int64_t dn, int64_t sn,
                int64_t dp, int64_t sp, int64_t dq, int64_t sq, int64_t stream, uint64_t fill,
                int64_t size)
{
    ravel_tiles_run(d, s, t, batches, rows, cols, dn, sn, dp, sp, dq, sq, stream, fill, size,
                    ravel_tile_moves);
}

#ifdef __cplusplus
extern "C" {
#endif
void fractal_nz_to_row_major_f16_part(void *dst, const void *src, int64_t part, int64_t parts);
void fractal_nz_to_row_major_f16(void *dst, const void *src);
#ifdef __cplusplus
}
#endif

static const int32_t fractal_nz_to_row_major_f16_table0[1603] = {
    32, 1, 1, 32, 1, 1536, 1, 0, 49152, 0, 48, 1024, 0, 0, 1541120, 1541088,
    0, 0, 32768, 65536, 98304, 131072, 163840, 196608, 229376, 262144, 294912, 327680, 360448, 393216, 425984, 458752,
    491520, 524288, 557056, 589824, 622592, 655360, 688128, 720896, 753664, 786432, 819200, 851968, 884736, 917504, 950272, 983040,
    1015808, 1048576, 1081344, 1114112, 1146880, 1179648, 1212416, 1245184, 1277952, 1310720, 1343488, 1376256, 1409024, 1441792, 1474560, 1507328,
    1540096, 32, 32800, 65568, 98336, 131104, 163872, 196640, 229408, 262176, 294944, 327712, 360480, 393248, 426016, 458784,
    491552, 524320, 557088, 589856, 622624, 655392, 688160, 720928, 753696, 786464, 819232, 852000, 884768, 917536, 950304, 983072,
    1015840, 1048608, 1081376, 1114144, 1146912, 1179680, 1212448, 1245216, 1277984, 1310752, 1343520, 1376288, 1409056, 1441824, 1474592, 1507360,
    1540128, 64, 32832, 65600, 98368, 131136, 163904, 196672, 229440, 262208, 294976, 327744, 360512, 393280, 426048, 458816,
    491584, 524352, 557120, 589888, 622656, 655424, 688192, 720960, 753728, 786496, 819264, 852032, 884800, 917568, 950336, 983104,
    1015872, 1048640, 1081408, 1114176, 1146944, 1179712, 1212480, 1245248, 1278016, 1310784, 1343552, 1376320, 1409088, 1441856, 1474624, 1507392,
    1540160, 96, 32864, 65632, 98400, 131168, 163936, 196704, 229472, 262240, 295008, 327776, 360544, 393312, 426080, 458848,
    491616, 524384, 557152, 589920, 622688, 655456, 688224, 720992, 753760, 786528, 819296, 852064, 884832, 917600, 950368, 983136,
    1015904, 1048672, 1081440, 1114208, 1146976, 1179744, 1212512, 1245280, 1278048, 1310816, 1343584, 1376352, 1409120, 1441888, 1474656, 1507424,
    1540192, 128, 32896, 65664, 98432, 131200, 163968, 196736, 229504, 262272, 295040, 327808, 360576, 393344, 426112, 458880,
    491648, 524416, 557184, 589952, 622720, 655488, 688256, 721024, 753792, 786560, 819328, 852096, 884864, 917632, 950400, 983168,
    1015936, 1048704, 1081472, 1114240, 1147008, 1179776, 1212544, 1245312, 1278080, 1310848, 1343616, 1376384, 1409152, 1441920, 1474688, 1507456,
    1540224, 160, 32928, 65696, 98464, 131232, 164000, 196768, 229536, 262304, 295072, 327840, 360608, 393376, 426144, 458912,
    491680, 524448, 557216, 589984, 622752, 655520, 688288, 721056, 753824, 786592, 819360, 852128, 884896, 917664, 950432, 983200,
    1015968, 1048736, 1081504, 1114272, 1147040, 1179808, 1212576, 1245344, 1278112, 1310880, 1343648, 1376416, 1409184, 1441952, 1474720, 1507488,
    1540256, 192, 32960, 65728, 98496, 131264, 164032, 196800, 229568, 262336, 295104, 327872, 360640, 393408, 426176, 458944,
    491712, 524480, 557248, 590016, 622784, 655552, 688320, 721088, 753856, 786624, 819392, 852160, 884928, 917696, 950464, 983232,
    1016000, 1048768, 1081536, 1114304, 1147072, 1179840, 1212608, 1245376, 1278144, 1310912, 1343680, 1376448, 1409216, 1441984, 1474752, 1507520,
    1540288, 224, 32992, 65760, 98528, 131296, 164064, 196832, 229600, 262368, 295136, 327904, 360672, 393440, 426208, 458976,
    491744, 524512, 557280, 590048, 622816, 655584, 688352, 721120, 753888, 786656, 819424, 852192, 884960, 917728, 950496, 983264,
    1016032, 1048800, 1081568, 1114336, 1147104, 1179872, 1212640, 1245408, 1278176, 1310944, 1343712, 1376480, 1409248, 1442016, 1474784, 1507552,
    1540320, 256, 33024, 65792, 98560, 131328, 164096, 196864, 229632, 262400, 295168, 327936, 360704, 393472, 426240, 459008,
    491776, 524544, 557312, 590080, 622848, 655616, 688384, 721152, 753920, 786688, 819456, 852224, 884992, 917760, 950528, 983296,
    1016064, 1048832, 1081600, 1114368, 1147136, 1179904, 1212672, 1245440, 1278208, 1310976, 1343744, 1376512, 1409280, 1442048, 1474816, 1507584,
    1540352, 288, 33056, 65824, 98592, 131360, 164128, 196896, 229664, 262432, 295200, 327968, 360736, 393504, 426272, 459040,
    491808, 524576, 557344, 590112, 622880, 655648, 688416, 721184, 753952, 786720, 819488, 852256, 885024, 917792, 950560, 983328,
    1016096, 1048864, 1081632, 1114400, 1147168, 1179936, 1212704, 1245472, 1278240, 1311008, 1343776, 1376544, 1409312, 1442080, 1474848, 1507616,
    1540384, 320, 33088, 65856, 98624, 131392, 164160, 196928, 229696, 262464, 295232, 328000, 360768, 393536, 426304, 459072,
    491840, 524608, 557376, 590144, 622912, 655680, 688448, 721216, 753984, 786752, 819520, 852288, 885056, 917824, 950592, 983360,
    1016128, 1048896, 1081664, 1114432, 1147200, 1179968, 1212736, 1245504, 1278272, 1311040, 1343808, 1376576, 1409344, 1442112, 1474880, 1507648,
    1540416, 352, 33120, 65888, 98656, 131424, 164192, 196960, 229728, 262496, 295264, 328032, 360800, 393568, 426336, 459104,
    491872, 524640, 557408, 590176, 622944, 655712, 688480, 721248, 754016, 786784, 819552, 852320, 885088, 917856, 950624, 983392,
    1016160, 1048928, 1081696, 1114464, 1147232, 1180000, 1212768, 1245536, 1278304, 1311072, 1343840, 1376608, 1409376, 1442144, 1474912, 1507680,
    1540448, 384, 33152, 65920, 98688, 131456, 164224, 196992, 229760, 262528, 295296, 328064, 360832, 393600, 426368, 459136,
    491904, 524672, 557440, 590208, 622976, 655744, 688512, 721280, 754048, 786816, 819584, 852352, 885120, 917888, 950656, 983424,
    1016192, 1048960, 1081728, 1114496, 1147264, 1180032, 1212800, 1245568, 1278336, 1311104, 1343872, 1376640, 1409408, 1442176, 1474944, 1507712,
    1540480, 416, 33184, 65952, 98720, 131488, 164256, 197024, 229792, 262560, 295328, 328096, 360864, 393632, 426400, 459168,
    491936, 524704, 557472, 590240, 623008, 655776, 688544, 721312, 754080, 786848, 819616, 852384, 885152, 917920, 950688, 983456,
    1016224, 1048992, 1081760, 1114528, 1147296, 1180064, 1212832, 1245600, 1278368, 1311136, 1343904, 1376672, 1409440, 1442208, 1474976, 1507744,
    1540512, 448, 33216, 65984, 98752, 131520, 164288, 197056, 229824, 262592, 295360, 328128, 360896, 393664, 426432, 459200,
    491968, 524736, 557504, 590272, 623040, 655808, 688576, 721344, 754112, 786880, 819648, 852416, 885184, 917952, 950720, 983488,
    1016256, 1049024, 1081792, 1114560, 1147328, 1180096, 1212864, 1245632, 1278400, 1311168, 1343936, 1376704, 1409472, 1442240, 1475008, 1507776,
    1540544, 480, 33248, 66016, 98784, 131552, 164320, 197088, 229856, 262624, 295392, 328160, 360928, 393696, 426464, 459232,
    492000, 524768, 557536, 590304, 623072, 655840, 688608, 721376, 754144, 786912, 819680, 852448, 885216, 917984, 950752, 983520,
    1016288, 1049056, 1081824, 1114592, 1147360, 1180128, 1212896, 1245664, 1278432, 1311200, 1343968, 1376736, 1409504, 1442272, 1475040, 1507808,
    1540576, 512, 33280, 66048, 98816, 131584, 164352, 197120, 229888, 262656, 295424, 328192, 360960, 393728, 426496, 459264,
    492032, 524800, 557568, 590336, 623104, 655872, 688640, 721408, 754176, 786944, 819712, 852480, 885248, 918016, 950784, 983552,
    1016320, 1049088, 1081856, 1114624, 1147392, 1180160, 1212928, 1245696, 1278464, 1311232, 1344000, 1376768, 1409536, 1442304, 1475072, 1507840,
    1540608, 544, 33312, 66080, 98848, 131616, 164384, 197152, 229920, 262688, 295456, 328224, 360992, 393760, 426528, 459296,
    492064, 524832, 557600, 590368, 623136, 655904, 688672, 721440, 754208, 786976, 819744, 852512, 885280, 918048, 950816, 983584,
    1016352, 1049120, 1081888, 1114656, 1147424, 1180192, 1212960, 1245728, 1278496, 1311264, 1344032, 1376800, 1409568, 1442336, 1475104, 1507872,
    1540640, 576, 33344, 66112, 98880, 131648, 164416, 197184, 229952, 262720, 295488, 328256, 361024, 393792, 426560, 459328,
    492096, 524864, 557632, 590400, 623168, 655936, 688704, 721472, 754240, 787008, 819776, 852544, 885312, 918080, 950848, 983616,
    1016384, 1049152, 1081920, 1114688, 1147456, 1180224, 1212992, 1245760, 1278528, 1311296, 1344064, 1376832, 1409600, 1442368, 1475136, 1507904,
    1540672, 608, 33376, 66144, 98912, 131680, 164448, 197216, 229984, 262752, 295520, 328288, 361056, 393824, 426592, 459360,
    492128, 524896, 557664, 590432, 623200, 655968, 688736, 721504, 754272, 787040, 819808, 852576, 885344, 918112, 950880, 983648,
    1016416, 1049184, 1081952, 1114720, 1147488, 1180256, 1213024, 1245792, 1278560, 1311328, 1344096, 1376864, 1409632, 1442400, 1475168, 1507936,
    1540704, 640, 33408, 66176, 98944, 131712, 164480, 197248, 230016, 262784, 295552, 328320, 361088, 393856, 426624, 459392,
    492160, 524928, 557696, 590464, 623232, 656000, 688768, 721536, 754304, 787072, 819840, 852608, 885376, 918144, 950912, 983680,
    1016448, 1049216, 1081984, 1114752, 1147520, 1180288, 1213056, 1245824, 1278592, 1311360, 1344128, 1376896, 1409664, 1442432, 1475200, 1507968,
    1540736, 672, 33440, 66208, 98976, 131744, 164512, 197280, 230048, 262816, 295584, 328352, 361120, 393888, 426656, 459424,
    492192, 524960, 557728, 590496, 623264, 656032, 688800, 721568, 754336, 787104, 819872, 852640, 885408, 918176, 950944, 983712,
    1016480, 1049248, 1082016, 1114784, 1147552, 1180320, 1213088, 1245856, 1278624, 1311392, 1344160, 1376928, 1409696, 1442464, 1475232, 1508000,
    1540768, 704, 33472, 66240, 99008, 131776, 164544, 197312, 230080, 262848, 295616, 328384, 361152, 393920, 426688, 459456,
    492224, 524992, 557760, 590528, 623296, 656064, 688832, 721600, 754368, 787136, 819904, 852672, 885440, 918208, 950976, 983744,
    1016512, 1049280, 1082048, 1114816, 1147584, 1180352, 1213120, 1245888, 1278656, 1311424, 1344192, 1376960, 1409728, 1442496, 1475264, 1508032,
    1540800, 736, 33504, 66272, 99040, 131808, 164576, 197344, 230112, 262880, 295648, 328416, 361184, 393952, 426720, 459488,
    492256, 525024, 557792, 590560, 623328, 656096, 688864, 721632, 754400, 787168, 819936, 852704, 885472, 918240, 951008, 983776,
    1016544, 1049312, 1082080, 1114848, 1147616, 1180384, 1213152, 1245920, 1278688, 1311456, 1344224, 1376992, 1409760, 1442528, 1475296, 1508064,
    1540832, 768, 33536, 66304, 99072, 131840, 164608, 197376, 230144, 262912, 295680, 328448, 361216, 393984, 426752, 459520,
    492288, 525056, 557824, 590592, 623360, 656128, 688896, 721664, 754432, 787200, 819968, 852736, 885504, 918272, 951040, 983808,
    1016576, 1049344, 1082112, 1114880, 1147648, 1180416, 1213184, 1245952, 1278720, 1311488, 1344256, 1377024, 1409792, 1442560, 1475328, 1508096,
    1540864, 800, 33568, 66336, 99104, 131872, 164640, 197408, 230176, 262944, 295712, 328480, 361248, 394016, 426784, 459552,
    492320, 525088, 557856, 590624, 623392, 656160, 688928, 721696, 754464, 787232, 820000, 852768, 885536, 918304, 951072, 983840,
    1016608, 1049376, 1082144, 1114912, 1147680, 1180448, 1213216, 1245984, 1278752, 1311520, 1344288, 1377056, 1409824, 1442592, 1475360, 1508128,
    1540896, 832, 33600, 66368, 99136, 131904, 164672, 197440, 230208, 262976, 295744, 328512, 361280, 394048, 426816, 459584,
    492352, 525120, 557888, 590656, 623424, 656192, 688960, 721728, 754496, 787264, 820032, 852800, 885568, 918336, 951104, 983872,
    1016640, 1049408, 1082176, 1114944, 1147712, 1180480, 1213248, 1246016, 1278784, 1311552, 1344320, 1377088, 1409856, 1442624, 1475392, 1508160,
    1540928, 864, 33632, 66400, 99168, 131936, 164704, 197472, 230240, 263008, 295776, 328544, 361312, 394080, 426848, 459616,
    492384, 525152, 557920, 590688, 623456, 656224, 688992, 721760, 754528, 787296, 820064, 852832, 885600, 918368, 951136, 983904,
    1016672, 1049440, 1082208, 1114976, 1147744, 1180512, 1213280, 1246048, 1278816, 1311584, 1344352, 1377120, 1409888, 1442656, 1475424, 1508192,
    1540960, 896, 33664, 66432, 99200, 131968, 164736, 197504, 230272, 263040, 295808, 328576, 361344, 394112, 426880, 459648,
    492416, 525184, 557952, 590720, 623488, 656256, 689024, 721792, 754560, 787328, 820096, 852864, 885632, 918400, 951168, 983936,
    1016704, 1049472, 1082240, 1115008, 1147776, 1180544, 1213312, 1246080, 1278848, 1311616, 1344384, 1377152, 1409920, 1442688, 1475456, 1508224,
    1540992, 928, 33696, 66464, 99232, 132000, 164768, 197536, 230304, 263072, 295840, 328608, 361376, 394144, 426912, 459680,
    492448, 525216, 557984, 590752, 623520, 656288, 689056, 721824, 754592, 787360, 820128, 852896, 885664, 918432, 951200, 983968,
    1016736, 1049504, 1082272, 1115040, 1147808, 1180576, 1213344, 1246112, 1278880, 1311648, 1344416, 1377184, 1409952, 1442720, 1475488, 1508256,
    1541024, 960, 33728, 66496, 99264, 132032, 164800, 197568, 230336, 263104, 295872, 328640, 361408, 394176, 426944, 459712,
    492480, 525248, 558016, 590784, 623552, 656320, 689088, 721856, 754624, 787392, 820160, 852928, 885696, 918464, 951232, 984000,
    1016768, 1049536, 1082304, 1115072, 1147840, 1180608, 1213376, 1246144, 1278912, 1311680, 1344448, 1377216, 1409984, 1442752, 1475520, 1508288,
    1541056, 992, 33760, 66528, 99296, 132064, 164832, 197600, 230368, 263136, 295904, 328672, 361440, 394208, 426976, 459744,
    492512, 525280, 558048, 590816, 623584, 656352, 689120, 721888, 754656, 787424, 820192, 852960, 885728, 918496, 951264, 984032,
    1016800, 1049568, 1082336, 1115104, 1147872, 1180640, 1213408, 1246176, 1278944, 1311712, 1344480, 1377248, 1410016, 1442784, 1475552, 1508320,
    1541088, 0, 0, 0, 32768, 65536, 98304, 131072, 163840, 196608, 229376, 262144, 294912, 327680, 360448, 393216,
    425984, 458752, 491520, 524288, 557056, 589824, 622592, 655360, 688128, 720896, 753664, 786432, 819200, 851968, 884736, 917504,
    950272, 983040, 1015808, 1048576, 1081344, 1114112, 1146880, 1179648, 1212416, 1245184, 1277952, 1310720, 1343488, 1376256, 1409024, 1441792,
    1474560, 1507328, 1540096
};
/* Part number `part` of `parts`, which threads may do at the same time.  Nothing is checked. */
void
fractal_nz_to_row_major_f16_part(void *dst_, const void *src_, int64_t part, int64_t parts)
{
    unsigned char *RAVEL_RESTRICT dst = (unsigned char *)dst_;
    const unsigned char *RAVEL_RESTRICT src = (const unsigned char *)src_;
    /* b0=0..1023 b1=0..767: composite */
    for (int64_t b0 = 32*part/parts*32; b0 < ravel_min(1024, 32*(part + 1)/parts*32); b0 += 32) {
        ravel_composite(dst + 1536*b0, src + 32*b0, fractal_nz_to_row_major_f16_table0, 1, 32, 1, 0, 0, 1536, 32, 0, 0, 0, 0x0u, 2);
    }
}

/* src: 1572864 bytes, dst: 1572864 bytes; they do not overlap */
void
fractal_nz_to_row_major_f16(void *dst_, const void *src_)
{
#ifdef _OPENMP
#pragma omp parallel
    fractal_nz_to_row_major_f16_part(dst_, src_, omp_get_thread_num(), omp_get_num_threads());
#else
    fractal_nz_to_row_major_f16_part(dst_, src_, 0, 1);
#endif
}
