/* library.h: what the files of the library share. */
#ifndef RAVEL_LIBRARY_H
#define RAVEL_LIBRARY_H

#include <pthread.h>

#include "../compiler/compile.h"
#include "error.h"
#include "jit.h"
#include "ravel.h"

typedef void Relayout(void *dst, const void *src);

struct ravel_context {
    pthread_mutex_t lock;          /* over known and arenas */
    const LayoutDef *known;        /* newest first */
    Arena *arenas;                 /* one for each loaded text */
    int narenas;
    Arena target_arena;
    const Target *target;
};

struct ravel_plan {
    Arena arena;
    const Plan *plan;              /* in arena; read only */
    Jit *jit;
    Relayout *run;
    const char *source;
};

/* error.c: the same of a compiler error. */
ravel_status error_of(ravel_error *err, const Diag *d);

/* context.c: the layouts known now; what it points to lives as long as cx. */
const LayoutDef *context_known(ravel_context *cx);

/* reference.c: the relayout by its definition, an element at a time, from the
 * expressions as written; shares nothing with the simplifier and the planner.
 * dst is overwritten where an element or padding lies.  False: out of memory. */
bool reference_run(const Plan *p, unsigned char *dst, const unsigned char *src);
/* Addresses by the plain evaluator, for coordinates below padded; NULL: out of
 * memory. */
typedef struct Addresser Addresser;
Addresser *addresser_new(const Layout *l);
i64 addresser_at(const Addresser *a, const i64 *x);
void addresser_free(Addresser *a);
/* Element i, `bits` wide, of a buffer; `high` is its part above 64 bits. */
void element_set(unsigned char *p, i64 i, int bits, uint64_t v, uint64_t high);

#endif
