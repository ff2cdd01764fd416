/* Makes the statements of a box by the first row of grid.def that applies, or by `fuse`, and a
 * second version for shapes at which all is aligned. */
#include "grid_parts.h"

static const GridRow rows[] = {
#define D(name, emit) {#name, emit},
#define W(name, emit)
#include "grid.def"
#undef D
#undef W
};

static const GridRow ways[] = {
#define D(name, emit)
#define W(name, emit) {#name, emit},
#include "grid.def"
#undef D
#undef W
};

/* Adds statements that have been made as a box, and gives it the next blocks. */
static void
append(GridUnit *u, GridStmt *box, const GridRow *row, GridStmt ***tail)
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
    bool fill = b->nest && b->nest->kind == NEST_FILL;
    return arena_printf(b->arena, "%s%s%s: %s", fill ? "padding " : "", grid_what(b),
                        grid_is_padded(b) ? " and padding" : "", row->name);
}

/* Makes the statements with one row; s->next: a second box, or NULL.  False, and the unit is
 * unchanged, if it does not apply. */
static bool
by_row(const GridBox *box, const GridRow *row, GridStmt *s)
{
    GridBox b = *box;
    GridUnit *u = b.u;
    i64 shared = u->shared;
    int align = u->align;
    b.tail = &s->body;
    bool done = row->emit(&b);
    s->var = b.block;
    s->blocks = done && b.nest ? grid_needed(u->plan, b.nest, b.blocks) : b.blocks;
    if (done && is_within(u, s->body)) {
        s->name = name_of(&b, row);
        s->next = b.also;
        return true;
    }
    u->shared = shared;
    u->align = align;
    s->body = NULL;
    return false;
}

/* The unit's shared memory and alignment, which rows raise. */
typedef struct {
    i64 shared;
    int align;
} Needs;

static Needs
needs_of(const GridUnit *u)
{
    return (Needs){u->shared, u->align};
}

static void
set_needs(GridUnit *u, Needs needs)
{
    u->shared = needs.shared;
    u->align = needs.align;
}

/* Tries `fuse` in place of the row that was found, and takes it if its blocks cost less by more
 * than the error of the model.  The model by which `fuse` refuses compares it with `edge` and
 * `gather`, and does not know what parts of sectors cost.  `before`: the unit without the box. */
static const GridRow *
or_fused(const GridBox *box, const GridRow *row, GridStmt *s, Needs before)
{
    static const GridRow fuse = {"fuse", grid_fuse_any};
    const double better = 0.95;
    GridUnit *u = box->u;
    GridStmt fused = {0};
    Needs found = needs_of(u);
    if (row->emit == grid_fuse)
        return row;
    set_needs(u, before);
    if (by_row(box, &fuse, &fused) && grid_cost(u, &fused) < better * grid_cost(u, s)) {
        *s = fused;
        return &fuse;
    }
    set_needs(u, found);
    return row;
}

/* Makes the statements of the box with the first row that applies, or `fuse`; NULL: none does.
 * One row reads index arrays.  Costs tell which of two rows is better at a shape of numbers only: the
 * sectors that accesses share at the nominal shape are those of hardly any shape in use. */
static const GridRow *
by_rows(const GridBox *box, GridStmt *s)
{
    bool any = !nest_looks_up(box->nest), known = any && grid_is_known(box);
    Needs before = needs_of(box->u);
    for (int i = 0; i < LEN(rows); i++)
        if ((any || rows[i].emit == grid_gather) && by_row(box, &rows[i], s))
            return known ? or_fused(box, &rows[i], s, before) : &rows[i];
    return NULL;
}

static void
append_all(GridUnit *u, GridStmt *box, const GridRow *row, GridStmt ***tail)
{
    for (GridStmt *next; box; box = next) {
        next = box->next;
        box->next = NULL;
        append(u, box, row, tail);
    }
}

/* Multiplies the number of blocks of the boxes by 0 or 1. */
static void
limit(GridUnit *u, GridStmt *box, const Ex *factor)
{
    for (; box; box = box->next)
        box->blocks = scalar_times(u->plan->scalars, box->blocks, factor);
}

/* The elements of a vector that rows need: 4, at most 16 bytes, and at least a word below a
 * byte. */
static i64
vector_of(const GridBox *box)
{
    return box->bits > 32 ? 128 / box->bits : box->bits < 8 ? 32 / box->bits : 4;
}

/* Adds a second version of the box for shapes at which all addresses are aligned, if its
 * accesses are wider or it needs no box for the ends of runs.  At those shapes s has no
 * blocks. */
static void
add_aligned(GridUnit *u, const GridBox *box, GridStmt *s, GridStmt ***tail)
{
    GridBox aligned = *box;
    GridStmt *also = arena_new(ex_arena(u->e), GridStmt);
    i64 m = vector_of(box), shared = u->shared;
    int align = u->align;
    if (m < 2 || box->nest->kind != NEST_COPY)
        return;
    const Ex *odd = grid_assume(&aligned, m);
    if (ex_is_const(odd))
        return;
    const GridRow *row = by_rows(&aligned, also);
    if (!row || !(grid_is_wider(also, s) || (s->next && !also->next))) {
        u->shared = shared;
        u->align = align;
        return;
    }
    also->name = arena_printf(ex_arena(u->e), "%s, of multiples of %lld", also->name,
                              (long long)m);
    limit(u, also, ex_sub(u->e, ex_const(u->e, 1), odd));
    limit(u, s, odd);
    append_all(u, also, row, tail);
}

bool
grid_add_box(GridUnit *u, const GridBox *box, GridStmt ***tail)
{
    GridStmt *s = arena_new(ex_arena(u->e), GridStmt);
    const GridRow *row = by_rows(box, s);
    if (row)
        add_aligned(u, box, s, tail);
    if (row)
        append_all(u, s, row, tail);
    return row != NULL;
}

bool
grid_add_period(GridUnit *u, const GridBox *box, GridStmt ***tail)
{
    static const GridRow period = {"period", grid_period};
    const double better = 0.95;
    Arena *a = ex_arena(u->e);
    Needs before = needs_of(u);
    GridStmt *apart = NULL, *s = arena_new(a, GridStmt);
    bool done = true;
    for (int i = 0; i <= box->nmore && done; i++) {
        GridStmt *one = arena_new(a, GridStmt), *last = one;
        done = by_rows(i ? &box->more[i - 1] : box, one);
        while (last->next)
            last = last->next;
        last->next = apart;
        apart = one;
    }
    set_needs(u, before);
    if (!by_row(box, &period, s))
        return false;
    if (done && grid_cost(u, s) >= better * grid_cost(u, apart)) {
        set_needs(u, before);
        return false;
    }
    append(u, s, &period, tail);
    return true;
}

/* The instructions of all threads of the statements, at the nominal shape; INF: too many. */
static i64
instructions_of(const GridUnit *u, const GridStmt *s)
{
    i64 all, blocks = scalar_nominal(u->plan->scalars, s->blocks);
    return int_mul(blocks, grid_instructions(u, s), &all) ? all : INF;
}

bool
grid_add_whole(GridUnit *u, const GridBox *only, GridStmt ***tail)
{
    Arena *a = ex_arena(u->e);
    GridBox box = {.u = u, .e = u->e, .arena = a, .bits = u->plan->dst->dtype->bits};
    GridStmt *best = NULL;
    const GridRow *way = NULL;
    int align = u->align;
    box = only ? *only : box;
    box.what = "all";
    for (int i = 0; i < LEN(ways); i++) {
        GridStmt *s = arena_new(a, GridStmt);
        u->align = u->most.access;
        if (!by_row(&box, &ways[i], s))
            continue;
        grid_drop_unused(u->e, &s->body);
        if (best && instructions_of(u, best) <= instructions_of(u, s))
            continue;
        best = s;
        way = &ways[i];
        align = u->align;
    }
    u->align = align;
    if (best)
        append(u, best, way, tail);
    return best;
}
