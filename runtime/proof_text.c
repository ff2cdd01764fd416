/* Messages about wrong code. */
#include "proof_stamp.h"

#include <stdio.h>

#include "element.h"

/* "(0,3)", or a description of a slot that is no element. */
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

/* The slot of the source whose number v is, or -1: numbers are told apart in one pass,
 * and beside other threads it may be one of theirs. */
static i64
stamped(const Proof *q, const Lane *l, Value v)
{
    Value first = lane_stamp(q, &l->shot, 0);
    uint64_t slot = v.low ^ first.low;
    bool is = q->passes == 1 && !l->shot.beside && slot < (uint64_t)q->slots &&
              same_value(v, lane_stamp(q, &l->shot, (i64)slot));
    return is ? (i64)slot : -1;
}

typedef struct {
    i64 to, from;
} Origin;

static bool
look(void *arg, const ReferenceRow *r)
{
    Origin *o = arg;
    for (int i = 0; i < r->n; i++)
        if (r->to[i] == o->to) {
            o->from = r->from[i];
            return false;
        }
    return true;
}

/* The required value of a slot of the destination. */
static Value
wanted(const Proof *q, const Lane *l, i64 slot, i64 *from)
{
    Origin o = {slot, FROM_FILL};
    reference_walk(q->p, look, &o);
    *from = o.from;
    return o.from >= 0 ? lane_stamp(q, &l->shot, o.from)
                       : (Value){q->p->dst->fill[0], q->p->dst->fill[1]};
}

static int
past(const Fence *f)
{
    return (int)((uintptr_t)f->p % 64);
}

/* The alignment of the buffers, in runs that test alignments; else an empty text. */
static const char *
name_place(const Lane *l, char *text, size_t n)
{
    text[0] = 0;
    if (l->shot.dst.shift || l->shot.src.shift)
        snprintf(text, n, " (its destination begins %d and its source %d bytes past a "
                 "multiple of 64)", past(&l->dst), past(&l->src));
    return text;
}

ravel_status
wrong_slot(const Proof *q, const Lane *l, i64 slot, ravel_error *err)
{
    char name[256], is[256], should[256], where[128];
    Value got;
    i64 from;
    got.low = element_get(l->dst.p, slot, q->bits, &got.high);
    name_place(l, where, sizeof where);
    if (!slot_in(q->kinds.written, slot))
        return error_set(err, RAVEL_ERR_VERIFY, "slot %lld of the destination, a hole, "
                         "is written to%s", (long long)slot, where);
    bool before = same_value(got, lane_poison(q, &l->shot, slot));
    Value want = wanted(q, l, slot, &from);
    name_slot(q->p->dst, slot, name, sizeof name);
    name_value(q, got, before ? -1 : stamped(q, l, got), is, sizeof is);
    name_value(q, want, from, should, sizeof should);
    return error_set(err, RAVEL_ERR_VERIFY, "slot %lld of the destination, %s, holds "
                     "%s%s; it should hold %s%s%s%s", (long long)slot, name, is,
                     before ? ", as before the run" : "", should,
                     from == FROM_FILL ? ", the fill" : "",
                     l->shot.beside ? " (other threads run it at once)" : "", where);
}

ravel_status
wrong_source(const Proof *q, const Lane *l, i64 slot, ravel_error *err)
{
    char where[128];
    Value got;
    do
        got.low = element_get(l->src.p, slot, q->bits, &got.high);
    while (same_value(got, lane_stamp(q, &l->shot, slot++)));
    return error_set(err, RAVEL_ERR_VERIFY, "it writes to slot %lld of its source%s",
                     (long long)slot - 1, name_place(l, where, sizeof where));
}

ravel_status
wrong_fence(const Lane *l, bool source, i64 byte, ravel_error *err)
{
    char text[128], where[128];
    const Fence *f = source ? &l->src : &l->dst;
    ProofPlace at = {.known = true, .source = source, .byte = byte, .bytes = (i64)f->n};
    proof_place_text(&at, text, sizeof text);
    return error_set(err, RAVEL_ERR_VERIFY, "%s%s", text,
                     name_place(l, where, sizeof where));
}

void
proof_place_text(const ProofPlace *at, char *text, size_t n)
{
    const char *side = at->source ? "source" : "destination";
    if (at->unaligned)
        snprintf(text, n, "it takes a buffer for aligned that is not: its destination "
                 "began %d and its source %d bytes past a multiple of 64 (--align allows "
                 "more)", at->dst_past, at->src_past);
    else if (!at->known)
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

ProofPlace
proof_locate(const Proof *q, const void *at, bool unaligned)
{
    ProofPlace x = {0};
    for (int i = 0; i < q->nlanes && !x.known; i++)
        for (int s = 0; s < 2 && !x.known; s++) {
            const Fence *f = s ? &q->lane[i].src : &q->lane[i].dst;
            x = (ProofPlace){.source = s, .bytes = (i64)f->n};
            x.known = fence_near(f, at, &x.byte);
        }
    x.unaligned = unaligned && q->now;
    if (q->now) {
        x.dst_past = past(&q->now->dst);
        x.src_past = past(&q->now->src);
    }
    return x;
}
