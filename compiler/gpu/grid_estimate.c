/* Estimates the bandwidth of a kernel, as a fraction of a copy on the device, from what its
 * blocks access.  docs/gpu.md has the model.  The numbers are those of an
 * H100, but for what parts of sectors cost. */
#include <math.h>

#include "bank.h"
#include "grid_parts.h"

enum {
    BLOCKS_AT_ONCE = 8,   /* of 256 threads, on one of them */
    SHARED_BYTES = 228 << 10, RESERVED_BYTES = 1 << 10,
    FLIGHT_BYTES = 11 << 10,       /* loaded at once on one of them, to hide the latency */
    CYCLE_BYTES = 15,     /* that one of them moves to or from memory in a cycle */
    CYCLE_SECTORS = 4     /* that its cache serves in a cycle */
};

/* The sums of all blocks. */
typedef struct {
    double cycles, sectors, loaded;         /* loaded: bytes of the source's sectors */
    double stored;        /* bytes */
    double parts;         /* what sectors that are stored in part cost, in sectors moved */
} BlockSums;

/* Memory reads the rest of a sector of which only a part is written, unless that comes soon:
 * what a store leaves to other threads of its block costs less than what it leaves to other
 * blocks.  On average a part is half a sector. */
static double
part_cost(const BlockAccess *a)
{
    const double of_store = 0.7, of_block = 1.4;        /* sectors; fitted to an H200 */
    double store = (double)(a->sectors * SECTOR_BYTES - a->bytes);
    double block = (double)(a->unique * SECTOR_BYTES - a->bytes);
    bool dst = a->space == SPACE_DST && a->store;
    double bytes = (store > 0 ? store : 0) * of_store + block * of_block;
    return dst ? bytes / (SECTOR_BYTES / 2.0) : 0;
}

/* Adds the accesses of a block, as often as blocks are taken to be like it. */
static void
add_block(BlockSums *g, const GridUnit *u, const GridStmt *box, i64 block, i64 times)
{
    BlockAccess a[ACCESS_KINDS];
    int n = grid_access(u, box, block, a, LEN(a));
    for (int i = 0; i < n; i++) {
        double sectors = (double)times * (double)a[i].unique;
        double served = (double)times * (double)a[i].sectors;
        g->cycles += a[i].space == SPACE_SHARED ? served : served / CYCLE_SECTORS;
        g->sectors += sectors;
        g->parts += (double)times * part_cost(&a[i]);
        g->loaded += a[i].space == SPACE_SRC ? sectors * SECTOR_BYTES : 0;
        g->stored += a[i].space == SPACE_DST ? (double)times * (double)a[i].bytes : 0;
    }
}

/* Bytes that the kernel reads and writes.  Several elements may be copies of one of the
 * source. */
static void
tensor_bytes(const Plan *p, double *read, double *written)
{
    double each = p->dst->dtype->bits / 8.0, source = (double)layout_bytes(p->src);
    *read = *written = 0;
    for (int i = 0; i < p->n; i++) {
        const Nest *n = p->nest[i];
        double bytes = n->variant ? 0 : each * (double)n->elements;
        *written += bytes;
        *read += n->kind == NEST_COPY ? bytes : 0;
    }
    *read = ceil(*read < source ? *read : source);
    *written = ceil(*written);
}

/* Sums up all blocks.  Those of a box are taken to be like its first; as blocks at other
 * edges have less, the sums are scaled to the bytes of the destination, each of which one
 * block stores. */
static BlockSums
sum_blocks(const GridUnit *u, double written)
{
    BlockSums g = {0};
    for (const GridStmt *box = u->body; box; box = box->next) {
        i64 n = box->blocks->base;
        add_block(&g, u, box, 0, n > 1 ? n - 1 : 1);
        if (n > 1)
            add_block(&g, u, box, n - 1, 1);
    }
    double scale = g.stored > 0 ? written / g.stored : 0;
    return (BlockSums){.cycles = g.cycles * scale, .sectors = g.sectors * scale,
                       .loaded = g.loaded * scale, .stored = written,
                       .parts = g.parts * scale};
}

/* The blocks that run at once on a multiprocessor. */
static i64
at_once(const GridUnit *u)
{
    i64 n = BLOCKS_AT_ONCE, each = int_ceil_div(u->blocks->base, MULTIPROCESSORS);
    i64 room = SHARED_BYTES / (u->shared + RESERVED_BYTES);
    n = room < n ? room : n;
    return each < n ? each : n;
}

static double
at_most_one(double x)
{
    return x < 1 ? x : 1;
}

double
grid_cost(const GridUnit *u, const GridStmt *box)
{
    enum { ISSUED = 4 };     /* by a multiprocessor in a cycle */
    const double hidden = 0.7;          /* of the instructions, behind the accesses to memory */
    BlockSums g = {0};
    double issue = 0;
    for (; box; box = box->next) {
        add_block(&g, u, box, 0, box->blocks->base);
        issue += (double)(grid_instructions(u, box) * box->blocks->base) * GRID_THREADS / WARP /
                 ISSUED;
    }
    double memory = (g.sectors + g.parts) * SECTOR_BYTES / CYCLE_BYTES;
    return g.stored > 0 ? (memory + (1 - hidden) * issue) / g.stored : HUGE_VAL;
}

GridEstimate
grid_estimate(const GridUnit *u)
{
    double read, written, blocks = (double)u->blocks->base;
    tensor_bytes(u->plan, &read, &written);
    if (blocks == 0 || written == 0)
        return (GridEstimate){0};
    BlockSums sum = sum_blocks(u, written);
    GridEstimate g = {.bytes = (read + written) / blocks};
    g.least = ceil(read / SECTOR_BYTES) + ceil(written / SECTOR_BYTES);
    g.sectors = sum.sectors > g.least ? sum.sectors : g.least;
    g.flight = sum.loaded / blocks * (double)at_once(u);
    double memory = (g.sectors + sum.parts) * SECTOR_BYTES / CYCLE_BYTES;
    double best = g.least * SECTOR_BYTES / CYCLE_BYTES;
    g.of_copy = best / (sum.cycles > memory ? sum.cycles : memory) *
                at_most_one(blocks / MULTIPROCESSORS);
    if (g.flight > 0)
        g.of_copy *= at_most_one(g.flight / FLIGHT_BYTES);
    return g;
}
