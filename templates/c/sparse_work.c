/* The memory between the two passes: the stream, then counts, areas and records. */

/* The values that are entries (ravel_is_entry), of `bits` bits each. */
RAVEL_PART int64_t
ravel_entries(const unsigned char *val, int64_t n, int64_t bits, int64_t how, uint64_t lo,
              uint64_t hi)
{
    int64_t k = 0;
    for (int64_t i = 0; i < n && bits >= 8; i++)
        k += ravel_is_entry(val + i * (bits / 8), bits / 8, how, lo, hi);
    for (int64_t i = 0; i < n && bits < 8; i++) {
        unsigned char v = ravel_packed_at(val, i, bits);
        k += ravel_is_entry(&v, 1, how, lo, hi);
    }
    return k;
}

/* Set m[0] to the bytes of the memory: `columns` columns, `counts` counts; with `sorts` records for all n
 * positions or, with val, for those whose value is an entry.  -1: it does not fit 64 bits. */
RAVEL_STEP
ravel_stream_work(ravel_stream *s, int64_t *m, int64_t columns, int64_t counts, int64_t sorts,
                  const void *val, int64_t n, int64_t bits, int64_t how, uint64_t lo, uint64_t hi)
{
    const int64_t most = INT64_MAX / 64;
    (void)s;                           /* there is none yet */
    m[0] = -1;
    if (n < 0 || n > most || counts > most)
        return;
    const unsigned char *v = (const unsigned char *)val;
    int64_t records = !sorts ? 0 : v ? ravel_entries(v, n, bits, how, lo, hi) : n;
    m[0] = (int64_t)sizeof(ravel_stream) - (RAVEL_COLUMNS - columns) * (int64_t)sizeof s->x[0] +
           counts * (int64_t)sizeof(int64_t) +
           2 * records * (int64_t)sizeof(ravel_record) + RAVEL_LINE;
}

/* The bytes of an area of n elements of `bits` bits, for all parts or for each. */
RAVEL_PART int64_t
ravel_area_bytes(ravel_stream *s, int64_t n, int64_t bits, int64_t each)
{
    const int64_t most = INT64_MAX / 64;
    int64_t parts = each ? RAVEL_PARTS(s) : 1;
    if (n < 0 || n > most / bits / parts)
        return -1;
    return ravel_area_part((n * bits + 7) / 8) * parts;
}

/* An area more. */
RAVEL_STEP
ravel_stream_room(ravel_stream *s, int64_t *m, int64_t n, int64_t bits, int64_t each)
{
    int64_t more = ravel_area_bytes(s, n, bits, each);
    m[0] = m[0] < 0 || more < 0 || m[0] > INT64_MAX / 2 ? -1 : m[0] + more;
}

/* Begin to use it. */
RAVEL_STEP
ravel_stream_open(ravel_stream *s, int64_t columns, int64_t counts)
{
    s->flaw = s->records = s->widest = s->lists = 0;
    s->unsorted = s->ranked = s->ordered = s->near = 0;
    s->kept = 0;
    s->count = (int64_t *)(void *)s->x + columns * RAVEL_BATCH;
    s->room = (unsigned char *)(s->count + counts);
    s->room += RAVEL_LINE - (uintptr_t)s->room % RAVEL_LINE;
    s->record = (ravel_record *)(void *)s->room;
    for (int i = 0; i < RAVEL_LEVELS; i++)
        s->size[i] = 0;
}

/* ... the area `which`, of the size that ravel_stream_room had. */
RAVEL_STEP
ravel_stream_area(ravel_stream *s, int64_t which, int64_t n, int64_t bits, int64_t each)
{
    s->area[which] = s->room;
    s->room += ravel_area_bytes(s, n, bits, each);
    s->record = (ravel_record *)(void *)s->room;
}
