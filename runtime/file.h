/* file.h: read files; write files atomically. */
#ifndef RAVEL_FILE_H
#define RAVEL_FILE_H

#include <stdbool.h>

#include "ravel.h"

/* Read `path` into malloc'ed memory (one NUL past the end, not counted).
 * Refuses directories and files beyond `max` bytes. */
ravel_status file_read(const char *path, size_t max, unsigned char **data,
                       size_t *len, ravel_error *err);

/* The bytes of a file.  A mapped one has its bytes in memory only while they are used.  If
 * another process makes a file shorter, an access to the part that is gone is a SIGBUS. */
typedef struct {
    unsigned char *data;           /* not mapped: malloc'ed */
    size_t len;
    bool mapped;
} FileView;
/* file_view.c: view a file, which must not be written to.  A regular file is mapped.  What a
 * pipe has is kept in memory up to about `most` bytes, else in an unnamed file.  Errors are
 * those of file_read and file_spool.  Free *v with file_view_free in any case. */
ravel_status file_view(const char *path, size_t most, FileView *v, ravel_error *err);
void file_view_free(FileView *v);

/* file_spool.c: an unnamed file in the folder TMPDIR, or in /var/tmp; -1, with *err. */
int file_spool(ravel_error *err);
/* View what was written to it; it can be written to.  Closes fd.  e: an errno with which the
 * call fails; or 0. */
ravel_status file_spool_view(int fd, int e, FileView *v, ravel_error *err);
/* Room for len bytes: beyond `most` in an unnamed file.  Free *v with file_view_free in any
 * case. */
ravel_status file_room(size_t len, size_t most, FileView *v, ravel_error *err);

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

/* file_write of what fill(arg, fd) writes.  It returns 0 or an errno, with which the call
 * fails, and may be called again with another fd.  If file_is_seekable(path), fd is open for
 * reading too, and its bytes can be written in any order. */
typedef int FileFill(void *arg, int fd);
ravel_status file_write_by(const char *path, FileFill *fill, void *arg, ravel_error *err);
/* Whether a write to `path` makes a regular file. */
bool file_is_seekable(const char *path);

/* For handlers of signals that end the process: remove a temporary file that has a name.
 * Async-signal-safe. */
void file_abandon(void);

#endif
