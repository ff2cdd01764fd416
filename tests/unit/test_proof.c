/* The library's proof on relayouts with one bug each: in the process that asks, by
 * bytes beside the buffers. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../runtime/element.h"
#include "../../runtime/proof.h"
#include "../../runtime/reference_side.h"
#include "../../runtime/reference.h"
#include "planted.h"

typedef struct {
    const char *name;
    int pair;
    void (*f)(Byte *, const Byte *);
    const char *paged, *marked;
} Planted;

#define ROW(f, pair, paged, marked) {#f, pair, f, paged, marked},
static const Planted table[] = {PLANTED};
#undef ROW

static const Planted *current;

static void
run_current(const void *self, void *dst, const void *src)
{
    (void)self;
    current->f(dst, src);
}

static const Code code = {.run = run_current};

typedef struct {
    Arena arena;
    const char *const *pair;
    Plan *plan;
} Job;

static void
make(void *arg)
{
    Job *j = arg;
    i64 shape[3];
    int rank = 0;
    for (const char *s = j->pair[3]; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
        shape[rank++] = atoll(s);
    Request rq = {.from = j->pair[0], .to = j->pair[1], .dtype = j->pair[2],
                  .rank = rank, .shape = shape, .name = "f"};
    j->plan = compile_plan(&j->arena, NULL, &rq);
}

/* A plan whose layout is another one than the request's, with addresses of its own or none. */
static void
other_words(void **state)
{
    (void)state;
    static const char *const words[] = {"(A,B){B//4, A, B%4}", "(A,B){A, B}", "(A,B){B, A}",
                                         "(A,B){B//3, A, B%3}"};
    for (int i = 0; i < LEN(words); i++) {
        Job j = {.pair = (const char *const[]){"(A,B){A, B}", "(A,B){B//4, A, B%4}", "u16",
                                               "6,8"}};
        Diag d;
        Proof *q = NULL;
        ravel_error err = {0};
        assert_true(arena_run(&j.arena, &d, make, &j));
        LayoutRef *ref = arena_copy(&j.arena, j.plan->dst->ref, sizeof *ref);
        ref->written = spec_ref(&j.arena, words[i], NULL);
        Layout *dst = arena_copy(&j.arena, j.plan->dst, sizeof *dst);
        dst->ref = ref;
        sides_set_written(dst, (const i64[]){6, 8});
        j.plan->dst = dst;
        assert_int_equal(proof_new(j.plan, false, &q, &err), i ? RAVEL_ERR_VERIFY : RAVEL_OK);
        assert_true(i == 0 || strstr(err.text, "the plan is for other layouts: "));
        proof_free(q);
        arena_free(&j.arena);
    }
}

static void
planted_bugs(void **state)
{
    (void)state;
    for (int i = 0; i < LEN(table); i++) {
        Job j = {.pair = planted_pair[table[i].pair]};
        Diag d;
        Proof *q;
        ravel_error err = {0};
        ravel_certificate c;
        current = &table[i];
        if (!strcmp(current->marked, "-"))
            continue;
        assert_true(arena_run(&j.arena, &d, make, &j));
        assert_int_equal(proof_new(j.plan, false, &q, &err), RAVEL_OK);
        ravel_status s = proof_run(q, &code, &c, &err);
        ravel_status want = *current->marked ? RAVEL_ERR_VERIFY : RAVEL_OK;
        if (s != want || !strstr(err.text, current->marked))
            fail_msg("%s: status %d, '%s'", current->name, s, err.text);
        proof_free(q);
        arena_free(&j.arena);
    }
}

/* The system refuses to protect memory; fence.c and planted.h call this one. */
static bool refuse;

int
mprotect(void *p, size_t n, int how)
{
    if (!refuse)
        return (int)syscall(SYS_mprotect, p, n, how);
    errno = EACCES;
    return -1;
}

static void
refused_lock(void **state)
{
    Job j = {.pair = planted_pair[0]};
    Diag d;
    Proof *q;
    ravel_error err = {0};
    ravel_certificate c;
    (void)state;
    current = &table[0];
    assert_true(arena_run(&j.arena, &d, make, &j));
    assert_int_equal(proof_new(j.plan, true, &q, &err), RAVEL_OK);
    refuse = true;
    ravel_status s = proof_run(q, &code, &c, &err);
    refuse = false;
    assert_int_equal(s, RAVEL_ERR_MEMORY);
    assert_non_null(strstr(err.text, "the source's pages cannot be locked"));
    proof_free(q);
    arena_free(&j.arena);
}

static i64
status_of(const char *key)
{
    char line[256];
    long long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    assert_non_null(f);
    while (kb < 0 && fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key)))
            kb = atoll(line + strlen(key));
    fclose(f);
    return kb * 1024;
}

/* Against the address space that a proof really takes. */
static void
takes_what_it_says(const char *const *pair)
{
    Job j = {.pair = pair};
    Diag d;
    Proof *q;
    ravel_error err;
    assert_true(arena_run(&j.arena, &d, make, &j));
    i64 before = status_of("VmSize:");
    assert_int_equal(proof_new(j.plan, false, &q, &err), RAVEL_OK);
    i64 took = status_of("VmPeak:") - before, said = proof_bytes(j.plan);
    print_message("# said %lld, took %lld\n", (long long)said, (long long)took);
    assert_true(took > said - said / 4 && took < said + said / 50);
    proof_free(q);
    arena_free(&j.arena);
}

/* Tables of coordinates take the most; the buffers of the threads do. */
static void
memory(void **state)
{
    static const char *const pairs[][4] = {
        {"(A){A//4, A%4}", "(A){A}", "u8", "3000000"},
        {"(A){A}", "(A){A}", "c128", "900000"}};
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    print_message("# skipped: the address sanitizer has address space of its own\n");
    skip();
#endif
    for (int i = 0; i < LEN(pairs); i++)
        takes_what_it_says(pairs[i]);
}

/* What a proof counts, for the source's slots and the destination's. */
static void
counts(void **state)
{
    Job j = {.pair = planted_pair[0]};
    Diag d;
    Proof *q;
    ravel_error err;
    ravel_certificate c;
    (void)state;
    current = &table[0];
    assert_true(arena_run(&j.arena, &d, make, &j));
    assert_int_equal(proof_new(j.plan, false, &q, &err), RAVEL_OK);
    assert_int_equal(proof_run(q, &code, &c, &err), RAVEL_OK);
    assert_int_equal(c.stamped, 80);
    assert_int_equal(c.elements, 35);
    assert_int_equal(c.padding, 5);
    assert_int_equal(c.holes, 24);
    assert_int_equal(c.passes, 1);
    assert_int_equal(c.threads, 4);
    assert_int_equal(c.guard_pages, 0);
    proof_free(q);
    arena_free(&j.arena);
}

/* A result that is right but for one byte, of an element, of padding, of a hole. */
static void
results(void **state)
{
    static const struct {
        int byte;
        i64 slot;                  /* that differs; -1: none */
    } t[] = {{-1, -1}, {0, 0}, {50, 50}, {51, 51}, {20, 20}, {63, 63}};
    Job j = {.pair = planted_pair[0]};
    Diag d;
    Byte src[80], dst[64];
    i64 at;
    (void)state;
    assert_true(arena_run(&j.arena, &d, make, &j));
    for (int i = 0; i < 80; i++)
        src[i] = (Byte)(i * 7);
    for (int i = 0; i < LEN(t); i++) {
        memset(dst, 0, sizeof dst);
        right(dst, src);
        if (t[i].byte >= 0)
            dst[t[i].byte] ^= 8;
        assert_true(reference_differs(j.plan, &(Threads){.most = 2}, dst, src, &at));
        assert_int_equal(at, t[i].slot);
    }
    arena_free(&j.arena);
}

/* The plain definition: every padded coordinate, at the addresses that the
 * expressions give; past one strip, along one dim and two, swizzled, filled by the edge. */
typedef struct {
    const Plan *p;
    i64 n;
    bool ok;
} Seen;

static bool
compare(void *arg, const ReferenceRow *r)
{
    Seen *s = arg;
    for (int i = 0; i < r->n; i++) {
        const Layout *d = s->p->dst;
        i64 x[MAX_RANK], from[MAX_RANK], a, b;
        memcpy(x, r->x, sizeof x);
        if (r->inner >= 0)
            x[r->inner] += i;
        bool pad = false;
        for (int k = 0; k < d->rank; k++) {
            pad |= x[k] >= d->dim[k].n;
            from[s->p->map[k]] = x[k] < d->dim[k].n ? x[k] : d->dim[k].n - 1;
        }
        s->ok &= layout_address(d, x, &a) && layout_address(s->p->src, from, &b) &&
                 r->to[i] == a && r->pad[i] == pad && (r->from[i] == b || r->from[i] < 0);
        s->n++;
    }
    return true;
}

static void
walks(void **state)
{
    static const char *const pairs[][4] = {
        {"(A){A//4, A%4}", "(A){A//3, A%3}", "u8", "200001"},
        {"(A,B){A, B}", "(A,B){B, A}", "u8", "3,70000"},
        {"(A,B){A, B}", "(A,B){B, A}", "u8", "70000,3"},
        {"(A,B){A, B, swizzle = xor(2, 0, 3)}", "(A,B){B//8, A, (B%8) ~ (A%8)}", "u16", "40,24"},
        {"(A,B){B, A}", "(A,B){A//5, B//7, A%5, B%7, fill = 'edge'}", "u4", "33,65"},
        {"(A,B){A, B, swizzle = function(a) return a ~ (a // 96 % 4 * 3) end}",
         "(A,B){(A * 3 + B) // 4 % 50, A, (A * 3 + B) % 4}", "u16", "24,24"},
        {"{A}", "{A}", "f32", "1"}};
    (void)state;
    for (int i = 0; i < LEN(pairs); i++) {
        Job j = {.pair = pairs[i]};
        Diag d;
        i64 all = 1;
        assert_true(arena_run(&j.arena, &d, make, &j));
        Seen s = {.p = j.plan, .ok = true};
        assert_true(reference_walk(j.plan, compare, &s));
        for (int k = 0; k < j.plan->dst->rank; k++)
            all *= j.plan->dst->dim[k].padded;
        if (!s.ok || s.n != all)
            fail_msg("%s -> %s: %lld of %lld", pairs[i][0], pairs[i][1], (long long)s.n,
                     (long long)all);
        arena_free(&j.arena);
    }
}

/* Right results, made an element at a time at the addresses that `walks` has tested, and the
 * same with one wrong element. */
typedef struct {
    const Plan *p;
    Byte *dst;
    const Byte *src;
} Made;

static bool
make_row(void *arg, const ReferenceRow *r)
{
    Made *m = arg;
    const Layout *d = m->p->dst;
    for (int i = 0; i < r->n; i++) {
        uint64_t v = d->fill[0], high = d->fill[1];
        if (r->from[i] == FROM_HOLE)
            continue;
        if (r->from[i] >= 0)
            v = element_get(m->src, r->from[i], d->dtype->bits, &high);
        element_set(m->dst, r->to[i], d->dtype->bits, v, high);
    }
    return true;
}

static void
flip(const Made *m, i64 slot)
{
    int bits = m->p->dst->dtype->bits;
    uint64_t high, v = element_get(m->dst, slot, bits, &high);
    element_set(m->dst, slot, bits, v ^ (uint64_t)1 << (slot * 7 % (bits < 64 ? bits : 64)), high);
}

/* A slot of the destination that differs is found, and no other. */
static void
find_wrong(const char *const *pair)
{
    enum { TRIES = 12 };
    Job j = {.pair = pair};
    Diag d;
    i64 at;
    assert_true(arena_run(&j.arena, &d, make, &j));
    const Layout *to = j.plan->dst;
    i64 n = layout_bytes(j.plan->src);
    Byte *src = malloc((size_t)n), *dst = calloc((size_t)layout_bytes(to), 1);
    Made m = {j.plan, dst, src};
    for (i64 k = 0; k < n; k++)
        src[k] = (Byte)(k * 37 ^ k >> 7);
    assert_true(reference_walk(j.plan, make_row, &m));
    for (int k = 0; k < TRIES; k++) {
        i64 slot = k * 2654435761 % to->size;
        Threads t = {.most = 1 + k % 3};
        assert_true(reference_differs(j.plan, &t, dst, src, &at));
        assert_int_equal(at, -1);
        flip(&m, slot);
        assert_true(reference_differs(j.plan, &t, dst, src, &at));
        if (at != slot)
            fail_msg("%s -> %s: slot %lld, not %lld", pair[0], pair[1], (long long)at,
                     (long long)slot);
        flip(&m, slot);
    }
    free(src);
    free(dst);
    arena_free(&j.arena);
}

static void
one_wrong_element(void **state)
{
    static const char *const pairs[][4] = {
        {"(A,B){A, B}", "(A,B){B, A}", "u8", "130,257"},
        {"(A,B){A, B}", "(A,B){B, A}", "u64", "70,65"},
        {"(A,B){A, B}", "(A,B){B, A}", "c128", "33,70"},
        {"(A,B){A, B}", "(A,B){A//16, B//32, A%16, B%32}", "u16", "50,100"},
        {"(A,B){A, B}", "(A,B){A//16, B//32, A%16, B%32, fill = 3}", "u4", "50,99"},
        {"(A,B){A//5, B//64, A%5, B%64}", "(A,B){B//16, A, B%16, fill = 'edge'}", "u32", "64,250"},
        {"(A,B){A, B}", "(A,B){A//8, B//16, A%8, (B//2%8) ~ (A%8), B%2}", "u16", "40,60"},
        {"(A,B){B, A, swizzle = xor(3, 1, 3)}", "(A,B){A, B, pitch = {A = 256}}", "u16", "64,64"},
        {"(A,B){A, B}", "(A,B){A, B, pad = {B = 64}, fill = 'none'}", "u8", "9,70"},
        {"(A,B){A, B}", "(A,B){B, A}", "u1", "136,72"},
        {"(A,B){A, B}", "(A,B){B, A}", "u2", "100,84"},
        {"(A,B){A, B}", "(A,B){B, A}", "u4", "66,130"},
        {"(A,B){A, B}", "(A,B){A//8, B//8, A[2], B[2], A[1], B[1], A[0], B[0]}", "u1", "72,80"},
        {"(A,B){A, B}", "(A,B){A//8, B//8, A[2], B[2], B[0], A[1], B[1], A[0]}", "u4", "70,90"},
        {"(A,B){A, B}", "(A,B){A//8, B//8, A[2], B[2], A[1], B[1], A[0], B[0]}", "u16", "70,90"},
        {"(A,B,C){A, B, C}", "(A,B,C){A, B//4, C//64, B%4, (C//8%8) ~ (B%4), C%8, fill = 1}", "u1",
         "3,6,160"},
        {"(A,B){A, B}", "(A,B){A//8, B//32, A%8, (B//4%8) ~ (A%8), B%4, fill = 'edge'}", "u32",
         "12,70"},
        {"(A,B){A, B}", "(A,B){A//8, B//32, A%8, (B//4%8) ~ (A%8), B%4, fill = 3}", "u16", "12,72"},
        {"(A,B){A, B}", "(A,B){A, B, pad = {B = 16}, fill = 3}", "u16", "9,1"},
        {"(A,B){A, B}", "(A,B){A, B, pad = {B = 64}, fill = 9, swizzle = xor(3, 4, 3)}", "u8", "40,200"},
        {"(A,B){A, B, pad = {B = 64}, swizzle = xor(3, 4, 3)}",
         "(A,B){A//8, B//64, A%8, B%64, fill = 7}", "u4", "41,200"},
        {"(A,B){A, B, pad = {B = 64}, swizzle = xor(2, 3, 4)}",
         "(A,B){A, B, pad = {B = 32}, swizzle = xor(1, 5, -2), fill = 2}", "u16", "40,203"},
        {"(A,B){A, B}", "(A,B){A//8, B//64, A%8, (B//8%8) ~ (A%8), B%8, swizzle = xor(2, 4, 9)}", "u16",
         "40,192"},
        {"(A,B){A, B}", "(A,B){B, A, swizzle = xor(3, 4, 3)}", "u8", "128,72"},
        {"(A,B){A, B}", "(A,B){A, B, swizzle = xor(3, 4, 3)}", "u1", "48,200"},
        {"(A,B){A, B, swizzle = xor(3, 4, 3)}", "(A,B){A, B}", "u2", "48,200"},
        {"(A,B){A, B, pad = {B = 32}, swizzle = xor(2, 3, 2)}", "(A,B){A, B}", "u32", "40,30"},
        {"(A,B){A, B}", "(A,B){A, B, pad = {B = 256}, fill = 1, swizzle = xor(2, 3, 2)}", "u4", "9,250"},
        {"(A,B){A, B}", "(A,B){A//4, B//8, B[2], A[1], B[1], A[0], B[0]}", "u2", "70,90"},
        {"(A,B){A, B}", "(A,B){A//2, B//32, B[0], A[0], B[4], B[3], B[1], B[2]}", "u1", "64,160"},
        {"(A,B){A, B}", "(A,B){A, B//64, B[0], B[2], B[5], B[4], B[1], B[3]}", "u1", "30,192"},
        {"(A,B){A, B}", "(A,B){A//16, B//16, A[0], B[3], A[3], B[2], A[2], B[1], A[1], B[0]}", "u8", "48,64"},
        {"(A,B){A, B}", "(A,B){A//16, B//16, A[0], B[3], A[3], B[2], A[2], B[1], A[1], B[0]}", "u32", "48,64"},
        {"(A,B){A, B}", "(A,B){A, B, swizzle = xor(3, 4, 3), unit = 'bytes'}", "u16", "40,128"},
        {"(A,B){A, B}", "(A,B){A, B, swizzle = xor(3, 4, 3), unit = 'bytes'}", "u4", "40,256"},
        {"(A,B){A, B}", "(A,B){A, 255 - B, swizzle = xor(2, 3, 3)}", "u8", "30,256"},
        {"(A,B){A, B}", "(A,B){A, B, swizzle = function(a) return a // 64 * 64 + (a + 8) % 64 end}",
         "u8", "30,256"},
        {"(A,B){A, B}", "(A,B){A, B, swizzle = function(a) return a ~ (a >> 2 & 31) end}", "u8", "30,256"},
        {"(A,B){A, B}", "(A,B){A, B, swizzle = function(a) return a ~ (a << 5 & 96) end}", "u8", "30,256"},
        {"(A,B){A, B, swizzle = function(a) return a % 64 + (a // 64 + 1) % 120 * 64 end}",
         "(A,B){A, B, pad = {B = 272}, fill = 3}", "u8", "30,256"},
        {"(A,B){A, B}", "(A,B){A, B, swizzle = function(a) return a // 48 * 48 + (a // 16 + 1) % 3 * 16 + a % 16 end}",
         "u8", "30,96"}};
    (void)state;
    for (int i = 0; i < LEN(pairs); i++)
        find_wrong(pairs[i]);
}

/* Whether a swizzle keeps groups of n addresses together, tried at each address. */
static bool
keeps(const Layout *l, i64 n)
{
    bool ok = l->size % n == 0;
    for (i64 a = 0, first, v; a < l->size && ok; a++)
        ok = layout_swizzle(l, a / n * n, &first) && layout_swizzle(l, a, &v) && v == first + a % n;
    return ok;
}

/* Whether a swizzle maps blocks of n addresses to themselves, all alike, tried at each address. */
static bool
is_block(const Layout *l, i64 n)
{
    bool ok = l->size % n == 0;
    for (i64 a = 0, first, v; a < l->size && ok; a++)
        ok = layout_swizzle(l, a % n, &first) && layout_swizzle(l, a, &v) && first < n &&
             v == a / n * n + first;
    return ok;
}

/* Groups and blocks are those that the operators show, and are kept. */
static void
groups(void **state)
{
    static const struct {
        const char *swizzle, *dtype;
        i64 group, block;
    } t[] = {
        {"xor(3, 4, 3)", "u8", 16, 1024}, {"xor(2, 5, -3)", "u8", 32, 1024}, {"xor(0, 2, 1)", "u8", 4096, 2},
        {"xor(3, 4, 3), unit = 'bytes'", "u16", 8, 512}, {"xor(3, 4, 3), unit = 'bytes'", "u4", 32, 2048},
        {"function(a) return a ~ a//8%4*4 end", "u8", 4, 32},
        {"function(a) return a ~ (a >> 2 & 31) end", "u8", 0, 128},
        {"function(a) return a ~ (a << 5 & 96) end", "u8", 0, 128},
        {"function(a) return a//64*64 + (a + 8)%64 end", "u8", 8, 0},
        {"function(a) return (a + 1024)%4096 end", "u8", 1024, 0},
        {"function(a) return (a & ~48) | (a >> 6 & 3 ~ a >> 4 & 3) << 4 end", "u8", 16, 256},
        {"function(a) return 4095 - a end", "u8", 0, 0}, {"function(a) return a ~ 64 end", "u8", 64, 128},
        {"function(a) return a ~ 65 end", "u8", 0, 128}, {"function(a) return a//2*2 + (a + 1)%2 end", "u8", 0, 0},
        {"function(a) return a ~ min(a//256%2*8, 8) end", "u8", 0, 0},
        {"function(a) return a - a%16 + (a + 5)%16 end", "u8", 0, 0}};
    (void)state;
    for (int i = 0; i < LEN(t); i++) {
        Job j = {0};
        Diag d;
        char text[200];
        snprintf(text, sizeof text, "(A){A, swizzle = %s}", t[i].swizzle);
        j.pair = (const char *[]){"(A){A}", text, t[i].dtype, "4096"};
        if (!arena_run(&j.arena, &d, make, &j))
            fail_msg("%s: %s", t[i].swizzle, d.text);
        i64 n = swizzle_group(j.plan->dst);
        if (n != t[i].group || (n && !keeps(j.plan->dst, n)))
            fail_msg("%s: groups of %lld", t[i].swizzle, (long long)n);
        n = swizzle_block(j.plan->dst);
        if (n != t[i].block || (n && !is_block(j.plan->dst, n)))
            fail_msg("%s: blocks of %lld", t[i].swizzle, (long long)n);
        arena_free(&j.arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory),      /* first: another thread has an arena of its own */
        cmocka_unit_test(results),
        cmocka_unit_test(walks),
        cmocka_unit_test(one_wrong_element),
        cmocka_unit_test(groups),
        cmocka_unit_test(planted_bugs),
        cmocka_unit_test(other_words),
        cmocka_unit_test(refused_lock),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
