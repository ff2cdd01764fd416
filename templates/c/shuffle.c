/* One pass over n tiles, group by group.  Arguments are scalars: copies of a structure whose
 * fields were just written would wait for these. */
static inline void
ravel_shuffle_pass(unsigned char *d, const unsigned char *s, const int32_t *pass, int64_t n,
                   int64_t dp, int64_t sp, int64_t stream, const unsigned char *fill)
{
    ravel_shuffled a;
    a.d = d;
    a.s = s;
    a.n = n;
    a.dp = dp;
    a.sp = sp;
    a.stream = stream && pass[RAVEL_PASS_LINES] && dp % 64 == 0;
    a.fill = pass[RAVEL_PASS_FILLS] ? fill : NULL;
    a.lines = pass[RAVEL_PASS_LINES];
    const int32_t *group = pass + RAVEL_PASS_HEAD;
    for (int32_t i = 0; i < pass[RAVEL_PASS_ROWS]; i += a.group[RAVEL_GROUP_ROWS]) {
        const int32_t w = group[RAVEL_GROUP_WHOLE], m = group[RAVEL_GROUP_MASKED];
        const int32_t pairs = group[RAVEL_GROUP_PAIRS], paired = m ? RAVEL_HALVED : RAVEL_PAIRED;
        a.group = group;
        a.term = group + RAVEL_GROUP_HEAD + (pass[RAVEL_PASS_FILLS] ? 16 : 0);
        a.row = a.term + w * RAVEL_WHOLE + m * RAVEL_MASKED + pairs * paired;
        a.words = 4 + 4 * (w + m) + 2 * pairs * group[RAVEL_GROUP_PARTS];
        ravel_shuffle_group(&a);
        group = a.row + group[RAVEL_GROUP_ROWS] * a.words;
    }
}

/* Transposes the bits of each 8 bytes: bit i of byte k becomes bit k of byte i.  There are
 * a multiple of 64 bytes. */
#if defined(RAVEL_PAIRS) && defined(__GFNI__)
/* The product of a matrix with the unit vectors, in the order of its rows reversed. */
static inline void
ravel_turn_bits(unsigned char *d, int64_t bytes)
{
    const __m512i units = _mm512_set1_epi64((int64_t)0x8040201008040201);
    const __m512i back = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    for (int64_t i = 0; i < bytes; i += 64) {
        const __m512i x = _mm512_shuffle_epi8(_mm512_loadu_si512(d + i), back);
        _mm512_storeu_si512(d + i, _mm512_gf2p8affine_epi64_epi8(units, x, 0));
    }
}
#else
static inline void
ravel_turn_bits(unsigned char *d, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 8) {
        uint64_t x, y;
        memcpy(&x, d + i, 8);
        y = (x ^ x >> 7) & 0x00aa00aa00aa00aa;
        x ^= y ^ y << 7;
        y = (x ^ x >> 14) & 0x0000cccc0000cccc;
        x ^= y ^ y << 14;
        y = (x ^ x >> 28) & 0x00000000f0f0f0f0;
        x ^= y ^ y << 28;
        memcpy(d + i, &x, 8);
    }
}
#endif

/* The passes before the last one, each from one of two buffers at `made` to the other.
 * Returns the last pass; *s is what it reads, *sp the bytes from a tile to the next. */
static inline const int32_t *
ravel_shuffle_before(unsigned char *made, const int32_t *pass, int64_t n,
                     const unsigned char **s, int64_t *sp)
{
    for (int k = 0; pass[RAVEL_PASS_NEXT]; k ^= 1, pass += pass[RAVEL_PASS_NEXT]) {
        const int64_t pitch = 64 * (int64_t)pass[RAVEL_PASS_ROWS];
        unsigned char *const to = made + k * RAVEL_TILES_BYTES;
        ravel_shuffle_pass(to, *s, pass, n, pitch, *sp, 0, NULL);
        if (pass[RAVEL_PASS_TURNS])
            ravel_turn_bits(to, n * pitch);
        *s = to;
        *sp = pitch;
    }
    return pass;
}

/* The bytes of a tile in the pass that has most. */
static inline int64_t
ravel_shuffle_most(const int32_t *pass)
{
    int64_t rows = pass[RAVEL_PASS_ROWS];
    while (pass[RAVEL_PASS_NEXT]) {
        pass += pass[RAVEL_PASS_NEXT];
        rows = pass[RAVEL_PASS_ROWS] > rows ? pass[RAVEL_PASS_ROWS] : rows;
    }
    return 64 * rows;
}

/* Permutes n tiles, as many at a time as the first cache holds.  Stores past the caches
 * have few lines between those that are contiguous. */
static inline void
ravel_shuffle_tiles(unsigned char *d, const unsigned char *s, const int32_t *table, int64_t n,
                    int64_t dp, int64_t sp, int64_t stream, const unsigned char *fill)
{
    enum { FEW = 8 };
    unsigned char room[64 + 2 * RAVEL_TILES_BYTES];
    unsigned char *const made = room + 64 - (uintptr_t)room % 64;
    const int64_t tile = ravel_shuffle_most(table + 2);
    const int64_t most = n * tile > RAVEL_TILES_BYTES ? RAVEL_TILES_BYTES / tile : n;
    const int64_t some = stream && dp != 64 && most > FEW ? (int64_t)FEW : most;
    for (int64_t k = 0; k < n; k += some, d += some * dp, s += some * sp) {
        const int64_t m = n - k < some ? n - k : some;
        const unsigned char *from = s;
        int64_t step = sp;
        const int32_t *const last = ravel_shuffle_before(made, table + 2, m, &from, &step);
        ravel_shuffle_pass(d, from, last, m, dp, step, stream, fill);
    }
}

/* The byte of a bit.  A start may be negative; the tile itself lies above 0. */
static inline int64_t
ravel_shuffle_byte(int64_t bit)
{
    return (bit - (bit & 7)) / 8;
}

/* A loop of the call: its iterations, those of one tile; its strides in bits. */
typedef struct {
    int64_t n, chunk, di, sk;
} ravel_shuffle_loop;

/* The tiles along a loop.  The last one may overlap the one before. */
static inline void
ravel_shuffle_along(unsigned char *d, const unsigned char *s, const int32_t *table,
                    const ravel_shuffle_loop *l, int64_t stream, const unsigned char *fill)
{
    const int64_t left = l->n - l->chunk;
    const int64_t n = l->chunk == 1 ? l->n : left ? l->n / l->chunk : 1;
    ravel_shuffle_tiles(d, s, table, n, l->chunk * l->di / 8, l->chunk * l->sk / 8, stream,
                        fill);
    if (n * l->chunk < l->n)
        ravel_shuffle_tiles(d + left * l->di / 8, s + left * l->sk / 8, table, 1, 0, 0, 0,
                            fill);
}

static void
ravel_shuffle(unsigned char *dst, int64_t d, const unsigned char *src, int64_t s,
              const int32_t *table, int64_t rows, int64_t cols, int64_t di, int64_t sk,
              int64_t dj, int64_t sl, int64_t stream, int64_t bits, uint64_t v)
{
    unsigned char fill[64] = {0};
    const ravel_shuffle_loop row = {rows, table[0], di * bits, sk * bits};
    const ravel_shuffle_loop col = {cols, table[1], dj * bits, sl * bits};
    const int tall = rows * table[1] >= cols * table[0];
    const ravel_shuffle_loop *const in = tall ? &row : &col, *const out = tall ? &col : &row;
    dst += ravel_shuffle_byte(d * bits);
    src += ravel_shuffle_byte(s * bits);
    for (int64_t i = 0; i < 64 && table[4]; i += bits / 8)
        memcpy(fill + i, &v, (size_t)(bits / 8));
    for (int64_t j = 0; j < out->n; j += out->chunk) {
        const int64_t at = j + out->chunk > out->n ? out->n - out->chunk : j;
        ravel_shuffle_along(dst + at * out->di / 8, src + at * out->sk / 8, table, in, stream,
                            fill);
    }
}
