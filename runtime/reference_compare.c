/* Whether the slots of the destination have the right contents. */
#include "element.h"
#include "reference.h"
#include "reference_bits.h"

typedef struct {
    const Plan *p;
    const unsigned char *dst, *src;
    i64 wrong;                     /* the lowest slot; INF: none */
    unsigned char fill[64];        /* of the destination, over and over */
} Comparer;

static void
set_fill(Comparer *c)
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
        wrong |= element_get(c->dst, r->to[i], bits, &high_got) ^
                 element_get(c->src, r->from[i], bits, &high);
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
    case 4: compare(c, r, 4); break;
    case 8: compare(c, r, 8); break;
    case 16: compare(c, r, 16); break;
    case 32: compare(c, r, 32); break;
    case 64: compare(c, r, 64); break;
    default: compare(c, r, bits); break;
    }
    return true;
}

/* Whether each row of a patch of padding is whole bytes without gaps. */
static bool
fills_bytes(const ReferencePatch *r, int bits)
{
    i64 ends = r->to | r->inner.n | (r->outer.n > 1 ? r->outer.to : 0);
    return r->inner.to == 1 && ends * bits % 8 == 0;
}

static bool
is_fill(const Comparer *c, const ReferencePatch *r, int bits)
{
    for (i64 k = 0; k < r->outer.n; k++) {
        const unsigned char *p = c->dst + (r->to + k * r->outer.to) * bits / 8;
        for (i64 left = r->inner.n * bits / 8, n; left; left -= n, p += n) {
            n = left < (i64)sizeof c->fill ? left : (i64)sizeof c->fill;
            if (memcmp(p, c->fill, (size_t)n))
                return false;
        }
    }
    return true;
}

/* Inlined where `bits` is a constant.  From here on functions answer whether all slots of a
 * patch have the right contents. */
__attribute__((always_inline)) static inline bool
has_fill(const Comparer *c, const ReferencePatch *r, int bits)
{
    const uint64_t *fill = c->p->dst->fill;
    uint64_t wrong = 0, high;
    for (i64 k = 0; k < r->outer.n; k++)
        for (i64 i = 0; i < r->inner.n; i++) {
            i64 slot = r->to + k * r->outer.to + i * r->inner.to;
            wrong |= element_get(c->dst, slot, bits, &high) ^ fill[0];
            wrong |= high ^ fill[1];
        }
    return wrong == 0;
}

__attribute__((always_inline)) static inline bool
is_same(const unsigned char *dst, const unsigned char *src, const ReferencePatch *r, int bits)
{
    uint64_t wrong = 0, high, high_got;
    for (i64 k = 0; k < r->outer.n; k++)
        for (i64 i = 0; i < r->inner.n; i++) {
            i64 to = r->to + k * r->outer.to + i * r->inner.to;
            i64 from = r->from + k * r->outer.from + i * r->inner.from;
            wrong |= element_get(dst, to, bits, &high_got) ^ element_get(src, from, bits, &high);
            wrong |= high ^ high_got;
        }
    return wrong == 0;
}

/* A patch that is contiguous along the other dim in the source.  Its lines are gathered first:
 * at a power of two apart they would drive each other out of the caches. */
__attribute__((always_inline)) static inline bool
is_turned(const Comparer *c, const ReferencePatch *r, int bits)
{
    unsigned char line[REFERENCE_TILE * REFERENCE_TILE * 8];
    i64 bytes = bits / 8;
    ReferencePatch one = *r;
    for (i64 i = 0; i < r->inner.n; i++)
        memcpy(line + i * r->outer.n * bytes, c->src + (r->from + i * r->inner.from) * bytes,
               (size_t)(r->outer.n * bytes));
    one.from = 0;
    one.inner.from = r->outer.n;
    one.inner.to = 1;
    one.outer.from = 1;
    return is_same(c->dst, line, &one, bits);
}

/* Short runs are many. */
static inline bool
same_bytes(const unsigned char *a, const unsigned char *b, size_t n)
{
    uint64_t v[4];
    uint32_t w[4];
    uint16_t h[2];
    if (n == sizeof *h) {
        memcpy(&h[0], a, sizeof *h);
        memcpy(&h[1], b, sizeof *h);
        return h[0] == h[1];
    }
    if (n >= sizeof *w && n < sizeof *v) {
        memcpy(&w[0], a, sizeof *w);
        memcpy(&w[1], b, sizeof *w);
        memcpy(&w[2], a + n - sizeof *w, sizeof *w);
        memcpy(&w[3], b + n - sizeof *w, sizeof *w);
        return w[0] == w[1] && w[2] == w[3];
    }
    if (n < sizeof *v || n > 2 * sizeof *v)
        return !memcmp(a, b, n);
    memcpy(&v[0], a, sizeof *v);
    memcpy(&v[1], b, sizeof *v);
    memcpy(&v[2], a + n - sizeof *v, sizeof *v);
    memcpy(&v[3], b + n - sizeof *v, sizeof *v);
    return v[0] == v[1] && v[2] == v[3];
}

static bool
is_copy(const Comparer *c, const ReferencePatch *r, int bits)
{
    for (i64 k = 0; k < r->outer.n; k++)
        if (!same_bytes(c->dst + (r->to + k * r->outer.to) * bits / 8,
                        c->src + (r->from + k * r->outer.from) * bits / 8,
                        (size_t)(r->inner.n * bits / 8)))
            return false;
    return true;
}

/* Whether each row of a patch is the same bytes on both sides. */
static bool
has_bytes(const ReferencePatch *r, int bits)
{
    i64 ends = r->to | r->from | r->inner.n;
    if (r->outer.n > 1)
        ends |= r->outer.to | r->outer.from;
    return r->inner.to == 1 && r->inner.from == 1 && ends * bits % 8 == 0;
}

__attribute__((always_inline)) static inline bool
is_right(const Comparer *c, const ReferencePatch *r, int bits)
{
    bool dense = r->inner.to == 1 && bits >= 8 && r->inner.n <= REFERENCE_TILE;
    if (r->from < 0 && r->from != FROM_HOLE && fills_bytes(r, bits))
        return is_fill(c, r, bits);
    if (r->from < 0)
        return r->from == FROM_HOLE || has_fill(c, r, bits);
    if (has_bytes(r, bits))
        return is_copy(c, r, bits);
    if (dense && r->outer.n > 1 && r->outer.from == 1 && bits <= 64)
        return is_turned(c, r, bits);
    if (r->outer.n > 1 && bits_turn(r, bits))
        return bits_turned_same(c->dst, c->src, r, bits);
    return is_same(c->dst, c->src, r, bits);
}

static bool
patch_right(const Comparer *c, const ReferencePatch *r)
{
    int bits = c->p->dst->dtype->bits;
    switch (bits) {
    case 1: return is_right(c, r, 1);
    case 4: return is_right(c, r, 4);
    case 8: return is_right(c, r, 8);
    case 16: return is_right(c, r, 16);
    case 32: return is_right(c, r, 32);
    case 64: return is_right(c, r, 64);
    default: return is_right(c, r, bits);
    }
}

/* A patch that differs is looked at again, one slot at a time. */
static void
compare_patch(void *arg, const ReferencePatch *r)
{
    Comparer *c = arg;
    ReferencePatch one = {.inner.n = 1, .outer.n = 1};
    if (patch_right(c, r))
        return;
    for (i64 k = 0; k < r->outer.n; k++)
        for (i64 i = 0; i < r->inner.n; i++) {
            one.to = r->to + k * r->outer.to + i * r->inner.to;
            one.from = r->from + k * r->outer.from + i * r->inner.from;
            if (one.to < c->wrong && !patch_right(c, &one))
                c->wrong = one.to;
        }
}

static ReferencePatch
run_of(const ReferenceLine *r, int i)
{
    ReferencePatch p = {r->to[i], r->from[i], r->run[i], {1, 0, 0}};
    p.inner.from = p.from < 0 ? 0 : p.inner.from;
    return p;
}

/* Most runs of a line are the same bytes: these are compared here, the others as patches. */
__attribute__((always_inline)) static inline bool
is_run_right(const Comparer *c, const ReferenceLine *r, int i, int bits)
{
    const ReferenceSteps *s = &r->run[i];
    i64 to = r->to[i], from = r->from[i];
    if (from < 0 || s->to != 1 || s->from != 1 || (bits < 8 && (to | from | s->n) * bits % 8)) {
        ReferencePatch p = run_of(r, i);
        return patch_right(c, &p);
    }
    return same_bytes(c->dst + to * bits / 8, c->src + from * bits / 8, (size_t)(s->n * bits / 8));
}

/* The memory of later runs is fetched while these are compared. */
__attribute__((always_inline)) static inline bool
are_right(const Comparer *c, const ReferenceLine *r, int bits)
{
    enum { AHEAD = 16 };
    bool right = true;
    for (int i = 0; i < r->n; i++) {
        if (i + AHEAD < r->n) {
            __builtin_prefetch(c->dst + r->to[i + AHEAD] * bits / 8);
            __builtin_prefetch(c->src + r->from[i + AHEAD] * bits / 8);
        }
        right &= is_run_right(c, r, i, bits);
    }
    return right;
}

static void
compare_line(void *arg, const ReferenceLine *r)
{
    Comparer *c = arg;
    int bits = c->p->dst->dtype->bits;
    if (bits == 8    ? are_right(c, r, 8)
        : bits == 16 ? are_right(c, r, 16)
        : bits == 32 ? are_right(c, r, 32)
                     : are_right(c, r, bits))
        return;
    for (int i = 0; i < r->n; i++) {
        ReferencePatch p = run_of(r, i);
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
            uint64_t got = element_get(c->dst, slot, bits, &high_got);
            if ((got ^ element_get(c->src, from + r->from_inner[i], bits, &high)) |
                (high ^ high_got))
                c->wrong = slot < c->wrong ? slot : c->wrong;
        }
    }
}

static void
compare_grid(void *arg, const ReferenceGrid *r)
{
    Comparer *c = arg;
    int bits = c->p->dst->dtype->bits;
    if (bits < 8 && bits_grid_same(c->dst, layout_bytes(c->p->dst), c->src, r, bits))
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
    const ReferenceVisitor v = {compare_row, compare_patch, compare_line, compare_grid};
    Comparer c = {.p = s->p, .dst = s->dst, .src = s->src, .wrong = INF};
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
    set_fill(&c);
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
