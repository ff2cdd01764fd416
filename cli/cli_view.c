/* The part of a tensor that show draws: --by, --plane and --at. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The dim with the name text[0..n). */
static int
dim_named(Cli *c, const Layout *l, const char *option, const char *text, size_t n)
{
    const char *name = arena_printf(c->arena, "%.*s", (int)n, text);
    int d = layout_find_dim(l, name);
    Buf known = buf_new(c->arena);
    for (int i = 0; i < l->rank; i++)
        buf_printf(&known, " %s", l->dim[i].name);
    if (d < 0)
        cli_fail(c, "%s: layout '%s' has no dim '%.40s'; its dims are%s", option,
                 l->ref->def->name, name, known.s);
    return d;
}

/* --plane H,W: the dims of rows and columns; --plane W: one row. */
static void
set_plane(Cli *c, const Layout *l, PictureView *v)
{
    const char *s = c->o.plane;
    size_t n = strcspn(s, ","), m = s[n] ? strcspn(s + n + 1, ",") : 0;
    if (s[n] && s[n + 1 + m])
        cli_fail(c, "--plane '%s': two dims, rows and columns, as in --plane H,W", s);
    if (!s[n] && n > 1 && layout_find_dim(l, s) < 0)
        cli_fail(c, "--plane '%s': layout '%s' has no dim of this name; rows and columns are "
                 "written with a comma, as in --plane H,W", s, l->ref->def->name);
    int first = dim_named(c, l, "--plane", s, n);
    v->dim[0] = s[n] ? first : -1;
    v->dim[1] = s[n] ? dim_named(c, l, "--plane", s + n + 1, m) : first;
    if (v->dim[0] == v->dim[1])
        cli_fail(c, "--plane '%s': rows and columns are different dims", s);
}

/* --at N=1,C=3 */
static void
set_at(Cli *c, const Layout *l, PictureView *v)
{
    const char *s = c->o.at;
    for (bool more = true; more;) {
        size_t n = strcspn(s, "=,"), m = strcspn(s, ",");
        if (s[n] != '=')
            cli_fail(c, "--at '%s': in show a dim and a number, as in --at %s=1", c->o.at,
                     l->rank ? l->dim[0].name : "M");
        int d = dim_named(c, l, "--at", s, n);
        const char *number = arena_printf(c->arena, "%.*s", (int)(m - n - 1), s + n + 1);
        if (cli_numbers(c, "--at", number, &v->at[d], 1) != 1)
            cli_fail(c, "--at '%s': %s needs a number", c->o.at, l->dim[d].name);
        more = s[m];
        s += m + more;
    }
}

PictureView
cli_view(Cli *c, const Layout *l)
{
    PictureView v = picture_view();
    v.by = c->o.by;
    if (c->o.plane)
        set_plane(c, l, &v);
    if (c->o.at)
        set_at(c, l, &v);
    return v;
}
