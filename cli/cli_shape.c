/* The logical shape: --shape, or the extents that are written in the layouts. */
#include <ctype.h>
#include <string.h>

#include "cli.h"

/* The name at the start of the list; NULL if it is a number or not valid. */
static const char *
leading_name(Cli *c, const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_");
    if (!isalpha((unsigned char)*s) || (s[n] && s[n] != ',') || n > MAX_NAME)
        return NULL;
    return arena_printf(c->arena, "%.*s", (int)n, s);
}

/* True if the list continues with `len` characters that are neither a number nor a name. */
static bool
is_bad_extent(Cli *c, const char *s, size_t len)
{
    if ((isalpha((unsigned char)*s) || *s == '_') && !leading_name(c, s))
        cli_fail(c, "--shape '%s': a name is a letter and at most %d more letters, digits "
                 "and _", c->o.shape, MAX_NAME - 1);
    return !isalpha((unsigned char)*s) &&
           (len == 0 || strspn(s, "0123456789") != len || (s[len] && !s[len + 1]));
}

int
cli_shape_names(Cli *c, i64 *shape, const char **name, bool *any)
{
    Buf b = buf_new(c->arena);
    int n = 0;
    bool bad = false;
    *any = false;
    for (const char *s = c->o.shape; *s; n++) {
        size_t len = strcspn(s, ",");
        const char *own = leading_name(c, s);
        if (n == MAX_RANK)
            cli_fail(c, "--shape '%s' has more than %d extents", c->o.shape, MAX_RANK);
        name[n] = own;
        *any |= own != NULL;
        bad |= is_bad_extent(c, s, len);
        buf_printf(&b, "%s", own ? "0" : "");
        buf_addn(&b, own ? "" : s, own ? 0 : len);
        buf_addn(&b, s + len, s[len] == ',');
        s += len + (s[len] == ',');
    }
    if (!*any)
        return cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    if (bad)
        cli_fail(c, "--shape '%s' is not a list of whole numbers and names, as in N,64,H,W",
                 c->o.shape);
    n = cli_numbers(c, "--shape", b.s, shape, MAX_RANK);
    for (int d = 0; d < n; d++) {
        if (!name[d] && shape[d] < 1)
            cli_fail(c, "--shape %s: extents are 1 or more", c->o.shape);
        shape[d] = name[d] ? RUNTIME_EXTENT : shape[d];
    }
    return n;
}

/* The extents that a layout as written has, in the order of its dims; the number of dims,
 * or 0 if the text has no extents. */
typedef struct {
    i64 n[MAX_RANK];      /* 0: not known */
    const char *name[MAX_RANK];    /* NULL: not named either */
    int rank;
} Extents;

static Extents
extents_of(Cli *c, const char *text, const LayoutRef **ref)
{
    Extents x = {.rank = 0};
    *ref = text ? spec_ref(c->arena, text, c->known) : NULL;
    if (text && (*ref)->def->index)
        x.rank = layout_view_shape(c->arena, *ref, x.n, x.name);
    return x;
}

/* Adds the extents of the destination, dim d of which is dim map[d]. */
static void
merge(Extents *x, const Extents *to, const int *map)
{
    for (int d = 0; d < to->rank; d++) {
        int i = map[d];
        if (to->n[d] && x->n[i] <= 1)
            x->n[i] = to->n[d];
        x->name[i] = x->name[i] ? x->name[i] : to->name[d];
    }
}

/* The extents as the value of --shape; NULL if one is not known. */
static const char *
shape_text(Cli *c, const Extents *x)
{
    Buf b = buf_new(c->arena);
    for (int d = 0; d < x->rank; d++) {
        buf_add(&b, d ? "," : "");
        if (!x->n[d] && !x->name[d])
            return NULL;
        if (x->n[d])
            buf_printf(&b, "%lld", (long long)x->n[d]);
        else
            buf_add(&b, x->name[d]);
    }
    return b.s;
}

bool
cli_knows_shape(Cli *c, const char *from, const char *to)
{
    int map[MAX_RANK];
    const LayoutRef *src, *dst;
    if (c->o.shape)
        return true;
    Extents x = extents_of(c, from, &src), y = extents_of(c, to, &dst);
    int rank = x.rank > 0 ? x.rank : y.rank;
    bool indexed = (src && src->def->index) || (dst && dst->def->index);
    if (rank <= 0 && (!indexed || x.rank < 0 || y.rank < 0))
        return false;
    for (int d = 0; d < MAX_RANK; d++)
        map[d] = d;
    if (src && dst && rank > 0)
        plan_match(c->arena, src, dst, rank, map);
    x.rank = rank > 0 ? rank : 0;
    merge(&x, &y, map);
    c->o.shape = x.rank || rank == 0 ? shape_text(c, &x) : NULL;
    return c->o.shape;
}

const char *
cli_shape_like(Arena *a, int rank)
{
    static const int image[] = {2, 64, 56, 56};
    Buf b = buf_new(a);
    for (int d = 0; d < rank; d++)
        buf_printf(&b, "%s%d", d ? "," : "", rank == LEN(image) ? image[d] : 64);
    return b.s;
}

void
cli_find_shape(Cli *c, const char *from, const char *to)
{
    if (!cli_knows_shape(c, from, to))
        cli_fail(c, "--shape S is needed: the logical extents, as in 2,64,56,56; or the "
                 "extents in the layout, as in 'NCHW(2,64,56,56)'");
}

Layout *
cli_layout(Cli *c, i64 *shape)
{
    const char *text = cli_layout_text(c, c->o.arg[0]);
    cli_find_shape(c, text, NULL);
    int rank = cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    return compile_layout(c->arena, c->known, text, cli_dtype(c, text), rank, shape);
}
