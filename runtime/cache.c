/* The cache of a context's plans; a request is the key.
 *
 * One lock serves all contexts.  It is held during a look-up. */
#include <string.h>

#include "library.h"
#include "lock.h"

enum { PLANS = 256, BYTES = 64 << 20 };

void
cache_init(Cache *c)
{
    c->most = PLANS;
    c->most_bytes = BYTES;
}

static bool
is_loaded(const LayoutDef *def, const Known *known)
{
    const LayoutDef *d = known ? known->loaded : NULL;
    while (d && d != def)
        d = d->next;
    return d;
}

/* Whether the name of the layout, which `was` has, denotes the same layout in `known`.  This
 * may be older: then the library's layout can have the name of one that was loaded. */
static bool
still_known(const LayoutDef *def, const Known *was, const Known *known)
{
    def = layout_declared(def);
    const LayoutDef *newest = known ? known->loaded : NULL;
    while (!def->is_inline && newest && strcmp(newest->name, def->name))
        newest = newest->next;
    return def->is_inline || (newest ? newest == def : !is_loaded(def, was));
}

static bool
current(ravel_plan *p, const Known *known, const Wisdom *wisdom)
{
    if (!wisdom_current(&p->wisdom, wisdom))
        return false;
    return p->known == known || (still_known(p->plan->src->ref->def, p->known, known) &&
                                 still_known(p->plan->dst->ref->def, p->known, known));
}

/* Insert into the list of uses, as the newest. */
static void
link_newest(Cache *c, ravel_plan *p)
{
    p->older = c->newest;
    p->newer = NULL;
    *(c->newest ? &c->newest->newer : &c->oldest) = p;
    c->newest = p;
}

static void
unlink_use(Cache *c, ravel_plan *p)
{
    *(p->older ? &p->older->newer : &c->oldest) = p->newer;
    *(p->newer ? &p->newer->older : &c->newest) = p->older;
}

static ravel_plan **
bucket_of(Cache *c, const Key *k)
{
    return &c->bucket[k->hash >> 32 & (BUCKETS - 1)];
}

static ravel_plan **
find(Cache *c, const Key *k)
{
    ravel_plan **at = bucket_of(c, k);
    while (*at && !key_same(&(*at)->key, k))
        at = &(*at)->next;
    return at;
}

/* Move from the cache to the list of plans to free. */
static void
drop(Cache *c, ravel_plan **at, ravel_plan **gone)
{
    ravel_plan *p = *at;
    *at = p->next;
    unlink_use(c, p);
    c->n--;
    c->bytes -= p->bytes;
    p->next = *gone;
    *gone = p;
}

/* Evict the least recently used plans until the limits hold. */
static void
shrink(Cache *c, i64 plans, i64 bytes, ravel_plan **gone)
{
    while (c->n > plans || c->bytes > bytes)
        drop(c, find(c, &c->oldest->key), gone);
}

static void
let_go(ravel_plan *gone)
{
    for (ravel_plan *next; gone; gone = next) {
        next = gone->next;
        ravel_plan_free(gone);
    }
}

/* Find the plan and count one more user, under the lock. */
static ravel_plan *
use(Cache *c, const Key *k, const Known *known, const Wisdom *wisdom)
{
    ravel_plan *p = *find(c, k);
    if (p && !current(p, known, wisdom))
        p = NULL;
    if (p) {
        p->known = known;
        unlink_use(c, p);
        link_newest(c, p);
        atomic_fetch_add(&p->users, 1);
    }
    return p;
}

ravel_plan *
cache_find(Cache *c, const Key *k, const Known *known, const Wisdom *wisdom)
{
    lock_take(LOCK_PLANS);
    ravel_plan *p = use(c, k, known, wisdom);
    lock_give(LOCK_PLANS);
    return p;
}

ravel_plan *
cache_find_like(Cache *c, const Key *k, const ravel_plan *like, const Wisdom *wisdom,
                const Known **known)
{
    lock_take(LOCK_PLANS);
    *known = like->known;
    ravel_plan *p = use(c, k, *known, wisdom);
    if (c->most == 0 || c->most_bytes == 0)
        *known = NULL;
    lock_give(LOCK_PLANS);
    return p;
}

void
cache_add(Cache *c, ravel_plan *p)
{
    ravel_plan *gone = NULL;
    lock_take(LOCK_PLANS);
    ravel_plan **at = find(c, &p->key);
    if (*at)
        drop(c, at, &gone);
    if (c->most > 0 && p->bytes <= c->most_bytes) {
        shrink(c, c->most - 1, c->most_bytes - p->bytes, &gone);
        at = bucket_of(c, &p->key);
        p->next = *at;
        *at = p;
        link_newest(c, p);
        c->n++;
        c->bytes += p->bytes;
        atomic_fetch_add(&p->users, 1);
    }
    lock_give(LOCK_PLANS);
    let_go(gone);
}

void
cache_bound(Cache *c, i64 plans, i64 bytes)
{
    ravel_plan *gone = NULL;
    lock_take(LOCK_PLANS);
    c->most = plans;
    c->most_bytes = bytes;
    shrink(c, plans, bytes, &gone);
    lock_give(LOCK_PLANS);
    let_go(gone);
}
