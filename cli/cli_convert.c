/* convert: read an array file, convert it, write an array file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_convert.h"
#include "cli_index.h"
#include "cli_sparse.h"
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

/* Set the logical shape.  Returns the text of `from`; if that is a part of the array, with
 * the extents of the array. */
const char *
convert_set_shape(Cli *c, Source *s, const char *from)
{
    const LayoutRef *ref = spec_ref(c->arena, from, c->known);
    const bool part = ref->def->index && ref->def->index->nstrides < 0;
    while (ref->def->index)
        ref = ref->def->index->of;
    bool known = s->from.typed && s->dtype->bits >= 8 &&
                 compile_logical(ref, s->from.a.rank, s->from.a.shape, s->shape);
    if (known)
        from = spec_with_extents(c->arena, from, s->from.a.rank, s->shape);
    from = cli_index_lengths(c, from);
    s->rank = s->from.a.rank;
    if (cli_knows_shape(c, from, NULL) &&
        (c->o.shape = cli_index_shape(c, c->o.shape)))
        s->rank = cli_numbers(c, "--shape", c->o.shape, s->shape, MAX_RANK);
    else if (!known && !s->from.a.rank)
        cli_fail(c, "%s has no dims: it holds a single number, and %s has %d dim%s",
                 cli_array_text(c, &s->from), from, ref->def->ndims, ref->def->ndims == 1 ? "" : "s");
    else if (!known && s->from.a.rank < ref->def->ndims)
        cli_fail(c, "%s has %s, %s, and %s has %d: give the logical shape with --shape",
                 cli_array_text(c, &s->from), cli_count(c->arena, s->from.a.rank, "dim"),
                 cli_tuple(c->arena, s->from.a.shape, s->from.a.rank), from, ref->def->ndims);
    else if (!known && s->from.a.rank > ref->def->ndims && s->from.a.rank > ref->def->norder)
        cli_fail(c, "%s has %d dims, %s, and %s is stored with %d: name the layout that the array "
                 "is in", cli_array_text(c, &s->from), s->from.a.rank,
                 cli_tuple(c->arena, s->from.a.shape, s->from.a.rank), from,
                 ref->def->norder);
    else if (!known || part)
        cli_fail(c, "the logical shape does not follow from %s of %s in layout '%s': "
                 "give --shape", cli_tuple(c->arena, s->from.a.shape, s->from.a.rank),
                 cli_array_text(c, &s->from), from);
    return from;
}

static bool
same_shape(const i64 *a, int n, const i64 *b, int m)
{
    for (int i = 0; n == m && i < n; i++)
        if (a[i] != b[i])
            return false;
    return n == m;
}

/* l is stored as an array of n extents, `want`. */
void
convert_check_stored(Cli *c, const Source *s, const Layout *l, const i64 *want, int n, i64 bytes)
{
    i64 flat = bytes / s->from.a.bytes;
    if (!s->from.typed && s->from.a.count != bytes)
        cli_fail(c, "'%s' has %lld bytes%s%s%s, %s of shape %s needs %lld%s", c->o.arg[0],
                 (long long)s->from.a.count, c->o.offset ? " from --offset " : "",
                 c->o.offset ? c->o.offset : "", c->o.offset ? " on" : "", l->ref->def->name,
                 cli_tuple(c->arena, s->shape, s->rank), (long long)bytes,
                 s->from.a.count > bytes && !c->o.offset
                     ? "; --offset N leaves out N bytes in front" : "");
    if (s->from.typed && !same_shape(s->from.a.shape, s->from.a.rank, want, n) &&
        !same_shape(s->from.a.shape, s->from.a.rank, &flat, 1))
        cli_fail(c, "%s has shape %s, but %s of logical shape %s is stored as %s",
                 cli_array_text(c, &s->from), cli_tuple(c->arena, s->from.a.shape, s->from.a.rank),
                 l->ref->def->name, cli_tuple(c->arena, s->shape, s->rank),
                 cli_tuple(c->arena, want, n));
}

static void
check_stored(Cli *c, const Source *s, const Layout *l)
{
    i64 want[MAX_ENTRIES];
    int n = compile_stored(l, want);
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
    cli_read_array(c, &s->file, &s->from);
    if (s->file.nlike > 1 && !s->several)
        return convert_many(c, &s->file);
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

typedef struct {
    Cli *c;
    Source s;
    int code;
} Convert;

static void
run_convert(void *arg)
{
    Convert *v = arg;
    v->code = convert_array(v->c, &v->s);
}

int
cmd_convert(Cli *c)
{
    Diag d;
    const char *from = c->o.from ? cli_layout_text(c, c->o.from) : NULL;
    const char *to = cli_layout_text(c, c->o.to);
    out_check(c);
    if (cli_is_sparse(c, from, to) && c->o.index)
        cli_fail(c, "--index gives index arrays, and a sparse format has none");
    if (cli_is_sparse(c, from, to) && c->o.in_place)
        cli_fail(c, "--in-place is for layouts, and not for sparse formats");
    if (cli_is_sparse(c, from, to))
        return cli_sparse_convert(c, from, to);
    if (c->o.threshold || c->o.mask || c->o.duplicates)
        cli_fail(c, "--threshold, --mask and --duplicates say what becomes an entry of a sparse "
                 "format");
    if (c->o.concat)
        cli_fail(c, "--concat is beside a sparse format");
    Convert v = {.c = c, .s = {.memory = cli_memory(c), .file.many = out_has_many(c)}};
    bool ok = arena_run(c->arena, &d, run_convert, &v);
    convert_free(&v.s);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return v.code;
}
