/* Decisions about random layouts, against enumeration. */
#include "decide_oracle.h"
#include "random.h"

typedef struct {
    long layouts, refused, skipped, yes, no, unknown, shrunk, by_structure;
    long collision, repeated, sigma, undecided, inverse, proven, plain_no_inverse;
} Tally;

static Tally tally;

static void
count_verdict(const Verdict *v)
{
    tally.layouts++;
    tally.yes += v->injective == YES;
    tally.no += v->injective == NO;
    tally.unknown += v->injective == UNKNOWN;
    tally.collision += v->flaw == FLAW_COLLISION;
    tally.repeated += v->flaw == FLAW_REPEATED;
    tally.sigma += v->flaw == FLAW_SIGMA;
    tally.undecided += v->flaw == FLAW_UNDECIDED;
    tally.by_structure += v->by_structure;
    tally.inverse += v->inverse != NULL;
    tally.proven += v->inverse && v->inverse_proven;
    tally.plain_no_inverse += v->by_structure && v->flaw == FLAW_NONE && !v->inverse;
}

typedef struct {
    uint64_t state;
    Arena *arena;
    int rank;
    i64 shape[RANK_MAX];
    struct { const char *text; i64 size; } digit[DIGITS_MAX];  /* size 0: open */
    int n;
} Rng;

static i64
pick(Rng *r, i64 n)
{
    return random_below(&r->state, n);
}

static bool
one_in(Rng *r, i64 n)
{
    return pick(r, n) == 0;
}

static void
add_digit(Rng *r, const char *text, i64 size)
{
    if (r->n == DIGITS_MAX)
        return;
    r->digit[r->n].text = text;
    r->digit[r->n++].size = size;
}

/* The digit [lo, hi) of a dim, in one of its spellings. */
static void
add_range(Rng *r, char dim, i64 lo, i64 hi)
{
    long long l = lo, h = hi, size = hi ? hi / lo : 0;
    const char *text;
    if (!hi)
        text = lo == 1 ? arena_printf(r->arena, "%c", dim)
                       : arena_printf(r->arena, "%c//%lld", dim, l);
    else if (one_in(r, 4))
        text = arena_printf(r->arena, "%c%%%lld//%lld", dim, h, l);
    else if (size == 2 && int_is_pow2(lo) && one_in(r, 2))
        text = arena_printf(r->arena, "%c[%d]", dim, int_log2(lo));
    else if (int_is_pow2(hi) && int_is_pow2(lo) && one_in(r, 3))
        text = arena_printf(r->arena, "(%c >> %d & %lld)", dim, int_log2(lo), size - 1);
    else
        text = arena_printf(r->arena, "%c//%lld%%%lld", dim, l, size);
    add_digit(r, text, size);
}

/* Cuts that tile the dim, any factors or only twos. */
static void
add_tiles(Rng *r, char dim, i64 factors, i64 least)
{
    i64 lo = 1;
    for (i64 n = pick(r, 4); n > 0; n--) {
        i64 hi = lo * (least + pick(r, factors));
        add_range(r, dim, lo, hi);
        lo = hi;
    }
    add_range(r, dim, lo, 0);
}

/* Digits without a plan: overlaps, gaps, cuts that do not nest. */
static void
add_loose(Rng *r, char dim)
{
    for (i64 n = 1 + pick(r, 3); n > 0; n--) {
        i64 lo = 1 + pick(r, 5);
        add_range(r, dim, lo, one_in(r, 3) ? 0 : lo * (2 + pick(r, 4)));
    }
}

static void
add_dim(Rng *r, int d)
{
    char dim = (char)('A' + d);
    switch (pick(r, 8)) {
    case 0: case 1: add_range(r, dim, 1, 0); break;
    case 2: case 3: add_tiles(r, dim, 4, 2); break;
    case 7: add_loose(r, dim); break;
    default: add_tiles(r, dim, 1, 2); break;
    }
}

static void
shuffle(Rng *r)
{
    for (int i = r->n - 1; i > 0; i--) {
        i64 j = pick(r, i + 1);
        __typeof__(r->digit[0]) t = r->digit[i];
        r->digit[i] = r->digit[j];
        r->digit[j] = t;
    }
}

/* One digit into its xor with another, or with a constant. */
static void
make_xor(Rng *r)
{
    i64 i = pick(r, r->n), j = pick(r, r->n), s = r->digit[i].size;
    if (one_in(r, 4)) {                         /* bits that overlap those stored */
        r->digit[i].text = arena_printf(r->arena, "(%s ~ %c//%d%%%d)", r->digit[i].text,
                                        (char)('A' + pick(r, r->rank)),
                                        1 << pick(r, 3), 2 << pick(r, 2));
        r->digit[i].size = 0;
        return;
    }
    if (i == j || one_in(r, 5))
        r->digit[i].text = arena_printf(r->arena, "(%s ~ %lld)", r->digit[i].text,
                                        (long long)pick(r, s ? s : 8));
    else if (s == r->digit[j].size || one_in(r, 3))
        r->digit[i].text = arena_printf(r->arena, "(%s ~ %s)", r->digit[i].text,
                                        r->digit[j].text);
    else
        return;
    if (r->digit[j].size > s)
        r->digit[i].size = r->digit[j].size;
    if (r->digit[j].size == 0)
        r->digit[i].size = 0;
}

/* Something that need not be one-to-one. */
static void
bend(Rng *r, i64 i)
{
    static const char *const how[] = {
        "(%s + 3) %% 8", "(%s * 3 & 7)", "min(%s, 3)", "max(%s, 2)", "(%s | 1)",
        "(%s & 5)", "%s << 1", "(%s + 1)", "(%s * 3)", "(%s ~ %s >> 1)", "%s // 2"};
    const char *t = r->digit[i].text, *f = how[pick(r, LEN(how))];
    Buf b = buf_new(r->arena);
    for (; *f; f++)
        if (f[0] == '%' && f[1] == 's')
            buf_add(&b, t), f++;
        else if (f[0] == '%' && f[1] == '%')
            buf_add(&b, "%"), f++;
        else
            buf_addn(&b, f, 1);
    r->digit[i].text = b.s;
    r->digit[i].size = 0;
}

/* Two digits into one entry: as mixed radix, or with any factor. */
static void
make_sum(Rng *r)
{
    i64 i = pick(r, r->n), j = r->n - 1;
    long long k = r->digit[j].size && !one_in(r, 4) ? r->digit[j].size : 1 + pick(r, 9);
    if (i == j)
        return;
    const char *p = r->digit[i].text, *q = r->digit[j].text;
    r->digit[i].text = one_in(r, 6) ? arena_printf(r->arena, "(%s | %s << 2)", p, q)
                       : arena_printf(r->arena, "%lld*(%s) + (%s)", k, p, q);
    r->digit[i].size = r->digit[j].size == k ? r->digit[i].size * k : 0;
    r->n--;
}

static void
mutate(Rng *r)
{
    i64 i = pick(r, r->n);
    long long s = r->digit[i].size;
    if (one_in(r, 8) && r->n > 1)
        r->digit[i] = r->digit[--r->n];                       /* missing */
    else if (one_in(r, 10))
        add_digit(r, r->digit[i].text, s);                    /* stored twice */
    else if (one_in(r, 5) && s)
        r->digit[i].text = arena_printf(r->arena, "(%lld - %s)", s - 1, r->digit[i].text);
    for (i64 n = one_in(r, 3) ? 1 + pick(r, 3) : 0; n > 0; n--)
        make_xor(r);
    if (one_in(r, 8))
        bend(r, pick(r, r->n));
    shuffle(r);
    for (i64 n = one_in(r, 4) ? 1 + pick(r, 2) : 0; n > 0; n--)
        make_sum(r);
}

static void
add_settings(Rng *r, Buf *b)
{
    static const char *const swizzles[] = {
        "xor(1, 0, 1)", "xor(2, 1, 2)", "xor(2, 0, 3)", "xor(1, 1, -1)", "xor(2, 2, -2)",
        "function(a) return a ~ (a >> 1) end", "function(a) return a ~ (a >> 2 & 1) end",
        "function(a) return a + 7 & 15 end", "function(a) return a * 3 & 15 end",
        "function(a) return a ~ 1 end", "function(a) return a // 4 * 4 + (a + 1) % 4 end",
        "function(a) return a // 2 * 2 + 1 - a % 2 end",
        "function(a) return a // 3 * 3 + (a + 1) % 3 end",
        "function(a) return a end", "function(a) return a ~ (a >> 1 & 3) << 2 end",
        "function(a) return a // 2 end", "function(a) return a ~ a % 4 * 3 end",
        "function(a) return a * 2 % 7 end", "function(a) return a | 1 end"};
    char dim = (char)('A' + pick(r, r->rank));
    if (one_in(r, 5))
        buf_printf(b, ", pad = {%c = %d}", dim, 1 + (int)pick(r, 9));
    if (one_in(r, 8))
        buf_printf(b, ", pitch = {[%d] = %d}", 1 + (int)pick(r, r->n), 1 << pick(r, 6));
    if (one_in(r, 4)) {
        buf_printf(b, ", swizzle = %s", swizzles[pick(r, LEN(swizzles))]);
        buf_add(b, one_in(r, 4) ? ", unit = \"bytes\"" : "");
    }
}

static const char *
random_layout(Rng *r)
{
    static const i64 sizes[] = {1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 12, 16, 16, 32};
    Buf b = buf_new(r->arena);
    r->rank = 1 + (int)pick(r, RANK_MAX);
    r->n = 0;
    do
        for (int d = 0; d < r->rank; d++)
            r->shape[d] = sizes[pick(r, LEN(sizes))];
    while (product(r->rank, r->shape) > POINTS_MAX);
    for (int d = 0; d < r->rank; d++)
        add_dim(r, d);
    shuffle(r);
    mutate(r);
    buf_add(&b, "(");
    for (int d = 0; d < r->rank; d++)
        buf_printf(&b, "%s%c", d ? ", " : "", 'A' + d);
    buf_add(&b, "){");
    for (int i = 0; i < r->n; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", r->digit[i].text);
    add_settings(r, &b);
    buf_add(&b, "}");
    return b.s;
}

static const char *
with_shape(Rng *r, const char *text, const char *dtype)
{
    Buf b = buf_new(r->arena);
    buf_printf(&b, "'%s' of %s", text, dtype);
    for (int d = 0; d < r->rank; d++)
        buf_printf(&b, "%s%lld", d ? "," : " ", (long long)r->shape[d]);
    return b.s;
}

static void
check_random(Rng *r)
{
    static const char *const types[] = {"u4", "i8", "f32"};
    const char *dtype = types[pick(r, LEN(types))], *text = random_layout(r);
    if (getenv("TRACE"))
        fprintf(stderr, "%s\n", with_shape(r, text, dtype));
    Case c = decided(r->arena, NULL, text, dtype, r->rank, r->shape);
    c.text = with_shape(r, text, dtype);
    count_verdict(c.v);
    if (c.l->size > ADDRESSES_MAX)
        tally.skipped++;
    else
        check_verdict(&c);
}

static void
random_layouts(void **state)
{
    (void)state;
    const char *env = getenv("SEED"), *rounds = getenv("ROUNDS");
    uint64_t seed = env ? strtoull(env, NULL, 0) : 20260101;
    long n = rounds ? atol(rounds) : 4000;
    printf("# seed %llu, %ld layouts\n", (unsigned long long)seed, n);
    tally = (Tally){0};
    for (volatile long i = 0; i < n; i++) {
        Diag d;
        Arena a = {.diag = &d};
        Rng r = {.arena = &a,
                 .state = seed * 6364136223846793005u +
                          (uint64_t)i * 1442695040888963407u + 1};
        if (diag_catch(&d)) {
            tally.refused++;
            if (getenv("TRACE"))
                fprintf(stderr, "    %s\n", d.text);
        } else {
            check_random(&r);
        }
        arena_free(&a);
    }
    Tally *t = &tally;
    printf("# %ld decided, %ld refused as written, %ld too large to enumerate here\n"
           "# yes %ld, no %ld, unknown %ld; by structure %ld\n"
           "# collision %ld, digit twice %ld, swizzle %ld, undecided %ld\n"
           "# inverse %ld, of them proven %ld; by structure but no inverse %ld\n",
           t->layouts, t->refused, t->skipped, t->yes, t->no, t->unknown,
           t->by_structure, t->collision, t->repeated, t->sigma, t->undecided,
           t->inverse, t->proven, t->plain_no_inverse);
    assert_true(t->layouts > n / 2 && t->undecided < n / 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_layouts),
    };
    return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
