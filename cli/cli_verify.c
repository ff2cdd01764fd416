/* verify: each proof runs in a child process. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "cli_child.h"
#include "cli_runtime.h"

typedef struct {
    Cli *c;
    Request rq;                    /* of the first direction */
    i64 shape[MAX_RANK];
    const char *name[MAX_RANK];    /* of its extents left to run time */
    ravel_plan *plan;              /* the one at work */
    i64 align;                     /* of an object's buffers; 0: any */
    json_t *proofs;
    const char *one_way;           /* why the reverse is not proven, or NULL */
    bool no;
} Verify;

static json_t *
certificate_json(const Cli *c, const Plan *p, const ravel_plan *code, const Outcome *o)
{
    const ravel_certificate *k = &o->certificate;
    json_t *j = json_pack("{s:s, s:s, s:o, s:s, s:s}",
        "from", layout_ref_text(c->arena, p->src->ref),
        "to", layout_ref_text(c->arena, p->dst->ref),
        "shape", cli_json_numbers(cli_shape(c->arena, p->src), p->src->rank),
        "dtype", p->src->dtype->name,
        "answer", o->why[0] ? "no" : "yes");
    if (o->why[0]) {
        json_object_set_new(j, "why", json_string(o->why));
        return j;
    }
    json_object_update_new(j, json_pack("{s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:i, s:b, s:b}",
        "stamped", (json_int_t)k->stamped, "elements", (json_int_t)k->elements,
        "padding", (json_int_t)k->padding, "holes", (json_int_t)k->holes,
        "passes", k->passes, "runs", k->runs, "parts", k->parts, "threads", k->threads,
        "guard_pages", k->guard_pages, "object", c->o.object != NULL));
    if (!c->o.object)
        json_object_update_new(j, json_pack("{s:i, s:s, s:s}", "nests", k->nests,
                                            "kernels", k->kernels,
                                            "code", ravel_plan_way(code)));
    return j;
}

/* How the function was run. */
static void
print_runs(const Cli *c, const ravel_certificate *k)
{
    printf("  pages    inaccessible before and after both buffers; the source is "
           "read-only\n");
    if (c->o.align)
        printf("  align    each buffer at multiples of %s bytes, next to both pages\n",
               c->o.align);
    else
        printf("  align    any: each buffer 1 byte, 16 bytes and an element after a page "
               "boundary\n");
    if (k->parts)
        printf("  parts    up to %d, in several orders; no byte is written by two "
               "parts\n", k->parts);
    printf("  runs     %d, the last by %d threads at once\n", k->runs, k->threads);
}

static void
print_certificate(const Cli *c, const Plan *p, const ravel_plan *code, const Outcome *o)
{
    const ravel_certificate *k = &o->certificate;
    printf("%s: %s -> %s of %s, %s%s%s\n", o->why[0] ? "no" : "yes",
           layout_ref_text(c->arena, p->src->ref), layout_ref_text(c->arena, p->dst->ref),
           cli_tuple(c->arena, cli_shape(c->arena, p->src), p->src->rank),
           p->src->dtype->name, c->o.object ? ", by " : "",
           c->o.object ? c->o.object : "");
    if (o->why[0]) {
        printf("  %s\n", o->why);
        return;
    }
    if (!c->o.object)
        printf("  boxes    %d, disjoint and covering the destination; kernels: %s\n",
               k->nests, k->kernels);
    if (code)
        printf("  code     %s\n", ravel_plan_way(code));
    printf("  source   %s, each with its own number, in %d pass%s; unchanged\n",
           cli_count(c->arena, k->stamped, "slot"), k->passes, k->passes == 1 ? "" : "es");
    printf("  result   %s, %lld padding, %s not written: every bit is right\n",
           cli_count(c->arena, k->elements, "element"), (long long)k->padding,
           cli_count(c->arena, k->holes, "hole"));
    print_runs(c, k);
}

/* Prove one direction and print the result. */
static void
prove(Verify *v, const Plan *p, const ravel_plan *code, const ChildObject *object)
{
    Cli *c = v->c;
    ravel_error err;
    Outcome o;
    cli_need_memory(c, proof_bytes(p), "a proof");
    cli_check(c, child_prove(p, code, object, v->c->limit, &o, &err), &err);
    v->no |= o.why[0] != 0;
    if (c->o.json)
        json_array_append_new(v->proofs, certificate_json(c, p, code, &o));
    else
        print_certificate(c, p, code, &o);
}

static void
prove_object(Verify *v)
{
    Cli *c = v->c;
    ChildObject o = {.path = c->o.object, .said = c->o.object, .align = (int)v->align};
    const Plan *p = compile_plan(c->arena, c->known, &v->rq);
    layout_refuse_lookups(p->src, "--object");
    layout_refuse_lookups(p->dst, "--object");
    o.name = c->o.name;                /* only looked up: any will do */
    if (!o.name)
        o.name = emit_name(c->arena, context_target(c->cx, c->arena), &v->rq);
    prove(v, p, NULL, &o);
}

/* Why no values of the names for strides of the destination, or for extents of tensors, fit: the
 * proof gives strides the least.  NULL: some do. */
static const char *
names_flaw(Verify *v, const char *to)
{
    Arena *a = v->c->arena;
    i64 extent[MAX_RANK];
    if (!plan_tests(v->plan->plan))
        return NULL;
    const Plan *p = compile_again(a, v->plan->plan);
    const ShapeList b = plan_boundaries(a, p);
    for (int i = 0; i < b.n; i++)
        if (plan_extents(a, p, b.shape[i], extent))
            return arena_printf(a, "no strides of a destination '%s' leave room for the entries after "
                                "each: give each its own name, in the order of the entries", to);
    return b.n ? NULL : "no shape was found of which the indices select as many elements as it has";
}

static void
skip_reverse(Verify *v, const char *why)
{
    v->one_way = why;
    if (!v->c->o.json)
        printf("the reverse direction is not proven: %s\n", why);
}

/* Prove one direction.  A view cannot be a destination, nor can an array whose strides leave no
 * room, so the reverse direction of such is skipped. */
static void
prove_direction(Verify *v, const char *from, const char *to, const i64 *shape, bool reverse,
                bool to_view)
{
    ravel_error err;
    Arena *a = v->c->arena;
    ravel_request rq = {from, to, v->rq.dtype, v->rq.rank, shape, 0, 0};
    ravel_status s = ravel_compile(v->c->cx, &rq, &v->plan, &err);
    if (to_view && s == RAVEL_ERR_LAYOUT) {
        skip_reverse(v, arena_string(a, err.text));
        return;
    }
    cli_check(v->c, s, &err);
    const char *why = names_flaw(v, to);
    if (why) {
        if (!reverse)
            cli_fail(v->c, "%s", why);
        skip_reverse(v, why);
        return;
    }
    if (plan_has_arguments(v->plan->plan))
        v->no |= !cli_verify_shapes(v->c, v->plan, v->name, v->proofs);
    else
        prove(v, v->plan->plan, v->plan, NULL);
}

static void
verify(void *arg)
{
    Verify *v = arg;
    if (v->c->o.object) {
        prove_object(v);
        return;
    }
    prove_direction(v, v->rq.from, v->rq.to, v->shape, false, false);
    bool view = v->plan->plan->src->ref->def->view;
    const i64 *back = cli_shape(v->c->arena, v->plan->plan->dst);
    if (!plan_is_fixed(v->plan->plan)) {
        const char *name[MAX_RANK];
        back = cli_runtime_shape(v->c->arena, v->plan->plan);
        for (int d = 0; d < v->rq.rank; d++)
            name[d] = v->name[v->plan->plan->map[d]];
        memcpy(v->name, name, (size_t)v->rq.rank * sizeof *name);
    }
    ravel_plan_free(v->plan);
    v->plan = NULL;
    prove_direction(v, v->rq.to, v->rq.from, back, true, view);
}

static void
set_request(Verify *v)
{
    Cli *c = v->c;
    bool any;
    if (c->o.name && !c->o.object)
        cli_fail(c, "--name is the function of an --object");
    if (c->o.align && !c->o.object)
        cli_fail(c, "--align is for the buffers of an --object");
    if (c->o.align && (cli_numbers(c, "--align", c->o.align, &v->align, 1) != 1 ||
                       !int_is_pow2(v->align) || v->align > PROOF_ALIGN_MAX))
        cli_fail(c, "--align is a power of two, at most %d", PROOF_ALIGN_MAX);
    v->rq.from = cli_layout_text(c, c->o.from);
    v->rq.to = cli_layout_text(c, c->o.to);
    v->rq.shape = v->shape;
    cli_find_shape(c, v->rq.from, v->rq.to);
    v->rq.rank = cli_shape_names(c, v->shape, v->name, &any);
    if (any && c->o.object)
        cli_fail(c, "--shape '%s': --object is proven at numbers", c->o.shape);
}

int
cmd_verify(Cli *c)
{
    Diag d;
    Verify v = {.c = c, .rq = {.dtype = c->o.dtype, .name = c->o.name}};
    set_request(&v);
    v.proofs = json_array();
    bool ok = arena_run(c->arena, &d, verify, &v);
    ravel_plan_free(v.plan);
    json_t *j = json_pack("{s:s, s:o}", "answer", v.no ? "no" : "yes",
                          "proofs", v.proofs);
    if (!ok) {
        json_decref(j);
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    }
    if (v.one_way)
        json_object_set_new(j, "one_way", json_string(v.one_way));
    if (c->o.json)
        cli_print_json(j);
    else
        json_decref(j);
    return v.no ? EXIT_NO : EXIT_YES;
}
