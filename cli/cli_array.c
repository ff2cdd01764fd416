/* What readers of files with arrays share: an array is chosen by its name, and its data are found;
 * formats that are not read. */
#define _GNU_SOURCE
#include "cli_file.h"

#include <fnmatch.h>
#include <string.h>

/* Formats of others, by the ends of names: an array is not written under such a name. */
static const char *const foreign[][2] = {
    {".pt", "PyTorch"}, {".pth", "PyTorch"}, {".h5", "HDF5"}, {".hdf5", "HDF5"},
    {".gguf", "GGUF"}, {".onnx", "ONNX"}, {".mat", "MATLAB"}, {".csv", "CSV"},
    {".txt", "text"},
    {".parquet", "Parquet"}, {".pkl", "pickle"}, {".png", "PNG"}, {".tif", "TIFF"},
    {".jpg", "JPEG"}, {".pdf", "PDF"},
};

const char *
foreign_format(const char *path)
{
    for (int i = 0; i < LEN(foreign); i++)
        if (cli_ends_with(path, foreign[i][0]))
            return foreign[i][1];
    return NULL;
}

void
refuse_foreign(Cli *c, const char *path)
{
    const char *name = foreign_format(path);
    if (name && !strcmp(name, "GGUF"))
        cli_fail(c, "'%s' is empty or damaged: it does not begin with GGUF", path);
    if (name)
        cli_fail(c, "'%s': files of %s are not read; save the array as .npy, .npz or .safetensors",
                 path, name);
}

const char *
cli_stem(Cli *c, const char *name)
{
    return arena_printf(c->arena, "%.*s", (int)strlen(name) - (cli_ends_with(name, ".npy") ? 4 : 0),
                        name);
}

const char *
cli_array_text(Cli *c, const FileArray *a)
{
    return a->name ? arena_printf(c->arena, "'%.100s' of '%s'", a->name, c->o.arg[0])
                   : arena_printf(c->arena, "'%s'", c->o.arg[0]);
}

/* "a, b, c and 7 more" */
static const char *
some_names(Cli *c, const char *const *name, int n)
{
    enum { SOME = 6 };
    Buf b = buf_new(c->arena);
    for (int i = 0; i < n && i < SOME; i++)
        buf_printf(&b, "%s%.100s", i ? ", " : "", cli_stem(c, name[i]));
    if (n > SOME)
        buf_printf(&b, " and %d more", n - SOME);
    return b.s;
}

/* Whether an array of an archive has this name, with or without .npy. */
static bool
is_named(const char *name, const char *wanted)
{
    size_t n = strlen(wanted);
    return !strncmp(name, wanted, n) && (!name[n] || !strcmp(name + n, ".npy"));
}

/* Whether a name matches the pattern, with or without .npy.  !(a|b) matches all but a and b. */
static bool
matches(Cli *c, const char *name, const char *pattern)
{
    const char *stem = cli_stem(c, name);
    bool whole = !fnmatch(pattern, name, FNM_EXTMATCH);
    bool bare = !fnmatch(pattern, stem, FNM_EXTMATCH);
    return strstr(pattern, "!(") ? whole && bare : whole || bare;
}

/* The first array whose name matches the pattern --tensor; -1: there is none. */
static int
first_like(Cli *c, ArrayFile *f, const char *const *name, int n)
{
    const char **like = arena_array(c->arena, const char *, n + 1);
    int all = 0, first = -1;
    for (int i = 0; i < n; i++)
        if (matches(c, name[i], c->o.tensor)) {
            first = all ? first : i;
            like[all++] = arena_string(c->arena, name[i]);
        }
    if (all > 1 && !f->many)
        cli_fail(c, "'%s' has %d arrays like '%s', and OUT has room for one: name a .safetensors "
                 "or .npz file: %s", f->path, all, c->o.tensor, some_names(c, like, all));
    f->like = like;
    f->nlike = all;
    return first;
}

int
cli_pick(Cli *c, ArrayFile *f, const char *const *name, int n)
{
    if (n == 0)
        refuse_foreign(c, f->path);
    if (n == 0)
        cli_fail(c, "'%s' has no arrays", f->path);
    if (!c->o.tensor && n == 1)
        return 0;
    if (!c->o.tensor)
        cli_fail(c, "'%s' has %d arrays: choose one with --tensor: %s", f->path, n,
                 some_names(c, name, n));
    for (int i = 0; i < n; i++)
        if (is_named(name[i], c->o.tensor))
            return i;
    int like = first_like(c, f, name, n);
    if (like >= 0)
        return like;
    const char **all = arena_array(c->arena, const char *, n + 1);
    for (int i = 0; i < n; i++)
        all[i] = cli_stem(c, name[i]);
    all[n] = NULL;
    const char *near = diag_nearest(c->o.tensor, all);
    cli_fail(c, "'%s' has no array '%s'; it has %s%s%s%s", f->path, c->o.tensor,
             some_names(c, name, n), near ? "; did you mean '" : "", near ? near : "",
             near ? "'?" : "");
}

unsigned char *
cli_file_bytes(const ArrayFile *f, size_t at)
{
    return (unsigned char *)(uintptr_t)(f->data + at);
}

void
cli_set_array(Cli *c, const ArrayFile *f, Npy *a, int rank, const i64 *shape, size_t at,
              size_t len)
{
    i64 bytes = a->bytes;
    if (rank > NPY_MAX_RANK)
        cli_fail(c, "'%s': an array of %d dims: at most %d", f->path, rank, NPY_MAX_RANK);
    for (int i = 0; i < rank; i++) {
        a->shape[i] = shape[i];
        if (shape[i] < 0 || !int_mul(bytes, shape[i], &bytes))
            cli_fail(c, "'%s': an array with an extent of %lld does not fit", f->path,
                     (long long)shape[i]);
    }
    a->rank = rank;
    a->count = bytes / a->bytes;
    if ((size_t)bytes != len)
        cli_fail(c, "'%s': an array of shape %s needs %lld bytes and has %zu", f->path,
                 cli_tuple(c->arena, shape, rank), (long long)bytes, len);
    a->data = cli_file_bytes(f, at);
}

i64
cli_file_copied(const ArrayFile *f)
{
    return (f->own.mapped ? 0 : (i64)f->own.len) + (f->view.mapped ? 0 : (i64)f->len);
}

/* Write the array, which has this form, to room of its own. */
static void
settle(Cli *c, ArrayFile *f, FileArray *out, const NpyForm *form)
{
    FileView room;
    ravel_error err;
    size_t bytes = (size_t)out->a.count * (size_t)out->a.bytes;
    i64 left = cli_memory(c) - cli_file_copied(f);         /* what was unpacked is there too */
    cli_check(c, file_room(bytes, left > 0 ? (size_t)left : 0, &room, &err), &err);
    npy_settle(&out->a, form, room.data);
    file_view_free(&f->own);
    f->own = room;
    out->a.data = room.data;
    out->fortran = false;
}

void
cli_settle(Cli *c, ArrayFile *f, FileArray *out)
{
    settle(c, f, out, &(NpyForm){.fortran = true});
}

void
cli_view_npy(Cli *c, ArrayFile *f, const char *path, const unsigned char *data, size_t len,
             FileArray *out)
{
    NpyForm form;
    ravel_error err;
    cli_check(c, npy_view(path, data, len, &out->a, &form, &err), &err);
    out->fortran = form.fortran;
    if (form.swap)
        settle(c, f, out, &form);
}
