/* Reads the items of an index after a layout: [:, 1:3, ..., ::-1].
 *
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

_Noreturn void
index_fail(const IndexText *t, const char *why)
{
    size_t place = (size_t)(t->p - t->whole);
    layout_index_fail(t->arena, t->whole, place < INT_MAX ? (int)place : INT_MAX, why);
}

bool
index_take(IndexText *t, const char *sign)
{
    t->p = text_after_blanks(t->p);
    size_t n = strlen(sign);
    bool is = !strncmp(t->p, sign, n);
    t->p += is ? n : 0;
    return is;
}

static bool
take_word(IndexText *t, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(t->p, word, n) || isalnum((unsigned char)t->p[n]) || t->p[n] == '_')
        return false;
    return index_take(t, word);
}

bool
index_take_number(IndexText *t, i64 *v)
{
    char *end;
    t->p = text_after_blanks(t->p);
    const char *digits = t->p + (*t->p == '-' || *t->p == '+');
    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    *v = strtoll(t->p, &end, 10);
    if (errno || *v == INT64_MIN)
        index_fail(t, "this number does not fit 64 bits");
    if (isalnum((unsigned char)*end) || *end == '.' || *end == '_')
        index_fail(t, "an index is a whole number");
    t->p = end;
    return true;
}

static void
take_slice(IndexText *t, IndexItem *x, bool starts)
{
    i64 step;
    x->kind = ITEM_SLICE;
    x->starts = starts;
    x->stops = index_take_number(t, &x->stop);
    x->step = 1;
    if (!index_take(t, ":"))
        return;
    const char *at = t->p = text_after_blanks(t->p);
    if (index_take_number(t, &step))
        x->step = step;
    if (x->step == 0) {
        t->p = at;
        index_fail(t, "the step of a slice cannot be 0");
    }
}

/* Adds a coordinate, or what a mask says of the next one. */
static void
take_place(IndexText *t, IndexItem *x, i64 *list)
{
    t->p = text_after_blanks(t->p);
    bool yes = take_word(t, "True"), no = !yes && take_word(t, "False");
    if ((yes || no) && x->n && !x->mask)
        index_fail(t, "a list has numbers, or True and False");
    if (yes)
        list[x->n++] = x->mask;
    x->mask += yes || no;
    if (yes || no)
        return;
    if (x->mask || !index_take_number(t, &list[x->n]))
        index_fail(t, *t->p == '[' ? "a list of lists is not supported as index"
                   : "expected a number of a list, or True and False alone");
    x->n++;
}

static void
take_list(IndexText *t, IndexItem *x)
{
    enum { MOST = 4096 };
    i64 *list = arena_array(t->arena, i64, MOST);
    x->kind = ITEM_LIST;
    x->list = list;
    do {
        if ((x->n || x->mask) && *text_after_blanks(t->p) == ']')
            break;
        if (x->n == MOST || x->mask == MOST)
            index_fail(t, "a list of more than 4096");
        take_place(t, x, list);
    } while (index_take(t, ","));
    if (!index_take(t, "]"))
        index_fail(t, "expected , or ] of a list");
    if (!x->n)
        index_fail(t, "a list that selects no elements");
}

/* NULL: there is no name. */
const char *
index_take_name(IndexText *t)
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
take_array(IndexText *t, IndexItem *x)
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
    x->array = index_take_name(t);
    return x->array;
}

static void
take_item(IndexText *t, IndexItem *x)
{
    t->p = text_after_blanks(t->p);
    *x = (IndexItem){.place = (int)(t->p - t->whole)};
    if (index_take(t, "...")) {
        x->kind = ITEM_REST;
    } else if (take_word(t, "None") || take_word(t, "newaxis") ||
               take_word(t, "np.newaxis")) {
        x->kind = ITEM_NEW;
    } else if (index_take(t, ":")) {
        take_slice(t, x, false);
    } else if (index_take_number(t, &x->start)) {
        x->kind = ITEM_AT;
        if (index_take(t, ":"))
            take_slice(t, x, true);
    } else if (index_take(t, "[")) {
        take_list(t, x);
    } else if (!take_array(t, x)) {
        index_fail(t, "expected an index: a number, a slice as in 1:3 or ::-1, ..., None, a list as "
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
check_second(IndexText *t, const IndexItem *first, const IndexItem *second)
{
    bool array = first->kind == ITEM_ARRAY;
    if (array && second->kind == ITEM_ARRAY)
        return;
    if (array || second->kind == ITEM_ARRAY)
        index_fail(t, "an index array beside a list of numbers: index in two steps, as in "
                   "[rows][:, [1, 3]]");
    index_fail(t, "a second list: index in two steps, as in [[0, 2]][:, [1, 3]]");
}

/* NumPy combines a list with other lists and numbers of an index; where that is not the
 * same as one after the other, it is refused. */
static void
check_lists(IndexText *t, const Index *x)
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
        index_fail(t, "lists and numbers that are not adjacent: index in two steps, as in "
                   "[0][:, [1, 3]]");
    if (list >= 0 && along >= 0)
        index_fail(t, "a list beside an index array along a dim: index in two steps, as in "
                   "[rows][:, along idx]");
}

/* Whether the name of an array is that of an element type, as in [i16 idx]. */
static bool
names_type(const IndexItem *x)
{
    return x->kind == ITEM_ARRAY && isalpha((unsigned char)*x->array) && x->array[1] &&
           !x->array[1 + strspn(x->array + 1, "0123456789")];
}

void
index_take_items(IndexText *t, Index *x)
{
    enum { MOST = 2 * MAX_RANK + 1 };
    bool rest = false;
    x->item = arena_array(t->arena, IndexItem, MOST);
    do {
        if (x->nitems && *text_after_blanks(t->p) == ']')
            break;
        if (x->nitems == MOST)
            index_fail(t, "too many indices");
        take_item(t, &x->item[x->nitems]);
        IndexItem *i = &x->item[x->nitems++];
        if (i->kind == ITEM_REST && rest) {
            t->p = t->whole + i->place;
            index_fail(t, "'...' can occur only once");
        }
        rest |= i->kind == ITEM_REST;
    } while (index_take(t, ","));
    if (!index_take(t, "]"))
        index_fail(t, names_type(&x->item[x->nitems - 1]) && isalpha((unsigned char)*t->p)
                   ? "the numbers of an index array have 64 bits, or 32 as in [i32 idx]"
                   : *t->p == '=' ? "expected , or ]; parameters are in braces, as in NC1HWC0{C0=8}"
                   : "expected , or ]");
    IndexText at = *t;
    check_lists(&at, x);
}
