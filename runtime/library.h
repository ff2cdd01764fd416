/* library.h: what the files of the library share. */
#ifndef RAVEL_LIBRARY_H
#define RAVEL_LIBRARY_H

#include <stdatomic.h>

#include "../compiler/compile.h"
#include "error.h"
#include "jit.h"
#include "ravel.h"

typedef void Relayout(void *dst, const void *src);
typedef void RelayoutPart(void *dst, const void *src, i64 part, i64 parts);

typedef struct Text Text;          /* a loaded one; context.c */

/* Who shares the work of plans. */
typedef struct Threads Threads;
struct Threads {
    int most;                      /* 0: as many as there are processors */
    ravel_parallel_for *f;         /* NULL: threads.c */
    void *host;
    Threads *next;
};

/* No lock: the lists only grow, at the front, by one exchange.  So neither threads
 * nor the child of a fork can find them taken. */
struct ravel_context {
    _Atomic(const LayoutDef *) known;   /* newest first */
    _Atomic(Text *) texts;
    _Atomic(Threads *) threads;         /* newest first; NULL: all, of our own */
    Arena target_arena;
    const Target *target;
};

struct ravel_plan {
    Arena arena;
    const Plan *plan;              /* in arena; read only */
    Jit *jit;
    Relayout *run;                 /* all of it */
    RelayoutPart *part;            /* NULL: threads do not share it */
    Threads threads;               /* most: at least 1 */
    const char *source;
};

/* error.c: the same of a compiler error. */
ravel_status error_of(ravel_error *err, const Diag *d);

/* context.c: the layouts known now; what it points to lives as long as cx. */
const LayoutDef *context_known(ravel_context *cx);
/* The threads of a plan that asks for `wanted`, 0: whatever there is. */
Threads context_threads(ravel_context *cx, int wanted);

/* ravel.c: one part of a plan's work; the first part of one that is not shared is all
 * of it. */
void plan_part(const ravel_plan *p, void *dst, const void *src, i64 part, i64 parts);

/* reference.c: the relayout by its definition, an element at a time, from the
 * expressions as written, over the extents and strides of the layouts; shares nothing
 * else with the simplifier and the planner.
 * dst is overwritten where an element or padding lies.  False: out of memory. */
bool reference_run(const Plan *p, unsigned char *dst, const unsigned char *src);
/* What each slot of the destination holds after a relayout, by the same definition:
 * the slot of the source it is a copy of, FROM_FILL, or FROM_HOLE where it is left
 * alone.  The slots beyond the layout's size fill up the last byte. */
enum { FROM_FILL = -1, FROM_HOLE = -2 };
typedef struct {
    i64 *from, n;                  /* malloc'ed, also where it fails */
    i64 elements, padding;         /* slots that hold such; the rest are holes */
} SlotMap;
/* False: out of memory.  *why is what is wrong with the layouts themselves. */
bool reference_map(const Plan *p, SlotMap *map, const char **why);
/* The coordinate at a slot of a layout's storage; false when none is. */
bool reference_find(const Layout *l, i64 slot, i64 *x);
/* Addresses by the plain evaluator, for coordinates below padded; NULL: out of
 * memory. */
typedef struct Addresser Addresser;
Addresser *addresser_new(const Layout *l);
/* What that allocates; INF: more than fits. */
i64 addresser_bytes(const Layout *l);
i64 addresser_at(const Addresser *a, const i64 *x);
void addresser_free(Addresser *a);
/* Element i, `bits` wide, of a buffer; `high` is its part above 64 bits. */
uint64_t element_get(const unsigned char *p, i64 i, int bits, uint64_t *high);
void element_set(unsigned char *p, i64 i, int bits, uint64_t v, uint64_t high);

#endif
