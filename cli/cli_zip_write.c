/* Writes archives of arrays, .npz. */
#include <string.h>
#include <zlib.h>

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

/* What has been written of an archive. */
typedef struct {
    Cli *c;
    const char *path;
    FilePart *out;
    int n;                         /* of out[] */
    size_t at;                     /* bytes of these */
    unsigned char *directory;      /* where the next entry goes */
} Archive;

static uLong
crc_of(const ZipPart *z)
{
    uLong crc = crc32_z(crc32(0, NULL, 0), z->part[0].data, z->part[0].len);
    return z->part[1].len ? crc32_z(crc, z->part[1].data, z->part[1].len) : crc;
}

/* Adds a file and its entry of the directory. */
static void
add_file(Archive *a, const ZipPart *z)
{
    size_t size = z->part[0].len + z->part[1].len, name = strlen(z->name);
    uint32_t crc = (uint32_t)crc_of(z);
    if (size > UINT32_MAX || a->at + LOCAL_BYTES + name + size > UINT32_MAX)
        cli_fail(a->c, "'%s': the archive would exceed 4 GB; write a folder instead: "
                 "'%s/'", a->path, a->path);
    unsigned char *head = arena_alloc(a->c->arena, LOCAL_BYTES + name);
    unsigned char *p = put(head, LOCAL, 4), *d = a->directory;
    p = put_common(p, z, crc, size);
    memcpy(p, z->name, name);
    d = put(d, ENTRY, 4);
    d = put(d, VERSION, 2);
    d = put_common(d, z, crc, size);
    d = put(put(d, 0, 8), 0, 2);               /* comment, disk, attributes */
    d = put(d, a->at, 4);
    memcpy(d, z->name, name);
    a->directory = d + name;
    a->out[a->n++] = (FilePart){head, LOCAL_BYTES + name};
    a->out[a->n++] = z->part[0];
    a->out[a->n++] = z->part[1];
    a->at += LOCAL_BYTES + name + size;
}

void
zip_write(Cli *c, const char *path, const ZipPart *part, int n)
{
    size_t names = 0;
    for (int i = 0; i < n; i++)
        names += strlen(part[i].name);
    unsigned char *directory = arena_alloc(c->arena,
                                           (size_t)n * ENTRY_BYTES + names + END_BYTES);
    Archive a = {c, path, arena_array(c->arena, FilePart, 3 * n + 1), 0, 0, directory};
    for (int i = 0; i < n; i++)
        add_file(&a, &part[i]);
    size_t length = (size_t)(a.directory - directory);
    unsigned char *d = put(a.directory, END, 4);
    d = put(d, 0, 4);
    d = put(put(d, (uint64_t)n, 2), (uint64_t)n, 2);
    d = put(put(d, length, 4), a.at, 4);
    put(d, 0, 2);
    a.out[a.n++] = (FilePart){directory, length + END_BYTES};
    ravel_error err;
    cli_check(c, file_write(path, a.out, a.n, &err), &err);
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
