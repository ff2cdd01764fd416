/* A relayout between two random layouts of one shape, both built from the input's
 * bytes, so that nearly all are well-formed: compiled, run and proven.  A layout may be
 * refused; a plan that is made must compile and be right. */
#include "fuzz.h"

enum { MAX_DIMS = 5, MAX_ELEMENTS = 1500, MAX_BYTES = 1 << 15, MAX_DIGITS = 24 };

static const int extents[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 20, 33},
                 factors[] = {2, 3, 4, 5, 6, 7, 8, 12, 16};
static const char dims[] = "ABCDE";

typedef struct {
    Bytes *b;
    Arena *arena;
    int rank, n;
    i64 room;
    i64 shape[MAX_DIMS];
    const char *digit[MAX_DIGITS];
} Maker;

/* A digit of n values, now and then turned, mixed with another dim's, or disguised. */
static const char *
disguise(Maker *m, const char *d, int n)
{
    char other = dims[fuzz_pick(m->b, m->rank)];
    switch (fuzz_pick(m->b, 16)) {
    case 0: return arena_printf(m->arena, "%d - %s", n - 1, d);
    case 1: return arena_printf(m->arena, "(%s) ~ (%c%%%d)", d, other, n);
    case 2: return arena_printf(m->arena, "(%s) ~ %d", d, n / 2);
    case 3: return arena_printf(m->arena, "(%s) & %d", d, n - 1);
    case 4: return arena_printf(m->arena, "(%s + %c) %% %d", d, other, n);
    case 5: return arena_printf(m->arena, "min(%s, %d)", d, n - 1);
    case 6: return arena_printf(m->arena, "(%s)*2 + (%s)*-1", d, d);
    case 7: return arena_printf(m->arena, "(%s << 1) + %c%%2", d, other);
    default: return d;
    }
}

/* The digits of a dim of n.  Blocks beyond n make padding, for which there is little
 * room, as every coordinate is looked at. */
static void
cut(Maker *m, char dim, i64 n)
{
    int lo = 1;
    for (int k = fuzz_pick(m->b, 4); k > 0; k -= 2) {
        int f = factors[fuzz_pick(m->b, LEN(factors))];
        i64 more = int_ceil_div(lo * f, n);
        if (more > m->room)
            break;
        m->room /= more;
        char *d = lo > 1 ? arena_printf(m->arena, "%c//%d%%%d", dim, lo, f)
                         : arena_printf(m->arena, "%c%%%d", dim, f);
        m->digit[m->n++] = disguise(m, d, f);
        lo *= f;
    }
    m->digit[m->n++] = lo > 1 ? arena_printf(m->arena, "%c//%d", dim, lo)
                              : arena_printf(m->arena, "%c", dim);
}

static void
options(Maker *m, Buf *t)
{
    static const char *const fill[] = {"\"none\"", "\"edge\"", "1", "0"};
    int what = fuzz_byte(m->b);
    if (what & 1)
        buf_printf(t, ", fill = %s", fill[fuzz_pick(m->b, LEN(fill))]);
    if ((what & 6) == 6)
        buf_printf(t, ", pad = {%c = %d}", dims[fuzz_pick(m->b, m->rank)],
                   1 + fuzz_pick(m->b, 7));
    if ((what & 24) == 24)
        buf_printf(t, ", pitch = {[%d] = %d}", 1 + fuzz_pick(m->b, m->n),
                   1 + fuzz_pick(m->b, 70));
    if ((what & 96) == 96) {
        int bits = fuzz_pick(m->b, 4), base = fuzz_pick(m->b, 4);
        int shift = bits + fuzz_pick(m->b, 3);
        buf_printf(t, ", swizzle = xor(%d, %d, %d)", bits, base,
                   fuzz_pick(m->b, 2) ? shift : -shift);
        if (what & 128)
            buf_add(t, ", unit = \"bytes\"");
    }
}

static const char *
layout(Maker *m)
{
    Buf t = buf_new(m->arena);
    m->n = 0;
    m->room = 8;
    for (int d = 0; d < m->rank; d++)
        cut(m, dims[d], m->shape[d]);
    for (int d = 0; d < m->rank; d++)
        buf_printf(&t, d ? ",%c" : "(%c", dims[d]);
    buf_add(&t, "){");
    for (int left = m->n; left > 0; left--) {
        int k = fuzz_pick(m->b, left);
        buf_printf(&t, "%s%s", left < m->n ? ", " : "", m->digit[k]);
        m->digit[k] = m->digit[left - 1];
    }
    options(m, &t);
    buf_add(&t, "}");
    return t.s;
}

typedef struct {
    Arena arena;
    Bytes b;
} Case;

static void
prove(const ravel_request *rq)
{
    ravel_plan *p;
    ravel_error err = {.text = ""};
    ravel_status s = ravel_compile(fuzz_context(), rq, &p, &err);
    if (!s && ravel_plan_src_bytes(p) <= MAX_BYTES &&
        ravel_plan_dst_bytes(p) <= MAX_BYTES)
        s = ravel_verify(p, &err);
    if (s && s != RAVEL_ERR_LAYOUT)
        fuzz_fail("%s -> %s of %s: status %d: %s", rq->from, rq->to, rq->dtype, s,
                  err.text);
    ravel_plan_free(p);
}

static void
run(void *arg)
{
    Case *c = arg;
    i64 n = 1;
    Maker m = {.b = &c->b, .arena = &c->arena};
    const char *type = dtypes[fuzz_pick(m.b, ndtypes)].name;
    m.rank = 1 + fuzz_pick(m.b, MAX_DIMS);
    for (int d = 0; d < m.rank; d++) {
        i64 e = extents[fuzz_pick(m.b, LEN(extents))];
        m.shape[d] = n * e > MAX_ELEMENTS ? 1 : e;
        n *= m.shape[d];
    }
    const char *from = layout(&m), *to = layout(&m);
    if (getenv("FUZZ_SHOW"))
        fprintf(stderr, "%s -> %s of %s\n", from, to, type);
    prove(&(ravel_request){from, to, type, m.rank, m.shape});
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    Case c = {.b = {data, data + len}};
    fuzz_check(fuzz_run(&c.arena, run, &c));
    return 0;
}
