/* The result of a conversion with a sparse format on a side, as a file. */
#include <string.h>

#include "cli_sparse_convert.h"

const ScipyFormat scipy[] = {
    {"csr", "CSR", "dense(R), compressed(C)}", {"indptr", "indices", "data"}},
    {"csc", "CSC", "dense(C), compressed(R)}", {"indptr", "indices", "data"}},
    {"bsr", "BSR", "dense(R//BR), compressed(C//BC), dense(R%BR), dense(C%BC), BC = ",
     {"indptr", "indices", "data"}},
    {"coo", "COO", "compressed(R, \"nonunique\", \"unordered\"), singleton(C, \"unordered\")}",
     {NULL, "row", "col", "data"}},
    {"dia", "DIA", "compressed(C - R), dense(C)}", {NULL, "offsets", "data"}},
    {"csr", "CSR_ANY", "dense(R), compressed(C, \"unordered\")}", {"indptr", "indices", "data"}},
    {"csc", "CSC_ANY", "dense(C), compressed(R, \"unordered\")}", {"indptr", "indices", "data"}},
    {"bsr", "BSR_ANY",
     "dense(R//BR), compressed(C//BC, \"unordered\"), dense(R%BR), dense(C%BC), BC = ",
     {"indptr", "indices", "data"}},
};

int
scipy_of_file(const Convert *v)
{
    for (int i = 0; i < LEN(scipy); i++)
        if (v->in.format && !strcmp(scipy[i].format, v->in.format))
            return i;
    return -1;
}

int
scipy_of_text(Cli *c, const char *text)
{
    static const char dims[] = "(R, C){";
    const LayoutDef *d = spec_ref(c->arena, text, c->known)->def;
    const char *declared = layout_text(c->arena, d);
    for (int i = 0; i < LEN(scipy) && !strncmp(declared, dims, sizeof dims - 1); i++)
        if (!strcmp(scipy[i].name, d->name) &&
            !strncmp(declared + sizeof dims - 1, scipy[i].levels, strlen(scipy[i].levels)))
            return i;
    return -1;
}

/* The arrays of the result as those of a file. */
static void
name_result(Convert *v, const int64_t *m, void *const *out, SparseFile *f)
{
    Cli *c = v->c;
    int row = scipy_of_text(c, v->to);
    bool market = cli_ends_with(c->o.arg[1], ".mtx");
    bool folder = !market && !cli_ends_with(c->o.arg[1], ".npz");
    if (market && (row < 0 || strcmp(scipy[row].format, "coo")))
        cli_fail(c, "'%s': a Matrix Market file is a coordinate list: give --to COO", c->o.arg[1]);
    const ravel_sparse_array *val = &v->array[1][v->n[1] - 1];
    if (market && !val->bytes)
        cli_fail(c, "'%s': a Matrix Market file holds values of whole bytes, not %s", c->o.arg[1],
                 val->dtype);
    bool named = row >= 0 && !folder && val->bytes &&      /* as SciPy names them */
                 (market || !v->pattern);
    *f = (SparseFile){.path = c->o.arg[1], .rank = v->rank,
                      .format = named ? scipy[row].format : NULL};
    memcpy(f->shape, v->to_shape, sizeof f->shape);
    for (int i = 0; i < v->n[1]; i++) {
        const ravel_sparse_array *a = &v->array[1][i];
        const char *name = f->format ? scipy[row].array[i] : a->name;
        if (!name)
            continue;
        const char *descr = dtype_find(a->dtype)->npy;
        i64 count = a->bytes ? m[i] : sparse_array_bytes(a, m[i]);
        f->member[f->n++] = (SparseMember){.name = name, .descr = descr,
                                           .bytes = a->bytes ? a->bytes : 1, .rank = 1,
                                           .shape = {count}, .count = count, .data = out[i]};
    }
}

/* The largest number up to n that divides the extent. */
static i64
largest_divisor(i64 extent, i64 n)
{
    while (extent % n)
        n--;
    return n;
}

/* SciPy wants the values of blocks and of diagonals as arrays of 3 and 2 extents. */
static void
shape_values(Convert *v, SparseFile *f)
{
    SparseMember *val = &f->member[f->n - 1];
    const LayoutRef *ref = spec_ref(v->c->arena, v->to, v->c->known);
    i64 param[MAX_ENTRIES];
    if (!f->format)
        return;
    if (!strcmp(f->format, "dia")) {
        val->rank = 2;
        val->shape[0] = f->member[0].count;
        val->shape[1] = v->to_shape[1];
    }
    int br = layout_find_param(ref->def, "BR"), bc = layout_find_param(ref->def, "BC");
    if (strcmp(f->format, "bsr") || br < 0 || bc < 0)
        return;
    layout_params(v->c->arena, ref, dtype_find(v->dtype), param);
    if (f->shape[0] % param[br] || f->shape[1] % param[bc])
        cli_fail(v->c, "'%s': SciPy has no BSR of %lld x %lld in blocks of %lld x %lld: give "
                 "--to 'BSR{BR=%lld, BC=%lld}' or a folder as OUT", f->path,
                 (long long)f->shape[0], (long long)f->shape[1],
                 (long long)param[br], (long long)param[bc],
                 (long long)largest_divisor(f->shape[0], param[br]),
                 (long long)largest_divisor(f->shape[1], param[bc]));
    val->rank = 3;
    val->shape[0] = val->count / (param[br] * param[bc]);
    val->shape[1] = param[br];
    val->shape[2] = param[bc];
}

/* The extents of the array with a layout's storage; returns their number, and sets *bytes.  An extent of
 * the shape may be 0: the array is empty, one of 0 elements if no entry is (x % n has n places). */
static int
stored_array(Convert *v, const DType **t, i64 *shape, i64 *bytes)
{
    i64 some[MAX_RANK];
    bool empty = false;
    for (int d = 0; d < v->rank; d++) {
        empty |= !v->to_shape[d];
        some[d] = v->to_shape[d] ? v->to_shape[d] : 1;
    }
    const Layout *l = compile_layout(v->c->arena, v->c->known, v->to, v->pattern ? "u8" : v->dtype,
                                     v->rank, some);
    int n = sides_stored(l, shape);
    *t = l->dtype;
    *bytes = empty ? 0 : layout_bytes(l);
    bool vanishes = false;
    for (int k = 0; empty && n == l->nentry && k < n; k++)
        if (sparse_vanishes(l, l->entry[k].x, v->to_shape)) {
            shape[k] = 0;
            vanishes = true;
        }
    if (!empty || vanishes)
        return n;
    shape[0] = 0;
    return 1;
}

static void
write_dense(Convert *v, i64 bytes, const void *data)
{
    Cli *c = v->c;
    ravel_error err;
    i64 shape[MAX_ENTRIES], expected;
    const DType *t;
    int n = stored_array(v, &t, shape, &expected);
    if (t->bits < 8) {
        shape[0] = expected;
        n = 1;
    }
    if (expected != bytes)
        cli_fail(c, "'%s': the result has %lld bytes, and the layout %lld", c->o.arg[1],
                 (long long)bytes, (long long)expected);
    if (!cli_ends_with(c->o.arg[1], ".npy")) {
        cli_write(c, c->o.arg[1], data, (size_t)bytes);
        return;
    }
    cli_check(c, npy_write(c->o.arg[1], t->npy, t->bits < 8 ? 1 : t->bits / 8, n, shape, data, &err), &err);
}

void
sparse_result_write(Convert *v, const int64_t *m, void *const *out, i64 bytes)
{
    SparseFile f;
    if (!compile_is_sparse(v->c->arena, v->c->known, v->to)) {
        write_dense(v, bytes, out[0]);
        return;
    }
    name_result(v, m, out, &f);
    shape_values(v, &f);
    sparse_file_write(v->c, v->c->o.arg[1], &f);
}
