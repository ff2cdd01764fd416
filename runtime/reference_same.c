/* Whether what a walk visits has the right contents: many slots at once. */
#include "reference_same.h"

#include "element.h"
#include "reference_bits.h"

/* Whether each row of a patch of padding is whole bytes without gaps. */
static bool
fills_bytes(const ReferencePatch *r, int bits)
{
    i64 ends = r->to | r->inner.n | (r->outer.n > 1 ? r->outer.to : 0);
    return r->inner.to == 1 && ends * bits % 8 == 0;
}

static bool
is_fill(const Compared *c, const ReferencePatch *r, int bits)
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

/* Inlined where `bits` is a constant. */
__attribute__((always_inline)) static inline bool
has_fill(const Compared *c, const ReferencePatch *r, int bits)
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
is_turned(const Compared *c, const ReferencePatch *r, int bits)
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
is_copy(const Compared *c, const ReferencePatch *r, int bits)
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
is_right(const Compared *c, const ReferencePatch *r, int bits)
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

bool
same_patch(const Compared *c, const ReferencePatch *r)
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

ReferencePatch
same_run(const ReferenceLine *r, int i)
{
    ReferencePatch p = {r->to[i], r->from[i], r->run[i], {1, 0, 0}};
    p.inner.from = p.from < 0 ? 0 : p.inner.from;
    return p;
}

/* Most runs of a line are the same bytes: these are compared here, the others as patches. */
__attribute__((always_inline)) static inline bool
is_run_right(const Compared *c, const ReferenceLine *r, int i, int bits)
{
    const ReferenceSteps *s = &r->run[i];
    i64 to = r->to[i], from = r->from[i];
    if (from < 0 || s->to != 1 || s->from != 1 || (bits < 8 && (to | from | s->n) * bits % 8)) {
        ReferencePatch p = same_run(r, i);
        return same_patch(c, &p);
    }
    return same_bytes(c->dst + to * bits / 8, c->src + from * bits / 8, (size_t)(s->n * bits / 8));
}

/* The memory of later runs is fetched while these are compared. */
__attribute__((always_inline)) static inline bool
are_right(const Compared *c, const ReferenceLine *r, int bits)
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

/* Whether runs of `size` bytes each are the same.  Inlined where the size is a constant. */
__attribute__((always_inline)) static inline bool
are_even_same(const Compared *c, const ReferenceLine *r, int bits, size_t size)
{
    uint64_t wrong = 0, v, w, starts = 0;
    for (int i = 0; i < r->n; i++) {
        uint64_t to = (uint64_t)r->to[i] * (unsigned)bits, from = (uint64_t)r->from[i] * (unsigned)bits;
        starts |= to | from;
        for (size_t at = 0, part = size < sizeof v ? size : sizeof v; at < size; at += part) {
            v = w = 0;
            memcpy(&v, c->dst + to / 8 + at, part);
            memcpy(&w, c->src + from / 8 + at, part);
            wrong |= v ^ w;
        }
    }
    return wrong == 0 && starts % 8 == 0;
}

/* False where nothing is known, too. */
static bool
are_even_right(const Compared *c, const ReferenceLine *r)
{
    int bits = c->p->dst->dtype->bits;
    switch (r->each * bits) {
    case 16: return are_even_same(c, r, bits, 2);
    case 32: return are_even_same(c, r, bits, 4);
    case 64: return are_even_same(c, r, bits, 8);
    case 128: return are_even_same(c, r, bits, 16);
    case 256: return are_even_same(c, r, bits, 32);
    default: return false;
    }
}

bool
same_line(const Compared *c, const ReferenceLine *r)
{
    int bits = c->p->dst->dtype->bits;
    if (are_even_right(c, r))
        return true;
    return bits == 8    ? are_right(c, r, 8)
           : bits == 16 ? are_right(c, r, 16)
           : bits == 32 ? are_right(c, r, 32)
                        : are_right(c, r, bits);
}

/* Whether n groups of `size` bytes are the same.  Inlined where the size is a constant. */
__attribute__((always_inline)) static inline bool
are_groups_same(const unsigned char *moved, const unsigned char *plain, const ReferenceGroups *r,
                int bits, size_t size)
{
    uint64_t wrong = 0, v, w;
    for (i64 i = 0; i < r->groups; i++)
        for (size_t at = 0, part = size < sizeof v ? size : sizeof v; at < size; at += part) {
            v = w = 0;
            memcpy(&v, moved + (uint64_t)r->place[i] * (unsigned)bits / 8 + at, part);
            memcpy(&w, plain + (uint64_t)i * size + at, part);
            wrong |= v ^ w;
        }
    return wrong == 0;
}

bool
same_groups(const Compared *c, const ReferenceGroups *r)
{
    int bits = c->p->dst->dtype->bits;
    const unsigned char *moved = r->of_source ? c->src : c->dst, *plain = r->of_source ? c->dst : c->src;
    size_t size = (size_t)r->n * (size_t)bits / 8;
    if ((r->plain | r->n) * bits % 8)
        return false;
    moved += r->moved * bits / 8;
    plain += r->plain * bits / 8;
    switch (size) {
    case 1: return are_groups_same(moved, plain, r, bits, 1);
    case 2: return are_groups_same(moved, plain, r, bits, 2);
    case 4: return are_groups_same(moved, plain, r, bits, 4);
    case 8: return are_groups_same(moved, plain, r, bits, 8);
    case 16: return are_groups_same(moved, plain, r, bits, 16);
    case 32: return are_groups_same(moved, plain, r, bits, 32);
    default: return are_groups_same(moved, plain, r, bits, size);
    }
}

/* Whether the inner coordinates are pairs of neighbours on both sides. */
static bool
are_pairs(const ReferenceGrid *r)
{
    i64 apart = r->n % 2;
    for (int i = 0; i + 1 < r->n; i += 2)
        apart |= (r->to_inner[i + 1] - r->to_inner[i] - 1) |
                 (r->from_inner[i + 1] - r->from_inner[i] - 1);
    return !apart;
}

/* Inlined where `size`, of a pair in bytes, is a constant. */
__attribute__((always_inline)) static inline bool
pairs_same(const Compared *c, const ReferenceGrid *r, size_t size)
{
    uint64_t wrong = 0, v = 0, w = 0;
    const i64 bytes = (i64)size / 2;
    for (int k = 0; k < r->rows; k++) {
        const unsigned char *dst = c->dst + (r->to + r->to_outer[k]) * bytes;
        const unsigned char *src = c->src + (r->from + r->from_outer[k]) * bytes;
        for (int i = 0; i < r->n; i += 2) {
            memcpy(&v, dst + r->to_inner[i] * bytes, size);
            memcpy(&w, src + r->from_inner[i] * bytes, size);
            wrong |= v ^ w;
        }
    }
    return !wrong;
}

bool
same_grid(const Compared *c, const ReferenceGrid *r)
{
    int bits = c->p->dst->dtype->bits;
    if (bits < 8)
        return bits_grid_same(c->dst, layout_bytes(c->p->dst), c->src, r, bits);
    if (bits > 32 || !are_pairs(r))
        return false;
    return bits == 8    ? pairs_same(c, r, 2)
           : bits == 16 ? pairs_same(c, r, 4)
                        : pairs_same(c, r, 8);
}
