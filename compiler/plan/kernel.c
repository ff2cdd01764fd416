/* The kernels: what each needs of a nest, what it costs, how it is called.
 * Their text is in templates; the same text is compiled into the library. */
#include <string.h>

#include "kernel_rows.h"

int
kernel_unit_loop(const Nest *n, bool source)
{
    for (int i = n->nloops - 1; i >= 0; i--)
        if (!n->loop[i].rest && (source ? n->loop[i].ss : n->loop[i].ds) == 1)
            return i;
    return -1;
}

/* The innermost loop, not in the rest, other than `not`: loops are in falling
 * order of their destination stride. */
int
kernel_last_loop(const Nest *n, int not)
{
    for (int i = n->nloops - 1; i >= 0; i--)
        if (i != not && !n->loop[i].rest)
            return i;
    return -1;
}

i64
kernel_remainder(const Ex *x, i64 k)
{
    if (k == 1)
        return 0;
    if (x->f.mod == 0)
        return (x->base % k + k) % k;
    return x->f.mod % k ? -1 : x->f.rem % k;
}

bool
kernel_multiple(const Ex *x, i64 k)
{
    return kernel_remainder(x, k) == 0;
}

/* Every address that a run can start at is a whole byte. */
static bool
byte_aligned(const Nest *n, i64 per, int run)
{
    if (!kernel_multiple(n->src, per) || !kernel_multiple(n->dst, per) ||
        (run < 0 ? 1 : n->loop[run].n) % per)
        return false;
    for (int i = 0; i < n->nloops; i++)
        if (i != run && (n->loop[i].ss % per || n->loop[i].ds % per))
            return false;
    return true;
}

i64
kernel_count(const Nest *n, int loop)
{
    return loop < 0 ? 1 : n->loop[loop].n;
}

void
kernel_batch(const Nest *n, int role[ROLES])
{
    role[BATCH] = -1;
    for (int i = n->nloops - 1; i >= 0 && role[BATCH] < 0; i--)
        if (i != role[ROW] && i != role[COL] && !n->loop[i].rest)
            role[BATCH] = i;
}

static bool
copy_applies(const Nest *n, int bits, int role[ROLES])
{
    role[COL] = -1;
    for (int i = n->nloops - 1; i >= 0 && role[COL] < 0; i--)
        if (!n->loop[i].rest && n->loop[i].ss == 1 && n->loop[i].ds == 1)
            role[COL] = i;
    role[ROW] = kernel_last_loop(n, role[COL]);
    kernel_batch(n, role);
    return (role[COL] >= 0 || n->nloops == 0) &&
           byte_aligned(n, bits < 8 ? 8 / bits : 1, role[COL]);
}

static double
copy_cost(const Nest *n, int bits, const int role[ROLES])
{
    double bytes = (double)kernel_count(n, role[COL]) * bits / 8;
    return 0.1 * bits / 8 + 2.0 / bytes;
}

/* Its functions are made for one size of elements each. */
static bool
transpose_applies(const Nest *n, int role[ROLES])
{
    role[ROW] = kernel_unit_loop(n, true);
    role[COL] = kernel_unit_loop(n, false);
    kernel_batch(n, role);
    return role[ROW] >= 0 && role[COL] >= 0 && role[ROW] != role[COL];
}

static double
transpose_cost(const Nest *n, int bits, const int role[ROLES])
{
    i64 least = 128 / bits;
    i64 p = kernel_count(n, role[ROW]), q = kernel_count(n, role[COL]);
    double few = p < least || q < least ? 1.0 : 0;
    return 0.1 * bits / 8 + few + 0.5 / (double)p + 0.5 / (double)q;
}

static bool
strided_applies(const Nest *n, int bits, int role[ROLES])
{
    role[COL] = kernel_last_loop(n, -1);
    role[ROW] = role[COL] < 0 ? -1 : kernel_last_loop(n, role[COL]);
    role[BATCH] = -1;
    return bits >= 8;
}

static double
strided_cost(const Nest *n, int bits, const int role[ROLES])
{
    return 1.0 + bits / 80.0 + 2.0 / (double)kernel_count(n, role[COL]);
}

static bool
bits_applies(const Nest *n, int bits, int role[ROLES])
{
    return !strided_applies(n, bits, role);
}

#define T(size)                                                                     \
    static bool                                                                     \
    transpose##size##_applies(const Nest *n, int bits, int role[ROLES])             \
    {                                                                               \
        return bits == 8 * size && transpose_applies(n, role);                      \
    }
T(1) T(2) T(4) T(8) T(16)
#define transpose1_cost transpose_cost
#define transpose2_cost transpose_cost
#define transpose4_cost transpose_cost
#define transpose8_cost transpose_cost
#define transpose16_cost transpose_cost
#define interleave1_cost interleave_cost
#define interleave2_cost interleave_cost
#define interleave4_cost interleave_cost
#define interleave8_cost interleave_cost
#define deinterleave1_cost deinterleave_cost
#define deinterleave2_cost deinterleave_cost
#define deinterleave4_cost deinterleave_cost
#define bits_cost strided_cost
#define fill_applies strided_applies
#define fill_cost strided_cost
#define fill_bits_applies bits_applies
#define fill_bits_cost strided_cost

#define K(name, kind, args, what) \
    {#name, "ravel_" #name, args, what, NEST_##kind, name##_applies, name##_cost},
const Kernel kernels[] = {
#include "kernel.def"
};
#undef K
const int nkernels = LEN(kernels);

#define DST "unsigned char *"
#define SRC "const unsigned char *"
#define NUM "int64_t"
const KernelArg kernel_args[] = {
    {'D', ARG_DST,       0,     IN_BYTES,    DST},        /* the first element */
    {'S', ARG_SRC,       0,     IN_BYTES,    SRC},
    {'d', ARG_DST,       0,     IN_NOTHING,  DST},        /* the buffer ... */
    {'s', ARG_SRC,       0,     IN_NOTHING,  SRC},
    {'x', ARG_DST_START, 0,     IN_ELEMENTS, NUM},        /* ... and where in it */
    {'y', ARG_SRC_START, 0,     IN_ELEMENTS, NUM},
    {'n', ARG_COUNT,     BATCH, IN_NOTHING,  NUM},
    {'m', ARG_COUNT,     SIDE,  IN_NOTHING,  NUM},
    {'r', ARG_COUNT,     ROW,   IN_NOTHING,  NUM},
    {'c', ARG_COUNT,     COL,   IN_NOTHING,  NUM},
    {'R', ARG_RUN,       COL,   IN_BYTES,    NUM},        /* columns that touch */
    {'N', ARG_DST_STEP,  BATCH, IN_BYTES,    NUM},
    {'M', ARG_SRC_STEP,  BATCH, IN_BYTES,    NUM},
    {'O', ARG_SRC_STEP,  SIDE,  IN_BYTES,    NUM},
    {'P', ARG_DST_STEP,  ROW,   IN_BYTES,    NUM},
    {'Q', ARG_SRC_STEP,  ROW,   IN_BYTES,    NUM},
    {'p', ARG_DST_STEP,  COL,   IN_BYTES,    NUM},
    {'q', ARG_SRC_STEP,  COL,   IN_BYTES,    NUM},
    {'i', ARG_DST_STEP,  ROW,   IN_ELEMENTS, NUM},
    {'k', ARG_SRC_STEP,  ROW,   IN_ELEMENTS, NUM},
    {'j', ARG_DST_STEP,  COL,   IN_ELEMENTS, NUM},
    {'l', ARG_SRC_STEP,  COL,   IN_ELEMENTS, NUM},
    {'t', ARG_TABLE,     0,     IN_BYTES,    "const int32_t *"},
    {'T', ARG_ENTRIES,   0,     IN_NOTHING,  NUM},
    {'v', ARG_FILL,      0,     IN_NOTHING,  "uint64_t"}, /* its bits */
    {'B', ARG_SIZE,      0,     IN_BYTES,    NUM},        /* of an element */
    {'b', ARG_SIZE,      0,     IN_ELEMENTS, NUM},        /* the same in bits */
    {'W', ARG_WIDTH,     COL,   IN_NOTHING,  NUM},        /* columns with padding */
    {'w', ARG_WIDTH,     COL,   IN_BYTES,    NUM},
    {'H', ARG_STREAM,    0,     IN_NOTHING,  NUM},
    {'A', ARG_AHEAD,     0,     IN_BYTES,    NUM},
    {0, 0, 0, 0, NULL},
};

const KernelArg *
kernel_arg(char letter)
{
    const KernelArg *a = kernel_args;
    while (a->letter != letter)
        a++;
    return a;
}

bool
kernel_is_transpose(const Kernel *k)
{
    return !strncmp(k->name, "transpose", 9);
}

bool
kernel_is_copy(const Kernel *k)
{
    return !strcmp(k->name, "copy");
}

bool
kernel_weaves(const Kernel *k)
{
    return !strncmp(k->name, "interleave", 10);
}

bool
kernel_is_narrow(const Kernel *k)
{
    return kernel_weaves(k) || !strncmp(k->name, "deinterleave", 12);
}

/* Move loop `from` to the end. */
static void
to_end(Nest *n, int from)
{
    Loop l = n->loop[from];
    memmove(&n->loop[from], &n->loop[from + 1],
            (size_t)(n->nloops - from - 1) * sizeof l);
    n->loop[n->nloops - 1] = l;
}

/* Whether k can run the nest; one that is padded needs a kernel that is told how far. */
static bool
can_run(const Kernel *k, const Nest *n, int bits, int role[ROLES])
{
    role[SIDE] = -1;
    return k->kind == n->kind && (!n->pad || strpbrk(k->args, "Ww")) &&
           k->applies(n, bits, role);
}

/* The loops of a table to the end, in their order. */
static void
take_table(Nest *n, int role[ROLES])
{
    bool in[MAX_LOOPS];
    kernel_table(n, role[COL], in);
    for (int i = 0, at = 0; i < n->nloops; i++) {
        if (!in[i]) {
            at++;
            continue;
        }
        to_end(n, at);
        for (int r = 0; r < ROLES; r++)
            role[r] -= role[r] > at;
        n->inner++;
        n->table++;
    }
}

bool
kernel_use(Nest *n, const Kernel *k, int bits)
{
    int role[ROLES];
    if (!can_run(k, n, bits, role))
        return false;
    n->kernel = k;
    n->inner = n->table = 0;
    if (strchr(k->args, 't'))
        take_table(n, role);
    for (int r = 0; r < ROLES; r++) {
        if (role[r] < 0)
            continue;
        to_end(n, role[r]);
        for (int later = r + 1; later < ROLES; later++)
            role[later] -= role[later] > role[r];
        n->inner++;
    }
    for (int r = ROLES - 1, at = n->nloops; r >= 0; r--)
        n->role[r] = role[r] < 0 ? -1 : --at;
    return true;
}

bool
kernel_pick(Nest *n, int bits)
{
    const Kernel *best = NULL;
    double least = 0;
    for (int i = 0; i < nkernels; i++) {
        const Kernel *k = &kernels[i];
        int role[ROLES];
        if (!can_run(k, n, bits, role))
            continue;
        double cost = k->cost(n, bits, role);
        if (!best || cost < least) {
            least = cost;
            best = k;
        }
    }
    return best && kernel_use(n, best, bits);
}
