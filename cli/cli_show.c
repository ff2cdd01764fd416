/* show: print a layout. */
#include <stdio.h>

#include "../runtime/file.h"
#include "cli.h"
#include "cli_sparse.h"

enum { ROWS_MAX = 24, COLS_MAX = 16, RUN_MAX = 12 };

static void
print_order(Cli *c, const Layout *l)
{
    i64 box[MAX_ENTRIES];
    int n = layout_box(l, box);
    printf("%s  %s\n", layout_ref_text(c->arena, l->ref), l->dtype->name);
    if (l->ref->def->doc)
        printf("%s\n", l->ref->def->doc);
    printf("\nstorage order, outermost first\n");
    for (int i = 0; i < l->nentry; i++)
        printf("  %-18s %6lld slots, %8lld apart\n",
               ast_text(c->arena, l->entry[i].x), (long long)l->entry[i].extent,
               (long long)l->entry[i].stride);
    if (l->sigma)
        printf("  then the address a becomes %s\n",
               ast_text(c->arena, l->ref->def->swizzle));
    printf("\naddress = %s\n", ex_text(l->e, l->addr));
    printf("storage %s: %lld elements, %lld bytes\n", cli_tuple(c->arena, box, n),
           (long long)l->size, (long long)layout_bytes(l));
}

static void
print_plane(const Layout *l)
{
    int r = l->rank - 2, col = l->rank - 1;
    i64 x[MAX_RANK] = {0}, a;
    i64 rows = r < 0 ? 1 : l->dim[r].n, cols = col < 0 ? 1 : l->dim[col].n;
    printf("\naddresses");
    if (l->rank > 2) {
        printf(" at");
        for (int d = 0; d < r; d++)
            printf(" %s=0", l->dim[d].name);
    }
    printf("%s%s%s%s\n", r < 0 ? "" : ", rows are ", r < 0 ? "" : l->dim[r].name,
           col < 0 ? "" : ", columns are ", col < 0 ? "" : l->dim[col].name);
    for (i64 i = 0; i < rows && i < ROWS_MAX; i++) {
        printf("  ");
        for (i64 j = 0; j < cols && j < COLS_MAX; j++) {
            if (r >= 0)
                x[r] = i;
            if (col >= 0)
                x[col] = j;
            layout_address(l, x, &a);
            printf(" %5lld", (long long)a);
        }
        printf("%s\n", cols > COLS_MAX ? " ..." : "");
    }
    if (rows > ROWS_MAX)
        printf("   ...\n");
}

/* The elements that the first addresses hold. */
static void
print_run(Cli *c, const Layout *l, const Verdict *v)
{
    i64 x[MAX_RANK];
    if (!v->inverse)
        return;
    printf("\nfrom address 0:");
    for (i64 a = 0; a < l->size && a < RUN_MAX; a++)
        printf(" %s", !verdict_element(l, v, a, x) ? "-"
                                                   : cli_tuple(c->arena, x, l->rank));
    printf("%s\n", l->size > RUN_MAX ? " ..." : "");
}

int
cmd_show(Cli *c)
{
    i64 shape[MAX_RANK];
    const char *text = cli_layout_text(c, c->o.arg[0]);
    if (cli_is_sparse(c, text, NULL))
        return cli_sparse_show(c, text);
    Layout *l = cli_layout(c, shape);
    Verdict *v = decide_readable_or_fail(l);
    if (c->o.svg) {
        ravel_error err;
        Buf b = buf_new(c->arena);
        svg_layout(&b, l, v);
        FilePart part = {b.s, b.len};
        cli_check(c, file_write(c->o.svg, &part, 1, &err), &err);
        return EXIT_YES;
    }
    print_order(c, l);
    print_plane(l);
    print_run(c, l, v);
    return EXIT_YES;
}
