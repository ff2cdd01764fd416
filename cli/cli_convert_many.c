/* convert: several arrays of a file to one file.  Each is converted before OUT is written, so
 * that OUT has all or is as it was. */
#include <stdio.h>
#include <string.h>

#include "cli_convert.h"

typedef struct {
    Cli *c;
    const ArrayFile *file;
    Source *s;                     /* each of the arrays */
    int n;                         /* that are converted, and the one that is being */
    int code;
} Many;

/* The arrays of an archive may be called a and a.npy, and an archive cuts names. */
static void
check_names(Cli *c, const ArrayFile *f)
{
    for (int i = 0; i < f->nlike && cli_ends_with(c->o.arg[1], ".npz"); i++)
        if (strlen(f->like[i]) > ARRAY_NAME_MOST)
            cli_fail(c, "'%s': names in an archive have at most %d bytes, not as '%.40s...'; write "
                     ".safetensors instead", f->path, ARRAY_NAME_MOST, f->like[i]);
    for (int i = 0; i < f->nlike; i++)
        for (int k = 0; k < i; k++) {
            size_t n = strlen(f->like[k]), m = strlen(f->like[i]);
            size_t same = n < m ? n : m;
            if (!strncmp(f->like[k], f->like[i], same) &&
                (n == m || !strcmp((n < m ? f->like[i] : f->like[k]) + same, ".npy")))
                cli_fail(c, "'%s' has two arrays of the name '%s'", f->path, f->like[k]);
        }
}

/* The bytes of memory that a result takes. */
static i64
held(const Source *s)
{
    return s->spool.mapped ? 0 : (i64)s->spool.len;
}

/* The bytes of the file are the first one's; an array has its own header and copy. */
static void
convert_each(void *arg)
{
    Many *m = arg;
    Source *s = &m->s[m->n - 1];
    s->file = *m->file;
    s->file.own = (FileView){0};
    s->file.json = NULL;
    s->file.borrowed = true;
    m->c->o.tensor = m->file->like[m->n - 1];
    cli_read_array(m->c, &s->file, &s->from);
    m->code = convert_array(m->c, s);
    cli_file_free(&s->file);
}

/* To leave the array out helps where it does not fit the conversion. */
static _Noreturn void
fail_for(Cli *c, const Diag *d, const char *array)
{
    if (d->kind == DIAG_MEMORY || d->kind == DIAG_LIMIT)
        diag_fatal(c->arena->diag, d->kind, (Loc){0}, "the array '%s': %s", array, d->text);
    diag_fatal(c->arena->diag, d->kind, (Loc){0}, "%s; a pattern as --tensor '!(%s)' leaves it out",
               d->text, array);
}

static void
convert_all(void *arg)
{
    Many *m = arg;
    Cli *c = m->c;
    Diag d;
    const Options given = c->o;
    i64 memory = cli_memory(c);
    for (int i = 0; i < m->file->nlike && m->code == EXIT_YES; i++) {
        m->s[i] = (Source){.several = true, .memory = memory};
        m->n = i + 1;
        bool ok = arena_run(c->arena, &d, convert_each, m);
        c->o = given;              /* a file says the layout, the shape and the dtype */
        if (!ok)
            fail_for(c, &d, cli_stem(c, m->file->like[i]));
        memory -= held(&m->s[i]);
    }
}

static void
write_all(void *arg)
{
    Many *m = arg;
    convert_all(m);
    if (m->code != EXIT_YES)
        return;
    Result *r = arena_array(m->c->arena, Result, m->n);
    for (int i = 0; i < m->n; i++)
        r[i] = (Result){&m->s[i], m->s[i].plan->plan->dst,
                        m->s[i].empty ? m->s[i].empty->data : m->s[i].spool.data};
    out_write(m->c, r, m->n);
}

int
convert_many(Cli *c, const ArrayFile *file)
{
    Diag d;
    check_names(c, file);
    Many m = {.c = c, .file = file, .s = arena_array(c->arena, Source, file->nlike)};
    bool ok = arena_run(c->arena, &d, write_all, &m);
    for (int i = 0; i < m.n; i++)
        convert_free(&m.s[i]);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    for (int i = 0; i < m.n && m.code == EXIT_YES; i++)
        printf("%s: %s: %s\n", c->o.arg[1], m.s[i].from.name, m.s[i].said);
    return m.code;
}
