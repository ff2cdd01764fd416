/* decide_linear.h: entries that are sums of the same unknowns, as X + Y and X - Y, which one by one
 * tell none of them. */
#ifndef RAVEL_DECIDE_LINEAR_H
#define RAVEL_DECIDE_LINEAR_H

#include "decide.h"

enum { LINEAR_MAX = 16 };
typedef struct {
    int n, rows;                   /* unknowns, sums whose values are known */
    const Atom *atom[LINEAR_MAX];
    i64 row[LINEAR_MAX][LINEAR_MAX];       /* the coefficients */
} Linear;

/* Adds the terms of x for which `unknown` holds as a row; false: there are none, or too many. */
typedef bool LinearUnknown(const void *arg, const Atom *a);
bool linear_add(Linear *s, const Ex *x, LinearUnknown *unknown, const void *arg);
/* Changes rows so that each unknown which they determine is alone in one.  Before row `to` becomes
 * p times itself less q times row `from`, follow does that with the values; NULL: there are none.
 * False: a coefficient becomes too large. */
typedef bool LinearFollow(void *arg, int to, int from, i64 p, i64 q);
bool linear_eliminate(Linear *s, LinearFollow *follow, void *arg);
/* The only unknown of a row; -1: it has none or several. */
int linear_alone(const Linear *s, int row);

#endif
