/* The steps compiled into the library, and the interpreter of their calls. */
#include <stdint.h>
#include <string.h>

#include "sparse_steps.h"

/* The number of parts of a step. */
static int64_t
sparse_parts_of(const void *work)
{
    return ((const SparseWork *)work - 1)->threads.most;
}

/* Calls task(arg, part, parts) for each of them. */
static void
sparse_share(const void *work, ravel_task *task, void *arg)
{
    threads_share(&((const SparseWork *)work - 1)->threads, task, arg);
}

#define RAVEL_PARTS(s) sparse_parts_of(s)
#define RAVEL_SHARE(s, task, arg) sparse_share((s), (task), (arg))
#define RAVEL_SHARED_ADD(number, x) __atomic_fetch_add((number), (x), __ATOMIC_RELAXED)
#include "../templates/c/line_size.h"
#include "../templates/c/sparse_size.h"
#include "../templates/c/sparse.h"
#include "../templates/c/sparse_check.c"
#include "../templates/c/sparse_read.c"
#include "../templates/c/sparse_value.c"
#include "../templates/c/fence.c"
#include "../templates/c/sparse_copy.c"
#include "../templates/c/sparse_packed.c"
#include "../templates/c/sparse_work.c"
#include "../templates/c/sparse_write.c"
#include "../templates/c/sparse_rank.c"
#include "../templates/c/sparse_lay.c"
#include "../templates/c/sparse_chosen.c"
#include "../templates/c/sparse_sort.c"
#include "../templates/c/sparse_mask.c"
#include "../templates/c/sparse_spread.c"
#include "../templates/c/sparse_turn.c"
#include "../templates/c/sparse_far.c"
#include "../templates/c/sparse_transpose.c"
#include "../templates/c/sparse_set.c"
#include "../templates/c/sparse_bitmap.c"
#include "../templates/c/sparse_tile.c"
#include "../templates/c/sparse_strip.c"
#include "../templates/c/sparse_untile.c"
#include "../templates/c/sparse_ordered.c"
#include "../templates/c/sparse_ordered_rows.c"
#include "../templates/c/sparse_bucket.c"
#include "../templates/c/sparse_merge.c"
#include "../templates/c/sparse_digits.c"
#include "../templates/c/sparse_digits_sort4.h"
#include "../templates/c/sparse_digits_sort8.h"
#include "../templates/c/sparse_hashed.c"
#include "../templates/c/sparse_sorted.c"
#include "../templates/c/sparse_grouped.c"
#include "../templates/c/sparse_late.c"
#include "../templates/c/sparse_placed.c"
#include "../templates/c/sparse_columns.c"

typedef void (*Fn)(void);

const JitSymbol sparse_symbols[] = {
#define STEP(step, args, role, what) {.name = "ravel_stream_" #step, .fn = (Fn)ravel_stream_##step},
#include "../compiler/sparse/step.def"
#undef STEP
    {.name = NULL},
};

/* A step with its arguments as words; the calling conventions of the supported machines
 * pass integers and pointers alike. */
typedef uint64_t Word;
typedef void StepCall(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
                      Word, Word);

typedef struct {
    const SparsePlan *p;
    ravel_stream *s;
    const void *const *in;
    const int64_t *n;
    void *const *out;
    int64_t *m;
    i64 step;             /* the value of the loop variable */
} Machine;

static i64
variable(const Machine *t, int var)
{
    if (var == t->p->step)
        return t->step;
    if (var == t->p->records)
        return t->s->records;
    if (var == t->p->flaw)
        return t->s->flaw;
    for (int i = 0; i < t->p->src->narray; i++)
        if (var == t->p->size[i])
            return t->n[i];
    return 0;
}

/* The steps' expressions are sums of variables with coefficients, and of constants. */
static i64
value(const Machine *t, const Ex *x)
{
    i64 v = x->base;
    for (int i = 0; i < x->n; i++)
        v += x->t[i].coef * variable(t, x->t[i].atom->var);
    return v;
}

static Word
word(const Machine *t, const Arg *a)
{
    if (!a->value)
        return a->pattern;
    if (!a->buffer)
        return (Word)value(t, a->value);
    int i;
    switch (sparse_arg_array(a, &i)) {
    case 'v': return (Word)(uintptr_t)t->s->values;
    case 'i': return (Word)(uintptr_t)t->in[i];
    case 'o': return (Word)(uintptr_t)t->out[i];
    default: return (Word)(uintptr_t)(*a->buffer == 's' ? (void *)t->s : (void *)t->m);
    }
}

static void
call(const Machine *t, const Stmt *s)
{
    enum { WORDS = 14 };
    Word a[WORDS] = {0};
    for (int i = 0; i < s->nargs; i++)
        a[i] = word(t, &s->arg[i]);
    Fn f = sparse_symbols[s->kernel - sparse_steps].fn;
    ((StepCall *)f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
                    a[12], a[13]);
}

static int
run(Machine *t, const Stmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == ST_CALL)
            call(t, s);
        if (s->kind == ST_RETURN)
            return (int)value(t, s->value);
        i64 bound = s->kind == ST_FOR ? value(t, s->bound) : 0;
        for (i64 i = 0; i < bound; i += s->step) {
            t->step = i;
            run(t, s->body);
        }
    }
    return 0;
}

int64_t
sparse_number(const SparsePlan *p, const int64_t *n, const Ex *x)
{
    Machine t = {.p = p, .n = n};
    return value(&t, x);
}

int
sparse_interpret(const SparsePlan *p, const Stmt *body, void *work, const void *const *in,
                 const int64_t *n, void *const *out, int64_t *m)
{
    Machine t = {p, work, in, n, out, m, 0};
    return run(&t, body);
}
