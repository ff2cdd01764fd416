/* Sources that are drawn: a list of entries, converted to the source's format. */
#include <string.h>

#include "cli_sparse_draw.h"

enum { MOST_BYTES = 1 << 26, MOST_ENTRIES = 30000 };

typedef struct {
    Cli *c;
    const SparsePlan *p;
    const char *list;              /* a format of entries, or a layout */
    i64 total;                     /* elements of the shape; of more, INT64_MAX */
    uint64_t state;
    SparseCase *x;
    i64 entries;
    bool done;
} Draw;

static uint64_t
draw(Draw *t)
{
    t->state ^= t->state << 13;
    t->state ^= t->state >> 7;
    t->state ^= t->state << 17;
    return t->state * 0x2545f4914f6cdd1d;
}

/* A small integer in the type of the values; 0, too. */
static void
put_value(Draw *t, unsigned char *to, i64 k)
{
    const DType *type = t->p->src->l->dtype;
    uint64_t bits[2];
    int v = (int)(draw(t) >> 60) & (type->bits < 4 ? (1 << type->bits) - 1 : 15);
    dtype_encode(type, v - (type->kind == 'u' ? 0 : 7), bits);
    if (type->bits < 8)
        to[k * type->bits / 8] |= (unsigned char)(bits[0] << (k * type->bits % 8));
    else
        memcpy(to + k * type->bits / 8, bits, (size_t)type->bits / 8);
}

static void *
values(Draw *t, i64 n)
{
    unsigned char *v = arena_array(t->c->arena, unsigned char, n * 16 + 1);
    for (i64 k = 0; k < n; k++)
        put_value(t, v, k);
    return v;
}

/* n places in a random order, some of them twice if the source may have that. */
static i64 *
places(Draw *t, i64 n)
{
    i64 *at = arena_array(t->c->arena, i64, n + 1), next = -1, gap = n ? t->total / n : 1;
    for (i64 k = 0; k < n; k++) {
        bool again = t->p->src->loose && k && draw(t) % 8 == 0;
        next += again ? 0 : 1 + (gap > 1 ? (i64)(draw(t) % (uint64_t)gap) : 0);
        at[k] = next;
    }
    for (i64 k = n - 1; k > 0; k--) {
        i64 j = (i64)(draw(t) % (uint64_t)(k + 1)), x = at[k];
        at[k] = at[j];
        at[j] = x;
    }
    return at;
}

/* The arrays of t->list with n entries; returns their number. */
static int
draw_list(Draw *t, i64 n, const void **in, int64_t *size)
{
    const Request *rq = &t->p->rq->common;
    int64_t *crd[MAX_RANK], *pos = arena_array(t->c->arena, int64_t, 2);
    i64 *at = places(t, n);
    pos[1] = n;
    in[0] = pos;
    size[0] = 2;
    for (int d = rq->rank - 1; d >= 0; d--) {
        in[d + 1] = crd[d] = arena_array(t->c->arena, int64_t, n + 1);
        size[d + 1] = n;
        for (i64 k = 0; k < n; k++) {
            crd[d][k] = d ? at[k] % rq->shape[d] : at[k];
            at[k] = d ? at[k] / rq->shape[d] : at[k];
        }
    }
    bool pattern = !strcmp(rq->dtype, sparse_pattern);
    if (!pattern) {
        in[rq->rank + 1] = values(t, n);
        size[rq->rank + 1] = n;
    }
    return rq->rank + 1 + !pattern;
}

static void
add_mask(Draw *t, SparseArrays *a)
{
    i64 n = a->size[a->n - 1];
    uint8_t *mask = arena_array(t->c->arena, uint8_t, n + 1);
    for (i64 k = 0; k < n; k++)
        mask[k] = (uint8_t)(draw(t) >> 63);
    for (int i = a->n++; i > 0; i--) {
        a->array[i] = a->array[i - 1];
        a->data[i] = a->data[i - 1];
        a->size[i] = a->size[i - 1];
    }
    a->array[0] = (ravel_sparse_array){"mask", "u8", 1, 8, RAVEL_SPARSE_MASK};
    a->data[0] = mask;
    a->size[0] = n;
}

/* The library's result. */
static void
convert(Draw *t)
{
    const SparseRequest *q = t->p->rq;
    ravel_sparse_request rq = {
        .from = q->common.from, .to = q->common.to, .dtype = q->common.dtype,
        .rank = q->common.rank, .shape = q->common.shape, .from_index = q->from_width,
        .to_index = q->to_width, .equal = t->p->unadded ? NULL : sparse_equals[q->equal],
        .threshold = q->threshold,
        .mask = q->mask, .zero_threshold = q->zero_threshold};
    cli_sparse_run(t->c, &rq, (const void *const *)t->x->from.data, t->x->from.size, MOST_BYTES,
                   &t->x->to);
    t->done = !t->x->to.large;
}

static void
draw_matrix(void *arg)
{
    Draw *t = arg;
    const Request *q = &t->p->rq->common;
    const void *in[MAX_RANK + 2];
    int64_t size[MAX_RANK + 2];
    bool layout = *t->list == '(';
    ravel_sparse_request rq = {.from = t->list, .to = q->from, .dtype = q->dtype, .rank = q->rank,
                               .shape = q->shape, .from_index = 8,
                               .to_index = t->p->rq->from_width,
                               .equal = t->p->unadded ? "last" : "sum"};
    if (layout) {
        in[0] = values(t, t->total);
        size[0] = t->total;
    } else {
        draw_list(t, t->entries, in, size);
    }
    cli_sparse_run(t->c, &rq, in, size, MOST_BYTES, &t->x->from);
    if (t->x->from.why || t->x->from.large)
        return;
    if (t->p->rq->mask)
        add_mask(t, &t->x->from);
    t->x->entries = layout ? t->total : t->entries;
    convert(t);
}

/* A number that an array of indices may have: near that of another place, or any. */
static i64
other_index(Draw *t, const SparseArrays *a, int i)
{
    i64 k = (i64)(draw(t) % (uint64_t)a->size[i]), x = 0;
    if (draw(t) >> 63)
        return (i64)(draw(t) % (uint64_t)(a->size[i] + 4)) - 2;
    memcpy(&x, (const char *)a->data[i] + k * a->array[i].bytes, (size_t)a->array[i].bytes);
    return x + (i64)(draw(t) % 3) - 1;
}

/* The source before, with another number in an array of indices. */
static void
damage(void *arg)
{
    Draw *t = arg;
    SparseArrays *a = &t->x->from;
    const SparseCase *before = t->x - 1;
    *t->x = *before;
    t->x->entries = 0;
    int i = (int)(draw(t) % (uint64_t)a->n);
    if (!sparse_is_index(&a->array[i]) || !a->size[i])
        return;
    i64 at = (i64)(draw(t) % (uint64_t)a->size[i]);
    i64 bytes = sparse_array_bytes(&a->array[i], a->size[i]);
    i64 x = other_index(t, a, i);
    a->data[i] = arena_copy(t->c->arena, a->data[i], (size_t)bytes + 1);
    memcpy((char *)a->data[i] + at * a->array[i].bytes, &x, (size_t)a->array[i].bytes);
    convert(t);
}

/* A case that does not fit memory is left out. */
static bool
try(Draw *t, void (*f)(void *))
{
    Diag d;
    t->done = false;
    bool ok = arena_run(t->c->arena, &d, f, t);
    if (!ok && d.kind != DIAG_MEMORY)
        diag_fatal(t->c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return ok && t->done;
}

/* '(I){I}' where there is no list of the source's dims. */
static const char *
layout_of(Cli *c, int rank)
{
    Buf b = buf_new(c->arena), order = buf_new(c->arena);
    for (int d = 0; d < rank; d++)
        buf_printf(&order, "%sX%d", d ? ", " : "", d);
    buf_printf(&b, "(%s){%s}", order.s, order.s);
    return b.s;
}

int
sparse_draw(Cli *c, const SparsePlan *p, SparseCase *x, int most)
{
    const Request *rq = &p->rq->common;
    Draw t = {.c = c, .p = p, .total = 1, .state = 88172645463325252u};
    int n = 0;
    for (int d = 0; d < rq->rank; d++)
        if (!int_mul(t.total, rq->shape[d], &t.total))
            t.total = INT64_MAX;
    t.list = cli_list_of(c, "DRAWN_ENTRIES", p->src->ref->def, rq->rank);
    if (!t.list)
        t.list = cli_list_of(c, "DRAWN_ENTRIES", p->dst->ref->def, rq->rank);
    if (!t.list)
        t.list = layout_of(c, rq->rank);
    const i64 counts[] = {0, 1, 7, t.total / 20, t.total / 3, t.total};
    for (int i = 0; i < LEN(counts); i++) {
        t.entries = counts[i] < MOST_ENTRIES ? counts[i] : MOST_ENTRIES;
        t.entries = t.entries < t.total ? t.entries : t.total;
        t.x = &x[n];
        if (n == most || !try(&t, draw_matrix))
            continue;
        n++;
        for (int k = 0; k < 3 && n < most; k++) {
            t.x = &x[n];
            n += try(&t, damage);
        }
    }
    if (!n)
        cli_fail(c, "--check: no source of %s of this shape fits %d bytes", p->src->ref->def->name,
                 MOST_BYTES);
    return n;
}
