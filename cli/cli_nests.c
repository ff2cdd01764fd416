/* explain --html --measure: the time of each nest of a plan on its own. */
#include "cli.h"
#include "cli_progress.h"

enum { ROUNDS = 9, SAMPLE = 500000 };      /* nanoseconds */

typedef struct {
    const Plan *p;
    const Steps **steps;           /* of each nest; NULL: another does its work */
    void *dst, *src;
    size_t to, from;               /* bytes */
} Nests;

typedef struct {
    const Nests *all;
    const Steps *steps;
} OneNest;

static void
run_nest(void *arg)
{
    const OneNest *one = arg;
    interpret_part(one->steps, one->all->dst, one->all->src, NULL, 0, 1);
}

/* The plan in which all nests but this one are work of another. */
static const Steps *
alone(Cli *c, const Plan *p, int nest)
{
    Plan *one = arena_copy(c->arena, p, sizeof *p);
    one->nest = arena_array(c->arena, Nest *, p->n);
    for (int i = 0; i < p->n; i++) {
        one->nest[i] = nest_keep(c->arena, p->nest[i]);
        one->nest[i]->merged |= i != nest;
    }
    return interpret_make(c->arena, one, c->cx->kernels);
}

static void
time_all(const Nests *t, double *ns)
{
    Progress shown = progress_begin("measuring", "steps");
    for (int i = 0; i < t->p->n; i++) {
        double sample[ROUNDS];
        OneNest one = {t, t->steps[i]};
        Measured m = {.call = run_nest, .arg = &one, .every = 1, .ns = sample};
        ns[i] = 0;
        if (!one.steps)
            continue;
        measure_calls(&m, SAMPLE, 0, 0);
        measure_rounds(&m, 1, ROUNDS, (Ready){0, 0});
        ns[i] = measure_spread(sample, ROUNDS).median;
        progress_at(&shown, i + 1, t->p->n, 0);
    }
    progress_end(&shown);
}

const double *
cli_time_nests(Cli *c, const Plan *p)
{
    Nests t = {.p = p, .to = (size_t)layout_bytes(p->dst), .from = (size_t)layout_bytes(p->src)};
    double *ns = arena_array(c->arena, double, p->n);
    t.steps = arena_array(c->arena, const Steps *, p->n);
    for (int i = 0; i < p->n; i++)
        t.steps[i] = p->nest[i]->merged ? NULL : alone(c, p, i);
    cli_need_memory(c, (i64)(t.to + t.from), "a pair of buffers");
    t.dst = measure_map(t.to);
    t.src = measure_map(t.from);
    bool ok = t.dst && t.src;
    if (ok)
        time_all(&t, ns);
    measure_unmap(t.dst, t.to);
    measure_unmap(t.src, t.from);
    if (!ok)
        cli_no_memory(c, (i64)(t.to + t.from), "a pair of buffers");
    return ns;
}
