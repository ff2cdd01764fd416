/* Transposes n planes with few rows, less than a vector has elements of `size` bytes:
 * d[b*dn + p*dp + q*size] = s[b*sn + p*size + q*sq]  for b < n, p < rows, q < cols.
 *
 * Short planes of 2, 4 or 8 rows whose columns are contiguous in the source are split
 * without a buffer, with non-temporal stores if `stream` and rows are whole cache lines.
 * For other planes four vectors of a row form a line of 64 bytes, which is written with
 * non-temporal stores if `stream` and all rows of the destination are aligned alike.  A
 * load may read beyond a column; therefore the last columns are read from a buffer. */
#ifndef RAVEL_PLAIN
/* A plane; strides in bytes. */
typedef struct {
    int64_t rows, sq, dp, stream, ahead;
    ravel_1x1 by;                  /* byte indices that pad short columns: ravel_apart */
} ravel_Parted;

/* Loads 16 / `of` columns of `bytes` bytes into one vector, each padded to `of` bytes. */
RAVEL_INLINE ravel_1x1
ravel_apart_load(const unsigned char *s, int64_t of, int64_t bytes, int64_t sq,
                 ravel_1x1 by)
{
    unsigned char slot[16];
    if (of == 16 || (of == bytes && sq == bytes))
        return ravel_load1(s);
#ifdef RAVEL_SHUFFLE
    if (sq == bytes)
        return RAVEL_SHUFFLE(ravel_load1(s), by);
#endif
    (void)by;
    for (int i = 0; i < 16 / of; i++)
        memcpy(slot + i * of, s + i * sq, (size_t)of);
    return ravel_load1(slot);
}

/* Transposes e columns of at most k rows; e is the number of elements of a vector. */
#define RAVEL_PART(z, e, k, rounds)                                              \
RAVEL_INLINE void                                                                \
ravel_part##z##x##k(unsigned char *d, const unsigned char *s, int64_t dp,        \
                    ravel_Parted w)                                              \
{                                                                                \
    ravel_##z##x1 v[k];                                                          \
    RAVEL_UNROLL for (int i = 0; i < k; i++)                                     \
        v[i] = (ravel_##z##x1)ravel_apart_load(s + i * (e / k) * w.sq, k * z,    \
                                               w.rows * z, w.sq, w.by);          \
    ravel_zip##z(v, k, rounds);                                                  \
    RAVEL_UNROLL for (int i = 0; i < k; i++)                                     \
        if (i < w.rows)                                                          \
            ravel_store1(d + i * dp, (ravel_1x1)v[i], 0);                        \
}                                                                                \
RAVEL_PART_ALL(ravel_part##z##x##k, z, e)

/* Transposes planes of k short rows whose columns are contiguous in the source. */
#define RAVEL_SPLIT(z, e, k, rounds)                                             \
RAVEL_INLINE void                                                                \
ravel_split_to##z##x##k(unsigned char *d, const unsigned char *s, int64_t n,     \
                        int64_t cols, int64_t dn, int64_t sn, int64_t dp,        \
                        int64_t stream)                                          \
{                                                                                \
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)                            \
        for (int64_t q = 0; q < cols; q += e) {                                  \
            ravel_##z##x1 v[k];                                                  \
            q = q + e > cols ? cols - e : q;                                     \
            RAVEL_UNROLL for (int i = 0; i < k; i++)                             \
                v[i] = (ravel_##z##x1)ravel_load1(s + q * k * z + 16 * i);       \
            ravel_zip##z(v, k, rounds);                                          \
            RAVEL_UNROLL for (int i = 0; i < k; i++)                             \
                ravel_store1(d + i * dp + q * z, (ravel_1x1)v[i], stream);       \
        }                                                                        \
}                                                                                \
static void                                                                      \
ravel_split##z##x##k(unsigned char *d, const unsigned char *s, int64_t n,        \
                     int64_t cols, int64_t dn, int64_t sn, int64_t dp,           \
                     int64_t stream)                                             \
{                                                                                \
    if (stream)                                                                  \
        ravel_split_to##z##x##k(d, s, n, cols, dn, sn, dp, 1);                   \
    else                                                                         \
        ravel_split_to##z##x##k(d, s, n, cols, dn, sn, dp, 0);                   \
}

/* Whether non-temporal stores write whole cache lines: of the rows of a plane, or of the
 * rows of all planes, which follow one another. */
RAVEL_INLINE int64_t
ravel_split_lines(const unsigned char *d, int64_t n, int64_t bytes, int64_t dn,
                  int64_t dp)
{
    const int64_t run = dn == bytes || n == 1 ? n * bytes : bytes | dn;
    return ((uintptr_t)d | (uintptr_t)dp | (uintptr_t)run) % 64 == 0 && bytes % 16 == 0;
}

/* part_lines: writes whole cache lines from column q on, as long as e columns follow;
 * returns the next column.  part_all: transposes a plane. */
#define RAVEL_PART_ALL(part, z, e)                                               \
RAVEL_INLINE int64_t                                                             \
part##_lines(unsigned char *d, const unsigned char *s, int64_t q, int64_t cols,  \
             ravel_Parted w)                                                     \
{                                                                                \
    unsigned char line[16 * 64] __attribute__((aligned(64)));                    \
    for (; q + 5 * e <= cols; q += 4 * e) {                                      \
        for (int i = 0; i < 4; i++)                                              \
            part(line + 16 * i, s + (q + i * e) * w.sq, 64, w);                  \
        for (int64_t p = 0; p < w.rows; p++)                                     \
            RAVEL_UNROLL for (int i = 0; i < 64; i += 16)                        \
                ravel_store1(d + p * w.dp + q * z + i,                           \
                             ravel_load1(line + p * 64 + i), 1);                 \
    }                                                                            \
    return q;                                                                    \
}                                                                                \
RAVEL_INLINE void                                                                \
part##_all(unsigned char *d, const unsigned char *s, int64_t cols,               \
           ravel_Parted w)                                                       \
{                                                                                \
    unsigned char last[2 * e * 16 + 16];                                         \
    const int64_t bytes = w.rows * z, head = (int64_t)(-(uintptr_t)d & 63) / z;  \
    int64_t q = 0, from;                                                         \
    if (w.stream && cols >= head + 8 * e) {                                      \
        for (; q < head; q += e)                                                 \
            part(d + q * z, s + q * w.sq, w.dp, w);                              \
        q = part##_lines(d, s, head, cols, w);                                   \
    }                                                                            \
    for (; q + 2 * e <= cols; q += e)                                            \
        part(d + q * z, s + q * w.sq, w.dp, w);                                  \
    q = q + e > cols ? cols - e : q;                                             \
    for (from = q; from < cols; from++)                                          \
        ravel_few_bytes(last + (from - q) * bytes, s + from * w.sq, bytes);      \
    w.sq = bytes;                                                                \
    part(d + q * z, last, w.dp, w);                                              \
    part(d + (cols - e) * z, last + (cols - e - q) * bytes, w.dp, w);            \
}
#define RAVEL_PARTED(z, e)                                                       \
    (cols >= e && rows > 1 && rows * z <= 16 && sq >= rows * z &&                \
     (ravel_parted##z(d, s, cols, (ravel_Parted){                                \
          rows, sq, dp, stream && dp % 64 == 0 && (uintptr_t)d % z == 0, ahead,  \
          ravel_apart(ravel_slot(rows * z), rows * z)}), 1))
#else
#define RAVEL_PARTED(z, e) ((void)stream, (void)ahead, 0)
#define RAVEL_PART(z, e, k, rounds)
#define RAVEL_SPLIT(z, e, k, rounds)
#endif

/* Transposes a plane element by element. */
#define RAVEL_PARTED_FEW(z)                                                      \
static void                                                                      \
ravel_parted_few##z(unsigned char *d, const unsigned char *s, int64_t rows,      \
                    int64_t cols, int64_t dp, int64_t sq)                        \
{                                                                                \
    for (int64_t p = 0; p < rows; p++)                                           \
        for (int64_t q = 0; q < cols; q++)                                       \
            memcpy(d + p * dp + q * z, s + p * z + q * sq, z);                   \
}

/* The kernel: uses vectors if there are enough columns for one. */
#define RAVEL_DEINTERLEAVE(z, e)                                                 \
static void                                                                      \
ravel_deinterleave##z(unsigned char *d, const unsigned char *s, int64_t n,       \
                      int64_t rows, int64_t cols, int64_t dn, int64_t sn,        \
                      int64_t dp, int64_t sq, int64_t stream, int64_t ahead)     \
{                                                                                \
    if (cols >= e && cols * z < 256 && sq == rows * z &&                         \
        ravel_split##z(d, s, n, rows, cols, dn, sn, dp, stream))                 \
        return;                                                                  \
    for (int64_t b = 0; b < n; b++, d += dn, s += sn)                            \
        if (!RAVEL_PARTED(z, e))                                                 \
            ravel_parted_few##z(d, s, rows, cols, dp, sq);                       \
}
