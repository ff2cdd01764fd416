/* explain: the plan of a conversion as text. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_sparse.h"

static void
put_storage(Buf *b, const Sizes *z)
{
    i64 box[MAX_ENTRIES];
    if (!ex_is_const(z->size)) {
        buf_printf(b, "  storage   %s elements\n\n", ex_text(z->l->e, z->size));
        return;
    }
    int n = layout_box(z->l, box);
    buf_printf(b, "  storage   %s, %lld bytes\n\n", cli_tuple(b->arena, box, n),
               (long long)layout_bytes(z->l));
}

/* The sizes of the layout as it is written, which the plan may have in other words. */
static const Sizes *
as_written(const Sizes *z)
{
    int none[MAX_RANK];
    const Layout *l = layout_as_written(z->l);
    for (int d = 0; d < MAX_RANK; d++)
        none[d] = -1;
    return l == z->l ? z : layout_sizes(scalars_new(l->e), l, none);
}

/* A layout of the plan.  An address with strides that depend on the shape is not written: it
 * would have the names of dims for coordinates and for extents. */
static void
put_layout(Buf *b, const char *what, const Sizes *z)
{
    Arena *a = b->arena;
    z = as_written(z);
    const Layout *l = z->l;
    buf_printf(b, "%s: %s\n  declared  %s\n", what, layout_ref_text(a, l->ref),
               layout_text(a, layout_written(l->ref)->def));
    buf_add(b, "  entry             slots     stride   as simplified\n");
    for (int i = 0; i < l->nentry; i++)
        buf_printf(b, "  %-16s %6s %10s   %s\n", ast_text(a, l->entry[i].x),
                   ex_text(l->e, z->slots[i]), ex_text(l->e, z->stride[i]),
                   ex_text(l->e, ex_is_const(z->size) ? l->entry[i].ex : l->entry[i].written));
    if (l->sigma)
        buf_printf(b, "  swizzle   %s\n", ast_text(a, l->ref->def->swizzle));
    if (!z->nterms)
        buf_printf(b, "  address   %s\n", ex_text(l->e, z->addr));
    put_storage(b, z);
}

/* Print how the library executes the plan on this machine. */
static void
explain_way(Cli *c, const Request *rq, const Plan *made)
{
    ravel_plan *p;
    ravel_error err;
    ravel_request q = {.from = rq->from, .to = rq->to, .dtype = rq->dtype,
                       .rank = rq->rank, .shape = rq->shape};
    q.threads = cli_threads(c);
    q.in_place = c->o.in_place;
    cli_check(c, ravel_compile(c->cx, &q, &p, &err), &err);
    printf("code: %s\n", ravel_plan_way(p));
    if (!c->o.in_place && plan_turns(made) > 1)
        printf("turns: the library does all nests for one of %lld parts after another, so that "
               "a cache holds what several nests read or write\n", (long long)plan_turns(made));
    ravel_plan_free(p);
}

static double
predicted(const Plan *p)
{
    double ns = 0;
    for (int i = 0; i < p->n; i++) {
        const Nest *n = p->nest[i];
        ns += n->merged ? 0 : n->cost;
    }
    return ns;
}

static void
explain_kernels(Cli *c, const Plan *p)
{
    int *uses = arena_array(c->arena, int, nkernels);
    kernels_used(p, uses);
    printf("\nkernels\n");
    for (int k = 0; k < nkernels; k++)
        if (uses[k])
            printf("  %-10s x%-3d %s\n", kernels[k].name, uses[k], kernel_what(&kernels[k]));
    if (!plan_is_fixed(p))
        return;                    /* counts are nominal */
    printf("cost: about %s on one thread, by the cost model for the processor %s (a "
           "guide, not a measurement)\n", cli_duration(c->arena, predicted(p)),
           machine_name(p->machine));
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
    const Nest *n = p->nest[nest];
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
        if (p->nest[i]->picked && !named)
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
        const Nest *n = p->nest[nest[i]];
        const Nest *next = runner_up(choice, nest_choices(p, n, choice));
        printf("  nest %d by %s, %s", nest[i] + 1, n->kernel->name, n->order);
        printf("%s: about %s; ", n->picked ? ", as tuned" : "", cli_duration(c->arena, n->cost));
        if (next)
            printf("next %s, %s: %s\n", next->kernel->name, next->order,
                   cli_duration(c->arena, next->cost));
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

/* What is no conversion has no plan: a function of a layout, or a tile access. */
static int
explain_function(Cli *c, const Target *target, Request *rq, EmitKind kind)
{
    if (!c->o.statements || c->o.json || c->o.html)
        cli_fail(c, "explain --kind %s needs --statements, which is text: only a conversion has "
                 "a plan", c->o.kind);
    if (kind == EMIT_LOAD || kind == EMIT_STORE) {
        fputs(frag_print(cli_frag(c, target, rq, kind)), stdout);
        return EXIT_YES;
    }
    cli_index_request(c, target, rq);
    fputs(compile_index_statements(c->arena, target, c->known, rq, kind), stdout);
    return EXIT_YES;
}

/* Options that do not go together, and those for another target. */
static void
refuse(Cli *c, const Target *t)
{
    if (c->o.statements && (c->o.json || target_is(t, "bursts")))
        cli_fail(c, "--statements is text, of every target but bursts");
    if (c->o.statements && c->o.in_place)
        cli_fail(c, "--statements is of one conversion; emit --in-place writes the passes "
                 "within one buffer");
    if (c->o.measure && !c->o.html)
        cli_fail(c, "--measure adds measured times to the page of --html; bench prints them");
}

/* The plan for processors as text. */
static void
explain_plan(Cli *c, Plan *p, const Request *rq)
{
    Buf b = buf_new(c->arena);
    if (c->o.json)
        cli_fail(c, "--json needs --target cuda, hip, opencl, glsl, blocks or bursts");
    if (c->o.via)
        printf("via %s: nothing is lost, so it is one conversion\n\n", c->o.via);
    put_layout(&b, "from", p->from);
    put_layout(&b, "to", p->to);
    if (plan_moved(c->arena, p))
        buf_printf(&b, "%s\n\n", plan_moved(c->arena, p));
    if (plan_joins(c->arena, p))
        buf_printf(&b, "%s\n\n", plan_joins(c->arena, p));
    plan_print(&b, p);
    fputs(b.s, stdout);
    if (plan_is_fixed(p))
        printf("%s", cli_view_text(c, p));
    explain_kernels(c, p);
    explain_choices(c, p);
    explain_way(c, rq, p);
}

int
cmd_explain(Cli *c)
{
    i64 shape[MAX_RANK];
    Request rq = cli_request(c, shape);
    const Target *target = cli_target(c);
    if (cli_is_sparse(c, rq.from, rq.to))
        return cli_sparse_explain(c, rq.from, rq.to);
    if (cli_kind(c) != EMIT_RELAYOUT)
        return explain_function(c, target, &rq, cli_kind(c));
    cli_check_relayout(c, &rq);
    Plan *p = cli_plan(c, &rq);
    refuse(c, target);
    if (c->o.html)
        return cli_html_plan(c, target, p, &rq);
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
    explain_plan(c, p, &rq);
    return EXIT_YES;
}
