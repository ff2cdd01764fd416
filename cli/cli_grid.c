/* Kernels for grids of blocks of threads: the list of targets, the output of explain,
 * and the manifest. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "../compiler/compile.h"

const char *const cli_targets[] = {"c", "cuda", "hip", "opencl",
                                   "glsl", "blocks", "bursts", NULL};

/* Read a user's table. */
static const Target *
target_of_file(Cli *c, const char *path)
{
    enum { BYTES_MAX = 1 << 20 };
    unsigned char *text;
    size_t len;
    ravel_error err;
    cli_check_json(c, path);
    cli_depend(c, path);
    cli_check(c, file_read(path, BYTES_MAX, &text, &len, &err), &err);
    const char *own = arena_string(c->arena, (const char *)text);
    free(text);
    const Target *t = target_read(c->arena, path, own);
    if (target_is(t, "functions"))
        cli_fail(c, "--target '%s': the model of your table must be \"blocks\" or "
                 "\"bursts\"", path);
    return t;
}

const Target *
cli_target(Cli *c)
{
    Buf b = buf_new(c->arena);
    if (!c->o.target || !strcmp(c->o.target, cli_targets[0]))
        return context_target(c->cx, c->arena);
    for (int i = 1; cli_targets[i]; i++)
        if (!strcmp(c->o.target, cli_targets[i]))
            return target_load(c->arena, cli_targets[i]);
    size_t n = strlen(c->o.target);
    if (n > 4 && !strcmp(c->o.target + n - 4, ".lua"))
        return target_of_file(c, c->o.target);
    for (int i = 0; cli_targets[i]; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", cli_targets[i]);
    const char *near = diag_nearest(c->o.target, cli_targets);
    cli_fail(c, "--target '%s': unknown%s%s%s the targets are %s, or a file, as in "
             "mine.lua", c->o.target, near ? "; did you mean " : "", near ? near : "",
             near ? "? Else" : ";", b.s);
}

static json_t *
access_json(const BlockAccess *a)
{
    bool shared = a->space == SPACE_SHARED;
    json_t *j = json_pack("{s:s, s:s, s:i, s:I}", "memory", grid_spaces[a->space], "is",
                          a->store ? "store" : "load", "bytes", a->width, "requests",
                          (json_int_t)a->requests);
    json_object_update_new(j, json_pack("{s:I, s:I}",
        shared ? "wavefronts" : "sectors", (json_int_t)a->sectors,
        shared ? "least_wavefronts" : "least_sectors", (json_int_t)a->ideal));
    if (!shared)
        json_object_update_new(j, json_pack("{s:I, s:I}", "distinct_sectors",
            (json_int_t)a->unique, "least_distinct_sectors", (json_int_t)a->least));
    return j;
}

static json_t *
block_json(const GridUnit *u, const GridStmt *box, i64 block)
{
    BlockAccess access[ACCESS_KINDS];
    int n = grid_access(u, box, block, access, LEN(access));
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, access_json(&access[i]));
    return json_pack("{s:I, s:o}", "block", (json_int_t)(box->first->base + block), "accesses",
                     list);
}

/* With the binding of that name, where the target has bindings. */
static json_t *
with_binding(json_t *j, const Target *t, const GridUnit *u, const char *name)
{
    const char *field = arena_printf(ex_arena(u->e), "binding_%s", name);
    const char *binding = target_text(t, field);
    if (binding)
        json_object_set_new(j, "binding", json_integer(strtol(binding, NULL, 10)));
    return j;
}

static json_t *
argument_json(const Target *t, const GridUnit *u, const char *name, const Layout *l)
{
    json_t *j = json_pack("{s:s, s:s, s:I, s:I, s:i}", "name", name, "is",
                          target_text_or(t, "argument", "pointer"), "bytes",
                          (json_int_t)layout_bytes(l), "buffer_bytes",
                          (json_int_t)grid_buffer(u, l), "aligned_to", u->align);
    return with_binding(j, t, u, name);
}

/* One whose size only a shape says. */
static json_t *
buffer_json(const Target *t, const GridUnit *u, const char *name)
{
    json_t *j = json_pack("{s:s, s:s, s:i}", "name", name, "is",
                          target_text_or(t, "argument", "pointer"), "aligned_to", u->align);
    return with_binding(j, t, u, name);
}

/* What the host's function computes. */
static json_t *
values_json(const Target *t, const GridUnit *u)
{
    json_t *j = json_pack("{s:s, s:s, s:i, s:i}", "name", "values", "is",
                          target_text_or(t, "values_are", "struct"), "count",
                          grid_values(u), "bits", u->wide ? 64 : 32);
    return with_binding(j, t, u, "values");
}

/* With the number of pairs of buffers that the first argument of a batch kernel has; then dst
 * and src are those of each pair. */
static json_t *
with_pairs(json_t *j, const GridUnit *u)
{
    if (u->most.batch)
        json_object_set_new(j, "pairs", json_integer(GRID_PAIRS));
    return j;
}

static json_t *
array_json(const Target *t, const PlanArray *a)
{
    json_t *j = json_pack("{s:s, s:s, s:i, s:I}", "name", a->name, "is",
                          target_text_or(t, "argument", "pointer"), "bits", a->bits, "least",
                          (json_int_t)a->least);
    if (ex_is_const(a->bound))
        json_object_set_new(j, "most", json_integer((json_int_t)a->bound->base - 1));
    if (ex_is_const(a->n))
        json_object_set_new(j, "count", json_integer((json_int_t)a->n->base));
    return j;
}

/* With the index arrays, which follow dst and src, the place for the number of a wrong one, and
 * the kernel that is run first. */
static json_t *
with_arrays(json_t *j, const Target *t, const GridUnit *u)
{
    json_t *list = json_object_get(j, "arguments");
    for (int i = 0; i < u->narrays; i++)
        json_array_insert_new(list, (size_t)i + 2, array_json(t, &u->array[i]));
    if (u->narrays) {
        json_t *bad = json_pack("{s:s, s:s, s:i}", "name", "bad", "is",
                                target_text_or(t, "argument", "pointer"), "bytes", 4);
        json_array_insert_new(list, (size_t)u->narrays + 2, bad);
        json_object_set_new(j, "check", json_string(grid_check_name(u)));
    }
    return j;
}

static json_t *
arguments_json(const Target *t, const GridUnit *u)
{
    const Plan *p = u->plan;
    if (!plan_is_fixed(p))
        return json_pack("[o, o, o]", buffer_json(t, u, "dst"), buffer_json(t, u, "src"),
                         values_json(t, u));
    return json_pack("[o, o]", argument_json(t, u, "dst", p->dst),
                     argument_json(t, u, "src", p->src));
}

/* In the order of the host's function. */
static json_t *
extents_json(const Plan *p)
{
    json_t *extents = json_array();
    for (int i = 0; i < p->scalars->nextents; i++)
        json_array_append_new(extents, json_string(p->name[i]));
    return extents;
}

static json_t *
host_json(const GridUnit *u)
{
    return json_pack("{s:s, s:s, s:s}", "language", "C", "function",
                     arena_printf(ex_arena(u->e), "%s_arguments", u->name), "source",
                     grid_host_text(u));
}

/* Only a shape says how many blocks a box has if an extent is left to run time. */
static json_t *
box_json(const GridUnit *u, const GridStmt *box)
{
    if (!plan_is_fixed(u->plan))
        return json_pack("{s:s, s:s}", "of", box->name, "by", box->row->name);
    json_t *blocks = json_array();
    json_array_append_new(blocks, block_json(u, box, 0));
    if (box->blocks->base > 1)
        json_array_append_new(blocks, block_json(u, box, box->blocks->base - 1));
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "of", box->name, "by",
                     box->row->name, "first_block", (json_int_t)box->first->base, "blocks",
                     (json_int_t)box->blocks->base, "instructions",
                     (json_int_t)grid_instructions(u, box), "analysed", blocks);
}

static json_t *
estimate_json(const GridUnit *u)
{
    GridEstimate g = grid_estimate(u);
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "bytes_of_a_block", g.bytes, "sectors",
                     g.sectors, "least_sectors", g.least, "bytes_in_flight", g.flight,
                     "of_a_copy", g.of_copy);
}

json_t *
cli_manifest(const Target *t, const GridUnit *u)
{
    bool known = plan_is_fixed(u->plan);
    json_t *boxes = json_array();
    for (const GridStmt *box = u->body; box; box = box->next)
        json_array_append_new(boxes, box_json(u, box));
    json_t *j = json_pack("{s:s, s:s, s:o}", "target", target_name(t), "entry",
                          target_text_or(t, "entry", u->name), "arguments",
                          arguments_json(t, u));
    json_object_set_new(j, known ? "grid" : "extents", known
        ? json_pack("[I, I, i]", (json_int_t)u->across, (json_int_t)u->down, 1)
        : extents_json(u->plan));
    json_object_set_new(j, "block", json_pack("[i, i, i]", GRID_THREADS, 1, 1));
    json_object_set_new(j, "shared_bytes", json_integer((json_int_t)u->shared));
    json_object_set_new(j, "index_bits", json_integer(u->wide ? 64 : 32));
    if (known)
        json_object_set_new(j, "estimate", estimate_json(u));
    json_object_set_new(j, "boxes", boxes);
    if (!known)
        json_object_set_new(j, "host", host_json(u));
    return with_arrays(with_pairs(j, u), t, u);
}

void
cli_emit_grid(Cli *c, const Target *t, const Plan *p, const Request *rq)
{
    const GridUnit *u = compile_grid(t, p, rq);
    const char *text = grid_render(t, u);
    if (c->o.manifest) {
        json_t *j = cli_manifest(t, u);
        char *json = json_dumps(j, JSON_INDENT(2));
        const char *line = arena_printf(c->arena, "%s\n", json);
        json_decref(j);
        free(json);
        cli_write(c, c->o.manifest, line, strlen(line));
    }
    cli_write(c, c->o.output, text, strlen(text));
}

void
cli_explain_grid(Cli *c, const Target *t, const Plan *p, const Request *rq)
{
    Buf b = buf_new(c->arena);
    const GridUnit *u = compile_grid(t, p, rq);
    if (c->o.json) {
        cli_print_json(cli_manifest(t, u));
        return;
    }
    grid_explain(&b, u, c->o.target);
    fputs(b.s, stdout);
}
