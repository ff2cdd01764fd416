/* Archives of arrays, .npz: entries that are stored or deflated, also beyond 4 GB.  The
 * format: PKWARE's APPNOTE 6.3. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../runtime/file.h"
#include "../runtime/npy_header.h"
#include "cli_file.h"

enum { LOCAL = 0x04034b50, ENTRY = 0x02014b50, END = 0x06054b50, END64 = 0x06064b50,
       LOCATOR64 = 0x07064b50 };
enum { LOCAL_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22, END64_BYTES = 56,
       LOCATOR64_BYTES = 20, ENTRIES_MAX = 1 << 16 };
enum { STORED = 0, DEFLATED = 8, VERSION = 20, DATE = 0x21 };    /* 1 January 1980 */

typedef struct {
    const char *name;
    int method, flags;
    uint32_t crc;
    uint64_t packed, bytes, at;    /* at: of the local header */
} ZipEntry;

typedef struct {
    Cli *c;
    const ArrayFile *f;
    ZipEntry *entry;
    int n;
} Zip;

bool
cli_is_npz(const ArrayFile *f)
{
    return f->len >= 4 && (file_number(f->data, 4) == LOCAL || file_number(f->data, 4) == END);
}

/* `len` bytes at `at`; fails if the file does not have them. */
static const unsigned char *
bytes_at(const Zip *z, uint64_t at, uint64_t len)
{
    if (at > z->f->len || len > z->f->len - at)
        cli_fail(z->c, "'%s' is not a whole archive: it ends early", z->f->path);
    return z->f->data + at;
}

/* The record of the end, which a comment may follow. */
static uint64_t
find_end(const Zip *z)
{
    size_t len = z->f->len;
    for (size_t back = END_BYTES; back <= len && back <= END_BYTES + 0xffff; back++)
        if (file_number(z->f->data + len - back, 4) == END &&
            file_number(z->f->data + len - back + 20, 2) == back - END_BYTES)
            return len - back;
    cli_fail(z->c, "'%s' is not a whole archive: its directory is missing", z->f->path);
}

/* Sizes and offsets that do not fit 32 bits are in a field of the entry. */
static void
read_wide(const Zip *z, ZipEntry *e, const unsigned char *p, size_t len)
{
    uint64_t *const wide[] = {&e->bytes, &e->packed, &e->at};
    for (size_t n; len >= 4; p += n + 4, len -= n + 4) {
        n = file_number(p + 2, 2);
        if (n > len - 4)
            break;
        const unsigned char *v = p + 4, *end = v + n;
        for (int i = 0; file_number(p, 2) == 1 && i < LEN(wide); i++) {
            if (*wide[i] != UINT32_MAX)
                continue;
            if (end - v < 8)
                cli_fail(z->c, "'%s': the size of '%s' is missing", z->f->path, e->name);
            *wide[i] = file_number(v, 8);
            v += 8;
        }
    }
}

/* Read the entry at `at`; returns where the next one is. */
static uint64_t
read_entry(const Zip *z, ZipEntry *e, uint64_t at)
{
    const unsigned char *p = bytes_at(z, at, ENTRY_BYTES);
    uint64_t name = file_number(p + 28, 2), extra = file_number(p + 30, 2);
    uint64_t comment = file_number(p + 32, 2), all = ENTRY_BYTES + name + extra + comment;
    if (file_number(p, 4) != ENTRY)
        cli_fail(z->c, "'%s': the directory of the archive is damaged", z->f->path);
    bytes_at(z, at, all);
    e->flags = (int)file_number(p + 8, 2);
    e->method = (int)file_number(p + 10, 2);
    e->crc = (uint32_t)file_number(p + 16, 4);
    e->packed = file_number(p + 20, 4);
    e->bytes = file_number(p + 24, 4);
    e->at = file_number(p + 42, 4);
    e->name = arena_printf(z->c->arena, "%.*s", (int)name, (const char *)p + ENTRY_BYTES);
    read_wide(z, e, p + ENTRY_BYTES + name, extra);
    return at + all;
}

static void
read_directory(Zip *z)
{
    uint64_t end = find_end(z);
    uint64_t n = file_number(z->f->data + end + 10, 2), at = file_number(z->f->data + end + 16, 4);
    if ((n == UINT16_MAX || at == UINT32_MAX) && end >= LOCATOR64_BYTES &&
        file_number(z->f->data + end - LOCATOR64_BYTES, 4) == LOCATOR64) {
        uint64_t wide = file_number(z->f->data + end - LOCATOR64_BYTES + 8, 8);
        const unsigned char *p = bytes_at(z, wide, END64_BYTES);
        if (file_number(p, 4) != END64)
            cli_fail(z->c, "'%s': the directory of the archive is damaged", z->f->path);
        n = file_number(p + 32, 8);
        at = file_number(p + 48, 8);
    }
    if (n > ENTRIES_MAX)
        cli_fail(z->c, "'%s' has more than %d arrays", z->f->path, ENTRIES_MAX);
    z->n = (int)n;
    z->entry = arena_array(z->c->arena, ZipEntry, z->n);
    for (int i = 0; i < z->n; i++)
        at = read_entry(z, &z->entry[i], at);
}

/* Unpack into out, which has room for all bytes; returns whether they are right. */
static bool
inflate_entry(const ZipEntry *e, const unsigned char *from, unsigned char *out)
{
    z_stream s = {0};
    uint64_t in = e->packed, room = e->bytes;
    int code = Z_OK;
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
        return false;
    s.next_in = (unsigned char *)from;
    s.next_out = out;
    while (code == Z_OK) {         /* its counters have 32 bits */
        uInt give = in > UINT32_MAX ? UINT32_MAX : (uInt)in;
        uInt take = room > UINT32_MAX ? UINT32_MAX : (uInt)room;
        s.avail_in = give;
        s.avail_out = take;
        code = inflate(&s, Z_NO_FLUSH);
        in -= give - s.avail_in;
        room -= take - s.avail_out;
    }
    inflateEnd(&s);
    return code == Z_STREAM_END && room == 0;
}

/* The bytes of an entry, in memory of malloc. */
static unsigned char *
unpack(const Zip *z, const ZipEntry *e)
{
    Cli *c = z->c;
    const unsigned char *local = bytes_at(z, e->at, LOCAL_BYTES);
    uint64_t skip = LOCAL_BYTES + file_number(local + 26, 2) + file_number(local + 28, 2);
    const unsigned char *from = bytes_at(z, e->at + skip, e->packed);
    if (e->flags & 1 || (e->method != STORED && e->method != DEFLATED))
        cli_fail(c, "'%s': '%s' is encrypted or packed by method %d: NumPy's are stored or "
                 "deflated", z->f->path, e->name, e->method);
    if (e->bytes > INT64_MAX || (e->method == STORED && e->bytes != e->packed) ||
        e->bytes / 2048 > e->packed)
        cli_fail(c, "'%s': '%s' has an impossible size", z->f->path, e->name);
    cli_need_memory(c, (i64)e->bytes, "an array");
    unsigned char *out = malloc(e->bytes ? e->bytes : 1);
    if (!out)
        cli_fail(c, "'%s': no memory for the %llu bytes of '%s'", z->f->path,
                 (unsigned long long)e->bytes, e->name);
    bool right = e->method == DEFLATED ? inflate_entry(e, from, out)
                                       : memcpy(out, from, e->bytes) != NULL;
    if (!right || crc32_z(0, out, e->bytes) != e->crc) {
        free(out);
        cli_fail(c, "'%s': '%s' is damaged", z->f->path, e->name);
    }
    return out;
}

void
cli_read_npz(Cli *c, ArrayFile *f, FileArray *out)
{
    Zip z = {.c = c, .f = f};
    ravel_error err;
    read_directory(&z);
    const char **name = arena_array(c->arena, const char *, z.n + 1);
    for (int i = 0; i < z.n; i++)
        name[i] = z.entry[i].name;
    const ZipEntry *e = &z.entry[cli_pick(c, f, name, z.n)];
    const char *path = arena_printf(c->arena, "%s: %s", f->path, e->name);
    out->name = e->name;
    cli_check(c, npy_decode(path, unpack(&z, e), e->bytes, &out->a, &err), &err);
}

typedef struct {
    unsigned char *p;
} Record;

static void
put(Record *r, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *r->p++ = (unsigned char)(v >> 8 * i);
}

/* What the local header and the entry of the directory share. */
static void
put_facts(Record *r, uint32_t crc, uint64_t bytes, size_t name)
{
    put(r, VERSION, 2);
    put(r, 0, 2);                  /* flags */
    put(r, STORED, 2);
    put(r, (uint64_t)DATE << 16, 4);
    put(r, crc, 4);
    put(r, bytes, 4);
    put(r, bytes, 4);
    put(r, name, 2);
    put(r, 0, 2);                  /* further fields */
}

void
cli_write_npz(Cli *c, const char *path, const char *name, const char *descr, int bytes,
              int rank, const i64 *shape, const void *data)
{
    unsigned char local[LOCAL_BYTES], end[ENTRY_BYTES + END_BYTES], header[NPY_HEADER_MAX];
    size_t n = strlen(name), head = npy_header_write(header, npy_type(descr, strlen(descr)),
                                                     rank, shape);
    i64 count;
    ravel_error err;
    if (!npy_count(shape, rank, bytes, &count) || count > (INT32_MAX - 4096) / bytes)
        cli_fail(c, "'%s': an array of more than 2 GB is not written to an archive: name "
                 "the output .npy", path);
    uint64_t size = head + (uint64_t)(count * bytes);
    uint32_t crc = (uint32_t)crc32_z(crc32_z(0, header, head), data, size - head);
    Record r = {local};
    put(&r, LOCAL, 4);
    put_facts(&r, crc, size, n);
    r.p = end;
    put(&r, ENTRY, 4);
    put(&r, VERSION, 2);
    put_facts(&r, crc, size, n);
    put(&r, 0, 2 + 2 + 2 + 4 + 4);
    memset(end + 32, 0, 14);       /* comment, disk, attributes; it begins at 0 */
    r.p = end + ENTRY_BYTES;
    put(&r, END, 4);
    put(&r, 0, 4);
    put(&r, 1, 2);
    put(&r, 1, 2);
    put(&r, ENTRY_BYTES + n, 4);
    put(&r, LOCAL_BYTES + n + size, 4);
    put(&r, 0, 2);
    FilePart part[] = {{local, LOCAL_BYTES}, {name, n}, {header, head}, {data, size - head},
                       {end, ENTRY_BYTES}, {name, n}, {end + ENTRY_BYTES, END_BYTES}};
    cli_check(c, file_write(path, part, LEN(part), &err), &err);
}
