/* What a conversion does, from the statements of its functions: phases, loops in batches, and steps with
 * the arrays that they read and write. */
#include "sparse_parts.h"

const char *const sparse_roles[SPARSE_ROLES] = {
    [ROLE_MEMORY] = "memory", [ROLE_CHECK] = "check", [ROLE_QUERY] = "query", [ROLE_READ] = "read",
    [ROLE_WRITE] = "write", [ROLE_PASS] = "pass", [ROLE_STATE] = "state"};

typedef struct {
    const SparsePlan *p;
    SparseDone *done;     /* NULL: they are counted */
    int n, block, loops;  /* block: the first of this phase and loop */
    SparseDone at;        /* where the walk is */
} Walk;

/* The bits of the arrays in the arguments, which follow the stream; bytes of values are of the source's val. */
static void
note_arrays(const Walk *w, const Stmt *s, SparseDone *d)
{
    const char *letter = sparse_letters(s->kernel);
    for (int i = 0; i < s->nargs; i++) {
        int array;
        char side = sparse_arg_array(&s->arg[i], &array);
        array = side == 'v' ? w->p->src->narray - 1 : array;
        if (side)
            d->arrays[side != 'o' ? 0 : letter[i - 1] == 'D' ? 2 : 1] |= (uint64_t)1 << array;
    }
}

/* The state of other steps is left out. */
static void
note_call(Walk *w, const Stmt *s)
{
    int i = w->block;
    if (sparse_role(s->kernel) == ROLE_STATE)
        return;
    while (w->done && i < w->n && w->done[i].step != s->kernel)
        i++;
    if (!w->done || i == w->n) {
        i = w->n++;
        if (!w->done)
            return;
        w->done[i] = w->at;
        w->done[i].step = s->kernel;
    }
    w->done[i].calls++;
    note_arrays(w, s, &w->done[i]);
}

/* What a loop in batches is over. */
static const char *
bound_text(const SparsePlan *p, const Ex *bound)
{
    if (ex_is_const(bound))
        return arena_printf(ex_arena(p->e), "%lld parents", (long long)bound->base);
    return ex_as_var(bound) == p->records ? "the records" : "the positions of the source";
}

static void
walk(Walk *w, const Stmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == ST_COMMENT) {
            w->at.phase++;
            w->at.what = s->text;
            w->block = w->n;
        }
        if (s->kind == ST_CALL)
            note_call(w, s);
        if (s->kind != ST_FOR)
            continue;
        w->at.loop = ++w->loops;
        w->at.batch = s->step;
        w->at.over = bound_text(w->p, s->bound);
        w->block = w->n;
        walk(w, s->body);
        w->at.loop = 0;
        w->block = w->n;
    }
}

static int
walk_all(const SparsePlan *p, SparseDone *done)
{
    Walk w = {.p = p, .done = done};
    walk(&w, p->sizes);
    w.at.fill = true;
    walk(&w, p->fill);
    return w.n;
}

int
sparse_done(const SparsePlan *p, const SparseDone **done)
{
    SparseDone *d = arena_array(ex_arena(p->e), SparseDone, walk_all(p, NULL));
    *done = d;
    return walk_all(p, d);
}

const char *
sparse_array_name(const SparseFormat *f, int i)
{
    return i < f->narray ? f->array[i].name : "scratch";
}

static void
print_arrays(Buf *b, const SparseFormat *f, const char *before, uint64_t arrays)
{
    if (arrays)
        buf_add(b, before);
    for (int i = 0; arrays >> i; i++)
        if (arrays >> i & 1)
            buf_printf(b, " %s", sparse_array_name(f, i));
}

static void
print_step(Buf *b, const SparsePlan *p, const SparseDone *d)
{
    buf_printf(b, "%*s%-6s %s", d->loop ? 6 : 4, "", sparse_roles[sparse_role(d->step)],
               d->step->name);
    if (d->calls > 1)
        buf_printf(b, " x%d", d->calls);
    print_arrays(b, p->src, "", d->arrays[0]);
    print_arrays(b, p->dst, "", d->arrays[2]);
    print_arrays(b, p->dst, " ->", d->arrays[1]);
    buf_printf(b, ": %s\n", sparse_what(d->step));
}

void
sparse_done_print(Buf *b, const SparsePlan *p)
{
    const SparseDone *d;
    int n = sparse_done(p, &d), phase = 0, loop = 0;
    for (int i = 0; i < n; i++) {
        if (d[i].phase != phase)
            buf_printf(b, "  %s: %s\n", d[i].fill ? "fill" : "sizes", d[i].what);
        if (d[i].loop && d[i].loop != loop)
            buf_printf(b, "    in batches of %lld, over %s\n", (long long)d[i].batch,
                       d[i].over);
        print_step(b, p, &d[i]);
        phase = d[i].phase;
        loop = d[i].loop;
    }
}
