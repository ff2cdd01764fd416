/* Index stamps: a relayout never looks at its data, so when every slot of the source
 * holds its own number and the right ones arrive, the code is right for its shape.
 *
 * Padding and holes of the source are slots like others: reading one instead of an
 * element shows.  Numbers wider than an element go in several passes, a part of
 * their bits each.  One more run has every bit the other way, so that a fill is not
 * taken for a stamp that happens to be the same.  The runs from several threads have
 * the other poison too, so that what was not written is not taken for what should
 * have been. */
#include "proof.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence.h"

enum { THREADS = 4 };
/* Bytes of both buffers beyond which fewer threads run, or threads fewer times. */
static const size_t LARGE = (size_t)1 << 28, LONG = (size_t)1 << 20;
static const unsigned char POISON = 0xa5;

/* The buffers of one thread. */
typedef struct {
    Fence src, dst;
} Lane;

struct Proof {
    const Plan *p;
    SlotMap map;
    i64 slots;            /* of the source */
    int bits, passes, nlanes, rounds;
    Lane lane[THREADS];
};

/* What the buffers hold before a run. */
typedef struct {
    int pass;             /* which part of the numbers */
    bool flipped;
    unsigned char poison;
    FenceSide side;
} Shot;

void
proof_free(Proof *q)
{
    for (int i = 0; q && i < q->nlanes; i++) {
        fence_free(&q->lane[i].src);
        fence_free(&q->lane[i].dst);
    }
    if (q)
        free(q->map.from);
    free(q);
}

static int
passes_for(i64 slots, int bits)
{
    int n = 1;
    while (bits < 64 && n * bits < 63 && (slots - 1) >> (n * bits))
        n++;
    return n;
}

ravel_status
proof_new(const Plan *p, bool pages, Proof **out, ravel_error *err)
{
    const char *why = NULL;
    Proof *q = *out = calloc(1, sizeof *q);
    if (!q)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    size_t n = (size_t)layout_bytes(p->src), m = (size_t)layout_bytes(p->dst);
    q->p = p;
    q->bits = p->src->dtype->bits;
    q->slots = (i64)n * 8 / q->bits;
    q->passes = passes_for(q->slots, q->bits);
    q->rounds = n + m > LONG ? 1 : 3;
    bool ok = reference_map(p, &q->map, &why);
    for (int lanes = n + m > LARGE ? 2 : THREADS; ok && !why && q->nlanes < lanes;) {
        Lane *l = &q->lane[q->nlanes++];
        ok = fence_new(&l->src, n, pages) && fence_new(&l->dst, m, pages);
    }
    if (ok && !why)
        return RAVEL_OK;
    proof_free(q);
    *out = NULL;
    return ok ? error_set(err, RAVEL_ERR_VERIFY, "%s", why)
              : error_set(err, RAVEL_ERR_MEMORY, "out of memory");
}

typedef struct {
    uint64_t low, high;
} Value;

static uint64_t
mask_of(int bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static Value
stamp(const Proof *q, const Shot *s, i64 slot)
{
    uint64_t v = q->bits >= 64 ? (uint64_t)slot : (uint64_t)slot >> (s->pass * q->bits);
    v = s->flipped ? ~v : v;
    return (Value){v & mask_of(q->bits), q->bits > 64 ? ~v : 0};
}

static Value
poison_at(const Proof *q, const Shot *s, i64 slot)
{
    uint64_t all = s->poison * (UINT64_MAX / 0xff);
    if (q->bits < 8)
        all >>= slot * q->bits % 8;
    return (Value){all & mask_of(q->bits), q->bits > 64 ? all : 0};
}

/* What a slot of the destination must hold after a run. */
static Value
expected(const Proof *q, const Shot *s, i64 slot)
{
    i64 from = q->map.from[slot];
    if (from >= 0)
        return stamp(q, s, from);
    return from == FROM_HOLE ? poison_at(q, s, slot)
                             : (Value){q->p->dst->fill[0], q->p->dst->fill[1]};
}

static bool
holds(const Proof *q, const Fence *f, i64 slot, Value want, Value *got)
{
    got->low = element_get(f->p, slot, q->bits, &got->high);
    return got->low == want.low && got->high == want.high;
}

static void
prepare(const Proof *q, Lane *l, const Shot *s)
{
    fence_place(&l->src, s->side);
    fence_place(&l->dst, s->side);
    for (i64 i = 0; i < q->slots; i++) {
        Value v = stamp(q, s, i);
        element_set(l->src.p, i, q->bits, v.low, v.high);
    }
    memset(l->dst.p, s->poison, l->dst.n);
    fence_lock(&l->src, true);
}

/* "(0,3)", or what else the slot is. */
static void
name_slot(const Proof *q, i64 slot, char *text, size_t n)
{
    i64 x[MAX_RANK];
    const Layout *d = q->p->dst;
    if (q->map.from[slot] == FROM_HOLE || !reference_find(q->p, slot, x)) {
        snprintf(text, n, "a hole");
        return;
    }
    bool pad = false;
    size_t at = 0;
    for (int i = 0; i < d->rank; i++)
        pad |= x[i] >= d->dim[i].n;
    at += (size_t)snprintf(text, n, "%s(", pad ? "padding " : "");
    for (int i = 0; i < d->rank && at < n; i++)
        at += (size_t)snprintf(text + at, n - at, "%s%lld", i ? "," : "",
                               (long long)x[i]);
    if (at < n)
        snprintf(text + at, n - at, ")");
}

static ravel_status
wrong_slot(const Proof *q, i64 slot, Value got, Value want, ravel_error *err)
{
    char name[256];
    name_slot(q, slot, name, sizeof name);
    if (q->map.from[slot] == FROM_HOLE)
        return error_set(err, RAVEL_ERR_VERIFY, "slot %lld of the destination, %s, is "
                         "written to", (long long)slot, name);
    return error_set(err, RAVEL_ERR_VERIFY, "slot %lld of the destination, %s, is "
                     "0x%llx%s, the layouts say 0x%llx", (long long)slot, name,
                     (unsigned long long)got.low,
                     got.low == want.low ? " (and differs above 64 bits)" : "",
                     (unsigned long long)want.low);
}

void
proof_place_text(const ProofPlace *at, char *text, size_t n)
{
    const char *side = at->source ? "source" : "destination";
    if (!at->known)
        snprintf(text, n, "it touches memory that is neither of its buffers'");
    else if (at->byte < 0)
        snprintf(text, n, "it touches byte %lld before its %s", (long long)-at->byte,
                 side);
    else if (at->byte >= at->bytes)
        snprintf(text, n, "it touches byte %lld after its %s",
                 (long long)(at->byte - at->bytes + 1), side);
    else
        snprintf(text, n, "it writes to byte %lld of its %s", (long long)at->byte, side);
}

static ravel_status
check_fence(const Fence *f, bool source, ravel_error *err)
{
    char text[128];
    ProofPlace at = {.known = true, .source = source, .bytes = (i64)f->n};
    if (fence_stands(f, &at.byte))
        return RAVEL_OK;
    proof_place_text(&at, text, sizeof text);
    return error_set(err, RAVEL_ERR_VERIFY, "%s", text);
}

/* The buffers of a lane after a run. */
static ravel_status
check_lane(const Proof *q, Lane *l, const Shot *s, ravel_error *err)
{
    Value got, want;
    fence_lock(&l->src, false);
    if (check_fence(&l->src, true, err) || check_fence(&l->dst, false, err))
        return RAVEL_ERR_VERIFY;
    for (i64 i = 0; i < q->slots && !l->src.pages; i++)   /* pages are locked */
        if (!holds(q, &l->src, i, stamp(q, s, i), &got))
            return error_set(err, RAVEL_ERR_VERIFY, "it writes to slot %lld of its "
                             "source", (long long)i);
    for (i64 i = 0; i < q->map.n; i++)
        if (!holds(q, &l->dst, i, want = expected(q, s, i), &got))
            return wrong_slot(q, i, got, want, err);
    return RAVEL_OK;
}

static ravel_status
one_run(Proof *q, Relayout *run, Shot s, ravel_error *err)
{
    Lane *l = &q->lane[0];
    prepare(q, l, &s);
    run(l->dst.p, l->src.p);
    return check_lane(q, l, &s, err);
}

/* A thread of a round: it waits for the others, so that they run at once. */
typedef struct {
    pthread_t thread;
    const Lane *lane;
    Relayout *run;
    atomic_int *go;
} Runner;

static void *
runner(void *arg)
{
    Runner *r = arg;
    while (!atomic_load(r->go))
        sched_yield();
    r->run(r->lane->dst.p, r->lane->src.p);
    return NULL;
}

static Shot
shot_of_thread(const Proof *q, int t)
{
    return (Shot){t / 2 % q->passes, t % 2, t % 2 ? POISON : (unsigned char)~POISON,
                  AGAINST_END};
}

/* All lanes at once, each with stamps of its own. */
static ravel_status
one_round(Proof *q, Relayout *run, ravel_error *err)
{
    Runner r[THREADS];
    atomic_int go = 0;
    int n = 0;
    ravel_status s = RAVEL_OK;
    for (int t = 0; t < q->nlanes; t++) {
        Shot shot = shot_of_thread(q, t);
        prepare(q, &q->lane[t], &shot);
        r[t] = (Runner){.lane = &q->lane[t], .run = run, .go = &go};
    }
    while (n < q->nlanes && !pthread_create(&r[n].thread, NULL, runner, &r[n]))
        n++;
    atomic_store(&go, 1);
    for (int t = 0; t < n; t++)
        pthread_join(r[t].thread, NULL);
    if (n < q->nlanes)
        s = error_set(err, RAVEL_ERR_MEMORY, "no thread can be started");
    for (int t = 0; s == RAVEL_OK && t < n; t++) {
        Shot shot = shot_of_thread(q, t);
        s = check_lane(q, &q->lane[t], &shot, err);
    }
    return s;
}

ravel_status
proof_run(Proof *q, Relayout *run, ravel_certificate *out, ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    for (int pass = 0; s == RAVEL_OK && pass < q->passes; pass++)
        s = one_run(q, run, (Shot){pass, false, POISON, AGAINST_END}, err);
    if (s == RAVEL_OK)
        s = one_run(q, run, (Shot){0, true, POISON, AGAINST_START}, err);
    for (int i = 0; s == RAVEL_OK && i < q->rounds; i++)
        s = one_round(q, run, err);
    out->passes = q->passes;
    out->runs = q->passes + 1 + q->rounds * q->nlanes;
    out->threads = q->nlanes;
    out->guard_pages = q->lane[0].src.pages;
    out->stamped = q->slots;
    out->elements = q->map.elements;
    out->padding = q->map.padding;
    out->holes = q->map.n - q->map.elements - q->map.padding;
    return s;
}

ProofPlace
proof_locate(const Proof *q, const void *at)
{
    ProofPlace x = {0};
    for (int i = 0; i < q->nlanes && !x.known; i++)
        for (int s = 0; s < 2 && !x.known; s++) {
            const Fence *f = s ? &q->lane[i].src : &q->lane[i].dst;
            x = (ProofPlace){.source = s, .bytes = (i64)f->n};
            x.known = fence_near(f, at, &x.byte);
        }
    return x;
}
