/* Prints loads and stores of a fragment as functions in the target's language. */
#include <string.h>

#include "frag.h"

typedef struct {
    const Target *t;
    const Frag *g;
    Writer w;
    Arena *arena;
    Buf *b;
    int bits;             /* bits of an element */
    int unit;             /* bits of an element, but at most those of a word */
} Renderer;

/* The place of a unit of a register word: word `word` of access `access`, from bit `at`
 * on. */
typedef struct {
    int access, word, at;
} Spot;

static const char *
field(Renderer *r, const char *name)
{
    const char *text = target_text(r->t, name);
    if (!text)
        diag_fatal(r->arena->diag, DIAG_ARGUMENT, (Loc){0},
                   "target '%s' has no tile loads: the table lacks '%s'",
                   target_name(r->t), name);
    return text;
}

static const char *
line(Renderer *r, const char *name, const Slot *slot, int n)
{
    return writer_fill(&r->w, field(r, name), slot, n);
}

static void
put(Renderer *r, const char *name, const Slot *slot, int n)
{
    buf_line(r->b, "%s", line(r, name, slot, n));
}

static const char *
type_of(Renderer *r, int width)
{
    return field(r, arena_printf(r->arena, "type%d", width));
}

/* Word k of the variable that holds the data of an access. */
static const char *
part_of(Renderer *r, int access, int k)
{
    const FragAccess *a = &r->g->access[access];
    if (a->width < 4)
        return arena_printf(r->arena, "(%s)v%d", type_of(r, 4), access);
    if (a->width == 4)
        return arena_printf(r->arena, "v%d", access);
    return arena_printf(r->arena, "v%d.%c", access, "xyzw"[k]);
}

/* Appends an operand that has bits [from, from + n) of x at bit `to`. */
static void
add_bits(Renderer *r, Buf *b, const char *x, int from, int n, int to, bool narrow)
{
    bool top = from + n == 32 || narrow;
    const char *shifted = from ? arena_printf(r->arena, "%s >> %d", x, from) : x;
    if (n < 32 && !top)
        shifted = arena_printf(r->arena, "(%s & 0x%xu)", shifted, (1u << n) - 1);
    else if (from)
        shifted = arena_printf(r->arena, "(%s)", shifted);
    buf_printf(b, to ? "%s%s << %d" : "%s%s", b->len ? " | " : "", shifted, to);
}

/* Finds the access, word and bit of each unit of register word w; access -1: padding. */
static void
find_spots(Renderer *r, int w, Spot *p)
{
    const Frag *g = r->g;
    int per = 32 / r->unit;
    for (int i = 0; i < per; i++)
        p[i] = (Spot){-1, 0, 0};
    for (int k = 0; k < g->naccesses; k++)
        for (int i = 0; i < g->access[k].n; i++)
            for (int u = 0; u < r->bits / r->unit; u++) {
                int at = (g->access[k].reg[i] * r->bits + u * r->unit) / r->unit;
                int from = i * r->bits + u * r->unit;
                if (at / per == w)
                    p[at % per] = (Spot){k, from / 32, from % 32};
            }
}

/* Word w of the registers, from the loaded data; only bits from access `only` unless that
 * is -1.  Sets *mask to the bits that it contains. */
static const char *
word_of(Renderer *r, int w, int only, uint32_t *mask)
{
    Spot p[32];
    Buf b = buf_new(r->arena);
    int per = 32 / r->unit;
    find_spots(r, w, p);
    *mask = 0;
    for (int i = 0, n; i < per; i += n) {
        n = 1;
        while (i + n < per && p[i + n].access == p[i].access &&
               p[i + n].word == p[i].word && p[i + n].at == p[i].at + n * r->unit)
            n++;
        if (p[i].access < 0 || (only >= 0 && p[i].access != only))
            continue;
        const FragAccess *a = &r->g->access[p[i].access];
        int bits = n * r->unit;
        *mask |= (uint32_t)(((UINT64_C(1) << bits) - 1) << (i * r->unit));
        add_bits(r, &b, part_of(r, p[i].access, p[i].word), p[i].at, bits, i * r->unit,
                 a->width < 4 && p[i].at + bits == 8 * a->width);
    }
    return b.s;
}

static void
open_guard(Renderer *r, const FragAccess *a)
{
    Buf b = buf_new(r->arena);
    if (!a->nvalues)
        return;
    for (int i = 0; i < a->nvalues; i++)
        buf_printf(&b, "%s%s < %lld", i ? " && " : "", writer_expr(&r->w, a->value[i]),
                   (long long)a->bound[i]);
    put(r, "when_open", &(Slot){"text", b.s}, 1);
    r->b->indent++;
}

static void
close_guard(Renderer *r, const FragAccess *a)
{
    if (!a->nvalues)
        return;
    r->b->indent--;
    put(r, "when_close", NULL, 0);
}

static const char *
tile_line(Renderer *r, const char *own, const char *usual, const Slot *slot, int n)
{
    return line(r, target_text(r->t, own) ? own : usual, slot, n);
}

static void
put_load(Renderer *r, int k)
{
    const FragAccess *a = &r->g->access[k];
    Slot slot[] = {{"index", writer_expr(&r->w, a->at)}, {"type", type_of(r, a->width)},
                   {"width", writer_number(&r->w, a->width)}};
    const char *value = tile_line(r, "load_tile", "load", slot, LEN(slot));
    if (a->shift)
        value = arena_printf(r->arena, "(%s)((%s)%s >> (%s) & %uu)", type_of(r, 1),
                             type_of(r, 4), value, writer_expr(&r->w, a->shift),
                             (1u << r->bits) - 1);
    Slot let[] = {{"type", type_of(r, a->width)}, {"value", value},
                  {"name", arena_printf(r->arena, "v%d", k)}};
    put(r, "constant", let, LEN(let));
}

static const char *
register_name(Renderer *r, int w)
{
    return arena_printf(r->arena, "r[%d]", w);
}

/* The fill value in word w of the registers. */
static const char *
fill_word(Renderer *r, int w)
{
    const uint64_t *fill = r->g->frag->fill;
    uint64_t v = fill[w * 32 % r->bits / 64] >> (r->bits >= 64 ? w % 2 * 32 : 0);
    for (int at = r->bits; at < 32; at *= 2)
        v |= v << at;
    return arena_printf(r->arena, "0x%xu", (unsigned)v);
}

static void
assign(Renderer *r, int w, const char *value)
{
    Slot slot[] = {{"name", register_name(r, w)}, {"value", value}};
    put(r, "assign", slot, LEN(slot));
}

/* Assigns the data of access k to the register words; used if only some lanes make the
 * access. */
static void
put_parts(Renderer *r, int k)
{
    for (int w = 0; w < r->g->words; w++) {
        uint32_t mask;
        const char *value = word_of(r, w, k, &mask);
        if (mask == UINT32_MAX)
            assign(r, w, value);
        else if (mask)
            assign(r, w, arena_printf(r->arena, "(%s & 0x%xu) | %s", register_name(r, w),
                                      ~mask, value));
    }
}

static void
put_loads(Renderer *r)
{
    const Frag *g = r->g;
    bool fills = g->padded && g->frag->ref->def->fill != FILL_NONE;
    for (int w = 0; fills && w < g->words; w++)
        assign(r, w, fill_word(r, w));
    for (int k = 0; k < g->naccesses; k++) {
        open_guard(r, &g->access[k]);
        put_load(r, k);
        if (g->padded)
            put_parts(r, k);
        close_guard(r, &g->access[k]);
    }
    for (int w = 0; !g->padded && w < g->words; w++) {
        uint32_t mask;
        assign(r, w, word_of(r, w, -1, &mask));
    }
}

/* Word k of the data that access a stores, from the registers. */
static const char *
stored_word(Renderer *r, const FragAccess *a, int k)
{
    Buf b = buf_new(r->arena);
    int bits = a->width < 4 ? 8 * a->width : 32;
    for (int at = 0, n; at < bits; at += n) {
        int from = 32 * k + at;
        int reg = a->reg[from / r->bits] * r->bits + from % r->bits;
        n = r->unit;
        while (at + n < bits && reg % 32 + n < 32 &&
               a->reg[(from + n) / r->bits] * r->bits + (from + n) % r->bits == reg + n)
            n += r->unit;
        add_bits(r, &b, register_name(r, reg / 32), reg % 32, n, at, false);
    }
    return b.s;
}

static void
put_store(Renderer *r, const FragAccess *a)
{
    const char *value = stored_word(r, a, 0);
    Slot word[] = {{"x", value}, {"y", ""}, {"z", ""}, {"w", ""}};
    for (int k = 1; k < a->width / 4; k++)
        word[k].value = stored_word(r, a, k);
    if (a->width > 4)
        value = line(r, a->width == 8 ? "vector2" : "vector4", word, a->width / 4);
    else if (a->width < 4)
        value = arena_printf(r->arena, "(%s)(%s)", type_of(r, a->width), value);
    Slot slot[] = {{"index", writer_expr(&r->w, a->at)}, {"type", type_of(r, a->width)},
                   {"width", writer_number(&r->w, a->width)}, {"value", value}};
    open_guard(r, a);
    buf_line(r->b, "%s", tile_line(r, "store_tile", "store", slot, LEN(slot)));
    close_guard(r, a);
}

/* A comment with the number of accesses by width and their cost. */
static const char *
note(Renderer *r)
{
    const Frag *g = r->g;
    Buf b = buf_new(r->arena);
    int sum[4] = {0};
    buf_printf(&b, "%s the %d word%s of lane t of %lld, fragment f of %lld:",
               g->store ? "stores" : "loads", g->words, g->words == 1 ? "" : "s",
               (long long)g->lanes, (long long)g->fragments);
    for (int width = 16; width; width /= 2) {
        int n = 0;
        for (int k = 0; k < g->naccesses; k++)
            n += g->access[k].width == width;
        if (n)
            buf_printf(&b, " %d x %d bytes,", n, width);
    }
    for (int k = 0; k < g->naccesses; k++) {
        const FragAccess *a = &g->access[k];
        sum[0] += a->wavefronts;
        sum[1] += a->least_wavefronts;
        sum[2] += a->sectors;
        sum[3] += a->least_sectors;
    }
    buf_printf(&b, " the tile aligned to %d; of all lanes %d wavefronts in shared "
               "memory, %d at best, or %d sectors in global, %d at best", g->align,
               sum[0], sum[1], sum[2], sum[3]);
    return b.s;
}

static void
put_body(Renderer *r)
{
    bool *used = arena_array(r->arena, bool, ex_nvars(r->g->e));
    int var[] = {r->g->fragment, r->g->lane};
    static const char *const name[] = {"f", "t"};
    for (int k = 0; k < r->g->naccesses; k++) {
        ex_vars(r->g->access[k].at, used);
        if (r->g->access[k].shift)
            ex_vars(r->g->access[k].shift, used);
        for (int i = 0; i < r->g->access[k].nvalues; i++)
            ex_vars(r->g->access[k].value[i], used);
    }
    for (int i = 0; i < LEN(var); i++)
        if (!used[var[i]])
            put(r, "unused", &(Slot){"name", name[i]}, 1);
    if (!r->g->store)
        put_loads(r);
    for (int k = 0; r->g->store && k < r->g->naccesses; k++)
        put_store(r, &r->g->access[k]);
}

const char *
frag_render(const Target *t, const Frag *g)
{
    Arena *a = ex_arena(g->e);
    Buf b = buf_new(a);
    int bits = g->frag->dtype->bits;
    Renderer r = {.t = t, .g = g, .arena = a, .b = &b, .bits = bits,
                  .unit = bits < 32 ? bits : 32, .w = writer_new(t, g->e, &b)};
    const char *open = g->store ? "tile_store_open" : "tile_load_open";
    writer_head(&r.w, g->head, "");
    put(&r, "comment", &(Slot){"text", note(&r)}, 1);
    buf_add(&b, line(&r, open, &(Slot){"name", g->name}, 1));
    b.indent++;
    put_body(&r);
    b.indent--;
    buf_add(&b, line(&r, "index_close", NULL, 0));
    return b.s;
}
