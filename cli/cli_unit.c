/* What emit of one conversion and of many share: the request and the plan of one, and the files with
 * their functions. */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "cli_object.h"

static PlanMachine
machine(Cli *c)
{
    const char *name = c->o.processor;
    if (!name)
        return (PlanMachine){0};
    PlanMachine m = strcmp(name, "here") ? machine_named(name) : c->cx->machine;
    if (!m.costs)
        cli_fail(c, "--processor '%s': here, or one of%s", name, machine_names());
    return m;
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

Request
cli_request(Cli *c, i64 *shape)
{
    bool any;
    const char **extent = arena_array(c->arena, const char *, MAX_RANK);
    Request rq = {.dtype = c->o.dtype, .shape = shape, .name = c->o.name};
    rq.from = c->o.from ? cli_layout_text(c, c->o.from) : NULL;
    rq.to = c->o.to ? cli_layout_text(c, c->o.to) : NULL;
    cli_find_shape(c, rq.from, c->o.via ? NULL : rq.to);
    rq.rank = cli_shape_names(c, shape, extent, &any);
    rq.extent = any ? extent : NULL;
    cli_via(c, &rq, shape);
    rq.machine = machine(c);
    rq.align = align(c);
    rq.batch = c->o.batch;
    return rq;
}

void
cli_write_text(Cli *c, const char *path, const char *text)
{
    cli_write(c, path, text, strlen(text));
}

/* RAVEL_ALL_H for some/all.h */
void
cli_check_relayout(Cli *c, const Request *rq)
{
    if (!rq->from || !rq->to || !rq->dtype)
        cli_fail(c, "%s is needed: a relayout has --from, --to and --dtype",
                 !rq->from ? "--from LAYOUT" : !rq->to ? "--to LAYOUT" : "--dtype T");
}

void
cli_index_request(Cli *c, const Target *target, Request *rq)
{
    if (target_is(target, "bursts"))
        cli_fail(c, "--kind %s: a machine of bursts supports relayouts only", c->o.kind);
    if (!rq->from == !rq->to)
        cli_fail(c, "--kind %s takes one layout: give it with --to", c->o.kind);
    rq->dtype = cli_dtype(c, rq->to ? rq->to : rq->from);
}

static const char *
guard_of(Cli *c, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *s = arena_printf(c->arena, "RAVEL_%s", slash ? slash + 1 : path);
    for (char *p = s; *p; p++)
        *p = (char)(isalnum((unsigned char)*p) ? toupper((unsigned char)*p) : '_');
    return s;
}

int
cli_emit_units(Cli *c, const Target *t, const Emitted *e, int n)
{
    const Unit **u = arena_array(c->arena, const Unit *, n);
    for (int i = 0; i < n; i++)
        u[i] = e[i].unit;
    const char *text = render_file(t, u, n);
    if (c->o.check && !cli_prove_emitted(c, e, n, text))
        return EXIT_NO;
    cli_write_depfile(c);
    if (c->o.header)
        cli_write_text(c, c->o.header, render_header(t, u, n, guard_of(c, c->o.header)));
    cli_write_text(c, c->o.output, text);
    return EXIT_YES;
}

const Plan *
cli_plan_written(Cli *c, const Target *t, const Request *rq)
{
    int64_t start = log_start(c->cx);
    const Plan *p = cli_plan(c, rq);
    if (!start)
        return p;
    const char *command = emit_command(c->arena, t, rq, p->src->ref, p->dst->ref, NULL);
    log_written(c->cx, p, arena_printf(c->arena, "%s%s%s%s", command,
                                       c->o.in_place ? " --in-place" : "",
                                       c->o.processor ? " --processor " : "",
                                       c->o.processor ? c->o.processor : ""), start);
    return p;
}
