/* Elimination, in whole numbers. */
#include "decide_linear.h"

#include <string.h>

enum { COEFFICIENT_MAX = 1 << 20 };

static int
column_of(Linear *s, const Atom *a)
{
    int c = 0;
    while (c < s->n && s->atom[c] != a)
        c++;
    if (c == s->n && c < LINEAR_MAX)
        s->atom[s->n++] = a;
    return c < LINEAR_MAX ? c : -1;
}

bool
linear_add(Linear *s, const Ex *x, LinearUnknown *unknown, const void *arg)
{
    bool any = false;
    if (s->rows == LINEAR_MAX)
        return false;
    i64 *row = s->row[s->rows];
    memset(row, 0, sizeof s->row[0]);
    for (int i = 0; i < x->n; i++) {
        const Term *t = &x->t[i];
        if (!unknown(arg, t->atom))
            continue;
        const int c = column_of(s, t->atom);
        if (c < 0 || int_abs(t->coef) > COEFFICIENT_MAX)
            return false;
        row[c] = t->coef;
        any = true;
    }
    s->rows += any;
    return any;
}

static bool
subtract(Linear *s, int to, int from, int column, LinearFollow *follow, void *arg)
{
    const i64 g = int_gcd(s->row[from][column], s->row[to][column]);
    const i64 p = s->row[from][column] / g, q = s->row[to][column] / g;
    if (follow && !follow(arg, to, from, p, q))
        return false;
    for (int c = 0; c < s->n; c++) {
        i64 *x = &s->row[to][c], y;
        if (!int_mul(*x, p, x) || !int_mul(s->row[from][c], q, &y) || !int_add(*x, -y, x) ||
            int_abs(*x) > COEFFICIENT_MAX)
            return false;
    }
    return true;
}

bool
linear_eliminate(Linear *s, LinearFollow *follow, void *arg)
{
    bool used[LINEAR_MAX] = {false};
    for (int c = 0; c < s->n; c++) {
        int from = 0;
        while (from < s->rows && (used[from] || !s->row[from][c]))
            from++;
        if (from == s->rows)
            continue;
        used[from] = true;
        for (int to = 0; to < s->rows; to++)
            if (to != from && s->row[to][c] && !subtract(s, to, from, c, follow, arg))
                return false;
    }
    return true;
}

int
linear_alone(const Linear *s, int row)
{
    int found = -1;
    for (int c = 0; c < s->n; c++) {
        if (!s->row[row][c])
            continue;
        if (found >= 0)
            return -1;
        found = c;
    }
    return found;
}
