/* Estimates the time of a nest in an order.  It models the memory, not the processor.
 *
 * The time is the bytes read divided by the read speed, plus the bytes written divided by
 * the write speed, plus a constant for each call.  The read speed depends on the length
 * of the runs; the write speed also on their distance.  cost.def is a table of speeds. */
#include <stdint.h>

#include "plan_parts.h"

typedef struct {
    int64_t bytes;
    double read, written[3];
} Memory;

static const Memory copying[] = {
#define M(bytes, read, ...) {bytes, read, {__VA_ARGS__}},
#define T(...)
#include "cost.def"
#undef M
#undef T
};

static const Memory transposing[] = {
#define M(...)
#define T(bytes, read, ...) {bytes, read, {__VA_ARGS__}},
#include "cost.def"
#undef M
#undef T
};

typedef struct {
    const Memory *row;
    int n;
} Table;

static const Table tables[] = {
    [AS_COPIES] = {copying, LEN(copying)},
    [AS_TRANSPOSES] = {transposing, LEN(transposing)},
};

/* CALL_NS: nanoseconds of a call from jitted code. */
enum { CALL_NS = 5 };
static const double cached_speed = 11, in_cache_speed = 30;

/* The last row of the table for at most `bytes`; the first row if there is none. */
static const Memory *
row_of(Table t, double bytes)
{
    int i = 0;
    while (i + 1 < t.n && bytes >= (double)t.row[i + 1].bytes)
        i++;
    return &t.row[i];
}

static double
read_speed(Table t, double run)
{
    return row_of(t, run)->read * (run < 64 ? run / 64 : 1);
}

static double
write_speed(Table t, double run, i64 apart)
{
    bool near = apart > -(2 << 20) && apart < 2 << 20;
    int kind = near && apart % 512 == 0 ? 0 : apart % 256 == 0 ? 1 : 2;
    return row_of(t, run)->written[kind] * (run < 64 ? run / 64 : 1);
}

static double
calls_of(const Nest *n)
{
    double calls = 1;
    for (int i = 0; i < n->nouter; i++)
        calls *= (double)int_ceil_div(n->loop[n->outer[i].loop].n, n->outer[i].step);
    return calls;
}

double
nest_cost(const Plan *p, const Nest *n)
{
    int bits = p->dst->dtype->bits;
    double bytes = (double)n->elements * bits / 8, call = calls_of(n) * CALL_NS;
    const Family *f = n->kernel->family;
    double alone = (double)n->elements * f->cost(n, bits, n->role) + call;
    bool large = layout_bytes(p->dst) >= CACHED_BYTES;
    if (!f->runs || (!large && !f->keeps_up))
        return alone;
    if (!large)
        return bytes / in_cache_speed + call;
    Runs r = f->runs(n, bits);
    Table table = tables[f->speeds];
    double write = write_speed(table, r.written, r.apart);
    if (!n->stream && write > cached_speed)
        write = cached_speed;
    double memory_ns = bytes / read_speed(table, r.read) + bytes / write + call + r.more;
    return !f->keeps_up && memory_ns < alone ? alone : memory_ns;
}
