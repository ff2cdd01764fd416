/* Reads the index after a layout: NHWC(8,56,56,64)[:, 1:3, ..., ::-1], in NumPy's
 * notation.
 *
 *     index   = [ "@" [ origin ] "(" [ stride { "," stride } ] ")" ]
 *               [ "(" [ extent { "," extent } ] ")" ] { "[" item { "," item } "]" }
 *     origin, stride = number | name              a name: each run takes its value
 *     extent  = number | name                     a name: it follows from the view's
 *     item    = number | [ number ] ":" [ number ] [ ":" [ number ] ] | "..."
 *             | "None" | "newaxis" | "np.newaxis" | list
 *             | { "along" | "skip" | "i32" } name
 *     list    = "[" number { "," number } "]"     coordinates
 *             | "[" truth { "," truth } "]"       "True" or "False" for each coordinate
 *
 * The name is that of an index array, which each run is given: of numbers of 64 bits, or of
 * 32.  It has one number for each coordinate of its dim or, "along", for each element of the
 * view.  "skip": elements whose number is -1 are not moved.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "spec_parts.h"

typedef struct {
    Arena *arena;
    const char *whole, *p;
} Text;

_Noreturn static void
fail(const Text *t, const char *why)
{
    size_t place = (size_t)(t->p - t->whole);
    layout_index_fail(t->arena, t->whole, place < INT_MAX ? (int)place : INT_MAX, why);
}

static bool
take(Text *t, const char *sign)
{
    t->p = text_after_blanks(t->p);
    size_t n = strlen(sign);
    bool is = !strncmp(t->p, sign, n);
    t->p += is ? n : 0;
    return is;
}

static bool
take_word(Text *t, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(t->p, word, n) || isalnum((unsigned char)t->p[n]) || t->p[n] == '_')
        return false;
    return take(t, word);
}

static bool
take_number(Text *t, i64 *v)
{
    char *end;
    t->p = text_after_blanks(t->p);
    const char *digits = t->p + (*t->p == '-' || *t->p == '+');
    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    *v = strtoll(t->p, &end, 10);
    if (errno || *v == INT64_MIN)
        fail(t, "this number does not fit 64 bits");
    if (isalnum((unsigned char)*end) || *end == '.' || *end == '_')
        fail(t, "an index is a whole number");
    t->p = end;
    return true;
}

static void
take_slice(Text *t, IndexItem *x, bool starts)
{
    i64 step;
    x->kind = ITEM_SLICE;
    x->starts = starts;
    x->stops = take_number(t, &x->stop);
    x->step = 1;
    if (!take(t, ":"))
        return;
    const char *at = t->p = text_after_blanks(t->p);
    if (take_number(t, &step))
        x->step = step;
    if (x->step == 0) {
        t->p = at;
        fail(t, "the step of a slice cannot be 0");
    }
}

/* Adds a coordinate, or what a mask says of the next one. */
static void
take_place(Text *t, IndexItem *x, i64 *list)
{
    t->p = text_after_blanks(t->p);
    bool yes = take_word(t, "True"), no = !yes && take_word(t, "False");
    if ((yes || no) && x->n && !x->mask)
        fail(t, "a list has numbers, or True and False");
    if (yes)
        list[x->n++] = x->mask;
    x->mask += yes || no;
    if (yes || no)
        return;
    if (x->mask || !take_number(t, &list[x->n]))
        fail(t, *t->p == '[' ? "a list of lists is not supported as index"
             : "expected a number of a list, or True and False alone");
    x->n++;
}

static void
take_list(Text *t, IndexItem *x)
{
    enum { MOST = 4096 };
    i64 *list = arena_array(t->arena, i64, MOST);
    x->kind = ITEM_LIST;
    x->list = list;
    do {
        if ((x->n || x->mask) && *text_after_blanks(t->p) == ']')
            break;
        if (x->n == MOST || x->mask == MOST)
            fail(t, "a list of more than 4096");
        take_place(t, x, list);
    } while (take(t, ","));
    if (!take(t, "]"))
        fail(t, "expected , or ] of a list");
    if (!x->n)
        fail(t, "a list that selects no elements");
}

/* NULL: there is no name. */
static const char *
take_name(Text *t)
{
    size_t n = 0;
    t->p = text_after_blanks(t->p);
    while (isalnum((unsigned char)t->p[n]) || t->p[n] == '_')
        n++;
    if (!isalpha((unsigned char)*t->p) || n > MAX_NAME)
        return NULL;
    t->p += n;
    return arena_printf(t->arena, "%.*s", (int)n, t->p - n);
}

/* True and False stand in a mask only. */
static bool
take_array(Text *t, IndexItem *x)
{
    const char *at = t->p;
    if (take_word(t, "True") || take_word(t, "False")) {
        t->p = at;
        return false;
    }
    x->kind = ITEM_ARRAY;
    x->bits = 64;
    for (;; t->p = text_after_blanks(t->p)) {
        if (take_word(t, "along"))
            x->along = true;
        else if (take_word(t, "skip"))
            x->skip = true;
        else if (take_word(t, "i32"))
            x->bits = 32;
        else
            break;
    }
    x->array = take_name(t);
    return x->array;
}

static void
take_item(Text *t, IndexItem *x)
{
    t->p = text_after_blanks(t->p);
    *x = (IndexItem){.place = (int)(t->p - t->whole)};
    if (take(t, "...")) {
        x->kind = ITEM_REST;
    } else if (take_word(t, "None") || take_word(t, "newaxis") ||
               take_word(t, "np.newaxis")) {
        x->kind = ITEM_NEW;
    } else if (take(t, ":")) {
        take_slice(t, x, false);
    } else if (take_number(t, &x->start)) {
        x->kind = ITEM_AT;
        if (take(t, ":"))
            take_slice(t, x, true);
    } else if (take(t, "[")) {
        take_list(t, x);
    } else if (!take_array(t, x)) {
        fail(t, "expected an index: a number, a slice as in 1:3 or ::-1, ..., None, a list as "
             "in [0, 2, 5], or the name of an index array");
    }
}

/* What NumPy combines with other lists and numbers of an index; an array along a dim has a
 * number for each element. */
static bool
is_list(const IndexItem *x)
{
    return x->kind == ITEM_LIST || (x->kind == ITEM_ARRAY && !x->along);
}

/* A list beside another one: index arrays are combined, number by number. */
static void
check_second(Text *t, const IndexItem *first, const IndexItem *second)
{
    bool array = first->kind == ITEM_ARRAY;
    if (array && second->kind == ITEM_ARRAY)
        return;
    if (array || second->kind == ITEM_ARRAY)
        fail(t, "an index array beside a list of numbers: index in two steps, as in "
             "[rows][:, [1, 3]]");
    fail(t, "a second list: index in two steps, as in [[0, 2]][:, [1, 3]]");
}

/* NumPy combines a list with other lists and numbers of an index; where that is not the
 * same as one after the other, it is refused. */
static void
check_lists(Text *t, const Index *x)
{
    int list = -1, first = -1, last = -1, numbers = 0, along = -1;
    for (int i = 0; i < x->nitems; i++) {
        const IndexItem *item = &x->item[i];
        along = item->along ? i : along;
        if (!is_list(item) && item->kind != ITEM_AT)
            continue;
        t->p = t->whole + item->place;
        if (is_list(item) && list >= 0)
            check_second(t, &x->item[list], item);
        list = is_list(item) ? i : list;
        first = first < 0 ? i : first;
        last = i;
        numbers++;
    }
    if (list >= 0 && last - first + 1 > numbers)
        fail(t, "lists and numbers that are not adjacent: index in two steps, as in "
             "[0][:, [1, 3]]");
    if (list >= 0 && along >= 0)
        fail(t, "a list beside an index array along a dim: index in two steps, as in "
             "[rows][:, along idx]");
}

/* Whether the name of an array is that of an element type, as in [i16 idx]. */
static bool
names_type(const IndexItem *x)
{
    return x->kind == ITEM_ARRAY && isalpha((unsigned char)*x->array) && x->array[1] &&
           !x->array[1 + strspn(x->array + 1, "0123456789")];
}

static void
take_items(Text *t, Index *x)
{
    enum { MOST = 2 * MAX_RANK + 1 };
    bool rest = false;
    x->item = arena_array(t->arena, IndexItem, MOST);
    do {
        if (x->nitems && *text_after_blanks(t->p) == ']')
            break;
        if (x->nitems == MOST)
            fail(t, "too many indices");
        take_item(t, &x->item[x->nitems]);
        IndexItem *i = &x->item[x->nitems++];
        if (i->kind == ITEM_REST && rest) {
            t->p = t->whole + i->place;
            fail(t, "'...' can occur only once");
        }
        rest |= i->kind == ITEM_REST;
    } while (take(t, ","));
    if (!take(t, "]"))
        fail(t, names_type(&x->item[x->nitems - 1]) && isalpha((unsigned char)*t->p)
             ? "the numbers of an index array have 64 bits, or 32 as in [i32 idx]"
             : "expected , or ]");
    Text at = *t;
    check_lists(&at, x);
}

static void
take_extent(Text *t, i64 *extent, const char **name)
{
    *extent = 0;
    *name = take_name(t);
    const char *at = t->p;
    if (*name || (take_number(t, extent) && *extent > 0))
        return;
    t->p = at;
    fail(t, "expected an extent: a number above 0, or a name for one that follows from the "
         "shape");
}

static void
take_extents(Text *t, Index *x)
{
    x->extent = arena_array(t->arena, i64, MAX_RANK);
    x->name = arena_array(t->arena, const char *, MAX_RANK);
    x->nextents = 0;
    if (take(t, ")"))
        return;
    do {
        if (x->nextents == MAX_RANK)
            fail(t, "too many extents");
        take_extent(t, &x->extent[x->nextents], &x->name[x->nextents]);
        x->nextents++;
    } while (take(t, ","));
    if (*t->p == '=')
        fail(t, "extents are in ( ), and parameters in { }, as in NC1HWC0{C0=8}");
    if (!take(t, ")"))
        fail(t, "expected , or )");
}

/* The numbers or names after "(". */
static void
take_strides(Text *t, Index *x)
{
    x->stride = arena_array(t->arena, i64, MAX_ENTRIES);
    x->stride_name = arena_array(t->arena, const char *, MAX_ENTRIES);
    x->nstrides = 0;
    if (!take(t, "("))
        fail(t, "expected the strides of the array in ( )");
    if (take(t, ")"))
        return;
    do {
        if (x->nstrides == MAX_ENTRIES)
            fail(t, "too many strides");
        int i = x->nstrides++;
        x->stride_name[i] = take_name(t);
        if (!x->stride_name[i] && !take_number(t, &x->stride[i]))
            fail(t, "expected a stride: a number of elements, or a name for one that each run "
                 "is given");
    } while (take(t, ","));
    if (!take(t, ")"))
        fail(t, "expected , or )");
}

/* The def of a view: that of the layout, with other dims, whose elements alone are written;
 * with strides all is that of the layout. */
static const LayoutRef *
view_ref(const Text *t, const Index *x)
{
    Arena *a = t->arena;
    LayoutRef *ref = arena_copy(a, x->of, sizeof *ref);
    LayoutDef *d = arena_copy(a, x->of->def, sizeof *d);
    ref->def = d;
    d->index = arena_copy(a, x, sizeof *x);
    if (x->nstrides < 0) {
        d->fill = FILL_NONE;
        d->fills = false;
    }
    d->view = true;
    d->next = NULL;
    layout_view_dims(a, d);
    d->name = layout_ref_text(a, ref);
    return ref;
}

static const Index nothing = {.nextents = -1, .nstrides = -1};

static const LayoutRef *
strided_ref(Text *t, const LayoutRef *of)
{
    Index x = nothing;
    x.of = of;
    x.whole = t->whole;
    x.origin_name = take_name(t);
    if (!x.origin_name && take_number(t, &x.origin) && x.origin < 0)
        fail(t, "an origin is 0 or more");
    take_strides(t, &x);
    return view_ref(t, &x);
}

/* One pair of ( ) and [ ], either of which may be absent. */
static const LayoutRef *
indexed_ref(Text *t, const LayoutRef *of)
{
    Index x = nothing;
    x.of = of;
    x.whole = t->whole;
    if (take(t, "(")) {
        take_extents(t, &x);
        layout_check_rank(t->arena, of->def, x.nextents);
    }
    if (take(t, "["))
        take_items(t, &x);
    return view_ref(t, &x);
}

const LayoutRef *
index_ref(Arena *a, const LayoutRef *of, const char *whole, const char *s)
{
    enum { MOST = 16 };
    Text t = {a, whole, s};
    if (take(&t, "@"))
        of = strided_ref(&t, of);
    t.p = text_after_blanks(t.p);
    for (int n = 0; *t.p; n++, t.p = text_after_blanks(t.p)) {
        if (*t.p != '[' && (*t.p != '(' || n))
            fail(&t, "expected an index in [ ], or the end");
        if (n == MOST)
            fail(&t, "more than 16 indices, one after another");
        of = indexed_ref(&t, of);
    }
    return of;
}
