/* A file as memory: mapped where that is possible, else read. */
#define _GNU_SOURCE
#include "file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_new.h"

static bool
map(const char *path, FileView *v)
{
    struct stat st;
    if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
        return false;              /* a pipe must not be opened twice */
    int fd = file_open(path, O_RDONLY);
    if (fd < 0)
        return false;
    bool can = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
               (uintmax_t)st.st_size <= PTRDIFF_MAX / 2;
    void *p = can ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (p == MAP_FAILED)
        return false;
    *v = (FileView){p, (size_t)st.st_size, true};
    return true;
}

ravel_status
file_view(const char *path, FileView *v, ravel_error *err)
{
    unsigned char *data;
    *v = (FileView){0};
    if (map(path, v))
        return RAVEL_OK;
    ravel_status s = file_read(path, SIZE_MAX, &data, &v->len, err);
    v->data = data;
    return s;
}

void
file_view_free(FileView *v)
{
    if (v->mapped)
        munmap((void *)(uintptr_t)v->data, v->len);
    else
        free((void *)(uintptr_t)v->data);
    *v = (FileView){0};
}
