/* Explains a kernel: its boxes, what their blocks access, and the estimate. */
#include "grid_parts.h"

static void
explain_access(Buf *b, const BlockAccess *a)
{
    double per = (double)a->requests;
    buf_printf(b, "      %-5s %-6s %2d bytes a thread, %4lld requests: %4.1f %s each, "
               "%.1f at best", a->store ? "store" : "load", grid_spaces[a->space], a->width,
               (long long)a->requests, (double)a->sectors / per,
               a->space == SPACE_SHARED ? "wavefronts" : "sectors",
               (double)a->ideal / per);
    if (a->space != SPACE_SHARED)
        buf_printf(b, "; %lld sectors in all, %lld at best", (long long)a->unique,
                   (long long)a->least);
    buf_add(b, "\n");
}

static void
explain_block(Buf *b, const GridUnit *u, const GridStmt *box, i64 block)
{
    BlockAccess access[ACCESS_KINDS];
    int n = grid_access(u, box, block, access, LEN(access));
    buf_printf(b, "    block %lld\n", (long long)(box->first->base + block));
    for (int i = 0; i < n; i++)
        explain_access(b, &access[i]);
}

static void
explain_estimate(Buf *b, const GridUnit *u)
{
    GridEstimate g = grid_estimate(u);
    buf_printf(b, "  a block moves %.0f bytes, %.0f are loaded at once on a multiprocessor; sectors "
               "%.2f of the fewest; estimate: %#.2g of a copy (docs/gpu.md)\n", g.bytes,
               g.flight, g.least > 0 ? g.sectors / g.least : 1, g.of_copy);
}

/* Its blocks and accesses; only a shape says these if an extent is left to run time. */
static void
explain_box(Buf *b, const GridUnit *u, const GridStmt *box)
{
    if (!ex_is_const(u->blocks)) {
        buf_printf(b, "  %s, %s blocks\n", box->name, ex_text(u->e, box->blocks));
        return;
    }
    i64 first = box->first->base, count = box->blocks->base;
    buf_printf(b, "  %s, block%s %lld", box->name, count > 1 ? "s" : "", (long long)first);
    if (count > 1)
        buf_printf(b, "..%lld", (long long)(first + count - 1));
    buf_printf(b, ", about %lld instructions a thread\n", (long long)grid_instructions(u, box));
    explain_block(b, u, box, 0);
    if (count > 1)
        explain_block(b, u, box, count - 1);
}

void
grid_explain(Buf *b, const GridUnit *u, const char *target)
{
    bool known = ex_is_const(u->blocks);
    i64 n = u->blocks->base;
    buf_printf(b, "%s: ", target);
    if (known)
        buf_printf(b, "%lld ", (long long)n);
    buf_printf(b, "block%s of %d threads", known && n == 1 ? "" : "s", GRID_THREADS);
    if (u->down > 1)
        buf_printf(b, " as %lld by %lld", (long long)u->across, (long long)u->down);
    buf_printf(b, ", %lld bytes of shared memory, indices of %d bits, buffers aligned to "
               "%d bytes\n", (long long)u->shared, u->wide ? 64 : 32, u->align);
    if (known)
        explain_estimate(b, u);
    for (const GridStmt *box = u->body; box; box = box->next)
        explain_box(b, u, box);
    scalars_print(b, u->plan->scalars);
}
