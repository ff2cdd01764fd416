/* The functions of ravel.h that answer questions about a layout. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

typedef struct {
    ravel_context *cx;
    const char *layout, *dtype;
    int rank;
    const int64_t *shape;
    void *out;
    const int64_t *at;             /* coordinates or an address; NULL: not needed */
} Query;

typedef void Answering(Layout *l, const Query *q);

typedef struct {
    const Query *q;
    Answering *f;
    Arena arena;
} Question;

static void
ask(void *arg)
{
    Question *u = arg;
    const Query *q = u->q;
    u->f(compile_layout(&u->arena, context_known(q->cx), q->layout, q->dtype, q->rank,
                        q->shape), q);
}

/* Run f on the layout of a query, inside an error boundary. */
static ravel_status
with_layout(const Query *q, Answering *f, ravel_error *err)
{
    if (!q->cx || !q->layout || !q->dtype || !q->out)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    ravel_status s = shape_check(q->rank, q->shape, err);
    if (s != RAVEL_OK)
        return s;
    Diag d;
    Question u = {.q = q, .f = f, .arena = context_arena(q->cx)};
    if (!arena_run(&u.arena, &d, ask, &u))
        s = error_of(err, &d);
    arena_free(&u.arena);
    return s;
}

static void
fill_table(Layout *l, const Query *q)
{
    i64 n = 0, x[MAX_RANK] = {0}, *out = q->out;
    decide_readable_or_fail(l);
    i64 *val = arena_array(ex_arena(l->e), i64, ex_nvars(l->e));
    work_on(ex_arena(l->e), "to make a table of layout", l->ref->def->name);
    work_spend_each(ex_arena(l->e), layout_points(l, false), 1 + l->addr->size);
    do {
        for (int i = 0; i < l->rank; i++)
            val[l->dim[i].var] = x[i];
        if (!ex_eval(l->addr, val, &out[n++]))
            ex_overflow(l->e);
    } while (layout_next(l, false, x));
}

ravel_status
ravel_table(ravel_context *cx, const char *layout, const char *dtype, int rank,
            const int64_t *shape, int64_t *out, ravel_error *err)
{
    Query q = {cx, layout, dtype, rank, shape, out, NULL};
    return with_layout(&q, fill_table, err);
}

static void
storage_bytes(Layout *l, const Query *q)
{
    decide_readable_or_fail(l);
    *(int64_t *)q->out = layout_bytes(l);
}

ravel_status
ravel_storage_bytes(ravel_context *cx, const char *layout, const char *dtype, int rank,
                    const int64_t *shape, int64_t *out, ravel_error *err)
{
    Query q = {cx, layout, dtype, rank, shape, out, NULL};
    return with_layout(&q, storage_bytes, err);
}

static void
storage_shape(Layout *l, const Query *q)
{
    ravel_extents *out = q->out;
    decide_readable_or_fail(l);
    out->rank = sides_stored(l, out->extent);
}

ravel_status
ravel_storage_shape(ravel_context *cx, const char *layout, const char *dtype, int rank,
                    const int64_t *shape, ravel_extents *out, ravel_error *err)
{
    Query q = {cx, layout, dtype, rank, shape, out, NULL};
    return with_layout(&q, storage_shape, err);
}

static void
address_of(Layout *l, const Query *q)
{
    Arena *a = ex_arena(l->e);
    decide_readable_or_fail(l);
    for (int d = 0; d < l->rank; d++)
        if (q->at[d] < 0 || q->at[d] >= l->dim[d].n)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "%s=%lld is outside 0..%lld",
                       l->dim[d].name, (long long)q->at[d], (long long)l->dim[d].n - 1);
    if (!layout_address(l, q->at, q->out))
        ex_overflow(l->e);
}

ravel_status
ravel_index(ravel_context *cx, const char *layout, const char *dtype, int rank,
            const int64_t *shape, const int64_t *x, int64_t *address, ravel_error *err)
{
    Query q = {cx, layout, dtype, rank, shape, address, x};
    if (rank > 0 && !x)
        return error_set(err, RAVEL_ERR_ARGUMENT, "x is NULL");
    return with_layout(&q, address_of, err);
}

typedef struct {
    int64_t *x;
    int found;
} FoundElement;

static void
element_of(Layout *l, const Query *q)
{
    i64 x[MAX_RANK], a = *q->at;
    FoundElement *found = q->out;
    Arena *arena = ex_arena(l->e);
    Verdict *v = decide_inverse_or_fail(l);
    if (a < 0 || a >= l->size)
        diag_fatal(arena->diag, DIAG_ARGUMENT, (Loc){0}, "address %lld is outside the "
                   "storage of %lld elements", (long long)a, (long long)l->size);
    Answer answer = decide_element(l, v, a, x);
    if (answer == UNKNOWN)
        diag_fatal(arena->diag, DIAG_LAYOUT, (Loc){0}, "the layout has no inverse in "
                   "closed form and more than %d elements to look at", ENUM_MAX);
    found->found = answer == YES;
    if (found->found)
        memcpy(found->x, x, (size_t)l->rank * sizeof *x);
}

ravel_status
ravel_element(ravel_context *cx, const char *layout, const char *dtype, int rank,
              const int64_t *shape, int64_t address, int64_t *x, int *found,
              ravel_error *err)
{
    FoundElement f = {.x = x};
    Query q = {cx, layout, dtype, rank, shape, &f, &address};
    if ((rank > 0 && !x) || !found)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a NULL argument");
    ravel_status s = with_layout(&q, element_of, err);
    if (s == RAVEL_OK)
        *found = f.found;
    return s;
}

/* ORDER ANSWER */
_Static_assert((int)NO == RAVEL_NO && (int)YES == RAVEL_YES &&
               (int)UNKNOWN == RAVEL_UNKNOWN, "two enums of one order");

/* Why l is no destination; "" if it is one. */
static void
say_why(char *out, size_t size, Layout *l, const Verdict *v)
{
    const char *unfilled = v->flaw ? NULL : why_unfilled(l, v);
    const char *why = v->flaw ? v->why : unfilled ? unfilled : "";
    size_t n = strlen(why) < size ? strlen(why) : size - 1;
    memcpy(out, why, n);
    out[n] = 0;
}

static void
check(Layout *l, const Query *q)
{
    ravel_verdict *out = q->out;
    Verdict *v = decide(l);
    *out = (ravel_verdict){.source = decide_is_readable(l, v),
                           .one_to_one = (ravel_answer)v->injective};
    storage_decide(l, v, 1);
    say_why(out->why, sizeof out->why, l, v);
    out->destination = !v->flaw && !*out->why;
    out->onto = (ravel_answer)v->onto;
    out->bytes = layout_bytes(l);
    out->slots = l->size;
    if (v->flaw == FLAW_COLLISION) {
        out->collides = 1;
        out->address = v->at;
        memcpy(out->x, v->x, sizeof out->x);
        memcpy(out->y, v->y, sizeof out->y);
    }
    if (v->injective != YES || v->flaw)
        return;
    out->elements = v->elements;
    out->padding = v->padding;
    out->holes = v->holes;
}

ravel_status
ravel_check(ravel_context *cx, const char *layout, const char *dtype, int rank,
            const int64_t *shape, ravel_verdict *out, ravel_error *err)
{
    Query q = {cx, layout, dtype, rank, shape, out, NULL};
    return with_layout(&q, check, err);
}

static void
draw(Layout *l, const Query *q)
{
    char **out = q->out;
    Arena *a = ex_arena(l->e);
    Buf b = buf_new(a);
    PictureView view = picture_view();
    Picture *p = picture_make(l, decide_readable_or_fail(l), &view);
    picture_svg(&b, &p, 1);
    if (!(*out = malloc(b.len + 1)))
        diag_fatal(a->diag, DIAG_MEMORY, (Loc){0}, "out of memory");
    memcpy(*out, b.s, b.len + 1);
}

ravel_status
ravel_svg(ravel_context *cx, const char *layout, const char *dtype, int rank,
          const int64_t *shape, char **text, ravel_error *err)
{
    Query q = {cx, layout, dtype, rank, shape, text, NULL};
    if (text)
        *text = NULL;
    return with_layout(&q, draw, err);
}
