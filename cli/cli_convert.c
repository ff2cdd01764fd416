/* convert: read an array file, convert it, write an array file. */
#include "cli_convert.h"
#include "cli_sparse.h"

typedef struct {
    Cli *c;
    Source s;
    int code;
} ConvertRun;

static void
run_convert(void *arg)
{
    ConvertRun *v = arg;
    cli_read_array(v->c, &v->s.file, &v->s.from);
    v->code = v->s.file.nlike > 1 ? convert_many(v->c, &v->s.file) : convert_array(v->c, &v->s);
}

int
cmd_convert(Cli *c)
{
    Diag d;
    const char *from = c->o.from ? cli_layout_text(c, c->o.from) : NULL;
    const char *to = cli_layout_text(c, c->o.to);
    out_check(c);
    if (cli_is_sparse(c, from, to) && c->o.index)
        cli_fail(c, "--index gives index arrays, and a sparse format has none");
    if (cli_is_sparse(c, from, to) && c->o.in_place)
        cli_fail(c, "--in-place is for layouts, and not for sparse formats");
    if (cli_is_sparse(c, from, to))
        return cli_sparse_convert(c, from, to);
    if (c->o.threshold || c->o.mask || c->o.duplicates)
        cli_fail(c, "--threshold, --mask and --duplicates say what becomes an entry of a sparse "
                 "format");
    if (c->o.concat)
        cli_fail(c, "--concat is beside a sparse format");
    ConvertRun v = {.c = c, .s = {.memory = cli_memory(c), .file.many = out_has_many(c)}};
    bool ok = arena_run(c->arena, &d, run_convert, &v);
    convert_free(&v.s);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return v.code;
}
