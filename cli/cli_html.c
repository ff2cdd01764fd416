/* show --html: a page that evaluates a layout's index expressions itself.  The page is
 * templates/html/page.html; its data is a JSON object made here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_convert.h"

/* Values of a parameter: its own, halved and doubled a few times. */
enum { VALUES_MAX = 5, VARIED_MAX = 2 };

typedef struct {
    Cli *c;
    const LayoutRef *ref;
    const DType *dtype;
    int rank;
    const i64 *shape;
    bool fixed;           /* the shape does not change */
    Layout *l;            /* at the shape */
    json_t *form;
} PageForm;

static void
add_text(json_t *list, const char *text)
{
    json_array_append_new(list, json_string(text));
}

/* j, or an error: jansson refuses texts that are not UTF-8. */
static json_t *
need(Cli *c, json_t *j)
{
    if (!j)
        cli_fail(c, "a text of the layout is not UTF-8 and cannot be written to a page");
    return j;
}

static json_t *
params_json(const Layout *l)
{
    json_t *j = json_object();
    for (int i = 0; i < l->ref->def->nparams; i++)
        if (!l->ref->def->params[i].list)
            json_object_set_new(j, l->ref->def->params[i].name, json_integer(l->param[i]));
    return j;
}

static json_t *
entry_json(Arena *a, const Layout *l, int i, const Ex *x, const char *slots,
           const char *stride)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "entry", ast_text(a, l->entry[i].x), "simple",
                     ex_text(l->e, x), "slots", slots, "stride", stride);
}

/* Expressions over dims, extents and scalars. */
static json_t *
every_json(const Symbolic *s)
{
    const Layout *l = s->l;
    json_t *order = json_array(), *scalars = json_array(), *padded = json_array();
    for (int i = 0; i < l->nentry; i++)
        json_array_append_new(order, entry_json(s->arena, l, i, l->entry[i].written,
            ex_text(l->e, s->sizes->slots[i]), ex_text(l->e, s->sizes->stride[i])));
    for (int i = s->scalars->nextents; i < s->scalars->n; i++)
        json_array_append_new(scalars, json_pack("[s, s]",
            ex_var_name(l->e, s->scalars->scalar[i].var), scalar_text(s->scalars, i)));
    for (int d = 0; d < l->rank; d++)
        add_text(padded, ex_text(l->e, s->sizes->padded[d]));
    return json_pack("{s:b, s:o, s:o, s:o, s:s, s:s}", "every", 1, "order", order,
                     "scalars", scalars, "padded", padded, "size",
                     ex_text(l->e, s->sizes->size), "address", cli_symbolic_address(s));
}

/* The same for one shape: without scalars. */
static json_t *
fixed_json(Arena *a, const Layout *l, const char *why)
{
    json_t *order = json_array(), *padded = json_array();
    for (int i = 0; i < l->nentry; i++)
        json_array_append_new(order, entry_json(a, l, i, l->entry[i].ex,
            arena_printf(a, "%lld", (long long)l->entry[i].extent),
            arena_printf(a, "%lld", (long long)l->entry[i].stride)));
    for (int d = 0; d < l->rank; d++)
        add_text(padded, arena_printf(a, "%lld", (long long)l->dim[d].padded));
    return json_pack("{s:b, s:s, s:o, s:[], s:o, s:s, s:s}", "every", 0, "why", why,
                     "order", order, "scalars", "padded", padded, "size",
                     arena_printf(a, "%lld", (long long)l->size), "address",
                     ex_text(l->e, l->addr));
}

/* A scalar with the name of a dim would make expressions ambiguous. */
static bool
is_ambiguous(const Symbolic *s)
{
    bool twice = false;
    for (int i = s->scalars->nextents; i < s->scalars->n; i++)
        twice |= layout_find_dim(s->l, ex_var_name(s->l->e,
                                                   s->scalars->scalar[i].var)) >= 0;
    return twice;
}

static json_t *
cuts_json(const Layout *l)
{
    i64 cut[CUTS_MAX];
    json_t *all = json_array();
    for (int d = 0; d < l->rank; d++)
        json_array_append_new(all, cli_json_numbers(cut, picture_cuts(l, d, cut)));
    return all;
}

static void
make_form(void *arg)
{
    PageForm *f = arg;
    Arena *a = f->c->arena;
    f->l = layout_make(ex_new(a), f->ref, f->dtype, f->rank, f->shape);
    decide_readable_or_fail(f->l);
    Symbolic s = {.why = "the page shows one conversion of this shape"};
    if (!f->fixed)
        s = cli_symbolic(a, f->ref, f->dtype, f->rank);
    if (s.sizes && !is_ambiguous(&s))
        f->form = every_json(&s);
    else
        f->form = fixed_json(a, f->l, s.why ? s.why : "a dim has the name of a scalar");
    json_object_set_new(f->form, "params", params_json(f->l));
    json_object_set_new(f->form, "cuts", cuts_json(f->l));
}

/* The reference with another value of a parameter. */
static const LayoutRef *
with_value(Arena *a, const LayoutRef *ref, const char *name, i64 value)
{
    LayoutRef *r = arena_copy(a, ref, sizeof *ref);
    r->n = 0;
    r->given = arena_array(a, Param, ref->n + 1);
    for (int i = 0; i < ref->n; i++)
        if (strcmp(ref->given[i].name, name))
            r->given[r->n++] = ref->given[i];
    r->given[r->n++] = (Param){.name = name, .value = ast_num(a, value, (Loc){0})};
    return r;
}

/* A few values around v; returns their number. */
static int
values_near(i64 v, i64 value[VALUES_MAX])
{
    int n = 0;
    value[n++] = v;
    for (i64 k = 2; k <= 4 && v > 0; k *= 2) {
        if (v % k == 0)
            value[n++] = v / k;
        if (v < 1 << 20)
            value[n++] = v * k;
    }
    return n;
}

/* Adds the forms for other values of parameter i and those after it.  A value that the
 * layout does not allow is left out. */
static void
vary(const PageForm *of, int i, int varied, json_t *forms)
{
    Diag d;
    PageForm f = *of;
    const LayoutDef *def = of->ref->def;
    i64 value[VALUES_MAX] = {0};
    bool varies = i < def->nparams && varied < VARIED_MAX && !def->params[i].list &&
                  strcmp(def->params[i].name, "lanes") &&
                  strcmp(def->params[i].name, "registers");
    if (i == def->nparams) {
        if (arena_run(of->c->arena, &d, make_form, &f))
            json_array_append_new(forms, f.form);
        else if (diag_is_final(&d))
            cli_fail(of->c, "%s", d.text);
        return;
    }
    int n = varies ? values_near(of->l->param[i], value) : 0;
    vary(&f, i + 1, varied + varies, forms);
    for (int k = 1; k < n; k++) {
        f.ref = with_value(of->c->arena, of->ref, def->params[i].name, value[k]);
        vary(&f, i + 1, varied + varies, forms);
    }
}

json_t *
cli_html_layout(Cli *c, const Layout *l, bool fixed)
{
    json_t *forms = json_array(), *dims = json_array();
    const LayoutDef *def = l->ref->def;
    PageForm f = {.c = c, .ref = l->ref, .dtype = l->dtype, .rank = l->rank,
                  .shape = cli_shape(c->arena, l), .fixed = fixed};
    make_form(&f);
    json_decref(f.form);
    vary(&f, fixed ? def->nparams : 0, 0, forms);
    for (int d = 0; d < l->rank; d++)
        add_text(dims, l->dim[d].name);
    return need(c, json_pack("{s:s, s:s, s:s, s:i, s:o, s:o, s:b}", "name",
        layout_ref_text(c->arena, l->ref), "doc", def->doc ? def->doc : "", "dtype",
        l->dtype->name, "bits", l->dtype->bits, "dims", dims, "forms", forms, "fills",
        def->fill != FILL_NONE));
}

/* The boxes of a plan colour the cells unless the view says what does. */
static json_t *
view_json(const Picture *p, bool boxes)
{
    json_t *at = cli_json_numbers(p->view.at, p->l->rank);
    const char *by = p->by ? ast_text(ex_arena(p->l->e), p->by) : p->way->name;
    return json_pack("{s:i, s:i, s:o, s:s}", "row", p->view.dim[0], "col", p->view.dim[1],
                     "at", at, "by", boxes && !p->view.by ? "box" : by);
}

static const Embedded *
page(Cli *c)
{
    const Embedded *f = embed_templates(c->arena->diag);
    while (f->name && strcmp(f->name, "templates/html/page.html"))
        f++;
    if (!f->name)
        cli_fail(c, "this build has no page for --html");
    return f;
}

/* JSON that may stand in a script element: no text of it ends the element. */
static void
add_json(Buf *b, json_t *j)
{
    char *text = json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII);
    if (!text)
        diag_fatal(b->arena->diag, DIAG_MEMORY, (Loc){0}, "out of memory");
    for (const char *s = text; *s; s++)
        if (*s == '<')
            buf_add(b, "\\u003c");
        else
            buf_addn(b, s, 1);
    free(text);
}

void
cli_html_write(Cli *c, const char *path, const Picture *p, json_t *layouts, json_t *plan)
{
    static const char mark[] = "@DATA@";
    const char *other = cli_ends_with(path, ".svg") ? "SVG" : foreign_format(path);
    if (other)
        cli_fail(c, "'%s': --html writes a page, and no file of %s", path, other);
    const Embedded *f = page(c);
    const char *at = strstr(f->text, mark);
    json_t *colors = json_array();
    Buf b = buf_new(c->arena);
    for (int i = 0; i < COLORS + RAMP; i++)
        add_text(colors, picture_color(i));
    json_t *view = view_json(p, json_object_get(plan, "boxes"));
    json_t *shape = cli_json_numbers(cli_shape(c->arena, p->l), p->l->rank);
    json_t *j = need(c, json_pack("{s:s, s:o, s:i, s:o, s:o, s:o, s:o*}", "version",
                                  RAVEL_VERSION, "colors", colors, "hues", COLORS, "shape",
                                  shape, "view", view, "layouts", layouts, "plan", plan));
    buf_addn(&b, f->text, (size_t)(at - f->text));
    add_json(&b, j);
    json_decref(j);
    buf_add(&b, at + strlen(mark));
    cli_write(c, path, b.s, b.len);
}
