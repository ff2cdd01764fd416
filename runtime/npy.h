/* npy.h: read and write NumPy array files.
 * Format: numpy.lib.format, versions 1.0, 2.0 and 3.0. */
#ifndef RAVEL_NPY_H
#define RAVEL_NPY_H

#include <stdbool.h>

#include "ravel.h"

#define NPY_MAX_RANK 64

/* An array in memory: row-major, little endian, `data` malloc'ed. */
typedef struct {
    char descr[8];        /* NumPy's type without the byte order: f4 u1 c8 b1 */
    int bytes;            /* of one element */
    int rank;
    int64_t shape[NPY_MAX_RANK];
    int64_t count;        /* product of shape */
    unsigned char *data;  /* count * bytes */
} Npy;

/* Read the file `path`.  Fortran order and big endian are converted to C order and
 * little endian.  Anything that is not a well-formed .npy of a numeric type
 * (object arrays, structures, a short file, sizes that overflow) is an error
 * that names the file.  On failure *a is empty. */
ravel_status npy_read(const char *path, Npy *a, ravel_error *err);

/* npy_read for a file that is already in memory.  `file` is malloc'ed; on success *a owns
 * it, on failure it is freed. */
ravel_status npy_decode(const char *path, unsigned char *file, size_t len, Npy *a,
                        ravel_error *err);
/* How the data lie in a file. */
typedef struct {
    bool fortran;         /* the first dim varies fastest */
    int swap;             /* the bytes of these units are reversed; 0: little endian */
} NpyForm;
/* The array of a file that stays the caller's: a->data points into `file`, must not be written
 * to and has the form *form. */
ravel_status npy_view(const char *path, const unsigned char *file, size_t len, Npy *a,
                      NpyForm *form, ravel_error *err);
/* The type and the shape of the array whose file begins with these bytes; a->data is NULL. */
ravel_status npy_peek(const char *path, const unsigned char *file, size_t len, Npy *a,
                      ravel_error *err);
/* Write the data of `a`, which have this form, to `out` as Npy has them. */
void npy_settle(const Npy *a, const NpyForm *form, unsigned char *out);
/* Whether the bytes begin like a .npy file. */
bool npy_is(const unsigned char *file, size_t len);

/* The header of a file; the data follows it.  The largest has 64 extents of 19 digits. */
#define NPY_HEADER_MAX 2048
typedef struct {
    unsigned char text[NPY_HEADER_MAX];
    size_t len;
    int64_t count;        /* product of the extents */
} NpyHead;
/* The header that npy_write writes.  `path` is for messages. */
ravel_status npy_head(const char *path, const char *descr, int bytes, int rank,
                      const int64_t *shape, NpyHead *out, ravel_error *err);

/* Write rank extents and data (row-major, little endian) as a version 1.0 file,
 * byte for byte what numpy.save writes, atomically. */
ravel_status npy_write(const char *path, const char *descr, int bytes, int rank,
                       const int64_t *shape, const void *data,
                       ravel_error *err);

void npy_free(Npy *a);

#endif
