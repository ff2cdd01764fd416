/* Tensors of GGUF files, version 2 and 3, whose types are not quantised. */
#include <string.h>

#include "cli_file.h"

enum { DIMS_MAX = 4, TENSORS_MAX = 1 << 20, TENSOR_LEAST = 24, STRING = 8, ARRAY = 9 };

/* A type of ggml, and what it is for .npy and ravel. */
static const struct {
    uint32_t code;
    const char *descr;
    int bytes;
    const char *dtype;
} types[] = {
    {0, "f4", 4, "f32"}, {1, "f2", 2, "f16"}, {24, "i1", 1, "i8"}, {25, "i2", 2, "i16"},
    {26, "i4", 4, "i32"}, {27, "i8", 8, "i64"}, {28, "f8", 8, "f64"}, {30, "V2", 2, "bf16"},
};

typedef struct {
    const char *name;
    int rank;
    i64 shape[DIMS_MAX];           /* the last one varies fastest */
    uint32_t type;
    uint64_t at;
} Tensor;

/* A reader that does not pass the end of the file. */
typedef struct {
    Cli *c;
    const ArrayFile *f;
    size_t at;
} GgufReader;

bool
cli_is_gguf(const ArrayFile *f)
{
    return f->len >= 4 && !memcmp(f->data, "GGUF", 4);
}

static const unsigned char *
next(GgufReader *r, uint64_t len)
{
    if (len > r->f->len - r->at)
        cli_fail(r->c, "'%s' ends early", r->f->path);
    r->at += (size_t)len;
    return r->f->data + r->at - len;
}

static uint64_t
number(GgufReader *r, int bytes)
{
    return file_number(next(r, (uint64_t)bytes), bytes);
}

static const char *
string(GgufReader *r)
{
    uint64_t n = number(r, 8);
    const unsigned char *s = next(r, n);
    return arena_printf(r->c->arena, "%.*s", n < 1 << 16 ? (int)n : 1 << 16, (const char *)s);
}

/* Bytes of a value of a type of metadata; 0 for strings and arrays. */
static int
value_bytes(GgufReader *r, uint64_t type)
{
    static const int bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type >= LEN(bytes))
        cli_fail(r->c, "'%s': metadata of an unknown type %llu", r->f->path,
                 (unsigned long long)type);
    return bytes[type];
}

static void
skip_value(GgufReader *r, uint64_t type)
{
    uint64_t n = 1;
    if (type == ARRAY) {
        type = number(r, 4);
        n = number(r, 8);
    }
    uint64_t bytes = (uint64_t)value_bytes(r, type);
    if (type == ARRAY)
        cli_fail(r->c, "'%s': metadata with arrays of arrays", r->f->path);
    if (type != STRING && n > r->f->len)
        cli_fail(r->c, "'%s' ends early", r->f->path);
    if (type != STRING)
        next(r, n * bytes);
    else
        for (uint64_t i = 0; i < n; i++)
            next(r, number(r, 8));
}

/* Skip the metadata; returns the alignment of tensors that it gives. */
static uint64_t
read_alignment(GgufReader *r, uint64_t n)
{
    uint64_t align = 32;
    for (uint64_t i = 0; i < n; i++) {
        const char *key = string(r);
        uint64_t type = number(r, 4);
        if (!strcmp(key, "general.alignment") && type == 4)
            align = number(r, 4);
        else
            skip_value(r, type);
    }
    if (align == 0 || align & (align - 1))
        cli_fail(r->c, "'%s': an alignment of %llu", r->f->path, (unsigned long long)align);
    return align;
}

static void
read_tensor(GgufReader *r, Tensor *t)
{
    t->name = string(r);
    uint64_t rank = number(r, 4);
    if (rank > DIMS_MAX)
        cli_fail(r->c, "'%s': '%s' has %llu dims: at most %d", r->f->path, t->name,
                 (unsigned long long)rank, DIMS_MAX);
    t->rank = (int)rank;
    for (int i = t->rank - 1; i >= 0; i--)
        t->shape[i] = (i64)number(r, 8);
    t->type = (uint32_t)number(r, 4);
    t->at = number(r, 8);
}

static void
take_tensor(GgufReader *r, ArrayFile *f, const Tensor *t, FileArray *out)
{
    int i = 0;
    while (i < LEN(types) && types[i].code != t->type)
        i++;
    if (i == LEN(types))
        cli_fail(r->c, "'%s': '%s' is quantised (type %u of ggml): only tensors of whole "
                 "numbers and floats are read", f->path, t->name, t->type);
    i64 bytes = types[i].bytes;
    for (int d = 0; d < t->rank; d++)
        if (t->shape[d] < 0 || !int_mul(bytes, t->shape[d], &bytes))
            cli_fail(r->c, "'%s': the size of '%s' does not fit", f->path, t->name);
    if (t->at > f->len - r->at)
        cli_fail(r->c, "'%s' ends before '%s'", f->path, t->name);
    r->at += (size_t)t->at;
    next(r, (uint64_t)bytes);
    out->name = t->name;
    out->dtype = types[i].dtype;
    out->a.bytes = types[i].bytes;
    strcpy(out->a.descr, types[i].descr);
    cli_set_array(r->c, f, &out->a, t->rank, t->shape, r->at - (size_t)bytes, (size_t)bytes);
}

/* Read what stands before the data; returns the tensors. */
static Tensor *
read_tensors(GgufReader *r, const ArrayFile *f, int *count, uint64_t *align)
{
    Cli *c = r->c;
    uint64_t version = number(r, 4);
    if (version != 2 && version != 3)
        cli_fail(c, "'%s' is GGUF of version %llu: 2 and 3 are read", f->path,
                 (unsigned long long)version);
    uint64_t n = number(r, 8), keys = number(r, 8);
    if (n > TENSORS_MAX || n > f->len / TENSOR_LEAST)
        cli_fail(c, "'%s' has more than %d tensors, or ends early", f->path, TENSORS_MAX);
    *align = read_alignment(r, keys);
    Tensor *t = arena_array(c->arena, Tensor, (i64)n);
    for (uint64_t i = 0; i < n; i++)
        read_tensor(r, &t[i]);
    *count = (int)n;
    return t;
}

static const char *
type_name(Cli *c, uint32_t type)
{
    for (int i = 0; i < LEN(types); i++)
        if (types[i].code == type)
            return types[i].dtype;
    return arena_printf(c->arena, "ggml-type-%u", type);
}

Listed *
cli_list_gguf(Cli *c, ArrayFile *f, int *n)
{
    uint64_t align;
    GgufReader r = {c, f, 4};
    const Tensor *t = read_tensors(&r, f, n, &align);
    Listed *out = arena_array(c->arena, Listed, *n + 1);
    for (int i = 0; i < *n; i++) {
        out[i] = (Listed){.name = t[i].name, .dtype = type_name(c, t[i].type), .rank = t[i].rank};
        memcpy(out[i].shape, t[i].shape, sizeof t[i].shape);
    }
    return out;
}

void
cli_read_gguf(Cli *c, ArrayFile *f, FileArray *out)
{
    int n;
    uint64_t align;
    GgufReader r = {c, f, 4};
    const Tensor *t = read_tensors(&r, f, &n, &align);
    const char **name = arena_array(c->arena, const char *, n + 1);
    for (int i = 0; i < n; i++)
        name[i] = t[i].name;
    const Tensor *one = &t[cli_pick(c, f, name, n)];
    next(&r, -(uint64_t)r.at & (align - 1));
    take_tensor(&r, f, one, out);
}
