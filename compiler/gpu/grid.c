/* Makes one kernel from a plan: boxes by the rows of grid.def, or all of it at once. */
#include <string.h>

#include "grid_parts.h"

/* The limit for boxes in a kernel; with more, the kernel does the whole plan at once. */
enum { BOXES_MAX = 64 };

/* Joins boxes as often as possible.  Returns the number of remaining boxes. */
static int
join(GridBox *box, int n)
{
    for (int i = 0; i < n; i++)
        for (int f = 0; f < n; f++) {
            if (f == i || !grid_join(&box[i], &box[f]))
                continue;
            for (n--; f < n; f++)
                box[f] = box[f + 1];
            i = -1;
            break;
        }
    return n;
}

/* Makes a box for each nest that is no variant; returns the number of boxes. */
static int
make_boxes(GridUnit *u, GridBox *box)
{
    const Plan *p = u->plan;
    int n = 0;
    for (int i = 0; i < p->n; i++)
        if (!p->nest[i]->variant)
            grid_box(u, p->nest[i], &box[n++]);
    return n;
}

/* Moves boxes that have a period in common with the first to places after it; returns how many
 * there are. */
static int
gather_period(GridBox *box, int n)
{
    int more = 0;
    for (int i = 1; i < n; i++)
        if (grid_has_period(box, &box[i])) {
            GridBox other = box[++more];
            box[more] = box[i];
            box[i] = other;
        }
    return more;
}

/* Adds the first boxes: those of a period, or one.  Returns their number; 0: no row applies. */
static int
add_boxes(GridUnit *u, GridBox *box, int n, GridStmt ***tail)
{
    GridBox all = *box;
    all.nmore = gather_period(box, n);
    all.more = box + 1;
    for (int i = 1; i <= all.nmore; i++)
        all.what = arena_printf(box->arena, "%s and %s", grid_what(&all), grid_what(&box[i]));
    if (all.nmore && grid_add_period(u, &all, tail))
        return 1 + all.nmore;
    return grid_add_box(u, box, tail);
}

/* Makes all boxes by rows.  NULL, or why that is not possible; then *only is the one box of
 * the plan, or NULL. */
static const char *
by_boxes(GridUnit *u, const GridBox **only)
{
    GridStmt **tail = &u->body;
    Arena *a = ex_arena(u->e);
    GridBox *box = arena_array(a, GridBox, u->plan->n);
    int n = join(box, make_boxes(u, box)), least = u->most.access;
    if (n > BOXES_MAX)
        return arena_printf(a, "the plan has more than %d boxes (%d)", BOXES_MAX, n);
    n = grid_cover(u->plan->scalars, box, n, NEST_COPY);
    n = grid_cover(u->plan->scalars, box, n, NEST_FILL);
    n = grid_cover(u->plan->scalars, box, n, NEST_COPY);
    *only = n == 1 ? box : NULL;
    for (int i = 0, added; i < n; i += added)
        if (!(added = add_boxes(u, &box[i], n - i, &tail)))
            return arena_printf(a, "the box %s needs accesses of less than %d byte%s",
                                grid_what(&box[i]), least,
                                least > 1 ? "s" : "");
    return NULL;
}

/* Makes the whole plan at once.  why: the reason that its boxes are not possible; only: the one
 * box, or NULL. */
static void
make_whole(GridUnit *u, const char *why, const GridBox *only)
{
    Diag *diag = ex_arena(u->e)->diag;
    GridStmt **tail = &u->body;
    if (u->narrays)
        diag_fatal(diag, DIAG_LAYOUT, (Loc){0}, "no kernel for blocks of threads does this: "
                   "%s, and the row inverse reads no index arrays", why);
    u->shared = 0;
    u->blocks = ex_const(u->e, 0);
    u->body = NULL;
    if (!grid_add_whole(u, only, &tail))
        diag_fatal(diag, DIAG_LAYOUT, (Loc){0},
                   "no kernel for blocks of threads does this: %s, and layout '%s' has no "
                   "inverse in closed form%s", why, u->plan->dst->ref->def->name,
                   u->plan->scalars->nextents ? " for every shape: give numbers" : "");
}

i64
grid_buffer(const GridUnit *u, const Layout *l)
{
    i64 bytes = layout_bytes(l), all;
    return int_round_up(bytes, u->most.access, &all) ? all : bytes;
}

/* Splits the blocks into rows, as few as the target's limit for a row allows. */
static void
fold_grid(GridUnit *u)
{
    if (!ex_is_const(u->blocks)) {
        u->rows = u->most.rows && u->most.row < BLOCKS_MAX;
        return;
    }
    i64 n = u->blocks->base;
    if (n > u->most.row && !u->most.rows)
        diag_fatal(ex_arena(u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "a grid of %lld blocks is more than %lld in a row, and the target has "
                   "no 'grid_block_rows' for several", (long long)n,
                   (long long)u->most.row);
    if (n > BLOCKS_MAX || int_ceil_div(n, u->most.row) > u->most.row)
        diag_fatal(ex_arena(u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "a grid of %lld blocks: at most 2^31 - 1, and %lld a side",
                   (long long)n, (long long)u->most.row);
    u->down = int_ceil_div(n, u->most.row);
    u->across = int_ceil_div(n, u->down);
    u->rows = u->down > 1;
}

/* The most bytes of the storage for any shape; INF: no limit is known. */
static i64
most_bytes(const Sizes *z)
{
    i64 bits;
    return int_mul(z->size->f.max, z->l->dtype->bits, &bits) ? int_ceil_div(bits, 8) : INF;
}

/* True if an argument is an index, or a divisor of one. */
static bool
has_index_arguments(const GridUnit *u)
{
    int i = 0;
    while (i < u->nargs && u->arg[i].bits)
        i++;
    return i < u->nargs;
}

/* Finds the width of the indices.  Where no shape is known and the target's have 32 bits, the host
 * refuses buffers of more bytes; its arguments have the widest. */
static void
check_width(GridUnit *u)
{
    const Plan *p = u->plan;
    bool known = ex_is_const(p->from->size) && ex_is_const(p->to->size);
    bool large = most_bytes(p->from) > INT32_MAX || most_bytes(p->to) > INT32_MAX;
    bool narrow = grid_is_narrow(u->body, known ? UINT32_MAX : INF);
    u->wide = u->most.bits == 64 && (large || has_index_arguments(u) || !narrow);
    if (u->most.bits == 64)
        return;
    if (known && large)
        diag_fatal(ex_arena(u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "this needs indices of 64 bits, and the target's have %d: buffers "
                   "of %lld and %lld bytes", u->most.bits,
                   (long long)layout_bytes(p->src), (long long)layout_bytes(p->dst));
    if (!narrow)
        diag_fatal(ex_arena(u->e)->diag, DIAG_LAYOUT, (Loc){0},
                   "this needs signed indices of 64 bits, and the target's are unsigned and "
                   "have %d: on the way to an address of src or dst there is a number below "
                   "0, or of 2^31 or more", u->most.bits);
}

/* The line for the comment of the kernel. */
static const char *
note_of(const GridUnit *u)
{
    Arena *a = ex_arena(u->e);
    if (!ex_is_const(u->blocks))
        return arena_printf(a, "%s_arguments computes the grid, the sizes of src and dst, "
                            "and the arguments; block %d, aligned to %d; they do not overlap",
                            u->name, GRID_THREADS, u->align);
    const char *down = u->most.batch ? " by the number of pairs"
                       : u->down > 1 ? arena_printf(a, " by %lld", (long long)u->down) : "";
    return arena_printf(a, "grid %lld%s, block %d, src %lld bytes, dst %lld bytes, "
                        "aligned to %d; they do not overlap", (long long)u->across, down,
                        GRID_THREADS, (long long)grid_buffer(u, u->plan->src),
                        (long long)grid_buffer(u, u->plan->dst), u->align);
}

/* An access has the size of an element, or of the target's narrowest access. */
static void
check_align(const GridUnit *u)
{
    int bytes = u->plan->dst->dtype->bits / 8;
    int least = bytes > u->most.access ? bytes : u->most.access;
    if (u->most.align < least)
        diag_fatal(ex_arena(u->e)->diag, DIAG_ARGUMENT, (Loc){0},
                   "buffers aligned to %d bytes: a kernel accesses %d bytes at once, which "
                   "must be aligned", u->most.align, least);
}

/* A batch needs a kernel of the target that takes one. */
static void
check_batch(const Target *t, const Plan *p)
{
    const char *field = grid_opening(p, true);
    if (!target_text(t, field))
        diag_fatal(ex_arena(p->e)->diag, DIAG_ARGUMENT, (Loc){0},
                   "a batch: the kernels of the target %s take one source and one "
                   "destination, as it has no '%s'", target_name(t), field);
}

/* The target has the text that begins the kernel. */
static void
check_opening(const Target *t, const Plan *p)
{
    const char *field = grid_opening(p, false);
    if (!target_text(t, field))
        diag_fatal(ex_arena(p->e)->diag, DIAG_ARGUMENT, (Loc){0},
                   "extents at run time: the target has no '%s' for them: give numbers", field);
}

/* A batch has no arrays of its own for each pair. */
static void
check_arrays(const Target *t, const Plan *p, bool batch)
{
    const char *open = grid_opening(p, false);
    const char *text = target_text(t, open);
    if (batch)
        diag_fatal(ex_arena(p->e)->diag, DIAG_ARGUMENT, (Loc){0},
                   "a batch: the kernel would need index arrays, and takes none");
    if (!target_text(t, "lookup"))
        diag_fatal(ex_arena(p->e)->diag, DIAG_ARGUMENT, (Loc){0},
                   "index arrays: the kernels of the target %s take none, as it has no "
                   "'lookup'", target_name(t));
    if (text && !strstr(text, "${arrays}"))
        diag_fatal(ex_arena(p->e)->diag, DIAG_ARGUMENT, (Loc){0},
                   "index arrays: the field '%s' of the target %s has no ${arrays}", open,
                   target_name(t));
}

GridLimits
grid_limits(const Target *t, const Plan *p, const Request *rq)
{
    if (rq->batch)
        check_batch(t, p);
    check_opening(t, p);
    if (plan_looks_up(p))
        check_arrays(t, p, rq->batch);
    return (GridLimits){.access = (int)target_number(t, "access_least"),
                        .align = rq->align ? rq->align : GRID_VECTOR,
                        .bits = (int)target_number(t, "index_bits"),
                        .shared = target_number(t, "shared_most"),
                        .row = target_number(t, "grid_side"),
                        .rows = target_text(t, "grid_block_rows"),
                        .otherwise = target_text(t, "else_open"),
                        .funnel = target_text(t, "funnel"),
                        .batch = rq->batch};
}

GridUnit *
grid_make(const Plan *p, GridLimits most, const char *name, const char *command)
{
    Arena *a = ex_arena(p->e);
    GridUnit *u = arena_new(a, GridUnit);
    Buf b = buf_new(a);
    *u = (GridUnit){.name = name, .e = p->e, .plan = p, .most = most,
                    .align = most.access, .blocks = ex_const(p->e, 0)};
    buf_printf(&b, "%s\n", command);
    emit_plan_head(&b, p);
    u->head = b.s;
    check_align(u);
    u->thread = ex_var(p->e, "t", 0, GRID_THREADS - 1);
    u->narrays = plan_arrays(p, u->array);
    const GridBox *only = NULL;
    const char *why = by_boxes(u, &only);
    if (why)
        make_whole(u, why, only);
    fold_grid(u);
    u->array_note = grid_array_note(u);
    grid_arguments(u);
    check_width(u);
    u->note = note_of(u);
    return u;
}
