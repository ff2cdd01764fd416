/* Writes archives of arrays, .npz. */
#include <string.h>
#include <zlib.h>

#include "../runtime/npy_header.h"
#include "cli_file.h"
#include "cli_zip.h"

enum { VERSION = 20, DATE = 0x21 };    /* 1 January 1980 */

static unsigned char *
put(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *p++ = (unsigned char)(v >> 8 * i);
    return p;
}

/* The fields that a local header and the directory have in common. */
static unsigned char *
put_common(unsigned char *p, const ZipPart *z, uint32_t crc, size_t size)
{
    p = put(p, VERSION, 2);
    p = put(p, 0, 2);
    p = put(p, STORED, 2);
    p = put(p, (uint64_t)DATE << 16, 4);
    p = put(p, crc, 4);
    p = put(p, size, 4);
    p = put(p, size, 4);
    p = put(p, strlen(z->name), 2);
    return put(p, 0, 2);
}

void
zip_write(Cli *c, const char *path, const ZipPart *part, int n)
{
    FilePart *out = arena_array(c->arena, FilePart, 3 * n + 1);
    size_t at = 0, names = 0;
    for (int i = 0; i < n; i++)
        names += strlen(part[i].name);
    unsigned char *directory = arena_alloc(c->arena,
                                           (size_t)n * ENTRY_BYTES + names + END_BYTES);
    unsigned char *d = directory;
    int k = 0;
    for (int i = 0; i < n; i++) {
        const ZipPart *z = &part[i];
        size_t size = z->part[0].len + z->part[1].len, name = strlen(z->name);
        uLong crc = crc32_z(crc32(0, NULL, 0), z->part[0].data, z->part[0].len);
        crc = z->part[1].len ? crc32_z(crc, z->part[1].data, z->part[1].len) : crc;
        if (size > UINT32_MAX || at + LOCAL_BYTES + name + size > UINT32_MAX)
            cli_fail(c, "'%s': the archive would exceed 4 GB; write a folder instead: "
                     "'%s/'", path, path);
        unsigned char *head = arena_alloc(c->arena, LOCAL_BYTES + name);
        unsigned char *p = put(head, LOCAL, 4);
        p = put_common(p, z, (uint32_t)crc, size);
        memcpy(p, z->name, name);
        d = put(d, ENTRY, 4);
        d = put(d, VERSION, 2);
        d = put_common(d, z, (uint32_t)crc, size);
        d = put(put(d, 0, 8), 0, 2);           /* comment, disk, attributes */
        d = put(d, at, 4);
        memcpy(d, z->name, name);
        d += name;
        out[k++] = (FilePart){head, LOCAL_BYTES + name};
        out[k++] = z->part[0];
        out[k++] = z->part[1];
        at += LOCAL_BYTES + name + size;
    }
    size_t length = (size_t)(d - directory);
    d = put(d, END, 4);
    d = put(d, 0, 4);
    d = put(put(d, (uint64_t)n, 2), (uint64_t)n, 2);
    d = put(put(d, length, 4), at, 4);
    put(d, 0, 2);
    out[k++] = (FilePart){directory, length + END_BYTES};
    ravel_error err;
    cli_check(c, file_write(path, out, k, &err), &err);
}

/* An array of the archive; its header is in the arena. */
static ZipPart
array_part(Cli *c, const char *path, const NpzArray *a)
{
    unsigned char *header = arena_alloc(c->arena, NPY_HEADER_MAX);
    size_t head = npy_header_write(header, npy_type(a->descr, strlen(a->descr)), a->rank,
                                   a->shape);
    i64 count;
    if (!npy_count(a->shape, a->rank, a->bytes, &count) ||
        count > (INT32_MAX - 4096) / a->bytes)
        cli_fail(c, "'%s': an array of more than 2 GB is not written to an archive: name "
                 "the output .npy", path);
    return (ZipPart){a->name, {{header, head}, {a->data, (size_t)(count * a->bytes)}}};
}

void
cli_write_npz(Cli *c, const char *path, const NpzArray *a, int n)
{
    ZipPart *part = arena_array(c->arena, ZipPart, n);
    if (n > UINT16_MAX - 1)
        cli_fail(c, "'%s': an archive has at most %d arrays", path, UINT16_MAX - 1);
    for (int i = 0; i < n; i++)
        part[i] = array_part(c, path, &a[i]);
    zip_write(c, path, part, n);
}
