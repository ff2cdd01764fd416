/* Files of sparse formats: Matrix Market, .npz as SciPy writes it or with an array for each
 * pos, crd and val, and a folder with a .npy for each. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_file.h"
#include "cli_sparse.h"

static bool
is_folder(const char *path)
{
    struct stat st;
    return cli_ends_with(path, "/") || (!stat(path, &st) && S_ISDIR(st.st_mode));
}

/* The shape, or the name of the format: NumPy's text types have no Npy. */
static bool
take_text(Cli *c, SparseFile *f, const char *name, const unsigned char *data, size_t len)
{
    if (strcmp(name, "format") || len < 12)
        return false;
    char *text = arena_alloc(c->arena, 5);     /* |S3: 3 bytes; <U3: 12 */
    size_t wide = memmem(data, len, "<U3", 3) ? 4 : 1;
    for (size_t i = 0; i < 3 && len >= 3 * wide; i++)
        text[i] = (char)data[len - 3 * wide + i * wide];
    f->format = text;
    return true;
}

static void
take_shape(Cli *c, SparseFile *f, const SparseMember *m)
{
    if (m->bytes != 8 || *m->descr != 'i' || m->rank != 1 || m->count > MAX_RANK)
        cli_fail(c, "'%s': shape is no list of 64-bit integers", f->path);
    f->rank = (int)m->count;
    memcpy(f->shape, m->data, (size_t)m->count * sizeof *f->shape);
    for (int d = 0; d < f->rank; d++)
        if (f->shape[d] < 0)
            cli_fail(c, "'%s': the shape has the extent %lld", f->path, (long long)f->shape[d]);
}

/* Add the array in a .npy file; `data` is malloc'ed, and freed. */
static void
take_npy(Cli *c, const char *name, unsigned char *data, size_t len, void *arg)
{
    SparseFile *f = arg;
    ravel_error err;
    Npy a;
    if (cli_ends_with(name, ".npy"))
        name = arena_printf(c->arena, "%.*s", (int)(strlen(name) - 4), name);
    bool text = take_text(c, f, name, data, len), full = f->n == SPARSE_MEMBERS;
    if (text || full)
        free(data);
    if (text)
        return;
    if (full)
        cli_fail(c, "'%s' has more than %d arrays", f->path, SPARSE_MEMBERS);
    cli_check(c, npy_decode(arena_printf(c->arena, "%s: %s", f->path, name), data, len, &a, &err),
              &err);
    SparseMember *m = &f->member[f->n];
    int rank = a.rank <= MAX_RANK ? a.rank : 0;
    *m = (SparseMember){.name = name, .descr = arena_string(c->arena, a.descr),
                        .bytes = a.bytes, .rank = rank, .count = a.count};
    memcpy(m->shape, a.shape, (size_t)rank * sizeof *m->shape);
    m->data = arena_copy(c->arena, a.data, (size_t)a.count * (size_t)a.bytes);
    npy_free(&a);
    if (strcmp(name, "shape"))
        f->n++;
    else
        take_shape(c, f, m);
}

/* The arrays that a folder may have. */
static void
read_folder(Cli *c, const char *path, SparseFile *f)
{
    ravel_error err;
    unsigned char *data;
    size_t len;
    for (int k = 0; k <= MAX_LEVELS; k++)
        for (int kind = 0; kind < 2; kind++) {
            const char *name = k ? arena_printf(c->arena, "%s%d", kind ? "crd" : "pos", k)
                                 : kind ? "val" : "shape";
            const char *file = arena_printf(c->arena, "%s/%s.npy", path, name);
            if (access(file, F_OK))
                continue;
            cli_check(c, file_read(file, SIZE_MAX / 4, &data, &len, &err), &err);
            take_npy(c, name, data, len, f);
        }
    if (f->n == 0)
        cli_fail(c, "'%s' has no pos1.npy, crd1.npy, ..., val.npy", path);
}

void
sparse_file_read(Cli *c, const char *path, SparseFile *f)
{
    ravel_error err;
    unsigned char *data;
    size_t len;
    *f = (SparseFile){.path = path};
    if (is_folder(path)) {
        read_folder(c, path, f);
        return;
    }
    cli_check(c, file_read(path, SIZE_MAX / 4, &data, &len, &err), &err);
    const unsigned char *copy = arena_copy(c->arena, data, len + 1);
    free(data);
    bool text = cli_ends_with(path, ".mtx");
    if (text && memchr(copy, 0, len))
        cli_fail(c, "'%s' is no text: it has a NUL byte at %zu", path,
                 (size_t)((const unsigned char *)memchr(copy, 0, len) - copy));
    if (text)
        matrix_market_read(c, path, (const char *)copy, f);
    else if (!cli_is_npz(&(ArrayFile){.path = path, .data = copy, .len = len}))
        cli_fail(c, "'%s': a sparse format has several arrays: IN is an .npz, an .mtx or a folder", path);
    else
        zip_read(c, path, copy, len, take_npy, f);
}

/* The two parts of a .npy file. */
static void
npy_parts(Cli *c, const SparseMember *m, FilePart part[2])
{
    unsigned char *head = arena_alloc(c->arena, NPY_HEADER_MAX);
    const NpyType *type = npy_type(m->descr, strlen(m->descr));
    part[0] = (FilePart){head, npy_header_write(head, type, m->rank, m->shape)};
    part[1] = (FilePart){m->data, (size_t)m->count * (size_t)m->bytes};
}

/* NumPy's array(b'csr'). */
static void
format_parts(Cli *c, const char *format, FilePart part[2])
{
    enum { HEAD = 128 };
    char *head = arena_alloc(c->arena, HEAD + 1);
    memset(head, ' ', HEAD);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    static const char text[] = "{'descr': '|S3', 'fortran_order': False, 'shape': (), }";
    memcpy(head + 10, text, strlen(text));
    head[HEAD - 1] = '\n';
    part[0] = (FilePart){head, HEAD};
    part[1] = (FilePart){format, 3};
}

static SparseMember
shape_member(Cli *c, const SparseFile *f)
{
    return (SparseMember){.name = "shape", .descr = "i8", .bytes = 8, .rank = 1,
                          .shape = {f->rank}, .count = f->rank,
                          .data = arena_copy(c->arena, f->shape, sizeof f->shape)};
}

static void
write_zip(Cli *c, const char *path, const SparseFile *f)
{
    ZipPart part[SPARSE_MEMBERS + 2];
    int n = 0;
    for (int i = 0; i < f->n; i++, n++) {
        part[n].name = arena_printf(c->arena, "%s.npy", f->member[i].name);
        npy_parts(c, &f->member[i], part[n].part);
    }
    SparseMember shape = shape_member(c, f);
    part[n].name = "shape.npy";
    npy_parts(c, &shape, part[n++].part);
    if (f->format) {
        part[n].name = "format.npy";
        format_parts(c, f->format, part[n++].part);
    }
    zip_write(c, path, part, n);
}

static const char *
member_path(Cli *c, const char *folder, const SparseMember *m)
{
    return arena_printf(c->arena, "%s/%s.npy", folder, m->name);
}

/* Write the files to the new folder `part`, and rename it; or remove it.  Sets *why to errno
 * if renaming fails. */
static bool
fill_folder(Cli *c, const char *part, const char *to, const SparseFile *f, int *why,
            ravel_status *s, ravel_error *err)
{
    for (int i = 0; i <= f->n && !*s; i++) {
        SparseMember m = i < f->n ? f->member[i] : shape_member(c, f);
        FilePart parts[2];
        npy_parts(c, &m, parts);
        *s = file_write(member_path(c, part, &m), parts, 2, err);
    }
    if (!*s && !rename(part, to))
        return true;
    *why = errno;
    for (int i = 0; i <= f->n; i++) {
        SparseMember m = i < f->n ? f->member[i] : shape_member(c, f);
        unlink(member_path(c, part, &m));
    }
    rmdir(part);
    return false;
}

/* The signal that came while a folder was written.  Not by a mask: it may come to any
 * thread. */
static volatile sig_atomic_t ended_by;

static void
note_end(int sig)
{
    ended_by = sig;
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

/* Write a folder.  A signal that ends the command waits until it is complete. */
static void
write_folder(Cli *c, const char *path, const SparseFile *f)
{
    char *to = arena_string(c->arena, path), *end = to + strlen(to);
    while (end > to + 1 && end[-1] == '/')
        *--end = 0;
    const char *part = arena_printf(c->arena, "%s.part", to);
    ravel_error err;
    ravel_status s = RAVEL_OK;
    struct sigaction wait = {.sa_handler = note_end, .sa_flags = SA_RESTART};
    struct sigaction before[LEN(ends)];
    int why = 0;
    if (!access(to, F_OK))
        cli_fail(c, "'%s' exists: a folder is written anew", to);
    for (int i = 0; i < LEN(ends); i++)
        sigaction(ends[i], &wait, &before[i]);
    bool made = !mkdir(part, 0777);
    why = errno;
    bool done = made && fill_folder(c, part, to, f, &why, &s, &err);
    for (int i = 0; i < LEN(ends); i++)
        sigaction(ends[i], &before[i], NULL);
    if (ended_by)
        raise(ended_by);
    cli_check(c, s, &err);
    if (!done)
        cli_fail(c, "'%s': %s", made ? to : part, strerror(why));
}

void
sparse_file_write(Cli *c, const char *path, const SparseFile *f)
{
    if (cli_ends_with(path, ".mtx"))
        matrix_market_write(c, path, f);
    else if (cli_ends_with(path, ".npz"))
        write_zip(c, path, f);
    else
        write_folder(c, path, f);
}

void
sparse_file_check(Cli *c, const char *in, const char *out, bool sparse)
{
    if (!strcmp(in, "-") || (!strcmp(out, "-") && sparse))
        cli_fail(c, "the name -: the arrays of a sparse format are in a file .npz or .mtx, or "
                 "in a folder");
    bool one = cli_ends_with(out, ".npy"), tensors = cli_ends_with(out, ".safetensors");
    if (sparse && (one || tensors))
        cli_fail(c, "'%s': a sparse format has several arrays: OUT is an .npz, an .mtx or a "
                 "folder", out);
    if (!sparse && (tensors || cli_ends_with(out, ".npz")))
        cli_fail(c, "'%s': a layout made of a sparse format is written as .npy, or as raw data",
                 out);
}
