/* The arguments of kernels, by their letters, and the units in which they count. */
#include "plan_kernel.h"

#define DST "unsigned char *"
#define SRC "const unsigned char *"
#define NUM "int64_t"
#define ANY "const void *"
static const KernelArg kernel_args[] = {
    {'D', ARG_DST,       0,     IN_BYTES,    DST},        /* the first element */
    {'S', ARG_SRC,       0,     IN_BYTES,    SRC},
    {'d', ARG_DST,       0,     IN_NOTHING,  DST},        /* the buffer ... */
    {'s', ARG_SRC,       0,     IN_NOTHING,  SRC},
    {'x', ARG_DST_START, 0,     IN_ELEMENTS, NUM},        /* ... and where in it */
    {'y', ARG_SRC_START, 0,     IN_ELEMENTS, NUM},
    {'n', ARG_COUNT,     BATCH, IN_NOTHING,  NUM},
    {'m', ARG_COUNT,     GROUP, IN_NOTHING,  NUM},
    {'r', ARG_COUNT,     ROW,   IN_NOTHING,  NUM},
    {'c', ARG_COUNT,     COL,   IN_NOTHING,  NUM},
    {'R', ARG_RUN,       COL,   IN_BYTES,    NUM},        /* columns that touch */
    {'N', ARG_DST_STEP,  BATCH, IN_BYTES,    NUM},
    {'M', ARG_SRC_STEP,  BATCH, IN_BYTES,    NUM},
    {'O', ARG_SRC_STEP,  GROUP, IN_BYTES,    NUM},
    {'P', ARG_DST_STEP,  ROW,   IN_BYTES,    NUM},
    {'Q', ARG_SRC_STEP,  ROW,   IN_BYTES,    NUM},
    {'p', ARG_DST_STEP,  COL,   IN_BYTES,    NUM},
    {'q', ARG_SRC_STEP,  COL,   IN_BYTES,    NUM},
    {'i', ARG_DST_STEP,  ROW,   IN_ELEMENTS, NUM},
    {'k', ARG_SRC_STEP,  ROW,   IN_ELEMENTS, NUM},
    {'j', ARG_DST_STEP,  COL,   IN_ELEMENTS, NUM},
    {'l', ARG_SRC_STEP,  COL,   IN_ELEMENTS, NUM},
    {'I', ARG_DST_STEP,  BATCH, IN_ELEMENTS, NUM},
    {'K', ARG_SRC_STEP,  BATCH, IN_ELEMENTS, NUM},
    {'t', ARG_TABLE,     0,     IN_BYTES,    "const int32_t *"},
    {'T', ARG_ENTRIES,   0,     IN_NOTHING,  NUM},
    {'v', ARG_FILL,      0,     IN_NOTHING,  "uint64_t"}, /* its bits */
    {'B', ARG_SIZE,      0,     IN_BYTES,    NUM},        /* of an element */
    {'b', ARG_SIZE,      0,     IN_ELEMENTS, NUM},        /* the same in bits */
    {'W', ARG_WIDTH,     COL,   IN_NOTHING,  NUM},        /* columns with padding */
    {'w', ARG_WIDTH,     COL,   IN_BYTES,    NUM},
    {'H', ARG_STREAM,    0,     IN_NOTHING,  NUM},
    {'A', ARG_AHEAD,     0,     IN_BYTES,    NUM},
    {'Y', ARG_DST_ARRAY, ROW,   IN_NOTHING,  ANY},        /* an index array, NULL: none; ... */
    {'X', ARG_SRC_ARRAY, ROW,   IN_NOTHING,  ANY},
    {'U', ARG_DST_SECOND, ROW,  IN_NOTHING,  ANY},        /* ... a second one; ... */
    {'V', ARG_SRC_SECOND, ROW,  IN_NOTHING,  ANY},
    {'g', ARG_DST_NUMBER, ROW,  IN_NOTHING,  NUM},        /* ... bits of their numbers, ... */
    {'G', ARG_SRC_NUMBER, ROW,  IN_NOTHING,  NUM},
    {'f', ARG_DST_PLACE, ROW,   IN_BYTES,    NUM},        /* ... and what one more in one adds */
    {'F', ARG_SRC_PLACE, ROW,   IN_BYTES,    NUM},
    {'u', ARG_DST_SECOND_PLACE, ROW, IN_BYTES, NUM},
    {'z', ARG_SRC_SECOND_PLACE, ROW, IN_BYTES, NUM},
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

i64
call_unit(int bits, i64 elements, ArgUnit unit)
{
    if (unit != IN_BYTES)
        return elements;
    return bits >= 8 ? elements * (bits / 8) : int_div(elements, 8 / bits);
}
