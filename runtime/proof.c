/* Index stamps: a relayout never looks at its data, so when every slot of the source
 * holds its own number and the right ones arrive, the code is right for its shape.
 *
 * Padding and holes of the source are slots like others: reading one instead of an
 * element shows.  Numbers wider than an element go in several passes, a part of
 * their bits each.  One more run has every bit the other way, so that a fill is not
 * taken for a stamp that happens to be the same.  The runs from several threads have
 * the other poison too, so that what was not written is not taken for what should
 * have been, and bits turned by a key that each thread has to itself, so that what one
 * leaves to another shows.  What threads share is run part by part, in the orders that
 * threads could take. */
#include "proof.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "fence.h"
#include "threads.h"

enum { THREADS = 4 };
/* Bytes of both buffers beyond which fewer threads run. */
static const size_t LARGE = (size_t)1 << 28;
/* The threads run until they have moved so many slots, at least once. */
enum { ROUND_SLOTS = 1 << 24, ROUNDS_MAX = 8 };
static const unsigned char POISON = 0xa5;
/* Numbers of parts, and the step from one to the next, in a ring; the last is more than
 * small plans have turns. */
static const struct {
    int parts, step;
} splits[] = {{1, 1}, {2, 1}, {3, 2}, {7, 3}, {64, 63}};
/* Of these, how many are told apart byte by byte, and their parts together. */
enum { APART = 4, PARTS_APART = 1 + 2 + 3 + 7 };

/* The buffers of one thread. */
typedef struct {
    Fence src, dst;
} Lane;

struct Proof {
    const Plan *p;
    SlotMap map;
    i64 slots;            /* of the source */
    int bits, passes, threads, rounds;
    int nlanes;           /* that are made */
    Lane lane[THREADS];
};

static const uint64_t key_of_thread[THREADS] = {
    0, UINT64_MAX, UINT64_MAX / 3, UINT64_MAX / 3 * 2};

/* What the buffers hold before a run. */
typedef struct {
    int pass;             /* which part of the numbers */
    uint64_t key;         /* the bits of a number that are the other way */
    unsigned char poison;
    FenceSide side;
    bool beside;          /* other threads run at once */
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

static i64
plus(i64 a, i64 b)
{
    i64 r;
    return int_add(a, b, &r) ? r : INF;
}

static i64
times(i64 a, i64 b)
{
    i64 r;
    return int_mul(a, b, &r) ? r : INF;
}

static i64
slots_of(const Layout *l)
{
    i64 n = times(layout_bytes(l), 8);
    return n == INF ? INF : n / l->dtype->bits;
}

/* How the plan is proved. */
static Proof
method(const Plan *p)
{
    Proof q = {.p = p, .bits = p->src->dtype->bits, .slots = slots_of(p->src)};
    size_t n = (size_t)layout_bytes(p->src), m = (size_t)layout_bytes(p->dst);
    q.passes = passes_for(q.slots, q.bits);
    q.threads = n + m > LARGE ? 2 : THREADS;
    i64 all = times(plus(q.slots, slots_of(p->dst)), q.threads);
    i64 rounds = ROUND_SLOTS / (all + !all);
    q.rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : (int)rounds;
    return q;
}

static int
runs_of(const Proof *q)
{
    return q->passes + 1 + q->rounds * q->threads;
}

i64
proof_slots(const Plan *p)
{
    Proof q = method(p);
    int runs = runs_of(&q) + (p->split ? LEN(splits) + 2 * PARTS_APART : 0);
    return times(plus(q.slots, slots_of(p->dst)), runs);
}

i64
proof_bytes(const Plan *p)
{
    Proof q = method(p);
    i64 lane = plus((i64)fence_bytes((size_t)layout_bytes(p->src)),
                    (i64)fence_bytes((size_t)layout_bytes(p->dst)));
    i64 map = times(slots_of(p->dst), (i64)sizeof *q.map.from);
    i64 tables = plus(addresser_bytes(p->src), addresser_bytes(p->dst));
    return plus(plus(times(lane, q.threads), map), plus(tables, (i64)sizeof q));
}

ravel_status
proof_new(const Plan *p, bool pages, Proof **out, ravel_error *err)
{
    const char *why = NULL;
    Proof *q = *out = proof_bytes(p) == INF ? NULL : calloc(1, sizeof *q);
    if (!q)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    *q = method(p);
    size_t n = (size_t)layout_bytes(p->src), m = (size_t)layout_bytes(p->dst);
    bool ok = reference_map(p, &q->map, &why);
    while (ok && !why && q->nlanes < q->threads) {
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
    v ^= s->key;
    return (Value){v & mask_of(q->bits), q->bits > 64 ? ~v : 0};
}

/* The slot of the source whose number this is, or -1; beside other threads it may be
 * one of theirs. */
static i64
stamped(const Proof *q, const Shot *s, Value v)
{
    uint64_t slot = (v.low ^ s->key) & mask_of(q->bits);
    bool is = q->passes == 1 && !s->beside && slot < (uint64_t)q->slots &&
              v.high == stamp(q, s, (i64)slot).high;
    return is ? (i64)slot : -1;
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
static inline Value
expected(const Proof *q, const Shot *s, i64 slot)
{
    i64 from = q->map.from[slot];
    if (from >= 0)
        return stamp(q, s, from);
    return from == FROM_HOLE ? poison_at(q, s, slot)
                             : (Value){q->p->dst->fill[0], q->p->dst->fill[1]};
}

static bool
same(Value a, Value b)
{
    return a.low == b.low && a.high == b.high;
}

static bool
holds(const Proof *q, const Fence *f, i64 slot, Value want, Value *got)
{
    got->low = element_get(f->p, slot, q->bits, &got->high);
    return same(*got, want);
}

static ravel_status
lock(Lane *l, bool locked, ravel_error *err)
{
    if (fence_lock(&l->src, locked))
        return RAVEL_OK;
    return error_set(err, RAVEL_ERR_MEMORY, "the source's pages cannot be %s: %s",
                     locked ? "locked" : "unlocked", strerror(errno));
}

static ravel_status
prepare(const Proof *q, Lane *l, const Shot *s, ravel_error *err)
{
    fence_place(&l->src, s->side);
    fence_place(&l->dst, s->side);
    for (i64 i = 0; i < q->slots; i++) {
        Value v = stamp(q, s, i);
        element_set(l->src.p, i, q->bits, v.low, v.high);
    }
    memset(l->dst.p, s->poison, l->dst.n);
    return lock(l, true, err);
}

/* "(0,3)", or what else the slot is. */
static void
name_slot(const Layout *d, i64 slot, char *text, size_t n)
{
    i64 x[MAX_RANK];
    if (!reference_find(d, slot, x)) {
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

/* "0x17 of source slot 23, (3,0)" where v is of that slot, else "0x17". */
static void
name_value(const Proof *q, Value v, i64 from, char *text, size_t n)
{
    size_t at = 0;
    if (q->bits > 64)
        at += (size_t)snprintf(text, n, "0x%llx%016llx", (unsigned long long)v.high,
                               (unsigned long long)v.low);
    else
        at += (size_t)snprintf(text, n, "0x%llx", (unsigned long long)v.low);
    if (from < 0)
        return;
    at += (size_t)snprintf(text + at, n - at, " of source slot %lld, ", (long long)from);
    name_slot(q->p->src, from, text + at, n - at);
}

static ravel_status
wrong_slot(const Proof *q, const Shot *s, i64 slot, Value got, ravel_error *err)
{
    char name[256], is[256], should[256];
    Value want = expected(q, s, slot);
    if (q->map.from[slot] == FROM_HOLE)
        return error_set(err, RAVEL_ERR_VERIFY, "slot %lld of the destination, a hole, "
                         "is written to", (long long)slot);
    bool before = same(got, poison_at(q, s, slot));
    name_slot(q->p->dst, slot, name, sizeof name);
    name_value(q, got, before ? -1 : stamped(q, s, got), is, sizeof is);
    name_value(q, want, q->map.from[slot], should, sizeof should);
    return error_set(err, RAVEL_ERR_VERIFY, "slot %lld of the destination, %s, holds "
                     "%s%s; it should hold %s%s%s", (long long)slot, name, is,
                     before ? ", as before the run" : "", should,
                     q->map.from[slot] == FROM_FILL ? ", the fill" : "",
                     s->beside ? " (other threads run it at once)" : "");
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
    Value got;
    if (lock(l, false, err))
        return RAVEL_ERR_MEMORY;
    if (check_fence(&l->src, true, err) || check_fence(&l->dst, false, err))
        return RAVEL_ERR_VERIFY;
    for (i64 i = 0; i < q->slots; i++)
        if (!holds(q, &l->src, i, stamp(q, s, i), &got))
            return error_set(err, RAVEL_ERR_VERIFY, "it writes to slot %lld of its "
                             "source", (long long)i);
    for (i64 i = 0; i < q->map.n; i++)
        if (!holds(q, &l->dst, i, expected(q, s, i), &got))
            return wrong_slot(q, s, i, got, err);
    return RAVEL_OK;
}

static ravel_status
one_run(Proof *q, const Code *code, Shot s, ravel_error *err)
{
    Lane *l = &q->lane[0];
    if (prepare(q, l, &s, err))
        return RAVEL_ERR_MEMORY;
    code->run(code->self, l->dst.p, l->src.p);
    return check_lane(q, l, &s, err);
}

/* All parts, one after the other, in an order of their own. */
static ravel_status
run_parts(Proof *q, const Code *code, int parts, int step, ravel_error *err)
{
    Lane *l = &q->lane[0];
    Shot s = {0, UINT64_MAX, POISON, AGAINST_END, false};
    if (prepare(q, l, &s, err))
        return RAVEL_ERR_MEMORY;
    for (int i = 0, part = parts / 2; i < parts; i++, part = (part + step) % parts)
        code->part(code->self, l->dst.p, l->src.p, part, parts);
    return check_lane(q, l, &s, err);
}

/* The bytes that have changed are the part's own: owner has, of every byte, the part
 * that wrote it, from 1. */
static ravel_status
own_bytes(const Fence *dst, unsigned char *owner, unsigned char poison, int part,
          int parts, ravel_error *err)
{
    const uint64_t untouched = poison * (UINT64_MAX / 0xff);
    for (size_t i = 0; i < dst->n; i++) {
        uint64_t eight = 0;
        if (dst->n - i >= sizeof eight)
            memcpy(&eight, dst->p + i, sizeof eight);
        if (eight == untouched) {
            i += sizeof eight - 1;
            continue;
        }
        if (dst->p[i] == poison || owner[i] == part + 1)
            continue;
        if (owner[i])
            return error_set(err, RAVEL_ERR_VERIFY, "byte %lld of the destination is "
                             "written by part %d and by part %d of %d, which threads may "
                             "run at once", (long long)i, owner[i] - 1, part, parts);
        owner[i] = (unsigned char)(part + 1);
    }
    return RAVEL_OK;
}

/* Each part alone, over both poisons: what is written differs from one of them. */
static ravel_status
tell_parts_apart(Proof *q, const Code *code, int parts, ravel_error *err)
{
    Lane *l = &q->lane[0];
    Shot s = {0, 0, POISON, AGAINST_END, false};
    unsigned char *owner = q->lane[1].dst.p;
    ravel_status r = prepare(q, l, &s, err);
    memset(owner, 0, l->dst.n);
    for (int i = 0; r == RAVEL_OK && i < 2 * parts; i++) {
        unsigned char poison = i % 2 ? (unsigned char)~POISON : POISON;
        memset(l->dst.p, poison, l->dst.n);
        code->part(code->self, l->dst.p, l->src.p, i / 2, parts);
        r = own_bytes(&l->dst, owner, poison, i / 2, parts, err);
    }
    return lock(l, false, err) ? RAVEL_ERR_MEMORY : r;
}

static ravel_status
prove_parts(Proof *q, const Code *code, ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    for (int i = 0; s == RAVEL_OK && i < LEN(splits); i++)
        s = run_parts(q, code, splits[i].parts, splits[i].step, err);
    for (int i = 0; s == RAVEL_OK && i < APART; i++)
        s = tell_parts_apart(q, code, splits[i].parts, err);
    return s;
}

/* A thread of a round: it waits for the others, so that they run at once. */
typedef struct {
    pthread_t thread;
    const Lane *lane;
    const Code *code;
    atomic_int *missing;
} Runner;

static void *
runner(void *arg)
{
    Runner *r = arg;
    atomic_fetch_sub(r->missing, 1);
    while (atomic_load(r->missing) > 0)
        sched_yield();
    r->code->run(r->code->self, r->lane->dst.p, r->lane->src.p);
    return NULL;
}

static Shot
shot_of_thread(const Proof *q, int round, int t)
{
    return (Shot){(round + t / 2) % q->passes, key_of_thread[t],
                  t % 2 ? POISON : (unsigned char)~POISON, AGAINST_END, true};
}

/* All lanes at once, each with stamps of its own. */
static ravel_status
one_round(Proof *q, const Code *code, int round, ravel_error *err)
{
    Runner r[THREADS];
    atomic_int missing = q->nlanes;
    int n = 0;
    ravel_status s = RAVEL_OK;
    for (int t = 0; t < q->nlanes; t++) {
        Shot shot = shot_of_thread(q, round, t);
        if (prepare(q, &q->lane[t], &shot, err))
            return RAVEL_ERR_MEMORY;
        r[t] = (Runner){.lane = &q->lane[t], .code = code, .missing = &missing};
    }
    while (n < q->nlanes && thread_start(&r[n].thread, runner, &r[n]))
        n++;
    if (n < q->nlanes)
        atomic_store(&missing, 0);
    for (int t = 0; t < n; t++)
        pthread_join(r[t].thread, NULL);
    if (n < q->nlanes)
        s = error_set(err, RAVEL_ERR_MEMORY, "no thread can be started");
    for (int t = 0; s == RAVEL_OK && t < n; t++) {
        Shot shot = shot_of_thread(q, round, t);
        s = check_lane(q, &q->lane[t], &shot, err);
    }
    return s;
}

ravel_status
proof_run(Proof *q, const Code *code, ravel_certificate *out, ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    for (int pass = 0; s == RAVEL_OK && pass < q->passes; pass++)
        s = one_run(q, code, (Shot){pass, 0, POISON, AGAINST_END, false}, err);
    if (s == RAVEL_OK)
        s = one_run(q, code, (Shot){0, UINT64_MAX, POISON, AGAINST_START, false}, err);
    if (s == RAVEL_OK && code->part)
        s = prove_parts(q, code, err);
    for (int i = 0; s == RAVEL_OK && i < q->rounds; i++)
        s = one_round(q, code, i, err);
    out->passes = q->passes;
    out->runs = runs_of(q) + (code->part ? LEN(splits) + APART : 0);
    out->parts = code->part ? splits[LEN(splits) - 1].parts : 0;
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
