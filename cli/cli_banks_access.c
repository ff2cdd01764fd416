/* The value of --banks: accesses along a dim, of a fragment, or by ldmatrix. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli_banks.h"

enum { MATRIX_ROW = 16 };

/* Both of one cost: the load and the store of matrices. */
static const char *const by_matrix[] = {"ldmatrix", "stmatrix"};

static const char *
dim_names(const Banked *b)
{
    Buf dims = buf_new(b->c->arena);
    for (int i = 0; i < b->l->rank; i++)
        buf_printf(&dims, "%s%s", i ? ", " : "", b->l->dim[i].name);
    return dims.s;
}

static int
element_bits(const Banked *b)
{
    return b->l->dtype->bits;
}

/* The length of the access at s: commas within brackets belong to it. */
static size_t
access_length(const char *s)
{
    size_t n = 0;
    for (int depth = 0; s[n] && (depth > 0 || s[n] != ','); n++)
        depth += strchr("({[", s[n]) ? 1 : strchr(")}]", s[n]) ? -1 : 0;
    return n;
}

/* True if the text ends with ":ldmatrix", or is that word; *n is the length of what is
 * before. */
static bool
is_by_matrix(const char *text, size_t *n)
{
    size_t len = strlen(text);
    for (int i = 0; i < LEN(by_matrix); i++) {
        size_t own = strlen(by_matrix[i]);
        if (len < own || strcmp(text + len - own, by_matrix[i]))
            continue;
        *n = len == own ? 0 : len - own - 1;
        return len == own || text[*n] == ':';
    }
    return false;
}

static bool
is_layout(const Banked *b, const char *text)
{
    return strchr(text, '{') || strchr(text, '(') || strstr(text, ".lua:") ||
           known_find(b->c->arena, b->c->known, text);
}

static TileAccess
fragment_access(Banked *b, const char *text)
{
    Cli *c = b->c;
    i64 shape[MAX_RANK];
    int map[MAX_RANK];
    const char *own = cli_layout_text(c, text);
    const LayoutRef *ref = spec_ref(c->arena, own, c->known);
    plan_match(c->arena, b->l->ref, ref, b->l->rank, map);
    for (int d = 0; d < b->l->rank; d++)
        shape[d] = b->l->dim[map[d]].n;
    Layout *l = compile_layout(c->arena, c->known, own, b->l->dtype->name, b->l->rank, shape);
    decide_or_fail(l);
    b->fragment[b->n] = text;
    return (TileAccess){.text = text, .bytes = 1, .elements = 1,
                        .fragment = tile_fragment(c->arena, b->tile, l, map)};
}

/* K or K:16; the name has `name` characters. */
static TileAccess
dim_access(Banked *b, const char *text, size_t name)
{
    Arena *a = b->c->arena;
    int bits = element_bits(b), d = layout_find_dim(b->l, arena_printf(a, "%.*s", (int)name, text));
    TileAccess t = {.text = text, .dim = d, .bytes = bits < 8 ? 1 : bits / 8, .elements = 1};
    const char *colon = text + name;
    if (!*colon) {
        t.text = arena_printf(a, "%s:%d", text, t.bytes);
        return t;
    }
    char *end;
    i64 bytes = strtoll(colon + 1, &end, 10);
    if (!isdigit((unsigned char)colon[1]) || *end || !bank_width(bytes))
        cli_fail(b->c, "--banks %s: a lane accesses 1, 2, 4, 8 or 16 bytes", text);
    t.bytes = (int)bytes;
    t.elements = bytes * 8 / bits;
    if (t.elements < 1)
        cli_fail(b->c, "--banks %s: an element of %s is larger", text, b->l->dtype->name);
    return t;
}

/* The dim along which 16 bytes lie side by side. */
static int
row_dim(const Banked *b)
{
    i64 n = MATRIX_ROW * 8 / element_bits(b), step = 1, *addr = b->tile->addr;
    for (int d = b->l->rank - 1; d >= 0; step *= b->l->dim[d--].n) {
        i64 i = 1;
        while (i < n && b->l->dim[d].n % n == 0 && addr[i * step] == addr[0] + i)
            i++;
        if (i == n && (n == 1 || i > 1))
            return d;
    }
    cli_fail(b->c, "--banks ldmatrix: along no dim of %s lie 16 bytes side by side; name the "
             "dim of the rows, as in %s:ldmatrix", b->text, b->l->dim[b->l->rank - 1].name);
}

/* The rows of matrices along dim d. */
static TileAccess
rows_access(const Banked *b, const char *text, int d)
{
    return (TileAccess){.text = text, .dim = d, .bytes = MATRIX_ROW, .by_matrix = true,
                        .elements = MATRIX_ROW * 8 / element_bits(b)};
}

static TileAccess
read_access(Banked *b, const char *text)
{
    Arena *a = b->c->arena;
    size_t n = strlen(text);
    bool matrix = layout_find_dim(b->l, text) < 0 && is_by_matrix(text, &n);
    const char *of = arena_printf(a, "%.*s", (int)n, text);
    size_t name = strcspn(of, ":");
    int d = layout_find_dim(b->l, arena_printf(a, "%.*s", (int)name, of));
    if (matrix && !n && *text != ':' && b->l->rank)
        return rows_access(b, text, row_dim(b));
    if (d >= 0 && (!matrix || !of[name]))
        return matrix ? rows_access(b, text, d) : dim_access(b, text, name);
    if (!is_layout(b, of))
        cli_fail(b->c, "--banks: '%s' is not a dim of %s, which has (%s), and no known "
                 "layout; an access is a dim and bytes, as in K:4", arena_printf(a, "%.*s", (int)name, of), b->text, dim_names(b));
    TileAccess t = fragment_access(b, of);
    t.text = text;
    t.by_matrix = matrix;
    return t;
}

void
banked_read(Banked *b)
{
    for (const char *s = b->c->o.banks;; s++) {
        size_t n = access_length(s);
        if (b->n == ACCESSES_MAX)
            cli_fail(b->c, "--banks has more than %d accesses", ACCESSES_MAX);
        b->access[b->n] = read_access(b, arena_printf(b->c->arena, "%.*s", (int)n, s));
        b->n++;
        s += n;
        if (!*s)
            return;
    }
}

void
banked_set_widest(Banked *b, int i)
{
    TileAccess *t = &b->access[i];
    int bits = element_bits(b);
    if (!t->fragment)
        return;
    for (int k = 0; k < TILE_WIDTHS; k++)
        if (b->count[i].loads[k])
            t->bytes = 1 << k;
    t->elements = t->bytes * 8 > bits ? t->bytes * 8 / bits : 1;
}
