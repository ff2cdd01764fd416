/* What the JIT is given: text and tables, without the statements of which they are made. */
#include <string.h>

#include "emit.h"

typedef struct {
    const Target *t;
    const Plan *p;
    const Request *rq;
    JitText made;
} TextMaking;

static const int32_t *const *
keep_tables(Arena *a, const Unit *u)
{
    int n = 0;
    for (const Table *k = u->table; k; k = k->next)
        n++;
    const int32_t **table = arena_array(a, const int32_t *, n);
    n = 0;
    for (const Table *k = u->table; k; k = k->next)
        table[n++] = arena_keep(a, k->value, (size_t)k->n * sizeof *k->value);
    return n ? arena_keep(a, table, (size_t)n * sizeof *table) : NULL;
}

static void
make(void *arg)
{
    TextMaking *j = arg;
    Arena *a = ex_arena(j->p->e);
    const Unit *u = emit_unit(j->t, j->p, j->rq);
    const char *text = render(j->t, u, false);
    j->made.tables = keep_tables(a, u);
    j->made.text = arena_keep(a, text, strlen(text) + 1);
}

JitText
emit_jit(const Target *t, const Plan *p, const Request *rq)
{
    TextMaking j = {.t = t, .p = p, .rq = rq};
    scalars_scratch(p->scalars, make, &j);
    return j.made;
}
