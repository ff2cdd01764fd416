/* ravel check: properties of a layout, for one shape or for all. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_sparse.h"

/* The largest number of gaps in JSON, and in text. */
enum { GAPS_JSON = 1000, GAPS_TEXT = 4 };

/* The consequence of a flaw; follows the name of the layout in a message. */
static const char *const meaning[] = {
    [FLAW_COLLISION] = "is not one-to-one", [FLAW_REPEATED] = "stores a digit twice",
    [FLAW_SIGMA] = "has a swizzle that does not fit",
    [FLAW_UNDECIDED] = "could not be decided"};

static const char *
gap_kind(const Gap *g)
{
    return g->padding ? "padding" : "hole";
}

static json_t *
witness_json(const Layout *l, const Verdict *v)
{
    if (v->flaw == FLAW_COLLISION)
        return json_pack("{s:o, s:o, s:I}", "x", cli_json_numbers(v->x, l->rank), "y",
                         cli_json_numbers(v->y, l->rank), "address", (json_int_t)v->at);
    return json_pack("{s:o, s:I}", "addresses",
                     cli_json_numbers(v->address, v->naddresses), "to",
                     (json_int_t)v->at);
}

static json_t *
gaps_json(const Verdict *v)
{
    json_t *list = json_array();
    for (int i = 0; i < v->ngaps; i++)
        json_array_append_new(list, json_pack("{s:I, s:I, s:s}", "from",
            (json_int_t)v->gap[i].from, "to", (json_int_t)v->gap[i].to - 1, "is",
            gap_kind(&v->gap[i])));
    return list;
}

static json_t *
inverse_json(const Layout *l, const Ex **inverse)
{
    json_t *j = json_object();
    for (int d = 0; d < l->rank; d++)
        json_object_set_new(j, l->dim[d].name, json_string(ex_text(l->e, inverse[d])));
    return j;
}

static json_t *
verdict_json(Cli *c, const Layout *l, const Verdict *v, const char *of)
{
    json_t *j = json_pack("{s:s, s:s, s:b, s:s, s:s, s:s*}", "layout", c->o.arg[0],
                          "dtype", l->dtype->name, "usable", v->flaw == FLAW_NONE,
                          "one_to_one", cli_answers[v->injective], "for", of, "why",
                          v->why);
    if (v->flaw == FLAW_COLLISION || v->naddresses)
        json_object_set_new(j, "witness", witness_json(l, v));
    return j;
}

/* The further properties for one shape. */
static void
add_storage_json(json_t *j, Layout *l, const Verdict *v)
{
    i64 box[MAX_ENTRIES];
    int n = layout_box(l, box);
    json_object_update_new(j, json_pack("{s:o, s:I, s:s, s:o, s:b, s:s*}", "storage",
        cli_json_numbers(box, n), "size", (json_int_t)l->size, "onto",
        cli_answers[v->onto], "gaps", gaps_json(v), "more_gaps", v->more_gaps, "note",
        why_holes(l)));
    const char *unfilled = v->flaw ? NULL : why_unfilled(l, v);
    if (unfilled)
        json_object_set_new(j, "unfilled", json_string(unfilled));
    if (v->injective != UNKNOWN)
        json_object_set_new(j, "proven_by", json_string(
            v->by_structure ? "structure" : v->by_order ? "order"
            : v->by_inverse ? "inverse" : v->by_factors ? "factors" : "enumeration"));
    if (v->ngaps)
        json_object_set_new(j, "gap", json_integer(v->gap->from));
    if (v->injective != YES || v->flaw == FLAW_SIGMA)
        return;
    json_object_update_new(j, json_pack("{s:I, s:I, s:I, s:b}", "elements",
        (json_int_t)v->elements, "padding", (json_int_t)v->padding, "holes",
        (json_int_t)v->holes, "dense", l->size == v->elements));
    if (!v->inverse)
        return;
    json_object_set_new(j, "inverse", inverse_json(l, v->inverse));
    json_object_set_new(j, "inverse_proven", json_boolean(v->inverse_proven));
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
    if (l->ref->def->view && v->flaw != FLAW_UNDECIDED &&
        (v->flaw != FLAW_SIGMA || v->naddresses == 2))
        printf("  it is a view: usable as --from, not as --to\n");
}

/* prints: no element at 19, 23 (hole), 68..79, 84..95, ... (padding) */
static void
print_gaps(const Verdict *v)
{
    int n = v->ngaps < GAPS_TEXT ? v->ngaps : GAPS_TEXT;
    if (!n)
        return;
    printf("  no element at ");
    for (int i = 0; i < n; i++) {
        const Gap *g = &v->gap[i];
        bool last = i + 1 == n;
        printf("%s%lld", i ? ", " : "", (long long)g->from);
        if (g->to > g->from + 1)
            printf("..%lld", (long long)g->to - 1);
        if (last && (v->more_gaps || v->ngaps > n))
            printf(", ...");
        if (last || g[1].padding != g->padding)
            printf(" (%s)", gap_kind(g));
    }
    printf("\n");
}

static void
print_storage(Layout *l, const Verdict *v)
{
    Arena *a = ex_arena(l->e);
    const char *note = why_holes(l), *unfilled = v->flaw ? NULL : why_unfilled(l, v);
    if (v->injective != YES || v->flaw == FLAW_SIGMA)
        printf("  onto its storage of %s: %s\n", cli_count(a, l->size, "element"),
               cli_answers[v->onto]);
    else if (l->size == v->elements)
        printf("  dense: %s, %s\n", cli_count(a, l->size, "element"),
               cli_count(a, layout_bytes(l), "byte"));
    else
        printf("  not dense: %s in %lld (%lld padding, %s), %s\n",
               cli_count(a, v->elements, "element"), (long long)l->size, (long long)v->padding,
               cli_count(a, v->holes, "hole"), cli_count(a, layout_bytes(l), "byte"));
    print_gaps(v);
    if (unfilled)
        printf("  not usable as --to: %s\n", unfilled);
    else if (note && v->onto != YES)
        printf("  %s\n", note);
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

/* By what a yes was decided, unless it was by structure. */
static const char *
how_decided(Arena *a, const Verdict *v)
{
    if (v->by_structure)
        return "";
    if (v->by_order)
        return " (one dim follows from another)";
    if (v->by_inverse)
        return v->examined ? " (its inverse was examined at every element)"
               : " (the simplifier proves its inverse)";
    if (!v->by_factors)
        return " (every element was examined)";
    return !v->examined ? " (its independent parts were decided one by one)"
           : arena_printf(a, " (its independent parts were examined: %lld values)",
                          (long long)v->examined);
}

static int
check_shape(Cli *c)
{
    i64 shape[MAX_RANK];
    Layout *l = cli_layout(c, shape);
    Verdict *v = decide(l);
    const char *of = arena_printf(c->arena, "shape %s", c->o.shape);
    decide_is_readable(l, v);
    storage_decide(l, v, c->o.json ? GAPS_JSON : GAPS_TEXT);
    if (!v->flaw)
        decide_inverse(l, v);
    if (c->o.json) {
        json_t *j = verdict_json(c, l, v, of);
        add_storage_json(j, l, v);
        cli_print_json(j);
        return v->flaw ? EXIT_NO : EXIT_YES;
    }
    if (v->flaw) {
        printf("%s: %s %s\n", v->flaw == FLAW_UNDECIDED ? "unknown" : "no",
               c->o.arg[0], meaning[v->flaw]);
        print_flaw(c, l, v);
    } else {
        printf("yes: %s is one-to-one for %s%s\n", c->o.arg[0], of, how_decided(c->arena, v));
    }
    print_storage(l, v);
    if (!v->flaw)
        print_inverse(l, v);
    return v->flaw ? EXIT_NO : EXIT_YES;
}

static bool
is_fixed(const EveryShape *s, int d)
{
    return s->fixed && s->fixed[d] >= 0;
}

/* every shape with A up to 8, B up to 4, C = 64 */
static const char *
every_text(Cli *c, const EveryShape *s)
{
    Buf b = buf_new(c->arena);
    buf_add(&b, "every shape");
    for (int d = 0, n = 0; d < s->l->rank; d++)
        if (s->bound[d] < INF)
            buf_printf(&b, "%s%s %s %lld", n++ ? ", " : " with ", s->l->dim[d].name,
                       is_fixed(s, d) ? "=" : "up to", (long long)s->bound[d]);
    return b.s;
}

/* W is a multiple of 4, C is 8 */
static const char *
dense_text(Cli *c, const EveryShape *s)
{
    Buf b = buf_new(c->arena);
    int n = 0;
    for (int d = 0; d < s->l->rank; d++) {
        bool fixed = s->bound[d] < INF;
        if (is_fixed(s, d))
            continue;
        if (fixed || s->multiple[d] > 1)
            buf_printf(&b, "%s%s is %s%lld", n++ ? ", " : "", s->l->dim[d].name,
                       fixed ? "" : "a multiple of ", (long long)s->multiple[d]);
    }
    return n ? b.s : NULL;
}

static const char *
witness_shape(Cli *c, const Layout *l)
{
    return arena_printf(c->arena, "shape %s",
                        cli_tuple(c->arena, cli_shape(c->arena, l), l->rank));
}

static json_t *
every_json(Cli *c, const EveryShape *s)
{
    if (s->injective == UNKNOWN)
        return json_pack("{s:s, s:s, s:s, s:s}", "layout", c->o.arg[0], "one_to_one",
                         "unknown", "for", "every shape", "why", s->why);
    json_t *j = verdict_json(c, s->l, s->v, s->v->flaw == FLAW_COLLISION
                             ? witness_shape(c, s->l) : every_text(c, s));
    if (s->v->flaw)
        return j;
    json_object_set_new(j, "dense", json_string(cli_answers[s->dense]));
    if (s->dense == YES) {
        json_t *m = json_object();
        for (int d = 0; d < s->l->rank; d++)
            json_object_set_new(m, s->l->dim[d].name, json_pack("{s:I, s:b}",
                s->bound[d] < INF ? "is" : "multiple_of", (json_int_t)s->multiple[d],
                "bounded", s->bound[d] < INF));
        json_object_set_new(j, "dense_when", m);
    }
    if (!s->inverse)
        return j;
    json_t *entries = json_object();
    for (int i = 0; i < s->l->nentry; i++)
        json_object_set_new(entries, ex_var_name(s->l->e, s->entry_var[i]),
                            json_string(ast_text(c->arena, s->l->entry[i].x)));
    json_object_set_new(j, "entries", entries);
    json_object_set_new(j, "inverse_of_entries", inverse_json(s->l, s->inverse));
    return j;
}

static void
print_every(Cli *c, const EveryShape *s)
{
    printf("yes: %s is one-to-one for %s\n", c->o.arg[0], every_text(c, s));
    const char *when = dense_text(c, s);
    if (s->dense == YES)
        printf("  dense%s%s\n", when ? " exactly when " : "", when ? when : "");
    else if (s->dense == NO)
        printf("  never dense: some values of its digits do not occur\n");
    else
        printf("  whether it is dense depends on the shape: give --shape\n");
    if (!s->inverse)
        return;
    printf("  inverse, of the entries of its order:");
    for (int i = 0; i < s->l->nentry; i++)
        printf("%s %s = %s", i ? "," : "", ex_var_name(s->l->e, s->entry_var[i]),
               ast_text(c->arena, s->l->entry[i].x));
    printf("\n");
    for (int d = 0; d < s->l->rank; d++)
        printf("    %s = %s\n", s->l->dim[d].name, ex_text(s->l->e, s->inverse[d]));
}

/* rank and extents of shape where that is not NULL: those of them that are given. */
static int
check_shapes(Cli *c, int rank, const i64 *shape)
{
    const char *text = cli_layout_text(c, c->o.arg[0]);
    const LayoutRef *ref = spec_ref(c->arena, text, c->known);
    layout_need_strides(c->arena, ref->def);
    EveryShape *s = decide_shapes(ex_new(c->arena), ref, cli_dtype_of(c, text),
                                  shape ? rank : decide_rank(ref->def), shape);
    bool yes = s->injective == YES && !s->v->flaw;
    if (c->o.json) {
        cli_print_json(every_json(c, s));
    } else if (s->injective == UNKNOWN) {
        printf("unknown: %s cannot be decided for every shape: %s\n", c->o.arg[0],
               s->why);
        if (ref->def->index)
            printf("  give the extents of the tensor, as in 'NCHW(2,64,56,56)[:, 1:3]'\n");
        else
            printf("  give --shape, as in --shape %s\n",
                   cli_shape_like(c->arena, decide_rank(ref->def)));
    } else if (!yes) {
        printf("no: %s %s", c->o.arg[0], meaning[s->v->flaw]);
        if (s->v->flaw == FLAW_COLLISION)
            printf(", for example for %s", witness_shape(c, s->l));
        printf("\n");
        print_flaw(c, s->l, s->v);
    } else {
        print_every(c, s);
    }
    return yes ? EXIT_YES : EXIT_NO;
}

int
cmd_check(Cli *c)
{
    i64 shape[MAX_RANK];
    const char *name[MAX_RANK];
    bool any = false;
    const char *text = cli_layout_text(c, c->o.arg[0]);
    if (cli_is_sparse(c, text, NULL))
        return cli_sparse_check(c, text);
    if (!!c->o.equals + !!c->o.banks + !!c->o.compatible > 1)
        cli_fail(c, "--equals, --compatible and --banks cannot be combined");
    if (c->o.equals)
        return cli_check_equal(c);
    if (c->o.compatible)
        return cli_check_compatible(c);
    if (c->o.banks)
        return cli_check_banks(c);
    if (!cli_knows_shape(c, text, NULL))
        return check_shapes(c, 0, NULL);
    int rank = cli_shape_names(c, shape, name, &any);
    return any ? check_shapes(c, rank, shape) : check_shape(c);
}
