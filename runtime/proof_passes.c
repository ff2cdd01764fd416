/* The passes of a proof.  Elements below a byte need many.  What a slot of the destination
 * holds in each of them is gathered: together it is the number of a slot of the source, and the
 * layouts are evaluated once. */
#include <stdlib.h>
#include <string.h>

#include "proof_lane.h"

/* With more slots a number for each takes much memory. */
enum { GATHER_MOST = 1 << 22 };

i64
passes_gathered(int bits, int passes, i64 slots)
{
    bool fits = slots <= GATHER_MOST && passes * bits <= 32;
    return bits < 8 && passes > 2 && fits ? slots : 0;
}

static ravel_status
by_pass(Proof *q, const Code *code, const Shot *first, ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    for (Shot shot = *first; s == RAVEL_OK && shot.pass < q->passes; shot.pass++) {
        s = lane_prepare(q, q->lane, &shot, err);
        if (s != RAVEL_OK)
            return s;
        code->run(code->self, q->lane->dst.p, q->lane->src.p);
        s = lane_check(q, q->lane, err);
    }
    return s;
}

/* Add the bits of n slots; `bits` is constant in each call. */
__attribute__((always_inline))
static inline void
gather_slots(int bits, int shift, const unsigned char *p, i64 n, uint32_t *number)
{
    const int per = 8 / bits;
    for (i64 i = 0; i < n; i += per, p++)
        for (int k = 0; k < per; k++)
            number[i + k] |= (uint32_t)(*p >> k * bits & ((1 << bits) - 1)) << shift;
}

static void
gather(const Proof *q, int pass)
{
    const unsigned char *p = q->lane->dst.p;
    switch (q->bits) {
    case 1: gather_slots(1, pass, p, q->kinds.n, q->number); break;
    case 2: gather_slots(2, pass * 2, p, q->kinds.n, q->number); break;
    default: gather_slots(4, pass * 4, p, q->kinds.n, q->number); break;
    }
}

typedef struct {
    const uint32_t *number;
    uint32_t mask, fill;
    i64 wrong;                     /* the lowest slot; INF: none */
} Numbers;

static bool
check_numbers(void *arg, const ReferenceRow *r)
{
    Numbers *c = arg;
    for (int i = 0; i < r->n; i++) {
        uint32_t want = r->from[i] < 0 ? c->fill : (uint32_t)r->from[i] & c->mask;
        if (r->from[i] != FROM_HOLE && c->number[r->to[i]] != want && r->to[i] < c->wrong)
            c->wrong = r->to[i];
    }
    return true;
}

/* What all bits of a slot are that has the fill in each pass. */
static Numbers
numbers_of(const Proof *q)
{
    Numbers c = {.number = q->number, .wrong = INF};
    for (int i = 0; i < q->passes; i++) {
        c.mask |= ((1u << q->bits) - 1) << i * q->bits;
        c.fill |= (uint32_t)q->p->dst->fill[0] << i * q->bits;
    }
    return c;
}

/* What is wrong is told by the pass that shows it. */
static ravel_status
tell(Proof *q, const Code *code, const Shot *first, i64 slot, ravel_error *err)
{
    ravel_status s = by_pass(q, code, first, err);
    return s == RAVEL_OK ? wrong_slot(q, q->lane, slot, err) : s;
}

ravel_status
prove_passes(Proof *q, const Code *code, ravel_error *err)
{
    Shot first = {0, 0, POISON, place_at_end(q, q->lane->dst.n),
                  place_at_end(q, q->lane->src.n), false};
    if (!q->number)
        return by_pass(q, code, &first, err);
    memset(q->number, 0, (size_t)q->kinds.n * sizeof *q->number);
    for (Shot shot = first; shot.pass < q->passes; shot.pass++) {
        ravel_status s = lane_prepare(q, q->lane, &shot, err);
        if (s != RAVEL_OK)
            return s;
        code->run(code->self, q->lane->dst.p, q->lane->src.p);
        s = lane_check_rest(q, q->lane, err);
        if (s != RAVEL_OK)
            return s;
        gather(q, shot.pass);
    }
    Numbers c = numbers_of(q);
    if (!reference_walk(q->p, check_numbers, &c))
        return no_walk(q, err);
    return c.wrong == INF ? RAVEL_OK : tell(q, code, &first, c.wrong, err);
}
