/* convert: what is written to OUT, in the format that its name says. */
#include <string.h>

#include "../compiler/compile.h"
#include "cli_convert.h"
#include "cli_whole.h"

/* In an archive: NAME.npy; as NumPy calls an array without a name. */
static const char *
array_name(Cli *c, const Source *s)
{
    const char *name = s->from.name ? s->from.name : "arr_0";
    int n = (int)strnlen(name, ARRAY_NAME_MOST) - (cli_ends_with(name, ".npy") ? 4 : 0);
    return arena_printf(c->arena, "%.*s.npy", n, name);
}

/* What stands before the data in the file OUT. */
typedef enum { OUT_RAW, OUT_NPY, OUT_NPZ, OUT_SAFETENSORS } OutKind;

static OutKind
out_kind(const Cli *c, const Source *s)
{
    const char *out = c->o.arg[1];
    return cli_ends_with(out, ".npz") ? OUT_NPZ
           : cli_ends_with(out, ".safetensors") ? OUT_SAFETENSORS
           : cli_ends_with(out, ".npy") || (s->from.typed && !strcmp(out, "-")) ? OUT_NPY
           : OUT_RAW;
}

void
out_check(Cli *c)
{
    const char *name = foreign_format(c->o.arg[1]);
    if (name)
        cli_fail(c, "'%s': files of %s are not written; name a .npy, .npz or .safetensors file, or, for "
                 "the bytes alone, a .bin", c->o.arg[1], name);
}

bool
out_has_many(const Cli *c)
{
    return cli_ends_with(c->o.arg[1], ".npz") || cli_ends_with(c->o.arg[1], ".safetensors");
}

bool
out_has_place(const Cli *c, const Source *s)
{
    return !s->several && file_is_seekable(c->o.arg[1]) && out_kind(c, s) != OUT_NPZ;
}

/* The elements of OUT, as NumPy names their type. */
static const char *
out_descr(const Source *s, const Layout *l, int *bytes)
{
    *bytes = l->dtype->bits < 8 ? 1 : l->dtype->bits / 8;
    return s->from.typed ? s->from.a.descr : l->dtype->npy;
}

/* The extents of what is stored. */
static int
stored_of(const Result *r, i64 *extent)
{
    const EmptyResult *e = r->s->empty;
    if (!e)
        return sides_stored(r->l, extent);
    memcpy(extent, e->stored.extent, (size_t)e->stored.rank * sizeof *extent);
    return e->stored.rank;
}

static i64
bytes_of(const Result *r)
{
    return r->s->empty ? r->s->empty->bytes : layout_bytes(r->l);
}

static const void *
safetensors_head(Cli *c, const Result *r, int n, size_t *len)
{
    SafeTensor *t = arena_array(c->arena, SafeTensor, n);
    for (int i = 0; i < n; i++) {
        const Source *s = r[i].s;
        t[i] = (SafeTensor){.l = r[i].l, .name = s->from.name ? s->from.name : "tensor",
                            .kind = s->from.kind, .about = s->from.about, .rank = r[i].l->rank,
                            .shape = s->empty ? s->empty->shape : cli_shape(c->arena, r[i].l),
                            .bytes = bytes_of(&r[i])};
        t[i].nstored = stored_of(&r[i], t[i].stored);
    }
    return cli_safetensors_head(c, t, n, len);
}

const void *
out_head(Cli *c, const Result *r, int n, size_t *len)
{
    NpyHead *head = arena_new(c->arena, NpyHead);
    ravel_error err;
    i64 shape[MAX_ENTRIES];
    int rank = stored_of(r, shape), bytes;
    const char *descr = out_descr(r->s, r->l, &bytes);
    if (out_kind(c, r->s) == OUT_SAFETENSORS)
        return safetensors_head(c, r, n, len);
    if (out_kind(c, r->s) == OUT_NPY)
        cli_check(c, npy_head(c->o.arg[1], descr, bytes, rank, shape, head, &err), &err);
    *len = head->len;
    return head->text;
}

static void
write_npz(Cli *c, const Result *r, int n)
{
    NpzArray *a = arena_array(c->arena, NpzArray, n);
    for (int i = 0; i < n; i++) {
        a[i] = (NpzArray){.name = array_name(c, r[i].s), .data = r[i].data};
        a[i].rank = stored_of(&r[i], a[i].shape);
        a[i].descr = out_descr(r[i].s, r[i].l, &a[i].bytes);
    }
    cli_write_npz(c, c->o.arg[1], a, n);
}

void
out_write(Cli *c, const Result *r, int n)
{
    ravel_error err;
    if (out_kind(c, r->s) == OUT_NPZ) {
        write_npz(c, r, n);
        return;
    }
    FilePart *part = arena_array(c->arena, FilePart, n + 1);
    part[0].data = out_head(c, r, n, &part[0].len);
    for (int i = 0; i < n; i++)
        part[i + 1] = (FilePart){r[i].data, (size_t)bytes_of(&r[i])};
    cli_check(c, cli_write_whole(c->o.arg[1], part, n + 1, &err), &err);
}
