/* Functions on the meaning of operators, independent of the particular operator. */
#include "expr.h"

const OpInfo op_info[OP_COUNT] = {
#define OP(name, nargs, level, lua, meta, is) {nargs, level, lua, meta, &is},
#include "op.def"
#undef OP
};

const OpMeaning op_leaf = {0};

Op
ex_operator(const Atom *a)
{
    static const Op of[AT_COUNT] = {
#define ATOM(name, op, facts, print, open) op,
#include "expr.def"
#undef ATOM
    };
    return of[a->op];
}

bool
op_is_call(Op op)
{
    return op_info[op].level == LEVEL_CALL && op_info[op].nargs;
}

bool
op_allows(const OpMeaning *is, i64 least, i64 most)
{
    return !is->right || (least >= is->right->least && most <= is->right->most);
}

bool
op_value(const OpMeaning *is, i64 a, i64 b, i64 *r)
{
    return op_allows(is, b, b) && is->value(a, b, r);
}

void
op_row(const OpMeaning *is, i64 *a, const i64 *b, int n)
{
    if (is->row && is->row(a, b, n))
        return;
    for (int i = 0; i < n; i++)
        if (!op_value(is, a[i], b[i], &a[i]))
            a[i] = 0;
}

static bool
corners(const OpMeaning *is, Span a, Span b, Span *r)
{
    i64 v[4];
    for (int i = 0; i < 4; i++)
        if (!op_value(is, i / 2 ? a.max : a.min, i % 2 ? b.max : b.min, &v[i]))
            return false;
    *r = (Span){v[0], v[0]};
    for (int i = 1; i < 4; i++) {
        r->min = v[i] < r->min ? v[i] : r->min;
        r->max = v[i] > r->max ? v[i] : r->max;
    }
    return true;
}

bool
op_range(const OpMeaning *is, Span a, Span b, Span *r)
{
    if (!is->range)
        return corners(is, a, b, r);
    return op_allows(is, b.min, b.max) && is->range(a, b, r);
}
