/* Writes a picture for a terminal. */
#include <stdlib.h>
#include <string.h>

#include "picture.h"

typedef struct {
    Buf *b;
    const Picture *p;
    bool colored;
    int label, cell;      /* characters of a row's number; of a cell */
    i64 cols;             /* that fit */
} Text;

static int
digits(i64 v)
{
    int n = 1;
    while (v /= 10)
        n++;
    return n;
}

/* Whether a tile begins at row or column `at`, but not the first one drawn. */
static bool
begins_tile(const Picture *p, int side, i64 at)
{
    return p->tile[side] && at > p->plane.first[side] && at % p->tile[side] == 0;
}

static i64
columns(const Text *t, int width)
{
    const CellGrid *g = &t->p->plane;
    int used = t->label + (g->more[1] ? 4 : 0);
    for (i64 j = 0; j < g->cols; j++) {
        used += t->cell + 2 * begins_tile(t->p, 1, g->first[1] + j);
        if (used > width)
            return j ? j : 1;
    }
    return g->cols;
}

/* The entry of the terminal's cube of 6 x 6 x 6 colours that is nearest to #rrggbb. */
static int
terminal_color(const char *hex)
{
    long rgb = strtol(hex + 1, NULL, 16);
    int level[3];
    for (int i = 0; i < 3; i++) {
        long v = rgb >> (16 - 8 * i) & 255;
        level[i] = v < 48 ? 0 : v < 115 ? 1 : (int)((v - 35) / 40);
    }
    return 16 + 36 * level[0] + 6 * level[1] + level[2];
}

static void
put_cell(Text *t, const Cell *c)
{
    if (t->colored && c->kind == CELL_ELEMENT)
        buf_printf(t->b, "\033[30;48;5;%dm%*lld\033[0m",
                   terminal_color(picture_color(c->color)), t->cell, (long long)c->value);
    else if (c->kind == CELL_ELEMENT)
        buf_printf(t->b, "%*lld", t->cell, (long long)c->value);
    else
        buf_printf(t->b, "%*s", t->cell, "-");
}

static void
put_row(Text *t, i64 i)
{
    const CellGrid *g = &t->p->plane;
    buf_printf(t->b, "%*lld", t->label, (long long)(g->first[0] + i));
    for (i64 j = 0; j < t->cols; j++) {
        buf_add(t->b, begins_tile(t->p, 1, g->first[1] + j) ? " |" : "");
        put_cell(t, &g->cell[i * g->cols + j]);
    }
    buf_add(t->b, g->more[1] || t->cols < g->cols ? " ...\n" : "\n");
}

/* The numbers of the columns, or with `line` a line between tiles. */
static void
put_rule(Text *t, bool line)
{
    const CellGrid *g = &t->p->plane;
    buf_printf(t->b, "%*s", t->label, "");
    for (i64 j = 0; j < t->cols; j++) {
        i64 at = g->first[1] + j;
        if (begins_tile(t->p, 1, at))
            buf_add(t->b, line ? "-+" : "  ");
        if (line)
            for (int k = 0; k < t->cell; k++)
                buf_add(t->b, "-");
        else
            buf_printf(t->b, "%*lld", t->cell, (long long)at);
    }
    buf_add(t->b, "\n");
}

void
picture_text(Buf *b, const Picture *p, int width, bool colored)
{
    const CellGrid *g = &p->plane;
    i64 last = g->first[1] + g->cols - 1;
    Text t = {.b = b, .p = p, .colored = colored};
    t.label = 2 + digits(g->first[0] + g->rows - 1);
    t.cell = 1 + digits(p->most > last ? p->most : last);
    if (p->least < 0 && t.cell < 2 + digits(p->least))
        t.cell = 2 + digits(p->least);
    t.cols = columns(&t, width);
    put_rule(&t, false);
    for (i64 i = 0; i < g->rows; i++) {
        if (begins_tile(p, 0, g->first[0] + i))
            put_rule(&t, true);
        put_row(&t, i);
    }
    if (g->more[0])
        buf_printf(b, "%*s\n", t.label, "...");
}

const char *
picture_title(Arena *a, const Picture *p)
{
    static const char *const side[] = {"rows are", "columns are"};
    const char *sep = ": ";
    Buf b = buf_new(a);
    buf_add(&b, p->by ? ast_text(a, p->by) : p->way->what);
    for (int s = 0; s < 2; s++)
        if (p->view.dim[s] >= 0) {
            buf_printf(&b, "%s%s %s", sep, side[s], p->l->dim[p->view.dim[s]].name);
            sep = ", ";
        }
    const char *at = ", at ";
    for (int d = 0; d < p->l->rank; d++)
        if (d != p->view.dim[0] && d != p->view.dim[1]) {
            buf_printf(&b, "%s%s=%lld", at, p->l->dim[d].name, (long long)p->view.at[d]);
            at = ", ";
        }
    return b.s;
}
