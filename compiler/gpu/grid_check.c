/* Index arrays as arguments of kernels, and the kernel that checks their numbers before anything
 * is written.  It has the arguments and the grid of the other, which does nothing if *bad is set. */
#include "grid_parts.h"

static const char *
name_of(const Writer *w, int array)
{
    return arena_printf(w->arena, "I%d", array);
}

const char *
grid_array_params(const Writer *w, const GridUnit *u)
{
    Buf b = buf_new(w->arena);
    for (int i = 0; i < u->narrays; i++) {
        Slot slot = {"name", name_of(w, i)};
        buf_add(&b, writer_text(w, u->array[i].bits == 32 ? "array_32" : "array_64", &slot, 1));
    }
    buf_add(&b, u->narrays ? target_text(w->t, "array_bad") : "");
    return b.s;
}

const char *
grid_array_names(const Writer *w, const GridUnit *u)
{
    Buf b = buf_new(w->arena);
    for (int i = 0; i < u->narrays; i++)
        buf_printf(&b, ", %s", name_of(w, i));
    buf_add(&b, u->narrays ? ", bad" : "");
    return b.s;
}

const char *
grid_check_name(const GridUnit *u)
{
    return arena_printf(ex_arena(u->e), "%s_check", u->name);
}

const char *
grid_array_note(const GridUnit *u)
{
    Buf b = buf_new(ex_arena(u->e));
    buf_printf(&b, "%s runs first, with the same grid and arguments; if *bad, which is 0 "
               "before, is then the number of an array, nothing is written", grid_check_name(u));
    for (int i = 0; i < u->narrays; i++)
        buf_printf(&b, "; I%d is %s: %s numbers from %lld to %s", i, u->array[i].name,
                   ex_text(u->e, u->array[i].n), (long long)u->array[i].least,
                   ex_text(u->e, ex_sub(u->e, u->array[i].bound, ex_const(u->e, 1))));
    return b.s;
}

/* Numbers that the host computes, for the lengths of arrays. */
static void
put_values(Writer *w, const GridUnit *u)
{
    for (int i = 0; i < u->nargs; i++) {
        Slot slot[] = {{"type", target_text(w->t, "index_wide")}, {"name", u->arg[i].name},
                       {"index", writer_number(w, grid_value_at(u, i))}};
        if (u->arg[i].counts)
            writer_put(w, "value", slot, LEN(slot));
    }
}

static void
put_array(Writer *w, const GridUnit *u, int i)
{
    const PlanArray *a = &u->array[i];
    Slot slot[] = {{"array", name_of(w, i)}, {"count", writer_expr(w, a->n)},
                   {"least", writer_number(w, a->least)},
                   {"most", writer_expr(w, ex_sub(w->e, a->bound, ex_const(w->e, 1)))},
                   {"number", writer_number(w, i + 1)},
                   {"threads", writer_number(w, GRID_THREADS)}};
    writer_put(w, "check_numbers", slot, LEN(slot));
}

void
grid_put_check(Writer *w, const GridUnit *u, const GridFields *f, const Slot *slot, int n)
{
    writer_add(w, f->check_open, slot, n);
    w->b->indent++;
    put_values(w, u);
    for (int i = 0; i < u->narrays; i++)
        put_array(w, u, i);
    w->b->indent--;
    writer_add(w, f->check_close, slot, n);
}
