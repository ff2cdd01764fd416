/* bench: time one conversion on this machine, beside two copies of as many bytes. */
#include <stdio.h>

#include "cli.h"
#include "cli_child.h"
#include "cli_copy.h"
#include "cli_index.h"
#include "cli_progress.h"

enum {
    ROUNDS = 9, ROUNDS_MAX = 10000,
    SAMPLE = 2000000,             /* nanoseconds at least */
    REST = 6000000,               /* before one on several threads: they spin so long */
    CACHE = 64 << 20              /* both tensors below: settled before each sample */
};

enum { OURS, MEMCPY, STREAM, NTHINGS };

typedef struct {
    Cli *c;
    ravel_request rq;
    i64 rounds, threads;
    ravel_plan *plan;
    const void *array[RAVEL_MAX_ARRAYS];     /* the index arrays, made up */
    i64 plan_ns;
    size_t bytes;                 /* of the larger side */
    void *dst, *src;
    Copier *copier[NTHINGS];
    Measured m[NTHINGS];          /* memcpy first: the others are compared with it */
    int n;
    int what[NTHINGS];            /* m[i] is which of the things */
    Timing timing;
} Bench;

static const struct {
    const char *name, *shown;
    CopyKind copy;
} things[NTHINGS] = {
    [OURS] = {"ravel", "this conversion", 0},
    [MEMCPY] = {"memcpy", "memcpy", COPY_MEMCPY},
    [STREAM] = {"ntcopy", "non-temporal copy", COPY_STREAM},
};

static void
run_ours(void *bench)
{
    const Bench *b = bench;
    if (plan_looks_up(b->plan->plan))
        ravel_run_arrays(b->plan, b->dst, b->src, NULL, b->array, NULL);
    else
        ravel_run(b->plan, b->dst, b->src);
}

static void
add(Bench *b, int what, Measured one)
{
    Measured *m = &b->m[b->n];
    *m = one;
    m->ns = arena_array(b->c->arena, double, b->rounds);
    measure_calls(m, SAMPLE, 0, 0);
    b->what[b->n++] = what;
}

static void
add_copy(Bench *b, int what)
{
    if (copy_absent(things[what].copy))
        return;
    b->copier[what] = copier_new(things[what].copy, b->dst, b->src, b->bytes,
                                   (int)b->threads);
    if (!b->copier[what])
        cli_fail(b->c, "a copy by %lld threads lacks memory or threads: fewer --threads need "
                 "less", (long long)b->threads);
    add(b, what, (Measured){.time = copier_time, .arg = b->copier[what]});
}

/* Numbers in an order like that of chance. */
static void
make_arrays(Bench *b)
{
    int64_t array[RAVEL_MAX_ARRAYS];
    int n = ravel_plan_arrays(b->plan, NULL);
    arrays_invent(b->c->arena, b->plan->plan, array);
    for (int i = 0; i < n; i++)
        b->array[i] = (const void *)(intptr_t)array[i];
}

/* On a terminal a long proof shows how far it is.  Plans with index arrays are proven at small
 * shapes. */
static void
prove(Bench *b)
{
    ravel_error err;
    Outcome o;
    cli_need_memory(b->c, proof_bytes(b->plan->plan), "a proof");
    if (plan_has_arguments(b->plan->plan)) {
        cli_check(b->c, ravel_verify(b->plan, &err), &err);
        return;
    }
    cli_check(b->c, child_prove(b->plan->plan, b->plan, NULL, b->c->limit, &o, &err), &err);
    if (o.why[0])
        cli_fail(b->c, "the compiled code is wrong: %s", o.why);
}

/* Prove the machine code before it is timed. */
static void
make_plan(Bench *b)
{
    Cli *c = b->c;
    ravel_error err;
    i64 start = measure_now();
    cli_check(c, ravel_compile(c->cx, &b->rq, &b->plan, &err), &err);
    cli_refuse_strides(c, b->plan);
    b->plan_ns = measure_now() - start;
    i64 src = ravel_plan_src_bytes(b->plan), dst = ravel_plan_dst_bytes(b->plan);
    b->bytes = (size_t)(src > dst ? src : dst);
    cli_need_memory(c, 2 * (i64)b->bytes, "a pair of buffers");
    prove(b);
    make_arrays(b);
}

static void
bench(void *arg)
{
    Bench *b = arg;
    make_plan(b);
    b->dst = measure_map(b->bytes);
    b->src = measure_map(b->bytes);
    if (!b->dst || !b->src)
        cli_no_memory(b->c, 2 * (i64)b->bytes, "a pair of buffers");
    add_copy(b, MEMCPY);
    add(b, OURS, (Measured){.call = run_ours, .arg = b});
    add_copy(b, STREAM);
    Ready ready = {b->threads > 1 ? REST : 0, 2 * b->bytes < CACHE};
    Progress progress = progress_begin("measuring", "rounds");
    for (int r = 0; r < b->rounds; r++) {
        measure_round(b->m, b->n, r, ready);
        progress_at(&progress, r + 1, (double)b->rounds, 0);
    }
    progress_end(&progress);
}

static void
bench_free(Bench *b)
{
    for (int i = 0; i < NTHINGS; i++)
        copier_free(b->copier[i]);
    measure_unmap(b->dst, b->bytes);
    measure_unmap(b->src, b->bytes);
    ravel_plan_free(b->plan);
}

static json_t *
spread_json(Spread s)
{
    return json_pack("{s:f, s:f, s:f}", "median", s.median, "low", s.low, "high", s.high);
}

static void
print_json(Bench *b)
{
    const Plan *p = b->plan->plan;
    json_t *list = json_array();
    for (int i = 0; i < b->n; i++)
        json_array_append_new(list, json_pack("{s:s, s:I, s:o, s:o}",
            "name", things[b->what[i]].name, "calls", (json_int_t)b->m[i].calls,
            "ns", spread_json(measure_spread(b->m[i].ns, (int)b->rounds)),
            "memcpy", spread_json(measure_ratio(b->m[i].ns, b->m[0].ns,
                                                (int)b->rounds))));
    cli_print_json(json_pack("{s:s, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:o}",
        "from", layout_ref_text(b->c->arena, p->src->ref),
        "to", layout_ref_text(b->c->arena, p->dst->ref),
        "shape", cli_json_numbers(cli_shape(b->c->arena, p->src), p->src->rank),
        "dtype", p->src->dtype->name,
        "src_bytes", (json_int_t)ravel_plan_src_bytes(b->plan),
        "dst_bytes", (json_int_t)ravel_plan_dst_bytes(b->plan),
        "plan_ns", (json_int_t)b->plan_ns, "threads", (json_int_t)b->threads,
        "rounds", (json_int_t)b->rounds,
        "results", list));
}

static void
print_table(Bench *b)
{
    const Plan *p = b->plan->plan;
    Arena *a = b->c->arena;
    printf("%s -> %s of %s, %s: %lld bytes to %lld; the code is proven\n",
           layout_ref_text(a, p->src->ref), layout_ref_text(a, p->dst->ref),
           cli_tuple(a, cli_shape(a, p->src), p->src->rank), p->src->dtype->name,
           (long long)ravel_plan_src_bytes(b->plan),
           (long long)ravel_plan_dst_bytes(b->plan));
    if (plan_looks_up(p))
        printf("  the numbers of index arrays are made up, in an order like that of chance\n");
    printf("  %-18s %12s %10s   %s\n", "", "microseconds", "x memcpy", "span");
    for (int i = 0; i < b->n; i++) {
        Spread t = measure_spread(b->m[i].ns, (int)b->rounds);
        Spread r = measure_ratio(b->m[i].ns, b->m[0].ns, (int)b->rounds);
        printf("  %-18s %12.3f %10.2f   %.2f to %.2f\n", things[b->what[i]].shown,
               t.median * 1e-3, r.median, r.low, r.high);
    }
    printf("planned and compiled in %.3f ms; %lld thread%s; medians of %lld rounds; a "
           "copy moves %zu bytes\n", (double)b->plan_ns * 1e-6, (long long)b->threads,
           b->threads == 1 ? "" : "s", (long long)b->rounds, b->bytes);
}

static void
take_timing(Bench *b)
{
    for (int i = 0; i < b->n; i++)
        if (b->what[i] == OURS) {
            b->timing.ns = measure_spread(b->m[i].ns, (int)b->rounds).median;
            b->timing.memcpy = measure_ratio(b->m[i].ns, b->m[0].ns, (int)b->rounds).median;
        }
}

/* Prove and measure; free all but the result. */
static void
run(Bench *b, void (*report)(Bench *))
{
    Diag d;
    b->threads = b->c->o.threads ? cli_threads(b->c) : 1;
    b->rq.threads = (int)b->threads;
    bool ok = arena_run(b->c->arena, &d, bench, b);
    if (ok)
        report(b);
    bench_free(b);
    if (!ok)
        diag_fatal(b->c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
}

Timing
cli_time(Cli *c, const Request *rq)
{
    Bench b = {.c = c, .rounds = ROUNDS};
    b.rq = (ravel_request){.from = rq->from, .to = rq->to, .dtype = rq->dtype,
                           .rank = rq->rank, .shape = rq->shape};
    run(&b, take_timing);
    return (Timing){b.timing.ns, b.timing.memcpy, (int)b.threads};
}

int
cmd_bench(Cli *c)
{
    i64 shape[MAX_RANK];
    Bench b = {.c = c};
    b.rounds = cli_number(c, "--rounds", c->o.rounds, ROUNDS, ROUNDS_MAX);
    b.rq = (ravel_request){.dtype = c->o.dtype, .shape = shape};
    b.rq.from = cli_layout_text(c, c->o.from);
    b.rq.to = cli_layout_text(c, c->o.to);
    cli_find_shape(c, b.rq.from, b.rq.to);
    b.rq.rank = cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    run(&b, c->o.json ? print_json : print_table);
    return EXIT_YES;
}
