/* explain --html: the data of a plan for the page of cli_html.c. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* The largest destination for which the page has the box of each slot. */
enum { BOXED_MAX = 1 << 16 };

typedef struct {
    const Plan *p;
    int *box;             /* of each slot of the destination; -1: no box */
    i64 *val;
    int nest;
} Boxes;

/* Mark the slots that the loops from `k` on write. */
static void
mark(Boxes *b, int k)
{
    const Nest *n = b->p->nest[b->nest];
    i64 at;
    for (i64 i = 0; k < n->nloops && i < n->loop[k].n; i++) {
        b->val[n->loop[k].var] = i;
        mark(b, k + 1);
    }
    if (k < n->nloops || !ex_eval(n->dst, b->val, &at))
        return;
    for (int j = 0; j < n->nloops; j++)
        at += b->val[n->loop[j].var] * n->loop[j].ds;
    if (at >= 0 && at < b->p->dst->size)
        b->box[at] = b->nest;
}

static json_t *
boxes_json(Arena *a, const Plan *p)
{
    i64 size = p->dst->size;
    if (size > BOXED_MAX)
        return NULL;
    Boxes b = {p, arena_array(a, int, size), arena_array(a, i64, ex_nvars(p->e)), 0};
    json_t *all = json_array();
    for (i64 i = 0; i < size; i++)
        b.box[i] = -1;
    for (; b.nest < p->n; b.nest++)
        mark(&b, 0);
    for (i64 i = 0; i < size; i++)
        json_array_append_new(all, json_integer(b.box[i]));
    return all;
}

/* ns: what --measure finds, or NULL. */
static json_t *
nests_json(Arena *a, const Plan *p, const double *ns)
{
    json_t *all = json_array();
    for (int i = 0; i < p->n; i++) {
        const Nest *n = p->nest[i];
        const char *order = n->order ? n->order : "";
        double ms = n->merged ? 0 : n->cost * 1e-6;
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:b}",
            "kernel", n->kernel->name, "what", kernel_what(n->kernel), "box",
            plan_box(a, p, n), "order", order, "elements", (json_int_t)n->elements, "ms",
            ms, "merged", n->merged));
        if (ns)
            json_object_set_new(json_array_get(all, (size_t)i), "measured",
                                json_real(ns[i] * 1e-6));
    }
    return all;
}

static json_t *
map_json(const Plan *p)
{
    json_t *map = json_array();
    for (int d = 0; d < p->dst->rank; d++)
        json_array_append_new(map, json_integer(p->map[d]));
    return map;
}

/* What --measure finds, or NULL. */
static json_t *
measured_json(Cli *c, const Request *rq)
{
    if (!c->o.measure)
        return NULL;
    Timing t = cli_time(c, rq);
    return json_pack("{s:f, s:f, s:i}", "ms", t.ns * 1e-6, "memcpy", t.memcpy, "threads",
                     t.threads);
}

int
cli_html_plan(Cli *c, const Target *t, const Plan *p, const Request *rq)
{
    if (c->o.json || c->o.statements || !target_is(t, "functions"))
        cli_fail(c, "--html shows the plan of code in C, without --target, --json and "
                 "--statements");
    if (!plan_is_fixed(p))
        cli_fail(c, "--html draws elements: give --shape in numbers");
    if (plan_looks_up(p))
        cli_fail(c, "--html draws elements, and which ones an index array names is not known");
    json_t *layouts = json_array(), *boxes = boxes_json(c->arena, p);
    PictureView view = picture_view();
    const Picture *drawn = picture_make(p->dst, decide_readable_or_fail(p->dst), &view);
    for (int s = 0; s < 2; s++)
        view.dim[s] = drawn->view.dim[s] < 0 ? -1 : p->map[drawn->view.dim[s]];
    drawn = picture_make(p->src, decide_readable_or_fail(p->src), &view);
    json_array_append_new(layouts, cli_html_layout(c, p->src, true));
    json_array_append_new(layouts, cli_html_layout(c, p->dst, true));
    json_t *plan = json_pack("{s:o, s:s, s:o, s:o*, s:o*}", "nests",
                             nests_json(c->arena, p, c->o.measure ? cli_time_nests(c, p) : NULL),
                             "processor", machine_name(p->machine), "map",
                             map_json(p), "boxes", boxes,
                             "measured", measured_json(c, rq));
    cli_html_write(c, c->o.html, drawn, layouts, plan);
    return EXIT_YES;
}
