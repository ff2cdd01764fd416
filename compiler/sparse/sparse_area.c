/* The areas of the work memory that the steps of a conversion share. */
#include <stdint.h>

#include "../../templates/c/sparse_size.h"
#include "sparse_parts.h"

typedef struct {
    const Ex *n;          /* elements; NULL: the plan does not have the area */
    i64 bits;             /* of an element */
    bool each;            /* for each thread */
} AreaSize;

static bool
has_columns(const SparsePlan *p)
{
    return p->way == BY_ROWS && p->tiles.columns;
}

/* The area has at least so many elements of `bits` bits. */
static void
enlarge(const SparseMaker *m, AreaSize *a, i64 n, i64 bits, bool each)
{
    i64 bytes = int_ceil_div(n * bits, 8);
    if (!a->n || a->n->base < bytes)
        *a = (AreaSize){ex_const(m->e, bytes), 8, each};
}

/* Of a plan by rows that ranks entries by their columns; the ranks have a size of their own. */
static void
size_columns(const SparseMaker *m, AreaSize *to)
{
    const SparseTiles *t = &m->p->tiles;
    i64 index = m->p->src->width * 8;
    enlarge(m, &to[RAVEL_ROWS], t->bound + 1, index, false);
    enlarge(m, &to[RAVEL_COUNTS], t->bound, index, true);
    enlarge(m, &to[RAVEL_LENGTHS], t->bound, index, true);
    enlarge(m, &to[RAVEL_BUCKETS], t->rows + 1, index, false);
    enlarge(m, &to[RAVEL_CURSORS], t->rows, index, true);
    enlarge(m, &to[RAVEL_SLOTS], t->rows, 32, true);
    enlarge(m, &to[RAVEL_OWNERS], t->bound, 8, false);
}

/* Of a plan by rows whose entries go to bins; the list and the scratch memory have sizes of their own. */
static void
size_sorted(const SparseMaker *m, AreaSize *to)
{
    const SparseTiles *t = &m->p->tiles;
    const int each_bin[] = {RAVEL_BUCKETS, RAVEL_ROWS, RAVEL_GROUPS, RAVEL_ORDER};
    i64 bins = ((t->rows - 1) >> t->shift) + 2;
    enlarge(m, &to[RAVEL_COUNTS], bins, m->p->src->width * 8, true);
    enlarge(m, &to[RAVEL_CURSORS], bins, 64, true);
    enlarge(m, &to[RAVEL_OWNERS], bins, 16, false);
    for (int i = 0; i < 4; i++)
        enlarge(m, &to[each_bin[i]], bins, 64, false);
}

/* Values of tiles at all places take so much memory that they are written past the caches. */
static bool
may_stream(const SparsePlan *p)
{
    const SparseTiles *t = &p->tiles;
    i64 bytes = int_ceil_div(t->rows, t->tall);
    return p->bytes && (!int_mul(bytes, t->bound, &bytes) || !int_mul(bytes, t->tall, &bytes) ||
                        !int_mul(bytes, t->wide, &bytes) || !int_mul(bytes, p->bytes, &bytes) ||
                        bytes >= RAVEL_STREAMED);
}

/* Of a plan by tiles or by rows. */
static void
size_tiles(const SparseMaker *m, AreaSize *to)
{
    const SparsePlan *p = m->p;
    const SparseTiles *t = &p->tiles;
    bool merges = p->way == BY_ROWS;
    i64 slot = merges ? 8 * p->bytes : 32, entry = 8 * RAVEL_ENTRY_BYTES(p->bytes);
    if (has_columns(p))
        size_columns(m, to);
    if (merges && t->sorted) {
        size_sorted(m, to);
        return;
    }
    to[RAVEL_LIST] = (AreaSize){sparse_positions(m), merges ? entry : 8 * ravel_tile_bytes(t->bound), false};
    to[RAVEL_GROUPS] = (AreaSize){ex_const(m->e, int_ceil_div(t->rows, t->tall) + 1), 64, false};
    to[RAVEL_SET] = (AreaSize){ex_const(m->e, ravel_set_words(t->bound)), 64, true};
    to[RAVEL_SLOTS] = (AreaSize){ex_const(m->e, t->bound), slot ? slot : 1, true};
    if (!merges) {
        if (may_stream(p))
            to[RAVEL_SCRATCH] = (AreaSize){ex_const(m->e, RAVEL_NEAR_BYTES), 8, true};
        return;
    }
    to[RAVEL_ROWS] = (AreaSize){ex_const(m->e, t->rows + 1), p->src->width * 8, false};
    if (p->src->level[0].def.kind != LEVEL_DENSE)
        to[RAVEL_COUNTS] = (AreaSize){ex_const(m->e, t->rows), p->src->width * 8, true};
}

/* Of destinations whose places follow from all entries below a parent. */
static void
size_tallies(const SparseMaker *m, AreaSize *to)
{
    const SparseFormat *f = m->p->dst;
    int k = sparse_tallied(f);
    if (k < 0 || m->p->copies)
        return;
    const Ex *parents = ex_const(m->e, sparse_parents(f, k));
    AreaSize each = {parents, f->width * 8, false};
    if (f->level[k].info->coded) {
        to[RAVEL_CHOSEN] = (AreaSize){parents, 16, false};
        return;
    }
    to[RAVEL_LENGTHS] = each;
    if (f->level[0].def.kind == LEVEL_RANKED)
        to[RAVEL_ORDER] = to[RAVEL_RANKS] = each;
}

static void
size_bitmap(const SparseMaker *m, AreaSize *to)
{
    const Ex *bits = ex_const(m->e, m->p->places + 63);
    to[RAVEL_BITS] = (AreaSize){bits, 1, false};
    to[RAVEL_BEFORE] = (AreaSize){ex_const(m->e, int_ceil_div(m->p->places, 64)), 32, false};
    if (m->p->joins)
        to[RAVEL_WRITTEN] = (AreaSize){ex_add(m->e, sparse_written(m), ex_const(m->e, 63)), 1,
                                       false};
}

int
sparse_far_bits(const SparseMaker *m, bool *lists)
{
    enum { MOST = 31 };
    const SparseFormat *f = m->p->src;
    int least = sparse_bits(f->level[1].n) - sparse_bits(RAVEL_BLOCKS);
    bool far = f->level[1].n > RAVEL_NEAR_COLUMNS;
    int left = (int)f->width * 8 - sparse_bits(f->level[0].n);
    *lists = far && left < least;
    return !far ? 0 : *lists || left > MOST ? (int)MOST : left;
}

static void
size_transpose(const SparseMaker *m, AreaSize *to)
{
    const SparseFormat *f = m->p->src;
    i64 index = f->width * 8;
    to[RAVEL_COUNTS] = (AreaSize){ex_const(m->e, f->level[1].n), index, true};
    to[RAVEL_CURSORS] = (AreaSize){ex_const(m->e, f->level[0].n), index, false};
    bool lists;
    if (!sparse_far_bits(m, &lists))
        return;
    if (lists)
        to[RAVEL_LIST] = (AreaSize){sparse_positions(m), index, false};
    to[RAVEL_SCRATCH] = (AreaSize){ex_const(m->e, RAVEL_BLOCK_BYTES), 8, true};
}

static void
size_areas(const SparseMaker *m, AreaSize *to)
{
    const SparsePlan *p = m->p;
    const SparseFormat *f = p->src;
    if (p->way == FROM_TILES)
        to[RAVEL_GROUPS] = (AreaSize){ex_const(m->e, p->tiles.rows + 1), 64, false};
    else if (sparse_masks(f) && !p->copies)
        to[RAVEL_MASK] = (AreaSize){ex_add(m->e, sparse_positions(m), ex_const(m->e, 63)), 1,
                                    false};
    if (!f->dense && f->level[0].def.kind == LEVEL_RANKED)
        to[RAVEL_SEEN] = (AreaSize){ex_const(m->e, f->level[0].n + 63), 1, false};
    if (f->packed)
        to[RAVEL_VALUES] = (AreaSize){sparse_positions(m), 8, false};
    size_tallies(m, to);
    if (p->transposes)
        size_transpose(m, to);
    if (p->way == BY_TILES || p->way == BY_ROWS)
        size_tiles(m, to);
    if (p->way == BY_BITMAP || p->way == BY_STRIPS)
        size_bitmap(m, to);
    if (p->way == BY_STRIPS)
        to[RAVEL_CURSORS] = (AreaSize){ex_const(m->e, f->level[0].n), f->width * 8, true};
}

void
sparse_rooms(SparseMaker *m)
{
    AreaSize size[RAVEL_AREAS] = {0};
    size_areas(m, size);
    for (int i = 0; i < RAVEL_AREAS; i++)
        if (size[i].n)
            sparse_step(m, STEP_room, size[i].n, size[i].bits, (i64)size[i].each);
    if (m->p->way == BY_ROWS && m->p->tiles.sorted)
        sparse_step(m, STEP_room_sorted, sparse_positions(m), m->p->bytes, m->p->tiles.few);
    if (has_columns(m->p))
        sparse_step(m, STEP_room_columns, sparse_positions(m), m->p->tiles.few);
}

void
sparse_areas(SparseMaker *m)
{
    AreaSize size[RAVEL_AREAS] = {0};
    size_areas(m, size);
    for (int i = 0; i < RAVEL_AREAS; i++)
        if (size[i].n)
            sparse_step(m, STEP_area, (i64)i, size[i].n, size[i].bits, (i64)size[i].each);
    if (has_columns(m->p))
        sparse_step(m, STEP_area_columns, sparse_positions(m), m->p->tiles.few);
}
