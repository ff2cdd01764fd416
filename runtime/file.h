/* file.h: whole files in, and out whole or not at all. */
#ifndef RAVEL_FILE_H
#define RAVEL_FILE_H

#include "ravel.h"

/* Read `path` into malloc'ed memory (one NUL past the end, not counted).
 * Refuses directories and files beyond `max` bytes. */
ravel_status file_read(const char *path, size_t max, unsigned char **data,
                       size_t *len, ravel_error *err);

/* Write the parts one after the other to a file without a name in the folder of `path`,
 * flush it to disk, give it the place and flush the folder; on any failure before the
 * last step `path` is as it was and nothing else is left.  "-" is standard output; a path that
 * is a device or a pipe is written to directly. */
typedef struct {
    const void *data;
    size_t len;
} FilePart;
ravel_status file_write(const char *path, const FilePart *part, int nparts,
                        ravel_error *err);

/* For handlers of signals that end the process: take away a temporary file that has a
 * name.  Safe in any of them. */
void file_abandon(void);

#endif
