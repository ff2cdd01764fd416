/* convert --concat: the entries of several files as one list. */
#include <string.h>

#include "cli_sparse_convert.h"
#include "cli_sparse_list.h"

enum { MOST_PARTS = 4096 };

typedef struct {
    Convert *v;
    int dim;
    i64 at[MAX_RANK];              /* where it begins */
    SparseArrays list;
} Follower;

typedef struct {
    Convert *v;
    Follower *part;
    int n, width;
    i64 shape[MAX_RANK], entries;
    const char *format;
} Concat;

/* What names the dims: ROW_MAJOR, of any rank, does not. */
static const LayoutDef *
named(Convert *v)
{
    const LayoutDef *d = spec_ref(v->c->arena, v->from, v->c->known)->def;
    return d->ndims == v->rank ? d : spec_ref(v->c->arena, v->to, v->c->known)->def;
}

static int
dim_of(Convert *v, const char *text, size_t len)
{
    const LayoutDef *d = named(v);
    for (int i = 0; i < d->ndims; i++)
        if (strlen(d->dims[i]) == len && !strncmp(d->dims[i], text, len))
            return i;
    return -1;
}

/* Read the source of --from in the file `path`. */
static Convert *
read_file(Concat *t, const char *from, const char *path)
{
    Cli *c = t->v->c;
    const char *in = c->o.arg[0];
    Convert *v = arena_new(c->arena, Convert);
    *v = (Convert){.c = c, .from = from, .to = t->v->to, .pattern = t->v->pattern};
    c->o.arg[0] = path;
    sparse_source_read(v);
    c->o.arg[0] = in;
    return v;
}

/* Bools, of which two have no sum. */
static bool
is_truth(Convert *v)
{
    return !v->pattern && !strcmp(sparse_source_values(v)->descr, "b1");
}

/* A part follows what is there along its dim; the other extents are the same. */
static void
add_part(Concat *t, Convert *v, int dim)
{
    Cli *c = t->v->c;
    Follower *p = &t->part[t->n++];
    *p = (Follower){.v = v, .dim = dim};
    if (strcmp(v->dtype, t->v->dtype) || is_truth(v) != is_truth(t->v))
        cli_fail(c, "'%s' holds %s values, and '%s' %s", v->in.path, is_truth(v) ? "bool" : v->dtype,
                 t->v->in.path, is_truth(t->v) ? "bool" : t->v->dtype);
    for (int d = 0; d < t->v->rank; d++)
        if (v->rank != t->v->rank || (d != dim && v->shape[d] != t->shape[d]))
            cli_fail(c, "'%s' has the shape %s: it does not continue %s", v->in.path,
                     cli_tuple(c->arena, v->shape, v->rank),
                     cli_tuple(c->arena, t->shape, t->v->rank));
    p->at[dim] = t->shape[dim];
    if (!int_add(t->shape[dim], v->shape[dim], &t->shape[dim]))
        cli_fail(c, "the extents of all files do not fit 64 bits");
}

/* DIM=FILE,FILE,...: the first file has a dim; DIM=FILE may begin anew. */
static void
read_parts(Concat *t, const char *from)
{
    Cli *c = t->v->c;
    int dim = -1;
    if (!*c->o.concat)
        cli_fail(c, "--concat has no file: give them as in R=b.npz");
    for (const char *s = c->o.concat; *s;) {
        size_t len = strcspn(s, ",");
        const char *mark = memchr(s, '=', len);
        int its = mark ? dim_of(t->v, s, (size_t)(mark - s)) : -1;
        const char *path = arena_printf(c->arena, "%.*s", (int)len, s);
        if (its < 0 && dim < 0)
            cli_fail(c, "--concat '%s': a dim of %s is in front of the first file, as in R=b.npz",
                     path, t->v->from);
        if (its >= 0) {
            dim = its;
            path += mark - s + 1;
        }
        if (!*path)
            cli_fail(c, "--concat '%s' names no file: give them as in R=b.npz,c.npz", c->o.concat);
        if (t->n == MOST_PARTS)
            cli_fail(c, "--concat has more than %d files", MOST_PARTS);
        add_part(t, read_file(t, from, path), dim);
        s += len + (s[len] == ',');
    }
}

static void
set_width(Concat *t)
{
    i64 most = 0;
    t->width = t->v->width;
    for (int d = 0; d < t->v->rank; d++)
        most = t->shape[d] > most ? t->shape[d] : most;
    for (int i = 0; i < t->n; i++) {
        const Convert *v = t->part[i].v;
        t->width = v->width > t->width ? v->width : t->width;
        if (!int_add(most, v->in.member[v->in.n - 1].count, &most))
            cli_fail(t->v->c, "the entries of all files do not fit 64 bits");
    }
    if (most > INT32_MAX)
        t->width = 8;
}

static void
list_part(Concat *t, Follower *p)
{
    Convert *v = p->v;
    Cli *c = v->c;
    ravel_sparse_request rq = {.from = v->from, .to = t->format, .dtype = v->dtype,
                               .rank = v->rank, .shape = v->shape, .from_index = v->width,
                               .to_index = t->width, .threshold = cli_threshold(c),
                               .zero_threshold = c->o.threshold != NULL};
    sparse_source_arrays(v, &rq);
    cli_sparse_run(c, &rq, v->data, v->size, INT64_MAX, &p->list);
    if (p->list.why)
        cli_fail(c, "'%s': %s", v->in.path, p->list.why);
    t->entries += p->list.size[1];
}

/* Array `i` of all parts; coordinates are moved to where the part begins. */
static void
join_coordinates(const Concat *t, int i, void *to)
{
    i64 k = 0;
    for (int p = 0; p < t->n; p++) {
        const SparseArrays *a = &t->part[p].list;
        for (i64 j = 0; j < a->size[i]; j++, k++)
            if (t->width == 4)
                ((int32_t *)to)[k] = (int32_t)(((const int32_t *)a->data[i])[j] +
                                               t->part[p].at[i - 1]);
            else
                ((int64_t *)to)[k] = ((const int64_t *)a->data[i])[j] + t->part[p].at[i - 1];
    }
}

static void
join_values(const Concat *t, int i, unsigned char *to)
{
    i64 k = 0;
    for (int p = 0; p < t->n; p++) {
        const SparseArrays *a = &t->part[p].list;
        const unsigned char *from = a->data[i];
        i64 bytes = a->array[i].bytes, bits = a->array[i].bits;
        if (bytes)
            memcpy(to + k * bytes, from, (size_t)(a->size[i] * bytes));
        for (i64 j = 0; !bytes && j < a->size[i]; j++) {
            int x = from[j * bits / 8] >> (j * bits % 8) & ((1 << bits) - 1);
            to[(k + j) * bits / 8] |= (unsigned char)(x << ((k + j) * bits % 8));
        }
        k += a->size[i];
    }
}

/* The list becomes the source. */
static void
set_source(Concat *t)
{
    Convert *v = t->v;
    Cli *c = v->c;
    const SparseArrays *one = &t->part[0].list;
    SparseFile f = {.path = v->in.path, .n = one->n, .rank = v->rank};
    const SparseMember *values = v->pattern ? NULL : sparse_source_values(v);
    cli_need_memory(c, t->entries * (t->width * (one->n - 1) + 16), "all entries");
    for (int i = 0; i < one->n; i++) {
        bool pos = i == 0, val = i > v->rank;
        i64 count = pos ? 2 : t->entries, bytes = sparse_array_bytes(&one->array[i], count);
        void *data = arena_array(c->arena, unsigned char, bytes + 8);
        if (pos)
            memcpy((char *)data + t->width, &t->entries, (size_t)t->width);
        else
            val ? join_values(t, i, data) : join_coordinates(t, i, data);
        bool packed = !one->array[i].bytes;
        f.member[i] = (SparseMember){
            .name = one->array[i].name, .descr = val && values ? values->descr : t->width == 4 ? "i4" : "i8",
            .bytes = packed ? 1 : one->array[i].bytes, .rank = 1,
            .count = packed ? bytes : count, .data = data};
    }
    v->in = f;
    v->from = t->format;
    v->width = t->width;
    memcpy(v->shape, t->shape, sizeof v->shape);
}

void
sparse_concat(Convert *v, const char *from)
{
    Cli *c = v->c;
    Concat t = {.v = v, .part = arena_array(c->arena, Follower, MOST_PARTS)};
    if (c->o.mask)
        cli_fail(c, "--mask is of one file, not of --concat");
    t.format = cli_list_of(c, "ALL_FILES", named(v), v->rank);
    if (!t.format)
        cli_fail(c, "--concat needs 2 dims or more, with names");
    Convert *first = arena_copy(c->arena, v, sizeof *v);
    memcpy(t.shape, v->shape, sizeof t.shape);
    t.shape[0] = 0;
    add_part(&t, first, 0);
    read_parts(&t, from);
    set_width(&t);
    for (int i = 0; i < t.n; i++)
        list_part(&t, &t.part[i]);
    set_source(&t);
}
