/* wisdom_context.h: a context that is told wisdom, and requests for it. */
#ifndef RAVEL_WISDOM_CONTEXT_H
#define RAVEL_WISDOM_CONTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../runtime/tune.h"

#define HEAD "ravel wisdom 1\n"

static ravel_context *cx;

static inline int
set_up(void **state)
{
    (void)state;
    return ravel_context_new(&cx, NULL);
}

static inline int
tear_down(void **state)
{
    (void)state;
    ravel_context_free(cx);
    return 0;
}

static inline void
load(ravel_context *to, const char *text)
{
    ravel_error err;
    if (ravel_wisdom_load(to, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

/* Malloc'ed. */
static inline char *
text_of(ravel_context *from)
{
    char *text;
    size_t len;
    assert_int_equal(ravel_wisdom_text(from, &text, &len, NULL), RAVEL_OK);
    assert_int_equal(strlen(text), len);
    return text;
}

static inline void
says(ravel_context *c, const char *want)
{
    char *text = text_of(c);
    assert_string_equal(text, want);
    free(text);
}

static const int64_t SIDES[] = {2048, 1500}, SMALL[] = {33, 70};
static const ravel_request LARGE = {"(A,B){A, B}", "(A,B){B, A}", "f32", 2, SIDES, 1, 0};
static const ravel_request LITTLE = {"(A,B){A, B}", "(A,B){B, A}", "f32", 2, SMALL, 1, 0};
static const int64_t ANY[] = {RAVEL_RUNTIME, RAVEL_RUNTIME}, PART[] = {RAVEL_RUNTIME, 70};
static const ravel_request LATER = {"(A,B){A, B}", "(A,B){B, A}", "f32", 2, ANY, 1, 0};

static inline ravel_plan *
compiled(const ravel_request *rq)
{
    ravel_plan *p;
    ravel_error err;
    if (ravel_compile(cx, rq, &p, &err))
        fail_msg("%s", err.text);
    return p;
}

/* A context hears of the first nest of a request's plan. */
static inline void
tell(ravel_context *to, const ravel_plan *p, const char *picks)
{
    Arena a = {0};
    Diag d = {.text = ""};
    char text[1000];
    a.diag = &d;
    snprintf(text, sizeof text, HEAD "%s\t%s\n",
             wisdom_key(&a, cx, p->plan, p->threads.most), picks);
    load(to, text);
    arena_free(&a);
}

/* The plan with its nests, in an arena that the caller frees. */
static inline const Plan *
with_nests(const ravel_plan *p, Arena *a)
{
    static Diag d;
    *a = (Arena){.diag = &d};
    return plan_again(p, a);
}

static inline bool
is_done(const ravel_plan *p, const char *kernel, const char *order)
{
    Arena a;
    const Nest *n = with_nests(p, &a)->nest[0];
    bool done = !strcmp(n->kernel->name, kernel) && !strcmp(n->order, order);
    arena_free(&a);
    return done;
}

#endif
