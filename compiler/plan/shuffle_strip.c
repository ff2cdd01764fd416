/* The strips of a tile where strides depend on the shape: of which loops they are, their places in
 * a program, and where these are at a shape. */
#include <string.h>

#include "shuffle.h"

bool
shuffle_is_plain(const Nest *n, const Loop *l)
{
    return ex_is_const(l->ex.n) &&
           (n->near || (ex_is_const(l->ex.ss) && ex_is_const(l->ex.ds)));
}

static bool
add_strips(Strips *s, int loop, i64 taken)
{
    if (taken > STRIPS / s->count)
        return false;
    s->loop[s->n] = loop;
    s->taken[s->n++] = taken;
    s->count *= taken;
    return true;
}

bool
shuffle_add_strips(const Nest *n, int loop, i64 taken, Strips strips[2])
{
    for (int side = SRC; side <= DST; side++)
        if (taken > 1 && !ex_is_const(kernel_stride_ex(&n->loop[loop], side)) &&
            !add_strips(&strips[side], loop, taken))
            return false;
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
put_starts(const Start *s, const int32_t *from, i64 n, int32_t *to)
{
    for (i64 i = 0; i < n; i++) {
        i64 strip = strip_of((int)s->strips->count, from[i]);
        i64 at = s->scalar ? 0 : from[i] - (s->strips->count < 2 ? 0 : strip * APART);
        to[i] = (int32_t)(at + start_of(s, strip));
    }
}

/* The places of a group's rows; the words of the group. */
static i64
place_group(const Start side[2], bool reads, bool writes, i64 fill, const int32_t *group,
            int32_t *out)
{
    const i64 whole = group[RAVEL_GROUP_WHOLE], masked = group[RAVEL_GROUP_MASKED];
    const i64 pairs = group[RAVEL_GROUP_PAIRS];
    const i64 windows = QUAD * (whole + masked) + 2 * pairs * group[RAVEL_GROUP_PARTS];
    i64 at = RAVEL_GROUP_HEAD + fill + whole * RAVEL_WHOLE + masked * RAVEL_MASKED +
             pairs * (masked ? RAVEL_HALVED : RAVEL_PAIRED);
    for (int32_t i = 0; i < group[RAVEL_GROUP_ROWS]; i++, at += QUAD + windows) {
        if (writes)
            put_starts(&side[DST], group + at, QUAD, out + at);
        if (reads)
            put_starts(&side[SRC], group + at + QUAD, windows, out + at + QUAD);
    }
    return at;
}

void
strips_place(const Nest *n, const Program *p, int bits, const Atom *scalar,
             const int32_t *words, i64 count, int32_t *out)
{
    if (scalar)
        memset(out, 0, (size_t)count * sizeof *out);
    else
        memcpy(out, words, (size_t)count * sizeof *out);
    const Start side[2] = {[SRC] = {n, &p->tile.strips[SRC], scalar, SRC, bits},
                           [DST] = {n, &p->tile.strips[DST], scalar, DST, bits}};
    i64 at = 2;
    for (int i = 0; i < p->passes; i++) {
        const i64 fill = words[at + RAVEL_PASS_FILLS] ? QUAD * WORD : 0;
        const i64 rows = words[at + RAVEL_PASS_ROWS];
        at += RAVEL_PASS_HEAD;
        for (i64 k = 0; k < rows;) {
            const i64 group = at;
            at += place_group(side, i == 0, i == p->passes - 1, fill, words + at, out + at);
            k += words[group + RAVEL_GROUP_ROWS];
        }
    }
}
