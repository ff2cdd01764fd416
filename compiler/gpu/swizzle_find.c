/* Searches for a swizzle.  The search over the columns of M decides whether there is one;
 * the search over its rows finds the one with the fewest bits. */
#include <stdlib.h>
#include <string.h>

#include "swizzle_pass.h"

/* Limits.  COLUMN_STEPS, ROW_STEPS: steps until a search is given up, about a second; a
 * step examines an image or a pass.  BASIS_MAX: the most high bits for which find_basis is
 * used. */
enum { COLUMN_STEPS = 1 << 28, ROW_STEPS = 1 << 24, BASIS_MAX = 12 };

static int
compare_passes(const void *a, const void *b)
{
    const Pass *p = a, *q = b;
    if (p->v != q->v || p->n != q->n)
        return p->v != q->v ? p->v - q->v : p->n - q->n;
    int by_words = memcmp(p->word, q->word, sizeof p->word);
    return by_words ? by_words : p->access - q->access;
}

/* Removes duplicate passes: many passes of a tile differ only by a constant. */
static void
drop_repeated(Swizzler *s)
{
    int kept = 0;
    if (s->n)
        qsort(s->pass, (size_t)s->n, sizeof *s->pass, compare_passes);
    for (int i = 0; i < s->n; i++) {
        const Pass *p = &s->pass[i], *last = &s->pass[kept ? kept - 1 : 0];
        if (!kept || p->v != last->v || p->n != last->n ||
            memcmp(p->word, last->word, sizeof p->word))
            s->pass[kept++] = *p;
    }
    s->n = kept;
}

/* ---- columns: M is chosen for one vector of a basis after the other ---- */

typedef struct {
    int n;                /* number of relevant high bits */
    uint32_t values;      /* number of images of a high part: 2^(5 - keep) */
    uint32_t bit[TILE_BITS_MAX];   /* the relevant bits of a word */
    uint32_t *high;       /* high[x]: the high part that is the sum of the columns in x */
    uint32_t *forbid;     /* forbid[x]: bit c is set if M must not map high[x] to c */
    uint8_t *image;       /* image[x]: M * high[x], when those columns are chosen */
    long steps;
} Columns;

/* Finds the high bits that distinguish the elements of the span of all high parts: the
 * pivots of an echelon form.  M may be 0 on the other bits.  gf2_eliminate would need the
 * words of all passes as rows at once, and its pivots are the lowest bits; here each word is
 * reduced by at most 32 others, and the pivots are the highest bits. */
static void
find_pivots(const Swizzler *s, Columns *c)
{
    uint32_t basis[32] = {0};
    for (int i = 0; i < s->n; i++)
        for (int l = 0; l < s->pass[i].n; l++) {
            uint32_t h = s->pass[i].word[l] >> BANK_BITS;
            while (h && basis[int_log2(h)])
                h ^= basis[int_log2(h)];
            if (h)
                basis[int_log2(h)] = h;
        }
    for (int b = 0; b < TILE_BITS_MAX; b++)
        if (basis[b])
            c->bit[c->n++] = (uint32_t)(b + BANK_BITS);
}

static uint32_t
coordinates(const Columns *c, uint32_t word)
{
    uint32_t h = 0;
    for (int j = 0; j < c->n; j++)
        h |= (word >> c->bit[j] & 1) << j;
    return h;
}

/* Two words of a pass are in the same bank if M maps the high part of their xor to its
 * bank bits.  Words that differ in an unchanged bank bit never are. */
static void
forbid_pass(const Swizzler *s, const Pass *p, Columns *c)
{
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < i; j++) {
            uint32_t d = p->word[i] ^ p->word[j];
            uint32_t stays = ((1u << s->keep) - 1) >> p->v << p->v;
            if (!(d & stays) && d >> BANK_BITS)
                c->forbid[coordinates(c, d)] |= 1u << (d % 32 >> s->keep);
        }
}

/* The high part outside the first `size` of c->high that has the fewest choices after the
 * columns of these are chosen. */
static uint32_t
tightest(const Columns *c, uint32_t size, const bool *spanned)
{
    uint32_t best = 0;
    int most = -1;
    for (uint32_t h = 1; h < 1u << c->n; h++) {
        int sum = 0;
        for (uint32_t x = 0; x < size && !spanned[h]; x++)
            sum += __builtin_popcount(c->forbid[h ^ c->high[x]]);
        if (!spanned[h] && sum > most) {
            most = sum;
            best = h;
        }
    }
    return best;
}

/* Orders the basis such that the vectors with the fewest choices come first; the search
 * then finds dead ends early. */
static void
find_basis(Arena *a, Columns *c)
{
    uint32_t n = 1u << c->n, *forbid = arena_array(a, uint32_t, n);
    bool *spanned = arena_array(a, bool, n);
    c->high = arena_array(a, uint32_t, n);
    spanned[0] = true;
    for (uint32_t size = 1; size < n; size *= 2) {
        uint32_t h = c->n > BASIS_MAX ? size : tightest(c, size, spanned);
        for (uint32_t x = 0; x < size; x++) {
            c->high[size + x] = c->high[x] ^ h;
            spanned[c->high[x] ^ h] = true;
        }
    }
    for (uint32_t x = 0; x < n; x++)
        forbid[x] = c->forbid[c->high[x]];
    c->forbid = forbid;
}

/* The set { i xor by : i in set }; sets are bits of a word. */
static uint32_t
moved(uint32_t set, uint32_t by)
{
    static const uint32_t even[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff,
                                    0x0000ffff};
    for (int i = 0; i < LEN(even); i++)
        if (by >> i & 1)
            set = (set & even[i]) << (1 << i) | (set >> (1 << i) & even[i]);
    return set;
}

/* The set of values in the span of all forbidden images. */
static uint32_t
forbidden_span(const Columns *c)
{
    uint32_t span = 1;
    for (uint32_t x = 1; x < 1u << c->n; x++)
        for (uint32_t v = 0; c->forbid[x] & ~span; v++)
            if (c->forbid[x] & ~span & 1u << v)
                span |= moved(span, v);
    return span;
}

/* Chooses the columns from j on.  `fixed` is the span of the forbidden and the chosen
 * images.  A linear map that is the identity on `fixed` can exchange all images outside of
 * it, so only one of these is tried. */
static bool
choose_columns(Columns *c, int j, uint32_t fixed)
{
    uint32_t half = 1u << j, bad = 0;
    if (j == c->n)
        return true;
    c->steps += half;
    for (uint32_t x = 0; x < half; x++)
        bad |= moved(c->forbid[x | half], c->image[x]);
    for (uint32_t v = 0; v < c->values && c->steps <= COLUMN_STEPS; v++) {
        if (bad >> v & 1)
            continue;
        for (uint32_t x = 0; x < half; x++)
            c->image[x | half] = (uint8_t)(c->image[x] ^ v);
        if (choose_columns(c, j + 1, fixed | moved(fixed, v)))
            return true;
        bad |= fixed >> v & 1 ? 0 : ~fixed;
    }
    return false;
}

static void
decide_by_columns(const Swizzler *s, SwizzleFound *f)
{
    Columns c = {.values = 1u << (BANK_BITS - s->keep)};
    find_pivots(s, &c);
    c.forbid = arena_array(s->arena, uint32_t, (i64)1 << c.n);
    c.image = arena_array(s->arena, uint8_t, (i64)1 << c.n);
    for (int i = 0; i < s->n; i++)
        forbid_pass(s, &s->pass[i], &c);
    find_basis(s->arena, &c);
    bool found = choose_columns(&c, 0, forbidden_span(&c));
    f->answer = found ? SWIZZLE_FOUND
              : c.steps > COLUMN_STEPS ? SWIZZLE_UNDECIDED : SWIZZLE_EXCLUDED;
    for (uint32_t x = 1; found && x < 1u << c.n; x++)
        for (int i = s->keep; i < BANK_BITS && int_is_pow2(c.high[x]); i++)
            f->swizzle.mask[i] |= (uint32_t)(c.image[x] >> (i - s->keep) & 1)
                                  << c.bit[int_log2(c.high[x])];
}

/* ---- rows: a mask for one bank bit after the other ---- */

/* Classes of lanes of a pass, as bits, that no bank bit so far distinguishes; each has
 * more than one lane. */
typedef struct {
    int n;
    uint32_t set[PASS_WORDS / 2];
} Classes;

typedef struct {
    uint32_t mask;
    uint32_t *parity;     /* for each pass: the lanes with odd parity */
} Candidate;

typedef struct {
    const Swizzler *s;
    Candidate *mask;      /* sorted by number of bits, then value */
    int nmask;
    uint32_t *plane[BANK_BITS];    /* for each pass: the lanes whose bank bit is 1 */
    Classes *classes[BANK_BITS + 1];   /* for each pass, before row i */
    int chosen[BANK_BITS];
    long steps;
} Rows;

/* For each pass: the lanes whose word has an odd number of the bits in the mask. */
static uint32_t *
parities(const Swizzler *s, uint32_t mask)
{
    uint32_t *p = arena_array(s->arena, uint32_t, s->n);
    for (int i = 0; i < s->n; i++)
        for (int l = 0; l < s->pass[i].n; l++)
            p[i] |= (uint32_t)__builtin_parity(s->pass[i].word[l] & mask) << l;
    return p;
}

/* Splits each class by the set `odd`; returns the size of the largest new class. */
static int
split(const Classes *from, uint32_t odd, Classes *to)
{
    int most = 1;
    to->n = 0;
    for (int i = 0; i < from->n; i++)
        for (int side = 0; side < 2; side++) {
            uint32_t half = from->set[i] & (side ? odd : ~odd);
            int size = __builtin_popcount(half);
            if (size > 1)
                to->set[to->n++] = half;
            most = size > most ? size : most;
        }
    return most;
}

/* Makes the classes before row `keep`, from the unchanged bits.  False if a class is larger
 * than the remaining rows can split. */
static bool
start_rows(Rows *r, SwizzleFound *f)
{
    const Swizzler *s = r->s;
    for (int i = 0; i <= BANK_BITS; i++)
        r->classes[i] = arena_array(s->arena, Classes, s->n);
    for (int i = 0; i < BANK_BITS; i++)
        r->plane[i] = parities(s, 1u << i);
    f->places = 1 << (BANK_BITS - s->keep);
    for (int p = 0; p < s->n; p++) {
        int most = s->pass[p].n;
        Classes c = {1, {(uint32_t)(((uint64_t)1 << most) - 1)}}, next;
        for (int i = s->pass[p].v; i < s->keep; i++, c = next)
            most = split(&c, r->plane[i][p], &next);
        if (most > f->places) {
            f->access = s->pass[p].access;
            f->words = most;
            return false;
        }
        r->classes[s->keep][p] = c;
    }
    return true;
}

static bool
try_row(Rows *r, int row, int mask)
{
    for (int p = 0; p < r->s->n; p++) {
        uint32_t odd = r->plane[row][p] ^ r->mask[mask].parity[p];
        r->steps++;
        if (split(&r->classes[row][p], odd, &r->classes[row + 1][p]) >
            1 << (BANK_BITS - 1 - row))
            return false;
    }
    return true;
}

/* Chooses masks with `left` bits in total for the rows from `row` on. */
static bool
choose_rows(Rows *r, int row, int left)
{
    if (row == BANK_BITS)
        return left == 0;
    for (int i = 0; i < r->nmask && r->steps <= ROW_STEPS; i++) {
        int bits = __builtin_popcount(r->mask[i].mask);
        if (bits > left)
            break;
        r->chosen[row] = i;
        if (try_row(r, row, i) && choose_rows(r, row + 1, left - bits))
            return true;
    }
    return false;
}

/* Adds a mask, unless an earlier one has the same parities in every pass. */
static void
add_candidate(Rows *r, uint32_t mask)
{
    size_t bytes = (size_t)r->s->n * sizeof (uint32_t);
    uint32_t *p = parities(r->s, mask);
    for (int i = 0; i < r->nmask; i++)
        if (!memcmp(p, r->mask[i].parity, bytes))
            return;
    r->mask[r->nmask++] = (Candidate){mask, p};
}

/* Adds all masks that have the bits of `with` and `bits` more, all less than `below`, in
 * ascending order. */
static void
add_candidates(Rows *r, int bits, int below, uint32_t with)
{
    if (bits == 0)
        add_candidate(r, with);
    for (int b = BANK_BITS + bits - 1; bits && b < below; b++)
        add_candidates(r, bits - 1, b, with | 1u << b);
}

/* Finds the masks with the fewest bits in total and at most `each` bits in each.  False if
 * there are none or the search was given up. */
static bool
fewest_bits(Rows *r, int each, SwizzleFound *f)
{
    int rows = BANK_BITS - r->s->keep;
    add_candidates(r, each, r->s->bits, 0);
    r->steps = 0;
    for (int total = 0; total <= each * rows; total++) {
        if (!choose_rows(r, r->s->keep, total))
            continue;
        f->swizzle = (Swizzle){{0}};
        for (int i = r->s->keep; i < BANK_BITS; i++)
            f->swizzle.mask[i] = r->mask[r->chosen[i]].mask;
        f->fewest = true;
        return true;
    }
    return false;
}

SwizzleFound
swizzler_find(Swizzler *s)
{
    enum { EACH_MAX = 3, MASKS_MAX = 1 + 15 + 105 + 455 };
    SwizzleFound f = {.answer = SWIZZLE_TOO_MANY};
    Rows r = {.s = s};
    drop_repeated(s);
    if (!start_rows(&r, &f))
        return f;
    decide_by_columns(s, &f);
    if (f.answer == SWIZZLE_EXCLUDED)
        return f;
    r.mask = arena_array(s->arena, Candidate, MASKS_MAX);
    add_candidates(&r, 0, 0, 0);
    add_candidates(&r, 1, s->bits, 0);
    for (int each = 2; each <= EACH_MAX && !f.fewest; each++)
        if (fewest_bits(&r, each, &f))
            f.answer = SWIZZLE_FOUND;
    for (int i = 0; i < BANK_BITS; i++)
        f.bits += __builtin_popcount(f.swizzle.mask[i]);
    return f;
}
