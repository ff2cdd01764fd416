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
stamp(const Layout *l, unsigned char *src, int pass)
{
    int bits = l->dtype->bits;
    i64 x[MAX_RANK] = {0}, at;
    for (i64 n = 0;; n++) {
        int d = l->rank - 1;
        uint64_t v = bits >= 64 ? (uint64_t)n : (uint64_t)n >> (pass * bits);
        layout_address(l, x, &at);
        element_set(src, at, bits, v, ~v);
        while (d >= 0 && ++x[d] == l->dim[d].n)
            x[d--] = 0;
        if (d < 0)
            return n + 1;
    }
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

static ravel_status
one_pass(const ravel_plan *p, Guarded *src, Guarded *dst, Guarded *want, int pass,
         i64 *elements, ravel_error *err)
{
    memset(src->p, POISON, src->n);
    memset(dst->p, POISON, dst->n);
    memset(want->p, POISON, want->n);
    *elements = stamp(p->plan->src, src->p, pass);
    reference_run(p->plan, want->p, src->p);
    unsigned char *before = malloc(src->n ? src->n : 1);
    if (!before)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    memcpy(before, src->p, src->n);
    p->run(dst->p, src->p);
    bool intact = !memcmp(before, src->p, src->n);
    free(before);
    if (!intact || !guards_intact(src))
        return error_set(err, RAVEL_ERR_VERIFY, "the source was written to");
    if (!guards_intact(dst))
        return error_set(err, RAVEL_ERR_VERIFY, "memory beside the destination was "
                                                "written to");
    return differs(dst, want, err);
}

ravel_status
ravel_verify(const ravel_plan *p, ravel_error *err)
{
    Guarded src = {0}, dst = {0}, want = {0};
    ravel_status s = RAVEL_OK;
    if (!p)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_verify: plan is NULL");
    if (!guarded_new(&src, ravel_plan_src_bytes(p)) ||
        !guarded_new(&dst, ravel_plan_dst_bytes(p)) ||
        !guarded_new(&want, ravel_plan_dst_bytes(p)))
        s = error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    int bits = p->plan->src->dtype->bits;
    i64 elements = 1;
    for (int pass = 0; s == RAVEL_OK; pass++) {
        s = one_pass(p, &src, &dst, &want, pass, &elements, err);
        if (bits >= 64 || (elements - 1) >> ((pass + 1) * bits) == 0)
            break;
    }
    free(src.mem);
    free(dst.mem);
    free(want.mem);
    return s;
}
