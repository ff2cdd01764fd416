/* file_calls.c: the system's calls for files, repeated where a signal interrupts them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "file_new.h"

ravel_status
file_fail(ravel_error *err, const char *path, const char *what, int e)
{
    char buf[128];
    ravel_status s = e == ENOMEM ? RAVEL_ERR_MEMORY : RAVEL_ERR_FILE;
    return error_set(err, s, "%.500s: %s: %s", *path ? path : "''", what,
                     strerror_r(e, buf, sizeof buf));
}

int
file_open(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int
file_sync(int fd)
{
    while (fsync(fd) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

int
file_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0) {
            p += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

int
file_close(int fd, int e)
{
    int c = close(fd) == 0 || errno == EINTR ? 0 : errno;   /* Linux closes first */
    return e ? e : c;
}

/* The length of the folder in front of a path's last part, with its slash. */
static size_t
folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

char *
file_beside(const char *path, const char *name)
{
    size_t n = name[0] == '/' ? 0 : folder(path), len = strlen(name);
    char *p = malloc(n + len + 1);
    if (p) {
        memcpy(p, path, n);
        memcpy(p + n, name, len + 1);
    }
    return p;
}
