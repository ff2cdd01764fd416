/* Groups of rows. */
#ifdef RAVEL_SHUFFLES
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
ravel_window_load(const unsigned char *s, ravel_window w, int whole)
{
    return whole ? _mm512_loadu_si512(s + w.at) : _mm512_maskz_loadu_epi8(w.some, s + w.at);
}

/* The rows by so many windows; `whole`: all of their bytes are read. */
RAVEL_INLINE void
ravel_shuffle_windows(const ravel_shuffled *a, int many, int whole, const int32_t *t,
                      __m512i filled)
{
    __m512i at[4];
    __mmask64 has[4];
    const int pairs = (many + 1) / 2;
    const int32_t *row = a->row, *of = row + a->words - 2 * pairs;
    const int64_t n = a->n, dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
        at[i] = (__m512i)ravel_constant(t + i * RAVEL_PAIRED + RAVEL_PAIR_AT);
        has[i] = ~_mm512_movepi8_mask(at[i]);
    }
    for (int32_t r = 0; r < rows; r++, row += words, of += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        const int32_t to[4] = {row[0], row[1], row[2], row[3]};
        ravel_window w[8];
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        RAVEL_UNROLL for (int i = 0; i < many; i++)
            w[i] = ravel_window_of(of[i], t[i / 2 * RAVEL_PAIRED + i % 2]);
        for (int64_t k = 0; k < n; k++, d += dp, s += sp) {
            __m512i v = filled;
            RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
                const __m512i x = ravel_window_load(s, w[2 * i], whole);
                v |= 2 * i + 1 < many
                         ? _mm512_maskz_permutex2var_epi8(has[i], x, at[i],
                                                          ravel_window_load(s, w[2 * i + 1], whole))
                         : _mm512_maskz_permutexvar_epi8(has[i], at[i], x);
            }
            ravel_put(d, to, (ravel_lanes)v, lines, past);
        }
    }
}

/* Four windows of 16 bytes. */
RAVEL_INLINE __m512i
ravel_four_windows(const unsigned char *s, const int64_t at[4])
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(s + at[0])));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(s + at[1])), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(s + at[2])), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(s + at[3])), 3);
}

/* The bytes of a row from eight such windows or, if `both` is 0, from four. */
RAVEL_INLINE ravel_lanes
ravel_shuffle_eight(const unsigned char *s, int both, const int64_t *from, __m512i at,
                    __mmask64 has, __m512i filled)
{
    const __m512i x = ravel_four_windows(s, from);
    if (both)
        filled |= _mm512_maskz_permutex2var_epi8(has, x, at, ravel_four_windows(s, from + 4));
    else
        filled |= _mm512_maskz_permutexvar_epi8(has, at, x);
    return (ravel_lanes)filled;
}

/* The rows by such windows.  The loop for lines in the caches has all its numbers in registers. */
RAVEL_INLINE void
ravel_shuffle_small(const ravel_shuffled *a, int both, const int32_t *t, __m512i filled)
{
    const __m512i at = (__m512i)ravel_constant(t + RAVEL_PAIR_AT);
    const __mmask64 has = ~_mm512_movepi8_mask(at);
    const int32_t *row = a->row, *of = row + a->words - 8;
    const int64_t dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    for (int32_t r = 0; r < rows; r++, row += words, of += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        const int32_t to[4] = {row[0], row[1], row[2], row[3]};
        int64_t from[8];
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        RAVEL_UNROLL for (int i = 0; i < 8; i++)
            from[i] = of[i];
        if (lines && !past) {
            d += to[0];
            for (int64_t k = a->n; k > 0; k--, d += dp, s += sp)
                _mm512_storeu_si512(d, (__m512i)ravel_shuffle_eight(s, both, from, at, has, filled));
            continue;
        }
        for (int64_t k = 0; k < a->n; k++, d += dp, s += sp)
            ravel_put(d, to, ravel_shuffle_eight(s, both, from, at, has, filled), lines, past);
    }
}

/* Rows of halves of bytes by so many pairs of windows, all of 64 bytes: both halves of a byte are
 * looked up, then shifted where they change places. */
RAVEL_INLINE void
ravel_shuffle_halves(const ravel_shuffled *a, int pairs, const int32_t *t)
{
    __m512i at[2][4], upper[2];
    __mmask64 has[2][4];
    const int32_t *row = a->row, *of = row + a->words - 2 * pairs;
    const int64_t n = a->n, dp = a->dp, sp = a->sp;
    const int32_t lines = a->lines, rows = a->group[RAVEL_GROUP_ROWS], words = a->words;
    RAVEL_UNROLL for (int h = 0; h < 2; h++) {
        upper[h] = (__m512i)ravel_constant(t + RAVEL_PAIR_UPPER + 16 * h);
        RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
            at[h][i] = (__m512i)ravel_constant(t + i * RAVEL_HALVED + RAVEL_PAIR_AT + 16 * h);
            has[h][i] = ~_mm512_movepi8_mask(at[h][i]);
        }
    }
    for (int32_t r = 0; r < rows; r++, row += words, of += words) {
        const int64_t past = ravel_shuffle_past(a, row);
        const int32_t to[4] = {row[0], row[1], row[2], row[3]};
        int64_t from[8];
        unsigned char *d = a->d;
        const unsigned char *s = a->s;
        RAVEL_UNROLL for (int i = 0; i < 2 * pairs; i++)
            from[i] = of[i];
        for (int64_t k = 0; k < n; k++, d += dp, s += sp) {
            __m512i v[2];
            RAVEL_UNROLL for (int i = 0; i < pairs; i++) {
                const __m512i x = _mm512_loadu_si512(s + from[2 * i]);
                const __m512i y = _mm512_loadu_si512(s + from[2 * i + 1]);
                RAVEL_UNROLL for (int h = 0; h < 2; h++) {
                    const __m512i z = _mm512_permutex2var_epi8(x, at[h][i], y);
                    v[h] = i ? _mm512_mask_blend_epi8(has[h][i], v[h], z) : z;
                }
            }
            v[0] = _mm512_ternarylogic_epi32(upper[0], _mm512_srli_epi16(v[0], 4), v[0], 0xca);
            v[1] = _mm512_ternarylogic_epi32(upper[1], v[1], _mm512_slli_epi16(v[1], 4), 0xca);
            v[0] = _mm512_ternarylogic_epi32(_mm512_set1_epi8(15), v[0], v[1], 0xca);
            ravel_put(d, to, (ravel_lanes)v[0], lines, past);
        }
    }
}

/* A group that has windows. */
static void
ravel_shuffle_wide(const ravel_shuffled *a)
{
    if (a->group[RAVEL_GROUP_MASKED]) {
        const int32_t *const half = a->row - a->group[RAVEL_GROUP_PAIRS] * RAVEL_HALVED;
        switch (a->group[RAVEL_GROUP_PAIRS]) {
        case 1: ravel_shuffle_halves(a, 1, half); break;
        case 2: ravel_shuffle_halves(a, 2, half); break;
        default: ravel_shuffle_halves(a, 4, half); break;
        }
        return;
    }
    const int32_t *const t = a->term + a->group[RAVEL_GROUP_WHOLE] * RAVEL_WHOLE;
    const __m512i none = {0};
    const __m512i filled = a->fill ? (__m512i)(ravel_constant(a->fill) &
                                               ravel_constant(a->term - 16))
                                   : none;
    if (a->group[RAVEL_GROUP_PARTS] > 1) {
        if (t[1])
            ravel_shuffle_small(a, 1, t, filled);
        else
            ravel_shuffle_small(a, 0, t, filled);
        return;
    }
    const int pairs = a->group[RAVEL_GROUP_PAIRS], many = 2 * pairs - !t[(pairs - 1) * RAVEL_PAIRED + 1];
    int whole = 1;
    for (int i = 0; i < many; i++)
        whole &= t[i / 2 * RAVEL_PAIRED + i % 2] == 64;
    switch (whole && many != 5 && many != 7 ? many : many + many % 2 + 8) {
    case 1: ravel_shuffle_windows(a, 1, 1, t, filled); break;
    case 2: ravel_shuffle_windows(a, 2, 1, t, filled); break;
    case 3: ravel_shuffle_windows(a, 3, 1, t, filled); break;
    case 4: ravel_shuffle_windows(a, 4, 1, t, filled); break;
    case 6: ravel_shuffle_windows(a, 6, 1, t, filled); break;
    case 8: ravel_shuffle_windows(a, 8, 1, t, filled); break;
    case 10: ravel_shuffle_windows(a, 2, 0, t, filled); break;
    case 12: ravel_shuffle_windows(a, 4, 0, t, filled); break;
    case 14: ravel_shuffle_windows(a, 6, 0, t, filled); break;
    default: ravel_shuffle_windows(a, 8, 0, t, filled);
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
