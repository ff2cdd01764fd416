/* Prints layouts as text that can be parsed again. */
#include <math.h>
#include <string.h>

#include "layout.h"

static void
print_param(Buf *b, const Param *p)
{
    buf_printf(b, "%s = ", p->name);
    for (int i = 0; i < p->n; i++)
        buf_printf(b, "%s%lld%s", i ? ", " : "{", (long long)p->list[i], i + 1 < p->n ? "" : "}");
    if (p->list)
        return;
    if (p->value) {
        ast_print(b, p->value);
        return;
    }
    buf_add(b, "function(_, bits) return ({");
    for (int w = 0; w < WIDTHS; w++)
        if (p->has[w])
            buf_printf(b, "[%d] = %lld, ", 1 << w, (long long)p->at[w]);
    buf_add(b, "})[bits] end");
}

static bool
is_num(const Ast *x, i64 *n)
{
    *n = x->op == OP_NUM ? x->num : 0;
    return x->op == OP_NUM;
}

/* A swizzle as the function xor(B, M, S) of specs makes it: a ~ ((a & mask) >> s << t). */
static bool
is_xor(const Ast *x, i64 *bits, i64 *to, i64 *shift)
{
    i64 mask, s, t;
    const Ast *left = x->op == OP_XOR ? x->x[1] : NULL;
    const Ast *right = left && left->op == OP_SHL ? left->x[0] : NULL;
    const Ast *and = right && right->op == OP_SHR ? right->x[0] : NULL;
    if (!and || and->op != OP_AND || x->x[0]->op != OP_SYM || and->x[0]->op != OP_SYM ||
        !is_num(and->x[1], &mask) || !is_num(right->x[1], &s) || !is_num(left->x[1], &t) ||
        mask <= 0 || (s && t))
        return false;
    int low = __builtin_ctzll((unsigned long long)mask);
    *bits = __builtin_popcountll((unsigned long long)mask);
    *to = low - s;
    *shift = s - t;
    return s + t >= *bits && s + t < 62 && *to >= 0 && *to < 62 &&
           mask >> low == ((i64)1 << *bits) - 1;
}

static const char *
swizzle_text(Arena *a, const Ast *x)
{
    i64 bits, to, shift;
    return is_xor(x, &bits, &to, &shift)
           ? arena_printf(a, "xor(%lld, %lld, %lld)", (long long)bits, (long long)to,
                          (long long)shift)
           : arena_printf(a, "function(a) return %s end", ast_text(a, x));
}

/* Those of t that are strides, or those that are not. */
static void
print_settings(Buf *b, const char *field, const Setting *t, int n, bool exact)
{
    int shown = 0;
    for (int i = 0; i < n; i++) {
        if (t[i].exact != exact)
            continue;
        buf_printf(b, shown++ ? ", " : ", %s = {", field);
        if (t[i].dim)
            buf_printf(b, "%s = ", t[i].dim);
        else
            buf_printf(b, "[%d] = ", t[i].entry + 1);
        ast_print(b, t[i].value);
    }
    buf_add(b, shown ? "}" : "");
}

const char *
layout_fill_text(Arena *a, const LayoutDef *d)
{
    if (d->fill == FILL_NONE)
        return "\"none\"";
    if (d->fill == FILL_EDGE)
        return "\"edge\"";
    if (d->fill_of)
        return ast_text(a, d->fill_of);
    if (d->fill_name)
        return d->fill_name;
    if (isnan(d->fill_value))
        return "0/0";
    if (isinf(d->fill_value))
        return d->fill_value < 0 ? "-1/0" : "1/0";
    if (d->fill_value == 0 && signbit(d->fill_value))
        return "-0.0";                                 /* Lua's -0 is an integer */
    char *text = arena_printf(a, "%.17g", d->fill_value);
    char *point = strchr(text, ',');                   /* from the locale of the host */
    if (point)
        *point = '.';
    return text;
}

/* The part of a slice that is before, between or after its colons. */
static void
print_bound(Buf *b, bool given, i64 v)
{
    if (given)
        buf_printf(b, "%lld", (long long)v);
}

static void
print_item(Buf *b, const IndexItem *t)
{
    if (t->kind == ITEM_AT)
        print_bound(b, true, t->start);
    for (int i = 0; i < t->n; i++)
        buf_printf(b, "%s%lld%s", i ? "," : "[", (long long)t->list[i],
                   i + 1 == t->n ? "]" : "");
    if (t->kind == ITEM_ARRAY)
        buf_printf(b, "%s%s%s%s", t->along ? "along " : "", t->skip ? "skip " : "",
                   t->bits == 32 ? "i32 " : "", t->array);
    if (t->kind != ITEM_SLICE) {
        buf_add(b, t->kind == ITEM_REST ? "..." : t->kind == ITEM_NEW ? "None" : "");
        return;
    }
    print_bound(b, t->starts, t->start);
    buf_add(b, ":");
    print_bound(b, t->stops, t->stop);
    if (t->step != 1)
        buf_printf(b, ":%lld", (long long)t->step);
}

/* (8,H,56)[:, 1:3] */
static const char *
index_text(Arena *a, const Index *x)
{
    Buf b = buf_new(a);
    if (x->nstrides >= 0)
        buf_add(&b, "@");
    if (x->nstrides >= 0 && x->origin_name)
        buf_add(&b, x->origin_name);
    else if (x->nstrides >= 0 && x->origin)
        buf_printf(&b, "%lld", (long long)x->origin);
    for (int i = 0; i < x->nstrides; i++) {
        buf_add(&b, i ? "," : "(");
        if (x->stride_name[i])
            buf_add(&b, x->stride_name[i]);
        else
            buf_printf(&b, "%lld", (long long)x->stride[i]);
    }
    buf_add(&b, x->nstrides > 0 ? ")" : x->nstrides == 0 ? "()" : "");
    for (int i = 0; i < x->nextents; i++) {
        buf_add(&b, i ? "," : "(");
        if (x->extent[i])
            buf_printf(&b, "%lld", (long long)x->extent[i]);
        else
            buf_add(&b, x->name[i]);
    }
    buf_add(&b, x->nextents > 0 ? ")" : x->nextents == 0 ? "()" : "");
    for (int i = 0; i < x->nitems; i++) {
        buf_add(&b, i ? ", " : "[");
        print_item(&b, &x->item[i]);
    }
    buf_add(&b, x->nitems ? "]" : "");
    return b.s;
}

const LevelWord level_words[] = {
#define LEVEL(name, text, expression, number, order) {text, expression, NUMBER_##number, order},
#include "level.def"
#undef LEVEL
};

/* compressed(C, "nonunique"), nofm(C%4, 2, {R, C//4}) */
static void
print_level(Buf *b, const LevelDef *l, const Ast *x)
{
    buf_printf(b, "%s(", level_words[l->kind].name);
    bool expression = level_words[l->kind].expression;
    if (expression)
        ast_print(b, x);
    if (l->number) {
        buf_add(b, expression ? ", " : "");
        ast_print(b, l->number);
    }
    for (int i = 0; i < l->norder; i++) {
        buf_add(b, i ? ", " : ", {");
        ast_print(b, l->order[i]);
    }
    buf_add(b, l->norder ? "}" : "");
    buf_printf(b, "%s%s)", l->repeats ? ", \"nonunique\"" : "",
               l->unordered ? ", \"unordered\"" : "");
}

/* A parameter as the use of a layout gives it; else as it is declared. */
static const Param *
param_in_use(const Param *declared, const LayoutRef *ref)
{
    for (int i = 0; i < ref->n; i++)
        if (!strcmp(ref->given[i].name, declared->name))
            return &ref->given[i];
    return declared;
}

/* (N, C, H, W) */
static void
print_dims(Buf *b, const LayoutDef *d)
{
    buf_add(b, d->batch ? "(..." : "(");
    for (int i = 0; i < d->ndims; i++)
        buf_printf(b, "%s%s", i || d->batch ? ", " : "", d->dims[i]);
    buf_add(b, ")");
}

static void
print_order(Buf *b, const LayoutDef *d)
{
    static const char *const batch[] = {
        [ENTRY_BATCH] = "...", [ENTRY_BATCH_REVERSED] = "reverse(...)"};
    for (int i = 0; i < d->norder; i++) {
        buf_add(b, i ? ", " : "");
        if (d->level)
            print_level(b, &d->level[i], d->order[i].x);
        else if (d->order[i].x)
            ast_print(b, d->order[i].x);
        else
            buf_add(b, batch[d->order[i].kind]);
    }
}

const LayoutRef *
layout_written(const LayoutRef *ref)
{
    return ref->written ? ref->written : ref;
}

const Layout *
layout_as_written(const Layout *l)
{
    return l->written ? l->written : l;
}

/* The fields after the order and the parameters. */
static void
print_fields(Arena *a, Buf *b, const LayoutDef *d)
{
    print_settings(b, "pad", d->pads, d->npads, false);
    print_settings(b, "pitch", d->pitches, d->npitches, false);
    print_settings(b, "stride", d->pitches, d->npitches, true);
    print_settings(b, "limit", d->limits, d->nlimits, false);
    if (d->fills || d->fill == FILL_NONE)
        buf_printf(b, ", fill = %s", layout_fill_text(a, d));
    if (d->swizzle)
        buf_printf(b, ", swizzle = %s%s", swizzle_text(a, d->swizzle),
                   d->swizzle_bytes ? ", unit = \"bytes\"" : "");
    for (int i = 0; i < d->ninverses; i++)
        buf_printf(b, "%s%s = function(a) return %s end%s", i ? ", " : ", inverse = {",
                   d->inverses[i].dim, ast_text(a, d->inverses[i].value),
                   i + 1 < d->ninverses ? "" : "}");
    if (d->bits)
        buf_printf(b, ", bits = %d", d->bits);
    if (d->view)
        buf_add(b, ", view = true");
}

const char *
layout_whole_text(Arena *a, const LayoutRef *ref)
{
    ref = layout_written(ref);
    const LayoutDef *d = ref->def;
    if (d->index)
        return arena_printf(a, "%s%s", layout_whole_text(a, d->index->of),
                            index_text(a, d->index));
    Buf b = buf_new(a);
    print_dims(&b, d);
    buf_add(&b, "{");
    print_order(&b, d);
    for (int i = 0; i < d->nparams; i++) {
        buf_add(&b, ", ");
        print_param(&b, param_in_use(&d->params[i], ref));
    }
    print_fields(a, &b, d);
    buf_add(&b, "}");
    return b.s;
}

const char *
layout_text(Arena *a, const LayoutDef *d)
{
    return layout_whole_text(a, &(LayoutRef){.def = d});
}

/* What the use of a layout gives. */
static void
print_given(Arena *a, Buf *b, const LayoutRef *ref)
{
    for (int i = 0; i < ref->n; i++) {
        buf_add(b, i ? ", " : "{");
        print_param(b, &ref->given[i]);
    }
    if (ref->fills)
        buf_printf(b, "%sfill = %s", ref->n ? ", " : "{", layout_fill_text(a, ref->def));
    buf_add(b, ref->n || ref->fills ? "}" : "");
}

const char *
layout_ref_text(Arena *a, const LayoutRef *ref)
{
    ref = layout_written(ref);
    const Index *x = ref->def->index;
    if (x)
        return arena_printf(a, "%s%s", layout_ref_text(a, x->of), index_text(a, x));
    if (ref->def->is_inline)
        return layout_text(a, ref->def);
    Buf b = buf_new(a);
    buf_printf(&b, "%s%s%s", ref->def->file ? ref->def->file : "",
               ref->def->file ? ":" : "", ref->def->name);
    print_given(a, &b, ref);
    return b.s;
}
