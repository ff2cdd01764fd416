/* The blocks of a conversion that have the same extents: one plan is for all of them. */
#include <stdio.h>

#include "cli_blocks.h"

unsigned
blocks_kinds(const Blocks *b)
{
    return 1u << blocks_ncut(b);
}

/* Compile the blocks of which one is at x. */
static void
make_kind(Cli *c, const BlocksJob *j, BlockKind *k, const i64 *x)
{
    const Blocks *b = j->blocks;
    ravel_error err;
    i64 extent[MAX_RANK], shape[MAX_RANK];
    ravel_request rq = *j->rq;
    blocks_extents(b, x, extent);
    blocks_make(b, extent, &k->block);
    for (int d = 0; d < rq.rank; d++)
        shape[b->p->map[d]] = extent[d];
    rq.shape = shape;
    rq.threads = b->threads > 1 ? 1 : rq.threads;
    rq.from = k->block.from.text;
    rq.to = k->block.to.text;
    cli_check(c, ravel_compile(c->cx, &rq, &k->plan, &err), &err);
    k->holes = layout_points(k->block.to.part, true) < k->block.to.part->size ||
               b->p->dst->ref->def->fill == FILL_NONE;
}

void
blocks_compile(Cli *c, const BlocksJob *j, BlockKind *kind)
{
    i64 x[MAX_RANK];
    for (unsigned i = 0; i < blocks_kinds(j->blocks); i++)
        if (blocks_corner(j->blocks, i, x))
            make_kind(c, j, &kind[i], x);
}

bool
blocks_prove(Cli *c, const BlocksJob *j, const BlockKind *kind, i64 *unproven)
{
    const Blocks *b = j->blocks;
    bool in_place = b->src.in_place || b->dst.in_place;
    ravel_error err;
    for (unsigned i = 0; i < blocks_kinds(b); i++) {
        const ravel_plan *p = kind[i].plan;
        i64 bytes = p ? proof_bytes(p->plan) : 0;
        if (in_place && bytes > j->memory)
            *unproven = bytes > *unproven ? bytes : *unproven;
        if (!p || (in_place && bytes > j->memory))
            continue;
        ravel_status s = ravel_verify(p, &err);
        if (s == RAVEL_ERR_VERIFY)
            fprintf(stderr, "ravel: verify: %s\n", err.text);
        else
            cli_check(c, s, &err);
        if (s != RAVEL_OK)
            return false;
    }
    return true;
}
