/* Reads lines of three fields, separated by tabs, "name min max ...", left, right, and
 * says for each whether the constructors bring both sides to one node: "same",
 * "differ: ..." or "refused: why".  A bound of `inf` or `-inf` is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../compiler/expr/expr.h"

enum { MAX_VARS = 16 };

typedef struct {
    Arena arena;
    Exprs *e;
    char *name[MAX_VARS];
    int var[MAX_VARS], n;
    char *side[2];
    const Ex *ex[2];
} Line;

static const Ex *
find_var(void *env, const Ast *sym)
{
    Line *l = env;
    for (int i = 0; i < l->n; i++)
        if (!strcmp(sym->name, l->name[i]))
            return ex_of_var(l->e, l->var[i]);
    return NULL;
}

static i64
bound(const char *s)
{
    if (!strcmp(s, "inf") || !strcmp(s, "-inf"))
        return *s == '-' ? -INF : INF;
    return strtoll(s, NULL, 10);
}

static void
lower_both(void *arg)
{
    Line *l = arg;
    for (int i = 0; i < 2; i++) {
        const Ast *x = ast_parse(&l->arena, l->side[i], (Loc){0});
        l->ex[i] = ast_lower(l->e, x, find_var, l);
    }
}

static void
answer(char *text)
{
    Diag d;
    Line l = {.arena = {.diag = &d}};
    char *vars = strsep(&text, "\t");
    l.side[0] = strsep(&text, "\t");
    l.side[1] = text;
    l.e = ex_new(&l.arena);
    for (char *w = strtok(vars, " "); w && l.n < MAX_VARS; w = strtok(NULL, " ")) {
        i64 min = bound(strtok(NULL, " "));
        l.name[l.n] = w;
        l.var[l.n++] = ex_var(l.e, w, min, bound(strtok(NULL, " ")));
    }
    if (!diag_run(&d, lower_both, &l))
        printf("refused: %s\n", d.text);
    else if (l.ex[0] == l.ex[1])
        puts("same");
    else
        printf("differ: %s   and   %s\n", ex_text(l.e, l.ex[0]), ex_text(l.e, l.ex[1]));
    arena_free(&l.arena);
}

int
main(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(line);
    }
    return 0;
}
