/* Plans with run-time extents at shapes that they convert often: the plan of the same request
 * with that shape in numbers, whose kernels and orders are chosen for it.
 *
 * Such a plan is made when the first one has converted SPECIAL_BYTES at the shape, which takes
 * longer than making it, so a shape that comes once or rarely costs little more.  It is one of
 * the cache's plans, like one that the user compiles: both are found by their request. */
#include "library.h"

enum { LEAST_BYTES = 8 << 10, SPECIAL_BYTES = 32 << 20 };

/* The bytes of the elements; 0 if they are few, or do not fit 64 bits. */
static i64
bytes_at(const ravel_plan *p, const int64_t *shape)
{
    i64 n = p->plan->dst->dtype->bits;
    for (int d = 0; d < p->key.rq.rank; d++)
        if (!int_mul(n, shape[d], &n))
            return 0;
    return n / 8 < LEAST_BYTES ? 0 : n / 8;
}

/* Counts the bytes of a shape, in one of a few places by its hash.  True, and the count begins
 * again, once they are many. */
static bool
has_seen(const ravel_plan *p, uint64_t hash, i64 bytes)
{
    SeenShape *s = &p->seen[hash % SEEN];
    if (atomic_exchange_explicit(&s->hash, hash, memory_order_relaxed) != hash)
        atomic_store_explicit(&s->bytes, 0, memory_order_relaxed);
    i64 most = SPECIAL_BYTES, was = atomic_load_explicit(&s->bytes, memory_order_relaxed);
    i64 sum = bytes < most - was ? was + bytes : 0;
    atomic_store_explicit(&s->bytes, sum, memory_order_relaxed);
    return sum == 0;
}

ravel_plan *
special_find(const ravel_plan *p, const int64_t *shape)
{
    ravel_context *cx = p->cx;
    if (!p->seen || p->key.rq.rank != p->plan->src->rank)
        return NULL;
    const i64 bytes = bytes_at(p, shape);
    if (bytes == 0)
        return NULL;
    const Key k = key_at(&p->key, shape);
    const Known *known = cache_known(p);
    ravel_plan *q = cache_find(&cx->cache, &k, known, cx->wisdom);
    if (!q && cache_holds(&cx->cache) && has_seen(p, k.hash, bytes) &&
        ravel_plan_bytes_at(p, shape, NULL, NULL, NULL) == RAVEL_OK)
        q = plan_for(cx, &k, known);
    return q;
}
