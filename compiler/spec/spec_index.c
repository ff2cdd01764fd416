/* Reads the index after a layout: NHWC(8,56,56,64)[:, 1:3, ..., ::-1], in NumPy's
 * notation.
 *
 *     index   = [ "@" [ origin ] "(" [ stride { "," stride } ] ")" ]
 *               [ extents ] { "[" items "]" } { extents "[" items "]" { "[" items "]" } }
 *     extents = "(" [ extent { "," extent } ] ")"
 *     origin, stride = number | name              a name: each run takes its value
 *     extent  = number | name                     a name: it follows from the view's
 *     items   = item { "," item }                 spec_index_item.c
 */
#include <string.h>

#include "spec_parts.h"

static void
take_extent(IndexText *t, i64 *extent, const char **name)
{
    *extent = 0;
    *name = index_take_name(t);
    const char *at = t->p;
    if (*name || (index_take_number(t, extent) && *extent > 0))
        return;
    t->p = at;
    index_fail(t, "expected an extent: a number above 0, or a name for one that follows from the "
               "shape");
}

static void
take_extents(IndexText *t, Index *x)
{
    x->extent = arena_array(t->arena, i64, MAX_RANK);
    x->name = arena_array(t->arena, const char *, MAX_RANK);
    x->nextents = 0;
    if (index_take(t, ")"))
        return;
    do {
        if (x->nextents == MAX_RANK)
            index_fail(t, "too many extents");
        take_extent(t, &x->extent[x->nextents], &x->name[x->nextents]);
        x->nextents++;
    } while (index_take(t, ","));
    if (*t->p == '=')
        index_fail(t, "extents are in ( ), and parameters in { }, as in NC1HWC0{C0=8}");
    if (!index_take(t, ")"))
        index_fail(t, "expected , or )");
}

/* The numbers or names after "(". */
static void
take_strides(IndexText *t, Index *x)
{
    x->stride = arena_array(t->arena, i64, MAX_ENTRIES);
    x->stride_name = arena_array(t->arena, const char *, MAX_ENTRIES);
    x->nstrides = 0;
    if (!index_take(t, "("))
        index_fail(t, "expected the strides of the array in ( )");
    if (index_take(t, ")"))
        return;
    do {
        if (x->nstrides == MAX_ENTRIES)
            index_fail(t, "too many strides");
        int i = x->nstrides++;
        x->stride_name[i] = index_take_name(t);
        if (!x->stride_name[i] && !index_take_number(t, &x->stride[i]))
            index_fail(t, "expected a stride: a number of elements, or a name for one that each run "
                       "is given");
    } while (index_take(t, ","));
    if (!index_take(t, ")"))
        index_fail(t, "expected , or )");
}

/* The def of a view: that of the layout, with other dims, whose elements alone are written;
 * with strides all is that of the layout. */
static const LayoutRef *
view_ref(const IndexText *t, const Index *x)
{
    Arena *a = t->arena;
    LayoutRef *ref = arena_copy(a, x->of, sizeof *ref);
    LayoutDef *d = arena_copy(a, x->of->def, sizeof *d);
    ref->def = d;
    layout_set_index(a, d, arena_copy(a, x, sizeof *x));
    d->name = layout_ref_text(a, ref);
    return ref;
}

static const Index nothing = {.nextents = -1, .nstrides = -1};

static const LayoutRef *
strided_ref(IndexText *t, const LayoutRef *of)
{
    Index x = nothing;
    x.of = of;
    x.whole = t->whole;
    x.origin_name = index_take_name(t);
    if (!x.origin_name && index_take_number(t, &x.origin) && x.origin < 0)
        index_fail(t, "an origin is 0 or more");
    take_strides(t, &x);
    return view_ref(t, &x);
}

/* One pair of ( ) and [ ], either of which may be absent; after the `first` one only ( ). */
static const LayoutRef *
indexed_ref(IndexText *t, const LayoutRef *of, bool first)
{
    Index x = nothing;
    x.of = of;
    x.whole = t->whole;
    if (index_take(t, "(")) {
        take_extents(t, &x);
        layout_check_rank(t->arena, of->def, x.nextents);
    }
    if (index_take(t, "["))
        index_take_items(t, &x);
    else if (!first)
        index_fail(t, "expected an index in [ ]");
    return view_ref(t, &x);
}

const LayoutRef *
index_ref(Arena *a, const LayoutRef *of, const char *whole, const char *s)
{
    enum { MOST = 16 };
    IndexText t = {a, whole, s};
    if (index_take(&t, "@"))
        of = strided_ref(&t, of);
    t.p = text_after_blanks(t.p);
    for (int n = 0; *t.p; n++, t.p = text_after_blanks(t.p)) {
        if (*t.p != '[' && *t.p != '(')
            index_fail(&t, "expected an index in [ ], or the end");
        if (n == MOST)
            index_fail(&t, "more than 16 indices, one after another");
        of = indexed_ref(&t, of, n == 0);
    }
    return of;
}
