/* The kernels: what each needs of a nest, what it costs, how it is called.
 * Their text is in templates; the same text is compiled into the library. */
#include <string.h>

#include "plan.h"

/* The loop, not in the rest, that moves the source (destination) by one element;
 * -1 when there is none. */
static int
unit_loop(const Nest *n, bool source)
{
    for (int i = n->nloops - 1; i >= 0; i--)
        if (!n->loop[i].rest && (source ? n->loop[i].ss : n->loop[i].ds) == 1)
            return i;
    return -1;
}

/* The innermost loop, not in the rest, other than `not`: loops are in falling
 * order of their destination stride. */
static int
last_loop(const Nest *n, int not)
{
    for (int i = n->nloops - 1; i >= 0; i--)
        if (i != not && !n->loop[i].rest)
            return i;
    return -1;
}

/* The longest loop, not in the rest, other than `not`: the most work a call. */
static int
longest_loop(const Nest *n, int not)
{
    int best = -1;
    for (int i = 0; i < n->nloops; i++)
        if (i != not && !n->loop[i].rest &&
            (best < 0 || n->loop[i].n >= n->loop[best].n))
            best = i;
    return best;
}

static bool
multiple_of(const Ex *x, i64 k)
{
    return k == 1 || (x->f.mod == 0 ? x->base % k == 0
                                    : x->f.mod % k == 0 && x->f.rem % k == 0);
}

/* Every address that a run can start at is a whole byte. */
static bool
byte_aligned(const Nest *n, i64 per, int run)
{
    if (!multiple_of(n->src, per) || !multiple_of(n->dst, per) ||
        (run < 0 ? 1 : n->loop[run].n) % per)
        return false;
    for (int i = 0; i < n->nloops; i++)
        if (i != run && (n->loop[i].ss % per || n->loop[i].ds % per))
            return false;
    return true;
}

static i64
count_of(const Nest *n, int loop)
{
    return loop < 0 ? 1 : n->loop[loop].n;
}

static bool
copy_applies(const Nest *n, int bits, int *row, int *col)
{
    *col = -1;
    for (int i = n->nloops - 1; i >= 0 && *col < 0; i--)
        if (!n->loop[i].rest && n->loop[i].ss == 1 && n->loop[i].ds == 1)
            *col = i;
    *row = longest_loop(n, *col);
    return (*col >= 0 || n->nloops == 0) &&
           byte_aligned(n, bits < 8 ? 8 / bits : 1, *col);
}

static double
copy_cost(const Nest *n, int bits, int row, int col)
{
    double bytes = (double)count_of(n, col) * bits / 8;
    (void)row;
    return 0.1 * bits / 8 + 2.0 / bytes;
}

static bool
transpose_applies(const Nest *n, int bits, int *row, int *col)
{
    *row = unit_loop(n, true);
    *col = unit_loop(n, false);
    return bits >= 8 && *row >= 0 && *col >= 0 && *row != *col;
}

static double
transpose_cost(const Nest *n, int bits, int row, int col)
{
    double p = (double)count_of(n, row), q = (double)count_of(n, col);
    return 0.3 * bits / 8 + 2.0 / p + 2.0 / q;
}

static bool
strided_applies(const Nest *n, int bits, int *row, int *col)
{
    *col = last_loop(n, -1);
    *row = *col < 0 ? -1 : last_loop(n, *col);
    return bits >= 8;
}

static double
strided_cost(const Nest *n, int bits, int row, int col)
{
    (void)row;
    return 1.0 + bits / 80.0 + 2.0 / (double)count_of(n, col);
}

static bool
bits_applies(const Nest *n, int bits, int *row, int *col)
{
    *col = last_loop(n, -1);
    *row = *col < 0 ? -1 : last_loop(n, *col);
    return bits < 8;
}

const Kernel kernels[] = {
    {"copy", "ravel_copy", "runs of elements, contiguous on both sides",
     NEST_COPY, copy_applies, copy_cost, "DSrRPQ"},
    {"transpose", "ravel_transpose", "a plane contiguous one way in the source, the "
     "other way in the destination", NEST_COPY, transpose_applies, transpose_cost,
     "DSrcPqB"},
    {"strided", "ravel_strided", "single elements, any strides",
     NEST_COPY, strided_applies, strided_cost, "DSrcPpQqB"},
    {"bits", "ravel_bits", "elements smaller than a byte, any strides",
     NEST_COPY, bits_applies, strided_cost, "dxsyrcijklb"},
    {"fill", "ravel_fill", "padding", NEST_FILL, strided_applies, strided_cost,
     "DrcPpvB"},
    {"fill_bits", "ravel_fill_bits", "padding of elements smaller than a byte",
     NEST_FILL, bits_applies, strided_cost, "dxrcijvb"},
};
const int nkernels = LEN(kernels);

/* Move loop `from` to the end. */
static void
to_end(Nest *n, int from)
{
    Loop l = n->loop[from];
    memmove(&n->loop[from], &n->loop[from + 1],
            (size_t)(n->nloops - from - 1) * sizeof l);
    n->loop[n->nloops - 1] = l;
}

bool
kernel_use(Nest *n, const Kernel *k, int bits)
{
    int row, col;
    if (k->kind != n->kind || !k->applies(n, bits, &row, &col))
        return false;
    n->kernel = k;
    n->inner = 0;
    if (row >= 0) {
        to_end(n, row);
        col -= col > row;
        n->inner++;
    }
    if (col >= 0) {
        to_end(n, col);
        n->inner++;
    }
    return true;
}

void
kernel_pick(Nest *n, int bits)
{
    const Kernel *best = NULL;
    double least = 0;
    for (int i = 0; i < nkernels; i++) {
        const Kernel *k = &kernels[i];
        int row, col;
        if (k->kind != n->kind || !k->applies(n, bits, &row, &col))
            continue;
        double cost = k->cost(n, bits, row, col);
        if (!best || cost < least) {
            least = cost;
            best = k;
        }
    }
    kernel_use(n, best, bits);
}
