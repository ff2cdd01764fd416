/* A list that has the order of the destination's rows already, with equal entries next to each other: it
 * is read front to back, and nothing is put in order. */

typedef struct {
    ravel_stream *s;
    const void *row, *crd;         /* of the source */
    const unsigned char *in;
    ravel_list list;
    void *pos, *crd_out;           /* of the destination */
    unsigned char *out;
    int64_t bias, es, parts, how, w_out;
} ravel_ordered;

/* Whether entry i, not the first, is at another place than the one before. */
RAVEL_PART int
ravel_ordered_differs(const ravel_ordered *t, int64_t i, int64_t w)
{
    int64_t q = ravel_index_at(t->row, w, i), before = ravel_index_at(t->row, w, i - 1);
    int64_t c = ravel_index_at(t->crd, w, i), last = ravel_index_at(t->crd, w, i - 1);
    return (q != before) | (c != last);
}

/* How many of entries from..end - 1, from > 0, are at another place than the one before; -1 if one is at a
 * lower place.  The loops are for vectors: they have no branches, and that of 32-bit indices has no other
 * numbers. */
RAVEL_PART int64_t
ravel_ordered_some(const ravel_ordered *t, int64_t from, int64_t end, int64_t w)
{
    int32_t places = 0, descends = 0;
    const int32_t *row = (const int32_t *)t->row, *crd = (const int32_t *)t->crd;
    int64_t i = from;
    for (; w == 4 && i < end; i++) {
        int32_t moves = row[i] != row[i - 1];
        places += moves | (crd[i] != crd[i - 1]);
        descends |= (row[i] < row[i - 1]) | ((moves ^ 1) & (crd[i] < crd[i - 1]));
    }
    for (; i < end; i++) {
        int64_t q = ravel_index_at(t->row, w, i), before = ravel_index_at(t->row, w, i - 1);
        int64_t c = ravel_index_at(t->crd, w, i), last = ravel_index_at(t->crd, w, i - 1);
        places += (q != before) | (c != last);
        descends |= (q < before) | ((q == before) & (c < last));
    }
    return descends ? -1 : places;
}

/* The places of a part, -1: it is not in order. */
RAVEL_PART void
ravel_ordered_count(const ravel_ordered *t, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(t->list.n, part, parts), last = ravel_part_of(t->list.n, part + 1, parts);
    int64_t sum = i == 0 && last > 0, some = 0;
    for (i += sum; i < last && some >= 0; i += RAVEL_BATCH) {
        some = ravel_ordered_some(t, i, last - i < RAVEL_BATCH ? last : i + RAVEL_BATCH, w);
        sum += some;
    }
    t->s->places[part + 1] = some < 0 ? -1 : sum;
}

static void
ravel_ordered_count_part(void *arg, int part, int parts)
{
    const ravel_ordered mine = *(const ravel_ordered *)arg;    /* in registers */
    if (mine.list.w == 4)
        ravel_ordered_count(&mine, part, parts, 4);
    else
        ravel_ordered_count(&mine, part, parts, 8);
}

/* See whether a list is in order.  If it is, the level has a position for each place, and the steps that
 * follow do nothing. */
RAVEL_STEP
ravel_stream_ordered(ravel_stream *s, int64_t level, const void *row, const void *crd, int64_t n,
                     int64_t rows, int64_t row_bias, int64_t bias, int64_t w)
{
    ravel_ordered t = {s, row, crd, NULL, {n, rows, 0, row_bias, bias, w}, NULL, NULL, NULL, 0, 0, 1, 0, w};
    if (s->flaw)
        return;
    RAVEL_SHARE(s, ravel_ordered_count_part, &t);
    s->list = t.list;
    s->ordered = 1;
    s->places[0] = 0;
    for (int64_t part = 0; part < RAVEL_PARTS(s); part++) {
        s->ordered = s->ordered && s->places[part + 1] >= 0;
        s->places[part + 1] += s->places[part];
    }
    if (s->ordered)
        s->size[level] = s->places[RAVEL_PARTS(s)];
}

/* The first entry from i on that is at another place than the one before; those that are not belong to
 * the part before. */
RAVEL_PART int64_t
ravel_ordered_from(const ravel_ordered *t, int64_t i, int64_t w)
{
    while (i > 0 && i < t->list.n && !ravel_ordered_differs(t, i, w))
        i++;
    return i;
}

RAVEL_PART int64_t
ravel_ordered_row(const ravel_ordered *t, int64_t i, int64_t w)
{
    return ravel_index_at(t->row, w, i) + t->list.row_bias;
}

/* The entries of a part; its rows begin after that of the entry before. */
RAVEL_PART void
ravel_ordered_write(const ravel_ordered *t, int64_t part, int64_t parts, int64_t es, int64_t w,
                    int64_t w_out)
{
    int64_t i = ravel_ordered_from(t, ravel_part_of(t->list.n, part, parts), w);
    int64_t end = ravel_ordered_from(t, ravel_part_of(t->list.n, part + 1, parts), w);
    int64_t row = i ? ravel_ordered_row(t, i - 1, w) + 1 : 0, p = t->s->places[part];
    for (; i < end; i++) {
        if (i && !ravel_ordered_differs(t, i, w)) {
            ravel_join(t->s, t->out + (p - 1) * es, t->in + i * es, es / t->parts, t->parts, t->how, 0);
            continue;
        }
        for (int64_t q = ravel_ordered_row(t, i, w); row <= q; row++)
            ravel_index_set(t->pos, w_out, row, p);
        ravel_index_set(t->crd_out, w_out, p, ravel_index_at(t->crd, w, i) + t->list.bias - t->bias);
        ravel_move_value(t->out, p++, t->in, i, es);
    }
    for (; part == parts - 1 && row <= t->list.rows; row++)
        ravel_index_set(t->pos, w_out, row, p);
}

static void
ravel_ordered_write_part(void *arg, int part, int parts)
{
    const ravel_ordered mine = *(const ravel_ordered *)arg;    /* in registers */
    int small = mine.list.w == 4 && mine.w_out == 4;
    if (small && mine.es == 8)
        ravel_ordered_write(&mine, part, parts, 8, 4, 4);
    else if (small && mine.es == 4)
        ravel_ordered_write(&mine, part, parts, 4, 4, 4);
    else
        ravel_ordered_write(&mine, part, parts, mine.es, mine.list.w, mine.w_out);
}

/* Write the destination of a list in order.  A value has `parts` numbers of es bytes. */
RAVEL_STEP
ravel_stream_fill_ordered(ravel_stream *s, const void *row, const void *crd, const void *in, void *pos,
                          void *crd_out, void *out, int64_t bias, int64_t es, int64_t parts, int64_t how,
                          int64_t w_out)
{
    ravel_ordered t = {s, row, crd, (const unsigned char *)in, s->list, pos, crd_out,
                       (unsigned char *)out, bias, es * parts, parts, how, w_out};
    if (!s->flaw && s->ordered)
        RAVEL_SHARE(s, ravel_ordered_write_part, &t);
}
