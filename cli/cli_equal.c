/* ravel check --equals: are two layouts the same? */
#include <stdio.h>

#include "cli.h"

static json_t *
equality_json(Cli *c, const Comparison *w)
{
    const Equality *q = &w->q;
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

static void
print_equality(Cli *c, const Comparison *w)
{
    const Equality *q = &w->q;
    const char *of = c->o.shape ? arena_printf(c->arena, "shape %s", c->o.shape)
                                : "every shape";
    if (q->equal == NO)
        printf("no: for shape %s, element %s is at address %lld in %s and at %lld in "
               "%s\n", cli_tuple(c->arena, w->shape, w->rank),
               cli_tuple(c->arena, q->x, w->rank), (long long)q->at_a, c->o.arg[0],
               (long long)q->at_b, c->o.equals);
    else if (q->equal == YES)
        printf("yes: every element has the same address in both, for %s (%s)\n", of,
               q->by_structure ? "their expressions are equal"
                               : "every element was examined");
    else
        printf("unknown: %s\n", q->why);
    if (w->size_a != w->size_b)
        printf("  their storage differs: %lld and %s\n", (long long)w->size_a,
               cli_count(c->arena, w->size_b, "element"));
}

int
cli_check_equal(Cli *c)
{
    i64 shape[MAX_RANK];
    const char *a = cli_layout_text(c, c->o.arg[0]), *b = cli_layout_text(c, c->o.equals);
    const LayoutRef *ra = spec_ref(c->arena, a, c->known),
                    *rb = spec_ref(c->arena, b, c->known);
    const DType *t = cli_dtype_of(c, layout_needs_dtype(ra) ? a : b);
    cli_knows_shape(c, a, b);
    int rank = c->o.shape ? cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK) : 0;
    const Comparison w = sides_equal(c->arena, ra, rb, t, rank,
                                     c->o.shape ? shape : NULL);
    if (c->o.json)
        cli_print_json(equality_json(c, &w));
    else
        print_equality(c, &w);
    return w.q.equal == YES ? EXIT_YES : EXIT_NO;
}
