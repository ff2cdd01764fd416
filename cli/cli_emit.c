/* emit: conversions as the text of a target language. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_object.h"
#include "cli_sparse.h"

const char *const cli_kinds[] = {
    [EMIT_RELAYOUT] = "relayout", [EMIT_OFFSET] = "offset", [EMIT_INVERSE] = "inverse",
    [EMIT_VISIT] = "visit", [EMIT_LOAD] = "load", [EMIT_STORE] = "store", NULL};

EmitKind
cli_kind(Cli *c)
{
    for (int i = 0; c->o.kind && cli_kinds[i]; i++)
        if (!strcmp(cli_kinds[i], c->o.kind))
            return (EmitKind)i;
    const char *near = c->o.kind ? diag_nearest(c->o.kind, cli_kinds) : NULL;
    if (c->o.kind)
        cli_fail(c, "--kind '%s': relayout, offset, inverse, visit, load or store%s%s%s",
                 c->o.kind, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return EMIT_RELAYOUT;
}

const Frag *
cli_frag(Cli *c, const Target *target, const Request *rq, EmitKind kind)
{
    if (!rq->from || !rq->to || !rq->dtype || rq->extent || !target_is(target, "blocks"))
        cli_fail(c, "--kind %s needs --from, --to, --dtype, a shape of numbers, and "
                    "--target cuda, hip, opencl or blocks", c->o.kind);
    return compile_frag(c->arena, c->known, rq, kind);
}

static void
check_options(Cli *c, const Target *target, EmitKind kind)
{
    bool grid = target_is(target, "blocks");
    bool c_relayout = target_is(target, "functions") && kind == EMIT_RELAYOUT;
    if (c->o.manifest && (!grid || kind != EMIT_RELAYOUT))
        cli_fail(c, "--manifest needs --kind relayout with --target cuda, hip, opencl, "
                    "glsl or blocks");
    if (c->o.align && (!grid || kind != EMIT_RELAYOUT))
        cli_fail(c, "--align needs --kind relayout with --target cuda, hip, opencl, glsl or "
                    "blocks; code in C needs no alignment");
    if (c->o.batch && (!grid || kind != EMIT_RELAYOUT))
        cli_fail(c, "--batch needs --kind relayout with --target cuda, hip or blocks");
    if (c->o.check && !c_relayout)
        cli_fail(c, "--check needs --kind relayout with --target c");
    if (c->o.header && !c_relayout)
        cli_fail(c, "--header needs --kind relayout with --target c");
    if (c->o.depfile && !strcmp(c->o.output, "-"))
        cli_fail(c, "--depfile needs the name of the output: give -o");
}

/* No two of the files that the command writes may be the same. */
static void
check_outputs(Cli *c)
{
    const char *const path[] = {c->o.output, c->o.manifest, c->o.header, c->o.depfile};
    static const char *const what[] = {"output", "manifest", "header", "depfile"};
    for (int i = 0; i < LEN(path); i++)
        for (int k = 0; k < i; k++)
            if (path[i] && path[k] && !strcmp(path[i], path[k]))
                cli_fail(c, "the %s and the %s cannot both be %s", what[k], what[i],
                         path[i]);
}

/* The text, and a function that converts a copy of its source in place, for a proof. */
static const char *
with_copy(Cli *c, const char *text, const char *name, const char *copy, i64 bytes)
{
    Buf b = buf_new(c->arena);
    buf_printf(&b, "%s\n#include <stdlib.h>\n#ifdef __cplusplus\nextern \"C\"\n#endif\n"
               "void %s(void *d, const void *s);\n", text, copy);
    buf_printf(&b, "void\n%s(void *d, const void *s)\n{\n    void *scratch = malloc(%s_room);\n",
               copy, name);
    buf_printf(&b, "    memcpy(d, s, %lld);\n    %s(d, scratch);\n    free(scratch);\n}\n",
               (long long)bytes, name);
    return b.s;
}

static int
emit_in_place(Cli *c, const Target *target, const Request *rq, const Plan *p)
{
    if (!target_is(target, "functions") || c->o.header)
        cli_fail(c, "--in-place needs --target c, and has no --header");
    const char *text = compile_in_place_text(target, c->known, p, rq);
    const char *name = emit_name(c->arena, target, rq);
    Unit copy = {.name = arena_printf(c->arena, "ravel_checked_%s", name)};
    Emitted e = {.rq = *rq, .shape = c->o.shape, .plan = p, .unit = &copy};
    bool right = !c->o.check || cli_prove_emitted(c, &e, 1, with_copy(c, text, name, copy.name,
                                                                      layout_bytes(p->src)));
    if (right) {
        cli_write_depfile(c);
        cli_write_text(c, c->o.output, text);
    }
    return right ? EXIT_YES : EXIT_NO;
}

static int
emit_relayouts(Cli *c, const Target *target, const Request *rq)
{
    cli_check_relayout(c, rq);
    const Plan *p = cli_plan_written(c, target, rq);
    if (c->o.in_place)
        return emit_in_place(c, target, rq, p);
    if (target_is(target, "functions")) {
        Emitted e = {.rq = *rq, .shape = c->o.shape, .plan = p,
                     .unit = compile_unit(target, p, rq)};
        return cli_emit_units(c, target, &e, 1);
    }
    cli_write_depfile(c);
    if (target_is(target, "blocks"))
        cli_emit_grid(c, target, p, rq);
    else
        cli_write_text(c, c->o.output, compile_bursts(target, p, rq));
    return EXIT_YES;
}

static const char *
index_text(Cli *c, const Target *target, Request *rq, EmitKind kind)
{
    if (kind == EMIT_VISIT && !target_is(target, "functions"))
        cli_fail(c, "--kind visit writes C: give --target c");
    cli_index_request(c, target, rq);
    return compile_index(c->arena, target, c->known, rq, kind);
}

int
cmd_emit(Cli *c)
{
    i64 shape[MAX_RANK];
    EmitKind kind = cli_kind(c);
    c->o.output = c->o.output ? c->o.output : "-";
    const Target *target = cli_target(c);
    check_options(c, target, kind);
    check_outputs(c);
    if (c->o.in_place && (c->o.list || kind != EMIT_RELAYOUT))
        cli_fail(c, "--in-place is of one conversion");
    if (c->o.list)
        return cli_emit_list(c, target);
    if (!c->o.from && !c->o.to)
        cli_fail(c, "--from LAYOUT is needed: the layout of the source; or --list FILE, which has "
                 "many conversions");
    Request rq = cli_request(c, shape);
    if (cli_is_sparse(c, rq.from, rq.to) && c->o.in_place)
        cli_fail(c, "--in-place is for layouts, and not for sparse formats");
    if (cli_is_sparse(c, rq.from, rq.to))
        return cli_sparse_emit(c, rq.from, rq.to);
    cli_refuse_sparse(c);
    if (kind == EMIT_RELAYOUT)
        return emit_relayouts(c, target, &rq);
    bool tile = kind == EMIT_LOAD || kind == EMIT_STORE;
    const char *text = tile ? frag_render(target, cli_frag(c, target, &rq, kind), &rq)
                            : index_text(c, target, &rq, kind);
    cli_write_depfile(c);
    cli_write_text(c, c->o.output, text);
    return EXIT_YES;
}
