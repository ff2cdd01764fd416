/* planned.h: a plan whose pieces can be written to, to break it. */
#ifndef RAVEL_PLANNED_H
#define RAVEL_PLANNED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/compile.h"
#include "../../compiler/plan/plan_parts.h"

typedef struct {
    const char *from, *to, *dtype;
    int rank;
    i64 shape[4];
} Pair;

typedef struct {
    Arena arena;
    const Pair *pair;
    Plan *plan;
    PlanCheck check;
} Case;

static void
make(void *arg)
{
    Case *c = arg;
    Request rq = {.from = c->pair->from, .to = c->pair->to, .dtype = c->pair->dtype,
                  .rank = c->pair->rank, .shape = c->pair->shape, .name = "f"};
    c->plan = compile_plan(&c->arena, NULL, &rq);
}

static void
guarded(Case *c, void (*f)(void *))
{
    Diag d;
    if (!arena_run(&c->arena, &d, f, c))
        fail_msg("%s -> %s: %s", c->pair->from, c->pair->to, d.text);
}

/* A plan whose pieces can be written to: each nest has copies of its own. */
static void
own_pieces(void *arg)
{
    Case *c = arg;
    for (int i = 0; i < c->plan->n; i++) {
        Nest *n = c->plan->nest[i];
        const Piece **all = arena_array(&c->arena, const Piece *, c->plan->dst->rank);
        for (int d = 0; d < c->plan->dst->rank; d++) {
            Piece *q = arena_copy(&c->arena, n->piece[d], sizeof *q);
            q->loop = arena_copy(&c->arena, q->loop, (size_t)q->nloops * sizeof *q->loop);
            all[d] = q;
        }
        n->piece = all;
    }
}

static Piece *
piece(Case *c, int nest, int d)
{
    return (Piece *)c->plan->nest[nest]->piece[d];
}

#endif
