/* convert: one array of a file, by the code of a plan. */
#include <stdio.h>
#include <string.h>

#include "cli_convert.h"
#include "cli_index.h"
#include "cli_whole.h"

static void
check_raw(Cli *c, const Source *s, const char *from, const char *to)
{
    if (cli_ends_with(c->o.arg[0], ".mtx"))
        cli_fail(c, "'%s' is a list of coordinates and '%s' no sparse format: use --from COO, as in "
                 "--from COO --to ROW_MAJOR", c->o.arg[0], from);
    if (s->from.typed || (c->o.dtype && cli_knows_shape(c, from, to)))
        return;
    refuse_foreign(c, c->o.arg[0]);
    if (!s->from.a.count)
        cli_fail(c, "%s has no data", strcmp(c->o.arg[0], "-")
                 ? arena_printf(c->arena, "'%s'", c->o.arg[0]) : "standard input");
    cli_fail(c, "'%s' is not a .npy: raw data needs --shape and --dtype", c->o.arg[0]);
}

static void
check_stored(Cli *c, const Source *s, const Layout *l)
{
    i64 want[MAX_ENTRIES];
    int n = sides_stored(l, want);
    convert_check_stored(c, s, l, want, n, layout_bytes(l));
}

/* The layout `from` of an array whose first dim varies fastest: the same in an array with
 * strides; where that is not possible, and for index arrays, the array is copied. */
static const char *
from_fortran(Cli *c, Source *s, const char *from)
{
    const Npy *a = &s->from.a;
    if (layout_has_arrays(spec_ref(c->arena, from, c->known)->def)) {
        cli_settle(c, &s->file, &s->from);
        return from;
    }
    const Layout *l = compile_layout(c->arena, c->known, from, s->dtype->name, s->rank, s->shape);
    i64 stride[MAX_ENTRIES], at = 1;
    int k = 0;
    check_stored(c, s, l);
    bool can = !l->sigma && !c->o.via && s->dtype->bits >= 8 && !(l->view && l->view->strided);
    for (int i = 0; i < l->nentry && can; i++) {
        stride[i] = at;
        while (k < a->rank && a->shape[k] == 1)
            k++;
        if (l->entry[i].extent == 1)
            continue;
        can = k < a->rank && l->entry[i].extent == a->shape[k] && !l->entry[i].exact;
        at *= can ? a->shape[k++] : 1;
    }
    if (can)
        return spec_strided(c->arena, from, l->nentry, stride, 0);
    cli_settle(c, &s->file, &s->from);
    return from;
}

/* Compare the data with the definition of the relayout; then let go of the source, and prove
 * the code by index stamps.  Prints a message and returns false if either is wrong. */
static bool
verify(Cli *c, const ravel_plan *p, const CliIndices *x, const unsigned char *dst, Source *s)
{
    ravel_error err;
    i64 at;
    const Plan *own = x->n ? compile_again(c->arena, p->plan) : p->plan;
    for (int i = 0; i < x->n; i++)
        arrays_give(own, i, x->number[i]);
    cli_check(c, proof_affords(p->plan, &err), &err);
    if (!reference_differs(own, &p->threads, dst, s->from.a.data, &at))
        cli_no_memory(c, reference_bytes(own) + own->dst->size / 4, "a comparison");
    if (at >= 0)
        fprintf(stderr, "ravel: verify: slot %lld of the result differs from the "
                "layouts\n", (long long)at);
    cli_file_free(&s->file);
    cli_need_memory(c, proof_bytes(p->plan), "a proof");
    ravel_status status = at >= 0 ? RAVEL_ERR_VERIFY : ravel_verify(p, &err);
    if (status == RAVEL_ERR_VERIFY && at < 0)
        fprintf(stderr, "ravel: verify: %s\n", err.text);
    else if (status != RAVEL_ERR_VERIFY)
        cli_check(c, status, &err);
    return status == RAVEL_OK;
}

/* The source goes to where the result will be. */
static void
run_in_place(Cli *c, const ravel_plan *p, unsigned char *dst, const Source *s)
{
    memcpy(dst, s->from.a.data, (size_t)layout_bytes(p->plan->dst));
    if (ravel_run(p, dst, dst) == RAVEL_ERR_MEMORY)
        cli_fail(c, "no memory for the passes of a conversion in place");
}

/* Room for a result, zeroed: holes of the destination come out the same every time. */
static unsigned char *
result_room(Cli *c, Source *s, i64 bytes)
{
    ravel_error err;
    if (!s->several) {
        cli_need_memory(c, bytes, "a result");
        return arena_array(c->arena, unsigned char, bytes);
    }
    cli_check(c, file_room((size_t)bytes, (size_t)(s->memory / 2), &s->spool, &err), &err);
    if (!s->spool.mapped)
        memset(s->spool.data, 0, (size_t)bytes);
    return s->spool.data;
}

/* The same, with the whole result in memory. */
static bool
convert_whole(Cli *c, Source *s, const ravel_plan *plan)
{
    const Layout *l = plan->plan->dst;
    unsigned char *dst = result_room(c, s, layout_bytes(l));
    CliIndices x = cli_indices(c, plan, NULL);
    ravel_error err;
    if (x.n)
        cli_check(c, ravel_run_arrays(plan, dst, s->from.a.data, NULL, x.data, &err), &err);
    else if (c->o.in_place)
        run_in_place(c, plan, dst, s);
    else
        cli_run_whole(plan, dst, s->from.a.data);
    if (c->o.verify && !verify(c, plan, &x, dst, s))
        return false;
    if (!s->several)
        out_write(c, &(Result){s, l, dst}, 1);
    return true;
}

/* What --verify has shown. */
static const char *
verified(Cli *c, const Source *s)
{
    return !c->o.verify ? "" : !s->unproven ? ", verified"
           : arena_printf(c->arena, ", verified: the result is what the layouts say; a proof "
                          "of the code, which was left out, needs --mem %lldM",
                          (long long)int_ceil_div(s->unproven, 1 << 20));
}

/* The text of --from, or what the file says: then also of --shape and --dtype. */
static const char *
source_layout(Cli *c, const Source *s)
{
    if (c->o.from)
        return cli_layout_text(c, c->o.from);
    if (!s->from.layout)
        cli_fail(c, "--from LAYOUT is needed: '%s' does not say the layout of its array, as "
                 "the safetensors files do that ravel writes", c->o.arg[0]);
    c->o.shape = c->o.shape ? c->o.shape : s->from.shape;
    c->o.dtype = c->o.dtype ? c->o.dtype : s->from.element;
    return s->from.layout;
}

/* Compiles the relayout and converts what has elements.  Returns false if --verify finds a
 * flaw. */
static bool
convert_full(Cli *c, Source *s, const char *from, const char *to)
{
    ravel_error err;
    to = cli_index_lengths(c, to);
    Request whole = {.to = to, .dtype = s->dtype->name, .shape = s->shape};
    whole.from = convert_set_shape(c, s, from);
    whole.rank = s->rank;
    if (s->from.fortran)
        whole.from = from_fortran(c, s, whole.from);
    cli_via(c, &whole, s->shape);
    s->rank = whole.rank;
    ravel_request rq = {whole.from, to, s->dtype->name, s->rank, s->shape, cli_threads(c),
                        c->o.in_place};
    cli_check(c, ravel_compile(c->cx, &rq, &s->plan, &err), &err);
    const Plan *p = s->plan->plan;
    cli_check_indices(c, s->plan);
    cli_refuse_strides(c, s->plan);
    if (!s->from.fortran)
        check_stored(c, s, p->src);
    if (plan_looks_up(p) && c->o.mem)
        cli_fail(c, "--mem: a conversion with an index array is not divided into blocks");
    if (c->o.in_place && c->o.mem)
        cli_fail(c, "--mem: a conversion in place is not divided into blocks of files");
    const Blocks *b = plan_looks_up(p) || c->o.in_place ? NULL : convert_choose_blocks(c, s, p, &rq);
    return b ? convert_blocks(c, s, &rq, b) : convert_whole(c, s, s->plan);
}

int
convert_array(Cli *c, Source *s)
{
    const char *from = source_layout(c, s), *to = cli_layout_text(c, c->o.to);
    check_raw(c, s, from, c->o.via ? NULL : to);
    s->dtype = cli_file_dtype(c, &s->from);
    if (convert_is_empty(s) || cli_empty_index(c, from, to))
        convert_empty(c, s, from, to);
    else if (!convert_full(c, s, from, to))
        return EXIT_NO;
    const Layout *l = s->plan->plan->dst;
    if (s->empty && !s->several)
        out_write(c, &(Result){s, l, s->empty->data}, 1);
    const char *moved = plan_moved(c->arena, s->plan->plan);
    s->said = arena_printf(c->arena, "%s of %s as %s%s%s, %lld bytes%s", s->dtype->name,
                           cli_tuple(c->arena, s->shape, s->rank),
                           layout_ref_text(c->arena, l->ref), moved ? ", " : "", moved ? moved : "",
                           (long long)(s->empty ? s->empty->bytes : layout_bytes(l)),
                           s->empty ? "" : verified(c, s));
    if (!s->several && strcmp(c->o.arg[1], "-"))
        printf("%s: %s\n", c->o.arg[1], s->said);
    return EXIT_YES;
}

void
convert_free(Source *s)
{
    ravel_plan_free(s->plan);
    cli_file_free(&s->file);
    file_view_free(&s->spool);
}
