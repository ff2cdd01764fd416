/* The JSON of explain and check for sparse formats. */
#include <string.h>

#include "cli_sparse_json.h"

static json_t *
level_json(const SparseFormat *f, const Level *l)
{
    bool has = level_words[l->def.kind].expression;
    json_t *j = json_pack("{s:s, s:s}", "kind", level_words[l->def.kind].name, "to_find_one",
                          sparse_access(l));
    if (has)
        json_object_update_new(j, json_pack("{s:s, s:I, s:I}", "coordinate",
            ex_text(f->l->e, l->x), "below", (json_int_t)l->n, "stored_less",
            (json_int_t)l->bias));
    return j;
}

json_t *
sparse_side_json(const SparseFormat *f)
{
    json_t *levels = json_array(), *arrays = json_array(), *dims = json_object();
    for (int k = 0; k < f->nlevel; k++)
        json_array_append_new(levels, level_json(f, &f->level[k]));
    for (int i = 0; i < f->narray; i++)
        json_array_append_new(arrays, json_pack("{s:s, s:s}", "name", f->array[i].name, "dtype",
                                                sparse_array_type(f, i)->name));
    for (int d = 0; d < f->l->rank && !f->dense; d++)
        json_object_set_new(dims, f->l->dim[d].name, json_string(ex_text(f->l->e, f->coord[d])));
    const char *address = f->dense ? ex_text(f->l->e, f->l->addr) : NULL;
    return json_pack("{s:s, s:s*, s:o, s:o, s:o}", "format",
                     layout_ref_text(ex_arena(f->l->e), f->ref), "address", address, "levels",
                     levels, "arrays", arrays, "dims", dims);
}

static json_t *
names_json(const SparseFormat *f, uint64_t arrays)
{
    json_t *j = json_array();
    for (int i = 0; arrays >> i; i++)
        if (arrays >> i & 1)
            json_array_append_new(j, json_string(sparse_array_name(f, i)));
    return j;
}

static json_t *
step_json(const SparsePlan *p, const SparseDone *d)
{
    return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:s}", "step", d->step->name, "is",
                     sparse_roles[sparse_role(d->step)], "calls", d->calls, "source",
                     names_json(p->src, d->arrays[0]), "destination",
                     names_json(p->dst, d->arrays[1]), "reads", names_json(p->dst, d->arrays[2]),
                     "what", sparse_what(d->step));
}

/* Phases with steps, and loops with steps of their own. */
static json_t *
phases_json(const SparsePlan *p)
{
    const SparseDone *d;
    int n = sparse_done(p, &d);
    json_t *phases = json_array(), *steps = NULL, *to = NULL;
    for (int i = 0; i < n; i++) {
        bool phase = !i || d[i].phase != d[i - 1].phase;
        if (phase) {
            steps = json_array();
            json_array_append_new(phases, json_pack("{s:s, s:s, s:o}", "function",
                d[i].fill ? "fill" : "sizes", "what", d[i].what, "steps", steps));
        }
        if (d[i].loop && (phase || d[i].loop != d[i - 1].loop)) {
            to = json_array();
            json_array_append_new(steps, json_pack("{s:s, s:i, s:o}", "over", d[i].over,
                                                   "batch", (int)d[i].batch, "steps", to));
        }
        json_array_append_new(d[i].loop ? to : steps, step_json(p, &d[i]));
    }
    return phases;
}

json_t *
sparse_explain_json(const SparsePlan *p)
{
    json_t *j = json_pack("{s:o, s:o, s:s, s:s, s:o}", "from", sparse_side_json(p->src), "to",
                          sparse_side_json(p->dst), "way", sparse_ways[p->way], "why", p->why,
                          "phases", phases_json(p));
    if (p->counts)
        json_object_set_new(j, "counts", json_integer(p->counts));
    if (p->joins)
        json_object_set_new(j, "equal_entries", json_string(sparse_equals[p->rq->equal]));
    return j;
}

json_t *
sparse_check_json(const char *text, const SparseFormat *f, const i64 *shape)
{
    const Level *last = &f->level[f->nlevel - 1];
    bool repeats = f->level[0].def.repeats, few = last->def.kind == LEVEL_NOFM;
    json_t *j = sparse_side_json(f);
    json_object_update_new(j, json_pack("{s:s, s:o, s:b, s:s, s:b, s:b}", "layout", text,
        "shape", cli_json_numbers(shape, f->l->rank), "place_depends_on_data", true,
        "one_to_one", repeats ? "no" : "yes", "padded", f->padded, "every_array_fits", !few));
    if (few)
        json_object_set_new(j, "entries_below_a_parent", json_integer(last->number));
    return j;
}
