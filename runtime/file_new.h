/* file_new.h: declarations that the files file*.c share. */
#ifndef RAVEL_FILE_NEW_H
#define RAVEL_FILE_NEW_H

#include <stdbool.h>

#include "file.h"

typedef struct {
    FileFill *fill;
    void *arg;
    int mode;                      /* permissions; -1: according to the umask */
} FileContents;

/* file_new.c: replace `path` atomically by a file with these contents; 0 or an errno.
 * *begun is true if writing had begun. */
int file_replace(const char *path, const FileContents *c, bool *begun);

/* file_calls.c: open(), repeated if a signal interrupts it; permissions by the umask. */
int file_open(const char *path, int flags);
/* The status for the errno e, and a message. */
ravel_status file_fail(ravel_error *err, const char *path, const char *what, int e);
/* The functions below return 0 or an errno. */
int file_write_all(int fd, const void *data, size_t len);
int file_sync(int fd);
/* Close `fd`.  Returns the earlier failure `e` if it is not 0, else that of close(). */
int file_close(int fd, int e);
/* The path of `name` in the folder of `path`; malloc'ed. */
char *file_beside(const char *path, const char *name);

#endif
