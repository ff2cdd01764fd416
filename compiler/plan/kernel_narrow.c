/* Planes of a few columns or a few rows: interleaved, taken apart. */
#include "kernel_rows.h"

/* What the kernels' buffers are made for. */
enum { ROW_BYTES = 120, VECTOR_BYTES = 16, PAD_BYTES = 2048, MOST_COLS = 15 };

i64
kernel_few(const Kernel *k, i64 bits)
{
    i64 size = bits / 8, cols = ROW_BYTES / size;
    return !kernel_weaves(k) ? VECTOR_BYTES / size - 1
           : cols < MOST_COLS ? cols : MOST_COLS;
}

static bool
plane(const Nest *n, int role[ROLES])
{
    role[ROW] = kernel_unit_loop(n, true);
    role[COL] = kernel_unit_loop(n, false);
    kernel_batch(n, role);
    return role[ROW] >= 0 && role[COL] >= 0 && role[ROW] != role[COL];
}

bool
copy_fill_applies(const Nest *n, int bits, int role[ROLES])
{
    role[COL] = kernel_unit_loop(n, false);
    role[ROW] = role[COL] < 0 ? -1 : kernel_last_loop(n, role[COL]);
    kernel_batch(n, role);
    return bits >= 8 && n->pad && role[COL] >= 0 && n->loop[role[COL]].ss == 1 &&
           n->pad * bits / 8 <= PAD_BYTES;
}

double
copy_fill_cost(const Nest *n, int bits, const int role[ROLES])
{
    return 0.1 * bits / 8 + 4.0 / (double)kernel_count(n, role[COL]);
}

/* Rows of the destination, one after the other, of a few columns. */
static bool
interleave_applies(const Nest *n, i64 size, int role[ROLES])
{
    if (!plane(n, role))
        return false;
    i64 most = n->loop[role[COL]].most, cols = n->loop[role[COL]].n + n->pad;
    return most <= MOST_COLS && (most + n->pad) * size <= ROW_BYTES &&
           n->loop[role[ROW]].n >= VECTOR_BYTES / size && n->loop[role[ROW]].ds >= cols;
}

/* Columns that fill a vector are left to the transposes, which walk them better. */
double
interleave_cost(const Nest *n, int bits, const int role[ROLES])
{
    double p = (double)n->loop[role[ROW]].n, q = (double)n->loop[role[COL]].n;
    bool wide = q * bits / 8 >= VECTOR_BYTES && !n->pad;
    return (wide ? 0.11 : 0.1) * bits / 8 + 0.5 / p + (wide ? 0.6 / q : 0);
}

/* Columns of the source, one after the other, of fewer rows than fill a vector. */
static bool
deinterleave_applies(const Nest *n, i64 size, int role[ROLES])
{
    if (!plane(n, role))
        return false;
    i64 rows = n->loop[role[ROW]].n;
    return n->loop[role[ROW]].most < VECTOR_BYTES / size && n->loop[role[COL]].n >= VECTOR_BYTES / size &&
           n->loop[role[COL]].ss >= rows;
}

double
deinterleave_cost(const Nest *n, int bits, const int role[ROLES])
{
    return 0.1 * bits / 8 + 0.5 / (double)n->loop[role[COL]].n;
}

#define SIZED(kernel, size)                                                         \
    bool                                                                            \
    kernel##size##_applies(const Nest *n, int bits, int role[ROLES])                \
    {                                                                               \
        return bits == 8 * size && kernel##_applies(n, size, role);                 \
    }
SIZED(interleave, 1)
SIZED(interleave, 2)
SIZED(interleave, 4)
SIZED(interleave, 8)
SIZED(deinterleave, 1)
SIZED(deinterleave, 2)
SIZED(deinterleave, 4)
