/* convert: read an array file, convert it, write an array file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/file.h"
#include "../runtime/npy.h"
#include "../runtime/proof.h"
#include "../runtime/reference.h"
#include "cli.h"
#include "cli_sparse.h"

/* The source array; `data` is malloc'ed. */
typedef struct {
    bool npy;
    Npy a;                /* for raw: data and its length in bytes only */
    const DType *dtype;
    int rank;             /* logical */
    i64 shape[MAX_RANK];
} Source;

static bool
ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* A .npy file is recognised by its first bytes; other files are raw. */
static void
read_source(Cli *c, Source *s)
{
    size_t len;
    unsigned char *file;
    ravel_error err;
    cli_check(c, file_read(c->o.arg[0], SIZE_MAX / 4, &file, &len, &err), &err);
    s->npy = npy_is(file, len) || ends_with(c->o.arg[0], ".npy");
    if (s->npy) {
        cli_check(c, npy_decode(c->o.arg[0], file, len, &s->a, &err), &err);
        return;
    }
    s->a = (Npy){.data = file, .count = (i64)len, .bytes = 1};
    if (!c->o.shape || !c->o.dtype)
        cli_fail(c, "'%s' is not a .npy: raw data needs --shape and --dtype",
                 c->o.arg[0]);
}

/* The type of the file must be the dtype, or an unsigned or opaque type of the same
 * size, which does not define the meaning of the bytes. */
static void
check_dtype(Cli *c, const Source *s, const DType *t)
{
    const DType *own = dtype_of_npy(s->a.descr);
    bool opaque = s->a.descr[0] == 'u' || s->a.descr[0] == 'V';
    int stored = t->bits < 8 ? 8 : t->bits;
    if (stored != s->a.bytes * 8)
        cli_fail(c, "'%s' holds %d-byte elements (%s), --dtype %s has %d bits",
                 c->o.arg[0], s->a.bytes, s->a.descr, t->name, t->bits);
    if (own && own != t && !opaque)
        cli_fail(c, "'%s' holds %s elements, not %s: omit --dtype", c->o.arg[0],
                 own->name, t->name);
}

static const DType *
source_dtype(Cli *c, const Source *s)
{
    const DType *t = c->o.dtype ? dtype_find(c->o.dtype) : dtype_of_npy(s->a.descr);
    if (c->o.dtype && !t)
        cli_fail(c, "unknown dtype '%s'", c->o.dtype);
    if (!t)
        cli_fail(c, "'%s' holds elements of type %s: give their type with --dtype",
                 c->o.arg[0], s->a.descr);
    if (s->npy)
        check_dtype(c, s, t);
    return t;
}

static void
set_shape(Cli *c, Source *s, const char *from)
{
    if (c->o.shape) {
        s->rank = cli_numbers(c, "--shape", c->o.shape, s->shape, MAX_RANK);
        return;
    }
    for (int i = 0; i < s->a.rank; i++)
        if (s->a.shape[i] == 0)
            cli_fail(c, "'%s' is empty: an extent is 0", c->o.arg[0]);
    s->rank = s->a.rank;
    if (s->dtype->bits < 8 || !compile_logical(spec_ref(c->arena, from, c->known),
                                               s->a.rank, s->a.shape, s->shape))
        cli_fail(c, "the logical shape does not follow from %s of '%s' in layout '%s': "
                 "give --shape", cli_tuple(c->arena, s->a.shape, s->a.rank), c->o.arg[0],
                 from);
}

static bool
same_shape(const i64 *a, int n, const i64 *b, int m)
{
    for (int i = 0; n == m && i < n; i++)
        if (a[i] != b[i])
            return false;
    return n == m;
}

static void
check_stored(Cli *c, const Source *s, const Layout *l)
{
    i64 want[MAX_ENTRIES], bytes = layout_bytes(l);
    int n = compile_stored(l, want);
    i64 flat = bytes / s->a.bytes;
    if (!s->npy && s->a.count != bytes)
        cli_fail(c, "'%s' has %lld bytes, %s of shape %s needs %lld", c->o.arg[0],
                 (long long)s->a.count, l->ref->def->name,
                 cli_tuple(c->arena, s->shape, s->rank), (long long)bytes);
    if (s->npy && !same_shape(s->a.shape, s->a.rank, want, n) &&
        !same_shape(s->a.shape, s->a.rank, &flat, 1))
        cli_fail(c, "'%s' has shape %s, but %s of logical shape %s is stored as %s",
                 c->o.arg[0], cli_tuple(c->arena, s->a.shape, s->a.rank),
                 l->ref->def->name, cli_tuple(c->arena, s->shape, s->rank),
                 cli_tuple(c->arena, want, n));
}

static void
write_result(Cli *c, const Source *s, const Layout *l, const unsigned char *dst)
{
    const char *out = c->o.arg[1];
    ravel_error err;
    if (!ends_with(out, ".npy") && !(s->npy && !strcmp(out, "-"))) {
        FilePart part = {dst, (size_t)layout_bytes(l)};
        cli_check(c, file_write(out, &part, 1, &err), &err);
        return;
    }
    i64 shape[MAX_ENTRIES];
    int n = compile_stored(l, shape);
    const char *descr = s->npy ? s->a.descr : l->dtype->npy;
    int bytes = l->dtype->bits < 8 ? 1 : l->dtype->bits / 8;
    cli_check(c, npy_write(out, descr, bytes, n, shape, dst, &err), &err);
}

/* Compare the data with the definition of the relayout; then free the source, and prove
 * the code by index stamps.  Prints a message and returns false if either is wrong. */
static bool
verify(Cli *c, const ravel_plan *p, const unsigned char *dst, Source *s)
{
    ravel_error err;
    i64 at;
    cli_check(c, proof_affords(p->plan, &err), &err);
    if (!reference_differs(p->plan, dst, s->a.data, &at))
        cli_fail(c, "verify: out of memory");
    if (at >= 0)
        fprintf(stderr, "ravel: verify: slot %lld of the result differs from the "
                "layouts\n", (long long)at);
    free(s->a.data);
    s->a.data = NULL;
    cli_need_memory(c, proof_bytes(p->plan), "a proof");
    ravel_status status = at >= 0 ? RAVEL_ERR_VERIFY : ravel_verify(p, &err);
    if (status == RAVEL_ERR_VERIFY && at < 0)
        fprintf(stderr, "ravel: verify: %s\n", err.text);
    else if (status != RAVEL_ERR_VERIFY)
        cli_check(c, status, &err);
    return status == RAVEL_OK;
}

static int
convert(Cli *c, Source *s, ravel_plan **plan)
{
    ravel_error err;
    const char *from = cli_layout_text(c, c->o.from), *to = cli_layout_text(c, c->o.to);
    read_source(c, s);
    s->dtype = source_dtype(c, s);
    set_shape(c, s, from);
    ravel_request rq = {from, to, s->dtype->name, s->rank, s->shape, cli_threads(c)};
    cli_check(c, ravel_compile(c->cx, &rq, plan, &err), &err);
    const Plan *p = (*plan)->plan;
    check_stored(c, s, p->src);
    cli_need_memory(c, layout_bytes(p->dst), "a result");
    /* zeroed: holes of the destination come out the same every time */
    unsigned char *dst = arena_array(c->arena, unsigned char, layout_bytes(p->dst));
    ravel_run(*plan, dst, s->a.data);
    if (c->o.verify && !verify(c, *plan, dst, s))
        return EXIT_NO;
    write_result(c, s, p->dst, dst);
    if (strcmp(c->o.arg[1], "-"))
        printf("%s: %s of %s as %s, %lld bytes%s\n", c->o.arg[1], s->dtype->name,
               cli_tuple(c->arena, s->shape, s->rank),
               layout_ref_text(c->arena, p->dst->ref), (long long)layout_bytes(p->dst),
               c->o.verify ? ", verified" : "");
    return EXIT_YES;
}

typedef struct {
    Cli *c;
    Source s;
    ravel_plan *plan;
    int code;
} Convert;

static void
run_convert(void *arg)
{
    Convert *v = arg;
    v->code = convert(v->c, &v->s, &v->plan);
}

int
cmd_convert(Cli *c)
{
    Diag d;
    const char *from = cli_layout_text(c, c->o.from), *to = cli_layout_text(c, c->o.to);
    if (cli_is_sparse(c, from, to))
        return cli_sparse_convert(c, from, to);
    Convert v = {.c = c};
    bool ok = arena_run(c->arena, &d, run_convert, &v);
    ravel_plan_free(v.plan);
    free(v.s.a.data);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return v.code;
}
