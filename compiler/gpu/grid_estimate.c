/* Estimates the bandwidth of a kernel, as a fraction of a copy on the device, from what its
 * blocks access.  docs/gpu.md has the model.  The numbers are those of an H100. */
#include "bank.h"
#include "grid_parts.h"

enum {
    PROCESSORS = 132,     /* multiprocessors */
    BLOCKS_AT_ONCE = 8,   /* of 256 threads, on one of them */
    SHARED_BYTES = 228 << 10, RESERVED_BYTES = 1 << 10,
    FLIGHT_BYTES = 11 << 10,       /* loaded at once on one of them, to hide the latency */
    CYCLE_BYTES = 15,     /* that one of them moves to or from memory in a cycle */
    CYCLE_SECTORS = 4     /* that its cache serves in a cycle */
};

/* Adds the accesses of a block, as often as blocks are like it. */
static void
add_block(GridEstimate *g, double *cycles, const GridUnit *u, const GridStmt *box, i64 block,
          i64 times)
{
    BlockAccess a[ACCESS_KINDS];
    int n = grid_access(u, box, block, a, LEN(a));
    double loaded = 0;
    for (int i = 0; i < n; i++) {
        bool shared = a[i].space == SPACE_SHARED;
        *cycles += (double)times * (double)a[i].sectors / (shared ? 1 : CYCLE_SECTORS);
        g->sectors += (double)times * (double)a[i].unique;
        g->least += (double)times * (double)a[i].least;
        loaded += a[i].space == SPACE_SRC ? (double)(a[i].unique * SECTOR_BYTES) : 0;
    }
    g->flight += loaded * (double)times;
}

/* The blocks that run at once on a multiprocessor. */
static i64
at_once(const GridUnit *u)
{
    i64 n = BLOCKS_AT_ONCE, each = int_ceil_div(u->blocks->base, PROCESSORS);
    i64 room = SHARED_BYTES / (u->shared + RESERVED_BYTES);
    n = room < n ? room : n;
    return each < n ? each : n;
}

GridEstimate
grid_estimate(const GridUnit *u)
{
    GridEstimate g = {0};
    double cycles = 0, blocks = (double)u->blocks->base;
    for (const GridStmt *box = u->body; box; box = box->next) {
        i64 n = box->blocks->base;
        add_block(&g, &cycles, u, box, 0, n > 1 ? n - 1 : 1);
        if (n > 1)
            add_block(&g, &cycles, u, box, n - 1, 1);
    }
    double memory = g.sectors * SECTOR_BYTES / CYCLE_BYTES;
    double best = g.least * SECTOR_BYTES / CYCLE_BYTES;
    g.bytes = blocks > 0 ? g.least * SECTOR_BYTES / blocks : 0;
    g.flight = blocks > 0 ? g.flight / blocks * (double)at_once(u) : 0;
    g.of_copy = best > 0 ? best / (cycles > memory ? cycles : memory) : 0;
    if (g.flight > 0 && g.flight < FLIGHT_BYTES)
        g.of_copy *= g.flight / FLIGHT_BYTES;
    return g;
}
