/* The table of kernels, their arguments, and how a nest is given to one.  Their text is
 * in templates; the same text is compiled into the library. */
#include <string.h>

#include "kernel_family.h"

#define T(name, files) static const char name##_text[] = files;
#define K(name, family, size, text, sets)
#include "kernel.def"
#undef K
#undef T

#define T(name, files)
#define K(name, family, size, text, sets) {#name, "ravel_" #name, size, &family##_family, text##_text},
const Kernel kernels[] = {
#include "kernel.def"
};
#undef K
#undef T
const int nkernels = LEN(kernels);

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

const char *
kernel_letters(const Kernel *k)
{
    return k->family->args;
}

const char *
kernel_what(const Kernel *k)
{
    return k->family->what;
}

void
kernels_used(const Plan *p, int *uses)
{
    memset(uses, 0, (size_t)nkernels * sizeof *uses);
    for (int i = 0; i < p->n; i++)
        uses[p->nest[i]->kernel - kernels]++;
}

unsigned
nest_parts(const Plan *p, const Nest *n)
{
    const Family *f = n->kernel->family;
    return f->parts ? f->parts(n, p->dst->dtype->bits) : 0;
}

const char *
kernel_part(const Kernel *k, int part)
{
    return k->family->part ? k->family->part[part] : NULL;
}

/* A name of a file with each ${size} replaced. */
static const char *
file_name(Arena *a, const char *s, size_t len, int size)
{
    static const char mark[] = "${size}";
    Buf b = buf_new(a);
    for (const char *end = s + len; s < end; s++) {
        bool here = !strncmp(s, mark, sizeof mark - 1);
        if (here)
            buf_printf(&b, "%d", size);
        else
            buf_addn(&b, s, 1);
        s += here ? sizeof mark - 2 : 0;
    }
    return b.s;
}

const char *const *
kernel_text(Arena *a, const Kernel *k, int *n)
{
    const char *s = k->text;
    const char **file = arena_array(a, const char *, (i64)strlen(s));
    for (*n = 0; *s; (*n)++) {
        size_t len = strcspn(s, " ");
        file[*n] = file_name(a, s, len, k->size);
        s += len + strspn(s + len, " ");
    }
    return file;
}

const KernelArg *
kernel_arg(char letter)
{
    const KernelArg *a = kernel_args;
    while (a->letter != letter)
        a++;
    return a;
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

static bool
takes_elements(const Kernel *k, int bits)
{
    int elements = k->family->elements;
    if (k->size && !k->family->by->keeps)
        return bits == 8 * k->size;
    return elements == OF_ANY || elements == (bits < 8 ? OF_BITS : OF_BYTES);
}

/* Whether k can run the nest. */
static bool
can_run(const Kernel *k, const Nest *n, int bits, int role[ROLES])
{
    const Family *f = k->family;
    role[GROUP] = -1;
    return f->kind == n->kind && takes_elements(k, bits) && (!n->pad.n || f->pads) &&
           !(f->by->table && nest_looks_up(n) && !f->indexed) &&
           (!f->by->keeps || f->by->keeps(n, bits, k->size)) &&
           f->by->applies(n, bits, role);
}

/* The loops of the kernel's table to the end, in their order. */
static void
take_table(Nest *n, int bits, int role[ROLES])
{
    TableLoops table = {{false}, {0}};
    n->kernel->family->by->table(n, bits, role, &table);
    memcpy(n->least, table.least, sizeof n->least);
    for (int i = 0, at = 0; i < n->nloops; i++) {
        if (!table.in[i]) {
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

/* The nest to k, which runs the loops of these roles. */
static void
give(Nest *n, const Kernel *k, int bits, int role[ROLES])
{
    n->kernel = k;
    n->inner = n->table = 0;
    memset(n->least, 0, sizeof n->least);
    if (k->family->by->table)
        take_table(n, bits, role);
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
}

bool
kernel_use(const Nest *n, const Kernel *k, int bits, Nest *out)
{
    int role[ROLES];
    if (!can_run(k, n, bits, role))
        return false;
    if (out != n)
        nest_copy(out, n);
    give(out, k, bits, role);
    return true;
}
