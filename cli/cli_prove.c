/* emit --check: prove emitted text as a compiler translates it. */
#include <stdio.h>
#include <string.h>

#include "cli_child.h"
#include "cli_object.h"
#include "cli_runtime.h"

/* The function that takes the values of the names from an array. */
static const char wrapper[] = "ravel_checked";

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

static const char *
with_wrapper(Arena *a, const char *text, const char *name, int names)
{
    Buf b = buf_new(a);
    buf_printf(&b, "%s\nint %s(void *d, const void *s, const int64_t *x);\n"
               "int\n%s(void *d, const void *s, const int64_t *x)\n{\n"
               "    return %s(d, s", text, wrapper, wrapper, name);
    for (int i = 0; i < names; i++)
        buf_printf(&b, ", x[%d]", i);
    buf_printf(&b, ");\n}\n");
    return b.s;
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
print_verdict(Cli *c, const Plan *p, const char *compiler, const ShapeProof *s,
              const Outcome *o)
{
    FILE *f = strcmp(c->o.output, "-") ? stdout : stderr;
    const ravel_certificate *k = &o->certificate;
    bool no = o->why[0];
    fprintf(f, "%s: %s -> %s of %s, %s, by %s", no ? "no" : "yes",
            layout_ref_text(c->arena, p->src->ref), layout_ref_text(c->arena, p->dst->ref),
            !plan_is_fixed(p) ? c->o.shape : cli_tuple(c->arena, cli_shape(c->arena, p->src),
                                            p->src->rank),
            p->src->dtype->name, compiler);
    if (no && s->at)
        fprintf(f, ", at %s", cli_tuple(c->arena, s->at, p->src->rank));
    if (no)
        fprintf(f, "\n  %s\n", o->why);
    else if (!plan_is_fixed(p))
        fprintf(f, ": %d shapes, every boundary value and its neighbours; %d runs\n",
                s->shapes, k->runs);
    else
        fprintf(f, ": %lld elements, %lld padding, %lld holes not written; %d runs\n",
                (long long)k->elements, (long long)k->padding, (long long)k->holes, k->runs);
}

bool
cli_prove_emitted(Cli *c, const Target *t, const Request *rq, const Plan *p,
                  const char *text)
{
    const char *compiler = compiler_of(c);
    const char *name = rq->name ? rq->name : emit_name(c->arena, t, rq);
    Outcome o = {{0}, {0}};
    ShapeProof s = {0};
    if (!plan_is_fixed(p))
        text = with_wrapper(c->arena, text, name, p->scalars->nextents);
    ChildObject object = {.path = cli_object(c, compiler, text)};
    object.name = !plan_is_fixed(p) ? wrapper : name;
    object.said = compiler;
    if (!plan_is_fixed(p))
        cli_prove_shapes(c, rq, p, &object, &s, &o);
    else
        prove_numbers(c, p, &object, &o);
    print_verdict(c, p, compiler, &s, &o);
    return !o.why[0];
}
