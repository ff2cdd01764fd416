/* Arrays in files: the formats. */
#include "cli_file.h"

#include <string.h>

static bool
is_npy(const ArrayFile *f)
{
    size_t n = strlen(f->path);
    return npy_is(f->data, f->len) || (n > 4 && !strcmp(f->path + n - 4, ".npy"));
}

static void
read_npy(Cli *c, ArrayFile *f, FileArray *out)
{
    cli_view_npy(c, f, f->path, f->data, f->len, out);
}

static const struct {
    bool (*is)(const ArrayFile *);
    void (*read)(Cli *, ArrayFile *, FileArray *);
    bool many;                     /* a file has several arrays */
} formats[] = {
    {is_npy, read_npy, false},
    {cli_is_npz, cli_read_npz, true},
    {cli_is_gguf, cli_read_gguf, true},
    {cli_is_safetensors, cli_read_safetensors, true},
};

static void
read_raw(Cli *c, ArrayFile *f, FileArray *out)
{
    i64 at = cli_number_from(c, "--offset", c->o.offset, 0, 0, INT64_MAX);
    if ((uint64_t)at > f->len)
        cli_fail(c, "--offset %lld: '%s' has %zu bytes", (long long)at, f->path, f->len);
    out->a = (Npy){.count = (i64)(f->len - (size_t)at), .bytes = 1};
    out->a.data = cli_file_bytes(f, (size_t)at);
}

void
cli_read_array(Cli *c, ArrayFile *f, FileArray *out)
{
    ravel_error err;
    if (!f->data)
        cli_check(c, file_view(c->o.arg[0], (size_t)cli_memory(c), &f->view, &err), &err);
    f->path = c->o.arg[0];
    f->data = f->view.data;
    f->len = f->view.len;
    for (int i = 0; i < LEN(formats); i++) {
        if (!formats[i].is(f))
            continue;
        if (c->o.offset)
            cli_fail(c, "--offset is for raw data, and '%s' says where its arrays are",
                     f->path);
        if (c->o.tensor && !formats[i].many)
            cli_fail(c, "--tensor: '%s' has one array, without a name", f->path);
        out->typed = true;
        formats[i].read(c, f, out);
        return;
    }
    cli_refuse_safetensors(c, f);
    if (c->o.tensor)
        cli_fail(c, "--tensor: '%s' is neither .npz nor safetensors nor GGUF", f->path);
    read_raw(c, f, out);
}

void
cli_file_free(ArrayFile *f)
{
    if (!f->borrowed)
        file_view_free(&f->view);
    file_view_free(&f->own);
    json_decref(f->json);
    *f = (ArrayFile){0};
}
