/* Reads archives of arrays, .npz: entries that are stored or deflated, also beyond 4 GB.  The
 * format: PKWARE's APPNOTE 6.3. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "cli_file.h"
#include "cli_zip.h"

enum { END64_BYTES = 56, LOCATOR64_BYTES = 20, ENTRIES_MAX = 1 << 16 };

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
    refuse_foreign(z->c, z->f->path);
    cli_fail(z->c, "'%s' is not a whole archive: its directory is missing", z->f->path);
}

/* "'weight' of 'x.npz'" */
static const char *
entry_text(const Zip *z, const ZipEntry *e)
{
    return arena_printf(z->c->arena, "'%.100s' of '%s'", cli_stem(z->c, e->name), z->f->path);
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
                cli_fail(z->c, "%s: its size is missing", entry_text(z, e));
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

/* The bytes of an entry: those of the file, or in *room, which may take `most` of memory. */
static const unsigned char *
unpack(const Zip *z, const ZipEntry *e, i64 most, FileView *room)
{
    Cli *c = z->c;
    ravel_error err;
    const unsigned char *local = bytes_at(z, e->at, LOCAL_BYTES);
    uint64_t skip = LOCAL_BYTES + file_number(local + 26, 2) + file_number(local + 28, 2);
    const unsigned char *from = bytes_at(z, e->at + skip, e->packed), *out = from;
    if (e->flags & 1 || (e->method != STORED && e->method != DEFLATED))
        cli_fail(c, "%s is encrypted or packed by method %d: NumPy's are stored or deflated",
                 entry_text(z, e), e->method);
    if (e->bytes > INT64_MAX || (e->method == STORED && e->bytes != e->packed) ||
        e->bytes / 2048 > e->packed)
        cli_fail(c, "%s has an impossible size", entry_text(z, e));
    *room = (FileView){0};
    if (e->method == DEFLATED) {
        cli_check(c, file_room(e->bytes, (size_t)most, room, &err), &err);
        out = room->data;
    }
    if ((room->data && !inflate_entry(e, from, room->data)) ||
        crc32_z(0, out, e->bytes) != e->crc) {
        file_view_free(room);
        cli_fail(c, "%s is damaged", entry_text(z, e));
    }
    return out;
}

/* The same in memory of malloc. */
static unsigned char *
unpack_copy(const Zip *z, const ZipEntry *e)
{
    FileView room;
    const unsigned char *from = unpack(z, e, INT64_MAX, &room);
    if (room.data)
        return room.data;
    unsigned char *out = malloc(e->bytes ? e->bytes : 1);
    if (!out)
        cli_no_memory(z->c, (i64)e->bytes, entry_text(z, e));
    return memcpy(out, from, e->bytes);
}

void
zip_read(Cli *c, const char *path, const unsigned char *file, size_t len, ZipMember *f,
         void *arg)
{
    const ArrayFile archive = {.path = path, .data = file, .len = len};
    Zip z = {.c = c, .f = &archive};
    i64 all = 0;
    read_directory(&z);
    if (z.n > ZIP_MEMBERS_MAX)
        cli_fail(c, "'%s' has more than %d arrays", path, ZIP_MEMBERS_MAX);
    for (int i = 0; i < z.n; i++) {
        const ZipEntry *e = &z.entry[i];
        if (e->bytes > INT64_MAX || !int_add(all, (i64)e->bytes, &all))
            cli_fail(c, "%s has an impossible size", entry_text(&z, e));
        cli_need_memory(c, all, "an archive");
        f(c, e->name, unpack_copy(&z, e), e->bytes, arg);
    }
}

/* Removes what NumPy takes for other files: entries whose name does not end with .npy. */
static void
keep_arrays(Zip *z)
{
    int n = 0;
    for (int i = 0; i < z->n; i++)
        if (cli_ends_with(z->entry[i].name, ".npy"))
            z->entry[n++] = z->entry[i];
    z->n = n;
}

/* The first bytes of an entry, at most *len; those of a deflated one are put into `room`. */
static const unsigned char *
unpack_head(const Zip *z, const ZipEntry *e, unsigned char *room, size_t *len)
{
    const unsigned char *local = bytes_at(z, e->at, LOCAL_BYTES);
    uint64_t skip = LOCAL_BYTES + file_number(local + 26, 2) + file_number(local + 28, 2);
    const unsigned char *from = bytes_at(z, e->at + skip, e->packed);
    if (e->method == STORED && *len > e->packed)
        *len = (size_t)e->packed;
    if (e->method == STORED)
        return from;
    z_stream s = {.next_in = (unsigned char *)from, .next_out = room, .avail_out = (uInt)*len};
    s.avail_in = e->packed < 2 * *len ? (uInt)e->packed : (uInt)(2 * *len);
    if (inflateInit2(&s, -MAX_WBITS) == Z_OK)
        inflate(&s, Z_SYNC_FLUSH);
    inflateEnd(&s);
    *len -= s.avail_out;
    return room;
}

static void
list_entry(const Zip *z, const ZipEntry *e, Listed *out)
{
    unsigned char room[NPY_HEADER_MAX];
    ravel_error err;
    FileArray a = {0};
    size_t len = sizeof room;
    const unsigned char *head = unpack_head(z, e, room, &len);
    *out = (Listed){.name = cli_stem(z->c, e->name), .dtype = "?"};
    if (npy_peek(entry_text(z, e), head, len, &a.a, &err)) {
        out->why = arena_string(z->c->arena, err.text);
        return;
    }
    const DType *t = cli_own_dtype(&a);
    out->rank = a.a.rank;
    out->dtype = t ? t->name : arena_string(z->c->arena, a.a.descr);
    memcpy(out->shape, a.a.shape, sizeof a.a.shape);
}

Listed *
cli_list_npz(Cli *c, ArrayFile *f, int *n)
{
    Zip z = {.c = c, .f = f};
    read_directory(&z);
    keep_arrays(&z);
    Listed *out = arena_array(c->arena, Listed, z.n + 1);
    for (int i = 0; i < z.n; i++)
        list_entry(&z, &z.entry[i], &out[i]);
    *n = z.n;
    return out;
}

void
cli_read_npz(Cli *c, ArrayFile *f, FileArray *out)
{
    Zip z = {.c = c, .f = f};
    read_directory(&z);
    keep_arrays(&z);
    const char **name = arena_array(c->arena, const char *, z.n + 1);
    for (int i = 0; i < z.n; i++)
        name[i] = z.entry[i].name;
    const ZipEntry *e = &z.entry[cli_pick(c, f, name, z.n)];
    out->name = cli_stem(c, e->name);
    const unsigned char *data = unpack(&z, e, cli_memory(c), &f->own);
    cli_view_npy(c, f, entry_text(&z, e), data, e->bytes, out);
}
