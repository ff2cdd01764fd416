/* Permutes the bytes and parts of bytes of tiles by a table.  The tiles are rows times
 * columns, in chunks; there is at least one chunk each way, and the last chunk may overlap
 * the one before.  d and s are elements of `bits` bits from the start of the buffers; di
 * (sk) is the stride of rows, dj (sl) that of columns.  All chunks begin at whole bytes.
 *
 * The table has words of 4 bytes: rows of a chunk, columns of a chunk; then the passes.  All
 * but the last write to a buffer.  A pass:
 *      rows of four lanes of 16 bytes; whether the four lanes are 64 contiguous bytes in the
 *      destination; whether some bytes are fill, whose bits are in v; words to the next
 *      pass, 0 if it is the last; whether it ends with a turn, which transposes the bits of
 *      each 8 bytes that it wrote;
 *      groups of rows that differ in their offsets only.
 * A group:
 *      terms w of whole bytes; terms m with a mask; 1 if each term reads 64 contiguous bytes,
 *      plus 2 if all terms read the same ones; pairs of windows, 0 to 4; rows;
 *      a mask of the bytes that are fill, 16, if the pass has any;
 *      for each w whether it reads 64 contiguous bytes, and the indices of its bytes, 16; for
 *      each m the same, a mask, 16, and the bits to shift to the left;
 *      for each pair of windows what the terms together read, for processors that permute
 *      128 bytes: the bytes in each window, at most 64, 2; for each byte of the row its index
 *      in the 128 bytes, or 128, 16;
 *      for each row the offsets of its lanes in the destination, 4; those that each w and m
 *      reads, 4; those of each pair of windows, 2. */

/* A group of rows of a pass over tiles that are dp (sp) bytes apart.  `stream`: non-temporal
 * stores.  `term`: the constants of its terms; `row`: its first row, each of `words`. */
typedef struct {
    unsigned char *d;
    const unsigned char *s;
    int64_t n, dp, sp, stream;
    const unsigned char *fill;
    int32_t lines, words;
    const int32_t *group, *term, *row;
} ravel_shuffled;

#ifdef RAVEL_SHUFFLES
/* Whether the lines of a row go past the caches. */
RAVEL_INLINE int64_t
ravel_shuffle_past(const ravel_shuffled *a, const int32_t *row)
{
    return a->stream && ((uintptr_t)a->d + (uintptr_t)row[0]) % 64 == 0;
}

/* At most 8 terms, w of whole bytes or m with a mask: their constants are in registers. */
RAVEL_INLINE void
ravel_shuffle_few(const ravel_shuffled *a, int w, int m, int even, int same, int lane)
{
    ravel_lanes at[8], mask[8];
    ravel_shifts by[8];
    const int32_t *const t = a->term, *row = a->row;
    const int each = m ? RAVEL_MASKED : RAVEL_WHOLE;
    const int64_t n = a->n, dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    RAVEL_UNROLL for (int i = 0; i < w + m; i++)
        at[i] = ravel_constant(t + i * each + RAVEL_TERM_AT + 4 * lane);
    RAVEL_UNROLL for (int i = 0; i < m; i++) {
        mask[i] = ravel_constant(t + i * each + RAVEL_TERM_MASK + 4 * lane);
        by[i] = ravel_shifts_by(t[i * each + RAVEL_TERM_SHIFT]);
    }
    for (int32_t r = 0; r < rows; r++, row += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        int32_t to[4], of[8][4];
        RAVEL_UNROLL for (int k = 0; k < RAVEL_LANES; k++)
            to[k] = row[lane + k];
        RAVEL_UNROLL for (int i = 0; i < w + m; i++)
            RAVEL_UNROLL for (int k = 0; k < RAVEL_LANES; k++)
                of[i][k] = row[4 + 4 * i + lane + k];
        for (int64_t k = 0; k < n; k++, d += dp, s += sp) {
            ravel_lanes v = {0}, from = ravel_windows(s, of[0], even);
            RAVEL_UNROLL for (int i = 0; i < w + m; i++) {
                if (i > 0 && !same)
                    from = ravel_windows(s, of[i], even);
                const ravel_lanes x = ravel_pick(from, at[i]);
                v |= m ? ravel_shifted(x, by[i]) & mask[i] : x;
            }
            ravel_put(d, to, v, lines, past);
        }
    }
}

RAVEL_INLINE void
ravel_shuffle_terms(const ravel_shuffled *a, int w, int m, int lane)
{
    switch (a->group[RAVEL_GROUP_READS]) {
    case 3: ravel_shuffle_few(a, w, m, 1, m > 0, lane); break;
    case 2: ravel_shuffle_few(a, w, m, 0, m > 0, lane); break;
    case 1: ravel_shuffle_few(a, w, m, 1, 0, lane); break;
    default: ravel_shuffle_few(a, w, m, 0, 0, lane); break;
    }
}

/* Any number of terms: a row of one tile. */
RAVEL_INLINE void
ravel_shuffle_one(const ravel_shuffled *a, unsigned char *d, const unsigned char *s,
                  const int32_t *row, int64_t past, int lane)
{
    const int32_t *t = a->term, *of = row + 4 + lane;
    const int32_t w = a->group[RAVEL_GROUP_WHOLE], m = a->group[RAVEL_GROUP_MASKED];
    ravel_lanes v = {0};
    if (a->fill)
        v = ravel_constant(a->fill) & ravel_constant(t - 16 + 4 * lane);
    for (int32_t i = 0; i < w; i++, t += RAVEL_WHOLE, of += 4)
        v |= ravel_pick(ravel_windows(s, of, t[0]), ravel_constant(t + RAVEL_TERM_AT + 4 * lane));
    for (int32_t i = 0; i < m; i++, t += RAVEL_MASKED, of += 4) {
        const ravel_lanes x = ravel_pick(ravel_windows(s, of, t[0]),
                                         ravel_constant(t + RAVEL_TERM_AT + 4 * lane));
        v |= ravel_shifted(x, ravel_shifts_by(t[RAVEL_TERM_SHIFT])) &
             ravel_constant(t + RAVEL_TERM_MASK + 4 * lane);
    }
    ravel_put(d, row + lane, v, a->lines, past);
}

static void
ravel_shuffle_any(const ravel_shuffled *a, int lane)
{
    const int32_t *row = a->row;
    for (int32_t r = 0; r < a->group[RAVEL_GROUP_ROWS]; r++, row += a->words) {
        const int64_t past = ravel_shuffle_past(a, row);
        for (int64_t k = 0; k < a->n; k++)
            ravel_shuffle_one(a, a->d + k * a->dp, a->s + k * a->sp, row, past, lane);
    }
}

/* Frequent numbers of terms are constants; one function each, as registers are few. */
static void
ravel_shuffle_1(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 1, 0, lane);
}

static void
ravel_shuffle_2(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 2, 0, lane);
}

static void
ravel_shuffle_3(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 3, 0, lane);
}

static void
ravel_shuffle_4(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 4, 0, lane);
}

static void
ravel_shuffle_2_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 2, lane);
}

static void
ravel_shuffle_3_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 3, lane);
}

static void
ravel_shuffle_4_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 4, lane);
}

/* 5 to 8 terms that read the same contiguous bytes, as orders of single bits have. */
static void
ravel_shuffle_more(const ravel_shuffled *a, int lane)
{
    switch (a->group[RAVEL_GROUP_MASKED]) {
    case 5: ravel_shuffle_few(a, 0, 5, 1, 1, lane); break;
    case 6: ravel_shuffle_few(a, 0, 6, 1, 1, lane); break;
    case 7: ravel_shuffle_few(a, 0, 7, 1, 1, lane); break;
    default: ravel_shuffle_few(a, 0, 8, 1, 1, lane); break;
    }
}

#if RAVEL_LANES == 4 && defined(__AVX512VBMI__)
#define RAVEL_PAIRS
/* A window: the bytes from `at` on, of which `some` are read. */
typedef struct {
    int32_t at;
    __mmask64 some;
} ravel_window;

RAVEL_INLINE ravel_window
ravel_window_of(int32_t at, int32_t some)
{
    const ravel_window w = {at, some < 64 ? ((__mmask64)1 << some) - 1 : ~(__mmask64)0};
    return w;
}

RAVEL_INLINE __m512i
ravel_window_load(const unsigned char *s, ravel_window w)
{
    return _mm512_maskz_loadu_epi8(w.some, s + w.at);
}

/* The rows by `pairs` of windows, or by one window if `both` is 0. */
RAVEL_INLINE void
ravel_shuffle_windows(const ravel_shuffled *a, int pairs, int both, const int32_t *t,
                      __m512i filled)
{
    __m512i at[4];
    __mmask64 has[4];
    const int32_t *row = a->row, *of = row + a->words - 2 * pairs;
    const int64_t n = a->n, dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
        at[i] = (__m512i)ravel_constant(t + i * RAVEL_PAIRED + RAVEL_PAIR_AT);
        has[i] = ~_mm512_movepi8_mask(at[i]);
    }
    for (int32_t r = 0; r < rows; r++, row += words, of += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        ravel_window low[4], high[4];
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
            low[i] = ravel_window_of(of[2 * i], t[i * RAVEL_PAIRED]);
            high[i] = ravel_window_of(of[2 * i + 1], t[i * RAVEL_PAIRED + 1]);
        }
        for (int64_t k = 0; k < n; k++, d += dp, s += sp) {
            __m512i v = filled;
            RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
                const __m512i x = ravel_window_load(s, low[i]);
                v |= both ? _mm512_maskz_permutex2var_epi8(has[i], x, at[i],
                                                           ravel_window_load(s, high[i]))
                          : _mm512_maskz_permutexvar_epi8(has[i], at[i], x);
            }
            ravel_put(d, row, (ravel_lanes)v, lines, past);
        }
    }
}

/* A group that has windows. */
static void
ravel_shuffle_wide(const ravel_shuffled *a)
{
    const int32_t *const t = a->term + a->group[RAVEL_GROUP_WHOLE] * RAVEL_WHOLE;
    const __m512i none = {0};
    const __m512i filled = a->fill ? (__m512i)(ravel_constant(a->fill) &
                                               ravel_constant(a->term - 16))
                                   : none;
    switch (a->group[RAVEL_GROUP_PAIRS]) {
    case 4: ravel_shuffle_windows(a, 4, 1, t, filled); break;
    case 3: ravel_shuffle_windows(a, 3, 1, t, filled); break;
    case 2: ravel_shuffle_windows(a, 2, 1, t, filled); break;
    default:
        if (t[1])
            ravel_shuffle_windows(a, 1, 1, t, filled);
        else
            ravel_shuffle_windows(a, 1, 0, t, filled);
    }
}
#endif

static inline void
ravel_shuffle_group(const ravel_shuffled *a)
{
    static void (*const whole[5])(const ravel_shuffled *, int) = {
        NULL, ravel_shuffle_1, ravel_shuffle_2, ravel_shuffle_3, ravel_shuffle_4};
    static void (*const masked[5])(const ravel_shuffled *, int) = {
        NULL, NULL, ravel_shuffle_2_masked, ravel_shuffle_3_masked, ravel_shuffle_4_masked};
    const int32_t w = a->group[RAVEL_GROUP_WHOLE], m = a->group[RAVEL_GROUP_MASKED];
    void (*one)(const ravel_shuffled *, int) = ravel_shuffle_any;
    if (!a->fill && m == 0 && w > 0 && w < 5)
        one = whole[w];
    else if (!a->fill && w == 0 && m > 1 && m < 5)
        one = masked[m];
    else if (!a->fill && w == 0 && m > 4 && m < 9 && a->group[RAVEL_GROUP_READS] == 3)
        one = ravel_shuffle_more;
#ifdef RAVEL_PAIRS
    if (a->group[RAVEL_GROUP_PAIRS]) {
        ravel_shuffle_wide(a);
        return;
    }
#endif
    for (int lane = 0; lane < 4; lane += RAVEL_LANES)
        one(a, lane);
}
#else
static void
ravel_shuffle_lane(const ravel_shuffled *a, unsigned char *d, const unsigned char *s,
                   const int32_t *row, int lane)
{
    unsigned char v[16] = {0};
    const int32_t *t = a->term;
    const int32_t w = a->group[RAVEL_GROUP_WHOLE], m = a->group[RAVEL_GROUP_MASKED];
    for (int k = 0; k < 16 && a->fill; k++)
        v[k] = (unsigned char)(a->fill[k] & ((const unsigned char *)(t - 16 + 4 * lane))[k]);
    for (int32_t i = 0; i < w + m; i++) {
        const unsigned char *const from = s + row[4 + 4 * i + lane];
        const unsigned char *const at = (const unsigned char *)(t + RAVEL_TERM_AT + 4 * lane);
        const unsigned char *const mask = at + 64;
        RAVEL_UNROLL for (int k = 0; k < 16; k++) {
            if (at[k] > 15)
                continue;
            if (i < w) {
                v[k] = from[at[k]];
                continue;
            }
            const int left = t[RAVEL_TERM_SHIFT];
            const unsigned x = from[at[k]];
            v[k] = (unsigned char)(v[k] | ((left < 0 ? x >> -left : x << left) & mask[k]));
        }
        t += i < w ? RAVEL_WHOLE : RAVEL_MASKED;
    }
    memcpy(d + row[lane], v, 16);
}

static void
ravel_shuffle_group(const ravel_shuffled *a)
{
    const int32_t *row = a->row;
    for (int32_t r = 0; r < a->group[RAVEL_GROUP_ROWS]; r++, row += a->words)
        for (int64_t k = 0; k < a->n; k++)
            for (int lane = 0; lane < 4; lane++)
                ravel_shuffle_lane(a, a->d + k * a->dp, a->s + k * a->sp, row, lane);
}
#endif
