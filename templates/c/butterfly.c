/* Exchanges address bits of tiles by a table.  The tiles are rows times columns, in chunks; the
 * last chunk may overlap the one before.  d and s are elements of `bits` bits from the start of
 * the buffers; di (sk) is the stride of rows, dj (sl) that of columns.  All chunks begin at whole
 * bytes.
 *
 * The table has words of 4 bytes: rows of a chunk, columns of a chunk; stages; how many of these
 * mix bits; log2 of the groups, of the pieces of a vector that is read, of one that is written;
 * whether a stage orders the bytes after those that mix bits; whether all that is written are
 * lines from the first on; then, of 2^stages vectors of 64 bytes, the offsets in the source, and
 * in the destination; the offsets of the pieces, 4 and 4; for each group what it adds to offsets,
 * in the source and in the destination; a mask and a shift for each stage that mixes bits; for
 * each other the bytes of two vectors that become the first, 16 words, and the second.  Stage i
 * takes vectors whose numbers differ in bit i. */
typedef struct {
    const int32_t *in, *out, *in_piece, *out_piece, *group, *mix, *move;
    int32_t mixes, groups, pieces_in, pieces_out, orders;
} ravel_butterflies;

static inline ravel_butterflies
ravel_butterflies_of(const int32_t *t)
{
    const int32_t vectors = 1 << t[2];
    ravel_butterflies b;
    b.mixes = t[3];
    b.groups = 1 << t[4];
    b.pieces_in = 1 << t[5];
    b.pieces_out = 1 << t[6];
    b.orders = t[7];
    b.in = t + RAVEL_STAGES_HEAD;
    b.out = b.in + vectors;
    b.in_piece = b.out + vectors;
    b.out_piece = b.in_piece + RAVEL_PIECES;
    b.group = b.out_piece + RAVEL_PIECES;
    b.mix = b.group + 2 * b.groups;
    b.move = b.mix + RAVEL_MIX_WORDS * b.mixes;
    return b;
}

#if defined(RAVEL_SSE2) && RAVEL_LANES == 4 && defined(__AVX512VBMI__)
RAVEL_INLINE __m512i
ravel_butterfly_load(const unsigned char *s, const int32_t *piece, int32_t pieces)
{
    const unsigned char *const from[] = {s, s + piece[1], s + piece[2], s + piece[3]};
    if (pieces == 1)
        return _mm512_loadu_si512(s);
    if (pieces == 4)
        return (__m512i)ravel_rows4(from, 0);
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)s);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)from[1]);
    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

RAVEL_INLINE void
ravel_butterfly_store(unsigned char *d, const int32_t *piece, int32_t pieces, __m512i v,
                      int64_t stream)
{
    const __m256i a = _mm512_castsi512_si256(v);
    if (pieces == 1) {
        ravel_store4(d, (ravel_1x4)v, stream);
        return;
    }
    const __m256i b = _mm512_extracti64x4_epi64(v, 1);
    if (pieces == 2) {
        _mm256_storeu_si256((__m256i *)(void *)d, a);
        _mm256_storeu_si256((__m256i *)(void *)(d + piece[1]), b);
        return;
    }
    ravel_lanes2(d, d + piece[1], (ravel_1x2)a);
    ravel_lanes2(d + piece[2], d + piece[3], (ravel_1x2)b);
}

/* The constants of a stage, and what it does with two vectors. */
typedef struct {
    __m512i one, two;
} ravel_crossing;

RAVEL_INLINE ravel_crossing
ravel_butterfly_stage(const ravel_butterflies *b, int i)
{
    const int32_t *const mix = b->mix + RAVEL_MIX_WORDS * i;
    const int32_t *const move = b->move + RAVEL_MOVE_WORDS * (i - b->mixes);
    ravel_crossing c;
    c.one = i < b->mixes ? _mm512_set1_epi32(mix[0]) : _mm512_loadu_si512(move);
    c.two = i < b->mixes ? _mm512_set1_epi32(mix[1]) : _mm512_loadu_si512(move + 16);
    return c;
}

RAVEL_INLINE void
ravel_butterfly_mix(__m512i *v, __m512i *w, ravel_crossing c)
{
    enum { WHERE_ONE = 0xca };            /* the second operand where the first is 1 */
    const __m512i a = *v, b = *w;
    *v = _mm512_ternarylogic_epi32(c.one, a, _mm512_sllv_epi32(b, c.two), WHERE_ONE);
    *w = _mm512_ternarylogic_epi32(c.one, _mm512_srlv_epi32(a, c.two), b, WHERE_ONE);
}

RAVEL_INLINE void
ravel_butterfly_move(__m512i *v, __m512i *w, ravel_crossing c)
{
    const __m512i a = *v, b = *w;
    *v = _mm512_permutex2var_epi8(a, c.one, b);
    *w = _mm512_permutex2var_epi8(a, c.two, b);
}

/* The vectors of a group. */
RAVEL_INLINE void
ravel_butterfly_group(unsigned char *d, const unsigned char *s, const ravel_butterflies *b,
                      const ravel_crossing *c, int64_t stream, int stages)
{
    const int vectors = 1 << stages;
    __m512i v[1 << RAVEL_STAGES];
    RAVEL_UNROLL for (int i = 0; i < vectors; i++)
        v[i] = ravel_butterfly_load(s + b->in[i], b->in_piece, b->pieces_in);
    RAVEL_UNROLL for (int stage = 0; stage < stages; stage++)
        RAVEL_UNROLL for (int i = 0; i < vectors; i++)
            if (!(i >> stage & 1)) {
                if (stage < b->mixes)
                    ravel_butterfly_mix(&v[i], &v[i | 1 << stage], c[stage]);
                else
                    ravel_butterfly_move(&v[i], &v[i | 1 << stage], c[stage]);
            }
    if (b->orders)
        RAVEL_UNROLL for (int i = 0; i < vectors; i += 2)
            ravel_butterfly_move(&v[i], &v[i + 1], c[stages]);
    RAVEL_UNROLL for (int i = 0; i < vectors; i++)
        ravel_butterfly_store(d + b->out[i], b->out_piece, b->pieces_out, v[i], stream);
}

/* n tiles that are dp (sp) bytes apart. */
RAVEL_INLINE void
ravel_butterfly_tiles(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t n,
                      int64_t dp, int64_t sp, int64_t stream, int stages)
{
    const ravel_butterflies b = ravel_butterflies_of(t);
    ravel_crossing c[RAVEL_STAGES + 1];
    RAVEL_UNROLL for (int i = 0; i < stages; i++)
        c[i] = ravel_butterfly_stage(&b, i);
    c[stages] = ravel_butterfly_stage(&b, b.orders ? stages : 0);
    for (int64_t k = 0; k < n; k++, d += dp, s += sp)
        for (int32_t g = 0; g < b.groups; g++)
            ravel_butterfly_group(d + b.group[2 * g + 1], s + b.group[2 * g], &b, c, stream,
                                  stages);
}

/* One function for each number of stages, as registers are few. */
typedef char ravel_butterfly_each[RAVEL_STAGES == 4 ? 1 : -1];

static void
ravel_butterfly_1(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t n,
                  int64_t dp, int64_t sp, int64_t stream)
{
    ravel_butterfly_tiles(d, s, t, n, dp, sp, stream, 1);
}

static void
ravel_butterfly_2(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t n,
                  int64_t dp, int64_t sp, int64_t stream)
{
    ravel_butterfly_tiles(d, s, t, n, dp, sp, stream, 2);
}

static void
ravel_butterfly_3(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t n,
                  int64_t dp, int64_t sp, int64_t stream)
{
    ravel_butterfly_tiles(d, s, t, n, dp, sp, stream, 3);
}

static void
ravel_butterfly_4(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t n,
                  int64_t dp, int64_t sp, int64_t stream)
{
    ravel_butterfly_tiles(d, s, t, n, dp, sp, stream, 4);
}

static void
ravel_butterfly_any(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t n,
                    int64_t dp, int64_t sp, int64_t stream)
{
    static void (*const of[RAVEL_STAGES])(unsigned char *, const unsigned char *, const int32_t *, int64_t,
                               int64_t, int64_t, int64_t) = {
        ravel_butterfly_1, ravel_butterfly_2, ravel_butterfly_3, ravel_butterfly_4};
    const int lines = t[8] && ((int64_t)(uintptr_t)d | dp) % RAVEL_LINE == 0;
    of[t[2] - 1](d, s, t, n, dp, sp, stream && lines);
}
#else
/* A stage for two vectors. */
static inline void
ravel_butterfly_pair(unsigned char *v, unsigned char *w, const int32_t *mix, const int32_t *move)
{
    const unsigned char *const at = (const unsigned char *)move;
    unsigned char a[128];
    memcpy(a, v, 64);
    memcpy(a + 64, w, 64);
    for (int i = 0; i < 64; i++) {
        const int low = mix ? mix[0] & 255 : 0, by = mix ? mix[1] : 0;
        v[i] = (unsigned char)(mix ? (a[i] & low) | (a[i + 64] << by & ~low) : a[at[i]]);
        w[i] = (unsigned char)(mix ? (a[i] >> by & low) | (a[i + 64] & ~low) : a[at[i + 64]]);
    }
}

static inline void
ravel_butterfly_tile(unsigned char *d, const unsigned char *s, const ravel_butterflies *b,
                     int32_t stages)
{
    unsigned char v[1 << RAVEL_STAGES][64];
    const int32_t vectors = 1 << stages;
    const int32_t in = 64 / b->pieces_in, out = 64 / b->pieces_out;
    for (int32_t i = 0; i < vectors; i++)
        for (int32_t k = 0; k < b->pieces_in; k++)
            memcpy(v[i] + k * in, s + b->in[i] + b->in_piece[k], (size_t)in);
    for (int32_t stage = 0; stage < stages + b->orders; stage++) {
        const int32_t bit = stage < stages ? 1 << stage : 1;
        const int32_t *const mix = stage < b->mixes ? b->mix + RAVEL_MIX_WORDS * stage : NULL;
        for (int32_t i = 0; i < vectors; i++)
            if (!(i & bit))
                ravel_butterfly_pair(v[i], v[i | bit], mix,
                                     b->move + RAVEL_MOVE_WORDS * (stage - b->mixes));
    }
    for (int32_t i = 0; i < vectors; i++)
        for (int32_t k = 0; k < b->pieces_out; k++)
            memcpy(d + b->out[i] + b->out_piece[k], v[i] + k * out, (size_t)out);
}

static void
ravel_butterfly_any(unsigned char *d, const unsigned char *s, const int32_t *t, int64_t n,
                    int64_t dp, int64_t sp, int64_t stream)
{
    const ravel_butterflies b = ravel_butterflies_of(t);
    (void)stream;
    for (int64_t k = 0; k < n; k++)
        for (int32_t g = 0; g < b.groups; g++)
            ravel_butterfly_tile(d + k * dp + b.group[2 * g + 1], s + k * sp + b.group[2 * g],
                                 &b, t[2]);
}
#endif

/* A loop of the call: its iterations, those of one tile; its strides in bits. */
typedef struct {
    int64_t n, chunk, di, sk;
} ravel_butterfly_loop;

static void
ravel_butterfly_along(unsigned char *d, const unsigned char *s, const int32_t *t,
                      const ravel_butterfly_loop *l, int64_t stream)
{
    const int64_t whole = l->n / l->chunk, last = l->n - l->chunk;
    ravel_butterfly_any(d, s, t, whole, l->chunk * l->di / 8, l->chunk * l->sk / 8, stream);
    if (whole * l->chunk < l->n)
        ravel_butterfly_any(d + last * l->di / 8, s + last * l->sk / 8, t, 1, 0, 0, 0);
}

static void
ravel_butterfly(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
                const int32_t *table, int64_t rows, int64_t cols, int64_t di, int64_t sk,
                int64_t dj, int64_t sl, int64_t stream, int64_t bits)
{
    const ravel_butterfly_loop row = {rows, table[0], di * bits, sk * bits};
    const ravel_butterfly_loop col = {cols, table[1], dj * bits, sl * bits};
    const int tall = rows >= 8 * table[0] || rows * table[1] >= cols * table[0];
    const ravel_butterfly_loop *const in = tall ? &row : &col, *const out = tall ? &col : &row;
    dst += (d * bits - (d * bits & 7)) / 8;
    src += (s * bits - (s * bits & 7)) / 8;
    for (int64_t j = 0; j < out->n; j += out->chunk) {
        const int64_t at = j + out->chunk > out->n ? out->n - out->chunk : j;
        ravel_butterfly_along(dst + at * out->di / 8, src + at * out->sk / 8, table, in,
                              stream && at == j);
    }
}
