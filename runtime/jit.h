/* jit.h: C text to machine code inside this process, through libtcc.
 * Internal to the library. */
#ifndef RAVEL_JIT_H
#define RAVEL_JIT_H

#include <stdbool.h>

#include "ravel.h"

typedef struct Jit Jit;

/* A host function that the text may call.  No other external symbol resolves.  The entry
 * without a name ends a list, or says where it goes on. */
typedef struct JitSymbol {
    const char *name;
    void (*fn)(void);
    const struct JitSymbol *more;
} JitSymbol;
/* The function of a name; NULL: there is none. */
const JitSymbol *jit_symbol(const JitSymbol *list, const char *name);

/* Whether this library has a JIT: it was built with libtcc, for a supported machine. */
extern const bool jit_is_built;

/* Compile `text` and load it: text pages read-execute, data pages
 * read-write, never both writable and executable.  `sym` ends with a null name.
 * Reads no file, needs no compiler, never exits the host.  Thread-safe. */
ravel_status jit_compile(const char *text, const JitSymbol *sym, Jit **out,
                         ravel_error *err);

/* The address of a global function of the text, or NULL. */
void (*jit_function(const Jit *j, const char *name))(void);

/* The memory that j takes, in bytes. */
size_t jit_bytes(const Jit *j);

void jit_free(Jit *j);

#endif
