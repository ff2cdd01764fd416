/* Replace a file by a new one.
 *
 * The new file is written without a name, so it vanishes if the process ends.  Then it
 * gets a temporary name, because linkat cannot replace a file, and is renamed.  On a
 * file system without unnamed files it has the temporary name from the start.  A signal
 * handler removes such a file with file_abandon. */
#define _GNU_SOURCE
#include "file_new.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_TRIES 100                  /* for a free temporary name */

/* The current temporary name, or NULL.  It is global because signal handlers are. */
static _Atomic(const char *) temporary;

void
file_abandon(void)
{
    const char *name = atomic_load(&temporary);
    int e = errno;
    if (name)
        unlink(name);
    errno = e;
}

/* A name that no other thread, process or earlier run is likely to have chosen.
 * It does not contain the target's, which may be as long as names can be. */
static void
temp_name(char *buf, size_t size)
{
    static atomic_uint serial;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(buf, size, ".ravel-%ld-%08lx-%u.tmp", (long)getpid(),
             (unsigned long)t.tv_nsec, atomic_fetch_add(&serial, 1u));
}

/* The temporary name no longer exists. */
static void
forget(char *temp)
{
    atomic_store(&temporary, NULL);
    free(temp);
}

/* Give fd this name by a link, or open a new file if fd is -1.  Returns a value >= 0, or
 * a negated errno. */
static int
make_named(const char *temp, int fd)
{
    char link[64];
    if (fd < 0) {
        int made = file_open(temp, O_RDWR | O_CREAT | O_EXCL);
        return made < 0 ? -errno : made;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* make_named in the folder of `path`, with an unused name, which is malloc'ed.  open,
 * unlike mkstemp, applies the umask; reading the umask is not thread-safe. */
static int
name_file(const char *path, int fd, char **temp)
{
    char name[64];
    int r = -EEXIST;
    for (int i = 0; i < MAX_TRIES && r == -EEXIST; i++) {
        temp_name(name, sizeof name);
        *temp = file_beside(path, name);
        if (!*temp)
            return -ENOMEM;
        atomic_store(&temporary, *temp);
        r = make_named(*temp, fd);
        if (r < 0) {
            forget(*temp);
            *temp = NULL;
        }
    }
    return r;
}

/* Everything but the name. */
static int
fill(int fd, const FileContents *c)
{
    int e = c->fill(c->arg, fd);
    if (e == 0 && c->mode >= 0 && fchmod(fd, (mode_t)c->mode) != 0)
        e = errno;
    return e ? e : file_sync(fd);
}

/* Rename the temporary file to its final name, unless an earlier step failed. */
static int
settle(char *temp, const char *path, int e)
{
    if (e == 0 && rename(temp, path) != 0)
        e = errno;
    if (e)
        unlink(temp);
    forget(temp);
    return e;
}

/* Whether an errno means that unnamed files are not supported here, or that there is no
 * /proc to link them. */
static bool
not_here(int e)
{
    return e == EOPNOTSUPP || e == EISDIR || e == EINVAL || e == ENOENT || e == EPERM;
}

static int
replace_named(const char *path, const FileContents *c, bool *begun)
{
    char *temp;
    int fd = name_file(path, -1, &temp);
    *begun = fd >= 0;
    return fd < 0 ? -fd : settle(temp, path, file_close(fd, fill(fd, c)));
}

int
file_replace(const char *path, const FileContents *c, bool *begun)
{
    char *temp = NULL, *dir = file_beside(path, ".");
    int fd = dir ? file_open(dir, O_RDWR | O_TMPFILE) : -1;
    int e = dir ? errno : ENOMEM;
    free(dir);
    if (fd < 0)
        return not_here(e) ? replace_named(path, c, begun) : e;
    *begun = true;
    e = fill(fd, c);
    int r = e ? -e : name_file(path, fd, &temp);
    e = file_close(fd, r < 0 ? -r : 0);
    if (temp)
        return settle(temp, path, e);
    return not_here(e) ? replace_named(path, c, begun) : e;
}
