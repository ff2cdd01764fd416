/* npy_header.c: the header of a .npy file: magic, version, length, and a dict
 * in Python's notation, as numpy.lib.format describes it. */
#include "npy_header.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_LEN 6
#define ALIGN 64             /* of the data in the file */
#define GROWTH_DIGITS 21     /* NumPy leaves room for the first extent to grow */

#define KNOWN "known are b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 V1 V2 V4 V8"

static const NpyType types[] = {
    {"b1", 1, 1}, {"i1", 1, 1}, {"i2", 2, 2}, {"i4", 4, 4}, {"i8", 8, 8},
    {"u1", 1, 1}, {"u2", 2, 2}, {"u4", 4, 4}, {"u8", 8, 8}, {"f2", 2, 2},
    {"f4", 4, 4}, {"f8", 8, 8}, {"c8", 8, 4}, {"c16", 16, 8},
    {"V1", 1, 1}, {"V2", 2, 1}, {"V4", 4, 1}, {"V8", 8, 1},
};

/* Other file formats that users mistake for .npy. */
static const struct {
    const char *start;
    const char *what;
} others[] = {
    {"PK\3\4", "it is an archive (.npz): unpack it first"},
    {"\x80", "it looks like a Python pickle, which is never loaded"},
};

/* The text of the dict and the place in it. */
typedef struct {
    const char *start, *p, *end;
    const char *path;
    ravel_error *err;
} Text;

typedef struct {
    const char *s;
    size_t len;
} Span;

ravel_status
npy_fail(ravel_error *err, ravel_status s, const char *path,
         const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        int n = snprintf(err->text, sizeof err->text, "%.500s: ", path);
        if (n > 0 && (size_t)n < sizeof err->text)
            vsnprintf(err->text + n, sizeof err->text - (size_t)n, fmt, ap);
        err->status = s;
        va_end(ap);
    }
    return s;
}

const NpyType *
npy_type(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == len && memcmp(types[i].name, name, len) == 0)
            return &types[i];
    return NULL;
}

bool
npy_count(const int64_t *shape, int rank, int bytes, int64_t *count)
{
    int64_t n = bytes;
    bool zero = false;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0)
            return false;
        if (shape[i] == 0)
            zero = true;
        else if (__builtin_mul_overflow(n, shape[i], &n))
            return false;
    }
    *count = zero ? 0 : n / bytes;
    return true;
}

/* An error message shows the text at the current position, made printable. */
static ravel_status
wrong(const Text *t, const char *wanted)
{
    char found[24];
    size_t n = 0;
    for (const char *p = t->p; p < t->end && n + 1 < sizeof found; p++)
        found[n++] = isprint((unsigned char)*p) ? *p : '?';
    found[n] = 0;
    return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                    "broken header at character %td: %s wanted, found \"%s\"",
                    t->p - t->start, wanted, found);
}

static void
space(Text *t)
{
    while (t->p < t->end && *t->p && strchr(" \t\r\n", *t->p))
        t->p++;
}

/* Skip white space and then `c`; false if the next character is not `c`. */
static bool
take(Text *t, char c)
{
    space(t);
    if (t->p == t->end || *t->p != c)
        return false;
    t->p++;
    return true;
}

static bool
take_word(Text *t, const char *word)
{
    size_t n = strlen(word);
    space(t);
    if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0)
        return false;
    t->p += n;
    return true;
}

/* A quoted string of printable characters without escapes: none that is valid
 * here needs more. */
static ravel_status
string(Text *t, Span *s)
{
    const char *from = t->p;
    char quote = take(t, '\'') ? '\'' : take(t, '"') ? '"' : 0;
    s->s = t->p;
    while (quote && t->p < t->end && isprint((unsigned char)*t->p) &&
           *t->p != '\\' && *t->p != quote)
        t->p++;
    s->len = (size_t)(t->p - s->s);
    if (quote && t->p < t->end && *t->p++ == quote)
        return RAVEL_OK;
    t->p = from;
    space(t);
    return wrong(t, "a string");
}

/* An extent, perhaps with the suffix of Python 2's long integers. */
static ravel_status
extent(Text *t, int64_t *n)
{
    space(t);
    const char *from = t->p;
    if (take(t, '-'))
        return npy_fail(t->err, RAVEL_ERR_FILE, t->path, "a negative extent");
    for (*n = 0; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++)
        if (__builtin_mul_overflow(*n, 10, n) ||
            __builtin_add_overflow(*n, *t->p - '0', n))
            return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                            "an extent that needs more than 63 bits");
    if (t->p == from || (*from == '0' && t->p - from > 1)) {
        t->p = from;
        return wrong(t, "an extent");
    }
    if (t->p < t->end && *t->p == 'L')
        t->p++;
    return RAVEL_OK;
}

/* A tuple: () or (3,) or (2, 3) or (2, 3,).  (3) is a number to Python. */
static ravel_status
read_shape(Text *t, NpyHeader *h, Npy *a)
{
    (void)h;
    bool comma = true;
    if (!take(t, '('))
        return wrong(t, "a tuple of extents");
    for (a->rank = 0; !take(t, ')'); a->rank++) {
        if (!comma)
            return wrong(t, "',' or ')'");
        if (a->rank == NPY_MAX_RANK)
            return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                            "more than %d dimensions", NPY_MAX_RANK);
        ravel_status s = extent(t, &a->shape[a->rank]);
        if (s != RAVEL_OK)
            return s;
        comma = take(t, ',');
    }
    if (a->rank == 1 && !comma)
        return wrong(t, "a comma in the tuple of one extent");
    return RAVEL_OK;
}

static ravel_status
read_fortran(Text *t, NpyHeader *h, Npy *a)
{
    (void)a;
    h->fortran = take_word(t, "True");
    if (h->fortran || take_word(t, "False"))
        return RAVEL_OK;
    return wrong(t, "True or False");
}

static ravel_status
read_descr(Text *t, NpyHeader *h, Npy *a)
{
    Span s;
    space(t);
    if (t->p < t->end && (*t->p == '[' || *t->p == '('))
        return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                        "structured elements are not read: " KNOWN);
    ravel_status st = string(t, &s);
    if (st != RAVEL_OK)
        return st;
    size_t order = s.len > 0 && strchr("<>=|", *s.s) ? 1 : 0;
    h->type = npy_type(s.s + order, s.len - order);
    if (s.len > order && s.s[order] == 'O')
        return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                        "Python objects are not read: " KNOWN);
    if (!h->type)
        return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                        "element type '%.*s' is not read: " KNOWN,
                        s.len < 40 ? (int)s.len : 40, s.s);
    h->big = *s.s == '>';
    a->bytes = h->type->bytes;
    strcpy(a->descr, h->type->name);
    return RAVEL_OK;
}

static const struct {
    const char *name;
    ravel_status (*read)(Text *t, NpyHeader *h, Npy *a);
} keys[] = {
    {"descr", read_descr},
    {"fortran_order", read_fortran},
    {"shape", read_shape},
};
#define NKEYS (sizeof keys / sizeof keys[0])

/* One `key: value`; `seen` has a bit for each key read so far. */
static ravel_status
entry(Text *t, unsigned *seen, NpyHeader *h, Npy *a)
{
    Span k;
    size_t i = 0;
    ravel_status s = string(t, &k);
    if (s != RAVEL_OK)
        return s;
    int shown = k.len < 40 ? (int)k.len : 40;
    while (i < NKEYS &&
           (strlen(keys[i].name) != k.len || memcmp(keys[i].name, k.s, k.len)))
        i++;
    if (i == NKEYS)
        return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                        "unknown key '%.*s' in the header", shown, k.s);
    if (*seen & 1u << i)
        return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                        "key '%.*s' twice in the header", shown, k.s);
    *seen |= 1u << i;
    return take(t, ':') ? keys[i].read(t, h, a) : wrong(t, "':'");
}

static ravel_status
dict(Text *t, NpyHeader *h, Npy *a)
{
    unsigned seen = 0;
    bool comma = true;
    if (!take(t, '{'))
        return wrong(t, "'{'");
    while (!take(t, '}')) {
        if (!comma)
            return wrong(t, "',' or '}'");
        ravel_status s = entry(t, &seen, h, a);
        if (s != RAVEL_OK)
            return s;
        comma = take(t, ',');
    }
    space(t);
    if (t->p != t->end)
        return wrong(t, "the end of the header");
    for (size_t i = 0; i < NKEYS; i++)
        if (!(seen & 1u << i))
            return npy_fail(t->err, RAVEL_ERR_FILE, t->path,
                            "no key '%s' in the header", keys[i].name);
    return RAVEL_OK;
}

static ravel_status
no_magic(const char *path, const unsigned char *file,
         size_t len, ravel_error *err)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t n = strlen(others[i].start);
        if (len >= n && memcmp(file, others[i].start, n) == 0)
            return npy_fail(err, RAVEL_ERR_FILE, path, "not a .npy file: %s",
                            others[i].what);
    }
    return npy_fail(err, RAVEL_ERR_FILE, path,
                    "not a .npy file: it does not begin with \\x93NUMPY");
}

/* Find the position and length of the dict. */
static ravel_status
frame(const char *path, const unsigned char *file, size_t len,
      Span *text, ravel_error *err)
{
    if (len < MAGIC_LEN || memcmp(file, MAGIC, MAGIC_LEN) != 0)
        return no_magic(path, file, len, err);
    if (len < MAGIC_LEN + 2)
        return npy_fail(err, RAVEL_ERR_FILE, path, "the file ends in its header");
    unsigned major = file[MAGIC_LEN], minor = file[MAGIC_LEN + 1];
    if (major < 1 || major > 3 || minor != 0)
        return npy_fail(err, RAVEL_ERR_FILE, path,
                        "version %u.%u of the .npy format is not known: "
                        "known are 1.0, 2.0 and 3.0", major, minor);
    size_t at = MAGIC_LEN + 2, width = major == 1 ? 2 : 4;
    text->len = 0;
    for (size_t i = 0; i < width && at + width <= len; i++)
        text->len |= (size_t)file[at + i] << 8 * i;
    at += width;
    if (at > len || text->len > len - at)
        return npy_fail(err, RAVEL_ERR_FILE, path, "the file ends in its header");
    text->s = (const char *)file + at;
    return RAVEL_OK;
}

ravel_status
npy_header_read(const char *path, const unsigned char *file,
                size_t len, NpyHeader *h, Npy *a,
                ravel_error *err)
{
    Span text = {NULL, 0};
    ravel_status s = frame(path, file, len, &text, err);
    if (s != RAVEL_OK)
        return s;
    Text t = {text.s, text.s, text.s + text.len, path, err};
    s = dict(&t, h, a);
    if (s != RAVEL_OK)
        return s;
    h->data = (size_t)(t.end - (const char *)file);
    if (!npy_count(a->shape, a->rank, a->bytes, &a->count))
        return npy_fail(err, RAVEL_ERR_FILE, path,
                        "the extents multiply to more than 2^63-1 bytes");
    return RAVEL_OK;
}

/* Append as Python's repr of a tuple. */
static int
put_shape(char *out, size_t size, int rank, const int64_t *shape)
{
    int n = snprintf(out, size, "(");
    for (int i = 0; i < rank; i++)
        n += snprintf(out + n, size - (size_t)n, i ? ", %lld" : "%lld",
                      (long long)shape[i]);
    return n + snprintf(out + n, size - (size_t)n, rank == 1 ? ",)" : ")");
}

_Static_assert(NPY_MAX_RANK * 21 + 256 < NPY_HEADER_MAX, "the header fits");
_Static_assert(NPY_HEADER_MAX <= UINT16_MAX, "version 1.0 can always be used");

size_t
npy_header_write(unsigned char out[NPY_HEADER_MAX], const NpyType *type,
                 int rank, const int64_t *shape)
{
    char *text = (char *)out;
    size_t at = MAGIC_LEN + 4, size = NPY_HEADER_MAX - at;
    char tuple[NPY_HEADER_MAX - 256];
    char order = type->bytes == 1 || type->name[0] == 'V' ? '|' : '<';
    put_shape(tuple, sizeof tuple, rank, shape);
    int n = snprintf(text + at, size,
                     "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                     order, type->name, tuple);
    int grow = 0;
    if (rank > 0)
        grow = GROWTH_DIGITS - snprintf(NULL, 0, "%lld", (long long)shape[0]);
    /* NumPy pads with a whole block where none would be needed */
    size_t end = at + (size_t)(n + grow) + 1;
    end += ALIGN - end % ALIGN;
    memset(text + at + n, ' ', end - at - (size_t)n);
    text[end - 1] = '\n';
    memcpy(out, MAGIC "\1\0", MAGIC_LEN + 2);
    out[MAGIC_LEN + 2] = (unsigned char)((end - at) & 0xff);
    out[MAGIC_LEN + 3] = (unsigned char)((end - at) >> 8);
    return end;
}
