/* The picture of a layout as data: which cells there are, what each is and what colours
 * it. */
#include "picture.h"

enum { RUN_MAX = 16, RUN_WIDE = 32, LINE_CELLS = 64, STORAGE_ROWS = 64,
       ENUM_CELLS = 1 << 16 };

PictureView
picture_view(void)
{
    return (PictureView){.dim = {-1, -1}};
}

/* The number of entries in which a dim occurs: the plane shows the dims that are split. */
static int
parts_of_dim(const Layout *l, int d)
{
    int n = 0;
    for (int i = 0; i < l->nentry; i++) {
        bool *used = arena_array(ex_arena(l->e), bool, ex_nvars(l->e));
        ex_vars(l->entry[i].ex, used);
        n += used[l->dim[d].var];
    }
    return n * (l->dim[d].n > 1);
}

/* The dim that is split most and is not `other`; the last one of equals. */
static int
most_split(const Layout *l, int other)
{
    int best = -1, most = -1;
    for (int d = l->rank - 1; d >= 0; d--) {
        int n = d == other ? -1 : parts_of_dim(l, d);
        if (n > most) {
            most = n;
            best = d;
        }
    }
    return best;
}

/* One given dim is the columns; no given dims: the rows come before the columns. */
static void
choose_plane(Picture *p)
{
    int *d = p->view.dim;
    if (d[0] < 0 && d[1] < 0) {
        int a = most_split(p->l, -1), b = most_split(p->l, a);
        d[0] = a < b ? a : b;
        d[1] = a < b ? b : a;
    }
}

static void
cuts_of_digit(void *arg, const Part *p, i64 lo, i64 hi)
{
    (void)p;
    cuts_add(arg, lo);
    cuts_add(arg, hi);
}

int
picture_cuts(const Layout *l, int dim, i64 cut[CUTS_MAX])
{
    Part *part;
    int nparts;
    Cuts c = {.cut = cut, .below = INF, .most = CUTS_MAX};
    if (parts_of(l, true, &part, &nparts))
        parts_each_digit(part, nparts, dim, cuts_of_digit, &c);
    return c.n;
}

/* The largest and the smallest block of rows and columns that is below the extent. */
static void
choose_blocks(Picture *p)
{
    i64 cut[CUTS_MAX];
    for (int s = 0; s < 2; s++) {
        int d = p->view.dim[s], n = d < 0 ? 0 : picture_cuts(p->l, d, cut);
        for (int i = 0; i < n; i++) {
            if (cut[i] >= p->l->dim[d].n)
                continue;
            if (!p->block[s] || cut[i] < p->block[s])
                p->block[s] = cut[i];
            if (cut[i] > p->tile[s])
                p->tile[s] = cut[i];
        }
    }
}

static void
set_element(Picture *p, Cell *c, const i64 *x, i64 address)
{
    const int *d = p->view.dim;
    c->kind = CELL_ELEMENT;
    c->address = address;
    for (int s = 0; s < 2; s++)
        c->x[s] = d[s] < 0 ? 0 : x[d[s]];
    for (int k = 0; k < p->l->rank; k++)
        if (k != d[0] && k != d[1] && x[k] != p->view.at[k])
            c->kind = CELL_OTHER;
    c->value = p->way->value(p, x, address);
    if (c->kind == CELL_ELEMENT && c->value > p->most)
        p->most = c->value;
    if (c->kind == CELL_ELEMENT && c->value < p->least)
        p->least = c->value;
}

static void
make_plane(Picture *p)
{
    CellGrid *g = &p->plane;
    i64 n[2], x[MAX_RANK], a;
    for (int s = 0; s < 2; s++) {
        int d = p->view.dim[s];
        i64 most = p->view.most[s] ? p->view.most[s] : PICTURE_SIDE;
        g->first[s] = d < 0 ? 0 : p->view.at[d];
        n[s] = d < 0 ? 1 : p->l->dim[d].n - g->first[s];
        g->more[s] = n[s] > most;
        n[s] = n[s] > most ? most : n[s];
    }
    g->rows = n[0];
    g->cols = n[1];
    g->cell = arena_array(ex_arena(p->l->e), Cell, n[0] * n[1]);
    for (int k = 0; k < p->l->rank; k++)
        x[k] = p->view.at[k];
    for (i64 i = 0; i < n[0] * n[1]; i++) {
        i64 at[] = {g->first[0] + i / n[1], g->first[1] + i % n[1]};
        for (int s = 0; s < 2; s++)
            if (p->view.dim[s] >= 0)
                x[p->view.dim[s]] = at[s];
        if (layout_address(p->l, x, &a))
            set_element(p, &g->cell[i], x, a);
    }
}

/* The length of a line of storage: the unit of the way, else the product of innermost
 * extents, up to 16, or one extent up to 32. */
static i64
storage_run(const Picture *p)
{
    i64 box[MAX_ENTRIES], run = p->way->run ? p->way->run(p) : 1;
    int n = layout_box(p->l, box);
    if (p->way->run)
        return run < LINE_CELLS ? run : LINE_CELLS;
    for (int i = n - 1; i >= 0 && run * box[i] <= (run == 1 ? RUN_WIDE : RUN_MAX); i--)
        run *= box[i];
    if (run == 1)
        run = p->l->size < RUN_MAX ? p->l->size : RUN_MAX;
    return run;
}

/* The elements at the addresses from..to - 1 of the grid: by the inverse, else by looking at
 * all. */
static bool
find_elements(Picture *p, const Verdict *v, i64 from, i64 to)
{
    const Layout *l = p->l;
    i64 x[MAX_RANK] = {0}, a;
    Cell *cell = p->storage.cell;
    for (a = from; v->inverse && a < to; a++)
        if (verdict_element(l, v, a, x))
            set_element(p, &cell[a - from], x, a);
    if (v->inverse)
        return true;
    if (layout_points(l, false) > ENUM_CELLS)
        return false;
    do {
        if (layout_address(l, x, &a) && a >= from && a < to)
            set_element(p, &cell[a - from], x, a);
    } while (layout_next(l, false, x));
    return true;
}

/* What the slots from..to - 1 without an element are. */
static void
find_gaps(CellGrid *g, const Verdict *v, i64 from, i64 to)
{
    for (i64 a = from; a < to; a++) {
        Cell *c = &g->cell[a - from];
        c->address = a;
        c->kind = c->kind ? c->kind : CELL_HOLE;
    }
    for (const Gap *gap = v->gap; gap < v->gap + v->ngaps; gap++) {
        i64 a = gap->from > from ? gap->from : from, end = gap->to < to ? gap->to : to;
        for (; gap->padding && a < end; a++)
            g->cell[a - from].kind = CELL_PADDING;
    }
}

/* The line of storage with the first element of the plane, or an earlier one, so that the lines
 * from it on fill the picture. */
static i64
line_of_plane(const Picture *p, i64 cols, i64 rows)
{
    i64 least = INF, last = rows - STORAGE_ROWS;
    for (i64 i = 0; i < p->plane.rows * p->plane.cols; i++)
        if (p->plane.cell[i].kind == CELL_ELEMENT && p->plane.cell[i].address < least)
            least = p->plane.cell[i].address;
    return last <= 0 || least == INF ? 0 : least / cols < last ? least / cols : last;
}

/* Finds the gaps of the storage up to the lines that are shown; returns the first of these. */
static i64
decide_lines(const Picture *p, Layout *l, Verdict *v, i64 cols, i64 rows)
{
    i64 line = line_of_plane(p, cols, rows);
    storage_decide(l, v, line ? ENUM_CELLS : (int)(STORAGE_ROWS * cols));
    bool all = v->ngaps < ENUM_CELLS;
    return all ? line : 0;
}

static void
make_storage(Picture *p, Layout *l, Verdict *v)
{
    CellGrid *g = &p->storage;
    i64 cols = storage_run(p), rows = int_ceil_div(p->l->size, cols);
    g->more[0] = rows > STORAGE_ROWS;
    g->first[0] = decide_lines(p, l, v, cols, rows);
    rows = g->more[0] ? STORAGE_ROWS : rows;
    i64 from = g->first[0] * cols, cells = rows * cols;
    i64 to = from + cells < p->l->size ? from + cells : p->l->size;
    g->cell = arena_array(ex_arena(p->l->e), Cell, cells);
    if (!find_elements(p, v, from, to))
        return;
    g->rows = rows;
    g->cols = cols;
    find_gaps(g, v, from, to);
}

static void
set_colors(const Picture *p, CellGrid *g)
{
    for (i64 i = 0; i < g->rows * g->cols; i++) {
        Cell *c = &g->cell[i];
        if (c->kind == CELL_ELEMENT)
            c->color = p->way->color ? p->way->color(p, c) : (int)int_mod(c->value, COLORS);
    }
}

/* The view's dims and coordinates fit the layout. */
static void
check_view(const Picture *p)
{
    const Layout *l = p->l;
    for (int k = 0; k < l->rank; k++)
        if (p->view.at[k] < 0 || p->view.at[k] >= l->dim[k].n)
            diag_fatal(ex_arena(l->e)->diag, DIAG_ARGUMENT, (Loc){0},
                       "--at %s=%lld is outside 0..%lld", l->dim[k].name,
                       (long long)p->view.at[k], (long long)l->dim[k].n - 1);
}

Picture *
picture_make(Layout *l, Verdict *v, const PictureView *view)
{
    Arena *a = ex_arena(l->e);
    Picture *p = arena_new(a, Picture);
    *p = (Picture){.l = l, .view = *view};
    check_view(p);
    choose_plane(p);
    choose_blocks(p);
    p->way = picture_way(view->named ? view->named : l, view->by, &p->by);
    make_plane(p);
    make_storage(p, l, v);
    set_colors(p, &p->plane);
    set_colors(p, &p->storage);
    return p;
}
