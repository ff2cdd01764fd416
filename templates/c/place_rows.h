/* All rows of a call that moves runs. */

/* Whether the places of a side are more than a stride for each run. */
RAVEL_CONSTANT int
ravel_has_places(const ravel_places *p)
{
    return p->bits || p->by[0][1];
}

/* Moves all rows, a chunk at a time. */
static void
ravel_move_places(unsigned char *d, const unsigned char *s, ravel_runs p, int64_t rows,
                  const ravel_places *t, const ravel_places *f)
{
    const int64_t skips = (t->bits | f->bits) & (RAVEL_SKIPS | RAVEL_SKIPS << 8);
    const int64_t dr = t->stride + t->by[0][0], sr = f->stride + f->by[0][0];
    const int both = skips || !ravel_is_even(p.bytes);
    const int place_to = both || ravel_has_places(t), place_from = both || ravel_has_places(f);
    int64_t to[RAVEL_CHUNK], from[RAVEL_CHUNK];
    for (int64_t i = 0; i < rows && p.bytes; i += RAVEL_CHUNK) {
        int64_t m = rows - i < RAVEL_CHUNK ? rows - i : (int64_t)RAVEL_CHUNK;
        if (place_to)
            ravel_places_of(t, i, m, to);
        if (place_from)
            ravel_places_of(f, i, m, from);
        if (skips)
            m = ravel_keep_places(to, from, m);
        ravel_move_rows(place_to ? d : d + dr * i, place_from ? s : s + sr * i, p, m,
                        place_to ? to : NULL, dr, place_from ? from : NULL, sr);
    }
}
