/* Spec text: loaded, every layout printed and read back the same, and made for two
 * element types and a shape. */
#include "fuzz.h"

typedef struct {
    Arena arena;
    const LayoutDef *def;
    const char *type;
} Case;

static void
read_back(void *arg)
{
    Case *c = arg;
    const char *text = layout_text(&c->arena, c->def);
    const LayoutRef *ref = spec_ref(&c->arena, text, NULL);
    const char *again = layout_text(&c->arena, ref->def);
    if (strcmp(text, again))
        fuzz_fail("'%s' reads back as '%s'", text, again);
}

static void
make(void *arg)
{
    static const i64 shape[MAX_RANK] = {3, 2, 5, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1};
    Case *c = arg;
    LayoutRef ref = {.def = c->def};
    int rank = c->def->ndims + c->def->batch;
    i64 x[MAX_RANK] = {0}, a, got;
    if (rank > MAX_RANK)
        return;
    Layout *l = layout_make(ex_new(&c->arena), &ref, dtype_find(c->type), rank, shape);
    i64 *val = arena_array(&c->arena, i64, ex_nvars(l->e));
    do {
        for (int d = 0; d < rank; d++)
            val[l->dim[d].var] = x[d];
        if (layout_address(l, x, &a))
            fuzz_check(ex_eval(l->addr, val, &got) && got == a);
    } while (layout_next(l, false, x));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    ravel_context *cx = calloc(1, sizeof *cx);
    ravel_error err = {.text = ""};
    ravel_status s = ravel_load(cx, (const char *)data, len, "fuzz.lua", &err);
    if (s && (!err.text[0] || (s != RAVEL_ERR_SPEC && s != RAVEL_ERR_LAYOUT)))
        fuzz_fail("refused with status %d by '%s'", s, err.text);
    const Known *known = context_known(cx);
    fuzz_check(!s || !known);
    for (const LayoutDef *d = known ? known->loaded : NULL; d; d = d->next) {
        Case c = {.def = d};
        if (d->level)              /* levels are written in specs only */
            continue;
        if (!fuzz_run(&c.arena, read_back, &c))
            fuzz_fail("%s does not read back", d->name);
        c.type = "f16";
        fuzz_run(&c.arena, make, &c);
        c.type = "u1";
        fuzz_run(&c.arena, make, &c);
    }
    ravel_context_free(cx);
    return 0;
}
