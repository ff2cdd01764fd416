/* decide_factor.h: the independent values of the coordinates of a layout, and lists, for inverses. */
#ifndef RAVEL_DECIDE_FACTOR_H
#define RAVEL_DECIDE_FACTOR_H

#include "decide.h"

enum { FACTOR_VALUES_MAX = 256 };

/* A part of a coordinate: (x // weight) % size; 0 <= value < size. */
typedef struct {
    int dim, var, group;
    i64 weight, size;
} FactorValue;

typedef struct {
    Layout *l;
    Exprs *e;
    Arena *arena;
    Verdict *v;
    const i64 *limit;     /* coordinates below this are asked about */
    int n, nentry;
    FactorValue value[FACTOR_VALUES_MAX];
    const Ex *entry[FACTOR_VALUES_MAX];    /* over the values; those of an entry of the layout follow
                                            * one another, in the order of their coefficients */
    int of[FACTOR_VALUES_MAX];             /* the entry of the layout */
    int group[FACTOR_VALUES_MAX];
} Factors;

/* The values below the limits and their groups; NULL: there are too many. */
Factors *factors_new(Layout *l, const i64 *limit, Verdict *v);
/* The number of combinations of the values of a group; INF if it exceeds 64 bits. */
i64 factor_combinations(const Factors *f, int group);
/* The values of a group at combination `index`, in val[]; those of other groups are 0. */
void factor_set_values(const Factors *f, int group, i64 index, i64 *val);
/* Whether a combination is one of coordinates below the limits, as far as the group has all values of
 * their dims: the last ones of a cut may be beyond. */
bool factor_is_asked(const Factors *f, int group, const i64 *val);
/* The greatest common divisor of the coefficients of n terms. */
i64 factor_common(const Term *t, int n);

/* decide_list.c: -1 in a list stands for any number, which it replaces by one that makes few runs. */
int inverse_list_runs(Arena *a, i64 *list, int n);
/* list[x] for 0 <= x < n; NULL: the list has too many runs. */
const Ex *inverse_list(Exprs *e, i64 *list, int n, const Ex *x);

#endif
