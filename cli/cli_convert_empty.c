/* convert: an array without elements, or an index array without numbers.  Extents of 0 are extents at
 * run time of a plan, which says the extents of the result. */
#include <string.h>

#include "cli_convert.h"
#include "cli_index.h"

bool
convert_is_empty(const Source *s)
{
    bool empty = false;
    for (int i = 0; i < s->from.a.rank && s->from.typed; i++)
        empty = empty || s->from.a.shape[i] == 0;
    return empty;
}

_Noreturn static void
fail_empty(Cli *c, const Source *s, const char *why)
{
    const char *shape = cli_tuple(c->arena, s->from.a.shape, s->from.a.rank);
    cli_fail(c, "%s has no elements, its shape is %s, and %s", cli_array_text(c, &s->from), shape,
             why);
}

/* The logical shape: that of --shape or of the metadata, or what follows from the array.  Returns the
 * text of `from`, as convert_set_shape does. */
static const char *
set_shape(Cli *c, Source *s, const char *from)
{
    const Npy *a = &s->from.a;
    if (!convert_is_empty(s))
        return convert_set_shape(c, s, from);
    if (c->o.shape)
        s->rank = cli_numbers(c, "--shape", c->o.shape, s->shape, MAX_RANK);
    else if (sides_logical(spec_ref(c->arena, from, c->known), a->rank, a->shape, s->shape))
        s->rank = a->rank;
    else
        fail_empty(c, s, arena_printf(c->arena, "the logical shape does not follow from it in "
                                      "layout '%s': give --shape", from));
    return from;
}

static void
check_empty(Cli *c, const Source *s, const char *from, const char *to)
{
    for (int d = 0; d < s->rank; d++)
        if (s->shape[d] == 0)
            return;
    if (!convert_is_empty(s))
        cli_fail(c, "the index array '%s' is empty, and logical shape %s has elements",
                 cli_empty_index(c, from, to), cli_tuple(c->arena, s->shape, s->rank));
    fail_empty(c, s, arena_printf(c->arena, "logical shape %s has some",
                                  cli_tuple(c->arena, s->shape, s->rank)));
}

static void
check_stored(Cli *c, const Source *s, const ravel_extents *want)
{
    ravel_error err;
    i64 all;
    const Npy *a = &s->from.a;
    const size_t bytes = (size_t)a->rank * sizeof *a->shape;
    cli_check(c, ravel_plan_bytes_at(s->plan, s->shape, &all, NULL, &err), &err);
    if (!convert_is_empty(s))
        convert_check_stored(c, s, s->plan->plan->src, want->extent, want->rank, all);
    else if (want->rank != a->rank || memcmp(want->extent, a->shape, bytes))
        fail_empty(c, s, arena_printf(c->arena, "logical shape %s is stored as %s",
                                      cli_tuple(c->arena, s->shape, s->rank),
                                      cli_tuple(c->arena, want->extent, want->rank)));
}

/* The plan of the array with its extents of 0 at run time. */
static void
compile(Cli *c, Source *s, const char *from, const char *to)
{
    ravel_error err;
    i64 extent[MAX_RANK];
    for (int d = 0; d < s->rank; d++)
        extent[d] = s->shape[d] ? s->shape[d] : RAVEL_RUNTIME;
    ravel_request rq = {from, to, s->dtype->name, s->rank, extent, 1, 0};
    cli_check(c, ravel_compile(c->cx, &rq, &s->plan, &err), &err);
    cli_refuse_strides(c, s->plan);
}

/* Both layouts have the same dims; each may have them in an order of its own. */
static void
order_shape(Cli *c, const Source *s, i64 *shape)
{
    int map[MAX_RANK];
    const Plan *p = s->plan->plan;
    plan_match(c->arena, p->src->ref, p->dst->ref, s->rank, map);
    for (int d = 0; d < s->rank; d++)
        shape[d] = s->shape[map[d]];
}

static void
run(Cli *c, const Source *s, unsigned char *dst)
{
    ravel_error err;
    cli_check_indices(c, s->plan);
    const CliIndices x = cli_indices(c, s->plan, s->shape);
    cli_check(c, x.n ? ravel_run_arrays(s->plan, dst, s->from.a.data, s->shape, x.data, &err)
                     : ravel_run_shape(s->plan, dst, s->from.a.data, s->shape, &err), &err);
}

void
convert_empty(Cli *c, Source *s, const char *from, const char *to)
{
    ravel_error err;
    ravel_extents src;
    EmptyResult *out = arena_new(c->arena, EmptyResult);
    if (c->o.via && !convert_is_empty(s))
        cli_fail(c, "the index array '%s' is empty: --via is for index arrays that have numbers",
                 cli_empty_index(c, from, to));
    if (c->o.via)
        fail_empty(c, s, "--via is for arrays that have some");
    from = set_shape(c, s, from);
    to = cli_index_lengths(c, to);
    if (s->from.fortran)
        cli_settle(c, &s->file, &s->from);
    check_empty(c, s, from, to);
    compile(c, s, from, to);
    order_shape(c, s, out->shape);
    cli_check(c, ravel_plan_shapes_at(s->plan, s->shape, &src, &out->stored, &err), &err);
    check_stored(c, s, &src);
    cli_check(c, ravel_plan_bytes_at(s->plan, s->shape, NULL, &out->bytes, &err), &err);
    cli_need_memory(c, out->bytes, "a result");
    out->data = arena_array(c->arena, unsigned char, out->bytes + 1);
    run(c, s, out->data);
    s->empty = out;
}
