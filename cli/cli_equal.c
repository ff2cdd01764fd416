/* ravel check --equals: are two layouts the same? */
#include <stdio.h>

#include "cli.h"

typedef struct {
    const LayoutRef *a, *b;
    const DType *t;
    int rank, map[MAX_RANK];
    i64 shape[MAX_RANK], size_a, size_b;
} Two;

/* The rank for a comparison without a shape: that of the side without `...`. */
static int
rank_of(Cli *c, const LayoutDef *a, const LayoutDef *b)
{
    int n = decide_rank(a), m = decide_rank(b);
    bool fits = a->batch ? b->batch || a->ndims <= m : b->batch ? b->ndims <= n : n == m;
    if (!fits)
        cli_fail(c, "'%s' has %d dims and '%s' has %d: they are not comparable", a->name,
                 a->ndims, b->name, b->ndims);
    return !a->batch ? n : !b->batch ? m : n > m ? n : m;
}

static Equality
compare(Cli *c, Two *w)
{
    i64 of_b[MAX_RANK];
    Exprs *e = ex_new(c->arena);
    w->rank = c->o.shape ? cli_numbers(c, "--shape", c->o.shape, w->shape, MAX_RANK)
                         : rank_of(c, w->a->def, w->b->def);
    plan_match(c->arena, w->a, w->b, w->rank, w->map);
    if (!c->o.shape)
        return decide_equal_every(e, w->a, w->b, w->t, w->rank, w->map, w->shape);
    for (int d = 0; d < w->rank; d++)
        of_b[d] = w->shape[w->map[d]];
    Layout *a = layout_make(e, w->a, w->t, w->rank, w->shape);
    Layout *b = layout_make(e, w->b, w->t, w->rank, of_b);
    w->size_a = a->size;
    w->size_b = b->size;
    return decide_equal(a, b, w->map);
}

static json_t *
equality_json(Cli *c, const Two *w, const Equality *q)
{
    const char *by = q->equal != YES ? NULL
                   : q->by_structure ? "structure" : "enumeration";
    json_t *j = json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "layout", c->o.arg[0], "equals",
                          c->o.equals, "equal", cli_answers[q->equal], "proven_by", by,
                          "why", q->why);
    if (q->equal == NO)
        json_object_set_new(j, "witness", json_pack("{s:o, s:o, s:I, s:I}", "shape",
            cli_json_numbers(w->shape, w->rank), "x", cli_json_numbers(q->x, w->rank),
            "address", (json_int_t)q->at_a, "other", (json_int_t)q->at_b));
    if (w->size_a)
        json_object_update_new(j, json_pack("{s:[I,I]}", "sizes", (json_int_t)w->size_a,
                                            (json_int_t)w->size_b));
    return j;
}

int
cli_check_equal(Cli *c)
{
    Two w = {0};
    const char *a = cli_layout_text(c, c->o.arg[0]), *b = cli_layout_text(c, c->o.equals);
    w.a = spec_ref(c->arena, a, c->known);
    w.b = spec_ref(c->arena, b, c->known);
    w.t = cli_dtype_of(c, layout_needs_dtype(w.a) ? a : b);
    Equality q = compare(c, &w);
    const char *of = c->o.shape ? arena_printf(c->arena, "shape %s", c->o.shape)
                                : "every shape";
    if (c->o.json)
        cli_print_json(equality_json(c, &w, &q));
    else if (q.equal == NO)
        printf("no: for shape %s, element %s is at address %lld in %s and at %lld in "
               "%s\n", cli_tuple(c->arena, w.shape, w.rank),
               cli_tuple(c->arena, q.x, w.rank), (long long)q.at_a, c->o.arg[0],
               (long long)q.at_b, c->o.equals);
    else if (q.equal == YES)
        printf("yes: every element has the same address in both, for %s (%s)\n", of,
               q.by_structure ? "their expressions are equal"
                              : "every element was examined");
    else
        printf("unknown: %s\n", q.why);
    if (!c->o.json && w.size_a != w.size_b)
        printf("  their storage differs: %lld and %lld elements\n", (long long)w.size_a,
               (long long)w.size_b);
    return q.equal == YES ? EXIT_YES : EXIT_NO;
}
