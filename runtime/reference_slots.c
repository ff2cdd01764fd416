/* The kinds of the slots of the destination. */
#include <stdlib.h>

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
