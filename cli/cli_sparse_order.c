/* SciPy's arrays whose order is not that of our formats. */
#include <stdlib.h>
#include <string.h>

#include "cli_sparse.h"

static bool
is_index(const SparseMember *m)
{
    return m && *m->descr == 'i' && (m->bytes == 4 || m->bytes == 8);
}

static i64
index_at(const SparseMember *m, i64 i)
{
    return m->bytes == 4 ? ((const int32_t *)m->data)[i] : ((const int64_t *)m->data)[i];
}

bool
sparse_file_ascends(const SparseMember *pos, const SparseMember *crd)
{
    if (!is_index(pos) || !is_index(crd))
        return true;
    for (i64 q = 0; q + 1 < pos->count; q++) {
        i64 i = index_at(pos, q), end = index_at(pos, q + 1);
        if (i < 0 || i > end || end > crd->count)
            return true;
        while (++i < end)
            if (index_at(crd, i) <= index_at(crd, i - 1))
                return false;
    }
    return true;
}

typedef struct {
    i64 offset, row;
} Diagonal;

static int
by_offset(const void *a, const void *b)
{
    const Diagonal *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static const Diagonal *
order_of(Arena *a, const SparseMember *offsets)
{
    Diagonal *d = arena_array(a, Diagonal, offsets->count + 1);
    for (i64 i = 0; i < offsets->count; i++)
        d[i] = (Diagonal){index_at(offsets, i), i};
    qsort(d, (size_t)offsets->count, sizeof *d, by_offset);
    return d;
}

/* The rows of a member, `from` bytes each, in this order and of `to` bytes. */
static void *
ordered(Arena *a, const Diagonal *d, const SparseMember *m, i64 n, i64 from, i64 to)
{
    char *out = arena_array(a, char, n * to + 1);
    for (i64 i = 0; i < n; i++)
        memcpy(out + i * to, (const char *)m->data + d[i].row * from,
               (size_t)(from < to ? from : to));
    return out;
}

void
sparse_file_diagonals(Cli *c, SparseMember *offsets, SparseMember *data, i64 cols)
{
    i64 n = offsets->count, count, bytes;
    if (!is_index(offsets) || data->rank != 2 || data->shape[0] != n)
        return;
    if (!int_mul(n, cols, &count) || !int_mul(count, data->bytes, &bytes))
        cli_fail(c, "the diagonals do not fit memory");
    cli_need_memory(c, bytes, "whole diagonals");
    const Diagonal *at = order_of(c->arena, offsets);
    data->data = ordered(c->arena, at, data, n, data->shape[1] * data->bytes, cols * data->bytes);
    offsets->data = ordered(c->arena, at, offsets, n, offsets->bytes, offsets->bytes);
    data->shape[1] = cols;
    data->count = count;
}
