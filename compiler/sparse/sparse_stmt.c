/* Statements: calls of steps. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sparse_parts.h"

static const char VALUES[] = "s->values";      /* those of the source, unpacked */

const Kernel sparse_steps[SPARSE_STEPS] = {
#define STEP(name, args, role, what) {#name, "ravel_stream_" #name, 0, NULL, NULL},
#include "step.def"
#undef STEP
};

static const struct {
    const char *letters;
    SparseRole role;
    const char *what;
} facts[SPARSE_STEPS] = {
#define STEP(name, args, role, what) {args, ROLE_##role, what},
#include "step.def"
#undef STEP
};

const char *
sparse_letters(const Kernel *step)
{
    return facts[step - sparse_steps].letters;
}

SparseRole
sparse_role(const Kernel *step)
{
    return facts[step - sparse_steps].role;
}

const char *
sparse_what(const Kernel *step)
{
    return facts[step - sparse_steps].what;
}

const Ex *
sparse_size(const SparseMaker *m, int array)
{
    return ex_of_var(m->e, m->p->size[array]);
}

/* An array of a side: in[2]; 0 where there is none. */
static Arg
own_arg(SparseMaker *m, const char *side, int array, bool there)
{
    const Ex *zero = ex_const(m->e, 0);
    if (array < 0 || !there)
        return (Arg){.value = zero};
    return (Arg){.buffer = arena_printf(m->arena, "%s[%d]", side, array), .value = zero};
}

char
sparse_arg_array(const Arg *a, int *number)
{
    const char *open = a->buffer ? strchr(a->buffer, '[') : NULL;
    *number = open ? atoi(open + 1) : -1;
    return open ? *a->buffer : a->buffer && !strcmp(a->buffer, VALUES) ? 'v' : 0;
}

/* ... with a byte for each value: those of the source are unpacked, the destination has an array of
 * bytes after its values. */
static Arg
array_arg(SparseMaker *m, bool source, int array)
{
    const SparseFormat *f = source ? m->p->src : m->p->dst;
    bool bytes = f->packed && array == f->narray - 1;
    if (source && bytes)
        return (Arg){.buffer = VALUES, .value = ex_const(m->e, 0)};
    return own_arg(m, source ? "in" : "out", array + bytes, source || m->fill);
}

void
sparse_step(SparseMaker *m, SparseStep step, ...)
{
    va_list ap;
    Stmt **tail = m->tail;
    Stmt *s = emit_add(m->arena, &tail, ST_CALL);
    m->tail = tail;
    s->kernel = &sparse_steps[step];
    s->arg[s->nargs++] = (Arg){.buffer = "s", .value = ex_const(m->e, 0)};
    va_start(ap, step);
    for (const char *c = facts[step].letters; *c; c++) {
        Arg *a = &s->arg[s->nargs++];
        switch (*c) {
        case 'n': *a = (Arg){.value = ex_const(m->e, va_arg(ap, i64))}; break;
        case 'x': *a = (Arg){.value = va_arg(ap, const Ex *)}; break;
        case 'p': *a = (Arg){.pattern = va_arg(ap, uint64_t)}; break;
        case 'I': *a = array_arg(m, true, va_arg(ap, int)); break;
        case 'O':
        case 'D': *a = array_arg(m, false, va_arg(ap, int)); break;
        case 'R': *a = own_arg(m, "in", va_arg(ap, int), true); break;
        case 'W': *a = own_arg(m, "out", va_arg(ap, int), m->fill); break;
        default: *a = (Arg){.buffer = "m", .value = ex_const(m->e, 0)};
        }
    }
    va_end(ap);
}
