/* verify with run-time extents: the boxes of the plan for every residue of the extents,
 * its code at every boundary value and its neighbours. */
#include <stdio.h>

#include "cli_child.h"
#include "cli_runtime.h"

typedef struct {
    Cli *c;
    const ravel_plan *plan;
    Plan *again;
    const char *const *name;
    const ChildObject *object;     /* NULL: the plan's own code */
    const Plan *emitted;           /* what it was made of */
    ShapeList boundaries;
    int beyond;                    /* nests whose shapes the limit does not allow */
    PlanCheck boxes;
    const i64 *at;                 /* the shape that is wrong */
    Outcome sum;
} Proofs;

const i64 *
cli_runtime_shape(Arena *a, const Plan *p)
{
    i64 *n = arena_array(a, i64, p->dst->rank);
    for (int d = 0; d < p->dst->rank; d++) {
        const PlanExtent *x = &p->given[p->map[d]];
        n[d] = x->scalar < 0 ? x->n : RUNTIME_EXTENT;
    }
    return n;
}

/* (N,64,H,W) */
static const char *
shape_text(Arena *a, const Proofs *v)
{
    const Plan *p = v->plan->plan;
    Buf b = buf_new(a);
    for (int d = 0; d < p->src->rank; d++)
        if (p->given[d].scalar < 0)
            buf_printf(&b, "%s%lld", d ? "," : "(", (long long)p->given[d].n);
        else
            buf_printf(&b, "%s%s", d ? "," : "(", v->name[d]);
    buf_add(&b, ")");
    return b.s;
}

/* Prove at a shape, in a child process. */
static ravel_status
run_at(const Proofs *v, const ravel_plan *q, const i64 *shape, Outcome *o, ravel_error *err)
{
    i64 x[MAX_RANK + PLAN_ARRAYS];
    if (!v->object)
        return child_prove(q->plan, q, NULL, v->c->limit, o, err);
    const Plan *p = v->emitted;
    for (int d = 0; d < p->src->rank; d++)
        if (p->given[d].scalar >= 0)
            x[p->given[d].scalar] = shape[d];
    const Scalars *s = p->scalars;
    for (int i = 0; i < s->nstrides; i++)
        x[s->nextents - s->nstrides + i] = shape[p->src->rank + i];
    for (int i = 0; i < ravel_plan_arrays(v->plan, NULL); i++)
        x[v->emitted->scalars->nextents + i] = q->extent[v->plan->plan->scalars->nextents + i];
    ChildObject object = *v->object;
    object.x = x;
    return child_prove(q->plan, NULL, &object, v->c->limit, o, err);
}

/* Returns whether the code is right at the shape; else `sum.why` has the reason. */
static bool
prove_at(Proofs *v, int i)
{
    const i64 *shape = v->boundaries.shape[i];
    ravel_error err;
    ravel_plan *q;
    Outcome o = {{0}, {0}};
    ravel_status s = plan_at(v->plan, v->again, shape, &q, &err);
    if (s == RAVEL_OK && !plan_is_fixed(v->plan->plan))
        s = verify_affords(q->plan, v->boundaries.n, &v->c->arena->work, &err);
    if (verify_skips(&v->boundaries, i, s)) {
        v->boundaries.idle++;
        v->beyond++;
        s = RAVEL_OK;
    } else if (s == RAVEL_OK) {
        s = run_at(v, q, shape, &o, &err);
    }
    ravel_plan_free(q);
    if (s == RAVEL_ERR_VERIFY)
        snprintf(o.why, sizeof o.why, "%s", err.text);
    else
        cli_check(v->c, s, &err);
    v->sum.certificate.elements += o.certificate.elements;
    v->sum.certificate.padding += o.certificate.padding;
    v->sum.certificate.holes += o.certificate.holes;
    v->sum.certificate.runs += o.certificate.runs;
    if (!o.why[0])
        return true;
    v->at = shape;
    snprintf(v->sum.why, sizeof v->sum.why, "%s", o.why);
    return false;
}

static bool
prove_all(Proofs *v)
{
    if (v->boxes.flaw) {
        snprintf(v->sum.why, sizeof v->sum.why, "the plan is wrong: %s", v->boxes.flaw);
        return false;
    }
    for (int i = 0; i < v->boundaries.n; i++)
        if (!prove_at(v, i))
            return false;
    return true;
}

static json_t *
proof_json(const Proofs *v, bool yes)
{
    const Plan *p = v->plan->plan;
    const ravel_certificate *k = &v->sum.certificate;
    json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s}",
        "from", layout_ref_text(v->c->arena, p->src->ref),
        "to", layout_ref_text(v->c->arena, p->dst->ref),
        "shape", shape_text(v->c->arena, v), "dtype", p->src->dtype->name,
        "answer", yes ? "yes" : "no");
    if (yes)
        json_object_update_new(j, json_pack("{s:i, s:i, s:i, s:b, s:I, s:I, s:I, s:i, s:i}",
            "shapes", v->boundaries.n, "nests_not_run", v->boundaries.idle,
            "shapes_of_boxes", v->boxes.shapes, "every_residue", v->boxes.all,
            "elements", (json_int_t)k->elements, "padding", (json_int_t)k->padding,
            "holes", (json_int_t)k->holes, "runs", k->runs, "nests", v->again->n));
    else
        json_object_set_new(j, "why", json_string(v->sum.why));
    if (v->at)
        json_object_set_new(j, "at", cli_json_numbers(v->at, p->src->rank));
    return j;
}

/* The nests at whose shapes the code did not run, with the number that explain gives the first. */
static void
print_idle(const Proofs *v)
{
    int n = v->boundaries.idle, found = n - v->beyond;
    if (found)
        printf("  not run  %d of %d nests (the first is %d. %s): no shape of 64 MB or less was found at which they run\n",
               found, v->again->n, v->boundaries.first + 1,
               v->again->nest[v->boundaries.first]->kernel->name);
    if (v->beyond)
        printf("  not run  %d of %d nests: --limit does not allow the shapes at which they run\n",
               v->beyond, v->again->n);
}

static void
print_proof(const Proofs *v, bool yes)
{
    const Plan *p = v->plan->plan;
    const ravel_certificate *k = &v->sum.certificate;
    Arena *a = v->c->arena;
    printf("%s: %s -> %s of %s %s%s%s\n", yes ? "yes" : "no",
           layout_ref_text(a, p->src->ref), layout_ref_text(a, p->dst->ref),
           shape_text(a, v), p->src->dtype->name, v->at ? ", at " : "",
           !v->at ? "" : cli_tuple(a, v->at, p->src->rank));
    if (!yes) {
        printf("  %s\n", v->sum.why);
        return;
    }
    printf("  boxes    %d, disjoint and covering the destination at %d shapes: %s "
           "residue%s of the extents\n", v->again->n, v->boxes.shapes,
           v->boxes.all ? "every" : "the first", v->boxes.all ? "" : "s");
    printf("  code     run at %s, every boundary value of the digits and its neighbours: %s\n",
           cli_count(a, v->boundaries.n, "shape"), cli_count(a, k->runs, "run"));
    if (v->boundaries.idle)
        print_idle(v);
    printf("  result   %s, %lld padding, %s not written: every bit is right\n",
           cli_count(a, k->elements, "element"), (long long)k->padding,
           cli_count(a, k->holes, "hole"));
}

bool
cli_verify_shapes(Cli *c, const ravel_plan *plan, const char *const *name,
                  json_t *proofs)
{
    Proofs v = {.c = c, .plan = plan, .name = name};
    v.again = compile_again(c->arena, plan->plan);
    v.boundaries = plan_boundaries(c->arena, v.again);
    v.boxes = plan_check(c->arena, v.again, true);
    bool yes = prove_all(&v);
    if (c->o.json)
        json_array_append_new(proofs, proof_json(&v, yes));
    else
        print_proof(&v, yes);
    return yes;
}

/* The plan is freed in any case. */
typedef struct {
    Proofs v;
    const Request *rq;
    ravel_plan *plan;
} Shapes;

static void
prove_shapes(void *arg)
{
    Shapes *s = arg;
    Proofs *v = &s->v;
    Arena *a = v->c->arena;
    ravel_error err;
    ravel_request rq = {.from = s->rq->from, .to = s->rq->to, .dtype = s->rq->dtype,
                        .rank = s->rq->rank, .shape = s->rq->shape};
    cli_check(v->c, ravel_compile(v->c->cx, &rq, &s->plan, &err), &err);
    v->plan = s->plan;
    v->again = compile_again(a, s->plan->plan);
    v->boundaries = plan_boundaries(a, compile_again(a, v->emitted));
    v->boxes = plan_check(a, v->again, true);
    prove_all(v);
}

void
cli_prove_shapes(Cli *c, const Request *rq, const Plan *p, const ChildObject *object,
                 ShapeProof *out, Outcome *o)
{
    Diag d;
    Shapes s = {.v = {.c = c, .object = object, .emitted = p}, .rq = rq};
    bool ok = arena_run(c->arena, &d, prove_shapes, &s);
    ravel_plan_free(s.plan);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    *o = s.v.sum;
    *out = (ShapeProof){s.v.boundaries.n, s.v.boundaries.idle, s.v.at};
}
