/* Checks a layout after its table has been read: which fields must be there, and which names
 * each expression may use. */
#include <string.h>

#include "spec_parts.h"

bool
spec_is_param(const LayoutDef *d, const char *name)
{
    return layout_find_param(d, name) >= 0 || !strcmp(name, "bytes") || !strcmp(name, "bits");
}

const Param *
spec_table(const LayoutDef *d, const char *name)
{
    for (int i = 0; i < d->nparams; i++)
        if (d->params[i].list && !strcmp(d->params[i].name, name))
            return &d->params[i];
    return NULL;
}

bool
spec_mentions(const Ast *x, const char *name)
{
    if (!x)
        return false;
    if (x->table)
        return !strcmp(x->table->name, name) || spec_mentions(x->table->at, name);
    if (x->op == OP_SYM)
        return !strcmp(x->name, name);
    return (op_info[x->op].nargs > 0 && spec_mentions(x->x[0], name)) ||
           (op_info[x->op].nargs > 1 && spec_mentions(x->x[1], name));
}

typedef enum { PARAMETERS, AND_EXTENTS, AND_DIMS } Names;

static bool
is_extent(const LayoutDef *d, const char *name)
{
    for (int i = 0; i < d->ndims; i++)
        if (layout_extent_is(name, d->dims[i]))
            return true;
    return false;
}

static bool
is_dim(const LayoutDef *d, const char *name)
{
    for (int i = 0; i < d->ndims; i++)
        if (!strcmp(d->dims[i], name))
            return true;
    return false;
}

bool
spec_names_fill(const LayoutDef *d, const Ast *x)
{
    return x->op == OP_SYM && !x->table && !spec_is_param(d, x->name) && !is_extent(d, x->name) &&
           !is_dim(d, x->name);
}

/* `extra`: another name that is known here; or NULL. */
_Noreturn static void
unknown_name(Reader *r, const Ast *x, bool dims, const char *extra)
{
    const LayoutDef *d = r->def;
    const char *known[MAX_RANK + MAX_ENTRIES + 2];
    int n = 0;
    for (int i = 0; dims && i < d->ndims; i++)
        known[n++] = d->dims[i];
    for (int i = 0; i < d->nparams; i++)
        known[n++] = d->params[i].name;
    known[n] = NULL;
    const char *near = diag_nearest(x->name, known);
    if (extra)
        known[n++] = extra;
    Buf b = buf_new(r->s->arena);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", known[i]);
    diag_fatal(r->s->arena->diag, DIAG_SPEC, x->loc,
               "unknown name '%s'%s%s%s; known here: %s", x->name,
               near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "",
               n ? b.s : dims ? "no dim" : "bytes, bits");
}

/* Names in x that are neither parameters nor, where these may stand, extents and dims. */
static void
check_names(Reader *r, const Ast *x, Names may, const char *extra)
{
    const LayoutDef *d = r->def;
    if (x->op != OP_SYM) {
        for (int i = 0; i < op_info[x->op].nargs; i++)
            check_names(r, x->x[i], may, extra);
        return;
    }
    if (x->table || spec_table(d, x->name))
        diag_fatal(r->s->arena->diag, DIAG_SPEC, x->loc, "'%s': a table is indexed, as in "
                   "T[G], and only in order", ast_text(r->s->arena, x));
    if (spec_is_param(d, x->name) || (extra && !strcmp(extra, x->name)) ||
        (may >= AND_EXTENTS && is_extent(d, x->name)))
        return;
    if (is_extent(d, x->name))
        diag_fatal(r->s->arena->diag, DIAG_SPEC, x->loc, "'%s' has no value here: a "
                   "parameter and the fill are the same for every shape; use it in order, "
                   "pad, pitch or stride", x->name);
    if (may != AND_DIMS || !is_dim(d, x->name))
        unknown_name(r, x, may == AND_DIMS, extra);
}

static void
check_settings(Reader *r, const Setting *t, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        const char *field = t[i].exact ? "stride" : name;
        bool known = !t[i].dim && t[i].entry < r->def->norder;
        for (int d = 0; t[i].dim && d < r->def->ndims; d++)
            known |= !strcmp(r->def->dims[d], t[i].dim);
        if (!known)
            FAIL(r, "%s: there is no %s '%s'", field, t[i].dim ? "dim" : "entry",
                 t[i].dim ? t[i].dim
                          : arena_printf(r->s->arena, "%d", t[i].entry + 1));
        check_names(r, t[i].value, AND_EXTENTS, NULL);
    }
}

/* The first dim without an inverse; NULL: each has one. */
static const char *
not_inverted(const LayoutDef *d)
{
    for (int k = 0; k < d->ndims; k++) {
        bool found = false;
        for (int i = 0; i < d->ninverses; i++)
            found |= !strcmp(d->dims[k], d->inverses[i].dim);
        if (!found)
            return d->dims[k];
    }
    return NULL;
}

/* A coordinate of each dim, each once. */
static void
check_inverse(Reader *r)
{
    const LayoutDef *d = r->def;
    for (int i = 0; i < d->ninverses; i++) {
        bool known = false;
        for (int k = 0; k < d->ndims; k++)
            known |= !strcmp(d->dims[k], d->inverses[i].dim);
        if (!known)
            FAIL(r, "inverse: there is no dim '%s'", d->inverses[i].dim);
        check_names(r, d->inverses[i].value, AND_EXTENTS, "a");
    }
    if (d->ninverses && (d->batch || d->level))
        FAIL(r, "%s", "inverse is of a layout with a name for each dim");
    if (d->ninverses && not_inverted(d))
        FAIL(r, "inverse of '%s': no function for dim '%s'; each dim needs one", d->name,
             not_inverted(d));
    if (d->ninverses && spec_is_param(d, "a"))
        FAIL(r, "a parameter cannot be called 'a' beside an inverse: that is the address");
}

static bool
mentions_level(const LevelDef *l, const char *name)
{
    bool found = spec_mentions(l->number, name);
    for (int i = 0; i < l->norder; i++)
        found |= spec_mentions(l->order[i], name);
    return found;
}

/* A parameter that nothing reads is a misspelt field, unless it is one of a fragment's
 * (frag.h). */
static void
check_used(Reader *r, const char *name)
{
    const LayoutDef *d = r->def;
    bool used = spec_mentions(d->swizzle, name) || spec_mentions(d->fill_of, name) ||
                !strcmp(name, "lanes") || !strcmp(name, "registers");
    for (int i = 0; i < d->norder; i++)
        used |= (d->order[i].x && spec_mentions(d->order[i].x, name)) ||
                (d->level && mentions_level(&d->level[i], name));
    for (int i = 0; i < d->nparams; i++)
        used |= spec_mentions(d->params[i].value, name);
    for (int i = 0; i < d->npads; i++)
        used |= spec_mentions(d->pads[i].value, name);
    for (int i = 0; i < d->nlimits; i++)
        used |= spec_mentions(d->limits[i].value, name);
    for (int i = 0; i < d->npitches; i++)
        used |= spec_mentions(d->pitches[i].value, name);
    for (int i = 0; i < d->ninverses; i++)
        used |= spec_mentions(d->inverses[i].value, name);
    const char *near = field_nearest(name);
    if (!used)
        FAIL(r, "parameter '%s' is not used anywhere%s%s%s", name,
             near ? "; did you mean the field '" : "", near ? near : "",
             near ? "'?" : "");
}

/* A sparse format has levels instead of an order, and nothing that maps addresses. */
static void
check_levels(Reader *r)
{
    const LayoutDef *d = r->def;
    if (d->npads || d->npitches || d->nlimits || d->swizzle || d->view || d->batch)
        FAIL(r, "sparse '%s': pad, pitch, limit, swizzle, view and '...' are of layouts, not of "
             "sparse formats", d->name);
    if (d->fill == FILL_EDGE)
        FAIL(r, "sparse '%s': fill is a number", d->name);
    for (int i = 0; i < d->norder; i++) {
        if (d->level[i].number)
            check_names(r, d->level[i].number, PARAMETERS, NULL);
        for (int k = 0; k < d->level[i].norder; k++)
            check_names(r, d->level[i].order[k], AND_DIMS, NULL);
    }
}

static void
check_order(Reader *r)
{
    LayoutDef *d = r->def;
    if (!d->dims)
        FAIL(r, "layout '%s' has no dims; write dims = { N, C, H, W }", d->name);
    if (!d->order)
        FAIL(r, r->sparse ? "sparse '%s' has no levels; write levels = { dense(R), "
                            "compressed(C) }"
             : "layout '%s' has no order; write order = { N, C // 16, ... }", d->name);
    if (r->sparse != (d->level != NULL))
        FAIL(r, r->sparse ? "sparse '%s' has levels, not an order"
             : "layout '%s' has levels: a sparse format is declared as sparse \"NAME\" { ... }",
             d->name);
    for (int i = 0; i < d->norder; i++) {
        if (d->order[i].x)
            check_names(r, d->order[i].x, AND_DIMS, NULL);
        else if (!d->batch)
            FAIL(r, "order has '...' but dims do not");
    }
}

static void
check_params(Reader *r)
{
    LayoutDef *d = r->def;
    for (int i = 0; i < d->nparams; i++) {
        for (int j = 0; j < d->ndims; j++)
            if (!strcmp(d->params[i].name, d->dims[j]))
                FAIL(r, "'%s' is both a dim and a parameter", d->dims[j]);
        if (d->params[i].value)
            check_names(r, d->params[i].value, PARAMETERS, NULL);
        check_used(r, d->params[i].name);
    }
}

static void
check_swizzle(Reader *r)
{
    LayoutDef *d = r->def;
    if (d->swizzle_bytes && !d->swizzle)
        FAIL(r, "unit is what a swizzle counts, but there is no swizzle");
    if (d->swizzle)
        check_names(r, d->swizzle, AND_EXTENTS, "a");
    if (d->swizzle && spec_is_param(d, "a"))
        FAIL(r, "a parameter cannot be called 'a' beside a swizzle: that is the address");
}

/* In an inline layout, a name that stands for nothing else is that of the fill of each run. */
static void
check_fill(Reader *r)
{
    LayoutDef *d = r->def;
    if (d->fill_of && d->is_inline && spec_names_fill(d, d->fill_of)) {
        d->fill_name = d->fill_of->name;
        d->fill_of = NULL;
    }
    if (d->fill_of)
        check_names(r, d->fill_of, PARAMETERS, NULL);
}

void
spec_check(Reader *r)
{
    LayoutDef *d = r->def;
    check_order(r);
    check_params(r);
    if (d->level)
        check_levels(r);
    check_swizzle(r);
    if (d->doc && !utf8_is_text(d->doc, strlen(d->doc)))
        FAIL(r, "doc is not UTF-8");
    check_fill(r);
    check_settings(r, d->pads, d->npads, "pad");
    check_settings(r, d->pitches, d->npitches, "pitch");
    check_settings(r, d->limits, d->nlimits, "limit");
    for (int i = 0; i < d->nlimits; i++)
        check_names(r, d->limits[i].value, PARAMETERS, NULL);
    check_inverse(r);
}
