/* Prints the host's function of a kernel with extents left to run time.  It is in C and
 * computes sizes, the number of blocks and the kernel's arguments. */
#include "grid_parts.h"

/* The most blocks of the grid; without rows, those of one row. */
static i64
most_blocks(const GridUnit *u)
{
    return u->rows || u->most.row > BLOCKS_MAX ? BLOCKS_MAX : u->most.row;
}

static Unit *
host_of(const GridUnit *u)
{
    EmitValues v = {.blocks = u->blocks, .most = most_blocks(u), .bits = u->most.bits,
                    .access = u->most.access, .ndivisors = u->ndivisors};
    const Ex **value = arena_array(ex_arena(u->e), const Ex *, u->nargs + 1);
    bool *upper = arena_array(ex_arena(u->e), bool, u->nargs + 1);
    for (; v.n < u->nargs; v.n++) {
        value[v.n] = u->arg[v.n].value;
        upper[v.n] = u->arg[v.n].upper;
    }
    v.value = value;
    v.upper = upper;
    return emit_values(u->plan, &v, u->name);
}

int
grid_room(const GridUnit *u)
{
    int n = grid_values(u);
    return n ? n : 1;
}

const char *
grid_host_text(const GridUnit *u)
{
    return render_values(target_load(ex_arena(u->e), "c"), host_of(u), grid_room(u));
}

void
grid_put_host(Buf *b, const Target *t, const GridUnit *u)
{
    const Target *c = target_load(ex_arena(u->e), "c");
    const Unit *host = host_of(u);
    Writer w = writer_new(t, u->e, b);
    Slot slot[] = {{"name", u->name}, {"params", render_parameters(c, host)},
                   {"extents", render_extents(c, host)},
                   {"threads", writer_number(&w, GRID_THREADS)},
                   {"values", writer_number(&w, grid_room(u))},
                   {"pairs", writer_number(&w, GRID_PAIRS)},
                   {"arrays", grid_array_params(&w, u)}, {"names", grid_array_names(&w, u)}};
    const char *close = u->narrays ? "array_host_close"
                        : u->most.batch ? "batch_host_close" : "host_close";
    if (!target_text(t, "host_open"))
        return;
    writer_add(&w, "host_open", slot, LEN(slot));
    buf_add(b, render_values(c, host, grid_room(u)));
    if (target_text(t, close))
        writer_add(&w, close, slot, LEN(slot));
}
