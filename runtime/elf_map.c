/* elf_map.c: the memory of an image.  Its text is written to a file in memory, which is
 * mapped read-execute. */
#define _GNU_SOURCE
#include "elf_parts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "error.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

static ravel_status
sysfail(const Loader *ld, const char *what)
{
    char buf[128];
    return error_set(ld->err, errno == ENOMEM ? RAVEL_ERR_MEMORY : RAVEL_ERR_JIT,
                "machine code cannot be loaded: %s: %s", what,
                strerror_r(errno, buf, sizeof buf));
}

ravel_status
elf_map_data(Loader *ld, uint64_t data, uint64_t end)
{
    ElfImage *im = ld->im;
    void *p = mmap(NULL, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return sysfail(ld, "no address range");
    im->base = p;
    im->size = end;
    if (end > data && mmap(im->base + data, end - data, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                          MAP_FAILED)
        return sysfail(ld, "no data pages");
    return RAVEL_OK;
}

/* A file in memory; NOEXEC_SEAL concerns execve, not mmap, and some kernels
 * are set up to insist on it while older ones do not know it. */
static int
open_memory(void)
{
    int fd = memfd_create("ravel", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("ravel", MFD_CLOEXEC);
    return fd;
}

static bool
write_all(int fd, const unsigned char *p, size_t n)
{
    ssize_t k = 0;
    for (; n > 0; p += k, n -= (size_t)k)
        if ((k = write(fd, p, n)) < 0) {
            if (errno != EINTR)
                return false;
            k = 0;
        }
    return true;
}

/* RLIMIT_FSIZE counts files in memory too: a write beyond it is EFBIG, and a signal to
 * the thread that writes, which ends the process.  Here the thread takes that signal
 * itself, unless one was there before. */
static bool
write_unsignalled(int fd, const unsigned char *p, size_t n)
{
    sigset_t one, old, waiting;
    sigemptyset(&one);
    sigaddset(&one, SIGXFSZ);
    sigpending(&waiting);
    if (pthread_sigmask(SIG_BLOCK, &one, &old))
        return false;
    bool ok = write_all(fd, p, n);
    int e = errno;
    if (!ok && !sigismember(&waiting, SIGXFSZ))
        while (sigtimedwait(&one, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = e;
    return ok;
}

ravel_status
elf_map_text(const Loader *ld)
{
    ravel_status s = RAVEL_OK;
    int fd = open_memory();
    if (fd < 0)
        return sysfail(ld, "no memory file");
    if (!write_unsignalled(fd, ld->text, ld->ntext))
        s = sysfail(ld, "writing the memory file");
    else if (mmap(ld->im->base, ld->ntext, PROT_READ | PROT_EXEC,
                  MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
        s = sysfail(ld, "no executable pages");
    close(fd);
    return s;
}
