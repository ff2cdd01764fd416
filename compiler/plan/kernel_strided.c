/* Kernels that copy or fill single elements at any strides.  They run the nests for which
 * no other kernel applies. */
#include "kernel_family.h"

/* The rows of a call: the last loop; of a small nest of whole bytes, which a cache holds in
 * any order, the longest one, as this takes the fewest calls. */
static int
rows_of(const Nest *n, int bits, int cols)
{
    int best = kernel_last_loop(n, cols);
    for (int i = best - 1; i >= 0 && bits >= 8 && kernel_is_small(n, bits); i--)
        if (i != cols && !n->loop[i].residual && n->loop[i].n > n->loop[best].n)
            best = i;
    return best;
}

static bool
strided_applies(const Nest *n, int bits, int role[ROLES])
{
    role[COL] = kernel_last_loop(n, -1);
    role[ROW] = role[COL] < 0 ? -1 : rows_of(n, bits, role[COL]);
    role[BATCH] = -1;
    return true;
}

static double
strided_work(const Nest *n, int bits)
{
    (void)bits;
    return (double)n->elements * (0.42 + 2.0 / (double)nest_tile(n, COL));
}

static double
bits_work(const Nest *n, int bits)
{
    (void)bits;
    return (double)n->elements * (1.3 + 2.0 / (double)nest_tile(n, COL));
}

/* RUN_NS: for a run of padding, or for one element of it. */
static double
fill_work(const Nest *n, int bits)
{
    static const double RUN_NS = 1.5, ELEMENT_NS = 0.6;
    double runs = (double)n->elements / (double)nest_tile(n, COL);
    double bytes = (double)n->elements * bits / 8;
    return nest_stride(n, COL, false) == 1 ? RUN_NS * runs + 0.03 * bytes
                                           : ELEMENT_NS * (double)n->elements + RUN_NS * runs;
}

/* The same below a byte, where the ends of a run are parts of bytes. */
static double
fill_bits_work(const Nest *n, int bits)
{
    return nest_stride(n, COL, false) == 1 ? 4 * fill_work(n, bits) : bits_work(n, bits);
}

const Family strided_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSrcPpQqB",
    .what = "single elements, any strides",
    .single = true,
    .by = &(const Method){
        .applies = strided_applies,
        .work = strided_work,
        .orders = outer_in_order,
    },
};

const Family bits_family = {
    .kind = NEST_COPY,
    .elements = OF_BITS,
    .args = "dxsyrcijklb",
    .what = "elements smaller than a byte, any strides",
    .by = &(const Method){
        .applies = strided_applies,
        .work = bits_work,
        .orders = outer_in_order,
    },
};

const Family fill_family = {
    .kind = NEST_FILL,
    .elements = OF_BYTES,
    .args = "DrcPpvB",
    .what = "padding",
    .by = &(const Method){
        .applies = strided_applies,
        .work = fill_work,
        .orders = outer_in_order,
    },
};

const Family fill_bits_family = {
    .kind = NEST_FILL,
    .elements = OF_BITS,
    .args = "dxrcijvb",
    .what = "padding of elements smaller than a byte",
    .by = &(const Method){
        .applies = strided_applies,
        .work = fill_bits_work,
        .orders = outer_in_order,
    },
};
