/* Plans with run-time extents at shapes that they convert often: the plan of the same request
 * with that shape in numbers, whose kernels and orders are chosen for it.
 *
 * Such a plan is made when the first one has converted SPECIAL_BYTES at the shape, which takes
 * longer than making it, so a shape that comes once or rarely costs little more.  It is one of
 * the cache's plans, like one that the user compiles: both are found by their request.  If it
 * cannot be made, or the cache does not keep it, the next attempt comes after twice as many
 * bytes. */
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

static i64
get(const _Atomic i64 *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}

static void
set(_Atomic i64 *x, i64 v)
{
    atomic_store_explicit(x, v, memory_order_relaxed);
}

/* The place of a shape: of two the one that has it, else the one with fewer bytes. */
static SeenShape *
place_of(const ravel_plan *p, uint64_t hash)
{
    SeenShape *a = &p->seen[hash % SEEN], *b = &p->seen[(hash >> 32) % SEEN];
    if (atomic_load_explicit(&a->hash, memory_order_relaxed) == hash)
        return a;
    if (atomic_load_explicit(&b->hash, memory_order_relaxed) == hash)
        return b;
    return get(&a->bytes) <= get(&b->bytes) ? a : b;
}

/* Counts the bytes of a shape; those of another shape in its place are taken away from the
 * latter, until the place is free.  True once they are many.  Threads that count together may
 * lose bytes, which delays the plan. */
static bool
is_due(const ravel_plan *p, uint64_t hash, i64 bytes)
{
    SeenShape *s = place_of(p, hash);
    i64 was = get(&s->bytes), due = get(&s->due);
    if (atomic_load_explicit(&s->hash, memory_order_relaxed) != hash) {
        set(&s->bytes, was - bytes);
        if (was > bytes)
            return false;
        atomic_store_explicit(&s->hash, hash, memory_order_relaxed);
        was = 0;
        set(&s->due, due = SPECIAL_BYTES);
    }
    bool many = bytes >= due - was;
    set(&s->bytes, many ? 0 : was + bytes);
    if (many)
        set(&s->due, due < INF / 2 ? 2 * due : due);
    return many;
}

ravel_plan *
special_find(const ravel_plan *p, const int64_t *shape)
{
    ravel_context *cx = p->cx;
    const Known *known;
    const i64 bytes = bytes_at(p, shape);
    if (bytes == 0)
        return NULL;
    const Key k = key_at(&p->key, shape);
    ravel_plan *q = cache_find_like(&cx->cache, &k, p, cx->wisdom, &known);
    if (!q && known && is_due(p, k.hash, bytes) &&
        ravel_plan_bytes_at(p, shape, NULL, NULL, NULL) == RAVEL_OK)
        q = plan_for(cx, &k, known);
    return q;
}
