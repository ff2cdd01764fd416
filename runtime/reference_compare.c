/* Whether the slots of the destination have the right contents. */
#include "element.h"
#include "reference.h"
#include "reference_same.h"

typedef struct {
    Compared of;
    i64 wrong;                     /* the lowest slot; INF: none */
} Comparer;

static void
set_fill(Compared *c)
{
    const Layout *l = c->p->dst;
    for (i64 i = 0; i < (i64)sizeof c->fill * 8 / l->dtype->bits; i++)
        element_set(c->fill, i, l->dtype->bits, l->fill[0], l->fill[1]);
}

/* Whether all of a row are elements that are right.  Inlined where `bits` is a constant. */
__attribute__((always_inline)) static inline bool
row_is_right(const Comparer *c, const ReferenceRow *r, int bits)
{
    uint64_t wrong = 0, high, high_got;
    i64 all = 0;
    for (int i = 0; i < r->n; i++)
        all |= r->from[i];
    for (int i = 0; i < r->n && all >= 0; i++) {
        wrong |= element_get(c->of.dst, r->to[i], bits, &high_got) ^
                 element_get(c->of.src, r->from[i], bits, &high);
        wrong |= high ^ high_got;
    }
    return all >= 0 && wrong == 0;
}

/* Find the lowest slot that is wrong. */
__attribute__((always_inline)) static inline void
compare(Comparer *c, const ReferenceRow *r, int bits)
{
    if (row_is_right(c, r, bits))
        return;
    const Layout *d = c->of.p->dst;
    for (int i = 0; i < r->n; i++) {
        uint64_t want = d->fill[0], high = d->fill[1], got_high;
        if (r->from[i] == FROM_HOLE)
            continue;
        if (r->from[i] >= 0)
            want = element_get(c->of.src, r->from[i], bits, &high);
        uint64_t got = element_get(c->of.dst, r->to[i], bits, &got_high);
        if ((got != want || got_high != high) && r->to[i] < c->wrong)
            c->wrong = r->to[i];
    }
}

static bool
compare_row(void *arg, const ReferenceRow *r)
{
    Comparer *c = arg;
    int bits = c->of.p->dst->dtype->bits;
    switch (bits) {
    case 4: compare(c, r, 4); break;
    case 8: compare(c, r, 8); break;
    case 16: compare(c, r, 16); break;
    case 32: compare(c, r, 32); break;
    case 64: compare(c, r, 64); break;
    default: compare(c, r, bits); break;
    }
    return true;
}

/* A patch that differs is looked at again, one slot at a time. */
static void
compare_patch(void *arg, const ReferencePatch *r)
{
    Comparer *c = arg;
    ReferencePatch one = {.inner.n = 1, .outer.n = 1};
    if (same_patch(&c->of, r))
        return;
    for (i64 k = 0; k < r->outer.n; k++)
        for (i64 i = 0; i < r->inner.n; i++) {
            one.to = r->to + k * r->outer.to + i * r->inner.to;
            one.from = r->from + k * r->outer.from + i * r->inner.from;
            if (one.to < c->wrong && !same_patch(&c->of, &one))
                c->wrong = one.to;
        }
}

static void
compare_line(void *arg, const ReferenceLine *r)
{
    Comparer *c = arg;
    if (same_line(&c->of, r))
        return;
    for (int i = 0; i < r->n; i++) {
        ReferencePatch p = same_run(r, i);
        compare_patch(c, &p);
    }
}

static void
compare_groups(void *arg, const ReferenceGroups *r)
{
    Comparer *c = arg;
    if (same_groups(&c->of, r))
        return;
    for (i64 i = 0; i < r->groups; i++) {
        i64 moved = r->moved + r->place[i], plain = r->plain + i * r->n;
        ReferencePatch p = {moved, plain, {r->n, 1, 1}, {1, 0, 0}};
        if (r->of_source)
            p = (ReferencePatch){plain, moved, {r->n, 1, 1}, {1, 0, 0}};
        compare_patch(c, &p);
    }
}

/* Find the lowest slot of a grid that is wrong. */
__attribute__((always_inline)) static inline void
compare_slots(Comparer *c, const ReferenceGrid *r, int bits)
{
    uint64_t high, high_got;
    for (int k = 0; k < r->rows; k++) {
        i64 to = r->to + r->to_outer[k], from = r->from + r->from_outer[k];
        for (int i = 0; i < r->n; i++) {
            i64 slot = to + r->to_inner[i];
            uint64_t got = element_get(c->of.dst, slot, bits, &high_got);
            if ((got ^ element_get(c->of.src, from + r->from_inner[i], bits, &high)) |
                (high ^ high_got))
                c->wrong = slot < c->wrong ? slot : c->wrong;
        }
    }
}

static void
compare_grid(void *arg, const ReferenceGrid *r)
{
    Comparer *c = arg;
    int bits = c->of.p->dst->dtype->bits;
    if (same_grid(&c->of, r))
        return;
    switch (bits) {
    case 1: compare_slots(c, r, 1); break;
    case 4: compare_slots(c, r, 4); break;
    case 8: compare_slots(c, r, 8); break;
    case 16: compare_slots(c, r, 16); break;
    case 32: compare_slots(c, r, 32); break;
    case 64: compare_slots(c, r, 64); break;
    default: compare_slots(c, r, bits); break;
    }
}

/* The lowest hole below `end` that is not zero, or `end`. */
static i64
hole_written(const Plan *p, const unsigned char *dst, const SlotKinds *k, i64 end)
{
    uint64_t high;
    for (i64 i = 0; i < k->n && i < end; i++) {
        if (k->written[i / 64] == UINT64_MAX)
            i |= 63;
        else if (!slot_in(k->written, i) &&
                 (element_get(dst, i, p->dst->dtype->bits, &high) || high))
            return i;
    }
    return end;
}

/* A box, compared by several threads. */
typedef struct {
    const Plan *p;
    const unsigned char *dst, *src;
    const i64 *lo, *hi;
    int across;                    /* the dim that they share */
    _Atomic i64 wrong;             /* the lowest slot; INF: none */
    atomic_bool no_memory;
} Shared;

static void
compare_part(void *shared, int part, int parts)
{
    Shared *s = shared;
    const ReferenceVisitor v = {compare_row, compare_patch, compare_line, compare_groups,
                                  compare_grid};
    Comparer c = {{s->p, s->dst, s->src, {0}}, INF};
    i64 lo[MAX_RANK], hi[MAX_RANK];
    int rank = s->p->dst->rank;
    memcpy(lo, s->lo, (size_t)rank * sizeof *lo);
    memcpy(hi, s->hi, (size_t)rank * sizeof *hi);
    if (rank) {
        i64 first = lo[s->across], n = hi[s->across] - first;
        lo[s->across] = first + n / parts * part + n % parts * part / parts;
        hi[s->across] = first + n / parts * (part + 1) + n % parts * (part + 1) / parts;
    }
    if ((rank && lo[s->across] == hi[s->across]) || (!rank && part))
        return;
    set_fill(&c.of);
    if (!reference_walk_by(s->p, lo, hi, &v, &c))
        s->no_memory = true;
    i64 now = s->wrong;
    while (c.wrong < now && !atomic_compare_exchange_weak(&s->wrong, &now, c.wrong))
        ;
}

bool
reference_differs_in(const Plan *p, const Threads *t, const i64 *lo, const i64 *hi,
                     const unsigned char *dst, const unsigned char *src, i64 *slot)
{
    Shared s = {p, dst, src, lo, hi, 0, INF, false};
    for (int d = 1; d < p->dst->rank; d++)
        if (hi[d] - lo[d] > hi[s.across] - lo[s.across])
            s.across = d;
    threads_share(t, compare_part, &s);
    *slot = s.wrong == INF ? -1 : s.wrong;
    return !s.no_memory;
}

bool
reference_differs(const Plan *p, const Threads *t, const unsigned char *dst,
                  const unsigned char *src, i64 *slot)
{
    SlotKinds k;
    const char *why;
    const i64 lo[MAX_RANK] = {0};
    i64 hi[MAX_RANK];
    for (int d = 0; d < p->dst->rank; d++)
        hi[d] = p->dst->dim[d].padded;
    bool ok = kinds_new(&k, p, &why);
    *slot = why ? 0 : -1;
    if (ok && !why && (ok = reference_differs_in(p, t, lo, hi, dst, src, slot))) {
        i64 end = *slot < 0 ? INF : *slot, hole = hole_written(p, dst, &k, end);
        *slot = hole == INF ? -1 : hole;
    }
    kinds_free(&k);
    return ok;
}
