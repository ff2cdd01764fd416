/* Compiled kernels in files of a folder.  A file has a line of sizes and after it compiler,
 * target, options, source and code, so that a look-up compares the whole key and no hash
 * has to be trusted. */
#include "device_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum { HEAD = 128, BYTES_MAX = 64 << 20, PARTS = 5 };
static const char head_format[] = "ravel kernel 1 %zu %zu %zu %zu %zu\n";

/* The file of a key: FOLDER/sm_90-HASH.kernel, malloc'ed; NULL without memory. */
static char *
path_of(const char *folder, const DeviceFileKey *k)
{
    size_t room = strlen(folder) + strlen(k->target) + 64;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%s/%s-%016llx.kernel", folder, k->target,
                 (unsigned long long)device_hash(k->source, k->options));
    return path;
}

static bool
is_part(const char *at, size_t len, const char *want)
{
    return strlen(want) == len && !memcmp(at, want, len);
}

/* The code in a file of n bytes; NULL if it is for another key. */
static char *
code_in(const char *file, size_t n, const DeviceFileKey *k, size_t *len)
{
    size_t size[PARTS], at = 0, all = 0;
    const char *line = memchr(file, '\n', n < HEAD ? n : HEAD);
    const char *want[] = {k->compiler, k->target, k->options, k->source};
    if (!line || sscanf(file, head_format, &size[0], &size[1], &size[2], &size[3],
                        &size[4]) != PARTS)
        return NULL;
    at = (size_t)(line - file) + 1;
    for (int i = 0; i < PARTS; i++)
        if (size[i] > n || (all += size[i]) > n - at)
            return NULL;
    for (int i = 0; i < PARTS - 1; at += size[i++])
        if (want[i] && !is_part(file + at, size[i], want[i]))
            return NULL;
    char *image = size[PARTS - 1] == n - at ? calloc(1, size[PARTS - 1] + 1) : NULL;
    if (!image)
        return NULL;
    *len = size[PARTS - 1];
    return memcpy(image, file + at, *len);
}

char *
device_file_find(const char *folder, const DeviceFileKey *k, size_t *len)
{
    unsigned char *file = NULL;
    char *path = path_of(folder, k), *image = NULL;
    size_t n;
    if (path && !file_read(path, BYTES_MAX, &file, &n, NULL))
        image = code_in((const char *)file, n, k, len);
    free(file);
    free(path);
    return image;
}

void
device_file_keep(const char *folder, const DeviceFileKey *k, const char *image, size_t len)
{
    char head[HEAD], *path = path_of(folder, k);
    FilePart part[PARTS + 1] = {
        {head, 0}, {k->compiler, strlen(k->compiler)}, {k->target, strlen(k->target)},
        {k->options, strlen(k->options)}, {k->source, strlen(k->source)}, {image, len}};
    if (!path)
        return;
    part[0].len = (size_t)snprintf(head, sizeof head, head_format, part[1].len,
                                   part[2].len, part[3].len, part[4].len, len);
    file_write(path, part, PARTS + 1, NULL);
    free(path);
}
