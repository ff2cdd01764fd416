/* Zip archives, as far as NumPy writes them: members that are stored or deflated, no more
 * than 4 GB. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli_sparse.h"

enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, LOCAL_BYTES = 30,
       CENTRAL_BYTES = 46, END_BYTES = 22, STORED = 0, DEFLATED = 8, VERSION = 20 };

static uint32_t
get(const unsigned char *p, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static unsigned char *
put(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *p++ = (unsigned char)(v >> 8 * i);
    return p;
}

_Noreturn static void
damaged(Cli *c, const char *path, const char *what)
{
    cli_fail(c, "'%s': %s", path, what);
}

/* Inflate, or refer to, a member. */
static const unsigned char *
contents(Cli *c, const char *path, const unsigned char *data, size_t packed, size_t size,
         uint32_t method)
{
    if (method == STORED && packed == size)
        return data;
    if (method != DEFLATED)
        damaged(c, path, "a member is neither stored nor deflated");
    if (size / 1100 > packed)      /* deflate reaches 1032:1 */
        damaged(c, path, "a member is larger than it can be");
    unsigned char *out = arena_array(c->arena, unsigned char, (i64)size + 1);
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)packed,
                  .next_out = out, .avail_out = (uInt)size};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        damaged(c, path, "no memory to inflate a member");
    int status = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    if (status != Z_STREAM_END || z.avail_out)
        damaged(c, path, "a member cannot be inflated");
    return out;
}

static const unsigned char *
find_end(const unsigned char *file, size_t len)
{
    for (size_t back = END_BYTES; back <= len && back <= END_BYTES + 65535; back++)
        if (get(file + len - back, 4) == END)
            return file + len - back;
    return NULL;
}

void
zip_read(Cli *c, const char *path, const unsigned char *file, size_t len, ZipMember *f,
         void *arg)
{
    const unsigned char *end = find_end(file, len);
    if (!end)
        damaged(c, path, "is no zip archive: it has no directory");
    size_t at = get(end + 16, 4), n = get(end + 10, 2), stop = (size_t)(end - file);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *p = file + at;
        if (at > stop || stop - at < CENTRAL_BYTES || get(p, 4) != CENTRAL)
            damaged(c, path, "its directory is damaged");
        size_t packed = get(p + 20, 4), size = get(p + 24, 4), name = get(p + 28, 2);
        size_t local = get(p + 42, 4), more = get(p + 30, 2) + get(p + 32, 2);
        if (stop - at - CENTRAL_BYTES < name + more || local > stop ||
            stop - local < LOCAL_BYTES || get(file + local, 4) != LOCAL)
            damaged(c, path, "its directory is damaged");
        size_t data = local + LOCAL_BYTES + get(file + local + 26, 2) +
                      get(file + local + 28, 2);
        if (data > stop || stop - data < packed)
            damaged(c, path, "a member is outside the file");
        char *text = arena_alloc(c->arena, name + 1);
        memcpy(text, p + CENTRAL_BYTES, name);
        const unsigned char *bytes = contents(c, path, file + data, packed, size,
                                              get(p + 10, 2));
        if (crc32(crc32(0, NULL, 0), bytes, (uInt)size) != get(p + 16, 4))
            damaged(c, path, "the checksum of a member is wrong");
        f(c, text, bytes, size, arg);
        at += CENTRAL_BYTES + name + more;
    }
}

/* The fields that a local header and the directory have in common. */
static unsigned char *
put_common(unsigned char *p, const ZipPart *z, uint32_t crc, size_t size)
{
    p = put(p, VERSION, 2);
    p = put(p, 0, 2);
    p = put(p, STORED, 2);
    p = put(p, (uint64_t)0x21 << 16, 4);       /* 1 January 1980 */
    p = put(p, crc, 4);
    p = put(p, size, 4);
    p = put(p, size, 4);
    p = put(p, strlen(z->name), 2);
    return put(p, 0, 2);
}

void
zip_write(Cli *c, const char *path, const ZipPart *part, int n)
{
    enum { NAME = 80 };
    FilePart out[3 * SPARSE_MEMBERS + 1];
    size_t at = 0;
    unsigned char *directory = arena_alloc(c->arena, (size_t)n * (CENTRAL_BYTES + NAME) + END_BYTES);
    unsigned char *d = directory;
    int k = 0;
    for (int i = 0; i < n; i++) {
        const ZipPart *z = &part[i];
        size_t size = z->part[0].len + z->part[1].len, name = strlen(z->name);
        uLong crc = crc32_z(crc32(0, NULL, 0), z->part[0].data, z->part[0].len);
        crc = z->part[1].len ? crc32_z(crc, z->part[1].data, z->part[1].len) : crc;
        if (size > UINT32_MAX - at - LOCAL_BYTES - NAME)
            cli_fail(c, "'%s': the archive would exceed 4 GB; write a folder instead: '%s/'", path,
                     path);
        unsigned char *head = arena_alloc(c->arena, LOCAL_BYTES + name), *p = put(head, LOCAL, 4);
        p = put_common(p, z, (uint32_t)crc, size);
        memcpy(p, z->name, name);
        d = put(d, CENTRAL, 4);
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
