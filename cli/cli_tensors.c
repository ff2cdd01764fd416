/* list FILE: the arrays of a file by name, from its headers alone. */
#include <stdio.h>
#include <string.h>

#include "cli_file.h"

static const struct {
    const char *end;
    bool (*is)(const ArrayFile *);
    Listed *(*list)(Cli *, ArrayFile *, int *);
} formats[] = {
    {".npz", cli_is_npz, cli_list_npz},
    {".safetensors", cli_is_safetensors, cli_list_safetensors},
    {".gguf", cli_is_gguf, cli_list_gguf},
};

bool
cli_is_tensors(const char *word)
{
    for (int i = 0; i < LEN(formats); i++)
        if (cli_ends_with(word, formats[i].end))
            return true;
    return false;
}

/* A name in one line. */
static const char *
name_text(Cli *c, const char *name)
{
    Buf b = buf_new(c->arena);
    for (; *name; name++)
        if (*name == '\n' || *name == '\t')
            buf_printf(&b, "\\u%04x", (unsigned)*name);
        else
            buf_printf(&b, "%c", *name);
    return b.s ? b.s : "";
}

static const char *
shape_text(Cli *c, const Listed *t)
{
    Buf b = buf_new(c->arena);
    if (t->why)
        return t->why;
    for (int i = 0; i < t->rank; i++)
        buf_printf(&b, "%s%lld", i ? "," : "", (long long)t->shape[i]);
    return t->rank ? b.s : "()";
}

static void
print_json(const Listed *t, int n)
{
    json_t *all = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:s*, s:s*}", "name", t[i].name,
            "dtype", t[i].dtype, "shape", t[i].why ? json_null() : cli_json_numbers(t[i].shape, t[i].rank),
            "layout", t[i].layout, "why", t[i].why));
    cli_print_json(all);
}

static void
print_text(Cli *c, const Listed *t, int n)
{
    enum { WIDEST = 48 };
    int wide = 0;
    const char **name = arena_array(c->arena, const char *, n + 1);
    for (int i = 0; i < n; i++) {
        name[i] = name_text(c, t[i].name);
        wide = (int)strlen(name[i]) > wide ? (int)strlen(name[i]) : wide;
    }
    for (int i = 0; i < n; i++)
        printf("%-*s %-4s %s%s%s\n", wide < WIDEST ? wide : WIDEST, name[i], t[i].dtype,
               shape_text(c, &t[i]), t[i].layout ? " as " : "", t[i].layout ? t[i].layout : "");
}

typedef struct {
    Cli *c;
    ArrayFile f;
} Opened;

static void
list_opened(void *arg)
{
    Opened *o = arg;
    int n = 0;
    for (int i = 0; i < LEN(formats); i++) {
        if (!formats[i].is(&o->f))
            continue;
        Listed *t = formats[i].list(o->c, &o->f, &n);
        if (o->c->o.json)
            print_json(t, n);
        else
            print_text(o->c, t, n);
        return;
    }
    cli_refuse_safetensors(o->c, &o->f);
    cli_fail(o->c, "'%s' is neither .npz nor safetensors nor GGUF", o->f.path);
}

int
cli_list_tensors(Cli *c, const char *path)
{
    Diag d;
    ravel_error err;
    Opened o = {.c = c, .f = {.path = path}};
    cli_check(c, file_view(path, (size_t)cli_memory(c), &o.f.view, &err), &err);
    o.f.data = o.f.view.data;
    o.f.len = o.f.view.len;
    bool ok = arena_run(c->arena, &d, list_opened, &o);
    cli_file_free(&o.f);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return EXIT_YES;
}
