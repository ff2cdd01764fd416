/* Matrix Market files of coordinates: https://math.nist.gov/MatrixMarket/formats.html */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_sparse.h"

typedef enum { REAL, INTEGER, COMPLEX, PATTERN } Field;
typedef enum { GENERAL, SYMMETRIC, SKEW, HERMITIAN } Symmetry;
static const char *const fields[] = {"real", "integer", "complex", "pattern", NULL};
static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric",
                                         "hermitian", NULL};
/* What NumPy calls the values, and their bytes. */
static const struct {
    const char *descr;
    int bytes;
} stored[] = {[REAL] = {"f8", 8}, [INTEGER] = {"i8", 8}, [COMPLEX] = {"c16", 16},
              [PATTERN] = {"u1", 1}};

typedef struct {
    Cli *c;
    const char *path, *p;
    int line;
    Field field;
    Symmetry symmetry;
    i64 rows, cols, entries, n;    /* n: those made so far, mirrored ones included */
    int64_t *row, *col;
    unsigned char *val;
    bool above, below;             /* there are integers from 2^63 on, below 0 */
} MarketReader;

_Noreturn static void
fail(const MarketReader *r, const char *what)
{
    cli_fail(r->c, "'%s' line %d: %s", r->path, r->line, what);
}

static void
next_line(MarketReader *r)
{
    r->p += strcspn(r->p, "\n");
    r->p += *r->p == '\n';
    r->line++;
}

/* Skip blanks of the line. */
static void
skip_blank(MarketReader *r)
{
    while (*r->p == ' ' || *r->p == '\t' || *r->p == '\r')
        r->p++;
}

/* The next line, where this one has been read to its end. */
static void
end_line(MarketReader *r)
{
    skip_blank(r);
    if (*r->p && *r->p != '\n')
        fail(r, "the line has more than is expected there");
    next_line(r);
}

static int
word(MarketReader *r, const char *const *words, const char *what)
{
    skip_blank(r);
    size_t n = strcspn(r->p, " \t\r\n");
    for (int i = 0; words[i]; i++) {
        size_t k = 0;
        while (k < n && words[i][k] == tolower((unsigned char)r->p[k]))
            k++;
        if (k == n && !words[i][k]) {
            r->p += n;
            return i;
        }
    }
    fail(r, what);
}

static i64
whole(MarketReader *r, i64 least, i64 most, const char *what)
{
    char *end;
    skip_blank(r);
    errno = 0;
    long long v = isdigit((unsigned char)*r->p) || strchr("+-", *r->p) ? strtoll(r->p, &end, 10)
                                                                       : (end = (char *)r->p, 0);
    if (end == r->p || errno || v < least || v > most || !strchr(" \t\r\n", *end))
        fail(r, what);
    r->p = end;
    return v;
}

/* An integer of 64 bits, signed or unsigned. */
static i64
integer_value(MarketReader *r)
{
    char *end;
    skip_blank(r);
    errno = 0;
    unsigned long long v = isdigit((unsigned char)*r->p) ? strtoull(r->p, &end, 10) : 0;
    if (v > INT64_MAX && !errno && strchr(" \t\r\n", *end) && r->symmetry != SKEW) {
        r->p = end;
        r->above = true;
        return (i64)v;
    }
    i64 w = whole(r, r->symmetry == SKEW ? -INT64_MAX : INT64_MIN, INT64_MAX,
                  "the value is no integer of 64 bits");
    r->below |= w < 0;
    return w;
}

static double
number(MarketReader *r)
{
    char *end;
    skip_blank(r);
    if (!*r->p || *r->p == '\n')
        fail(r, "a value is missing");
    double v = strtod(r->p, &end);
    if (end == r->p || !strchr(" \t\r\n", *end))
        fail(r, "a value is no number");
    r->p = end;
    return v;
}

static void
read_head(MarketReader *r)
{
    static const char *const banner[] = {"%%matrixmarket", NULL}, *const object[] = {"matrix", NULL},
                      *const format[] = {"coordinate", NULL};
    word(r, banner, "the file does not begin with %%MatrixMarket");
    word(r, object, "only 'matrix' is read");
    word(r, format, "only 'coordinate' is read; an 'array' is dense");
    r->field = (Field)word(r, fields, "the field is real, integer, complex or pattern");
    r->symmetry = (Symmetry)word(r, symmetries, "the symmetry is general, symmetric, "
                                 "skew-symmetric or hermitian");
    if (r->field == PATTERN && r->symmetry == SKEW)
        fail(r, "a pattern has no signs, so it is not skew-symmetric");
    end_line(r);
    while (*r->p == '%' || *r->p == '\n' || *r->p == '\r')
        next_line(r);
    if (!*r->p)
        fail(r, "the file ends before the line of the sizes: rows, columns, entries");
    r->rows = whole(r, 0, INT64_MAX / 2, "rows: a number from 0 on");
    r->cols = whole(r, 0, INT64_MAX / 2, "columns: a number from 0 on");
    r->entries = whole(r, 0, INT64_MAX / 64, "the number of entries: a number from 0 on");
    if (r->symmetry != GENERAL && r->rows != r->cols)
        fail(r, "a symmetric matrix has as many rows as columns");
    if ((size_t)r->entries > strlen(r->p))
        fail(r, "there are fewer entries than it says");
}

static void
add(MarketReader *r, i64 row, i64 col, const double v[2], i64 integer)
{
    unsigned char *to = r->val + r->n * stored[r->field].bytes;
    r->row[r->n] = row;
    r->col[r->n++] = col;
    if (r->field == INTEGER)
        memcpy(to, &integer, sizeof integer);
    else if (r->field == PATTERN)
        *to = 1;
    else
        memcpy(to, v, (size_t)stored[r->field].bytes);
}

/* The entry after `done` others. */
static void
read_entry(MarketReader *r, i64 done)
{
    double v[2] = {1, 0};
    i64 integer = 1;
    end_line(r);
    while (*r->p == '\n' || *r->p == '%' || *r->p == '\r')
        next_line(r);
    if (!*r->p)
        cli_fail(r->c, "'%s' line %d: the file ends after %lld of %lld entries", r->path, r->line,
                 (long long)done, (long long)r->entries);
    i64 row = whole(r, 1, r->rows, "the row is no number within the matrix") - 1;
    i64 col = whole(r, 1, r->cols, "the column is no number within the matrix") - 1;
    if (r->field == INTEGER)
        integer = integer_value(r);
    if (r->symmetry == SKEW && row == col)
        fail(r, "a skew-symmetric matrix has no diagonal");
    if (r->field == REAL || r->field == COMPLEX)
        v[0] = number(r);
    if (r->field == COMPLEX)
        v[1] = number(r);
    add(r, row, col, v, integer);
    if (r->symmetry == GENERAL || row == col)
        return;
    bool skew = r->symmetry == SKEW;
    double mirrored[2] = {skew ? -v[0] : v[0],
                          skew || r->symmetry == HERMITIAN ? -v[1] : v[1]};
    add(r, col, row, mirrored, skew ? -integer : integer);
}

static void
add_member(SparseFile *f, const char *name, const char *descr, int bytes, i64 count,
           const void *data)
{
    f->member[f->n++] = (SparseMember){.name = name, .descr = descr, .bytes = bytes, .rank = 1,
                                       .shape = {count}, .count = count, .data = data};
}

void
matrix_market_read(Cli *c, const char *path, const char *text, SparseFile *f)
{
    MarketReader r = {.c = c, .path = path, .p = text, .line = 1};
    read_head(&r);
    i64 most = r.symmetry == GENERAL ? r.entries : 2 * r.entries;
    r.row = arena_array(c->arena, int64_t, most + 1);
    r.col = arena_array(c->arena, int64_t, most + 1);
    r.val = arena_array(c->arena, unsigned char, most * stored[r.field].bytes + 1);
    for (i64 i = 0; i < r.entries; i++)
        read_entry(&r, i);
    end_line(&r);
    if (r.p[strspn(r.p, " \t\r\n")])
        fail(&r, "there are more entries than it says");
    f->format = "coo";
    f->rank = 2;
    f->shape[0] = r.rows;
    f->shape[1] = r.cols;
    add_member(f, "row", "i8", 8, r.n, r.row);
    add_member(f, "col", "i8", 8, r.n, r.col);
    if (r.above && r.below)
        cli_fail(c, "'%s': no type of 64 bits has both its values below 0 and those from 2^63 on",
                 path);
    add_member(f, "data", r.above ? "u8" : stored[r.field].descr, stored[r.field].bytes,
               r.n, r.val);
}

static i64
index_at(const SparseMember *m, i64 i)
{
    return m->bytes == 4 ? ((const int32_t *)m->data)[i] : ((const int64_t *)m->data)[i];
}

static i64
integer_at(const SparseMember *m, i64 i)
{
    switch (m->bytes) {
    case 1: return ((const int8_t *)m->data)[i];
    case 2: return ((const int16_t *)m->data)[i];
    case 4: return ((const int32_t *)m->data)[i];
    default: return ((const int64_t *)m->data)[i];
    }
}

static void
print_value(Buf *b, const SparseMember *m, i64 i)
{
    if (*m->descr == 'i')
        buf_printf(b, "%lld", (long long)integer_at(m, i));
    else if (*m->descr == 'u' || *m->descr == 'b')
        buf_printf(b, "%llu", (unsigned long long)integer_at(m, i) &
                   (m->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * m->bytes) - 1));
    else if (!strcmp(m->descr, "f4"))
        buf_printf(b, "%.9g", (double)((const float *)m->data)[i]);
    else if (!strcmp(m->descr, "f8"))
        buf_printf(b, "%.17g", ((const double *)m->data)[i]);
    else if (!strcmp(m->descr, "c8"))
        buf_printf(b, "%.9g %.9g", (double)((const float *)m->data)[2 * i],
                   (double)((const float *)m->data)[2 * i + 1]);
    else
        buf_printf(b, "%.17g %.17g", ((const double *)m->data)[2 * i],
                   ((const double *)m->data)[2 * i + 1]);
}

void
matrix_market_write(Cli *c, const char *path, const SparseFile *f)
{
    const SparseMember *row = &f->member[0], *col = &f->member[1];
    const SparseMember *val = f->n > 2 ? &f->member[2] : NULL;
    Buf b = buf_new(c->arena);
    Field field = !val ? PATTERN : strchr("iub", *val->descr) ? INTEGER
                  : *val->descr == 'c' ? COMPLEX : REAL;
    if (val && (*val->descr == 'V' || !strcmp(val->descr, "f2")))
        cli_fail(c, "'%s': %s have no text in Matrix Market; write an .npz", path,
                 *val->descr == 'V' ? "opaque values" : "values of f16");
    buf_printf(&b, "%%%%MatrixMarket matrix coordinate %s general\n%lld %lld %lld\n",
               fields[field], (long long)f->shape[0], (long long)f->shape[1],
               (long long)row->count);
    for (i64 i = 0; i < row->count; i++) {
        buf_printf(&b, "%lld %lld", (long long)index_at(row, i) + 1,
                   (long long)index_at(col, i) + 1);
        if (val) {
            buf_add(&b, " ");
            print_value(&b, val, i);
        }
        buf_add(&b, "\n");
    }
    cli_write(c, path, b.s, b.len);
}
