/* reference_side.h: the addresses of one layout along a walk through its coordinates. */
#ifndef RAVEL_REFERENCE_SIDE_H
#define RAVEL_REFERENCE_SIDE_H

#include "library.h"

/* The coordinates of a walk: a box, the strips of its dims that are tabulated now, and the
 * coordinate that is visited. */
typedef struct {
    int rank, inner;               /* the dim of rows, or -1 */
    i64 lo[MAX_RANK], hi[MAX_RANK];   /* from lo on, below hi */
    i64 base[MAX_RANK], n[MAX_RANK], x[MAX_RANK];
} Strips;
enum { STRIP = 1 << 14 };          /* the longest */

/* A part of an entry of several dims that one dim alone is in, tabulated for its strip. */
typedef struct {
    const Ast *x;
    int dim;                       /* of the layout */
    i64 *value;
} Leaf;
enum { LEAVES = 16 };

/* One layout. */
typedef struct {
    const Layout *l;
    int of[MAX_RANK];              /* the layout's dim, by the walk's */
    bool clamped;                  /* beyond the extent, as at its last */
    i64 constant;                  /* of entries that no dim is in */
    int several[MAX_ENTRIES], nseveral;   /* entries of several dims */
    int alone[MAX_ENTRIES];        /* the layout's dim of an entry, or -1 */
    i64 *sum[MAX_RANK];            /* of the entries of a dim of the walk alone */
    Leaf leaf[LEAVES];             /* of the entries of several dims */
    int nleaf;
    bool by_one;                   /* these are too many: elements are evaluated one by one */
    i64 group;                     /* of addresses that a swizzle keeps together; 0: none */
    i64 block, *place;             /* of addresses that a swizzle maps to themselves: where each group
                                    * of the first block goes; NULL: there is no such block */
} Side;

bool side_new(Side *s, const Strips *w);
void side_free(Side *s);
/* The bytes that side_new allocates. */
i64 side_bytes(Side *s, const Strips *w);
/* The length of a strip of `coordinates` coordinates. */
i64 side_strip(i64 coordinates);
/* Tabulate the strip of dim d. */
void side_fill(Side *s, const Strips *w, int d);
/* Whether an address is the sum of what each dim gives. */
bool side_is_sum(const Side *s);
/* Whether an address, before a swizzle that has a group, is a sum of what each dim gives, and of
 * what entries give that depend on the leaves alone. */
bool side_has_leaves(const Side *s);
/* For i below n - 1, clear joins[i] where entries of several dims do not give the same at i and at
 * i + 1 of the strip of dim d. */
void side_joins(const Side *s, int d, i64 n, bool *joins);
/* What the dims other than `inner` give to it. */
i64 side_row(const Side *s, const Strips *w);
/* The addresses of n coordinates of a row, which has `base` of the other dims, from `at` of the
 * innermost strip on. */
void side_addresses(const Side *s, Strips *w, i64 base, i64 at, int n, i64 *out);
/* The same of those at `index` of the strip, of a side that has leaves, before a swizzle. */
void side_addresses_at(const Side *s, const Strips *w, i64 base, const int *index, int n,
                       i64 *out);

/* Swizzle n addresses. */
void side_swizzle(const Side *s, int n, i64 *a);

/* reference_group.c */
/* How many addresses, from a multiple of that on, the swizzle of a layout keeps together in their
 * order; 0: no two, or there is none. */
i64 swizzle_group(const Layout *l);
/* The addresses of a block, whose bits above it a swizzle keeps and does not use; 0: none. */
i64 swizzle_block(const Layout *l);

/* Whether the element at the current coordinate is not moved, by a number of -1. */
bool side_skips(const Side *s, const Strips *w);

#endif
