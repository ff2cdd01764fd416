/* Layouts on the command line: files of specs, FILE:NAME, dtypes. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { SPEC_BYTES_MAX = 4 << 20 };

void
cli_check_json(Cli *c, const char *text)
{
    if ((c->o.json || c->o.manifest || c->o.html) && !utf8_is_text(text, strlen(text)))
        cli_fail(c, "'%s' is not UTF-8 and cannot be written as JSON", text);
}

void
cli_load(Cli *c, const char *path)
{
    cli_check_json(c, path);
    cli_depend(c, path);
    unsigned char *text;
    size_t len;
    ravel_error err;
    cli_check(c, file_read(path, SPEC_BYTES_MAX, &text, &len, &err), &err);
    ravel_status s = ravel_load(c->cx, (const char *)text, len, path, &err);
    free(text);
    cli_check(c, s, &err);
    c->known = context_known(c->cx);
}

static const char *
file_of(Cli *c, const char *name)
{
    return spec_ref(c->arena, name, c->known)->def->loc.file;
}

/* The first of two FILE:NAME must still be a layout of its file: the second file may have
 * one of the same name. */
static void
check_first(Cli *c, const char *text)
{
    const char *now = c->first ? file_of(c, c->first) : NULL;
    if (now && strcmp(now, c->first_file))
        cli_fail(c, "%s and %s both have a layout '%.*s': give one of them another name",
                 c->first_file, now, (int)strcspn(c->first, "{([@ "), c->first);
    c->first = text;
    c->first_file = file_of(c, text);
}

static void
load_once(Cli *c, const char *file)
{
    for (int i = 0; i < c->nloaded; i++)
        if (!strcmp(c->loaded[i], file))
            return;
    cli_load(c, file);
    if (c->nloaded < LEN(c->loaded))
        c->loaded[c->nloaded++] = file;
}

/* True if specs have several layouts with the name that begins `text`. */
static bool
is_ambiguous(Cli *c, const char *text, size_t len)
{
    int n = 0;
    for (const LayoutDef **d = known_all(c->arena, c->known); *d; d++)
        n += strlen((*d)->name) == len && !strncmp((*d)->name, text, len);
    return n > 1;
}

/* FILE:NAME on one side and NAME, of another spec, on the other would both be the file's. */
static void
check_name(Cli *c, const char *text, bool of_file)
{
    static const char ends[] = "{([@ ";
    const char **mine = of_file ? &c->named_file : &c->named;
    const char *other = of_file ? c->named : c->named_file;
    *mine = text;
    if (other && strcspn(other, ends) == strcspn(text, ends) &&
        !strncmp(other, text, strcspn(text, ends)) &&
        is_ambiguous(c, text, strcspn(text, ends)))
        cli_fail(c, "'%.*s' is a layout of the given file and of another spec: give the file's "
                 "another name", (int)strcspn(text, ends), text);
}

const char *
cli_layout_text(Cli *c, const char *text)
{
    const char *mark = strstr(text, ".lua:");
    cli_check_json(c, text);
    if (*text == '{' || *text == '(')
        return text;
    if (!mark) {
        check_name(c, text, false);
        return text;
    }
    const char *file = arena_printf(c->arena, "%.*s", (int)(mark + 4 - text), text);
    load_once(c, file);
    check_name(c, mark + 5, true);
    cli_need_layout(c, file, mark + 5);
    check_first(c, mark + 5);
    return mark + 5;
}

const char *
cli_dtype(Cli *c, const char *text)
{
    if (c->o.dtype)
        return c->o.dtype;
    const LayoutRef *ref = spec_ref(c->arena, text, c->known);
    const DType *t = sides_any_dtype(ref);
    if (!t)
        cli_fail(c, "layout '%s' depends on the element size: give --dtype, as in "
                 "--dtype f16", ref->def->name);
    return t->name;
}

const DType *
cli_dtype_of(Cli *c, const char *text)
{
    return sides_dtype(c->arena, cli_dtype(c, text));
}
