/* plan_choices: what plans with numbers, and with extents left to run time, choose for the
 * same shape.  Standard input has lines of four fields, separated by tabs:
 *
 *   FROM  TO  DTYPE  SHAPE          NCHW  NHWC  f32  2,3,5,7
 *
 * The answer is a line each: "fixed" or "runtime", and for each nest that runs there the
 * elements that it writes, its kernel, and the order of its loops; or the error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../compiler/compile.h"
#include "../../runtime/library.h"

typedef struct {
    Arena arena;
    const Known *known;
    const char *from, *to, *dtype;
    int rank;
    i64 shape[MAX_RANK];
} Line;

static void
print_nest(const Nest *n, i64 elements)
{
    if (elements && !n->merged)
        printf("\t%lld %s, %s", (long long)elements, n->kernel->name, n->order);
}

static void
plan(Line *l, bool runtime)
{
    i64 shape[MAX_RANK], extent[MAX_RANK];
    for (int d = 0; d < l->rank; d++)
        shape[d] = runtime ? RUNTIME_EXTENT : l->shape[d];
    Request rq = {.from = l->from, .to = l->to, .dtype = l->dtype, .rank = l->rank,
                  .shape = shape, .name = "f"};
    const Plan *p = compile_plan(&l->arena, l->known, &rq);
    const char *why = plan_extents(&l->arena, p, l->shape, extent);
    const i64 *val = why ? NULL : plan_values(&l->arena, p, extent);
    printf("%s", runtime ? "runtime" : "fixed");
    for (int i = 0; val && i < p->n; i++)
        print_nest(p->nest[i], nest_elements_at(p->nest[i], val));
    printf("\n");
}

static void
plan_fixed(void *arg)
{
    plan(arg, false);
}

static void
plan_runtime(void *arg)
{
    plan(arg, true);
}

static void
answer(const Known *known, char *text)
{
    static void (*const make[])(void *) = {plan_fixed, plan_runtime};
    for (int i = 0; i < LEN(make); i++) {
        char *copy = strdup(text), *shape, *end;
        Diag d;
        Line l = {.known = known, .from = strtok(copy, "\t"), .to = strtok(NULL, "\t"),
                  .dtype = strtok(NULL, "\t")};
        shape = strtok(NULL, "\t");
        for (; shape && *shape && l.rank < MAX_RANK; shape = *end == ',' ? end + 1 : end)
            l.shape[l.rank++] = strtoll(shape, &end, 10);
        if (!arena_run(&l.arena, &d, make[i], &l))
            printf("error\t%s\n", d.text);
        arena_free(&l.arena);
        free(copy);
    }
}

int
main(void)
{
    static char line[1 << 14];
    ravel_context *cx;
    ravel_error err;
    if (ravel_context_new(&cx, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(context_known(cx), line);
    }
    ravel_context_free(cx);
    return 0;
}
