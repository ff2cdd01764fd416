/* A plan as one kernel: each box by the first row that can do it. */
#include "grid.h"
#include "emit.h"

static const GridRow rows[] = {
#define D(name, emit, what) {#name, what, emit},
#include "grid.def"
#undef D
};

/* Boxes of which a kernel is made; more go by the inverse. */
enum { BOXES_MAX = 64 };

static void
append(GridUnit *u, GridStmt *box, const GridRow *row, GridStmt ***tail)
{
    grid_drop_unused(u->e, &box->body);
    box->kind = G_BOX;
    box->row = row;
    box->first = u->blocks;
    u->blocks += box->count;
    **tail = box;
    *tail = &box->next;
}

/* Whether the target has accesses as narrow as these, and as much shared memory. */
static bool
is_within(const GridUnit *u, const GridStmt *s)
{
    for (; s; s = s->next)
        if ((s->width && s->width < u->most.access) || !is_within(u, s->body))
            return false;
    return u->shared <= u->most.shared;
}

/* The statements by one row; false, and the unit as it was, where that does not do it. */
static bool
by_row(GridUnit *u, const Nest *n, const GridRow *row, GridStmt *box)
{
    GridBox b;
    i64 shared = u->shared;
    int align = u->align;
    grid_box(u, n, &b);
    b.tail = &box->body;
    box->count = row->emit(&b);
    box->var = b.block;
    if (box->count && is_within(u, box->body))
        return true;
    u->shared = shared;
    u->align = align;
    box->body = NULL;
    return false;
}

/* The box's statements and its run of blocks; false where no row does it. */
static bool
add_box(GridUnit *u, const Nest *n, GridStmt ***tail)
{
    Arena *a = ex_arena(u->e);
    GridStmt *s = arena_new(a, GridStmt);
    for (int i = 0; i < LEN(rows); i++) {
        if (!by_row(u, n, &rows[i], s))
            continue;
        s->name = arena_printf(a, "%s%s: %s", n->kind == NEST_FILL ? "padding " : "",
                               plan_box(a, u->plan, n), rows[i].name);
        append(u, s, &rows[i], tail);
        return true;
    }
    return false;
}

static bool
by_boxes(GridUnit *u)
{
    GridStmt **tail = &u->body;
    for (int i = 0; i < u->plan->n; i++)
        if (i == BOXES_MAX || !add_box(u, &u->plan->nest[i], &tail))
            return false;
    return true;
}

static void
by_inverse(GridUnit *u)
{
    static const GridRow row = {"inverse", "a word of the destination by its inverse",
                                NULL};
    Arena *a = ex_arena(u->e);
    GridStmt *s = arena_new(a, GridStmt), **tail = &u->body;
    u->blocks = u->shared = 0;
    u->align = u->most.access;
    u->body = NULL;
    s->count = grid_inverse(u, s);
    if (!s->count)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "no kernel for blocks of threads does this: the plan has many boxes, "
                   "or elements that share bytes with those of others, and layout '%s' "
                   "has no inverse in closed form", u->plan->dst->ref->def->name);
    s->name = "all: inverse";
    append(u, s, &row, &tail);
}

static bool
all_narrow(const GridStmt *s)
{
    for (; s; s = s->next) {
        for (int i = 0; i < LEN(s->value); i++)
            if (s->value[i] && !ex_is_narrow(s->value[i], false))
                return false;
        for (int i = 0; s->same[0] && i < LEN(s->same); i++)
            if (!ex_is_narrow(s->same[i], false))
                return false;
        if (!all_narrow(s->body))
            return false;
    }
    return true;
}

i64
grid_buffer(const GridUnit *u, const Layout *l)
{
    i64 bytes = layout_bytes(l), all;
    return int_round_up(bytes, u->most.access, &all) ? all : bytes;
}

/* Rows of blocks, as few as the target's grid has room for. */
static void
fold_grid(GridUnit *u)
{
    enum { BLOCKS_MAX = INT32_MAX };
    if (u->blocks > BLOCKS_MAX || int_ceil_div(u->blocks, u->most.side) > u->most.side)
        diag_fatal(ex_arena(u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "a grid of %lld blocks: at most 2^31 - 1, and %lld a side",
                   (long long)u->blocks, (long long)u->most.side);
    u->down = int_ceil_div(u->blocks, u->most.side);
    u->across = int_ceil_div(u->blocks, u->down);
}

static void
check_width(GridUnit *u)
{
    const Plan *p = u->plan;
    u->wide = !all_narrow(u->body) ||
              layout_bytes(p->src) > INT32_MAX || layout_bytes(p->dst) > INT32_MAX;
    if (u->wide && u->most.bits < 64)
        diag_fatal(ex_arena(u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "this needs indices of 64 bits, and the target's have %d: buffers "
                   "of %lld and %lld bytes", u->most.bits,
                   (long long)layout_bytes(p->src), (long long)layout_bytes(p->dst));
}

/* The line of the kernel's own comment. */
static const char *
note_of(const GridUnit *u)
{
    Arena *a = ex_arena(u->e);
    const char *down = u->down > 1 ? arena_printf(a, " by %lld", (long long)u->down)
                                   : "";
    return arena_printf(a, "grid %lld%s, block %d, src %lld bytes, dst %lld bytes, "
                        "aligned to %d; they do not overlap", (long long)u->across, down,
                        GRID_THREADS, (long long)grid_buffer(u, u->plan->src),
                        (long long)grid_buffer(u, u->plan->dst), u->align);
}

GridUnit *
grid_make(const Plan *p, GridLimits most, const char *name, const char *command)
{
    Arena *a = ex_arena(p->e);
    GridUnit *u = arena_new(a, GridUnit);
    Buf b = buf_new(a);
    if (p->now)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                   "extents at run time are for the target c: give numbers");
    *u = (GridUnit){.name = name, .e = p->e, .plan = p, .most = most,
                    .align = most.access};
    buf_printf(&b, "%s\n", command);
    emit_layout_head(&b, "src", p->src);
    emit_layout_head(&b, "dst", p->dst);
    u->head = b.s;
    u->thread = ex_var(p->e, "t", 0, GRID_THREADS - 1);
    if (!by_boxes(u))
        by_inverse(u);
    fold_grid(u);
    check_width(u);
    u->note = note_of(u);
    return u;
}
