/* Attacks on the sandbox.  Each row names the hole that it would go through, and runs
 * in a process of its own, so that a crash, a hang, a leak or a hunger for memory is
 * the fault of one.  A context that was attacked then loads, compiles and verifies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../runtime/ravel.h"

#define LEN(a) ((int)(sizeof (a) / sizeof (a)[0]))

/* What a process may use, by the kernel's count. */
#ifdef __SANITIZE_ADDRESS__
enum { CPU_SECONDS = 15, MEMORY_MB = 1200 };      /* freed memory is kept a while */
#else
enum { CPU_SECONDS = 5, MEMORY_MB = 150 };
#endif

#include "sample.h"
#include "sandbox_attacks.h"

static const char good_spec[] =
    "for k, v in pairs { b = 2, a = 1 } do assert(('x'):rep(v) == ('xx'):sub(1, v)) end "
    "layout 'GOOD' { dims = { N, C }, order = { C // P, N, C % P }, P = 4, fill = 0, "
    "swizzle = function(a) return a ~ a // 8 % 2 end }";

/* An attacked context serves the next as if nothing had been. */
static int
still_good(ravel_context *cx)
{
    ravel_error err;
    ravel_plan *p = NULL;
    ravel_request rq = {"ROW_MAJOR", "GOOD", "f16", 2, (int64_t[]){8, 16}, 0, 0};
    ravel_status s = ravel_load(cx, good_spec, strlen(good_spec), "good.lua", &err);
    s = s ? s : ravel_compile(cx, &rq, &p, &err);
    s = s ? s : ravel_verify(p, &err);
    if (s)
        fprintf(stderr, "a good spec after it: %s\n", err.text);
    ravel_plan_free(p);
    return s != RAVEL_OK;
}

typedef struct { const char *text; size_t len; const char *part; } Case;

/* As the whole of a spec. */
static int
attack_spec(ravel_context *cx, const Case *c)
{
    ravel_error err = {0};
    ravel_status s = ravel_load(cx, c->text, c->len, "attack.lua", &err);
    if (s && c->part && strstr(err.text, c->part) && strlen(err.text) > 8)
        return 0;
    if (s || c->part)
        fprintf(stderr, "%s '%.200s', not '%s'\n", s ? "message" : "accepted", err.text,
                c->part ? c->part : "none");
    return s || c->part;
}

/* From every place: refused wherever a spec that is the same text is, and nowhere
 * (part NULL) where it is harmless. */
static int
attack_places(ravel_context *cx, const Case *c)
{
    int bad = 0;
    size_t room = c->len + 300;
    char *text = malloc(room), *use = malloc(room);
    for (int i = 0; i < LEN(places); i++) {
        int64_t bytes;
        ravel_error err = {0};
        ravel_status s = RAVEL_OK;
        snprintf(text, room, places[i].spec ? places[i].spec : "", c->text);
        snprintf(use, room, places[i].use ? places[i].use : "", c->text);
        if (places[i].spec)
            s = ravel_load(cx, text, strlen(text), "attack.lua", &err);
        if (!s && places[i].use)
            s = ravel_storage_bytes(cx, use, "f16", places[i].rank,
                                    (int64_t[]){8, 8, 8, 8}, &bytes, &err);
        if (!s == !c->part && (!s || strlen(err.text) > 8))
            continue;
        fprintf(stderr, "%s: %s%s\n", places[i].name, s ? "refused" : "accepted",
                err.text);
        bad = 1;
    }
    free(text);
    free(use);
    return bad;
}

/* As it was made: each attack is on a copy of it, in a process of its own. */
static ravel_context *fresh;

static int
set_up(void **state)
{
    (void)state;
    return ravel_context_new(&fresh, NULL);
}

static int
tear_down(void **state)
{
    (void)state;
    ravel_context_free(fresh);
    return 0;
}

static int
in_context(int (*f)(ravel_context *, const Case *), const Case *c)
{
    int bad = f(fresh, c) | still_good(fresh);
    ravel_context_free(fresh);
    return bad;
}

/* True when the process ended well, within its time and memory. */
static bool
survives(int (*f)(ravel_context *, const Case *), const Case *c)
{
    struct rusage use;
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS, CPU_SECONDS + 1});
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        exit(in_context(f, c));
    }
    assert_true(child > 0 && wait4(child, &status, 0, &use) == child);
    if (status == 0 && use.ru_maxrss >> 10 <= MEMORY_MB)
        return true;
    print_error("%.160s\n  %s %d, %ld MB\n", c->text,
                WIFSIGNALED(status) ? "ended by signal" : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                use.ru_maxrss >> 10);
    return false;
}

static int
broken_specs(const Attack *a, int n, int every)
{
    int broken = 0;
    for (int i = 0; i < n; i += every)
        broken += !survives(attack_spec,
                            &(Case){a[i].text, strlen(a[i].text), a[i].part});
    return broken;
}

/* On a slow build one in so many is tried in functions, and one in half as many of those
 * that take seconds. */
static void
attacks_as_specs(void **state)
{
    (void)state;
    int some = (sample() + 1) / 2;
    int broken = broken_specs(attacks, LEN(attacks), 1) +
                 broken_specs(slow_attacks, LEN(slow_attacks), some);
    for (int i = 0; i < LEN(raw_texts); i++)
        broken += !survives(attack_spec, &(Case){raw_texts[i].s, raw_texts[i].len,
                                                 raw_texts[i].part});
    for (int i = 0; i < LEN(big_texts); i++) {
        Text t = repeated(big_texts[i].head, big_texts[i].unit, big_texts[i].n,
                          big_texts[i].tail);
        broken += !survives(attack_spec, &(Case){t.s, t.len, big_texts[i].part});
        free(t.s);
    }
    printf("# %d attacks\n", LEN(attacks) + (LEN(slow_attacks) + some - 1) / some +
           LEN(raw_texts) + LEN(big_texts));
    assert_int_equal(broken, 0);
}

static void
attacks_from_functions(void **state)
{
    int broken = !survives(attack_places, &(Case){"local x = N", 11, NULL}), n = 0;
    (void)state;
    for (int i = 0; i < LEN(attacks); i += sample()) {
        const char *text = attacks[i].text;
        if (!attacks[i].part)
            continue;
        broken += !survives(attack_places, &(Case){text, strlen(text), ""});
        n += LEN(places);
    }
    printf("# %d attacks from functions and inline layouts\n", n);
    assert_int_equal(broken, 0);
}

static void
every_hole_has_an_attack(void **state)
{
    int n[NHOLES] = {0}, open = 0;
    (void)state;
    for (int i = 0; i < LEN(attacks); i++)
        n[attacks[i].hole]++;
    for (int i = 0; i < LEN(slow_attacks); i++)
        n[slow_attacks[i].hole]++;
    for (int i = 0; i < LEN(raw_texts); i++)
        n[raw_texts[i].hole]++;
    for (int i = 0; i < LEN(big_texts); i++)
        n[big_texts[i].hole]++;
    for (int i = 0; i < NHOLES; i++) {
        if (!n[i])
            print_error("no attack goes through: %s\n", hole_text[i]);
        open += !n[i];
    }
    printf("# %d holes\n", NHOLES);
    assert_int_equal(open, 0);
}

/* The error of a text, "" if there is none. */
static void
load_text(const char *before, const char *text, char *why, size_t size)
{
    char all[512];
    ravel_context *cx;
    ravel_error err = {0};
    snprintf(all, sizeof all, "%s%s", before, text);
    assert_int_equal(ravel_context_new(&cx, &err), RAVEL_OK);
    ravel_status s = ravel_load(cx, all, strlen(all), "t.lua", &err);
    snprintf(why, size, "%s", s ? err.text : "");
    ravel_context_free(cx);
}

/* A library is opened where the text may use it: a text with the names of all in a comment has
 * all, and does the same. */
static void
libraries_open_unseen(void **state)
{
    static const char names[] = "--[[ string table math pairs xor _ENV ]] ";
    static const char *const text[] = {
        "for k in pairs { len = 1 } do error(k[k](k)) end",
        "local s = type(1) error(s[1])",
        "local s = type(1) error(s + 1)",
        "error(tostring(3) + 1)",
        "error((1 .. 2):rep(2))",
        "error(('ab'):upper())",
        "error(([[ab]]):upper())",
        "error(([=[ab]=])['upper']('x'))",
        "error('10' + 1)",
        "error(select(2, 'a', 'b'):rep(3))",
        "error(tonumber('3') + 1)",
        "error(table.concat({1, 2}) + 0)",
        "error(math.max(1, 2))",
        "error(string.format('%d', 3))",
        "local e = _ENV error(e.type(e.table))",
        "error(xor(1, 0, 3))",
        "local ok = nothing.at(1)",
        "layout 'A' { dims = { N }, order = { N + 'a' } }",
        "layout 'A' { dims = { N, C }, order = { N, C }, swizzle = function(a) return a:rep(2) end }",
    };
    (void)state;
    for (int i = 0; i < LEN(text); i++) {
        char own[512], all[512];
        load_text("", text[i], own, sizeof own);
        load_text(names, text[i], all, sizeof all);
        assert_string_equal(own, all);
        assert_true(own[0] != 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_open_unseen),
        cmocka_unit_test(every_hole_has_an_attack),
        cmocka_unit_test(attacks_as_specs),
        cmocka_unit_test(attacks_from_functions),
    };
    return cmocka_run_group_tests_name("sandbox", tests, set_up, tear_down);
}
