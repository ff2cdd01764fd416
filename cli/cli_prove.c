/* emit --check: prove emitted text as a compiler translates it. */
#include <stdio.h>
#include <string.h>

#include "cli_child.h"
#include "cli_object.h"
#include "cli_runtime.h"

/* The function that takes the values of the names, and the addresses of index arrays, from
 * an array. */
static const char *
wrapper_of(Arena *a, const Emitted *e)
{
    return arena_printf(a, "ravel_checked_%s", e->unit->name);
}

/* CC='clang -O2' or clang -O2. */
static const char *
compiler_of(Cli *c)
{
    const char *s = c->o.check;
    s += strncmp(s, "CC=", 3) ? 0 : 3;
    if (!s[strspn(s, " \t")])
        cli_fail(c, "--check is a compiler and its options, as in 'gcc -O2'");
    return s;
}

static void
add_wrapper(Buf *b, const Emitted *e)
{
    const char *wrapper = wrapper_of(b->arena, e);
    const char *params = "void *ravel_d, const void *ravel_s, const int64_t *ravel_x";
    buf_printf(b, "\nint %s(%s);\nint\n%s(%s)\n{\n    return %s(ravel_d, ravel_s", wrapper,
               params, wrapper, params, e->unit->name);
    const int extents = e->plan->scalars->nextents;
    for (int i = 0; i < extents; i++)
        buf_printf(b, ", ravel_x[%d]", i);
    for (int i = 0; i < e->unit->narrays; i++)
        buf_printf(b, ", (const int%d_t *)(intptr_t)ravel_x[%d]", e->unit->array[i].bits,
                   extents + i);
    buf_add(b, ");\n}\n");
}

static void
prove_numbers(Cli *c, const Plan *p, const ChildObject *object, Outcome *o)
{
    ravel_error err;
    cli_need_memory(c, proof_bytes(p), "a proof");
    cli_check(c, child_prove(p, NULL, object, 0, o, &err), &err);
}

/* Print the verdict: on standard error if the text goes to standard output. */
static void
print_verdict(Cli *c, const Emitted *e, const char *compiler, const ShapeProof *s,
              const Outcome *o)
{
    const Plan *p = e->plan;
    FILE *f = strcmp(c->o.output, "-") ? stdout : stderr;
    const ravel_certificate *k = &o->certificate;
    bool no = o->why[0];
    fprintf(f, "%s: %s -> %s of %s, %s, by %s", no ? "no" : "yes",
            layout_ref_text(c->arena, p->src->ref), layout_ref_text(c->arena, p->dst->ref),
            !plan_is_fixed(p) ? e->shape : cli_tuple(c->arena, cli_shape(c->arena, p->src),
                                            p->src->rank),
            p->src->dtype->name, compiler);
    if (no && s->at)
        fprintf(f, ", at %s", cli_tuple(c->arena, s->at, p->src->rank));
    if (no)
        fprintf(f, "\n  %s\n", o->why);
    else if (plan_has_arguments(p))
        fprintf(f, ": %s, every boundary value and its neighbours; %s%s\n",
                cli_count(c->arena, s->shapes, "shape"), cli_count(c->arena, k->runs, "run"),
                !s->idle ? "" :
                arena_printf(c->arena, "; %d of %d nests were not reached by these shapes", s->idle, p->n));
    else
        fprintf(f, ": %s, %lld padding, %s not written; %s\n",
                cli_count(c->arena, k->elements, "element"), (long long)k->padding,
                cli_count(c->arena, k->holes, "hole"), cli_count(c->arena, k->runs, "run"));
}

static bool
prove_one(Cli *c, const Emitted *e, const char *compiler, const char *path)
{
    Outcome o = {{0}, {0}};
    ShapeProof s = {0};
    bool fixed = !plan_has_arguments(e->plan);
    ChildObject object = {.path = path, .said = compiler};
    object.name = fixed ? e->unit->name : wrapper_of(c->arena, e);
    if (fixed)
        prove_numbers(c, e->plan, &object, &o);
    else
        cli_prove_shapes(c, &e->rq, e->plan, &object, &s, &o);
    print_verdict(c, e, compiler, &s, &o);
    return !o.why[0];
}

bool
cli_prove_emitted(Cli *c, const Emitted *e, int n, const char *text)
{
    const char *compiler = compiler_of(c);
    Buf b = buf_new(c->arena);
    buf_add(&b, text);
    for (int i = 0; i < n; i++)
        if (e[i].plan && plan_has_arguments(e[i].plan))
            add_wrapper(&b, &e[i]);
    const char *path = cli_object(c, compiler, b.s);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            c->arena->work.spent = 0;      /* the limit is of each conversion */
        if (e[i].plan && !prove_one(c, &e[i], compiler, path))
            return false;
        if (e[i].sparse && !cli_prove_sparse(c, &e[i], compiler, path))
            return false;
    }
    return true;
}
