/* plan_follow.h: the search for padding that follows loops of nests. */
#ifndef RAVEL_PLAN_FOLLOW_H
#define RAVEL_PLAN_FOLLOW_H

#include "plan_model.h"

/* The places that loops write to; loops by descending stride. */
typedef struct {
    const Ex *start;
    int n;
    struct { const Ex *n, *ds; i64 apart; } loop[MAX_LOOPS];   /* apart: ds or its estimate */
} Footprint;
/* Adds a loop.  False if it is in the residual, or may run backwards at some shape. */
bool footprint_add(Footprint *s, bool residual, const Ex *n, const Ex *ds, i64 apart);
/* True if both nests run at the same shapes, apart from tests of narrow counts.  With `more`,
 * b may need something besides, to which it is set; else it is set to NULL. */
bool nest_same_needs(const Nest *a, const Nest *b, const Ex **more);
/* The items of a search are nests or consist of such.  `arg` is that of the functions. */
typedef struct {
    void *arg;
    int n;                /* items */
    const Nest *(*nest)(void *arg, int i);
    bool (*takes)(void *arg, int i);            /* item i may be extended */
    bool (*is_padding)(void *arg, int f);       /* by item f */
    bool (*footprint)(void *arg, int i, Footprint *s);  /* the places of item i; false: it has none */
    /* Extends item i, which has the places s, by item f: loop k of s gets `more` iterations.  If
     * the item has fewer loops than s, loop k is a new one of one iteration.  False, and nothing
     * changes, if that is no gain. */
    bool (*take)(void *arg, int i, const Footprint *s, int k, int f, const Ex *more);
    bool rows;            /* only by what follows the innermost loop or one element, once */
} FollowSearch;
/* Extends items by others that follow a loop of theirs at every shape, however the loops of both
 * are fused. */
void follow_search(const FollowSearch *q, Scalars *scalars);

#endif
