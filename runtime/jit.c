/* jit.c: C text to machine code inside this process, through libtcc.
 *
 * libtcc turns the text into an object in memory, elf_load makes it callable;
 * libtcc's own way to memory writes and executes the same pages, and ends the
 * process where that is forbidden.  The text is ours: libtcc recurses on nested
 * brackets without a limit, so what users write must not be passed through. */
#define _GNU_SOURCE
#include "jit.h"

#include "elf_load.h"
#include "error.h"
#include "tcc_stdio.h"

#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Jit {
    ElfImage image;
};

#if defined(__x86_64__) && defined(__linux__) && !defined(RAVEL_NO_TCC)

const bool jit_is_built = true;

/* The names that tcc.mk gives to libtcc's functions. */
#define tcc_new ravel_tcc_new
#define tcc_set_error_func ravel_tcc_set_error_func
#define tcc_set_options ravel_tcc_set_options
#define tcc_set_output_type ravel_tcc_set_output_type
#define tcc_compile_string ravel_tcc_compile_string
#define tcc_output_file ravel_tcc_output_file
#pragma GCC visibility push(hidden)
#include <libtcc.h>
#pragma GCC visibility pop

/* -nostdlib leaves symbols to elf_load; no header is there to be included. */
#define OPTIONS "-nostdlib -nostdinc -Wall -Werror"

/* libtcc keeps its state in globals, and makes its own lock without a lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain;   /* libtcc reads 2.5 with strtod */

static void
take(void)
{
    pthread_mutex_lock(&lock);
}

static void
give(void)
{
    pthread_mutex_unlock(&lock);
}

/* Else the child of a fork may find the lock held by a thread that it does not have. */
static void
prepare(void)
{
    pthread_atfork(take, give, give);
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* libtcc's messages, cut off where they get long. */
typedef struct {
    char text[sizeof ((ravel_error *)0)->text];
} Said;

/* Runs inside libtcc's lock: it may not call libtcc, and must return. */
static void
note(void *opaque, const char *msg)
{
    Said *said = opaque;
    size_t n = strlen(said->text);
    snprintf(said->text + n, sizeof said->text - n, "%s%s", n ? "\n" : "", msg);
}

/* Leave the object in tcc_host.  No tcc_delete: see tcc_host_end. */
static bool
translate(const char *text, Said *said)
{
    if (setjmp(tcc_host.out))   /* libtcc wanted to exit */
        return false;
    TCCState *s = tcc_new();
    if (!s)
        return false;
    tcc_set_error_func(s, said, note);
    tcc_set_options(s, OPTIONS);
    return tcc_set_output_type(s, TCC_OUTPUT_OBJ) == 0 &&
           tcc_compile_string(s, text) == 0 &&
           tcc_output_file(s, "object") == 0 && tcc_host.obj && !tcc_host.starved;
}

ravel_status
jit_object(const char *text, char **obj, size_t *len,
           ravel_error *err)
{
    Said said = {""};
    pthread_once(&once, prepare);
    take();
    locale_t theirs = uselocale(plain);
    tcc_host_begin();
    bool ok = translate(text, &said), starved = tcc_host.starved;
    tcc_host_end();
    uselocale(theirs);
    *obj = tcc_host.obj;
    *len = tcc_host.len;
    give();
    if (ok)
        return RAVEL_OK;
    free(*obj);
    *obj = NULL;
    if (starved || !said.text[0])
        return error_set(err, RAVEL_ERR_MEMORY, "no memory to compile machine code");
    return error_set(err, RAVEL_ERR_JIT, "the code does not compile: %s", said.text);
}

ravel_status
jit_compile(const char *text, const JitSymbol *sym, Jit **out,
            ravel_error *err)
{
    char *obj;
    size_t len;
    *out = NULL;
    ravel_status s = jit_object(text, &obj, &len, err);
    if (s)
        return s;
    Jit *j = malloc(sizeof *j);
    if (!j)
        s = error_set(err, RAVEL_ERR_MEMORY, "no memory to load machine code");
    else
        s = elf_load(obj, len, sym, &j->image, err);
    free(obj);
    if (s)
        free(j);
    else
        *out = j;
    return s;
}

void (*jit_function(const Jit *j, const char *name))(void)
{
    return (void (*)(void))(uintptr_t)elf_function(&j->image, name);
}

size_t
jit_bytes(const Jit *j)
{
    return sizeof *j + j->image.size;
}

void
jit_free(Jit *j)
{
    if (!j)
        return;
    elf_unload(&j->image);
    free(j);
}

#else

const bool jit_is_built = false;

ravel_status
jit_compile(const char *text, const JitSymbol *sym, Jit **out,
            ravel_error *err)
{
    (void)text;
    (void)sym;
    *out = NULL;
    return error_set(err, RAVEL_ERR_JIT, "there is no JIT in this library");
}

void (*jit_function(const Jit *j, const char *name))(void)
{
    (void)j;
    (void)name;
    return NULL;
}

size_t
jit_bytes(const Jit *j)
{
    (void)j;
    return 0;
}

void
jit_free(Jit *j)
{
    (void)j;
}

#endif
