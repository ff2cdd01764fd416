/* The strips of a tile where strides depend on the shape: their places in a program, and where
 * these are at a shape. */
#include <string.h>

#include "shuffle.h"

bool
strips_add(Strips *s, int loop, i64 taken)
{
    if (taken > STRIPS / s->count)
        return false;
    s->loop[s->n] = loop;
    s->taken[s->n++] = taken;
    s->count *= taken;
    return true;
}

i64
strips_stride(const Strips *s, const Nest *n, int loop, int side, int bits)
{
    i64 strips = 1;
    if (ex_is_const(kernel_stride_ex(&n->loop[loop], side)))
        return kernel_stride(&n->loop[loop], side);
    for (int i = 0; i < s->n && s->loop[i] != loop; i++)
        strips *= s->taken[i];
    return strips * 8 * APART / bits;
}

int
strip_of(int strips, int32_t byte)
{
    return strips < 2 ? 0 : (int)int_div((i64)byte + APART / 2, APART);
}

/* What a stride has of the shape is whole bytes. */
static bool
has_bytes(const Ex *stride, i64 per)
{
    bool whole = ex_is_const(stride) || stride->base % per == 0;
    for (int i = 0; i < stride->n; i++)
        whole &= stride->t[i].coef % per == 0;
    return whole;
}

bool
strips_fit(const Nest *n, const ShuffleTile *t, int bits)
{
    const i64 per = bits < 8 ? 8 / bits : 1, most = STRIP_MOST / bits;
    for (int side = SRC; side <= DST; side++) {
        i64 far = 0;
        for (int i = 0; i < n->nloops && t->strips[side].count > 1; i++) {
            const Ex *stride = kernel_stride_ex(&n->loop[i], side);
            i64 taken = shuffle_taken(n, t, i);
            if (taken < 2)
                continue;
            if (!has_bytes(stride, per) || int_abs(stride->base) > most)
                return false;
            far += ex_is_const(stride) ? (taken - 1) * int_abs(stride->base) : 0;
        }
        if (far > most)
            return false;
    }
    return true;
}

/* A program of one shape or of a scalar: NULL: the part that is numbers. */
typedef struct {
    const Nest *n;
    const Strips *strips;
    const Atom *scalar;
    int side, bits;
} Start;

/* What the strip's start has of the scalar, in bytes. */
static i64
start_of(const Start *s, i64 strip)
{
    i64 sum = 0;
    for (int i = 0; i < s->strips->n; i++) {
        const Loop *l = &s->n->loop[s->strips->loop[i]];
        sum += strip % s->strips->taken[i] *
               table_share(kernel_stride_ex(l, s->side), s->scalar);
        strip /= s->strips->taken[i];
    }
    return sum * s->bits / 8;
}

static void
put_starts(const Start *s, const int32_t *from, int n, int each, int32_t *to)
{
    for (int i = 0; i < n * each; i += each) {
        i64 strip = strip_of((int)s->strips->count, from[i]);
        i64 at = s->scalar ? 0 : from[i] - (s->strips->count < 2 ? 0 : strip * APART);
        to[i] = (int32_t)(at + start_of(s, strip));
    }
}

/* The windows of a row's terms, and of its pairs. */
static void
put_windows(const Start *s, const int32_t *row, int fill, int32_t *out)
{
    const int32_t *from = row + RAVEL_ROW_HEAD + fill;
    out += RAVEL_ROW_HEAD + fill;
    for (int i = 0; i < row[0] + row[1]; i++) {
        const int words = i < row[0] ? RAVEL_WHOLE : RAVEL_MASKED;
        put_starts(s, from, QUAD, 1, out);
        from += words;
        out += words;
    }
    for (int i = 0; i < row[RAVEL_ROW_PAIRS]; i++, from += RAVEL_PAIRED, out += RAVEL_PAIRED)
        put_starts(s, from, 2, 2, out);
}

void
strips_place(const Nest *n, const Program *p, int bits, const Atom *scalar,
             const int32_t *words, i64 count, int32_t *out)
{
    if (scalar)
        memset(out, 0, (size_t)count * sizeof *out);
    else
        memcpy(out, words, (size_t)count * sizeof *out);
    const Start src = {n, &p->tile.strips[SRC], scalar, SRC, bits};
    const Start dst = {n, &p->tile.strips[DST], scalar, DST, bits};
    i64 at = 2;
    for (int i = 0; i < p->passes; i++) {
        const Bits *b = &p->bits[i];
        i64 row = at + RAVEL_PASS_HEAD;
        for (int k = 0; k < b->nlanes / QUAD; k++) {
            if (i == 0)
                put_windows(&src, words + row, b->fills * QUAD * WORD, out + row);
            if (i == p->passes - 1)
                put_starts(&dst, words + row + RAVEL_ROW_TO, QUAD, 1, out + row + RAVEL_ROW_TO);
            row += shuffle_row_words(b, &p->terms[i].row[k]);
        }
        at += shuffle_words(b, &p->terms[i]);
    }
}
