/* A layout as on a command line, after an element type and a shape:
 *
 *      f16 2,20,5,7 NC1HWC0{C0=4}
 *
 * Made, decided, and every claim about it held against the plain evaluator; printed,
 * read back and found the same. */
#include "fuzz.h"

/* Elements and storage up to here are looked at one by one; up to SLOW it is decide
 * that does so for some, which is right but takes seconds. */
enum { SMALL = 1 << 13, SLOW = 1 << 28 };

typedef struct {
    Arena arena;
    const DType *type;
    int rank;
    i64 shape[MAX_RANK + 1];
    const char *text;
} Case;

/* "2,20,5,7 rest"; -1 where it is none. */
static int
read_shape(const char **s, i64 *shape)
{
    int n = 0;
    for (char *end; n <= MAX_RANK; n++, *s = end + (*end == ',')) {
        if (**s == ' ')
            return n;
        shape[n] = strtoll(*s, &end, 10);
        if (end == *s || (*end != ',' && *end != ' '))
            return -1;
    }
    return -1;
}

static i64
product(const Layout *l, bool padded)
{
    i64 n = 1;
    for (int d = 0; d < l->rank; d++)
        if (!int_mul(n, padded ? l->dim[d].padded : l->dim[d].n, &n))
            return INF;
    return n;
}

static i64
address(const Layout *l, const i64 *x)
{
    i64 a;
    if (!layout_address(l, x, &a))
        fuzz_fail("%s: an address that does not fit",
                  layout_ref_text(ex_arena(l->e), l->ref));
    return a;
}

static void
check_inverse(const Layout *l, const Verdict *v, const i64 *x, i64 a)
{
    i64 back[MAX_RANK];
    if (v->inverse)
        fuzz_check(verdict_element(l, v, a, back) &&
                   !memcmp(x, back, (size_t)l->rank * sizeof *x));
}

/* One-to-one and within the storage, or not, as `v` says; elements as counted. */
static void
check_points(const Layout *l, const Verdict *v, bool padded)
{
    i64 x[MAX_RANK] = {0}, n = 0, got, *val = calloc((size_t)ex_nvars(l->e), sizeof *val);
    unsigned char *seen = calloc(1, (size_t)l->size);
    fuzz_check(val && seen);
    do {
        i64 a = address(l, x);
        for (int d = 0; d < l->rank; d++)
            val[l->dim[d].var] = x[d];
        fuzz_check(ex_eval(l->addr, val, &got) && got == a);
        if (v->flaw != FLAW_NONE)
            continue;
        fuzz_check(a >= 0 && a < l->size && !seen[a]);
        seen[a] = 1;
        n++;
        if (!padded)
            check_inverse(l, v, x, a);
    } while (layout_next(l, padded, x));
    if (v->flaw == FLAW_NONE) {
        fuzz_check(n == v->elements + (padded ? v->padding : 0));
        fuzz_check(v->elements + v->padding + v->holes == l->size);
    }
    free(val);
    free(seen);
}

static void
check_collision(const Layout *l, const Verdict *v)
{
    bool same = true;
    for (int d = 0; d < l->rank; d++) {
        fuzz_check(v->x[d] >= 0 && v->x[d] < l->dim[d].n);
        fuzz_check(v->y[d] >= 0 && v->y[d] < l->dim[d].n);
        same &= v->x[d] == v->y[d];
    }
    fuzz_check(!same && address(l, v->x) == v->at && address(l, v->y) == v->at);
}

static void
check_text(Case *c, const LayoutRef *ref)
{
    const char *text = layout_ref_text(&c->arena, ref);
    const LayoutRef *again = spec_ref(&c->arena, text, context_known(fuzz_context()));
    const char *second = layout_ref_text(&c->arena, again);
    if (strcmp(text, second))
        fuzz_fail("'%s' reads back as '%s'", text, second);
}

/* What is said of every shape holds of this one. */
static void
check_every(Case *c, const LayoutRef *ref, const Layout *l, const Verdict *v)
{
    const EveryShape *s = decide_shapes(ex_new(&c->arena), ref, c->type, decide_rank(ref->def), NULL);
    bool within = true, dense = true;
    if (s->injective != YES || s->v->flaw || s->l->rank != l->rank)
        return;
    for (int d = 0; d < l->rank; d++) {
        within &= l->dim[d].n <= s->bound[d];
        dense &= s->dense == UNKNOWN || (s->bound[d] < INF ? l->dim[d].n == s->bound[d]
                                   : l->dim[d].n % s->multiple[d] == 0);
    }
    fuzz_check(!within || v->flaw == FLAW_NONE);
    if (within && s->dense != UNKNOWN)
        fuzz_check((v->elements == l->size) == (s->dense == YES && dense));
}

/* A layout is equal to itself. */
static void
check_equal(Case *c, const LayoutRef *ref, Layout *l)
{
    int map[MAX_RANK];
    for (int d = 0; d < MAX_RANK; d++)
        map[d] = d;
    Layout *twin = layout_make(l->e, ref, c->type, c->rank, c->shape);
    fuzz_check(decide_equal(l, twin, map).equal == YES);
}

static void
run(void *arg)
{
    Case *c = arg;
    const LayoutRef *ref = spec_ref(&c->arena, c->text, context_known(fuzz_context()));
    check_text(c, ref);
    Layout *l = layout_make(ex_new(&c->arena), ref, c->type, c->rank, c->shape);
    i64 points = product(l, true);
    i64 most = points > l->size ? points : l->size;
    i64 least = points < l->size ? points : l->size;
    if (most > SMALL && least < SLOW)
        return;
    Verdict *v = decide(l);
    fuzz_check(v->flaw == FLAW_NONE ? v->injective == YES : v->why != NULL);
    if (v->flaw == FLAW_COLLISION)
        check_collision(l, v);
    if (most <= SMALL) {
        check_points(l, v, false);
        check_points(l, v, true);
        storage_decide(l, v, 16);
        fuzz_check(v->flaw || (v->ngaps > 0) == (v->padding || v->holes));
        check_equal(c, ref, l);
    }
    check_every(c, ref, l, v);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = fuzz_text(data, len), *space = strchr(text, ' ');
    Case c = {.text = space ? space + 1 : ""};
    if (space) {
        *space = 0;
        c.type = dtype_find(text);
        c.rank = read_shape(&c.text, c.shape);
        if (c.type && c.rank >= 0)
            fuzz_run(&c.arena, run, &c);
    }
    free(text);
    return 0;
}
