/* Gather and scatter by an index array along one dim of three: a number for each coordinate of it,
 * or for each element of the part.  Some bytes choose extents, element type and the kind of array;
 * the others are its numbers.  A run is right element by element, or is
 * refused and writes nothing. */
#include "fuzz.h"

enum { LENGTH = 48, ALONG = 6, MOST = ALONG * ALONG * ALONG };

typedef struct {
    i64 extent[3], part[3];        /* of the tensor; of the part */
    i64 n;                         /* numbers: at most LENGTH, or of all elements of the part */
    int axis, bytes;
    bool narrow, scatter, open;    /* i32; into the tensor; lengths at run time */
    bool skip, along;
    i64 number[MOST];
    bool valid;
} Case;

/* The coordinate along the axis to which a number belongs. */
static i64
along_axis(const Case *c, i64 i)
{
    for (int d = 2; c->along && d > c->axis; d--)
        i /= c->part[d];
    return c->along ? i % c->part[c->axis] : i;
}

/* Numbers of a destination are different. */
static void
read_numbers(Case *c, Bytes *b)
{
    static const i64 wrong[] = {-1, INT64_MIN, INT32_MIN, INT32_MAX};
    const i64 bound = c->extent[c->axis], start = fuzz_byte(b);
    c->valid = true;
    for (i64 i = 0; i < c->n; i++) {
        c->number[i] = c->scatter ? (start + along_axis(c, i)) % bound : fuzz_pick(b, (int)bound);
        if (c->skip && !fuzz_pick(b, 3))
            c->number[i] = -1;
    }
    if (fuzz_pick(b, 4))
        return;
    i64 at = fuzz_byte(b) % c->n;
    int kind = fuzz_pick(b, LEN(wrong) + 1);
    c->number[at] = kind == LEN(wrong) ? bound : wrong[kind];
    if (c->narrow)
        c->number[at] = (int32_t)c->number[at];
    c->valid = c->number[at] >= (c->skip ? -1 : 0) && c->number[at] < bound;
}

static Case
read_case(Bytes *b)
{
    Case c = {.axis = fuzz_pick(b, 3), .bytes = 1 << fuzz_pick(b, 5)};
    unsigned flags = fuzz_byte(b);
    c.narrow = flags & 1;
    c.scatter = flags & 2;
    c.open = flags & 4;
    c.skip = flags & 8;
    c.along = flags & 16;
    for (int i = 0; i < 3; i++)
        c.part[i] = c.extent[i] = 1 + fuzz_pick(b, c.along ? ALONG : 40);
    c.n = 1 + fuzz_pick(b, c.along ? ALONG : LENGTH);
    if (c.scatter && c.n > c.extent[c.axis])
        c.n = c.extent[c.axis];
    c.part[c.axis] = c.n;
    if (c.along)
        c.n = c.part[0] * c.part[1] * c.part[2];
    read_numbers(&c, b);
    return c;
}

static void
text_of(const Case *c, char out[100])
{
    static const char *const items[] = {"%s", ":, %s", ":, :, %s"};
    char words[24], index[40];
    snprintf(words, sizeof words, "%s%s%sa", c->narrow ? "i32 " : "", c->skip ? "skip " : "",
             c->along ? "along " : "");
    snprintf(index, sizeof index, items[c->axis], words);
    snprintf(out, 100, "ROW_MAJOR(%d,%d,%d)[%s]", (int)c->extent[0], (int)c->extent[1],
             (int)c->extent[2], index);
}

static unsigned char *
filled(i64 bytes, unsigned seed)
{
    unsigned char *p = malloc((size_t)bytes);
    fuzz_check(p);
    for (i64 i = 0; i < bytes; i++)
        p[i] = (unsigned char)((unsigned)i * 167 + (unsigned)(i >> 8) * 59 + seed);
    return p;
}

/* The same element by element. */
static void
by_element(const Case *c, unsigned char *dst, const unsigned char *src)
{
    const size_t size = (size_t)c->bytes;
    const i64 *part = c->part;
    i64 x[3];
    for (x[0] = 0; x[0] < part[0]; x[0]++)
        for (x[1] = 0; x[1] < part[1]; x[1]++)
            for (x[2] = 0; x[2] < part[2]; x[2]++) {
                i64 y[3] = {x[0], x[1], x[2]};
                i64 element = (x[0] * part[1] + x[1]) * part[2] + x[2];
                y[c->axis] = c->number[c->along ? element : x[c->axis]];
                if (y[c->axis] < 0)
                    continue;
                size_t of = (size_t)element * size;
                size_t at = (size_t)((y[0] * c->extent[1] + y[1]) * c->extent[2] + y[2]) * size;
                memcpy(dst + (c->scatter ? at : of), src + (c->scatter ? of : at), size);
            }
}

static void
run(const Case *c, const ravel_plan *p)
{
    const i64 *part = c->part;
    const i64 all = c->extent[0] * c->extent[1] * c->extent[2] * c->bytes;
    const i64 some = part[0] * part[1] * part[2] * c->bytes, to = c->scatter ? all : some;
    unsigned char *src = filled(c->scatter ? some : all, 1), *dst = filled(to, 2);
    unsigned char *want = filled(to, 2);
    i64 *wide = malloc((size_t)c->n * sizeof *wide);
    int32_t *narrow = malloc((size_t)c->n * sizeof *narrow);
    fuzz_check(wide && narrow);
    for (i64 i = 0; i < c->n; i++) {
        wide[i] = c->number[i];
        narrow[i] = (int32_t)c->number[i];
    }
    const void *array[] = {c->narrow ? (const void *)narrow : wide};
    ravel_error err = {.text = ""};
    ravel_status s = ravel_run_arrays(p, dst, src, part, array, &err);
    fuzz_check((s == RAVEL_OK) == c->valid && (s == RAVEL_OK || strstr(err.text, "must be ")));
    if (c->valid)
        by_element(c, want, src);
    fuzz_check(!memcmp(dst, want, (size_t)to));
    free(src);
    free(dst);
    free(want);
    free(wide);
    free(narrow);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const types[] = {"u8", "u16", "u32", "u64", "c128"};
    Bytes b = {data, data + len};
    const Case c = read_case(&b);
    char text[100];
    i64 asked[3] = {c.part[0], c.part[1], c.part[2]};
    int type = 0;
    asked[c.axis] = c.open ? RAVEL_RUNTIME : asked[c.axis];
    while (1 << type < c.bytes)
        type++;
    text_of(&c, text);
    ravel_request rq = {.from = c.scatter ? "ROW_MAJOR" : text, .to = c.scatter ? text : "ROW_MAJOR",
                        .dtype = types[type], .rank = 3, .shape = asked, .threads = 1};
    ravel_plan *p;
    ravel_error err;
    if (ravel_compile(fuzz_context(), &rq, &p, &err))
        fuzz_fail("%s: %s", text, err.text);
    run(&c, p);
    ravel_plan_free(p);
    return 0;
}
