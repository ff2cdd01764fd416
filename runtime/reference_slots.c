/* The kinds of the slots of the destination, and whether they have the right contents. */
#include <stdlib.h>

#include "element.h"
#include "reference.h"

typedef struct {
    const Plan *p;
    SlotKinds *k;
    const char *why;
} Sorter;

static const char *
sort_one(const Sorter *t, i64 to, i64 from, bool pad)
{
    uint64_t bit = (uint64_t)1 << (to & 63);
    if (to < 0 || to >= t->p->dst->size)
        return "the destination's layout leaves its storage";
    if (from < FROM_HOLE || from >= t->p->src->size)
        return "the source's layout leaves its storage";
    if (from == FROM_HOLE)
        return NULL;
    if (t->k->written[to / 64] & bit)
        return "the destination's layout has two coordinates at one address";
    t->k->written[to / 64] |= bit;
    if (from >= 0)
        t->k->copied[to / 64] |= bit;
    t->k->elements += !pad;
    t->k->padding += pad;
    return NULL;
}

static bool
sort_slots(void *arg, const ReferenceRow *r)
{
    Sorter *t = arg;
    for (int i = 0; i < r->n && !t->why; i++)
        t->why = sort_one(t, r->to[i], r->from[i], r->pad[i]);
    return !t->why;
}

bool
kinds_new(SlotKinds *k, const Plan *p, const char **why)
{
    Sorter t = {p, k, NULL};
    *k = (SlotKinds){.n = layout_bytes(p->dst) * 8 / p->dst->dtype->bits};
    size_t words = (size_t)((k->n + 63) / 64);
    k->written = calloc(words, sizeof *k->written);
    k->copied = calloc(words, sizeof *k->copied);
    bool ok = k->written && k->copied && reference_walk(p, sort_slots, &t);
    *why = t.why;
    return ok;
}

void
kinds_free(SlotKinds *k)
{
    free(k->written);
    free(k->copied);
}

typedef struct {
    const Plan *p;
    const unsigned char *dst, *src;
    i64 wrong;                     /* the lowest slot; INF: none */
} Comparer;

/* Inlined where `bits` is a constant. */
__attribute__((always_inline))
static inline void
compare(Comparer *c, const ReferenceRow *r, int bits)
{
    const Layout *d = c->p->dst;
    for (int i = 0; i < r->n; i++) {
        uint64_t want = d->fill[0], high = d->fill[1], got_high;
        if (r->from[i] == FROM_HOLE)
            continue;
        if (r->from[i] >= 0)
            want = element_get(c->src, r->from[i], bits, &high);
        uint64_t got = element_get(c->dst, r->to[i], bits, &got_high);
        if ((got != want || got_high != high) && r->to[i] < c->wrong)
            c->wrong = r->to[i];
    }
}

static bool
compare_row(void *arg, const ReferenceRow *r)
{
    Comparer *c = arg;
    int bits = c->p->dst->dtype->bits;
    switch (bits) {
    case 8: compare(c, r, 8); break;
    case 16: compare(c, r, 16); break;
    case 32: compare(c, r, 32); break;
    case 64: compare(c, r, 64); break;
    default: compare(c, r, bits); break;
    }
    return true;
}

/* The lowest hole below `end` that is not zero, or `end`. */
static i64
hole_written(const Comparer *c, const SlotKinds *k, i64 end)
{
    uint64_t high;
    for (i64 i = 0; i < k->n && i < end; i++) {
        if (k->written[i / 64] == UINT64_MAX)
            i |= 63;
        else if (!slot_in(k->written, i) &&
                 (element_get(c->dst, i, c->p->dst->dtype->bits, &high) || high))
            return i;
    }
    return end;
}

bool
reference_differs(const Plan *p, const unsigned char *dst, const unsigned char *src,
                  i64 *slot)
{
    SlotKinds k;
    const char *why;
    Comparer c = {p, dst, src, INF};
    bool ok = kinds_new(&k, p, &why) && (why || reference_walk(p, compare_row, &c));
    *slot = why ? 0 : ok ? hole_written(&c, &k, c.wrong) : -1;
    kinds_free(&k);
    if (*slot == INF)
        *slot = -1;
    return ok;
}

bool
reference_differs_in(const Plan *p, const i64 *lo, const i64 *hi, const unsigned char *dst,
                     const unsigned char *src, i64 *slot)
{
    Comparer c = {p, dst, src, INF};
    bool ok = reference_walk_box(p, lo, hi, compare_row, &c);
    *slot = c.wrong == INF ? -1 : c.wrong;
    return ok;
}
