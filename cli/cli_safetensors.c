/* Tensors of safetensors files: 8 bytes with the length of a header in JSON, the header,
 * the data. */
#include <stdlib.h>
#include <string.h>

#include "cli_file.h"

enum { HEADER_MAX = 100000000 };   /* as the format's own library has it */

static const struct {
    const char *name, *descr;
    int bytes;
    const char *dtype;
} types[] = {
    {"F64", "f8", 8, "f64"}, {"F32", "f4", 4, "f32"}, {"F16", "f2", 2, "f16"},
    {"BF16", "V2", 2, "bf16"}, {"I64", "i8", 8, "i64"}, {"I32", "i4", 4, "i32"},
    {"I16", "i2", 2, "i16"}, {"I8", "i1", 1, "i8"}, {"U64", "u8", 8, "u64"},
    {"U32", "u4", 4, "u32"}, {"U16", "u2", 2, "u16"}, {"U8", "u1", 1, "u8"},
    {"BOOL", "b1", 1, "u8"}, {"C64", "c8", 8, "c64"}, {"F8_E4M3", "V1", 1, "u8"},
    {"F8_E5M2", "V1", 1, "u8"}, {"F8_E8M0", "V1", 1, "u8"},
};

/* A file that begins with the length of a header, and a header with a brace. */
bool
cli_is_safetensors(const ArrayFile *f)
{
    return f->len > 8 && file_number(f->data, 8) <= f->len - 8 &&
           file_number(f->data, 8) <= HEADER_MAX && f->data[8] == '{';
}

void
cli_refuse_safetensors(Cli *c, const ArrayFile *f)
{
    if (!cli_ends_with(f->path, ".safetensors") || c->o.offset)
        return;
    if (f->len <= 8)
        cli_fail(c, "'%s' has %zu bytes, and a safetensors file begins with 8 that give the "
                 "length of its header", f->path, f->len);
    uint64_t n = file_number(f->data, 8);
    if (n > f->len - 8)
        cli_fail(c, "'%s' is cut off or damaged: its header has %llu bytes, and %zu are left in "
                 "the file", f->path, (unsigned long long)n, f->len - 8);
    if (n > HEADER_MAX)
        cli_fail(c, "'%s': a header of %llu bytes: at most %d", f->path, (unsigned long long)n,
                 HEADER_MAX);
    cli_fail(c, "'%s': the header does not begin with '{'", f->path);
}

static void
read_extents(Cli *c, const ArrayFile *f, const json_t *j, const char *name, Npy *a, size_t at,
             size_t len)
{
    i64 shape[NPY_MAX_RANK];
    size_t rank = json_array_size(j);
    if (!json_is_array(j) || rank > NPY_MAX_RANK)
        cli_fail(c, "'%s': the shape of '%s' is no list of at most %d extents", f->path, name,
                 NPY_MAX_RANK);
    for (size_t i = 0; i < rank; i++) {
        const json_t *n = json_array_get(j, i);
        shape[i] = json_is_integer(n) ? json_integer_value(n) : -1;
    }
    cli_set_array(c, f, a, (int)rank, shape, at, len);
}

static void
read_type(Cli *c, const ArrayFile *f, const json_t *j, const char *name, FileArray *out)
{
    const char *s = json_is_string(j) ? json_string_value(j) : "";
    int i = 0;
    while (i < LEN(types) && strcmp(types[i].name, s))
        i++;
    if (i == LEN(types))
        cli_fail(c, "'%s': '%s' has elements of an unknown type '%.40s'", f->path, name, s);
    out->kind = types[i].name;
    out->a.bytes = types[i].bytes;
    out->dtype = types[i].dtype;
    strcpy(out->a.descr, types[i].descr);
}

/* The end of the data of a tensor, counted from the first byte of data; -1: none is given. */
static i64
end_of(const json_t *t)
{
    const json_t *end = json_array_get(json_object_get(t, "data_offsets"), 1);
    return json_is_integer(end) ? json_integer_value(end) : -1;
}

/* A file that is cut off has no good tensor: whoever wrote it was interrupted. */
static void
check_whole(Cli *c, const ArrayFile *f, const char *const *name, int n)
{
    size_t data = f->len - 8 - (size_t)file_number(f->data, 8);
    for (int i = 0; i < n; i++) {
        i64 end = end_of(json_object_get(f->json, name[i]));
        if (end > 0 && (size_t)end > data)
            cli_fail(c, "'%s' is cut off or damaged: the data of '%.100s' is not in the file, "
                     "it ends at byte %lld of the data, and there are %zu", f->path, name[i],
                     (long long)end, data);
    }
}

static void
take_tensor(Cli *c, ArrayFile *f, const char *name, FileArray *out)
{
    const json_t *t = json_object_get(f->json, name), *at = json_object_get(t, "data_offsets");
    const json_t *from = json_array_get(at, 0), *to = json_array_get(at, 1);
    size_t data = 8 + (size_t)file_number(f->data, 8);
    i64 begin = json_is_integer(from) ? json_integer_value(from) : -1;
    i64 end = json_is_integer(to) ? json_integer_value(to) : -1;
    if (begin < 0 || end < begin || (size_t)end > f->len - data)
        cli_fail(c, "'%s': the data of '%s' is not in the file", f->path, name);
    out->name = name;
    read_type(c, f, json_object_get(t, "dtype"), name, out);
    read_extents(c, f, json_object_get(t, "shape"), name, &out->a, data + (size_t)begin,
                 (size_t)(end - begin));
}

/* A text of the metadata of a tensor, or NULL. */
static const char *
metadata(Cli *c, const ArrayFile *f, const char *key, const char *name)
{
    const json_t *all = json_object_get(f->json, "__metadata__");
    return json_string_value(json_object_get(all, arena_printf(c->arena, "ravel.%s.%s", key,
                                                               name)));
}

/* The layout is a declaration: a name could mean another layout here, or a file. */
static void
read_layout(Cli *c, const ArrayFile *f, FileArray *out)
{
    out->layout = metadata(c, f, "layout", out->name);
    out->shape = metadata(c, f, "shape", out->name);
    out->element = metadata(c, f, "dtype", out->name);
    if (out->layout && *out->layout != '(')
        cli_fail(c, "'%s': ravel.layout.%.40s is '%.40s', which is no declaration, as in "
                 "(N, C){C, N}", f->path, out->name, out->layout);
}

/* What others say of the file; transformers needs its "format". */
static void
read_about(Cli *c, const ArrayFile *f, FileArray *out)
{
    const char *key;
    json_t *value, *all = json_object_get(f->json, "__metadata__");
    const char **about = arena_array(c->arena, const char *, 2 * (i64)json_object_size(all) + 1);
    int n = 0;
    out->about = about;
    json_object_foreach(all, key, value)
        if (json_is_string(value) && strncmp(key, "ravel.", strlen("ravel."))) {
            about[n++] = arena_string(c->arena, key);
            about[n++] = arena_string(c->arena, json_string_value(value));
        }
}

typedef struct {
    Cli *c;
    const FileArray *array;
} Metadata;

static void
parse_metadata(void *arg)
{
    const Metadata *m = arg;
    const FileArray *a = m->array;
    spec_ref(m->c->arena, a->layout, m->c->known);
    if (a->shape && a->shape[strspn(a->shape, "0123456789,")])
        cli_fail(m->c, "its shape is '%.60s'", a->shape);
    if (a->element && !dtype_find(a->element))
        cli_fail(m->c, "unknown dtype '%.40s'", a->element);
}

/* What is damaged there is no mistake in an option. */
static void
check_metadata(Cli *c, const ArrayFile *f, const FileArray *out)
{
    Diag d;
    if (!c->o.from && out->layout && !arena_run(c->arena, &d, parse_metadata, &(Metadata){c, out}))
        cli_fail(c, "'%s': the metadata of '%.40s' are damaged: %s; --from, --shape and --dtype "
                 "replace them", f->path, out->name, d.text);
}

/* Read the header; returns the names of the tensors. */
static const char **
read_names(Cli *c, ArrayFile *f, int *count)
{
    json_error_t e;
    const char *key;
    json_t *value;
    int n = 0;
    f->json = json_loadb((const char *)f->data + 8, (size_t)file_number(f->data, 8),
                         JSON_REJECT_DUPLICATES, &e);
    if (!json_is_object(f->json))
        cli_fail(c, "'%s': the header is not JSON: %s", f->path, e.text);
    const char **name = arena_array(c->arena, const char *,
                                    (i64)json_object_size(f->json) + 1);
    json_object_foreach(f->json, key, value)
        if (strcmp(key, "__metadata__"))
            name[n++] = key;
    check_whole(c, f, name, n);
    *count = n;
    return name;
}

static void
list_tensor(Cli *c, const ArrayFile *f, const char *name, Listed *out)
{
    const json_t *t = json_object_get(f->json, name), *shape = json_object_get(t, "shape");
    const char *kind = json_string_value(json_object_get(t, "dtype"));
    const char *dtype = metadata(c, f, "dtype", name);
    for (int i = 0; i < LEN(types) && kind && !dtype; i++)
        if (!strcmp(types[i].name, kind) && strncmp(kind, "F8", 2) && strcmp(kind, "BOOL"))
            dtype = types[i].dtype;
    *out = (Listed){.name = arena_string(c->arena, name), .dtype = dtype ? dtype : kind ? kind : "?"};
    out->layout = metadata(c, f, "layout", name);
    for (size_t i = 0; i < json_array_size(shape) && i < NPY_MAX_RANK; i++)
        out->shape[out->rank++] = json_integer_value(json_array_get(shape, i));
}

Listed *
cli_list_safetensors(Cli *c, ArrayFile *f, int *n)
{
    const char **name = read_names(c, f, n);
    Listed *out = arena_array(c->arena, Listed, *n + 1);
    for (int i = 0; i < *n; i++)
        list_tensor(c, f, name[i], &out[i]);
    return out;
}

void
cli_read_safetensors(Cli *c, ArrayFile *f, FileArray *out)
{
    int n;
    const char **name = read_names(c, f, &n);
    take_tensor(c, f, arena_string(c->arena, name[cli_pick(c, f, name, n)]), out);
    read_layout(c, f, out);
    read_about(c, f, out);
    check_metadata(c, f, out);
}

static const char *
kind_of(Cli *c, const DType *t)
{
    if (t->bits < 8)
        return "U8";
    for (int i = 0; i < LEN(types); i++)
        if (!strcmp(types[i].dtype, t->name))
            return types[i].name;
    cli_fail(c, "safetensors files have no type for %s", t->name);
}

/* Add a tensor, whose data begin at `at`, and its metadata.  False: a text is not valid
 * UTF-8. */
static bool
add_tensor(Cli *c, json_t *all, json_t *about, const SafeTensor *t, i64 at)
{
    const Layout *l = t->l;
    bool ok = true;
    const char *shape = cli_tuple(c->arena, t->shape, t->rank);
    shape = arena_printf(c->arena, "%.*s", (int)strlen(shape) - 2, shape + 1);
    const char *const texts[][2] = {{"layout", layout_whole_text(c->arena, l->ref)},
                                    {"shape", shape}, {"dtype", l->dtype->name}};
    for (int i = 0; i < LEN(texts); i++)
        ok = !json_object_set_new(about, arena_printf(c->arena, "ravel.%s.%s", texts[i][0],
                                                      t->name),
                                  json_string(texts[i][1])) && ok;
    json_t *tensor = json_pack("{s:s, s:o, s:[I, I]}", "dtype",
        t->kind, "shape", cli_json_numbers(t->stored, t->nstored),
        "data_offsets", (json_int_t)at, (json_int_t)(at + t->bytes));
    return !json_object_set_new(all, t->name, tensor) && ok;
}

/* NULL: a text is not valid UTF-8. */
static json_t *
header(Cli *c, const SafeTensor *t, int n)
{
    json_t *about = json_object(), *all = json_object();
    i64 at = 0;
    bool ok = !json_object_set_new(all, "__metadata__", about);
    for (const char *const *a = t->about; a && *a && ok; a += 2)
        ok = !json_object_set_new(about, a[0], json_string(a[1]));
    for (int i = 0; i < n && ok; i++) {
        ok = add_tensor(c, all, about, &t[i], at);
        at += t[i].bytes;
    }
    if (ok)
        return all;
    json_decref(all);
    return NULL;
}

/* The tensors with their types.  What is wrong is found before there is JSON to be freed. */
static const SafeTensor *
checked(Cli *c, const SafeTensor *t, int n)
{
    SafeTensor *out = arena_array(c->arena, SafeTensor, n);
    i64 all = 0;
    for (int i = 0; i < n; i++) {
        out[i] = t[i];
        out[i].kind = t[i].kind ? t[i].kind : kind_of(c, t[i].l->dtype);
        if (!strcmp(t[i].name, "__metadata__"))
            cli_fail(c, "no tensor of a safetensors file can have the name '%s'", t[i].name);
        if (!int_add(all, t[i].bytes, &all))
            cli_fail(c, "the tensors of '%s' do not fit 64 bits", c->o.arg[1]);
    }
    return out;
}

const char *
cli_safetensors_head(Cli *c, const SafeTensor *t, int n, size_t *len)
{
    enum { ALIGN = 8 };
    Buf b = buf_new(c->arena);
    json_t *j = header(c, checked(c, t, n), n);
    char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    if (!text)
        cli_fail(c, "the name '%.40s' or the layout is not valid UTF-8", t->name);
    buf_printf(&b, "%*s%s", ALIGN, "", text);
    free(text);
    while (b.len % ALIGN)
        buf_add(&b, " ");
    for (int i = 0; i < ALIGN; i++)
        b.s[i] = (char)((b.len - ALIGN) >> 8 * i & 0xff);
    *len = b.len;
    return b.s;
}
