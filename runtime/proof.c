/* Index stamps.  A relayout never looks at its data.  So if every slot of the source
 * holds its own number and the right numbers arrive, the code is right for its shape.
 *
 * Padding and holes of the source are stamped too, so that reading one instead of an
 * element is detected.  If numbers are wider than an element, several passes each use a
 * part of their bits.  One more run inverts every bit, so that a fill value is not
 * mistaken for an equal stamp.  The runs by several threads use the second poison, so
 * that a slot that is not written is not mistaken for a right one.  Each thread xors its
 * stamps with a key of its own, so that data that leaks from one thread to another is
 * detected.  Buffers are adjacent to inaccessible pages, and then at all alignments that
 * code may wrongly assume, different for both buffers. Work that threads share runs part
 * by part, in orders in which threads could execute it. */
#include "proof.h"

#include <stdlib.h>

#include "proof_lane.h"

/* If both buffers have more bytes than this, fewer threads run. */
static const size_t LARGE = (size_t)1 << 28;
/* The rounds of threads end when they have moved this many slots; there is at least one,
 * and no more for a plan at one shape of many, as those with run-time extents are proven. */
enum { ROUND_SLOTS = 1 << 24, ROUNDS_MAX = 8 };

/* Where buffers begin, from a page's start: there, or at the least multiple of the
 * code's alignment from 1, a vector's 16 or an element's bytes on. */
typedef enum { AT_0, AT_1, AT_16, AT_ELEMENT } Start;
static const struct {
    Start dst, src;
} starts[] = {{AT_1, AT_0}, {AT_0, AT_1}, {AT_16, AT_0}, {AT_0, AT_16},
              {AT_ELEMENT, AT_1}, {AT_1, AT_ELEMENT}};

void
proof_free(Proof *q)
{
    for (int i = 0; q && i < q->nlanes; i++) {
        fence_free(&q->lane[i].src);
        fence_free(&q->lane[i].dst);
    }
    if (q) {
        kinds_free(&q->kinds);
        free(q->number);
    }
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
    q.threads = n + m > LARGE ? 2 : PROOF_THREADS;
    i64 all = times(plus(q.slots, slots_of(p->dst)), q.threads);
    i64 rounds = ROUND_SLOTS / (all + !all);
    q.rounds = rounds < 1 || p->at_shape ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : (int)rounds;
    return q;
}

static i64
gathered_of(const Proof *q)
{
    return passes_gathered(q->bits, q->passes, slots_of(q->p->dst));
}

static int
runs_of(const Proof *q)
{
    return q->passes + 1 + LEN(starts) + q->rounds * q->threads;
}

int
proof_runs(const Plan *p)
{
    Proof q = method(p);
    return runs_of(&q) + (p->split ? parts_runs() : 0);
}

void
proof_watch(Proof *q, atomic_int *begun)
{
    q->begun = begun;
}

i64
proof_slots(const Plan *p)
{
    return times(plus(slots_of(p->src), slots_of(p->dst)), proof_runs(p));
}

i64
proof_bytes(const Plan *p)
{
    Proof q = method(p);
    i64 lane = plus((i64)fence_bytes((size_t)layout_bytes(p->src)),
                    (i64)fence_bytes((size_t)layout_bytes(p->dst)));
    i64 kinds = slots_of(p->dst) / 4, gathered = times(gathered_of(&q), sizeof *q.number);
    return plus(plus(times(lane, q.threads), plus(kinds, gathered)),
                plus(reference_bytes(p), (i64)sizeof q));
}

ravel_status
proof_affords(const Plan *p, ravel_error *err)
{
    i64 points = layout_points(p->dst, true), src, dst;
    i64 each = reference_work(p->src, &src) + reference_work(p->dst, &dst);
    i64 all = plus(times(points, each), plus(src, dst));
    i64 most = plus(times(points, WORK_FREE), work_most(&ex_arena(p->e)->work));
    if (all <= most)
        return RAVEL_OK;
    return error_set(err, RAVEL_ERR_LIMIT, "a proof by the expressions as written takes "
                     "%lld operators at each of %lld coordinates, more work than the "
                     "limit allows; a smaller shape takes less, and --limit "
                     "(ravel_set_limit) allows more", (long long)each, (long long)points);
}

static ravel_status
no_memory(const Plan *p, ravel_error *err)
{
    i64 bytes = proof_bytes(p);
    return bytes == INF ? error_set(err, RAVEL_ERR_MEMORY, "no memory for a proof")
                        : error_set(err, RAVEL_ERR_MEMORY, "no memory for a proof, which takes "
                                    "%lld bytes", (long long)bytes);
}

ravel_status
proof_new(const Plan *p, bool pages, Proof **out, ravel_error *err)
{
    const char *why = NULL;
    Proof *q = *out = proof_bytes(p) == INF ? NULL : calloc(1, sizeof *q);
    if (!q)
        return no_memory(p, err);
    *q = method(p);
    ravel_status s = proof_affords(p, err);
    s = s == RAVEL_OK ? verify_written(p, err) : s;
    if (s != RAVEL_OK) {
        proof_free(q);
        *out = NULL;
        return s;
    }
    size_t n = (size_t)layout_bytes(p->src), m = (size_t)layout_bytes(p->dst);
    i64 numbers = gathered_of(q);
    q->number = numbers ? malloc((size_t)numbers * sizeof *q->number) : NULL;
    bool ok = (!numbers || q->number) && kinds_new(&q->kinds, p, &why);
    while (ok && !why && q->nlanes < q->threads) {
        Lane *l = &q->lane[q->nlanes++];
        ok = fence_new(&l->src, n, pages) && fence_new(&l->dst, m, pages);
    }
    if (ok && !why)
        return RAVEL_OK;
    proof_free(q);
    *out = NULL;
    return ok ? error_set(err, RAVEL_ERR_VERIFY, "%s", why)
              : no_memory(p, err);
}

/* A run on its own, of which all is known or, beside lane 0, what that tells. */
static ravel_status
one_run(Proof *q, const Code *code, Lane *l, Shot s, ravel_error *err)
{
    if (lane_prepare(q, l, &s, err))
        return RAVEL_ERR_MEMORY;
    code->run(code->self, l->dst.p, l->src.p);
    return l == q->lane ? lane_check(q, l, err) : lane_check_by(q, l, q->lane, err);
}

static FencePlace
place_at(const Proof *q, Start start)
{
    const int least[] = {0, 1, 16, q->bits < 8 ? 1 : q->bits / 8};
    int n = least[start];
    return (FencePlace){AGAINST_START, (n + q->align - 1) / q->align * q->align};
}

/* The run with all bits inverted, and one run for each alignment. */
static ravel_status
prove_places(Proof *q, const Code *code, ravel_error *err)
{
    Shot s = {q->passes - 1, 0xff, POISON, {AGAINST_START, 0}, {AGAINST_START, 0}, false};
    ravel_status status = one_run(q, code, &q->lane[1], s, err);
    for (int i = 0; status == RAVEL_OK && i < LEN(starts); i++) {
        s.dst = place_at(q, starts[i].dst);
        s.src = place_at(q, starts[i].src);
        status = one_run(q, code, &q->lane[1], s, err);
    }
    return status;
}

ravel_status
proof_run(Proof *q, const Code *code, ravel_certificate *out, ravel_error *err)
{
    q->align = code->align ? code->align : 1;
    ravel_status s = prove_passes(q, code, err);
    if (s == RAVEL_OK)
        s = prove_places(q, code, err);
    if (s == RAVEL_OK && code->part)
        s = prove_parts(q, code, err);
    if (s == RAVEL_OK)
        s = prove_rounds(q, code, err);
    out->passes = q->passes;
    out->runs = runs_of(q) + (code->part ? parts_runs() : 0);
    out->parts = code->part ? parts_most() : 0;
    out->threads = q->nlanes;
    out->guard_pages = q->lane[0].src.pages;
    out->stamped = q->slots;
    out->elements = q->kinds.elements;
    out->padding = q->kinds.padding;
    out->holes = q->kinds.n - q->kinds.elements - q->kinds.padding;
    return s;
}
