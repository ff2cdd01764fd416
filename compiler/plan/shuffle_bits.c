/* The elements of a tile, and its lanes. */
#include <stdlib.h>

#include "shuffle.h"

/* `place`: what an iteration adds to the index in Residual.src. */
typedef struct {
    i64 n, ss, ds, place;
} TileStep;

/* Adds a step to m, by falling stride of the destination. */
static int
add_step(TileStep *out, int m, TileStep s)
{
    int k = m;
    for (; k > 0 && out[k - 1].ds < s.ds; k--)
        out[k] = out[k - 1];
    out[k] = s;
    return m + 1;
}

/* The tile's loops, all of which rise in the destination: *at is the source of the first
 * element and *to the destination. */
static int
steps_of(const Nest *n, const ShuffleTile *t, int bits, TileStep *out, i64 *to, i64 *at)
{
    const Sums *residual = &t->residual.side[DST];
    int m = 0;
    i64 place = 1;
    *to += t->residual.to;
    for (int i = 0; i < residual->nsteps; place *= residual->of[i++].n)
        m = add_step(out, m, (TileStep){residual->of[i].n, 0, residual->of[i].step, place});
    for (int i = 0; i < n->nloops; i++) {
        const Loop *l = &n->loop[i];
        i64 count = shuffle_taken(n, t, i);
        if ((count < 2 && !(t->in[i] && kernel_padded(n, l))) || l->residual)
            continue;
        TileStep s = {count, strips_stride(&t->strips[SRC], n, i, SRC, bits),
                      strips_stride(&t->strips[DST], n, i, DST, bits), 0};
        if (s.ds < 0) {
            *to += (count - 1) * s.ds;
            *at += (count - 1) * s.ss;
            s.ss = -s.ss;
            s.ds = -s.ds;
        }
        m = add_step(out, m, s);
    }
    return m;
}

/* False where it does not lie behind those before. */
static bool
add_element(Bits *b, i64 to, int32_t src)
{
    b->dst[b->n] = (int32_t)(to * b->bits);
    b->src[b->n] = src;
    b->n++;
    return b->n == 1 || b->dst[b->n - 1] >= b->dst[b->n - 2] + b->bits;
}

/* False where the elements do not rise in the destination.  `residual` is in the source, what
 * the steps' places add there.  `pad` elements follow each run of the last loop. */
static bool
list_elements(Bits *b, const TileStep *s, int m, const int32_t *residual, i64 to, i64 at, i64 pad)
{
    i64 i[2 * MAX_LOOPS] = {0};
    for (b->n = 0;;) {
        bool rises = add_element(b, to, (int32_t)((at + *residual) * b->bits));
        for (i64 k = 1; k <= pad && i[m - 1] + 1 == s[m - 1].n; k++)
            rises &= add_element(b, to + k, FILL);
        if (!rises)
            return false;
        int k = m - 1;
        for (; k >= 0 && ++i[k] == s[k].n; k--) {
            to -= (s[k].n - 1) * s[k].ds;
            at -= (s[k].n - 1) * s[k].ss;
            residual -= (s[k].n - 1) * s[k].place;
            i[k] = 0;
        }
        if (k < 0)
            break;
        to += s[k].ds;
        at += s[k].ss;
        residual += s[k].place;
    }
    b->fills = pad > 0;
    return true;
}

/* The lanes of a run of elements from `first` to before `end`: the last one may lie over
 * the one before. */
static bool
add_lanes(Bits *b, int first, int end)
{
    int32_t from = b->dst[first], to = b->dst[end - 1] + b->bits;
    if (from % 8 || to % 8 || to - from < 8 * LANE)
        return false;
    for (int32_t at = from; at < to; at += 8 * LANE) {
        if (b->nlanes == LANES_MAX)
            return false;
        int32_t start = at + 8 * LANE > to ? to - 8 * LANE : at;
        b->lane[b->nlanes] = (int32_t)int_div(start, 8);
        b->element[b->nlanes++] = (int16_t)(first + (start - from) / b->bits);
    }
    return true;
}

/* Rows of the program are whole: the last lane as often as that takes. */
static void
fill_quad(Bits *b)
{
    for (int i = b->nlanes; i % QUAD; i++) {
        b->lane[i] = b->lane[b->nlanes - 1];
        b->element[i] = b->element[b->nlanes - 1];
    }
    b->lines = true;
    for (int i = 0; i < b->nlanes; i++)
        b->lines &= b->lane[i] == b->lane[i / QUAD * QUAD] + i % QUAD * LANE;
    b->lines &= b->nlanes % QUAD == 0;
    b->nlanes = (int)int_ceil_div(b->nlanes, QUAD) * QUAD;
}

/* The bytes of each strip that are read; false if those of one have no lane. */
static bool
find_strips(Bits *b)
{
    const int n = b->strips < 2 ? 1 : b->strips;
    bool whole = true;
    for (int i = 0; i < n; i++) {
        b->strip[i].first = INT32_MAX;
        b->strip[i].end = INT32_MIN;
    }
    for (int i = 0; i < b->n; i++) {
        if (b->src[i] == FILL)
            continue;
        int32_t first = (int32_t)int_div(b->src[i], 8);
        int32_t end = (int32_t)int_div(b->src[i] + b->bits - 1, 8) + 1;
        int k = strip_of(b->strips, first);
        b->strip[k].first = first < b->strip[k].first ? first : b->strip[k].first;
        b->strip[k].end = end > b->strip[k].end ? end : b->strip[k].end;
    }
    for (int i = 0; i < n; i++)
        whole &= (i64)b->strip[i].end - b->strip[i].first >= LANE;
    return whole;
}

/* Strides within a tile are such that all its bits have 32-bit offsets. */
static bool
is_near(const TileStep *s, int m, int bits)
{
    i64 far = 0;
    for (int i = 0; i < m; i++) {
        i64 most = s[i].ds > s[i].ss ? s[i].ds : s[i].ss;
        most = -s[i].ss > most ? -s[i].ss : most;
        if (most > INT32_MAX / 2 / bits / s[i].n)
            return false;
        far += most * s[i].n;
    }
    return far <= INT32_MAX / 2 / bits;
}

bool
shuffle_bits(const Nest *n, const ShuffleTile *t, int bits, Bits *b)
{
    TileStep s[2 * MAX_LOOPS];
    i64 per = bits < 8 ? 8 / bits : 1;
    i64 to = kernel_remainder(shuffle_outside(n, t->in, false), per);
    i64 at = kernel_remainder(shuffle_outside(n, t->in, true), per);
    int m = steps_of(n, t, bits, s, &to, &at);
    b->bits = bits;
    b->turns = false;
    b->strips = (int)t->strips[SRC].count;
    return is_near(s, m, bits) && list_elements(b, s, m, t->residual.src, to, at, n->pad.n) &&
            shuffle_lanes(b);
}

bool
shuffle_lanes(Bits *b)
{
    int first = 0;
    b->nlanes = 0;
    for (int i = 1; i <= b->n; i++)
        if (i == b->n || b->dst[i] != b->dst[i - 1] + b->bits) {
            if (!add_lanes(b, first, i))
                return false;
            first = i;
        }
    fill_quad(b);
    return find_strips(b);
}

typedef struct {
    int32_t src, lane;
    int16_t element;
} Placed;

static int
in_source(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    int d = (x->src > y->src) - (x->src < y->src);
    return d ? d : (x->lane > y->lane) - (x->lane < y->lane);
}

void
shuffle_by_source(Bits *b)
{
    Placed p[LANES_MAX];
    for (int i = 0; i < b->nlanes; i++)
        p[i] = (Placed){b->src[b->element[i]], b->lane[i], b->element[i]};
    qsort(p, (size_t)b->nlanes, sizeof *p, in_source);
    for (int i = 0; i < b->nlanes; i++) {
        b->lane[i] = p[i].lane;
        b->element[i] = p[i].element;
    }
    b->lines = false;
}
