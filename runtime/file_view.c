/* A file as memory: mapped where that is possible, else read. */
#define _GNU_SOURCE
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "file_new.h"

static bool
map(int fd, const struct stat *st, FileView *v)
{
    bool can = S_ISREG(st->st_mode) && st->st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0;
    void *p = can ? mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (p == MAP_FAILED)
        return false;
    *v = (FileView){p, (size_t)st->st_size, true};
    return true;
}

/* Read until `p` has `room` bytes or the stream ends; returns how many, or a negated errno. */
static ssize_t
read_up_to(int fd, unsigned char *p, size_t room)
{
    size_t len = 0;
    while (len < room) {
        ssize_t n = read(fd, p + len, room - len);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        len += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)len;
}

/* What was read, and the rest of the stream, to an unnamed file; 0 or an errno.  *unread: an
 * errno of the stream; or 0. */
static int
read_rest(int from, int to, unsigned char *buf, size_t len, int *unread)
{
    ssize_t n = (ssize_t)len;
    int e = 0;
    while (n > 0 && e == 0) {
        e = file_write_all(to, buf, (size_t)n);
        n = e ? 0 : read_up_to(from, buf, len);
    }
    *unread = n < 0 ? (int)-n : 0;
    return e;
}

/* The bytes of a pipe: of a long one in an unnamed file. */
static ravel_status
read_stream(int fd, const char *name, size_t most, FileView *v, ravel_error *err)
{
    enum { FIRST = 1 << 16 };
    size_t cap = FIRST, len = 0;
    unsigned char *buf = malloc(cap);
    ssize_t n = 0;
    for (;;) {
        n = buf ? read_up_to(fd, buf + len, cap - len) : -ENOMEM;
        len += n > 0 ? (size_t)n : 0;
        if (n < 0 || len < cap || cap > most / 2)
            break;
        unsigned char *more = realloc(buf, cap *= 2);
        if (!more)
            free(buf);
        buf = more;
    }
    if (n >= 0 && len < cap) {
        *v = (FileView){buf, len, false};
        return RAVEL_OK;
    }
    int to = n < 0 ? -1 : file_spool(err), unread = n < 0 ? (int)-n : 0;
    ravel_status s = RAVEL_ERR_FILE;
    if (to >= 0)
        s = file_spool_view(to, read_rest(fd, to, buf, len, &unread), v, err);
    free(buf);
    if (unread == 0)
        return s;
    file_view_free(v);
    return file_fail(err, name, "cannot read", unread);
}

/* A file that cannot be mapped: some are no memory of their own, and addresses may be limited. */
static ravel_status
read_all(const char *path, long long bytes, FileView *v, ravel_error *err)
{
    bool limited = errno == ENOMEM;
    ravel_status s = file_read(path, SIZE_MAX, &v->data, &v->len, err);
    if (s && limited)
        return error_set(err, RAVEL_ERR_FILE, "%.500s: no addresses for its %lld bytes; a larger "
                         "'ulimit -v' gives some", path, bytes);
    return s;
}

ravel_status
file_view(const char *path, size_t most, FileView *v, ravel_error *err)
{
    struct stat st;
    bool in = strcmp(path, "-") == 0;
    *v = (FileView){0};
    int fd = in ? STDIN_FILENO : file_open(path, O_RDONLY);
    if (fd < 0)
        return file_fail(err, path, "cannot open", errno);
    bool known = fstat(fd, &st) == 0;
    bool stream = known && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    ravel_status s = RAVEL_OK;
    if (stream)
        s = read_stream(fd, in ? "standard input" : path, most, v, err);
    else if (!known || !map(fd, &st, v))
        s = read_all(path, known ? (long long)st.st_size : 0, v, err);
    if (!in)
        close(fd);
    return s;
}

void
file_view_free(FileView *v)
{
    if (v->mapped)
        munmap(v->data, v->len);
    else
        free(v->data);
    *v = (FileView){0};
}
