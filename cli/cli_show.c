/* show: print or draw a layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "cli_convert.h"
#include "cli_sparse.h"

enum { ROWS_MAX = 24, RUN_MAX = 12, WIDTH = 100, WIDTH_MIN = 20 };

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
    printf("storage %s: %s, %s\n", cli_tuple(c->arena, box, n),
           cli_count(c->arena, l->size, "element"), cli_count(c->arena, layout_bytes(l), "byte"));
}

/* The characters of a line: of the terminal, or as COLUMNS says. */
static int
line_width(void)
{
    struct winsize w;
    const char *set = getenv("COLUMNS");
    int n = set ? atoi(set) : 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col)
        n = w.ws_col;
    return n >= WIDTH_MIN ? n : WIDTH;
}

/* Colours are for terminals, unless NO_COLOR is set (no-color.org). */
static bool
is_colored(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static void
print_plane(Cli *c, const Picture *p)
{
    Buf b = buf_new(c->arena);
    bool colored = is_colored();
    picture_text(&b, p, line_width(), colored);
    printf("\n%s\n", picture_title(c->arena, p));
    if (colored)
        cli_show_colored(b.s);
    else
        fputs(b.s, stdout);
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

/* The layout of --beside for the same shape; its dims are those of the first by position. */
static Picture *
beside(Cli *c, const Picture *first)
{
    const Layout *l = first->l;
    const char *text = cli_layout_text(c, c->o.beside);
    Layout *other = compile_layout(c->arena, c->known, text, l->dtype->name, l->rank,
                                   cli_shape(c->arena, l));
    PictureView same = first->view;
    same.named = first->by ? l : NULL;
    return picture_make(other, decide_readable_or_fail(other), &same);
}

static void
write_html(Cli *c, Picture *const *p)
{
    json_t *layouts = json_array();
    for (int i = 0; i < 2 && p[i]; i++)
        json_array_append_new(layouts, cli_html_layout(c, p[i]->l, false));
    cli_html_write(c, c->o.html, p[0], layouts, NULL);
}

static void
print_pictures(Cli *c, Picture *const *p, const Verdict *v)
{
    print_order(c, p[0]->l);
    print_plane(c, p[0]);
    if (p[1]) {
        printf("\n%s", layout_ref_text(c->arena, p[1]->l->ref));
        print_plane(c, p[1]);
    }
    print_run(c, p[0]->l, v);
}

int
cmd_show(Cli *c)
{
    i64 shape[MAX_RANK];
    if (cli_is_matrix(c, c->o.arg[0]))
        return cli_matrix_show(c);
    if (c->o.from || c->o.to)
        cli_fail(c, "--from and --to are for a matrix in a file, as in show a.mtx --to CSR");
    const char *text = cli_layout_text(c, c->o.arg[0]);
    if (cli_is_sparse(c, text, NULL))
        return cli_sparse_show(c, text);
    if (!cli_knows_shape(c, text, NULL))
        return cli_show_symbolic(c);
    Layout *l = cli_layout(c, shape);
    Verdict *v = decide_readable_or_fail(l);
    PictureView view = cli_view(c, l);
    if (c->o.svg && foreign_format(c->o.svg))
        cli_fail(c, "'%s': --svg writes SVG, and no file of %s", c->o.svg, foreign_format(c->o.svg));
    if (c->o.svg && c->o.html)
        cli_fail(c, "--svg and --html: one picture at a time");
    view.most[0] = c->o.svg ? 0 : ROWS_MAX;
    Picture *p[2] = {picture_make(l, v, &view)};
    p[1] = c->o.beside ? beside(c, p[0]) : NULL;
    if (c->o.svg) {
        Buf b = buf_new(c->arena);
        picture_svg(&b, p, 1 + !!p[1]);
        cli_write(c, c->o.svg, b.s, b.len);
    } else if (c->o.html) {
        write_html(c, p);
    } else {
        print_pictures(c, p, v);
    }
    return EXIT_YES;
}
