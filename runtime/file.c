/* file.c: read files; write files atomically. */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "file_new.h"

#define FIRST_READ ((size_t)1 << 16)   /* where the size is not known */
#define DEVICE_MAX ((size_t)1 << 24)   /* a device may never end */
#define MAX_LINKS 40                   /* as the kernel counts them */

typedef struct {
    unsigned char *data;
    size_t len, cap;
} Buffer;

/* Returns 0 or an errno; EFBIG if `b` already has `max` bytes. */
static int
grow(Buffer *b, size_t max)
{
    size_t cap = b->cap > max / 2 ? max + 2 : b->cap * 2;
    if (b->len > max)
        return EFBIG;
    unsigned char *p = realloc(b->data, cap);
    if (!p)
        return ENOMEM;
    b->data = p;
    b->cap = cap;
    return 0;
}

/* Read to the end, always keeping room for the closing NUL.  The size from stat is only
 * a first guess, because the file may grow, shrink or be a device.
 * The last read of a file of the expected size is the one that finds the end. */
static int
drain(int fd, size_t max, Buffer *b)
{
    for (;;) {
        int e = b->len + 1 >= b->cap ? grow(b, max) : 0;
        if (e)
            return e;
        ssize_t n = read(fd, b->data + b->len, b->cap - b->len - 1);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            break;
        b->len += n > 0 ? (size_t)n : 0;
    }
    b->data[b->len] = 0;
    return b->len > max ? EFBIG : 0;
}

static int
read_fd(int fd, size_t *max, Buffer *b)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (S_ISCHR(st.st_mode) && *max > DEVICE_MAX)
        *max = DEVICE_MAX;
    bool sized = S_ISREG(st.st_mode) && st.st_size > 0;
    if (sized && (uintmax_t)st.st_size > *max)
        return EFBIG;
    b->cap = sized ? (size_t)st.st_size + 2 : FIRST_READ;
    b->data = malloc(b->cap);
    return b->data ? drain(fd, *max, b) : ENOMEM;
}

ravel_status
file_read(const char *path, size_t max, unsigned char **data,
          size_t *len, ravel_error *err)
{
    bool in = strcmp(path, "-") == 0;
    const char *name = in ? "standard input" : path;
    Buffer b = {0};
    *data = NULL;
    *len = 0;
    if (max > PTRDIFF_MAX / 2)
        max = PTRDIFF_MAX / 2;
    int fd = in ? STDIN_FILENO : file_open(path, O_RDONLY);
    if (fd < 0)
        return file_fail(err, name, "cannot open", errno);
    int e = read_fd(fd, &max, &b);
    if (!in)
        close(fd);
    if (e == 0) {
        *data = b.data;
        *len = b.len;
        return RAVEL_OK;
    }
    free(b.data);
    if (e == EFBIG)
        return error_set(err, RAVEL_ERR_FILE, "%.500s: larger than %zu bytes", name, max);
    return file_fail(err, name, "cannot read", e);
}

typedef struct {
    const FilePart *part;
    int n;
} Parts;

static int
write_parts(void *arg, int fd)
{
    const Parts *p = arg;
    int e = 0;
    for (int i = 0; i < p->n && e == 0; i++)
        e = file_write_all(fd, p->part[i].data, p->part[i].len);
    return e;
}

static ravel_status
write_direct(int fd, const char *name, FileFill *fill, void *arg, ravel_error *err)
{
    if (fd < 0)
        return file_fail(err, name, "cannot open", errno);
    int e = file_close(fd, fill(arg, fd));
    return e ? file_fail(err, name, "cannot write", e) : RAVEL_OK;
}

/* Follow `path` while its last part is a symbolic link, also to a place where
 * nothing is yet.  malloc'ed; NULL with errno set on failure. */
static char *
resolve(const char *path)
{
    char to[PATH_MAX];
    char *p = strdup(path);
    for (int i = 0; p && i < MAX_LINKS; i++) {
        ssize_t n = readlink(p, to, sizeof to - 1);
        if (n < 0 && (errno == EINVAL || errno == ENOENT))     /* no link */
            return p;
        if (n < 0) {
            int e = errno;
            free(p);
            errno = e;
            return NULL;
        }
        to[n] = 0;
        char *next = file_beside(p, to);
        free(p);
        p = next;
    }
    errno = p ? ELOOP : ENOMEM;
    free(p);
    return NULL;
}

/* Flush the folder of `path`, so that the rename survives a crash.  Errors are ignored
 * if the folder cannot be read or does not support fsync. */
static int
sync_folder(const char *path)
{
    char *dir = file_beside(path, ".");
    int fd = dir ? file_open(dir, O_RDONLY | O_DIRECTORY) : -1;
    int e = dir ? errno : ENOMEM;
    free(dir);
    if (fd < 0)
        return e == EACCES ? 0 : e;
    e = file_sync(fd);
    return file_close(fd, e == EINVAL ? 0 : e);
}

/* Replace the regular file `old`; NULL: there is no old file. */
static ravel_status
replace(const char *path, const struct stat *old, FileFill *fill, void *arg, ravel_error *err)
{
    char *real = resolve(path);
    if (!real)
        return file_fail(err, path, "cannot create", errno);
    FileContents c = {fill, arg, old ? (int)(old->st_mode & 0777) : -1};
    bool begun = false;
    int e = file_replace(real, &c, &begun);
    int late = e ? 0 : sync_folder(real);
    free(real);
    if (late)
        return file_fail(err, path, "written, but a crash may undo it", late);
    return e ? file_fail(err, path, begun ? "cannot write" : "cannot create", e) : RAVEL_OK;
}

/* Opening /dev/stdout anew would lose the place in a redirected file. */
static bool
is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

bool
file_is_seekable(const char *path)
{
    struct stat st;
    return !is_stdout(path) && (stat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode));
}

ravel_status
file_write_by(const char *path, FileFill *fill, void *arg, ravel_error *err)
{
    struct stat st;
    /* a copy can be closed to learn of late failures */
    if (is_stdout(path))
        return write_direct(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0),
                            "standard output", fill, arg, err);
    if (stat(path, &st) != 0) {
        if (errno != ENOENT)
            return file_fail(err, path, "cannot open", errno);
        return replace(path, NULL, fill, arg, err);
    }
    if (!S_ISREG(st.st_mode))
        return write_direct(file_open(path, O_WRONLY), path, fill, arg, err);
    /* rename asks only the folder; a write-protected file is meant to stay */
    if (access(path, W_OK) != 0)
        return file_fail(err, path, "cannot write", errno);
    return replace(path, &st, fill, arg, err);
}

ravel_status
file_write(const char *path, const FilePart *part, int nparts,
           ravel_error *err)
{
    return file_write_by(path, write_parts, &(Parts){part, nparts}, err);
}
