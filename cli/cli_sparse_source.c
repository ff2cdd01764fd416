/* convert with a sparse format on a side: what the file of --from has. */
#include <string.h>

#include "cli_sparse_convert.h"

static SparseMember *
find_member(Convert *v, const char *name)
{
    for (int i = 0; i < v->in.n; i++)
        if (!strcmp(v->in.member[i].name, name))
            return &v->in.member[i];
    return NULL;
}

/* 32-bit or 64-bit indices as 64-bit ones. */
static const void *
widened(Convert *v, const SparseMember *m)
{
    int64_t *wide = arena_array(v->c->arena, int64_t, m->count + 1);
    for (i64 i = 0; i < m->count; i++)
        wide[i] = ((const int32_t *)m->data)[i];
    return wide;
}

/* Values below a byte: a file has their bytes, and the other arrays say how many there are. */
static void
set_packed(Convert *v, int i, const SparseMember *m)
{
    const ravel_sparse_array *a = &v->array[0][i];
    int64_t n = sparse_values(v->plan, v->size), bytes = sparse_array_bytes(a, n);
    if (m->bytes != 1)
        cli_fail(v->c, "'%s': %s has %d-byte elements, and values of %s are in bytes", v->in.path,
                 m->name, m->bytes, a->dtype);
    if (n >= 0 && m->count != bytes)
        cli_fail(v->c, "'%s': %s has %lld bytes, and %lld values of %s have %lld", v->in.path,
                 m->name, (long long)m->count, (long long)n, a->dtype, (long long)bytes);
    v->data[i] = m->data;
    v->size[i] = n;
}

static void
set_array(Convert *v, int i, const SparseMember *m)
{
    const ravel_sparse_array *a = &v->array[0][i];
    if (!a->bytes) {
        set_packed(v, i, m);
        return;
    }
    bool index = sparse_is_index(a);
    if (index && (*m->descr != 'i' || (m->bytes != 4 && m->bytes != 8)))
        cli_fail(v->c, "'%s': %s has type %s: indices are i4 or i8", v->in.path, m->name, m->descr);
    if (!index && m->bytes != a->bytes)
        cli_fail(v->c, "'%s': %s has %d-byte elements, --dtype %s has %d bytes", v->in.path,
                 m->name, m->bytes, a->dtype, a->bytes);
    v->data[i] = index && m->bytes < a->bytes ? widened(v, m) : m->data;
    v->size[i] = m->count;
}

/* pos of the first level, of one parent: all coordinates are below it. */
static void
set_root(Convert *v, int i, i64 count)
{
    int64_t *pos = arena_array(v->c->arena, int64_t, 2);
    if (v->width == 8)
        pos[1] = count;
    else
        ((int32_t *)(void *)pos)[1] = (int32_t)count;
    v->data[i] = pos;
    v->size[i] = 2;
}

static SparseMember *
need_member(Convert *v, const char *name)
{
    SparseMember *m = find_member(v, name);
    if (!m)
        cli_fail(v->c, "'%s' has no array %s, which %s has%s", v->in.path, name, v->from,
                 !strcmp(name, "val") && !v->pattern ? ": give --dtype pattern if it holds "
                 "places only" : "");
    return m;
}

static void
set_arrays(Convert *v)
{
    int row = scipy_of_file(v);
    int masks = v->c->o.mask != NULL;
    for (int i = 0; i < v->n[0]; i++) {
        const char *name = row < 0 || i < masks ? v->array[0][i].name
                           : scipy[row].array[i - masks];
        if (name)
            set_array(v, i, need_member(v, name));
        else
            set_root(v, i, need_member(v, scipy[row].array[i + 1 - masks])->count);
    }
}

/* The format that the file says it holds must be --from. */
static void
check_format(Convert *v)
{
    Cli *c = v->c;
    int row = scipy_of_file(v), from = scipy_of_text(c, v->from);
    if (v->in.format && row < 0)
        cli_fail(c, "'%s' holds the format '%.3s': csr, csc, coo, bsr and dia are read", v->in.path,
                 v->in.format);
    if (row >= 0 && (from < 0 || strcmp(scipy[from].format, scipy[row].format)))
        cli_fail(c, "'%s' holds %s: give --from %s, not %s", v->in.path, scipy[row].name,
                 scipy[row].name, v->from);
}

SparseMember *
sparse_source_values(Convert *v)
{
    return need_member(v, v->in.format ? "data" : "val");
}

/* The blocks of a BSR file become the parameters of the format. */
static void
set_blocks(Convert *v)
{
    bool bsr = v->in.format && !strcmp(v->in.format, "bsr");
    const SparseMember *m = bsr ? sparse_source_values(v) : NULL;
    if (!m || m->rank != 3)
        return;
    if (strchr(v->from, '{')) {
        const LayoutRef *ref = spec_ref(v->c->arena, v->from, v->c->known);
        i64 param[MAX_ENTRIES];
        layout_params(v->c->arena, ref, dtype_find("u8"), param);
        if (m->shape[1] != param[layout_find_param(ref->def, "BR")] ||
            m->shape[2] != param[layout_find_param(ref->def, "BC")])
            cli_fail(v->c, "'%s' has blocks of %lld x %lld, not those of %s", v->in.path,
                     (long long)m->shape[1], (long long)m->shape[2], v->from);
        return;
    }
    v->from = arena_printf(v->c->arena, "%s{BR=%lld, BC=%lld}", v->from, (long long)m->shape[1],
                           (long long)m->shape[2]);
}

static const char *
any_order(Convert *v, const char *format)
{
    const SparseMember *m = sparse_source_values(v);
    if (strcmp(format, "bsr"))
        return !strcmp(format, "csr") ? "CSR_ANY" : "CSC_ANY";
    return m->rank != 3 ? v->from
           : arena_printf(v->c->arena, "BSR_ANY{BR=%lld, BC=%lld}", (long long)m->shape[1],
                          (long long)m->shape[2]);
}

/* Rows and blocks that SciPy has not sorted, and diagonals that it has trimmed. */
static void
set_order(Convert *v)
{
    const char *f = v->in.format ? v->in.format : "";
    bool rows = !strcmp(f, "csr") || !strcmp(f, "csc") || !strcmp(f, "bsr");
    if (rows && !sparse_file_ascends(need_member(v, "indptr"), need_member(v, "indices")))
        v->from = any_order(v, f);
    if (!strcmp(f, "dia") && v->rank == 2)
        sparse_file_diagonals(v->c, need_member(v, "offsets"), sparse_source_values(v),
                              v->shape[1]);
}

/* The type of the values of a sparse file, and --dtype. */
static void
set_dtype(Convert *v)
{
    Cli *c = v->c;
    v->dtype = c->o.dtype;
    if (v->pattern)
        return;
    const SparseMember *m = sparse_source_values(v);
    const DType *own = dtype_of_npy(m->descr);
    v->dtype = c->o.dtype ? c->o.dtype : own ? own->name : NULL;
    if (own && strcmp(own->name, v->dtype) && *m->descr != 'u')
        cli_fail(c, "'%s' holds %s values, not %s: omit --dtype", v->in.path, own->name,
                 v->dtype);
    if (!v->dtype)
        cli_fail(c, "'%s' holds values of type %s: give --dtype", v->in.path, m->descr);
}

/* Indices of 64 bits if the file has some. */
static void
set_width(Convert *v)
{
    v->width = 4;
    for (int i = 0; i < v->in.n; i++) {
        const char *name = v->in.member[i].name;
        if (strcmp(name, "data") && strcmp(name, "val") && v->in.member[i].bytes == 8)
            v->width = 8;
    }
}

static void
read_sparse(Convert *v)
{
    Cli *c = v->c;
    if (!v->in.path)
        sparse_file_read(c, c->o.arg[0], &v->in);
    check_format(v);
    set_blocks(v);
    v->rank = v->in.rank;
    memcpy(v->shape, v->in.shape, sizeof v->shape);
    if (c->o.shape)
        v->rank = cli_numbers(c, "--shape", c->o.shape, v->shape, MAX_RANK);
    if (!v->rank)
        cli_fail(c, "'%s' has no shape.npy: give --shape", v->in.path);
    if (v->in.rank && (v->rank != v->in.rank || memcmp(v->shape, v->in.shape,
                                                       (size_t)v->rank * sizeof *v->shape)))
        cli_fail(c, "'%s' has the shape %s: omit --shape", v->in.path,
                 cli_tuple(c->arena, v->in.shape, v->in.rank));
    set_order(v);
    set_dtype(v);
    set_width(v);
}

/* The array of a file, which becomes the values; returns its rank. */
static int
read_values(Convert *v, i64 shape[NPY_MAX_RANK])
{
    Cli *c = v->c;
    ravel_error err;
    Npy a;
    cli_check(c, npy_read(c->o.arg[0], &a, &err), &err);
    SparseMember *m = &v->in.member[v->in.n++];
    *m = (SparseMember){.name = "val", .descr = arena_string(c->arena, a.descr), .bytes = a.bytes,
                        .rank = a.rank <= MAX_RANK ? a.rank : 0, .count = a.count};
    memcpy(m->shape, a.shape, (size_t)m->rank * sizeof *m->shape);
    m->data = arena_copy(c->arena, a.data, (size_t)a.count * (size_t)a.bytes);
    int rank = a.rank;
    memcpy(shape, a.shape, sizeof a.shape);
    npy_free(&a);
    v->in.path = c->o.arg[0];
    return rank;
}

static void
set_dense_dtype(Convert *v, const SparseMember *m)
{
    Cli *c = v->c;
    const DType *own = dtype_of_npy(m->descr);
    v->dtype = c->o.dtype ? c->o.dtype : own ? own->name : "f32";
    if (v->pattern && m->bytes != 1)
        cli_fail(c, "'%s' holds values of type %s: beside a pattern they are u1 or b1, from x != 0",
                 v->in.path, m->descr);
    if (!v->pattern && own && strcmp(own->name, v->dtype) && *m->descr != 'u')
        cli_fail(c, "'%s' holds %s values, not %s: omit --dtype", v->in.path, own->name,
                 v->dtype);
}

/* A layout: one array. */
static void
read_dense(Convert *v)
{
    Cli *c = v->c;
    i64 shape[NPY_MAX_RANK], logical[MAX_RANK];
    int rank = read_values(v, shape);
    set_dense_dtype(v, &v->in.member[v->in.n - 1]);
    v->width = 4;
    const DType *t = v->pattern ? NULL : sides_dtype(c->arena, v->dtype);
    bool packed = t && t->bits < 8;
    bool known = !packed && sides_logical(spec_ref(c->arena, v->from, c->known), rank, shape,
                                          logical);
    if (!known && !c->o.shape)
        cli_fail(c, "the logical shape does not follow from that of '%s' in layout '%s': give "
                 "--shape", v->in.path, v->from);
    v->rank = rank;
    if (c->o.shape)
        v->rank = cli_numbers(c, "--shape", c->o.shape, v->shape, MAX_RANK);
    else
        memcpy(v->shape, logical, sizeof logical);
    if (known && (v->rank != rank ||
                  memcmp(v->shape, logical, (size_t)rank * sizeof *logical)))
        cli_fail(c, "'%s' has the shape %s: omit --shape", v->in.path,
                 cli_tuple(c->arena, logical, rank));
}

void
sparse_source_read(Convert *v)
{
    bool sparse = compile_is_sparse(v->c->arena, v->c->known, v->from);
    sparse ? read_sparse(v) : read_dense(v);
}

void
sparse_source_find(Convert *v)
{
    for (int side = 0; side < 2; side++)
        v->n[side] = ravel_sparse_arrays(v->plan, side, v->array[side]);
    set_arrays(v);
}

void
sparse_source_arrays(Convert *v, const ravel_sparse_request *rq)
{
    ravel_error err;
    cli_check(v->c, ravel_sparse_compile(v->c->cx, rq, &v->plan, &err), &err);
    sparse_source_find(v);
    ravel_sparse_free(v->plan);
    v->plan = NULL;
}
