/* emit and explain: conversions as text. */
#include <stdio.h>
#include <string.h>

#include "../runtime/file.h"
#include "cli.h"
#include "cli_object.h"
#include "cli_sparse.h"

const char *const cli_kinds[] = {
    [EMIT_RELAYOUT] = "relayout", [EMIT_OFFSET] = "offset", [EMIT_INVERSE] = "inverse",
    [EMIT_LOAD] = "load", [EMIT_STORE] = "store", NULL};

static EmitKind
kind_of(Cli *c)
{
    for (int i = 0; c->o.kind && cli_kinds[i]; i++)
        if (!strcmp(cli_kinds[i], c->o.kind))
            return (EmitKind)i;
    if (c->o.kind)
        cli_fail(c, "--kind '%s': relayout, offset, inverse, load or store", c->o.kind);
    return EMIT_RELAYOUT;
}

static const Processor *
processor(Cli *c)
{
    const char *name = c->o.processor;
    if (!name)
        return NULL;
    const Processor *p = strcmp(name, "here") ? processor_named(name) : c->cx->processor;
    if (!p)
        cli_fail(c, "--processor '%s': here, or one of%s", name, processor_names());
    return p;
}

/* 0: not given */
static int
align(Cli *c)
{
    i64 n = cli_number(c, "--align", c->o.align, 0, GRID_VECTOR);
    if (n & (n - 1))
        cli_fail(c, "--align '%s': a power of two, at most %d", c->o.align, GRID_VECTOR);
    return (int)n;
}

static Request
request(Cli *c, i64 *shape)
{
    bool any;
    const char **extent = arena_array(c->arena, const char *, MAX_RANK);
    Request rq = {.dtype = c->o.dtype, .shape = shape, .name = c->o.name};
    rq.from = c->o.from ? cli_layout_text(c, c->o.from) : NULL;
    rq.to = c->o.to ? cli_layout_text(c, c->o.to) : NULL;
    rq.rank = cli_shape_names(c, shape, extent, &any);
    rq.extent = any ? extent : NULL;
    rq.processor = processor(c);
    rq.align = align(c);
    return rq;
}

static const Frag *
frag_of(Cli *c, const Target *target, const Request *rq, EmitKind kind)
{
    if (!rq->from || !rq->to || !rq->dtype || rq->extent || !target_is(target, "blocks"))
        cli_fail(c, "--kind %s needs --from, --to, --dtype, a shape of numbers, and "
                    "--target cuda, hip, opencl or blocks", c->o.kind);
    return compile_frag(c->arena, c->known, rq, kind);
}

static void
check_options(Cli *c, const Target *target, EmitKind kind)
{
    bool grid = target_is(target, "blocks");
    if (c->o.manifest && (!grid || kind != EMIT_RELAYOUT))
        cli_fail(c, "--manifest needs --kind relayout with --target cuda, hip, opencl, "
                    "glsl or blocks");
    if (c->o.manifest && c->o.output && !strcmp(c->o.manifest, c->o.output))
        cli_fail(c, "the output and the manifest cannot both be %s", c->o.output);
    if (c->o.align && (!grid || kind != EMIT_RELAYOUT))
        cli_fail(c, "--align needs --kind relayout with --target cuda, hip, opencl, glsl or "
                    "blocks; code in C needs no alignment");
    if (c->o.check && (grid || kind != EMIT_RELAYOUT || target_is(target, "bursts")))
        cli_fail(c, "--check needs --kind relayout with --target c");
}

int
cmd_emit(Cli *c)
{
    i64 shape[MAX_RANK];
    EmitKind kind = kind_of(c);
    Request rq = request(c, shape);
    const char *text;
    ravel_error err;
    const Target *target = cli_target(c);
    if (cli_is_sparse(c, rq.from, rq.to))
        return cli_sparse_emit(c, rq.from, rq.to);
    check_options(c, target, kind);
    if (kind == EMIT_RELAYOUT) {
        if (!rq.from || !rq.to || !rq.dtype)
            cli_fail(c, "a relayout needs --from, --to and --dtype");
        if (target_is(target, "blocks")) {
            cli_emit_grid(c, target, cli_plan(c, &rq), &rq);
            return EXIT_YES;
        }
        const Plan *p = cli_plan(c, &rq);
        text = target_is(target, "bursts") ? compile_bursts(target, p, &rq)
               : compile_text(target, p, &rq, true);
        if (c->o.check && !cli_prove_emitted(c, target, &rq, p, text))
            return EXIT_NO;
    } else if (kind == EMIT_LOAD || kind == EMIT_STORE) {
        text = frag_render(target, frag_of(c, target, &rq, kind), &rq);
    } else {
        if (target_is(target, "bursts"))
            cli_fail(c, "--kind %s: a machine of bursts supports relayouts only", c->o.kind);
        if (!rq.from == !rq.to)
            cli_fail(c, "--kind %s takes one layout: give it with --to", c->o.kind);
        if (rq.extent)
            cli_fail(c, "--shape '%s': --kind %s needs numbers", c->o.shape, c->o.kind);
        rq.dtype = cli_dtype(c, rq.to ? rq.to : rq.from);
        text = compile_index(c->arena, target, c->known, &rq, kind);
    }
    FilePart part = {text, strlen(text)};
    cli_check(c, file_write(c->o.output, &part, 1, &err), &err);
    return EXIT_YES;
}

static void
explain_layout(Cli *c, const char *what, const Layout *l)
{
    i64 box[MAX_ENTRIES];
    int n = layout_box(l, box);
    printf("%s: %s\n", what, layout_ref_text(c->arena, l->ref));
    printf("  declared  %s\n", layout_text(c->arena, l->ref->def));
    printf("  entry             slots     stride   as simplified\n");
    for (int i = 0; i < l->nentry; i++)
        printf("  %-16s %6lld %10lld   %s\n", ast_text(c->arena, l->entry[i].x),
               (long long)l->entry[i].extent, (long long)l->entry[i].stride,
               ex_text(l->e, l->entry[i].ex));
    if (l->sigma)
        printf("  swizzle   %s\n", ast_text(c->arena, l->ref->def->swizzle));
    printf("  address   %s\n", ex_text(l->e, l->addr));
    printf("  storage   %s, %lld bytes\n\n", cli_tuple(c->arena, box, n),
           (long long)layout_bytes(l));
}

/* Print how the library executes the plan on this machine. */
static void
explain_way(Cli *c, const Request *rq)
{
    ravel_plan *p;
    ravel_error err;
    ravel_request q = {.from = rq->from, .to = rq->to, .dtype = rq->dtype,
                       .rank = rq->rank, .shape = rq->shape};
    q.threads = cli_threads(c);
    cli_check(c, ravel_compile(c->cx, &q, &p, &err), &err);
    printf("code: %s\n", ravel_plan_way(p));
    ravel_plan_free(p);
}

static void
explain_runtime(Buf *b, const Plan *p, const char *what, const Sizes *r)
{
    buf_printf(b, "%s: %s\n  declared  %s\n", what, layout_ref_text(b->arena, r->l->ref),
               layout_text(b->arena, r->l->ref->def));
    plan_sizes_print(b, p, r);
}

static double
predicted(const Plan *p)
{
    double ns = 0;
    for (int i = 0; i < p->n; i++) {
        const Nest *n = &p->nest[i];
        ns += n->merged ? 0 : n->cost;
    }
    return ns;
}

static void
explain_kernels(const Plan *p)
{
    printf("\nkernels\n");
    for (int k = 0; k < nkernels; k++) {
        int uses = 0;
        for (int i = 0; i < p->n; i++)
            uses += p->nest[i].kernel == &kernels[k];
        if (uses)
            printf("  %-10s x%-3d %s\n", kernels[k].name, uses, kernel_what(&kernels[k]));
    }
    if (!plan_is_fixed(p))
        return;                    /* counts are nominal */
    printf("cost: about %.3g ms on one thread, by the cost model for the processor %s (a "
           "guide, not a measurement)\n", predicted(p) * 1e-6,
           processor_name(p->processor));
}

/* The next best way that the model may choose, or NULL. */
static const Nest *
runner_up(const Nest *choice, int n)
{
    for (int i = 1; i < n; i++)
        if (!choice[i].spare)
            return &choice[i];
    return NULL;
}

static void
explain_name(const Plan *p, int nest)
{
    const Nest *n = &p->nest[nest];
    printf("  nest %d by %s, %s%s\n", nest + 1, n->kernel->name, n->order,
           n->picked ? ", as tuned" : "");
}

/* With extents left to run time numbers are nominal, and tuning may have been about other
 * nests than those that move most of the bytes by these. */
static void
explain_names(const Plan *p)
{
    int nest[MAX_WEIGHTY], m = plan_weighty(p, NULL, nest);
    for (int i = 0; i < m; i++)
        explain_name(p, nest[i]);
    for (int i = 0; i < p->n; i++) {
        bool named = false;
        for (int k = 0; k < m; k++)
            named |= nest[k] == i;
        if (p->nest[i].picked && !named)
            explain_name(p, i);
    }
}

/* For the nests that move most of the bytes. */
static void
explain_choices(Cli *c, const Plan *p)
{
    if (!plan_is_fixed(p)) {
        explain_names(p);
        return;
    }
    int nest[MAX_WEIGHTY], m = plan_weighty(p, NULL, nest);
    Nest *choice = arena_array(c->arena, Nest, MAX_CHOICES);
    for (int i = 0; i < m; i++) {
        const Nest *n = &p->nest[nest[i]];
        const Nest *next = runner_up(choice, nest_choices(p, n, choice));
        printf("  nest %d by %s, %s", nest[i] + 1, n->kernel->name, n->order);
        printf("%s: about %.3g ms; ", n->picked ? ", as tuned" : "", n->cost * 1e-6);
        if (next)
            printf("next %s, %s: %.3g ms\n", next->kernel->name, next->order,
                   next->cost * 1e-6);
        else
            printf("no other candidate\n");
    }
}

static void
explain_bursts(Cli *c, const Target *t, const Plan *p)
{
    Buf b = buf_new(c->arena);
    BurstMachine m = burst_machine(t);
    const BurstPlan *q = burst_make(p, &m);
    if (c->o.json) {
        cli_print_json(cli_burst_json(c->arena, t, q));
        return;
    }
    burst_explain(&b, q, c->o.target);
    fputs(b.s, stdout);
}

static int
explain_frag(Cli *c, const Target *target, const Request *rq)
{
    EmitKind kind = kind_of(c);
    if (!c->o.statements || c->o.json || (kind != EMIT_LOAD && kind != EMIT_STORE))
        cli_fail(c, "explain --kind %s: relayout; or load or store, with --statements",
                 c->o.kind);
    fputs(frag_print(frag_of(c, target, rq, kind)), stdout);
    return EXIT_YES;
}

int
cmd_explain(Cli *c)
{
    i64 shape[MAX_RANK];
    Request rq = request(c, shape);
    const Target *target = cli_target(c);
    if (cli_is_sparse(c, rq.from, rq.to))
        return cli_sparse_explain(c, rq.from, rq.to);
    if (kind_of(c) != EMIT_RELAYOUT)
        return explain_frag(c, target, &rq);
    Plan *p = cli_plan(c, &rq);
    Buf b = buf_new(c->arena);
    if (c->o.statements && (c->o.json || target_is(target, "bursts")))
        cli_fail(c, "--statements is text, of every target but bursts");
    if (c->o.statements) {
        fputs(compile_statements(target, p, &rq), stdout);
        return EXIT_YES;
    }
    if (target_is(target, "blocks")) {
        cli_explain_grid(c, target, p, &rq);
        return EXIT_YES;
    }
    if (target_is(target, "bursts")) {
        explain_bursts(c, target, p);
        return EXIT_YES;
    }
    if (c->o.json)
        cli_fail(c, "--json needs --target cuda, hip, opencl, glsl, blocks or bursts");
    if (!plan_is_fixed(p)) {
        explain_runtime(&b, p, "from", p->from);
        explain_runtime(&b, p, "to", p->to);
    } else {
        explain_layout(c, "from", p->src);
        explain_layout(c, "to", p->dst);
    }
    plan_print(&b, p);
    fputs(b.s, stdout);
    explain_kernels(p);
    explain_choices(c, p);
    explain_way(c, &rq);
    return EXIT_YES;
}
