/* Conversions between sparse formats.  The input chooses a matrix, two formats and damage.  A
 * coordinate list is converted to the first format and that to the second.  Without damage the
 * second holds the matrix; with damage the first is refused, or the second is valid.  Each array
 * is allocated with its size. */
#include "../../runtime/ravel_sparse.h"
#include "fuzz.h"

enum { MOST = 40, SIDE = 21 };

static const char *const formats[] = {"COO", "CSR", "CSC", "CSR_ANY", "DCSR", "DCSC", "BSR",
                                      "BSR{BR=2, BC=3}", "ELL", "DIA", "JDS", "SELL{H=3, SIGMA=5}",
                                      "SEMI24", "SEMI24_16", "ROW_MAJOR",
                                      "(R, C){C//4, R, C%4}"};
static const char *const types[] = {"i32", "i8", "f64", "u16", "c128", "i4", "u1"};

typedef struct {
    i64 shape[2];
    const char *dtype;
    int width;
} Matrix;

/* The arrays of a side; n is 0: there are none yet. */
typedef struct {
    const char *format;
    int n;
    void *data[RAVEL_SPARSE_ARRAYS];
    int64_t size[RAVEL_SPARSE_ARRAYS];
    int bits[RAVEL_SPARSE_ARRAYS];     /* of an element */
} Side;

static size_t
bytes_of(int64_t n, int bits)
{
    return (size_t)(n * bits + 7) / 8;
}

static void *
allocated(int64_t n, int bits)
{
    void *p = malloc(bytes_of(n, bits) + !n);
    fuzz_check(p);
    return p;
}

static void
side_free(Side *s)
{
    for (int i = 0; i < s->n; i++)
        free(s->data[i]);
}

static void
fill(ravel_sparse_plan *p, ravel_sparse_job *job, const int64_t *m, Side *to)
{
    ravel_error err;
    ravel_sparse_array array[RAVEL_SPARSE_ARRAYS];
    to->n = ravel_sparse_arrays(p, 1, array);
    for (int i = 0; i < to->n; i++) {
        to->size[i] = m[i];
        to->bits[i] = array[i].bits;
        to->data[i] = allocated(m[i], array[i].bits);
    }
    ravel_status s = ravel_sparse_fill(job, to->data, &err);
    ravel_sparse_end(job);
    if (s)
        fuzz_fail("%s: %s", to->format, err.text);
}

/* Returns false if the source is refused. */
static bool
convert(const Matrix *x, const Side *from, Side *to)
{
    ravel_sparse_plan *p;
    ravel_sparse_job *job;
    int64_t m[RAVEL_SPARSE_ARRAYS];
    ravel_error err = {.text = ""};
    ravel_sparse_request rq = {.from = from->format, .to = to->format, .dtype = x->dtype,
                               .rank = 2, .shape = x->shape, .from_index = x->width,
                               .to_index = x->width};
    if (ravel_sparse_compile(fuzz_context(), &rq, &p, &err))
        fuzz_fail("%s -> %s: %s", rq.from, rq.to, err.text);
    const void *const *in = (const void *const *)from->data;
    ravel_status s = ravel_sparse_sizes(p, in, from->size, m, &job, &err);
    if (!s)
        fill(p, job, m, to);
    else if (s != RAVEL_ERR_ARGUMENT || !err.text[0])
        fuzz_fail("%s -> %s: status %d: %s", rq.from, rq.to, s, err.text);
    ravel_sparse_free(p);
    return !s;
}

static void
put_index(Side *s, int i, int64_t k, int64_t v)
{
    if (s->bits[i] == 32)
        ((int32_t *)s->data[i])[k] = (int32_t)v;
    else if (s->bits[i] == 8)
        ((uint8_t *)s->data[i])[k] = (uint8_t)v;
    else
        ((int64_t *)s->data[i])[k] = v;
}

static void
put_value(unsigned char *to, int k, int bits, int v)
{
    double x = v;
    if (bits < 8)
        to[k * bits / 8] |= (unsigned char)((v & ((1 << bits) - 1)) << (k * bits % 8));
    else if (bits >= 64)
        memcpy(to + k * bits / 8, &x, 8);
    else
        to[k * bits / 8] = (unsigned char)v;
}

/* A coordinate list; some values are 0, some places are there twice. */
static void
draw(Bytes *b, const Matrix *x, Side *s)
{
    static const int sizes[] = {32, 8, 64, 16, 128, 4, 1};
    int n = fuzz_pick(b, MOST), bits = 0;
    for (int i = 0; i < LEN(types); i++)
        bits = types[i] == x->dtype ? sizes[i] : bits;
    *s = (Side){.format = "COO", .n = 4};
    for (int i = 0; i < 4; i++) {
        s->size[i] = i ? n : 2;
        s->bits[i] = i < 3 ? 8 * x->width : bits;
        s->data[i] = allocated(s->size[i], s->bits[i]);
        memset(s->data[i], 0, bytes_of(s->size[i], s->bits[i]));
    }
    put_index(s, 0, 1, n);
    for (int k = 0; k < n; k++) {
        int v = fuzz_pick(b, 5);
        put_index(s, 1, k, fuzz_pick(b, (int)x->shape[0]));
        put_index(s, 2, k, fuzz_pick(b, (int)x->shape[1]));
        put_value((unsigned char *)s->data[3], k, bits, v);
    }
}

/* Some indices become others, and an array shorter; returns whether anything changed. */
static bool
damage(Bytes *b, const Matrix *x, Side *s)
{
    const int64_t odd[] = {-1, 0, 1, 2, 5, x->shape[0], x->shape[1], 400, INT32_MAX, INT32_MIN};
    int changes = fuzz_pick(b, 4);
    for (int k = 0; k < changes; k++) {
        int i = fuzz_pick(b, s->n);
        int64_t at = fuzz_byte(b), v = odd[fuzz_pick(b, LEN(odd))];
        if (i + 1 < s->n && s->size[i] && fuzz_pick(b, 8))
            put_index(s, i, at % s->size[i], v);
        else if (s->size[i]) {
            s->size[i] = at % s->size[i];
            s->data[i] = realloc(s->data[i], bytes_of(s->size[i], s->bits[i]) + !s->size[i]);
        }
    }
    return changes > 0;
}

/* A side as an array of the matrix. */
static Side
dense(const Matrix *x, const Side *s)
{
    Side d = {.format = "ROW_MAJOR"};
    if (!strcmp(s->format, d.format)) {
        d.size[0] = s->size[0];
        d.bits[0] = s->bits[0];
        d.data[d.n++] = allocated(s->size[0], s->bits[0]);
        memcpy(d.data[0], s->data[0], bytes_of(s->size[0], s->bits[0]));
    } else if (!convert(x, s, &d)) {
        fuzz_fail("a result of %s is refused", s->format);
    }
    return d;
}

/* It holds two of four elements: a matrix may have more. */
static bool
is_narrow(const Side *s)
{
    return !strncmp(s->format, "SEMI24", 6);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    setenv("RAVEL_CODE", "interpreter", 1);        /* the steps are those of machine code */
    Bytes b = {data, data + len};
    Matrix x = {.dtype = types[fuzz_pick(&b, LEN(types))], .width = fuzz_pick(&b, 2) ? 8 : 4};
    Side list, from = {.format = formats[fuzz_pick(&b, LEN(formats))]};
    Side to = {.format = formats[fuzz_pick(&b, LEN(formats) - 2)]};
    x.shape[0] = 1 + fuzz_pick(&b, SIDE);
    x.shape[1] = 1 + fuzz_pick(&b, SIDE);
    draw(&b, &x, &list);
    bool held = convert(&x, &list, &from);
    if (!held && !is_narrow(&from))
        fuzz_fail("the list is refused for %s", from.format);
    bool damaged = held && damage(&b, &x, &from);
    if (held && convert(&x, &from, &to)) {
        Side want = dense(&x, &list), got = dense(&x, &to);
        size_t bytes = bytes_of(want.size[0], want.bits[0]);
        fuzz_check(damaged || !memcmp(want.data[0], got.data[0], bytes));
        side_free(&want);
        side_free(&got);
    } else if (held && !damaged && !is_narrow(&to)) {
        fuzz_fail("%s without damage is refused", from.format);
    }
    side_free(&list);
    side_free(&from);
    side_free(&to);
    return 0;
}
