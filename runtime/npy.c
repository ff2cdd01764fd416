/* npy.c: read and write NumPy array files. */
#include "npy.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "npy_header.h"

#define TILE 32              /* elements a side: both sides stay in the L1 cache */

/* Inlined for each unit, so that compilers make byte shuffles of it. */
static inline void
swap_units(unsigned char *p, size_t len, size_t unit)
{
    for (size_t i = 0; i < len; i += unit)
        for (size_t k = 0; k < unit / 2; k++) {
            unsigned char b = p[i + k];
            p[i + k] = p[i + unit - 1 - k];
            p[i + unit - 1 - k] = b;
        }
}

static void
swap(unsigned char *p, size_t len, int unit)
{
    switch (unit) {
    case 2: swap_units(p, len, 2); break;
    case 4: swap_units(p, len, 4); break;
    case 8: swap_units(p, len, 8); break;
    }
}

/* A matrix whose rows are contiguous in dst and whose columns are contiguous in src. */
typedef struct {
    unsigned char *dst;
    const unsigned char *src;
    size_t rows, cols;
    size_t dst_row, src_col;     /* strides in bytes */
} Matrix;

/* Inlined where `bytes` is a constant, so that each memcpy is one move. */
__attribute__((always_inline))
static inline void
tile(const Matrix *m, size_t i0, size_t j0, size_t bytes)
{
    size_t i1 = m->rows - i0 < TILE ? m->rows : i0 + TILE;
    size_t j1 = m->cols - j0 < TILE ? m->cols : j0 + TILE;
    for (size_t i = i0; i < i1; i++)
        for (size_t j = j0; j < j1; j++)
            memcpy(m->dst + i * m->dst_row + j * bytes,
                   m->src + j * m->src_col + i * bytes, bytes);
}

static void
transpose(const Matrix *m, int bytes)
{
    for (size_t i = 0; i < m->rows; i += TILE)
        for (size_t j = 0; j < m->cols; j += TILE)
            switch (bytes) {
            case 1: tile(m, i, j, 1); break;
            case 2: tile(m, i, j, 2); break;
            case 4: tile(m, i, j, 4); break;
            case 8: tile(m, i, j, 8); break;
            case 16: tile(m, i, j, 16); break;
            }
}

/* The extents of `a` other than 1; returns their number. */
static int
wide(const Npy *a, size_t n[NPY_MAX_RANK])
{
    int rank = 0;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != 1)
            n[rank++] = (size_t)a->shape[i];
    return rank;
}

/* Strides in bytes: the first dim varies fastest in `col`, the last in `row`. */
static void
strides(const size_t *n, int rank, size_t bytes, size_t *row,
        size_t *col)
{
    size_t s = bytes;
    for (int i = 0; i < rank; s *= n[i], i++)
        col[i] = s;
    s = bytes;
    for (int i = rank - 1; i >= 0; s *= n[i], i--)
        row[i] = s;
}

/* Copy src, in which the first dim varies fastest, to dst, in which the last does.  The
 * first and the last dim are a matrix; the dims between number the matrices.  Extents of
 * 1 have been removed, so that an array with one other extent is one copy. */
static void
from_fortran(const Npy *a, unsigned char *dst, const unsigned char *src)
{
    size_t n[NPY_MAX_RANK], row[NPY_MAX_RANK], col[NPY_MAX_RANK];
    size_t at[NPY_MAX_RANK] = {0};
    int rank = wide(a, n), last = rank - 1, i;
    if (a->count == 0 || rank <= 1) {
        memcpy(dst, src, (size_t)a->count * (size_t)a->bytes);
        return;
    }
    strides(n, rank, (size_t)a->bytes, row, col);
    Matrix m = {dst, src, n[0], n[last], row[0], col[last]};
    do {
        transpose(&m, a->bytes);
        for (i = last - 1; i > 0; i--) {
            m.dst += row[i];
            m.src += col[i];
            if (++at[i] < n[i])
                break;
            m.dst -= row[i] * n[i];
            m.src -= col[i] * n[i];
            at[i] = 0;
        }
    } while (i > 0);
}

/* The data must be exactly the rest of the file. */
static ravel_status
check_size(const char *path, size_t have, size_t want,
           ravel_error *err)
{
    if (have < want)
        return npy_fail(err, RAVEL_ERR_FILE, path,
                        "the header promises %zu bytes of data, %zu are missing",
                        want, want - have);
    if (have > want)
        return npy_fail(err, RAVEL_ERR_FILE, path,
                        "%zu bytes too many after the %zu bytes of data",
                        have - want, want);
    return RAVEL_OK;
}

/* Whether data of this form are not yet as Npy has them. */
static bool
npy_unsettled(const NpyForm *form)
{
    return form->fortran || form->swap;
}

void
npy_settle(const Npy *a, const NpyForm *form, unsigned char *out)
{
    size_t len = (size_t)a->count * (size_t)a->bytes;
    if (form->fortran)
        from_fortran(a, out, a->data);
    else
        memcpy(out, a->data, len);
    if (form->swap)
        swap(out, len, form->swap);
}

ravel_status
npy_view(const char *path, const unsigned char *file, size_t len, Npy *a, NpyForm *form,
         ravel_error *err)
{
    NpyHeader h = {0};
    memset(a, 0, sizeof *a);
    ravel_status s = npy_header_read(path, file, len, &h, a, err);
    if (s == RAVEL_OK)
        s = check_size(path, len - h.data, (size_t)a->count * (size_t)a->bytes, err);
    if (s != RAVEL_OK) {
        memset(a, 0, sizeof *a);
        return s;
    }
    a->data = (unsigned char *)(uintptr_t)(file + h.data);
    *form = (NpyForm){h.fortran, h.big && h.type->unit > 1 ? h.type->unit : 0};
    return RAVEL_OK;
}

/* The data of `a`, a view of `file`, in memory of malloc. */
static ravel_status
own(const char *path, unsigned char *file, const NpyForm *form, Npy *a, ravel_error *err)
{
    size_t bytes = (size_t)a->count * (size_t)a->bytes;
    if (!npy_unsettled(form)) {
        memmove(file, a->data, bytes);
        unsigned char *small = realloc(file, bytes ? bytes : 1);
        a->data = small ? small : file;
        return RAVEL_OK;
    }
    unsigned char *out = malloc(bytes ? bytes : 1);
    if (out)
        npy_settle(a, form, out);
    free(file);
    if (!out) {
        memset(a, 0, sizeof *a);
        return npy_fail(err, RAVEL_ERR_MEMORY, path, "no memory for %zu bytes", bytes);
    }
    a->data = out;
    return RAVEL_OK;
}

ravel_status
npy_decode(const char *path, unsigned char *file, size_t len, Npy *a, ravel_error *err)
{
    NpyForm form;
    ravel_status s = npy_view(path, file, len, a, &form, err);
    if (s == RAVEL_OK)
        return own(path, file, &form, a, err);
    free(file);
    return s;
}

bool
npy_is(const unsigned char *file, size_t len)
{
    return len >= 6 && !memcmp(file, "\x93NUMPY", 6);
}

ravel_status
npy_read(const char *path, Npy *a, ravel_error *err)
{
    unsigned char *file;
    size_t len;
    memset(a, 0, sizeof *a);
    ravel_status s = file_read(path, SIZE_MAX, &file, &len, err);
    if (s != RAVEL_OK)
        return s;
    return npy_decode(strcmp(path, "-") ? path : "standard input", file, len, a, err);
}

ravel_status
npy_head(const char *path, const char *descr, int bytes, int rank, const int64_t *shape,
         NpyHead *out, ravel_error *err)
{
    const NpyType *type = npy_type(descr, strlen(descr));
    if (!type || type->bytes != bytes)
        return npy_fail(err, RAVEL_ERR_ARGUMENT, path,
                        "no element type '%s' of %d bytes in .npy files", descr,
                        bytes);
    if (rank < 0 || rank > NPY_MAX_RANK)
        return npy_fail(err, RAVEL_ERR_ARGUMENT, path,
                        "%d dimensions: 0 to %d are possible", rank, NPY_MAX_RANK);
    if (!npy_count(shape, rank, bytes, &out->count))
        return npy_fail(err, RAVEL_ERR_ARGUMENT, path,
                        "an extent is negative, or all are more than 2^63-1 bytes");
    out->len = npy_header_write(out->text, type, rank, shape);
    return RAVEL_OK;
}

ravel_status
npy_write(const char *path, const char *descr, int bytes, int rank,
          const int64_t *shape, const void *data,
          ravel_error *err)
{
    NpyHead head;
    ravel_status s = npy_head(path, descr, bytes, rank, shape, &head, err);
    if (s != RAVEL_OK)
        return s;
    FilePart part[] = {{head.text, head.len}, {data, (size_t)head.count * (size_t)bytes}};
    return file_write(path, part, 2, err);
}

void
npy_free(Npy *a)
{
    free(a->data);
    memset(a, 0, sizeof *a);
}

ravel_status
npy_peek(const char *path, const unsigned char *file, size_t len, Npy *a, ravel_error *err)
{
    NpyHeader h;
    *a = (Npy){0};
    return npy_header_read(path, file, len, &h, a, err);
}
