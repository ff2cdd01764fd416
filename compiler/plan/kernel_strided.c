/* Kernels that copy or fill single elements at any strides.  They run the nests for which
 * no other kernel applies. */
#include "kernel_family.h"

static bool
strided_applies(const Nest *n, int bits, int role[ROLES])
{
    (void)bits;
    role[COL] = kernel_last_loop(n, -1);
    role[ROW] = role[COL] < 0 ? -1 : kernel_last_loop(n, role[COL]);
    role[BATCH] = -1;
    return true;
}

static double
strided_cost(const Nest *n, int bits, const int role[ROLES])
{
    return 1.0 + bits / 80.0 + 2.0 / (double)kernel_count(n, role[COL]);
}

const Family strided_family = {
    .kind = NEST_COPY,
    .elements = OF_BYTES,
    .args = "DSrcPpQqB",
    .what = "single elements, any strides",
    .applies = strided_applies,
    .cost = strided_cost,
    .orders = outer_in_order,
};

const Family bits_family = {
    .kind = NEST_COPY,
    .elements = OF_BITS,
    .args = "dxsyrcijklb",
    .what = "elements smaller than a byte, any strides",
    .applies = strided_applies,
    .cost = strided_cost,
    .orders = outer_in_order,
};

const Family fill_family = {
    .kind = NEST_FILL,
    .elements = OF_BYTES,
    .args = "DrcPpvB",
    .what = "padding",
    .applies = strided_applies,
    .cost = strided_cost,
    .orders = outer_in_order,
};

const Family fill_bits_family = {
    .kind = NEST_FILL,
    .elements = OF_BITS,
    .args = "dxrcijvb",
    .what = "padding of elements smaller than a byte",
    .applies = strided_applies,
    .cost = strided_cost,
    .orders = outer_in_order,
};
