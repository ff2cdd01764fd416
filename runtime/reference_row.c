/* The value of an expression for the elements of a row, an operator at a time. */
#include "reference_row.h"

#include <string.h>

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
    op_row(op_info[x->op].is, out, b, n);
}
