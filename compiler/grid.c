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

/* The box's statements and its run of blocks; false where no row does it. */
static bool
add_box(GridUnit *u, const Nest *n, GridStmt ***tail)
{
    Arena *a = ex_arena(u->e);
    GridStmt *s = arena_new(a, GridStmt);
    for (int i = 0; i < LEN(rows); i++) {
        GridBox b;
        grid_box(u, n, &b);
        b.tail = &s->body;
        s->count = rows[i].emit(&b);
        if (!s->count)
            continue;
        s->var = b.block;
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
    u->align = 1;
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

/* Whether x, as written, needs no more than 31 bits at any point, and no sign. */
static bool
is_narrow(const Ex *x)
{
    enum { BITS = 31 };
    double sum = x->base < 0 ? -(double)x->base : (double)x->base;
    if (x->f.min < 0)
        return false;
    for (int i = 0; i < x->n; i++) {
        const Atom *a = x->t[i].atom;
        double k = x->t[i].coef < 0 ? -(double)x->t[i].coef : (double)x->t[i].coef;
        if (a->f.min < 0 || a->f.max == INF)
            return false;
        sum += k * (double)a->f.max;
        for (int j = 0; j < a->n; j++)
            if (!is_narrow(a->x[j]))
                return false;
    }
    return sum < (double)(INT64_C(1) << BITS);
}

static bool
all_narrow(const GridStmt *s)
{
    for (; s; s = s->next) {
        for (int i = 0; i < LEN(s->value); i++)
            if (s->value[i] && !is_narrow(s->value[i]))
                return false;
        if (s->same[0] && (!is_narrow(s->same[0]) || !is_narrow(s->same[1])))
            return false;
        if (!all_narrow(s->body))
            return false;
    }
    return true;
}

GridUnit *
grid_make(const Plan *p, const char *name, const char *command)
{
    enum { BLOCKS_MAX = INT32_MAX };
    Arena *a = ex_arena(p->e);
    GridUnit *u = arena_new(a, GridUnit);
    Buf b = buf_new(a);
    if (p->now)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                   "extents at run time are for the target c: give numbers");
    *u = (GridUnit){.name = name, .e = p->e, .plan = p, .align = 1};
    buf_printf(&b, "%s\n", command);
    emit_layout_head(&b, "src", p->src);
    emit_layout_head(&b, "dst", p->dst);
    u->head = b.s;
    u->thread = ex_var(p->e, "t", 0, GRID_THREADS - 1);
    if (!by_boxes(u))
        by_inverse(u);
    if (u->blocks > BLOCKS_MAX)
        diag_fatal(a->diag, DIAG_LAYOUT, (Loc){0},
                   "a grid of %lld blocks: at most 2^31 - 1", (long long)u->blocks);
    u->wide = !all_narrow(u->body) ||
              layout_bytes(p->src) > INT32_MAX || layout_bytes(p->dst) > INT32_MAX;
    u->note = arena_printf(a, "grid %lld, block %d, src %lld bytes, dst %lld bytes, "
                           "aligned to %d; they do not overlap", (long long)u->blocks,
                           GRID_THREADS, (long long)layout_bytes(p->src),
                           (long long)layout_bytes(p->dst), u->align);
    return u;
}
