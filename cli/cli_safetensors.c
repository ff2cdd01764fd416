/* Tensors of safetensors files: 8 bytes with the length of a header in JSON, the header,
 * the data. */
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
    out->a.bytes = types[i].bytes;
    out->dtype = types[i].dtype;
    strcpy(out->a.descr, types[i].descr);
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

void
cli_read_safetensors(Cli *c, ArrayFile *f, FileArray *out)
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
    take_tensor(c, f, arena_string(c->arena, name[cli_pick(c, f, name, n)]), out);
}
