/* Makes the statements of a box by the first row of grid.def that applies.  A box may become
 * several: whole tiles and what is left, or one for shapes at which all is aligned. */
#include "grid_parts.h"

static const GridRow rows[] = {
#define D(name, emit) {#name, emit},
#include "grid.def"
#undef D
};

void
grid_append(GridUnit *u, GridStmt *box, const GridRow *row, GridStmt ***tail)
{
    grid_drop_unused(u->e, &box->body);
    box->kind = G_BOX;
    box->row = row;
    box->first = u->blocks;
    u->blocks = ex_add(u->e, u->blocks, box->blocks);
    if (!ex_is_const(u->blocks) && ex_as_var(u->blocks) < 0)
        u->blocks = scalar_named(u->plan->scalars, u->blocks, INF);
    box->end = u->blocks;
    **tail = box;
    *tail = &box->next;
}

/* True if the target has the accesses of s and enough shared memory, and its buffers are
 * aligned to what these accesses need. */
static bool
is_within(const GridUnit *u, const GridStmt *s)
{
    for (; s; s = s->next)
        if ((s->width && s->width < u->most.access) || !is_within(u, s->body))
            return false;
    return u->shared <= u->most.shared && u->align <= u->most.align;
}

static const char *
name_of(const GridBox *b, const GridRow *row)
{
    return arena_printf(b->arena, "%s%s%s: %s",
                        b->nest->kind == NEST_FILL ? "padding " : "",
                        plan_box(b->arena, b->u->plan, b->nest),
                        grid_is_padded(b) ? " and padding" : "", row->name);
}

/* Makes the statements with one row; *made receives the box as the row has changed it.
 * False, and the unit is unchanged, if it does not apply. */
static bool
by_row(const GridBox *box, const GridRow *row, GridStmt *s, GridBox *made)
{
    GridBox b = *box;
    GridUnit *u = b.u;
    i64 shared = u->shared;
    int align = u->align;
    b.tail = &s->body;
    bool done = row->emit(&b);
    s->var = b.block;
    s->blocks = done ? grid_needed(u->plan, box->nest, b.blocks) : NULL;
    if (done && is_within(u, s->body)) {
        s->name = name_of(&b, row);
        *made = b;
        return true;
    }
    u->shared = shared;
    u->align = align;
    s->body = NULL;
    return false;
}

/* Makes the statements of the box with the first row that applies; NULL: none does. */
static const GridRow *
by_rows(const GridBox *box, GridStmt *s, GridBox *made)
{
    for (int i = 0; i < LEN(rows); i++)
        if (by_row(box, &rows[i], s, made))
            return &rows[i];
    return NULL;
}

/* Iterations first..first + n - 1 of a loop of the box. */
static GridBox
part_of(const GridBox *box, int loop, i64 first, i64 n)
{
    GridBox b = *box;
    GridLoop *l = &b.loop[loop];
    b.src = ex_add(b.e, b.src, ex_scale(b.e, l->ex.ss, first));
    b.dst = ex_add(b.e, b.dst, ex_scale(b.e, l->ex.ds, first));
    b.elements = b.elements / l->n * n;
    l->n = l->real = n;
    l->ex.n = l->ex.real = ex_const(b.e, n);
    return b;
}

/* Divides a box with a tile into whole tiles, part[0], whose blocks need no guards, and what
 * is left along each side.  Returns the number of parts; 1: nothing is gained. */
static int
divide(const GridBox *box, GridBox part[3])
{
    int n = 1;
    part[0] = *box;
    for (int i = 0; i < LEN(box->side); i++) {
        const GridLoop *l = &box->loop[box->side[i].loop];
        i64 size = box->side[i].size;
        if (size == 0 || !ex_is_const(l->ex.n) || l->rest || grid_is_padded(box) ||
            l->n < 2 * size)
            return 1;
        if (l->n % size == 0)
            continue;
        part[n++] = part_of(&part[0], box->side[i].loop, l->n - l->n % size, l->n % size);
        part[0] = part_of(&part[0], box->side[i].loop, 0, l->n - l->n % size);
    }
    return n;
}

/* Adds the parts of a box with a tile.  False, and nothing changes, if it stays whole. */
static bool
add_parts(GridUnit *u, const GridBox *box, GridStmt ***tail)
{
    GridBox part[3], made;
    GridStmt *s[3];
    const GridRow *row[3];
    int n = divide(box, part), align = u->align;
    i64 shared = u->shared;
    for (int i = 0; i < n; i++) {
        s[i] = arena_new(box->arena, GridStmt);
        row[i] = n > 1 ? by_rows(&part[i], s[i], &made) : NULL;
        if (row[i])
            continue;
        u->align = align;
        u->shared = shared;
        return false;
    }
    for (int i = 0; i < n; i++) {
        s[i]->name = arena_printf(box->arena, "%s, %s", s[i]->name,
                                  i ? "rest" : "whole tiles");
        grid_append(u, s[i], row[i], tail);
    }
    return true;
}

/* The elements of a vector that rows need: 4, and at most 16 bytes. */
static i64
vector_of(const GridBox *box)
{
    return box->bits > 32 ? 128 / box->bits : 4;
}

/* Adds a second version of the box with wider accesses for shapes at which all addresses
 * are aligned.  At those shapes s has no blocks. */
static void
add_aligned(GridUnit *u, const GridBox *box, GridStmt *s, GridStmt ***tail)
{
    Scalars *scalars = u->plan->scalars;
    GridBox aligned = *box;
    GridStmt *also = arena_new(ex_arena(u->e), GridStmt);
    i64 m = vector_of(box), shared = u->shared;
    int align = u->align;
    if (m < 2 || box->nest->kind != NEST_COPY)
        return;
    const Ex *odd = grid_assume(&aligned, m);
    if (ex_is_const(odd))
        return;
    GridBox made;
    const GridRow *row = by_rows(&aligned, also, &made);
    if (!row || !grid_is_wider(also, s)) {
        u->shared = shared;
        u->align = align;
        return;
    }
    also->name = arena_printf(ex_arena(u->e), "%s, of multiples of %lld", also->name,
                              (long long)m);
    also->blocks = scalar_times(scalars, also->blocks,
                                ex_sub(u->e, ex_const(u->e, 1), odd));
    s->blocks = scalar_times(scalars, s->blocks, odd);
    grid_append(u, also, row, tail);
}

bool
grid_add_box(GridUnit *u, const GridBox *box, GridStmt ***tail)
{
    GridStmt *s = arena_new(ex_arena(u->e), GridStmt);
    GridBox made;
    const GridRow *row = by_rows(box, s, &made);
    if (row && plan_is_fixed(u->plan) && add_parts(u, &made, tail))
        return true;
    if (row)
        add_aligned(u, box, s, tail);
    if (row)
        grid_append(u, s, row, tail);
    return row != NULL;
}
