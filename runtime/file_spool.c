/* Unnamed files, for what does not fit the memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"
#include "file.h"
#include "file_new.h"

static const char *
folder(void)
{
    const char *s = getenv("TMPDIR");
    return s && *s ? s : "/var/tmp";
}

/* On a file system without unnamed files the name exists for a moment. */
static int
make_named(const char *dir)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/ravel-XXXXXX", dir);
    errno = ENAMETOOLONG;
    int fd = n < (int)sizeof path ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd >= 0)
        unlink(path);
    return fd;
}

static ravel_status
fail(ravel_error *err, int e, long long bytes)
{
    char buf[128];
    if (e == ENOMEM)
        return error_set(err, RAVEL_ERR_MEMORY, "no addresses for the %lld bytes of a temporary "
                         "file; a larger 'ulimit -v' gives some", bytes);
    return error_set(err, RAVEL_ERR_FILE,
                     "%.400s: a temporary file: %s; TMPDIR names another folder", folder(),
                     strerror_r(e, buf, sizeof buf));
}

int
file_spool(ravel_error *err)
{
    const char *dir = folder();
    int fd = file_open(dir, O_RDWR | O_TMPFILE);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        fd = make_named(dir);
    if (fd < 0)
        fail(err, errno, 0);
    return fd;
}

ravel_status
file_spool_view(int fd, int e, FileView *v, ravel_error *err)
{
    off_t len = e ? 0 : lseek(fd, 0, SEEK_END);
    e = len < 0 ? errno : e;
    void *p = len > 0 ? mmap(NULL, (size_t)len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
    if (p == MAP_FAILED)
        e = errno;
    e = file_close(fd, e);
    *v = (FileView){0};
    if (e)
        return fail(err, e, (long long)len);
    *v = (FileView){p, (size_t)len, len > 0};
    return RAVEL_OK;
}

ravel_status
file_room(size_t len, size_t most, FileView *v, ravel_error *err)
{
    *v = (FileView){.len = len};
    if (len <= most) {
        v->data = malloc(len ? len : 1);
        return v->data ? RAVEL_OK
                       : error_set(err, RAVEL_ERR_MEMORY, "no memory for %zu bytes", len);
    }
    int fd = file_spool(err);
    if (fd < 0)
        return RAVEL_ERR_FILE;
    /* reserved: a write to a page without a place on the disk would be a SIGBUS */
    int e = len > INT64_MAX ? EFBIG : posix_fallocate(fd, 0, (off_t)len);
    return file_spool_view(fd, e, v, err);
}
