/* Is a conversion only a change of shape and strides?
 *
 * The steps of the axes of b in the storage of a give strides.  The layout b with these
 * strides is then compared with a: if they are equal, no element has to move. */
#include <string.h>

#include "decide.h"

/* The address in a of the element at address `at` of b; false if there is none. */
static bool
address_in(const Layout *a, const Layout *b, const Verdict *v, const int *map, i64 at,
           i64 *out)
{
    i64 x[MAX_RANK], y[MAX_RANK] = {0};
    if (decide_element(b, v, at, x) != YES)
        return false;
    for (int d = 0; d < b->rank; d++)
        y[map[d]] = x[d];
    return layout_address(a, y, out);
}

/* Set the extents and strides; false if an element is not found. */
static bool
set_strides(Strides *s, const Layout *a, const Layout *b, const Verdict *v, const int *map)
{
    s->axes = layout_box(b, s->extent);
    if (!address_in(a, b, v, map, 0, &s->origin))
        return false;
    i64 step = 1;
    for (int i = s->axes - 1; i >= 0; i--) {
        i64 at;
        if (s->extent[i] > 1 && !address_in(a, b, v, map, step, &at))
            return false;
        s->stride[i] = s->extent[i] > 1 ? at - s->origin
            : i + 1 < s->axes ? s->extent[i + 1] * s->stride[i + 1] : 1;
        step *= s->extent[i];
    }
    return true;
}

static const char *
tuple(Buf *b, const i64 *x, int n)
{
    for (int i = 0; i < n; i++)
        buf_printf(b, "%s%lld", i ? "," : "(", (long long)x[i]);
    buf_add(b, n ? ")" : "()");
    return b->s;
}

/* Whether the rows of an array of elements smaller than a byte are whole bytes. */
static bool
has_whole_bytes(const Strides *s, i64 bits)
{
    i64 per = bits < 8 ? 8 / bits : 1;
    bool whole = s->origin % per == 0;
    for (int i = 0; i < s->axes; i++)
        whole &= s->extent[i] == 1 || s->stride[i] % per == 0 ||
                 (i == s->axes - 1 && s->stride[i] == 1);
    return whole;
}

/* Why b is no array of elements alone; NULL: it is one. */
static const char *
why_no_array(Layout *b, const Verdict *v)
{
    Arena *a = ex_arena(b->e);
    if (v->injective != YES || v->flaw)
        return arena_printf(a, "%s is not one-to-one", b->ref->def->name);
    if (v->padding)
        return arena_printf(a, "%lld slots of %s are padding", (long long)v->padding,
                            b->ref->def->name);
    if (v->holes)
        return arena_printf(a, "%lld slots of %s are holes", (long long)v->holes,
                            b->ref->def->name);
    if (b->sigma)
        return arena_printf(a, "%s has a swizzle", b->ref->def->name);
    return NULL;
}

/* A sentence about an element that strides do not reach. */
static const char *
elsewhere(Arena *arena, const Equality *q, int rank)
{
    Buf t = buf_new(arena);
    buf_add(&t, "element ");
    tuple(&t, q->x, rank);
    buf_printf(&t, " is at address %lld of the source, where the strides of its neighbours would "
               "have it at %lld", (long long)q->at_a, (long long)q->at_b);
    return t.s;
}

Strides
decide_strides(Layout *a, Layout *b, const int *map)
{
    Strides s = {.is_view = NO};
    Arena *arena = ex_arena(a->e);
    const Verdict *v = decide(b);
    s.why = a->nlookups ? arena_printf(arena, "the elements are those that the index array '%s' "
                                       "names", a->lookup[0].array) : why_no_array(b, v);
    if (s.why)
        return s;
    if (!set_strides(&s, a, b, v, map)) {
        s.is_view = UNKNOWN;
        s.why = "the elements at the first addresses were not found";
        return s;
    }
    if (!has_whole_bytes(&s, b->dtype->bits)) {
        s.why = "elements smaller than a byte have no strides";
        return s;
    }
    Layout *l = layout_with_strides(b->e, b, b->ref, s.stride, s.origin);
    const Equality q = decide_equal(a, l, map);
    s.is_view = q.equal;
    s.why = q.why;
    if (q.equal == NO)
        s.why = elsewhere(arena, &q, a->rank);
    return s;
}
