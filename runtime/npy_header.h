/* npy_header.h: the header of a .npy file.  Internal to npy.c. */
#ifndef RAVEL_NPY_HEADER_H
#define RAVEL_NPY_HEADER_H

#include <stdbool.h>

#include "npy.h"

/* A supported element type. */
typedef struct {
    char name[4];         /* as in Npy.descr */
    int bytes;
    int unit;             /* bytes that a change of byte order reverses; 1: none */
} NpyType;

/* The data of a header that Npy does not have. */
typedef struct {
    const NpyType *type;
    bool big, fortran;
    size_t data;          /* the offset of the data in the file */
} NpyHeader;

/* The type with this name (without byte order); NULL if it is unknown. */
const NpyType *npy_type(const char *name, size_t len);

/* Set *count to the product of the extents.  Returns false if an extent is negative or
 * the size in bytes, with extents of 0 counted as 1, does not fit.  If true, no stride
 * overflows. */
bool npy_count(const int64_t *shape, int rank, int bytes, int64_t *count);

/* Read the header of the file in file[0..len) into *h and all fields of *a but
 * its data.  The data is not read; the file may even lack it. */
ravel_status npy_header_read(const char *path, const unsigned char *file,
                             size_t len, NpyHeader *h, Npy *a,
                             ravel_error *err);

/* Write the header as numpy.save does for a C-ordered array.  Returns its length. */
size_t npy_header_write(unsigned char out[NPY_HEADER_MAX], const NpyType *type,
                        int rank, const int64_t *shape);

/* Fill *err with "path: sentence"; returns s. */
__attribute__((format(printf, 4, 5)))
ravel_status npy_fail(ravel_error *err, ravel_status s, const char *path,
                      const char *fmt, ...);

#endif
