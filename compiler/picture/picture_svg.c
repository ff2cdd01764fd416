/* Writes pictures as SVG: for each the plane, and beside it the storage. */
#include <stdio.h>
#include <string.h>

#include "picture.h"

enum { CELL_H = 22, CELL_W = 26, CHAR_W = 7, TOP = 62, GAP = 70, LEFT = 16, KEY_H = 34,
       TITLE_W = 420, LABEL_MAX = 48 };

typedef struct {
    Buf *b;
    const Picture *p;
    i64 y;                /* of the cells */
    int cell[2];          /* the width of a cell of the plane; of the storage */
    bool has[CELL_KINDS]; /* the kinds that occur, for the key */
} Svg;

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

static void
put_text(Buf *b, i64 x, i64 y, const char *class, const char *text)
{
    buf_printf(b, "<text x=\"%lld\" y=\"%lld\"", (long long)x, (long long)y);
    if (*class)
        buf_printf(b, " class=\"%s\"", class);
    buf_add(b, ">");
    add_escaped(b, text);
    buf_add(b, "</text>\n");
}

/* The text of a cell: in the plane its value, in the storage the element. */
static const char *
label(const Picture *p, const Cell *c, bool storage, char text[LABEL_MAX])
{
    const int *d = p->view.dim;
    if (c->kind == CELL_OTHER)
        return "\u00b7";
    *text = 0;
    if (c->kind == CELL_ELEMENT && !storage)
        snprintf(text, LABEL_MAX, "%lld", (long long)c->value);
    else if (c->kind == CELL_ELEMENT && d[0] >= 0 && d[1] >= 0)
        snprintf(text, LABEL_MAX, "%lld,%lld", (long long)c->x[0], (long long)c->x[1]);
    else if (c->kind == CELL_ELEMENT)
        snprintf(text, LABEL_MAX, "%lld", (long long)c->x[d[1] >= 0]);
    return text;
}

static void
widen(Svg *s, const CellGrid *g, bool storage)
{
    char text[LABEL_MAX];
    for (i64 i = 0; i < g->rows * g->cols; i++) {
        int n = (int)strlen(label(s->p, &g->cell[i], storage, text));
        s->has[g->cell[i].kind] = true;
        if (CHAR_W * n + 6 > s->cell[storage])
            s->cell[storage] = CHAR_W * n + 6;
    }
}

static void
put_cell(Svg *s, i64 x, i64 y, const Cell *c, bool storage)
{
    static const char *const class[CELL_KINDS] = {
        [CELL_OTHER] = "o", [CELL_PADDING] = "p", [CELL_HOLE] = "h"};
    char text[LABEL_MAX];
    if (c->kind == CELL_NONE)
        return;
    buf_printf(s->b, "<rect x=\"%lld\" y=\"%lld\" width=\"%d\" height=\"%d\" ",
               (long long)x, (long long)y, s->cell[storage], CELL_H);
    if (c->kind == CELL_ELEMENT)
        buf_printf(s->b, "fill=\"%s\"/>\n", picture_color(c->color));
    else
        buf_printf(s->b, "class=\"%s\"/>\n", class[c->kind]);
    const char *t = label(s->p, c, storage, text);
    if (*t)
        put_text(s->b, x + s->cell[storage] / 2, y + 15, "", t);
}

static void
put_number(Svg *s, i64 x, i64 y, const char *class, i64 n)
{
    char text[LABEL_MAX];
    snprintf(text, sizeof text, "%lld", (long long)n);
    put_text(s->b, x, y, class, text);
}

static void
put_line(Svg *s, i64 x, i64 y, i64 w, i64 h, const char *class)
{
    buf_printf(s->b, "<path d=\"M%lld %lldl%lld %lld\" class=\"%s\"/>\n", (long long)x,
               (long long)y, (long long)w, (long long)h, class);
}

/* Lines at the multiples of a block, of rows or columns of the plane. */
static void
put_borders(Svg *s, i64 x0, int side, i64 block, const char *class)
{
    const CellGrid *g = &s->p->plane;
    i64 n = side ? g->cols : g->rows, at = g->first[side];
    for (i64 i = 0; block && i <= n; i++) {
        if ((at + i) % block)
            continue;
        if (side)
            put_line(s, x0 + i * s->cell[0], s->y, 0, g->rows * CELL_H, class);
        else
            put_line(s, x0, s->y + i * CELL_H, g->cols * s->cell[0], 0, class);
    }
}

static void
put_plane(Svg *s, i64 x0)
{
    const CellGrid *g = &s->p->plane;
    for (i64 j = 0; j < g->cols; j++)
        put_number(s, x0 + j * s->cell[0] + s->cell[0] / 2, s->y - 5, "g", g->first[1] + j);
    for (i64 i = 0; i < g->rows; i++) {
        put_number(s, x0 - 5, s->y + i * CELL_H + 15, "n", g->first[0] + i);
        for (i64 j = 0; j < g->cols; j++)
            put_cell(s, x0 + j * s->cell[0], s->y + i * CELL_H,
                     &g->cell[i * g->cols + j], false);
    }
    buf_printf(s->b, "<rect x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%lld\" "
               "class=\"f\"/>\n", (long long)x0, (long long)s->y,
               (long long)g->cols * s->cell[0], (long long)g->rows * CELL_H);
    for (int side = 0; side < 2; side++) {
        if (s->p->block[side] < s->p->tile[side])
            put_borders(s, x0, side, s->p->block[side], "b");
        put_borders(s, x0, side, s->p->tile[side], "t");
    }
}

/* Whether line i of the storage and its neighbours have no element of the plane: of such
 * lines only the first and the last are drawn. */
static bool
is_dull(const CellGrid *g, i64 i)
{
    for (i64 k = i - 1; k <= i + 1; k++)
        for (i64 j = 0; j < g->cols; j++)
            if (k < 0 || k >= g->rows || g->cell[k * g->cols + j].kind == CELL_ELEMENT)
                return false;
    return true;
}

/* Returns the number of lines drawn; a run of dull lines is one. */
static i64
put_storage(Svg *s, i64 x0)
{
    const CellGrid *g = &s->p->storage;
    i64 line = 0;
    for (i64 i = 0; i < g->rows; i++, line++) {
        i64 y = s->y + line * CELL_H;
        bool dull = is_dull(g, i);
        while (i + 1 < g->rows && dull && is_dull(g, i + 1))
            i++;
        if (dull) {
            put_text(s->b, x0 + s->cell[1] / 2, y + 15, "", "...");
            continue;
        }
        put_number(s, x0 - 5, y + 15, "n", (g->first[0] + i) * g->cols);
        for (i64 j = 0; j < g->cols; j++)
            put_cell(s, x0 + j * s->cell[1], y, &g->cell[i * g->cols + j], true);
    }
    return line;
}

/* What the cells without a number are. */
static void
put_key(Svg *s, i64 x, i64 y)
{
    static const struct {
        CellKind kind;
        const char *text;
    } key[] = {{CELL_PADDING, "padding"}, {CELL_HOLE, "hole"},
               {CELL_OTHER, "an element of another plane"}};
    for (int i = 0; i < LEN(key); i++) {
        if (!s->has[key[i].kind])
            continue;
        put_cell(s, x, y, &(Cell){.kind = key[i].kind}, true);
        put_text(s->b, x + s->cell[1] + 6, y + 15, "l", key[i].text);
        x += s->cell[1] + 24 + CHAR_W * (i64)strlen(key[i].text);
    }
}

static const char *
heading(const Picture *p, Arena *a)
{
    Buf b = buf_new(a);
    buf_add(&b, layout_ref_text(a, p->l->ref));
    for (int d = 0; d < p->l->rank; d++)
        buf_printf(&b, "%s%lld", d ? "," : " of (", (long long)p->l->dim[d].n);
    buf_printf(&b, "%s, %s", p->l->rank ? ")" : "", p->l->dtype->name);
    return b.s;
}

static const char *
storage_title(const Picture *p, Arena *a)
{
    const CellGrid *g = &p->storage;
    const char *part = g->first[0] ? arena_printf(a, " from address %lld on",
                                                  (long long)(g->first[0] * g->cols))
                       : g->more[0] ? ", its beginning" : "";
    return arena_printf(a, "storage%s: the element at each address", part);
}

static void
grow(i64 *n, i64 to)
{
    *n = *n > to ? *n : to;
}

/* Draw the storage at x and return its lines; *right grows to its right end. */
static i64
put_storage_part(Svg *s, i64 x, i64 *right)
{
    const Picture *p = s->p;
    const char *title = storage_title(p, s->b->arena);
    if (!p->storage.rows)
        return 0;
    put_text(s->b, x, s->y - TOP + 42, "l", title);
    buf_add(s->b, "<g class=\"storage\">\n");
    i64 lines = put_storage(s, x);
    buf_add(s->b, "</g>\n");
    grow(right, x + p->storage.cols * s->cell[1]);
    grow(right, x + CHAR_W * (i64)strlen(title));
    return lines;
}

/* Draw one picture at height y and return the height below it; *width grows to its own. */
static i64
put_picture(Buf *b, const Picture *p, i64 y, i64 *width)
{
    Svg s = {.b = b, .p = p, .y = y + TOP, .cell = {CELL_W, CELL_W}};
    widen(&s, &p->plane, false);
    widen(&s, &p->storage, true);
    const char *title = picture_title(b->arena, p), *head = heading(p, b->arena);
    i64 x = LEFT + 24, rows = p->plane.rows, right = x + p->plane.cols * s.cell[0];
    grow(&right, x + CHAR_W * (i64)strlen(title));
    put_text(b, LEFT, y + 20, "h", head);
    put_text(b, x, y + 42, "l", title);
    buf_add(b, "<g class=\"plane\">\n");
    put_plane(&s, x);
    buf_add(b, "</g>\n");
    grow(&rows, put_storage_part(&s, right + GAP, &right));
    i64 bottom = s.y + rows * CELL_H;
    bool key = s.has[CELL_PADDING] || s.has[CELL_HOLE] || s.has[CELL_OTHER];
    if (key)
        put_key(&s, x, bottom + 10);
    grow(width, right + LEFT);
    grow(width, LEFT + 8 * (i64)strlen(head) + LEFT);
    return bottom + (key ? KEY_H : 0);
}

/* The style is for this picture alone, also where a notebook puts it into its page. */
#define OWN ".ravel "

void
picture_svg(Buf *b, Picture *const *p, int n)
{
    Buf body = buf_new(b->arena);
    i64 width = TITLE_W, height = 0;
    for (int i = 0; i < n; i++)
        height = put_picture(&body, p[i], height, &width);
    height += LEFT;
    buf_printf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ravel\" width=\"%lld\" "
               "height=\"%lld\" viewBox=\"0 0 %lld %lld\" font-family=\"sans-serif\" "
               "font-size=\"11\">\n", (long long)width, (long long)height,
               (long long)width, (long long)height);
    buf_add(b, "<style>" OWN "text{text-anchor:middle}" OWN ".n{text-anchor:end;fill:#555}"
               OWN ".g{fill:#555}" OWN ".l," OWN ".h{text-anchor:start}" OWN ".h{font-size:14px}"
               OWN "rect{stroke:#fff}" OWN ".o{fill:#eee}" OWN ".p{fill:url(#pad)}"
               OWN ".f{fill:none;stroke:#222}"
               OWN "rect.h{fill:#fff;stroke:#999;stroke-dasharray:2 2}"
               OWN "path{stroke:#222;fill:none}" OWN ".t{stroke-width:2}" OWN ".b{stroke-width:.6}"
               "</style>\n"
               "<defs><pattern id=\"pad\" width=\"6\" height=\"6\" "
               "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
               "<rect width=\"6\" height=\"6\" style=\"fill:#eee;stroke:none\"/>"
               "<path d=\"M0 0v6\" style=\"stroke:#999;stroke-width:2\"/>"
               "</pattern></defs>\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    buf_add(b, body.s);
    buf_add(b, "</svg>\n");
}
