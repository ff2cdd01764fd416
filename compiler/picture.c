/* A picture of a layout: one plane of the tensor with the address of each element, and
 * the storage with the element at each address, in the same colours.  The colour depends
 * on the address, so neighbours in memory have similar colours. */
#include <stdio.h>
#include <string.h>

#include "compile.h"

enum { CELL_W = 38, CELL_H = 24, SIDE_MAX = 32, RUN_MAX = 16, STORAGE_ROWS = 48, TOP = 64,
       GAP = 88, TITLE_CELLS = 8 };

typedef struct {
    Buf *b;
    const Layout *l;
    const Verdict *v;
    int row, col;         /* the dims of the plane; -1: none */
    i64 rows, cols;       /* cells drawn */
    i64 run;              /* storage cells a line */
} Picture;

/* The number of entries in which a dim occurs; the plane has the dims that are split. */
static int
parts_of_dim(const Layout *l, int d)
{
    int n = 0;
    for (int i = 0; i < l->nentry; i++) {
        bool *used = arena_array(ex_arena(l->e), bool, ex_nvars(l->e));
        ex_vars(l->entry[i].ex, used);
        n += used[l->dim[d].var];
    }
    return n * (l->dim[d].n > 1);
}

static void
choose_plane(Picture *p)
{
    int best = -1, second = -1, parts[MAX_RANK];
    for (int d = 0; d < p->l->rank; d++)
        parts[d] = parts_of_dim(p->l, d);
    for (int d = p->l->rank - 1; d >= 0; d--)
        if (best < 0 || parts[d] > parts[best])
            best = d;
    for (int d = p->l->rank - 1; d >= 0; d--)
        if (d != best && (second < 0 || parts[d] > parts[second]))
            second = d;
    p->row = best < second ? best : second;
    p->col = best < second ? second : best;
    p->rows = p->row < 0 ? 1 : p->l->dim[p->row].n;
    p->cols = p->col < 0 ? 1 : p->l->dim[p->col].n;
    p->rows = p->rows < SIDE_MAX ? p->rows : SIDE_MAX;
    p->cols = p->cols < SIDE_MAX ? p->cols : SIDE_MAX;
}

/* The length of a line of storage: the product of innermost extents, up to 16, or one
 * extent up to 32. */
static void
choose_run(Picture *p)
{
    i64 box[MAX_ENTRIES];
    int n = layout_box(p->l, box);
    p->run = 1;
    for (int i = n - 1; i >= 0; i--)
        if (p->run * box[i] <= (p->run == 1 ? SIDE_MAX : RUN_MAX))
            p->run *= box[i];
        else
            break;
    if (p->run == 1)
        p->run = p->l->size < RUN_MAX ? p->l->size : RUN_MAX;
}

/* Draw a cell in the colour of its address a; a < 0: an empty cell. */
static void
cell(Picture *p, i64 x, i64 y, i64 a, const char *text)
{
    i64 last = p->l->size > 1 ? p->l->size - 1 : 1;
    int hue = (int)(300.0 * (double)a / (double)last);
    const char *fill = a < 0 ? "#eee"
                             : arena_printf(p->b->arena, "hsl(%d,75%%,80%%)", hue);
    buf_printf(p->b, "<rect x=\"%lld\" y=\"%lld\" width=\"%d\" height=\"%d\" "
               "fill=\"%s\" stroke=\"#fff\"/>", (long long)x, (long long)y, CELL_W,
               CELL_H, fill);
    if (*text)
        buf_printf(p->b, "<text x=\"%lld\" y=\"%lld\">%s</text>",
                   (long long)x + CELL_W / 2, (long long)y + 16, text);
    buf_add(p->b, "\n");
}

static void
label(Picture *p, i64 x, i64 y, const char *anchor, const char *text)
{
    buf_printf(p->b, "<text x=\"%lld\" y=\"%lld\" style=\"text-anchor:%s\" "
               "fill=\"#555\">%s</text>\n", (long long)x, (long long)y, anchor, text);
}

static void
draw_plane(Picture *p, i64 x0)
{
    char text[40];
    i64 x[MAX_RANK] = {0}, a;
    for (i64 i = 0; i < p->rows; i++) {
        snprintf(text, sizeof text, "%lld", (long long)i);
        label(p, x0 - 6, TOP + i * CELL_H + 16, "end", text);
        for (i64 j = 0; j < p->cols; j++) {
            if (p->row >= 0)
                x[p->row] = i;
            if (p->col >= 0)
                x[p->col] = j;
            if (!layout_address(p->l, x, &a))
                continue;
            snprintf(text, sizeof text, "%lld", (long long)a);
            cell(p, x0 + j * CELL_W, TOP + i * CELL_H, a, text);
        }
    }
    for (i64 j = 0; j < p->cols; j++) {
        snprintf(text, sizeof text, "%lld", (long long)j);
        label(p, x0 + j * CELL_W + CELL_W / 2, TOP - 6, "middle", text);
    }
}

/* The label of a storage address: coordinates in the plane, nothing, or an element of
 * another plane. */
static bool
holds(const Picture *p, i64 a, char *text, size_t size)
{
    i64 x[MAX_RANK];
    bool other = false;
    *text = 0;
    if (!verdict_element(p->l, p->v, a, x))
        return false;
    for (int d = 0; d < p->l->rank; d++)
        other |= d != p->row && d != p->col && x[d] != 0;
    if (other)
        snprintf(text, size, "&#183;");
    else if (p->row >= 0)
        snprintf(text, size, "%lld,%lld", (long long)x[p->row], (long long)x[p->col]);
    else
        snprintf(text, size, "%lld", (long long)(p->col < 0 ? 0 : x[p->col]));
    return true;
}

static i64
storage_rows(const Picture *p)
{
    i64 rows = int_ceil_div(p->l->size, p->run);
    return rows < STORAGE_ROWS ? rows : STORAGE_ROWS;
}

static void
draw_storage(Picture *p, i64 x0)
{
    char text[60];
    for (i64 i = 0; i < storage_rows(p); i++) {
        snprintf(text, sizeof text, "%lld", (long long)(i * p->run));
        label(p, x0 - 6, TOP + i * CELL_H + 16, "end", text);
        for (i64 j = 0; j < p->run && i * p->run + j < p->l->size; j++) {
            i64 a = i * p->run + j;
            bool used = holds(p, a, text, sizeof text);
            cell(p, x0 + j * CELL_W, TOP + i * CELL_H, used ? a : -1, text);
        }
    }
}

static const char *
plane_title(const Picture *p)
{
    Arena *a = p->b->arena;
    const Dim *d = p->l->dim;
    if (p->col < 0)
        return "the element";
    if (p->row < 0)
        return arena_printf(a, "tensor: columns %s", d[p->col].name);
    return arena_printf(a, "tensor: rows %s, columns %s%s", d[p->row].name,
                        d[p->col].name, p->l->rank > 2 ? ", other dims 0" : "");
}

/* XML cannot represent control characters. */
static void
add_escaped(Buf *b, const char *s)
{
    size_t n = strlen(s), k;
    for (uint32_t c = 0; n > 0; s += k ? k : 1, n -= k ? k : 1) {
        k = utf8_next(s, n, &c);
        if (!k || utf8_is_hidden(c))
            buf_add(b, "&#xfffd;");
        else if (c < 0x80 && strchr("&<>\"", (int)c))
            buf_printf(b, "&#%u;", c);
        else
            buf_addn(b, s, k);
    }
}

void
svg_layout(Buf *b, const Layout *l, const Verdict *v)
{
    Picture p = {.b = b, .l = l, .v = v};
    choose_plane(&p);
    choose_run(&p);
    i64 left = p.cols > TITLE_CELLS ? p.cols : TITLE_CELLS;
    i64 x1 = 40, x2 = x1 + left * CELL_W + GAP;
    i64 rows = v->inverse && storage_rows(&p) > p.rows ? storage_rows(&p) : p.rows;
    i64 right = p.run > TITLE_CELLS ? p.run : TITLE_CELLS;
    i64 width = v->inverse ? x2 + right * CELL_W + 20 : x2;
    buf_printf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" "
               "height=\"%lld\" font-family=\"sans-serif\" font-size=\"11\">\n"
               "<style>text{text-anchor:middle}</style>\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
               (long long)width,
               (long long)(TOP + rows * CELL_H + 20));
    buf_add(b, "<text x=\"10\" y=\"20\" style=\"text-anchor:start;font-size:14px\">");
    add_escaped(b, layout_ref_text(b->arena, l->ref));
    buf_printf(b, ", %s</text>\n", l->dtype->name);
    label(&p, x1, 40, "start", plane_title(&p));
    draw_plane(&p, x1);
    if (v->inverse) {
        bool part = storage_rows(&p) * p.run < l->size;
        label(&p, x2, 40, "start", part ? "storage (its beginning), grey is padding"
                                        : "storage, grey is padding");
        draw_storage(&p, x2);
    }
    buf_add(b, "</svg>\n");
}
