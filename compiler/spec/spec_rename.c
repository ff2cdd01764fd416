/* VNNI2(K,N): a layout with other names for its dims, so that they pair with those of
 * another layout. */
#include <string.h>

#include "spec_parts.h"

typedef struct {
    Arena *arena;
    const LayoutDef *from;
    const char **to;      /* the new name of each dim */
} Renaming;

static const Ast *
renamed(const Renaming *r, const Ast *x)
{
    if (!x || x->op == OP_NUM)
        return x;
    if (x->table) {
        AstTable t = *x->table;
        t.at = renamed(r, t.at);
        return ast_table(r->arena, &t, x->loc);
    }
    for (int d = 0; x->op == OP_SYM && d < r->from->ndims; d++) {
        if (!strcmp(x->name, r->from->dims[d]))
            return ast_sym(r->arena, r->to[d], x->loc);
        if (layout_extent_is(x->name, r->from->dims[d]))
            return ast_sym(r->arena, layout_extent_name(r->arena, r->to[d]), x->loc);
    }
    if (x->op == OP_SYM)
        return x;
    return ast_op(r->arena, x->op, renamed(r, x->x[0]), renamed(r, x->x[1]), x->loc);
}

static Setting *
renamed_settings(const Renaming *r, const Setting *t, int n)
{
    Setting *out = arena_array(r->arena, Setting, n + 1);
    for (int i = 0; i < n; i++) {
        out[i] = t[i];
        out[i].value = renamed(r, t[i].value);
        for (int d = 0; t[i].dim && d < r->from->ndims; d++)
            if (!strcmp(t[i].dim, r->from->dims[d]))
                out[i].dim = r->to[d];
    }
    return out;
}

static LevelDef *
renamed_levels(const Renaming *r)
{
    const LayoutDef *d = r->from;
    if (!d->level)
        return NULL;
    LevelDef *out = arena_copy(r->arena, d->level, sizeof *out * (size_t)d->norder);
    for (int i = 0; i < d->norder; i++) {
        out[i].order = arena_array(r->arena, const Ast *, out[i].norder + 1);
        for (int k = 0; k < out[i].norder; k++)
            out[i].order[k] = renamed(r, d->level[i].order[k]);
    }
    return out;
}

static LayoutDef *
rename_def(const Renaming *r, const char *name)
{
    LayoutDef *d = arena_new(r->arena, LayoutDef);
    *d = *r->from;
    d->name = name;
    d->dims = r->to;
    d->order = arena_array(r->arena, EntryDef, d->norder + 1);
    for (int i = 0; i < d->norder; i++) {
        d->order[i] = r->from->order[i];
        d->order[i].x = renamed(r, d->order[i].x);
    }
    d->level = renamed_levels(r);
    d->pads = renamed_settings(r, r->from->pads, d->npads);
    d->pitches = renamed_settings(r, r->from->pitches, d->npitches);
    d->limits = renamed_settings(r, r->from->limits, d->nlimits);
    d->swizzle = renamed(r, d->swizzle);
    d->inverses = renamed_settings(r, r->from->inverses, d->ninverses);
    return d;
}

static bool
is_taken(const LayoutDef *d, const char *const *names, int n, const char *name)
{
    bool taken = spec_is_param(d, name);
    for (int i = 0; i < n; i++)
        taken |= !strcmp(names[i], name);
    return taken;
}

/* Reads the names up to `)` or MAX_RANK of them; returns what follows the last one. */
static const char *
read_names(Arena *a, const LayoutDef *d, const char *text, const char **names, int *n)
{
    const char *s = text;
    do {
        s = text_after_blanks(s + 1);
        size_t len = strcspn(s, " \t\n,(){}");
        char *name = arena_copy(a, s, len + 1);
        name[len] = 0;
        if (!sandbox_is_name(name) || is_taken(d, names, *n, name))
            diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "%.100s%.100s: '%.70s' cannot name a "
                       "dim here: the names in front of { are different, and none is a "
                       "parameter", d->name, text, name);
        names[(*n)++] = name;
        s = text_after_blanks(s + len);
    } while (*s == ',' && *n < MAX_RANK);
    return s;
}

const char *
spec_read_dims(Arena *a, LayoutRef *ref, const char *text)
{
    const LayoutDef *d = ref->def;
    Renaming r = {a, d, arena_array(a, const char *, MAX_RANK)};
    int n = 0;
    const char *end = read_names(a, d, text, r.to, &n);
    if (*end != ')' || n != d->ndims)
        diag_fatal(a->diag, DIAG_SPEC, (Loc){0}, "%.100s%.100s: the layout has %d named "
                   "dims; write a name for each, as in VNNI2(K,N)", d->name, text,
                   d->ndims);
    Buf b = buf_new(a);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? "," : "", r.to[i]);
    ref->def = rename_def(&r, arena_printf(a, "%s(%s)", d->name, b.s));
    return end + 1;
}
