/* The values of entries: their bytes are copied, compared and, for equal entries, added. */

/* Which values are entries: those that are not the fill; those above a limit, without the bits
 * that `hi` lacks; signed ones whose magnitude is above it, `hi` being the sign. */
enum { RAVEL_NOT_FILL, RAVEL_ABOVE, RAVEL_ABOVE_SIGNED };

RAVEL_PART int
ravel_is_entry(const unsigned char *v, int64_t es, int64_t how, uint64_t lo, uint64_t hi)
{
    uint64_t x = 0, y = 0;
    memcpy(&x, v, es < 8 ? (size_t)es : 8);
    if (how == RAVEL_ABOVE)
        return (x & hi) > lo;
    if (how == RAVEL_ABOVE_SIGNED)
        return (x & hi ? (hi - x) + hi : x) > lo;
    if (es == 16)
        memcpy(&y, v + 8, 8);
    return x != lo || y != hi;
}

/* Write the fill to n places. */
RAVEL_PART void
ravel_fill_all(unsigned char *out, int64_t n, int64_t es, uint64_t lo, uint64_t hi)
{
    uint64_t two[2] = {lo, hi};
    if (lo == 0 && hi == 0 && n > 0)
        memset(out, 0, (size_t)(n * es));
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(out + i * es, two, (size_t)es);
}

typedef struct {
    unsigned char *out;
    int64_t n, es;
    uint64_t lo, hi;
} ravel_cleared;

static void
ravel_clear_part(void *arg, int part, int parts)
{
    const ravel_cleared *c = (const ravel_cleared *)arg;
    int64_t from = ravel_part_of(c->n, part, parts);
    int64_t n = ravel_part_of(c->n, part + 1, parts) - from;
    unsigned char *out = c->out + from * c->es;
    switch (c->es) {
    case 1: ravel_fill_all(out, n, 1, c->lo, c->hi); break;
    case 2: ravel_fill_all(out, n, 2, c->lo, c->hi); break;
    case 4: ravel_fill_all(out, n, 4, c->lo, c->hi); break;
    case 8: ravel_fill_all(out, n, 8, c->lo, c->hi); break;
    default: ravel_fill_all(out, n, 16, c->lo, c->hi);
    }
}

/* Write the fill to the n positions of a level. */
RAVEL_STEP
ravel_stream_clear(ravel_stream *s, void *out, int64_t level, int64_t es, uint64_t lo,
                   uint64_t hi)
{
    ravel_cleared c = {(unsigned char *)out, s->flaw ? 0 : s->total[level], es, lo, hi};
    if (c.n > 0)
        RAVEL_SHARE(s, ravel_clear_part, &c);
}

/* The value of entry i: at its position, or, without `in`, in column 0. */
RAVEL_PART const unsigned char *
ravel_value(const ravel_stream *s, const unsigned char *in, int64_t es, int64_t i)
{
    return in ? in + s->x[0][i] * es : (const unsigned char *)&s->x[0][i];
}

RAVEL_PART void
ravel_copy_each(const ravel_stream *s, int64_t at, unsigned char *out,
                const unsigned char *in, int64_t es, int64_t joins)
{
    if (!joins && in)
        for (int64_t i = 0; i < s->n; i++)
            memcpy(out + s->x[at][i] * es, in + s->x[0][i] * es, (size_t)es);
    else
        for (int64_t i = 0; i < s->n; i++)
            if (!joins || s->x[2][i])
                memcpy(out + s->x[at][i] * es, ravel_value(s, in, es, i), (size_t)es);
}

typedef struct {
    ravel_cleared to;
    const void *crd;
    int64_t w;
} ravel_blanked;

static void
ravel_blank_part(void *arg, int part, int parts)
{
    const ravel_blanked *b = (const ravel_blanked *)arg;
    const ravel_cleared *c = &b->to;
    int64_t end = ravel_part_of(c->n, part + 1, parts);
    for (int64_t i = ravel_part_of(c->n, part, parts); i < end; i++)
        if (ravel_index_at(b->crd, b->w, i) < 0)
            ravel_fill_all(c->out + i * c->es, 1, c->es, c->lo, c->hi);
}

/* The fill to the n places that have no coordinate. */
RAVEL_STEP
ravel_stream_blank(ravel_stream *s, void *values, const void *crd, int64_t n, int64_t es, int64_t w,
                   uint64_t lo, uint64_t hi)
{
    ravel_blanked b = {{(unsigned char *)values, n, es, lo, hi}, crd, w};
    if (!s->flaw && n > 0)
        RAVEL_SHARE(s, ravel_blank_part, &b);
}

RAVEL_PART void
ravel_add_float(unsigned char *out, const unsigned char *in, int64_t es)
{
    for (int64_t i = 0; es != 4 && i < es; i += 8) {
        double x, y;
        memcpy(&x, out + i, 8);
        memcpy(&y, in + i, 8);
        x += y;
        memcpy(out + i, &x, 8);
    }
    for (int64_t i = 0; es == 4 && i < es; i += 4) {
        float x, y;
        memcpy(&x, out + i, 4);
        memcpy(&y, in + i, 4);
        x += y;
        memcpy(out + i, &x, 4);
    }
}

RAVEL_PART void
ravel_add_integer(unsigned char *out, const unsigned char *in, int64_t es)
{
    unsigned carry = 0;
    for (int64_t i = 0; i < es; i++) {
        carry += (unsigned)out[i] + in[i];
        out[i] = (unsigned char)carry;
        carry >>= 8;
    }
}

/* An entry that is equal to one before it.  es: of a part, for complex numbers. */
RAVEL_PART void
ravel_join(ravel_stream *s, unsigned char *out, const unsigned char *in, int64_t es,
           int64_t parts, int64_t how, int64_t at)
{
    if (how == RAVEL_LAST)
        memcpy(out, in, (size_t)(es * parts));
    else if (how == RAVEL_REFUSE)
        ravel_flaw(s, RAVEL_FLAW_TWICE, -1, at);
    for (int64_t i = 0; i < parts; i++)
        if (how == RAVEL_SUM_FLOAT)
            ravel_add_float(out + i * es, in + i * es, es);
        else if (how == RAVEL_SUM_INTEGER)
            ravel_add_integer(out + i * es, in + i * es, es);
}

/* Copy the values of the entries to the positions in column `at`.  A value has `parts`
 * numbers of es bytes.  joins: 0 all entries differ; 1 as column 2 says; 2 none does. */
RAVEL_STEP
ravel_stream_put(ravel_stream *s, int64_t at, void *values, const void *from, int64_t es,
                 int64_t parts, int64_t how, int64_t joins)
{
    unsigned char *to = (unsigned char *)values;
    const unsigned char *in = (const unsigned char *)from;
    int64_t all = es * parts;
    if (joins == 2)
        ravel_stream_set(s, 2, 0);
    switch (all) {
    case 0: break;
    case 1: ravel_copy_each(s, at, to, in, 1, joins); break;
    case 2: ravel_copy_each(s, at, to, in, 2, joins); break;
    case 4: ravel_copy_each(s, at, to, in, 4, joins); break;
    case 8: ravel_copy_each(s, at, to, in, 8, joins); break;
    default: ravel_copy_each(s, at, to, in, 16, joins);
    }
    for (int64_t i = 0; joins && i < s->n; i++)
        if (!s->x[2][i])
            ravel_join(s, to + s->x[at][i] * all, ravel_value(s, in, all, i), es, parts, how,
                       s->x[0][i]);
}

/* Whether a float of es bytes is -0.0. */
RAVEL_PART int
ravel_is_negative_zero(const unsigned char *v, int64_t es)
{
    uint32_t x;
    uint64_t y;
    memcpy(&x, v, sizeof x);
    if (es == 4)
        return x == (uint32_t)1 << 31;
    memcpy(&y, v, sizeof y);
    return y == (uint64_t)1 << 63;
}

/* The records are all n entries if a value has a -0.0, else none. */
RAVEL_STEP
ravel_stream_negative(ravel_stream *s, const void *values, int64_t n, int64_t es, int64_t parts)
{
    const unsigned char *v = (const unsigned char *)values;
    int found = 0;
    for (int64_t i = 0; i < n * parts; i++)
        found |= ravel_is_negative_zero(v + i * es, es);
    s->records = found ? n : 0;
}

/* -0.0 to the positions in column `at` of the entries that have it: to what is there as 0, a sum adds
 * all entries, and 0 + -0.0 is 0. */
RAVEL_STEP
ravel_stream_put_negative(ravel_stream *s, int64_t at, void *values, const void *from, int64_t es,
                          int64_t parts)
{
    unsigned char *to = (unsigned char *)values;
    const unsigned char *in = (const unsigned char *)from;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < parts; k++) {
            const unsigned char *v = in + (s->x[0][i] * parts + k) * es;
            if (ravel_is_negative_zero(v, es))
                memcpy(to + (s->x[at][i] * parts + k) * es, v, (size_t)es);
        }
}
