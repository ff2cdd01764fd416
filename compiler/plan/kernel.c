/* The table of kernels, and how a nest is given to one.  Their text is
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
