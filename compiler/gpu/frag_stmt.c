/* The statements of a fragment's function: loads of the tile's data and the assembly of
 * register words from it, or the reverse. */
#include "frag.h"
#include "grid_tile.h"

typedef struct {
    const Frag *g;
    GridBox box;          /* where statements are added; it has no loops */
    Arena *arena;
    int bits;             /* bits of an element */
    int unit;             /* bits of an element, but at most those of a word */
} FragStmtMaker;

/* The place of a unit of a register word: word `word` of access `access`, from bit `at`
 * on. */
typedef struct {
    int access, word, at;
} Spot;

/* The bits of each word of the variable of an access; the bits above are zero. */
static int
loaded_bits(const FragStmtMaker *m, const FragAccess *a)
{
    return a->shift ? m->bits : a->width < 4 ? 8 * a->width : 32;
}

/* Appends an operand that has bits [from, from + n) of x at bit `to`; x has no bits from
 * `bits` on. */
static void
add_bits(FragStmtMaker *m, Buf *b, const char *x, int from, int n, int to, int bits)
{
    const char *shifted = from ? arena_printf(m->arena, "(%s >> %d)", x, from) : x;
    if (from + n < bits)
        shifted = arena_printf(m->arena, "(%s & 0x%xu)", shifted, (1u << n) - 1);
    buf_printf(b, to ? "%s(%s << %d)" : "%s%s", b->len ? " | " : "", shifted, to);
}

static const char *
variable(FragStmtMaker *m, int access)
{
    return arena_printf(m->arena, "v%d", access);
}

static const char *
register_name(FragStmtMaker *m, int w)
{
    return arena_printf(m->arena, "r[%d]", w);
}

/* Finds the access, word and bit of each unit of register word w; access -1: padding. */
static void
find_spots(FragStmtMaker *m, int w, Spot *p)
{
    const Frag *g = m->g;
    int per = 32 / m->unit;
    for (int i = 0; i < per; i++)
        p[i] = (Spot){-1, 0, 0};
    for (int k = 0; k < g->naccesses; k++)
        for (int i = 0; i < g->access[k].n; i++)
            for (int u = 0; u < m->bits / m->unit; u++) {
                int at = (g->access[k].reg[i] * m->bits + u * m->unit) / m->unit;
                int from = i * m->bits + u * m->unit;
                if (at / per == w)
                    p[at % per] = (Spot){k, from / 32, from % 32};
            }
}

/* Word w of the registers, from the loaded data; only bits from access `only` unless that
 * is -1.  Sets *mask to the bits that it contains. */
static const char *
word_of(FragStmtMaker *m, int w, int only, uint32_t *mask)
{
    Spot p[32];
    Buf b = buf_new(m->arena);
    int per = 32 / m->unit;
    find_spots(m, w, p);
    *mask = 0;
    for (int i = 0, n; i < per; i += n) {
        n = 1;
        while (i + n < per && p[i + n].access == p[i].access &&
               p[i + n].word == p[i].word && p[i + n].at == p[i].at + n * m->unit)
            n++;
        if (p[i].access < 0 || (only >= 0 && p[i].access != only))
            continue;
        const FragAccess *a = &m->g->access[p[i].access];
        const char *v = tile_word(&m->box, variable(m, p[i].access), a->width, p[i].word);
        int bits = n * m->unit;
        *mask |= (uint32_t)(((UINT64_C(1) << bits) - 1) << (i * m->unit));
        add_bits(m, &b, v, p[i].at, bits, i * m->unit, loaded_bits(m, a));
    }
    return b.s;
}

/* Opens the condition of the access; NULL: it is always done. */
static GridStmt **
open_guard(FragStmtMaker *m, const FragAccess *a)
{
    const Ex *bound[MAX_RANK];
    for (int i = 0; i < a->nvalues; i++)
        bound[i] = ex_const(m->g->e, a->bound[i]);
    GridStmt *when = grid_when(&m->box, a->value, bound, a->nvalues);
    return when ? grid_open(&m->box, when) : NULL;
}

/* Loads the data of access k; narrow data as a word. */
static void
load(FragStmtMaker *m, int k)
{
    const FragAccess *a = &m->g->access[k];
    if (a->width >= 4) {
        grid_load(&m->box, variable(m, k), true, SPACE_TILE, a->width, a->at);
        return;
    }
    GridStmt *s = grid_add(&m->box, G_WORD);
    s->name = variable(m, k);
    s->space = SPACE_TILE;
    s->width = a->width;
    s->value[0] = a->at;
    s->value[1] = a->shift;
    s->pattern = a->shift ? (1u << m->bits) - 1 : 0;
}

static void
assign(FragStmtMaker *m, int w, const char *value)
{
    GridStmt *s = grid_add(&m->box, G_SET);
    s->name = register_name(m, w);
    s->word[0] = value;
    s->nwords = 1;
}

/* The fill value in word w of the registers. */
static const char *
fill_word(FragStmtMaker *m, int w)
{
    const uint64_t *fill = m->g->frag->fill;
    uint64_t v = fill[w * 32 % m->bits / 64] >> (m->bits >= 64 ? w % 2 * 32 : 0);
    for (int at = m->bits; at < 32; at *= 2)
        v |= v << at;
    return arena_printf(m->arena, "0x%xu", (unsigned)v);
}

/* Assigns the data of access k to the register words; used if only some lanes make the
 * access. */
static void
assign_parts(FragStmtMaker *m, int k)
{
    for (int w = 0; w < m->g->words; w++) {
        uint32_t mask;
        const char *value = word_of(m, w, k, &mask);
        if (mask == UINT32_MAX)
            assign(m, w, value);
        else if (mask)
            assign(m, w, arena_printf(m->arena, "(%s & 0x%xu) | %s", register_name(m, w),
                                      ~mask, value));
    }
}

static void
add_loads(FragStmtMaker *m)
{
    const Frag *g = m->g;
    bool fills = g->padded && g->frag->ref->def->fill != FILL_NONE;
    for (int w = 0; fills && w < g->words; w++)
        assign(m, w, fill_word(m, w));
    for (int k = 0; k < g->naccesses; k++) {
        GridStmt **outer = open_guard(m, &g->access[k]);
        load(m, k);
        if (g->padded)
            assign_parts(m, k);
        grid_close(&m->box, outer);
    }
    for (int w = 0; !g->padded && w < g->words; w++) {
        uint32_t mask;
        assign(m, w, word_of(m, w, -1, &mask));
    }
}

/* Word k of the data that access a stores, from the registers. */
static const char *
stored_word(FragStmtMaker *m, const FragAccess *a, int k)
{
    Buf b = buf_new(m->arena);
    int bits = a->width < 4 ? 8 * a->width : 32;
    for (int at = 0, n; at < bits; at += n) {
        int from = 32 * k + at;
        int reg = a->reg[from / m->bits] * m->bits + from % m->bits;
        n = m->unit;
        while (at + n < bits && reg % 32 + n < 32 &&
               a->reg[(from + n) / m->bits] * m->bits + (from + n) % m->bits == reg + n)
            n += m->unit;
        add_bits(m, &b, register_name(m, reg / 32), reg % 32, n, at, 32);
    }
    return a->width < 4 ? arena_printf(m->arena, "(%s)", b.s) : b.s;
}

static void
add_stores(FragStmtMaker *m)
{
    for (int i = 0; i < m->g->naccesses; i++) {
        const FragAccess *a = &m->g->access[i];
        const char *word[4];
        int n = a->width < 4 ? 1 : a->width / 4;
        for (int k = 0; k < n; k++)
            word[k] = stored_word(m, a, k);
        GridStmt **outer = open_guard(m, a);
        grid_store(&m->box, SPACE_TILE, a->width, a->at, word, n);
        grid_close(&m->box, outer);
    }
}

GridStmt *
frag_statements(const Frag *g)
{
    Arena *a = ex_arena(g->e);
    GridStmt *body = NULL;
    int bits = g->frag->dtype->bits;
    FragStmtMaker m = {.g = g, .arena = a, .bits = bits, .unit = bits < 32 ? bits : 32};
    m.box = (GridBox){.u = arena_new(a, GridUnit), .arena = a, .e = g->e, .tail = &body};
    if (g->store)
        add_stores(&m);
    else
        add_loads(&m);
    return body;
}
