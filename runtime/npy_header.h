/* npy_header.h: the header of a .npy file.  Internal to npy.c. */
#ifndef RAVEL_NPY_HEADER_H
#define RAVEL_NPY_HEADER_H

#include <stdbool.h>

#include "npy.h"

/* An element type that is read and written. */
typedef struct {
    char name[4];         /* as in Npy.descr */
    int bytes;
    int unit;             /* what a change of byte order reverses; 1: nothing */
} NpyType;

/* What a header says beyond the fields of Npy. */
typedef struct {
    const NpyType *type;
    bool big, fortran;
    size_t data;          /* where the data begins in the file */
} NpyHeader;

/* The largest header written: 64 extents of 19 digits leave room to spare. */
#define NPY_HEADER_MAX 2048

/* NULL when `name` (without byte order) is none of the known types. */
const NpyType *npy_type(const char *name, size_t len);

/* Set *count to the product of the extents; false when one is negative or when
 * the bytes, zero extents left aside, do not fit: then no stride overflows. */
bool npy_count(const int64_t *shape, int rank, int bytes, int64_t *count);

/* Read the header of the file in file[0..len) into *h and all fields of *a but
 * its data.  The data is not looked at, nor whether it is there. */
ravel_status npy_header_read(const char *path, const unsigned char *file,
                             size_t len, NpyHeader *h, Npy *a,
                             ravel_error *err);

/* The header as numpy.save writes it for a C-ordered array.  The length. */
size_t npy_header_write(unsigned char out[NPY_HEADER_MAX], const NpyType *type,
                        int rank, const int64_t *shape);

/* Fill *err with "path: sentence"; returns s. */
__attribute__((format(printf, 4, 5)))
ravel_status npy_fail(ravel_error *err, ravel_status s, const char *path,
                      const char *fmt, ...);

#endif
