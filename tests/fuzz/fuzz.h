/* fuzz.h: what the fuzz targets share.  A target returns on every input; what must
 * not be ends in fuzz_fail, which libFuzzer takes for a crash. */
#ifndef RAVEL_FUZZ_H
#define RAVEL_FUZZ_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/library.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define fuzz_fail(...) \
    (fprintf(stderr, "wrong: " __VA_ARGS__), fputc('\n', stderr), abort())
#define fuzz_check(x) ((x) ? (void)0 : fuzz_fail("%s:%d: %s", __FILE__, __LINE__, #x))

/* The input as a string; a NUL ends it early.  malloc'ed. */
static inline char *
fuzz_text(const uint8_t *data, size_t len)
{
    char *s = malloc(len + 1);
    fuzz_check(s);
    if (len)
        memcpy(s, data, len);
    s[len] = 0;
    return s;
}

/* Run f on an arena of its own.  A refusal must be a sentence, and not one about
 * memory: no input here may need that much. */
static inline bool
fuzz_run(Arena *a, void (*f)(void *), void *arg)
{
    Diag d = {.text = ""};
    bool ok = arena_run(a, &d, f, arg);
    if (!ok && (!d.text[0] || d.kind == DIAG_MEMORY))
        fuzz_fail("refused by '%s'", d.text);
    arena_free(a);
    return ok;
}

/* A context of the built-in specs, made once. */
static inline ravel_context *
fuzz_context(void)
{
    static ravel_context *cx;
    ravel_error err;
    if (!cx && ravel_context_new(&cx, &err))
        fuzz_fail("no context: %s", err.text);
    return cx;
}

/* The next byte of an input that is read as choices, 0 when it is used up. */
typedef struct {
    const uint8_t *p, *end;
} Bytes;

static inline unsigned
fuzz_byte(Bytes *b)
{
    return b->p < b->end ? *b->p++ : 0;
}

/* 0 .. n-1 */
static inline int
fuzz_pick(Bytes *b, int n)
{
    return (int)(fuzz_byte(b) % (unsigned)n);
}

#endif
