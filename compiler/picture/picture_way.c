/* What the cells of a picture may be coloured by: facts about an address, tiles, and any
 * expression over the dims, such as a digit. */
#include <string.h>

#include "picture.h"

/* Shared memory of a GPU (gpu/bank.h), and a line of a processor's cache. */
enum { BANKS = 32, WORD_BYTES = 4, LINE_BYTES = 64 };

static i64
byte_of(const Picture *p, i64 address)
{
    return address * p->l->dtype->bits / 8;
}

static i64
way_address(const Picture *p, const i64 *x, i64 address)
{
    (void)p, (void)x;
    return address;
}

static i64
way_bank(const Picture *p, const i64 *x, i64 address)
{
    (void)x;
    return byte_of(p, address) / WORD_BYTES % BANKS;
}

static i64
way_line(const Picture *p, const i64 *x, i64 address)
{
    (void)x;
    return byte_of(p, address) / LINE_BYTES;
}

/* The row and the column of the tile of an element. */
static void
tile_of(const Picture *p, const i64 *x, i64 tile[2])
{
    for (int s = 0; s < 2; s++)
        tile[s] = p->tile[s] ? x[p->view.dim[s]] / p->tile[s] : 0;
}

static i64
way_tile(const Picture *p, const i64 *x, i64 address)
{
    i64 t[2];
    (void)address;
    tile_of(p, x, t);
    return t[0] * (p->tile[1] ? int_ceil_div(p->l->dim[p->view.dim[1]].n, p->tile[1]) : 1)
           + t[1];
}

/* The value of `lanes` or `registers`, which a fragment declares. */
static i64
parameter(const Picture *p, const char *name)
{
    i64 v = 1;
    layout_constant(p->l, name, &v);
    return v;
}

static i64
way_lane(const Picture *p, const i64 *x, i64 address)
{
    (void)x;
    return address / parameter(p, "registers") % parameter(p, "lanes");
}

static i64
way_register(const Picture *p, const i64 *x, i64 address)
{
    (void)x;
    return address % parameter(p, "registers");
}

typedef struct {
    const Layout *l;
    const i64 *x;
} Element;

static bool
lookup(const void *env, const char *name, i64 *v)
{
    const Element *e = env;
    int d = layout_find_dim(e->l, name);
    if (d < 0)
        return layout_constant(e->l, name, v);
    *v = e->x[d];
    return true;
}

static i64
way_expression(const Picture *p, const i64 *x, i64 address)
{
    i64 v = 0;
    (void)address;
    if (!ast_eval(p->by, lookup, &(Element){p->view.named ? p->view.named : p->l, x}, &v))
        diag_fatal(ex_arena(p->l->e)->diag, DIAG_ARGUMENT, (Loc){0}, "--by '%.100s' has no "
                   "value at each element: it divides by 0 or does not fit 64 bits",
                   ast_text(ex_arena(p->l->e), p->by));
    return v;
}

/* Neighbours in memory have similar colours. */
static int
color_ramp(const Picture *p, const Cell *c)
{
    double last = p->most > 1 ? (double)p->most : 1;
    return COLORS + (int)((double)c->value / last * (RAMP - 1));
}

/* Adjacent banks, of 16 bytes together, have one colour. */
static int
color_bank(const Picture *p, const Cell *c)
{
    (void)p;
    return (int)(c->value * COLORS / BANKS);
}

/* Tiles that touch differ in colour. */
static int
color_tile(const Picture *p, const Cell *c)
{
    i64 row = p->tile[0] ? c->x[0] / p->tile[0] : 0;
    i64 col = p->tile[1] ? c->x[1] / p->tile[1] : 0;
    return (int)((3 * row + col) % COLORS);
}

/* The elements in so many bytes, at least one. */
static i64
elements(const Picture *p, i64 bytes)
{
    i64 n = bytes * 8 / p->l->dtype->bits;
    return n ? n : 1;
}

static i64
run_of_banks(const Picture *p)
{
    return elements(p, BANKS * WORD_BYTES);
}

static i64
run_of_line(const Picture *p)
{
    return elements(p, LINE_BYTES);
}

static i64
run_of_lane(const Picture *p)
{
    return parameter(p, "registers");
}

const PictureWay picture_ways[] = {
    {"address", "address", way_address, color_ramp, NULL},
    {"bank", "bank, of 32 with 4 bytes each", way_bank, color_bank, run_of_banks},
    {"line", "cache line, of 64 bytes", way_line, NULL, run_of_line},
    {"tile", "tile", way_tile, color_tile, NULL},
    {"lane", "lane of the warp", way_lane, NULL, run_of_lane},
    {"register", "register of the lane", way_register, NULL, run_of_lane},
    {0},
};
static const PictureWay expression = {"expression", "", way_expression, NULL, NULL};

/* The names in an expression are dims and constants of the layout. */
static void
check_names(const Layout *l, const Ast *x)
{
    i64 v;
    Arena *a = ex_arena(l->e);
    Buf known = buf_new(a);
    for (int d = 0; d < l->rank; d++)
        buf_printf(&known, " %s", l->dim[d].name);
    for (const PictureWay *w = picture_ways; w->name; w++)
        buf_printf(&known, " %s", w->name);
    if (x->op == OP_SYM && layout_find_dim(l, x->name) < 0 &&
        !layout_constant(l, x->name, &v))
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "--by: '%.60s' is no dim; known:%s; "
                   "or an expression over the dims, as in --by '%s%%8'", x->name, known.s,
                   l->rank ? l->dim[l->rank - 1].name : "M");
    for (int i = 0; i < op_info[x->op].nargs; i++)
        check_names(l, x->x[i]);
}

const PictureWay *
picture_way(const Layout *l, const char *text, const Ast **by)
{
    i64 v;
    Arena *a = ex_arena(l->e);
    *by = NULL;
    if (!text)
        return picture_ways;
    for (const PictureWay *w = picture_ways; w->name; w++) {
        bool lane = w->value == way_lane || w->value == way_register;
        if (strcmp(text, w->name))
            continue;
        if (lane && !(layout_constant(l, "lanes", &v) && v > 0 &&
                      layout_constant(l, "registers", &v) && v > 0))
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "--by %s: layout '%s' is no "
                       "fragment, which has the parameters lanes and registers, as MMA_A",
                       text, l->ref->def->name);
        return w;
    }
    *by = ast_parse(a, text, (Loc){"--by", 1});
    check_names(l, *by);
    return &expression;
}
