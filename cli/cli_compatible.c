/* ravel check --compatible: is a layout a view of another, and what does a copy cost? */
#include <stdio.h>

#include "cli.h"

/* Whether a copy is one run, runs, or single elements. */
static const char *
kind_of(const Together *w)
{
    return w->run == w->elements ? "one run" : w->run > 1 ? "runs" : "a full permutation";
}

const char *
cli_view_text(Cli *c, const Plan *p)
{
    const Strides s = sides_view_of(p);
    if (s.is_view != YES)
        return "";
    return arena_printf(c->arena, "view: array %s with strides %s from element %lld of the "
                        "source is the result; no copy is needed\n",
                        cli_tuple(c->arena, s.extent, s.axes),
                        cli_tuple(c->arena, s.stride, s.axes), (long long)s.origin);
}

static void
print_copy(const Plan *p, const Together *w)
{
    i64 bits = p->dst->dtype->bits;
    Arena *a = ex_arena(p->dst->e);
    printf("  a copy moves %s in %s", cli_count(a, layout_points(p->dst, false), "element"),
           kind_of(w));
    if (w->run > 1)
        printf(" of %s, %s", cli_count(a, w->run, "element"),
               bits < 8 ? cli_count(a, w->run * bits, "bit") : cli_count(a, w->run * bits / 8, "byte"));
    printf("\n");
}

/* Whether the layout can only be a source, as a broadcast is: its elements share addresses. */
static bool
only_source(Cli *c, const Request *rq, const char *text)
{
    Layout *l = compile_layout(c->arena, c->known, text, rq->dtype, rq->rank, rq->shape);
    Verdict *v = decide(l);
    return v->injective == NO && decide_is_readable(l, v);
}

static json_t *
to_json(Cli *c, const Plan *p, const Strides *s)
{
    const Together w = sides_walk(p);
    json_t *j = json_pack("{s:s, s:s, s:s, s:s*, s:I, s:s}", "layout", c->o.arg[0],
        "compatible", c->o.compatible, "view", cli_answers[s->is_view], "why", s->why,
        "run", (json_int_t)w.run, "order", w.order);
    if (s->is_view == YES)
        json_object_update_new(j, json_pack("{s:o, s:o, s:I}",
            "extents", cli_json_numbers(s->extent, s->axes),
            "strides", cli_json_numbers(s->stride, s->axes), "origin",
            (json_int_t)s->origin));
    return j;
}

/* copies: the layout can be written to. */
static void
print_answer(Cli *c, const Plan *p, const Strides *s, bool copies)
{
    const Together w = sides_walk(p);
    printf("%s: %s %s a view of %s for shape %s\n", cli_answers[s->is_view], c->o.compatible,
           s->is_view == YES ? "is" : s->is_view == NO ? "is not" : "may be", c->o.arg[0],
           c->o.shape);
    if (s->is_view == YES)
        printf("  array %s with strides %s from element %lld, in elements\n",
               cli_tuple(c->arena, s->extent, s->axes), cli_tuple(c->arena, s->stride, s->axes),
               (long long)s->origin);
    else
        printf("  because %s\n", s->why);
    if (copies)
        print_copy(p, &w);
    printf("  both can be walked together in the order %s\n", *w.order ? w.order : "of one "
           "element");
}

int
cli_check_compatible(Cli *c)
{
    i64 shape[MAX_RANK];
    Request rq = {.shape = shape};
    rq.from = cli_layout_text(c, c->o.arg[0]);
    rq.to = cli_layout_text(c, c->o.compatible);
    const LayoutRef *from = spec_ref(c->arena, rq.from, c->known);
    rq.dtype = cli_dtype(c, layout_needs_dtype(from) ? rq.from : rq.to);
    cli_find_shape(c, rq.from, rq.to);
    rq.rank = cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    const bool shares = only_source(c, &rq, rq.to);
    if (shares) {
        const char *to = rq.to;
        rq.to = rq.from;
        rq.from = to;
    }
    const Plan *p = compile_plan(c->arena, c->known, &rq);
    const Strides s = !shares ? sides_view_of(p)
        : (Strides){.is_view = NO, .why = "its elements share addresses: it can only be a source"};
    if (c->o.json) {
        cli_print_json(to_json(c, p, &s));
        return s.is_view == YES ? EXIT_YES : EXIT_NO;
    }
    print_answer(c, p, &s, !shares);
    return s.is_view == YES ? EXIT_YES : EXIT_NO;
}
