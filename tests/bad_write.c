/* Writes to a place in a file, of which the bytes at the offsets BAD_AT ("N,M,...") become others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef ssize_t Write(int fd, const void *buf, size_t n, off64_t at);

static ssize_t
write_other(const char *name, int fd, const void *buf, size_t n, off64_t at)
{
    Write *own = (Write *)dlsym(RTLD_NEXT, name);
    const char *bad = getenv("BAD_AT");
    unsigned char *copy = malloc(n + 1);
    memcpy(copy, buf, n);
    while (bad && *bad) {
        char *end;
        off64_t i = strtoll(bad, &end, 10) - at;
        if (i >= 0 && (size_t)i < n)
            copy[i] ^= 1;
        bad = *end ? end + 1 : end;
    }
    ssize_t done = own(fd, copy, n, at);
    free(copy);
    return done;
}

ssize_t
pwrite64(int fd, const void *buf, size_t n, off64_t at)
{
    return write_other("pwrite64", fd, buf, n, at);
}

ssize_t
pwrite(int fd, const void *buf, size_t n, off_t at)
{
    return write_other("pwrite", fd, buf, n, at);
}
