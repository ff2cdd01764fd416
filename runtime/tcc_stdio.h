/* tcc_stdio.h: replacements for the C library functions that libtcc calls.
 * Internal to the library. */
#ifndef RAVEL_TCC_STDIO_H
#define RAVEL_TCC_STDIO_H

#include "ravel.h"

#include <setjmp.h>
#include <stdbool.h>

/* The state of one run of libtcc; guarded by the lock in jit.c. */
typedef struct {
    jmp_buf out;     /* the target of its exit() */
    bool starved;    /* an allocation failed: its output and messages are void */
    bool has_asm;    /* the text has assembly, for which there is no assembler */
    char *obj;       /* the object that it wrote, malloc'ed, or NULL */
    size_t len;
} TccHost;

/* tcc_stdio.c */
extern __attribute__((visibility("hidden"))) TccHost tcc_host;

/* Call these around each run of libtcc.  begin zeroes all its variables, as in a new
 * process; end frees all its memory and closes its file.  libtcc's own cleanup leaks if a
 * text does not compile. */
void tcc_host_begin(void);
void tcc_host_end(void);

/* jit.c */

/* Compile `text` to an ELF object for elf_load.  The caller frees *obj. */
ravel_status jit_object(const char *text, char **obj, size_t *len,
                        ravel_error *err);

#endif
