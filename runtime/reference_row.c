/* The value of an expression for the elements of a row, an operator at a time. */
#include "reference_row.h"

#include <string.h>

static void
each(const OpMeaning *is, i64 *a, const i64 *b, int n)
{
    for (int i = 0; i < n; i++)
        if (!op_value(is, a[i], b[i], &a[i]))
            a[i] = 0;
}

/* Those that layouts with swizzles have most, as loops that a compiler vectorises. */
static void
combine(Op op, i64 *a, const i64 *b, int n, const Ast *right)
{
    bool power = right && right->op == OP_NUM && right->num > 0 && int_is_pow2(right->num);
    int shift = power ? int_log2(right->num) : 0;
    if (op == OP_XOR) {
        for (int i = 0; i < n; i++)
            a[i] ^= b[i];
    } else if (op == OP_AND) {
        for (int i = 0; i < n; i++)
            a[i] &= b[i];
    } else if (op == OP_DIV && power) {
        for (int i = 0; i < n; i++)
            a[i] >>= shift;
    } else if (op == OP_MOD && power) {
        for (int i = 0; i < n; i++)
            a[i] &= right->num - 1;
    } else {
        each(op_info[op].is, a, b, n);
    }
}

void
row_value(const Ast *x, RowLeaf *leaf, const void *arg, int n, i64 *out)
{
    i64 b[ROW_MAX];
    if (leaf(arg, x, n, out))
        return;
    if (x->op == OP_NUM) {
        for (int i = 0; i < n; i++)
            out[i] = x->num;
        return;
    }
    row_value(x->x[0], leaf, arg, n, out);
    if (x->x[1])
        row_value(x->x[1], leaf, arg, n, b);
    else
        memset(b, 0, (size_t)n * sizeof *b);
    combine(x->op, out, b, n, x->x[1]);
}
