/* file.h: whole files in, and out whole or not at all. */
#ifndef RAVEL_FILE_H
#define RAVEL_FILE_H

#include "ravel.h"

/* Read `path` into malloc'ed memory (one NUL past the end, not counted).
 * Refuses directories and files beyond `max` bytes. */
ravel_status file_read(const char *path, size_t max, unsigned char **data,
                       size_t *len, ravel_error *err);

/* Write the parts one after the other to a temporary file beside `path`,
 * flush it to disk, rename it and flush the folder; on any failure before the last
 * step `path` is as it was and no temporary stays.  A process killed meanwhile may
 * leave one .ravel-*.tmp, which nothing minds.  "-" is standard output; a path that is a
 * device or a pipe is written to directly. */
typedef struct {
    const void *data;
    size_t len;
} FilePart;
ravel_status file_write(const char *path, const FilePart *part, int nparts,
                        ravel_error *err);

#endif
