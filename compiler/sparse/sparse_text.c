/* Plans as text, and as C. */
#include <stdint.h>
#include <string.h>

#include "../../templates/c/sparse_size.h"
#include "sparse_parts.h"

static const char *const flaws[] = {
    [RAVEL_FLAW_SIZE] = "%s has another size: %lld follows from the other arrays and the shape",
    [RAVEL_FLAW_START] = "%s[%lld] is not 0",
    [RAVEL_FLAW_BACKWARDS] = "%s[%lld] is less than the one before it",
    [RAVEL_FLAW_END] = "%s[%lld] is not the number of coordinates",
    [RAVEL_FLAW_RANGE] = "%s[%lld] is outside the shape",
    [RAVEL_FLAW_ORDER] = "%s[%lld] is less than the one before it, below one parent",
    [RAVEL_FLAW_TWICE] = "%s[%lld] is equal to one before it",
    [RAVEL_FLAW_INDEX] = "%s needs %lld positions: too many for 32-bit indices, use i64",
    [RAVEL_FLAW_SLICE] = "%s[%lld] ends a slice that has no whole columns",
    [RAVEL_FLAW_LONGER] =
        "%s[%lld] ends a diagonal that is longer than the one before it, or than the rows",
    [RAVEL_FLAW_NONE] = "%s[%lld] ends a diagonal that has no entry",
    [RAVEL_FLAW_FULL] = "%s has no place for one more entry below parent %lld",
    [RAVEL_FLAW_MANY] = "",
};

/* SciPy has the arrays of this format as indptr and indices. */
static bool
is_scipy(const char *format)
{
    static const char *const names[] = {"CSR", "CSC", "BSR", "CSR_ANY", "CSC_ANY", "BSR_ANY"};
    for (int i = 0; i < LEN(names); i++)
        if (!strcmp(format, names[i]))
            return true;
    return false;
}

/* ": it is 9, and C has 5 (SciPy's indices)" */
static void
say_number(Buf *b, const SparseFormat *f, const SparseArray *array, bool outside, i64 number)
{
    const Level *l = &f->level[array->level];
    buf_printf(b, ": it is %lld", (long long)number);
    if (outside && sparse_has(l) && !l->bias && !ex_is_const(l->x))
        buf_printf(b, ", and %s has %lld", ex_text(f->l->e, l->x), (long long)l->n);
    if (is_scipy(f->ref->def->name))
        buf_printf(b, " (SciPy's %s)", array->kind == ARRAY_POS ? "indptr" : "indices");
}

const char *
sparse_flaw(Arena *a, const SparsePlan *p, i64 flaw, i64 array, i64 at, const i64 *number)
{
    if (flaw < 1 || flaw >= LEN(flaws))
        return "the source is not valid";
    const SparseFormat *f = flaw == RAVEL_FLAW_INDEX || flaw == RAVEL_FLAW_FULL ? p->dst : p->src;
    const char *side = f->ref->def->name;
    if (flaw == RAVEL_FLAW_MANY)
        return arena_printf(a, "%s: more than %lld entries are not put in order: divide the list", side, (long long)at);
    if (array < 0 || array >= f->narray)
        return arena_printf(a, p->unadded ? "%s: entry %lld is equal to one before it, and values "
                            "of %s are not added: choose first or last (--duplicates)"
                            : "%s: entry %lld is equal to one before it", side, (long long)at,
                            p->dst->l->dtype->name);
    char *text = arena_printf(a, "%s: ", side);
    Buf b = buf_new(a);
    buf_add(&b, text);
    const char *fmt = flaws[flaw], *place = strstr(fmt, "%lld");
    buf_add(&b, f->array[array].name);
    buf_addn(&b, fmt + 2, (size_t)(place - fmt - 2));
    buf_printf(&b, "%lld%s", (long long)at, place + 4);
    if (number && flaw > RAVEL_FLAW_SIZE && flaw < RAVEL_FLAW_INDEX)
        say_number(&b, f, &f->array[array], flaw == RAVEL_FLAW_RANGE, *number);
    return b.s;
}

const DType *
sparse_array_type(const SparseFormat *f, int i)
{
    ArrayKind kind = f->array[i].kind;
    return kind == ARRAY_VAL ? f->l->dtype
           : dtype_find(kind == ARRAY_MASK || kind == ARRAY_CODES ? "u8"
                        : f->width == 4 ? "i32" : "i64");
}

i64
sparse_bytes(const DType *t)
{
    return t->bits < 8 ? 1 : t->bits / 8;
}

const char *
sparse_access(const Level *l)
{
    return l->info->access;
}

void
sparse_levels_print(Buf *b, const SparseFormat *f)
{
    Exprs *e = f->l->e;
    for (int k = 0; k < f->nlevel; k++) {
        const Level *l = &f->level[k];
        bool has = sparse_has(l);
        buf_printf(b, "  level %d   %-11s %s", k + 1, l->info->name,
                   has ? ex_text(e, l->x) : "the number of the entry below its parent");
        if (has)
            buf_printf(b, ", below %lld", (long long)l->n);
        if (l->bias)
            buf_printf(b, ", stored less %lld", (long long)l->bias);
        buf_printf(b, "; to find one: %s\n", l->info->access);
    }
    buf_add(b, "  arrays   ");
    for (int i = 0; i < f->narray; i++)
        buf_printf(b, " %s:%s", f->array[i].name, sparse_array_type(f, i)->name);
    buf_add(b, "\n");
    for (int d = 0; d < f->l->rank && !f->dense; d++)
        buf_printf(b, "  %s = %s\n", f->l->dim[d].name, ex_text(e, f->coord[d]));
}

static void
print_side(Buf *b, const char *what, const SparseFormat *f)
{
    buf_printf(b, "%s: %s\n", what, layout_ref_text(b->arena, f->ref));
    buf_printf(b, "  declared  %s\n", layout_text(b->arena, f->ref->def));
    if (f->dense)
        buf_printf(b, "  address   %s\n", ex_text(f->l->e, f->l->addr));
    sparse_levels_print(b, f);
}

const char *const sparse_ways[] = {
    [BY_SOURCE] = "in the order of the source", [BY_COUNTING] = "by counting",
    [BY_TILES] = "by tiles", [FROM_TILES] = "from tiles",
    [BY_ROWS] = "by rows", [BY_STRIPS] = "by strips",
    [BY_BITMAP] = "by a bitmap", [BY_SORTING] = "by sorting"};

static void
print_way(Buf *b, const SparsePlan *p)
{
    buf_printf(b, "way: %s: %s\n", sparse_ways[p->way], p->why);
    if (p->counts)
        buf_printf(b, "  %lld counts\n", (long long)p->counts);
    if (p->way == BY_SORTING)
        buf_printf(b, "  keys of %d bits, sorted from bit %d on\n", p->bits, p->low);
    if (p->joins)
        buf_printf(b, "  equal entries: %s\n", sparse_equals[p->rq->equal]);
}

static Unit *
unit_of(const SparsePlan *p, const char *suffix, Stmt *body)
{
    Arena *a = ex_arena(p->e);
    Unit *u = arena_new(a, Unit);
    *u = (Unit){.kind = EMIT_SPARSE, .name = arena_printf(a, "%s%s", p->name, suffix), .e = p->e,
                .body = body};
    return u;
}

const char *
sparse_print(const SparsePlan *p, bool statements)
{
    Buf b = buf_new(ex_arena(p->e));
    print_side(&b, "from", p->src);
    print_side(&b, "to", p->dst);
    print_way(&b, p);
    buf_add(&b, "phases\n");
    sparse_done_print(&b, p);
    if (!statements)
        return b.s;
    buf_add(&b, emit_print(unit_of(p, "_work", p->work)));
    buf_add(&b, emit_print(unit_of(p, "_sizes", p->sizes)));
    buf_add(&b, emit_print(unit_of(p, "", p->fill)));
    return b.s;
}

static const char *
c_type(char letter)
{
    return strchr("IRD", letter) ? "const void *" : letter == 'O' || letter == 'W' ? "void *"
           : letter == 'M' ? "int64_t *" : letter == 'p' ? "uint64_t" : "int64_t";
}

/* The declarations of all steps, for the JIT. */
static const char *
prototypes(Arena *a)
{
    Buf b = buf_new(a);
    buf_add(&b, "typedef struct { int64_t flaw, records; unsigned char *values; } ravel_stream;\n");
    for (int i = 0; i < SPARSE_STEPS; i++) {
        buf_printf(&b, "void %s(ravel_stream *", sparse_steps[i].symbol);
        for (const char *c = sparse_letters(&sparse_steps[i]); *c; c++)
            buf_printf(&b, ", %s", c_type(*c));
        buf_add(&b, ");\n");
    }
    return b.s;
}

static void
head_side(Buf *b, const char *what, const SparseFormat *f)
{
    buf_printf(b, "%s %s:", what, f->ref->def->name);
    for (int i = 0; i < f->narray; i++)
        buf_printf(b, " [%d] %s:%s", i, f->array[i].name, sparse_array_type(f, i)->name);
    buf_add(b, "\n");
}

/* What the caller has to know of values below a byte. */
static void
head_packed(Buf *b, const SparsePlan *p)
{
    int n = p->dst->narray;
    if (p->src->packed || p->dst->packed)
        buf_printf(b, "Values of %s are packed, the first in the low bits.\n",
                   p->dst->l->dtype->name);
    if (p->dst->packed)
        buf_printf(b, "out[%d] is scratch memory of m[%d] bytes.\n", n, n);
}

static const char *
head_of(const SparsePlan *p, const char *command)
{
    Buf b = buf_new(ex_arena(p->e));
    buf_printf(&b, "%s\n", command);
    head_side(&b, "in, n: ", p->src);
    head_side(&b, "out, m:", p->dst);
    buf_printf(&b, "\n%s_work sets m[0] to the bytes of work memory, aligned to 16, -1: too many.\n"
               "%s_sizes checks the source and sets m to the numbers of elements of the\n"
               "destination's arrays, which the caller then allocates.  %s fills them, once.\n"
               "0: done.  Else a flaw of the source: m[0] is the array, m[1] the index.\n"
               "m has room for 2 numbers or more.\n", p->name, p->name, p->name);
    head_packed(&b, p);
    return b.s;
}

void
sparse_units(const SparsePlan *p, const char *command, const Unit **u)
{
    Unit *work = unit_of(p, "_work", p->work);
    work->head = head_of(p, command);
    work->note = arena_printf(ex_arena(p->e), "%s -> %s", p->src->ref->def->name,
                              p->dst->ref->def->name);
    u[0] = work;
    u[1] = unit_of(p, "_sizes", p->sizes);
    u[2] = unit_of(p, "", p->fill);
}

const char *
sparse_render(const Target *t, const SparsePlan *p)
{
    const Unit *u[SPARSE_FUNCTIONS];
    sparse_units(p, "", u);
    return render_units(t, u, LEN(u), prototypes(ex_arena(p->e)));
}
