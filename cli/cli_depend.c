/* The files that a command reads, as a rule of Make: what the output depends on. */
#include <string.h>

#include "cli.h"

struct Read {
    const char *path;
    struct Read *next;
};

void
cli_depend(Cli *c, const char *path)
{
    struct Read **at = &c->read;
    for (; *at; at = &(*at)->next)
        if (!strcmp((*at)->path, path))
            return;
    *at = arena_new(c->arena, struct Read);
    (*at)->path = arena_string(c->arena, path);
}

/* A path as Make and Ninja read it. */
static void
add_path(Cli *c, Buf *b, const char *path)
{
    if (strpbrk(path, "\n\r\\:"))
        cli_fail(c, "--depfile: Make cannot read the name '%s': it has a colon, a backslash "
                 "or a line feed", path);
    for (const char *s = path; *s; s++)
        buf_printf(b, "%s%c", strchr(" #\t", *s) ? "\\" : *s == '$' ? "$" : "", *s);
}

void
cli_write_depfile(Cli *c)
{
    Buf b = buf_new(c->arena);
    if (!c->o.depfile)
        return;
    add_path(c, &b, c->o.output);
    if (c->o.header) {
        buf_add(&b, " ");
        add_path(c, &b, c->o.header);
    }
    buf_add(&b, ":");
    for (const struct Read *r = c->read; r; r = r->next) {
        buf_add(&b, " ");
        add_path(c, &b, r->path);
    }
    buf_add(&b, "\n");
    for (const struct Read *r = c->read; r; r = r->next) {      /* it may be removed */
        add_path(c, &b, r->path);
        buf_add(&b, ":\n");
    }
    cli_write(c, c->o.depfile, b.s, b.len);
}
