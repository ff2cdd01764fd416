/* file_new.h: what file.c and file_new.c share. */
#ifndef RAVEL_FILE_NEW_H
#define RAVEL_FILE_NEW_H

#include <stdbool.h>

#include "file.h"

typedef struct {
    const FilePart *part;
    int nparts, mode;              /* -1: as the umask has it */
} FileContents;

/* file_new.c: replace `path` atomically by a file with these contents; 0 or an errno.
 * *begun: writing had begun. */
int file_replace(const char *path, const FileContents *c, bool *begun);

/* file.c.  open, again where a signal came; with the umask's mode. */
int file_open(const char *path, int flags);
/* The rest return 0 or an errno. */
int file_sync(int fd);
int file_write_parts(int fd, const FilePart *part, int nparts);
/* Close `fd` in any case; the earlier failure `e` is the one to tell. */
int file_close(int fd, int e);
/* malloc'ed: the folder of `path`, then `name`. */
char *file_beside(const char *path, const char *name);

#endif
