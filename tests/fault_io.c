/* fault_io.c: preloaded into a command, spoils one of its calls on files.
 *
 * FAULT_DO is the name of an errno, `short` (half of what was asked for), `before` or
 * `after` (SIGKILL on that side of the call), SIGINT, SIGTERM or SIGHUP (before it).  The
 * log is a line each: the call and the file.  With FAULT_NAMED a file system has no files
 * without names. */
#define _GNU_SOURCE
#include "fault.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"EINTR", EINTR}, {"EIO", EIO},
    {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EROFS", EROFS},
};

static const struct {
    const char *name;
    int number;
} signals[] = {{"SIGINT", SIGINT}, {"SIGTERM", SIGTERM}, {"SIGHUP", SIGHUP}};

static long count;
static bool spoiling;              /* the call that runs */

static void
note(const char *call, const char *path, int fd)
{
    char line[5000], link[64], name[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = path || fd < 0 ? -1 : syscall(SYS_readlinkat, AT_FDCWD, link, name,
                                               sizeof name - 1);
    if (n >= 0)
        name[n] = 0;
    n = snprintf(line, sizeof line, "%s %s\n", call, path ? path : name);
    fault_say(line, (size_t)n);
}

/* Whether the call is to fail. */
static bool
begin(const char *call, const char *path, int fd)
{
    spoiling = false;
    if (!counting)
        return false;
    note(call, path, fd);
    spoiling = count++ == fault_at;
    if (spoiling && !strcmp(fault_do, "before"))
        raise(SIGKILL);
    for (size_t i = 0; spoiling && i < sizeof signals / sizeof *signals; i++)
        if (!strcmp(fault_do, signals[i].name))
            raise(signals[i].number);
    for (size_t i = 0; spoiling && i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(fault_do, errors[i].name)) {
            errno = errors[i].number;
            return true;
        }
    return false;
}

static size_t
length(size_t n)
{
    return spoiling && !strcmp(fault_do, "short") && n > 1 ? n / 2 : n;
}

static void
end(void)
{
    if (spoiling && !strcmp(fault_do, "after"))
        raise(SIGKILL);
}

/* One wrapped call: its type, name, parameters and arguments; the file it is on. */
#define CALL(type, name, params, args, path, fd) \
    type \
    name params \
    { \
        union { void *p; type (*f) params; } real = {dlsym(RTLD_NEXT, #name)}; \
        if (begin(#name, path, fd)) \
            return (type)-1; \
        type r = real.f args; \
        end(); \
        return r; \
    }

CALL(ssize_t, read, (int fd, void *p, size_t n), (fd, p, length(n)), NULL, fd)
CALL(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, length(n), at), NULL,
     fd)
CALL(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, length(n)), NULL, fd)
CALL(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at),
     (fd, p, length(n), at), NULL, fd)
CALL(int, ftruncate, (int fd, off_t n), (fd, n), NULL, fd)
CALL(int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), NULL, fd)
CALL(int, fsync, (int fd), (fd), NULL, fd)
CALL(int, fdatasync, (int fd), (fd), NULL, fd)
CALL(int, close, (int fd), (fd), NULL, fd)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), NULL, fd)
CALL(int, fstat, (int fd, struct stat *st), (fd, st), NULL, fd)
CALL(int, stat, (const char *path, struct stat *st), (path, st), path, -1)
CALL(int, lstat, (const char *path, struct stat *st), (path, st), path, -1)
CALL(int, access, (const char *path, int mode), (path, mode), path, -1)
CALL(int, unlink, (const char *path), (path), path, -1)
CALL(int, rename, (const char *from, const char *to), (from, to), from, -1)
CALL(int, renameat, (int d, const char *from, int e, const char *to), (d, from, e, to),
     from, -1)
CALL(int, link, (const char *from, const char *to), (from, to), from, -1)
CALL(int, linkat, (int d, const char *from, int e, const char *to, int flags),
     (d, from, e, to, flags), from, -1)
CALL(ssize_t, readlink, (const char *path, char *p, size_t n), (path, p, n), path, -1)
CALL(int, memfd_create, (const char *name, unsigned flags), (name, flags), "memfd", -1)
CALL(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t offset),
     (at, n, prot, flags, fd, offset), "memory", -1)

static mode_t
mode_of(int flags, va_list ap)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int
openat(int dir, const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    if (begin("open", path, -1))
        return -1;
    if ((flags & __O_TMPFILE) == __O_TMPFILE && getenv("FAULT_NAMED")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int r = (int)syscall(SYS_openat, dir, path, flags, mode);
    end();
    return r;
}

int
open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return openat(AT_FDCWD, path, flags, mode);
}
