/* Combines the registers of a lane into accesses to a tile. */
#include "frag.h"

/* A register: the coordinates of its element and its address in the tile. */
typedef struct {
    const Ex *x[MAX_RANK];         /* by dims of frag */
    const Ex *at;         /* in the tile, in elements */
    bool done;
} Register;

typedef struct {
    Frag *g;
    Arena *arena;
    int bits;
    const int *map;
    Register reg[FRAG_REGISTERS_MAX];
} FragMaker;

/* The value of a parameter that a fragment must have, at most `most` or `also`; diag_fatal
 * if it has none. */
static i64
parameter(Arena *a, const Layout *l, const char *name, i64 most, i64 also, const char *what)
{
    int i = layout_find_param(l->ref->def, name);
    if (i < 0)
        diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc,
                   "layout '%s' is no fragment: it has no parameter '%s'; as in "
                   "'{M%%8, N//2%%4, M//8, N%%2, lanes = 32, registers = 4}'",
                   l->ref->def->name, name);
    if (l->param[i] != also && (l->param[i] < 1 || l->param[i] > most))
        diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc,
                   "layout '%s': %s = %lld: a number from 1 to %lld%s", l->ref->def->name,
                   name, (long long)l->param[i], (long long)most, what);
    return l->param[i];
}

FragSize
frag_size(Arena *a, const Layout *l)
{
    i64 bits = l->dtype->bits;
    FragSize s = {.lanes = parameter(a, l, "lanes", FRAG_LANES_MAX, FRAG_GROUP,
                                     ", or 128 for a group of four warps")};
    s.registers = (int)parameter(a, l, "registers", FRAG_REGISTERS_MAX, 0, "");
    i64 each = s.lanes * s.registers;
    s.fragments = l->size / each;
    if (l->size % each || s.registers * bits % 32)
        diag_fatal(a->diag, DIAG_LAYOUT, l->ref->def->loc,
                   "layout '%s': its storage of %lld elements of %lld bits is no whole "
                   "number of fragments of %lld lanes with %d registers, in words of 32 "
                   "bits", l->ref->def->name, (long long)l->size, (long long)bits,
                   (long long)s.lanes, s.registers);
    return s;
}

/* Sets r to the element at address a of the fragment's storage: its coordinates and its
 * address in the tile. */
static void
find(FragMaker *m, const Verdict *v, const Ex *a, Register *r)
{
    Exprs *e = m->g->e;
    const Layout *l = m->g->frag;
    const Ex **to = arena_array(m->arena, const Ex *, ex_nvars(e));
    const Ex **tile = arena_array(m->arena, const Ex *, ex_nvars(e));
    to[v->inverse_var] = a;
    for (int d = 0; d < l->rank; d++)
        r->x[d] = ex_subst(e, v->inverse[d], to);
    for (int d = 0; d < l->rank; d++) {
        int i = m->g->store ? d : m->map[d], k = m->g->store ? m->map[d] : d;
        tile[m->g->tile->dim[i].var] = r->x[k];
    }
    r->at = ex_subst(e, m->g->tile->addr, tile);
}

static bool
is_constant(Exprs *e, const Ex *a, const Ex *b, i64 *v)
{
    const Ex *d = ex_sub(e, a, b);
    *v = d->base;
    return ex_is_const(d);
}

/* True if b is an element of the tile in all lanes in which a is; a may be padding in some
 * lanes and is the first of n elements. */
static bool
real_alike(FragMaker *m, const Register *a, const Register *b, i64 n)
{
    const Layout *l = m->g->frag;
    for (int d = 0; d < l->rank; d++) {
        i64 step, extent = l->dim[d].n;
        if (a->x[d]->f.max < extent && b->x[d]->f.max < extent)
            continue;
        if (!is_constant(m->g->e, b->x[d], a->x[d], &step) || step < 0 || step >= n)
            return false;
        if (step && (extent % n || grid_divisor(a->x[d]) % n))
            return false;
    }
    return true;
}

/* The register whose element is i elements after that of r in the tile, in an access of n
 * elements; -1: none. */
static int
behind(FragMaker *m, int r, i64 i, i64 n)
{
    for (int k = 0; k < m->g->registers; k++) {
        i64 far;
        if (!m->reg[k].done && is_constant(m->g->e, m->reg[k].at, m->reg[r].at, &far) &&
            far == i && real_alike(m, &m->reg[r], &m->reg[k], n))
            return k;
    }
    return -1;
}

static void
add_guard(FragMaker *m, FragAccess *a, const Register *r)
{
    const Layout *l = m->g->frag;
    for (int d = 0; d < l->rank; d++) {
        if (r->x[d]->f.max < l->dim[d].n)
            continue;
        a->value[a->nvalues] = r->x[d];
        a->bound[a->nvalues++] = l->dim[d].n;
    }
}

/* Adds an access of `width` bytes that begins with register r.  False if its registers are
 * not adjacent. */
static bool
gather(FragMaker *m, int r, int width)
{
    Frag *g = m->g;
    i64 n = 8 * width / m->bits;
    FragAccess a = {.width = width, .n = (int)n};
    if (n == 0 || n > g->registers || grid_divisor(m->reg[r].at) % n)
        return false;
    a.reg[0] = r;
    for (int i = 1; i < n; i++)
        if ((a.reg[i] = behind(m, r, i, n)) < 0)
            return false;
    for (int i = 0; i < n; i++)
        m->reg[a.reg[i]].done = true;
    a.at = ex_div(g->e, m->reg[r].at, n);
    add_guard(m, &a, &m->reg[r]);
    g->padded |= a.nvalues > 0;
    g->access[g->naccesses++] = a;
    g->align = width > g->align ? width : g->align;
    return true;
}

/* Adds an access for one element smaller than a byte; another lane has its neighbours. */
static void
alone(FragMaker *m, int r)
{
    Frag *g = m->g;
    i64 per = 8 / m->bits;
    FragAccess a = {.width = 1, .n = 1, .reg = {r}};
    if (g->store)
        diag_fatal(m->arena->diag, DIAG_LAYOUT, g->tile->ref->def->loc,
                   "lanes would write to parts of one byte of layout '%s'",
                   g->tile->ref->def->name);
    a.at = ex_div(g->e, m->reg[r].at, per);
    a.shift = ex_scale(g->e, ex_mod(g->e, m->reg[r].at, per), m->bits);
    add_guard(m, &a, &m->reg[r]);
    g->padded |= a.nvalues > 0;
    g->access[g->naccesses++] = a;
    m->reg[r].done = true;
}

/* True if no lane holds an element of the tile in r. */
static bool
is_padding(FragMaker *m, const Register *r)
{
    for (int d = 0; d < m->g->frag->rank; d++)
        if (r->x[d]->f.min >= m->g->frag->dim[d].n)
            return true;
    return false;
}

/* Makes all accesses: the widest first, and for each width from the lowest register on. */
static void
make_accesses(FragMaker *m)
{
    enum { WIDEST = 16 };
    for (int r = 0; r < m->g->registers; r++)
        m->g->padded |= m->reg[r].done = is_padding(m, &m->reg[r]);
    for (int width = WIDEST; width >= 1; width /= 2)
        for (int r = 0; r < m->g->registers; r++)
            if (!m->reg[r].done)
                gather(m, r, width);
    for (int r = 0; r < m->g->registers; r++)
        if (!m->reg[r].done)
            alone(m, r);
}

static void
check(FragMaker *m, const Verdict *v)
{
    enum { BYTES_MAX = 1 << 28 };
    const LayoutDef *d = m->g->frag->ref->def;
    if (!v->inverse || v->holes)
        diag_fatal(m->arena->diag, DIAG_LAYOUT, d->loc, v->holes
                   ? "layout '%s' has registers that hold nothing"
                   : "layout '%s' has no inverse in closed form", d->name);
    if (layout_bytes(m->g->tile) > BYTES_MAX || layout_bytes(m->g->frag) > BYTES_MAX)
        diag_fatal(m->arena->diag, DIAG_LAYOUT, m->g->tile->ref->def->loc,
                   "layout '%s': a tile has at most %d MB", m->g->tile->ref->def->name,
                   BYTES_MAX >> 20);
}

Frag *
frag_make(const Layout *frag, const Verdict *v, const Layout *tile, const int *map,
          bool store)
{
    Exprs *e = frag->e;
    Arena *a = ex_arena(e);
    Frag *g = arena_new(a, Frag);
    FragMaker *m = arena_new(a, FragMaker);
    *g = (Frag){.store = store, .frag = frag, .tile = tile, .e = e, .align = 1};
    *m = (FragMaker){.g = g, .arena = a, .bits = frag->dtype->bits, .map = map};
    check(m, v);
    FragSize size = frag_size(a, frag);
    g->lanes = size.lanes;
    g->registers = size.registers;
    g->fragments = size.fragments;
    g->words = size.registers * m->bits / 32;
    g->lane = ex_var(e, "t", 0, g->lanes - 1);
    g->fragment = ex_var(e, "f", 0, g->fragments - 1);
    const Ex *first = ex_add(e, ex_scale(e, ex_of_var(e, g->fragment), g->lanes),
                             ex_of_var(e, g->lane));
    first = ex_scale(e, first, g->registers);
    for (int j = 0; j < g->registers; j++)
        find(m, v, ex_add(e, first, ex_const(e, j)), &m->reg[j]);
    make_accesses(m);
    if (!store && g->padded && frag->ref->def->fill == FILL_EDGE)
        diag_fatal(a->diag, DIAG_LAYOUT, frag->ref->def->loc,
                   "layout '%s': padding is \"edge\", and a load does not repeat the last "
                   "element", frag->ref->def->name);
    frag_cost(g);
    return g;
}
