/* A target's table, which may be anybody's.  The first byte chooses what is written with
 * it, the rest is its text.  A table that is read is one that can be written with: then
 * only sizes can be refused. */
#include "../../cli/cli.h"
#include "fuzz.h"

static const struct {
    const char *from, *to, *dtype;
    int rank;
    i64 shape[4];
    int kind;                          /* EMIT_RELAYOUT and on */
} jobs[] = {
    {"NCHW", "NC1HWC0", "f16", 4, {2, 20, 5, 7}, EMIT_RELAYOUT},
    {"ROW_MAJOR", "COL_MAJOR", "f32", 2, {64, 96}, EMIT_RELAYOUT},
    {"ROW_MAJOR", "SW128", "f16", 2, {16, 64}, EMIT_RELAYOUT},
    {"NHWC", "NCHW", "u8", 4, {1, 3, 32, 32}, EMIT_RELAYOUT},
    {"(A,B){A, B}", "(A,B){B, A//3, 2 - A%3, fill = 1}", "u1", 2, {10, 7}, EMIT_RELAYOUT},
    {NULL, "NC1HWC0", "f16", 4, {2, 20, 5, 7}, EMIT_OFFSET},
    {NULL, "SW128", "f16", 2, {8, 64}, EMIT_INVERSE},
    {"ROW_MAJOR", "MMA_A", "f16", 2, {20, 64}, EMIT_LOAD},
    {"MMA_C", "ROW_MAJOR", "f32", 2, {64, 20}, EMIT_STORE},
};

typedef struct {
    Arena arena;
    const char *text;
    int job;
    bool is_read;
} Case;

static void
check_manifest(const Target *t, const GridUnit *u)
{
    json_t *j = cli_manifest(t, u);
    char *text = json_dumps(j, 0);
    fuzz_check(j && text);
    free(text);
    json_decref(j);
}

static const char *
relayout(Case *c, const Target *t, const Known *known, const Request *rq)
{
    const Plan *p = compile_plan(&c->arena, known, rq);
    if (target_is(t, "bursts"))
        return compile_bursts(t, p, rq);
    const GridUnit *u = compile_grid(t, p, rq);
    check_manifest(t, u);
    return grid_render(t, u);
}

static void
run(void *arg)
{
    Case *c = arg;
    const Known *known = context_known(fuzz_context());
    const Target *t = target_read(&c->arena, "t.lua", c->text);
    EmitKind kind = (EmitKind)jobs[c->job].kind;
    Request rq = {.from = jobs[c->job].from, .to = jobs[c->job].to,
                  .dtype = jobs[c->job].dtype, .rank = jobs[c->job].rank,
                  .shape = jobs[c->job].shape};
    const char *out = "";
    c->is_read = true;
    if (target_is(t, "functions"))
        return;                        /* not asked of a table of a user's */
    if (kind == EMIT_RELAYOUT)
        out = relayout(c, t, known, &rq);
    else if (target_is(t, "bursts"))
        return;
    else if (kind == EMIT_LOAD || kind == EMIT_STORE)
        out = frag_render(t, compile_frag(&c->arena, known, &rq, kind), &rq);
    else
        out = compile_index(&c->arena, t, known, &rq, kind);
    fuzz_check(out);
}

/* A refusal is a sentence; one of the table's begins with its file. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    Bytes b = {data, data + len};
    Diag d = {.text = ""};
    Case c = {.job = fuzz_pick(&b, LEN(jobs))};
    char *text = fuzz_text(b.p, (size_t)(b.end - b.p));
    c.text = text;
    bool ok = arena_run(&c.arena, &d, run, &c);
    if (!ok && (!d.text[0] || d.kind == DIAG_MEMORY))
        fuzz_fail("refused by '%s'", d.text);
    if (!ok && !c.is_read && strncmp(d.text, "t.lua:", 6))
        fuzz_fail("a table is refused by '%s'", d.text);
    arena_free(&c.arena);
    free(text);
    return 0;
}
