/* Questions about one layout: list, index, table, check. */
#include <stdio.h>
#include <string.h>

#include "../runtime/npy.h"
#include "cli.h"

static json_t *
names(const LayoutDef *d)
{
    json_t *a = json_array();
    if (d->batch)
        json_array_append_new(a, json_string("..."));
    for (int i = 0; i < d->ndims; i++)
        json_array_append_new(a, json_string(d->dims[i]));
    return a;
}

/* A later definition hides an earlier one of the same name. */
static bool
hidden(const Cli *c, const LayoutDef *d)
{
    for (const LayoutDef *k = c->known; k != d; k = k->next)
        if (!strcmp(k->name, d->name))
            return true;
    return false;
}

int
cmd_list(Cli *c)
{
    json_t *all = json_array();
    for (const LayoutDef *d = c->known; d; d = d->next) {
        if (hidden(c, d))
            continue;
        if (!c->o.json) {
            printf("%-16s %s\n", d->name, d->doc ? d->doc : layout_text(c->arena, d));
            continue;
        }
        json_array_append_new(all, json_pack("{s:s, s:s*, s:o, s:s, s:s, s:i}", "name",
            d->name, "doc", d->doc, "dims", names(d), "layout", layout_text(c->arena, d),
            "file", d->loc.file, "line", d->loc.line));
    }
    if (c->o.json)
        cli_print_json(all);
    else
        json_decref(all);
    return EXIT_YES;
}

/* The element at address a: by the inverse, or by looking at all. */
static bool
element_at(Cli *c, const Layout *l, const Verdict *v, i64 a, i64 *x)
{
    i64 back, looked = 0;
    if (v->inverse)
        return verdict_element(l, v, a, x);
    memset(x, 0, MAX_RANK * sizeof *x);
    do {
        if (layout_address(l, x, &back) && back == a)
            return true;
        if (++looked > ENUM_MAX)
            cli_fail(c, "the layout has no inverse in closed form and more than %d "
                     "elements to look at", ENUM_MAX);
    } while (layout_next(l, false, x));
    return false;
}

static int
index_inverse(Cli *c, const Layout *l, const Verdict *v)
{
    i64 a, x[MAX_RANK];
    if (cli_numbers(c, "--at", c->o.at, &a, 1) != 1)
        cli_fail(c, "--at: with --inverse it is one address");
    if (a >= l->size)
        cli_fail(c, "--at %lld is outside the storage of %lld elements", (long long)a,
                 (long long)l->size);
    if (!element_at(c, l, v, a, x)) {
        printf("none: address %lld is padding or a hole\n", (long long)a);
        return EXIT_NO;
    }
    for (int d = 0; d < l->rank; d++)
        printf("%s%lld", d ? "," : "", (long long)x[d]);
    putchar('\n');
    return EXIT_YES;
}

int
cmd_index(Cli *c)
{
    i64 shape[MAX_RANK], x[MAX_RANK], a;
    Layout *l = cli_layout(c, shape);
    Verdict *v = decide_or_fail(l);
    if (c->o.inverse)
        return index_inverse(c, l, v);
    int n = cli_numbers(c, "--at", c->o.at, x, MAX_RANK);
    if (n != l->rank)
        cli_fail(c, "--at has %d numbers, the shape %d", n, l->rank);
    for (int d = 0; d < n; d++)
        if (x[d] >= l->dim[d].n)
            cli_fail(c, "--at: %s=%lld is outside 0..%lld", l->dim[d].name,
                     (long long)x[d], (long long)l->dim[d].n - 1);
    if (!layout_address(l, x, &a))
        cli_fail(c, "the address does not fit 64 bits");
    printf("%lld\n", (long long)a);
    return EXIT_YES;
}

int
cmd_table(Cli *c)
{
    i64 shape[MAX_RANK], count = 1, bytes;
    ravel_error err;
    const char *text = cli_layout_text(c, c->o.arg[0]);
    int rank = cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    for (int i = 0; i < rank; i++)
        if (shape[i] < 1 || !int_mul(count, shape[i], &count))
            cli_fail(c, "--shape %s: extents are 1 or more and their product fits 64 "
                     "bits", c->o.shape);
    if (!int_mul(count, 8, &bytes))
        cli_fail(c, "the table does not fit memory");
    cli_need_memory(c, bytes, "a table");
    i64 *out = arena_array(c->arena, i64, count);
    cli_check(c, ravel_table(c->cx, text, cli_dtype(c, text), rank, shape, out, &err),
              &err);
    cli_check(c, npy_write(c->o.output, "i8", 8, rank, shape, out, &err), &err);
    return EXIT_YES;
}

static const char *const answers[] = {[NO] = "no", [YES] = "yes", [UNKNOWN] = "unknown"};

/* What a flaw means for the layout, after its text. */
static const char *const meaning[] = {
    [FLAW_COLLISION] = "is not one-to-one", [FLAW_REPEATED] = "stores a digit twice",
    [FLAW_SIGMA] = "has a swizzle that does not fit",
    [FLAW_UNDECIDED] = "could not be decided"};

static json_t *
verdict_json(Cli *c, const Layout *l, const Verdict *v, const char *of)
{
    json_t *j = json_pack("{s:s, s:s, s:b, s:s, s:s}", "layout", c->o.arg[0], "dtype",
                          l->dtype->name, "usable", v->flaw == FLAW_NONE, "one_to_one",
                          answers[v->injective], "for", of);
    if (v->why)
        json_object_set_new(j, "why", json_string(v->why));
    if (v->flaw == FLAW_COLLISION)
        json_object_set_new(j, "witness", json_pack("{s:o, s:o, s:I}", "x",
            cli_json_numbers(v->x, l->rank), "y", cli_json_numbers(v->y, l->rank),
            "address", (json_int_t)v->at));
    if (v->flaw || !c->o.shape)
        return j;
    i64 box[MAX_ENTRIES];
    int n = layout_box(l, box);
    json_object_set_new(j, "storage", cli_json_numbers(box, n));
    json_object_update_new(j, json_pack("{s:I, s:I, s:I, s:I, s:b}",
        "size", (json_int_t)l->size, "elements", (json_int_t)v->elements,
        "padding", (json_int_t)v->padding, "holes", (json_int_t)v->holes,
        "dense", l->size == v->elements));
    if (v->has_gap)
        json_object_set_new(j, "gap", json_integer(v->gap));
    if (!v->inverse)
        return j;
    json_t *inverse = json_object();
    for (int d = 0; d < l->rank; d++)
        json_object_set_new(inverse, l->dim[d].name,
                            json_string(ex_text(l->e, v->inverse[d])));
    json_object_set_new(j, "inverse", inverse);
    return j;
}

static void
print_flaw(Cli *c, const Layout *l, const Verdict *v)
{
    if (v->flaw == FLAW_COLLISION)
        printf("  %s and %s are both at address %lld: ",
               cli_tuple(c->arena, v->x, l->rank), cli_tuple(c->arena, v->y, l->rank),
               (long long)v->at);
    else
        printf("  ");
    printf("%s\n", v->why);
    if (v->loc.file && v->loc.line)
        printf("  at %s:%d\n", v->loc.file, v->loc.line);
}

static void
print_storage(const Layout *l, const Verdict *v)
{
    if (l->size == v->elements)
        printf("  dense: %lld elements, %lld bytes\n", (long long)l->size,
               (long long)layout_bytes(l));
    else
        printf("  not dense: %lld elements in %lld (%lld padding, %lld holes), %lld "
               "bytes\n", (long long)v->elements, (long long)l->size,
               (long long)v->padding, (long long)v->holes, (long long)layout_bytes(l));
    if (v->has_gap)
        printf("  no element at address %lld (%s)\n", (long long)v->gap, v->gap_kind);
}

static void
print_inverse(const Layout *l, const Verdict *v)
{
    if (!v->inverse) {
        printf("  no inverse in closed form\n");
        return;
    }
    printf("  inverse, of address a%s:\n",
           v->inverse_proven ? " (the simplifier proves inverse(address(x)) = x)" : "");
    for (int d = 0; d < l->rank; d++)
        printf("    %s = %s\n", l->dim[d].name, ex_text(l->e, v->inverse[d]));
}

static int
print_verdict(Cli *c, const Layout *l, const Verdict *v, const char *of)
{
    bool every = !c->o.shape;
    if (c->o.json) {
        cli_print_json(verdict_json(c, l, v, of));
    } else if (v->flaw) {
        printf("%s: %s %s\n", v->flaw == FLAW_UNDECIDED ? "unknown" : "no",
               c->o.arg[0], meaning[v->flaw]);
        print_flaw(c, l, v);
    } else {
        printf("yes: %s is one-to-one for %s%s\n", c->o.arg[0], of,
               v->by_structure ? "" : " (every element was looked at)");
        if (!every) {
            print_storage(l, v);
            print_inverse(l, v);
        }
    }
    return v->flaw ? EXIT_NO : EXIT_YES;
}

_Noreturn static void
no_structure(Cli *c, const char *text)
{
    cli_fail(c, "'%s' has no structure that holds for every shape: give --shape", text);
}

/* No shape given: judge at extents where every digit is full.  What structure says
 * there holds for every smaller shape, since that is a part of it; and for every
 * larger one where the topmost digit of each dim is open. */
static int
check_every_shape(Cli *c, const char *text)
{
    i64 shape[MAX_RANK], bound[MAX_RANK];
    const DType *t = dtype_find(cli_dtype(c, text));
    if (!t)
        cli_fail(c, "unknown dtype '%s'", c->o.dtype);
    const LayoutRef *ref = spec_ref(c->arena, text, c->known);
    int rank = decide_full_shape(ex_new(c->arena), ref, t, shape, bound);
    if (rank < 0 || ref->def->swizzle)
        no_structure(c, text);
    Layout *l = layout_make(ex_new(c->arena), ref, t, rank, shape);
    Verdict *v = decide(l);
    if (!v->by_structure || v->flaw == FLAW_UNDECIDED)
        no_structure(c, text);
    Buf of = buf_new(c->arena);
    buf_add(&of, "every shape");
    for (int d = 0, n = 0; d < rank; d++)
        if (bound[d] < INF)
            buf_printf(&of, "%s%s up to %lld", n++ ? ", " : " with ", l->dim[d].name,
                       (long long)bound[d]);
    return print_verdict(c, l, v, of.s);
}

int
cmd_check(Cli *c)
{
    i64 shape[MAX_RANK];
    if (!c->o.shape)
        return check_every_shape(c, cli_layout_text(c, c->o.arg[0]));
    Layout *l = cli_layout(c, shape);
    Verdict *v = decide(l);
    return print_verdict(c, l, v, arena_printf(c->arena, "shape %s", c->o.shape));
}
