/* reference_row.h: expressions of a row of elements. */
#ifndef RAVEL_REFERENCE_ROW_H
#define RAVEL_REFERENCE_ROW_H

#include "library.h"

/* Trees that are deeper take too much of a thread's stack. */
enum { ROW_MAX = 512, ROW_DEPTH = 24 };

/* Sets out[] to the n values of x and returns true; false: x is an operator or a number. */
typedef bool RowLeaf(const void *arg, const Ast *x, int n, i64 *out);
/* The n values of x, n <= ROW_MAX; where one does not fit 64 bits, its operator gives 0. */
void row_value(const Ast *x, RowLeaf *leaf, const void *arg, int n, i64 *out);

#endif
