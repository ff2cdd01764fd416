/* elf_load.h: load ELF64 relocatable objects for x86-64, to call their functions.
 * Internal to the library. */
#ifndef RAVEL_ELF_LOAD_H
#define RAVEL_ELF_LOAD_H

#include "jit.h"

#include <stdint.h>

typedef struct {
    const char *name;
    uint64_t addr;
} ElfFunction;

typedef struct {
    unsigned char *base;    /* the whole mapping, text first */
    size_t size;
    ElfFunction *fn;        /* its global functions; the names follow them */
    size_t nfn;
} ElfImage;

/* Load the object of `len` bytes (any alignment): text read-execute, data read-write.
 * Undefined symbols are resolved from `host` only, which ends with a null name.  A
 * malformed object is an error.  On failure *im is empty. */
ravel_status elf_load(const void *obj, size_t len, const JitSymbol *host,
                      ElfImage *im, ravel_error *err);

/* The address of a global function, or 0. */
uint64_t elf_function(const ElfImage *im, const char *name);

void elf_unload(ElfImage *im);

#endif
