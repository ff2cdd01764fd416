/* convert: the logical shape of an array, and whether it is what a layout stores. */
#include "cli_convert.h"
#include "cli_index.h"

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
                 sides_logical(ref, s->from.a.rank, s->from.a.shape, s->shape);
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
