/* file.h: read files; write files atomically. */
#ifndef RAVEL_FILE_H
#define RAVEL_FILE_H

#include "ravel.h"

/* Read `path` into malloc'ed memory (one NUL past the end, not counted).
 * Refuses directories and files beyond `max` bytes. */
ravel_status file_read(const char *path, size_t max, unsigned char **data,
                       size_t *len, ravel_error *err);

/* Write the parts in order to an unnamed file in the folder of `path`, flush it to disk,
 * rename it to `path` and flush the folder.  On a failure before the last step `path` is
 * unchanged and no file is left.  "-" is standard output; a device or a pipe is written
 * to directly. */
typedef struct {
    const void *data;
    size_t len;
} FilePart;
ravel_status file_write(const char *path, const FilePart *part, int nparts,
                        ravel_error *err);

/* For handlers of signals that end the process: remove a temporary file that has a name.
 * Async-signal-safe. */
void file_abandon(void);

#endif
