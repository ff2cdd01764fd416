/* tcc_stdio.h: the process as libtcc is let to see it.
 * Internal to the library. */
#ifndef RAVEL_TCC_STDIO_H
#define RAVEL_TCC_STDIO_H

#include "ravel.h"

#include <setjmp.h>
#include <stdbool.h>

/* What one run of libtcc leaves behind; guarded by the lock in jit.c. */
typedef struct {
    jmp_buf out;     /* where its exit() lands */
    bool starved;    /* it was refused memory: what it made or said is void */
    char *obj;       /* the object it wrote, malloc'ed, or NULL */
    size_t len;
} TccHost;

/* tcc_stdio.c */
extern __attribute__((visibility("hidden"))) TccHost tcc_host;

/* Around one run of libtcc: begin makes all its variables zero as in a new
 * process, end frees all its memory and closes its file.  What it would do itself
 * does not suffice: a text that does not compile leaves pieces behind. */
void tcc_host_begin(void);
void tcc_host_end(void);

/* jit.c */

/* The ELF object that `text` compiles to, for elf_load; free() it. */
ravel_status jit_object(const char *text, char **obj, size_t *len,
                        ravel_error *err);

#endif
