/* Proof by index stamps: a relayout never looks at the data, so when every element
 * carries its own number and all arrive where the layouts say, the code is right for
 * its shape.  Numbers wider than an element go in several passes. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

enum { GUARD = 256 };
static const unsigned char POISON = 0xa5, GUARD_BYTE = 0x5a;

/* A buffer between two guards. */
typedef struct {
    unsigned char *mem, *p;
    size_t n;
} Guarded;

static bool
guarded_new(Guarded *g, i64 n)
{
    g->n = (size_t)n;
    g->mem = malloc(g->n + 2 * GUARD);
    if (!g->mem)
        return false;
    memset(g->mem, GUARD_BYTE, g->n + 2 * GUARD);
    g->p = g->mem + GUARD;
    memset(g->p, POISON, g->n);
    return true;
}

static bool
guards_intact(const Guarded *g)
{
    for (size_t i = 0; i < GUARD; i++)
        if (g->mem[i] != GUARD_BYTE || g->p[g->n + i] != GUARD_BYTE)
            return false;
    return true;
}

/* Part `pass` of every element's number into the source. */
static i64
stamp(const Addresser *a, const Layout *l, unsigned char *src, int pass)
{
    int bits = l->dtype->bits;
    i64 x[MAX_RANK] = {0}, n = 0;
    do {
        uint64_t v = bits >= 64 ? (uint64_t)n : (uint64_t)n >> (pass * bits);
        element_set(src, addresser_at(a, x), bits, v, ~v);
        n++;
    } while (layout_next(l, false, x));
    return n;
}

static ravel_status
differs(const Guarded *got, const Guarded *want, ravel_error *err)
{
    size_t i = 0;
    while (i < got->n && got->p[i] == want->p[i])
        i++;
    if (i == got->n)
        return RAVEL_OK;
    return error_set(err, RAVEL_ERR_VERIFY,
                     "byte %zu of the destination is 0x%02x, the layouts say 0x%02x", i,
                     got->p[i], want->p[i]);
}

/* The buffers of a proof. */
typedef struct {
    Guarded src, dst, want;
    unsigned char *before;         /* the source as it was */
    Addresser *from;
} Proof;

static void
proof_free(Proof *q)
{
    free(q->src.mem);
    free(q->dst.mem);
    free(q->want.mem);
    free(q->before);
    addresser_free(q->from);
}

static bool
proof_new(Proof *q, const ravel_plan *p)
{
    i64 n = ravel_plan_src_bytes(p), m = ravel_plan_dst_bytes(p);
    return guarded_new(&q->src, n) && guarded_new(&q->dst, m) &&
           guarded_new(&q->want, m) && (q->before = malloc((size_t)n)) &&
           (q->from = addresser_new(p->plan->src));
}

/* Stamp, run, compare; *elements is how many there are. */
static ravel_status
one_pass(const ravel_plan *p, Proof *q, int pass, i64 *elements, ravel_error *err)
{
    memset(q->src.p, POISON, q->src.n);
    memset(q->dst.p, POISON, q->dst.n);
    memset(q->want.p, POISON, q->want.n);
    *elements = stamp(q->from, p->plan->src, q->src.p, pass);
    memcpy(q->before, q->src.p, q->src.n);
    if (!reference_run(p->plan, q->want.p, q->src.p))
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    p->run(q->dst.p, q->src.p);
    if (memcmp(q->before, q->src.p, q->src.n) || !guards_intact(&q->src))
        return error_set(err, RAVEL_ERR_VERIFY, "the source was written to");
    if (!guards_intact(&q->dst))
        return error_set(err, RAVEL_ERR_VERIFY, "memory beside the destination was "
                                                "written to");
    return differs(&q->dst, &q->want, err);
}

ravel_status
ravel_verify(const ravel_plan *p, ravel_error *err)
{
    Proof q = {0};
    if (!p)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_verify: plan is NULL");
    ravel_status s = RAVEL_OK;
    if (!proof_new(&q, p))
        s = error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    int bits = p->plan->src->dtype->bits;
    i64 elements = 1;
    for (int pass = 0; s == RAVEL_OK; pass++) {
        s = one_pass(p, &q, pass, &elements, err);
        if (bits >= 64 || (elements - 1) >> ((pass + 1) * bits) == 0)
            break;
    }
    proof_free(&q);
    return s;
}
