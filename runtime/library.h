/* library.h: what the files of the library share. */
#ifndef RAVEL_LIBRARY_H
#define RAVEL_LIBRARY_H

#include <stdatomic.h>

#include "../compiler/compile.h"
#include "error.h"
#include "interpret.h"
#include "jit.h"
#include "kernels.h"
#include "ravel.h"
#include "wisdom.h"

/* Compiled code does a part of the work, at the extents that are left to run time; not 0:
 * nothing is done, as one of them is none or a size does not fit. */
typedef int Compiled(void *dst, const void *src, const int64_t *extent, int64_t part,
                     int64_t parts);
/* Functions of a user's object: all of the work, and a part of it. */
typedef void Relayout(void *dst, const void *src);
typedef void RelayoutPart(void *dst, const void *src, i64 part, i64 parts);

typedef struct Text Text;          /* a loaded one; context.c */
typedef struct Wisdom Wisdom;      /* what came at once; wisdom.c */
enum { CPU_NAME = 64 };

/* Who shares the work of plans. */
typedef struct Threads Threads;
struct Threads {
    int most;                      /* 0: as many as there are processors */
    ravel_parallel_for *f;         /* NULL: threads.c */
    void *host;
    Threads *next;
};

/* cache.c: what a plan is found by.  What else matters, as RAVEL_ISA, a context has once
 * and for all. */
typedef struct {
    ravel_request rq;
    const Threads *threads;        /* of the context */
    uint64_t hash;
} Key;

/* Plans by their key, and in the order of their last use. */
enum { BUCKETS = 1024 };
typedef struct {
    ravel_plan *bucket[BUCKETS], *newest, *oldest;
    i64 n, most, bytes, most_bytes;
} Cache;

/* How plans of a context are carried out: RAVEL_CODE. */
typedef enum { CODE_BEST, CODE_JIT, CODE_INTERPRETER } CodeWay;

/* Outside of the cache no lock: the lists only grow, at the front, by one exchange.  So
 * neither threads nor the child of a fork can find them taken. */
struct ravel_context {
    _Atomic(const LayoutDef *) known;   /* newest first */
    _Atomic(Text *) texts;
    _Atomic(Threads *) threads;         /* newest first; NULL: all, of our own */
    _Atomic(const Wisdom *) wisdom;     /* newest first */
    _Atomic i64 work;                   /* units that a question may take; 0: the usual */
    Arena target_arena;
    const Target *target;
    int processors;
    const KernelSet *kernels;
    char cpu[CPU_NAME];                 /* the model's name */
    CodeWay way;
    atomic_int users;                   /* its owner, and its plans */
    Cache cache;
};

/* The wisdom that a plan was made with. */
typedef struct {
    const Wisdom *wisdom;          /* the newest at that time */
    const char *key;               /* NULL: there was no wisdom to look up */
    const Advice *advice;          /* NULL: none for the key */
} WisdomUsed;

struct ravel_plan {
    Arena arena;
    atomic_int users;              /* those it was given to, and the cache */
    ravel_context *cx;             /* its specs are the plan's */
    const Plan *plan;              /* in arena; read only */
    const char *way;               /* the one that is taken, and why */
    const Steps *steps;            /* in arena: the interpreter's; else NULL, and ... */
    Jit *jit;                      /* NULL of a plan at a shape, and ... */
    Compiled *code;
    const int64_t *extent;         /* in arena: that code is given; NULL: none */
    Threads threads;               /* most: at least 1 */
    const char *source;            /* in arena; the interpreter has none */
    Key key;                       /* in arena */
    i64 bytes;                     /* that it takes */

    /* Under the cache's lock: */
    const LayoutDef *known;        /* it is current for these layouts */
    WisdomUsed wisdom;             /* it is current for this wisdom; key: in arena */
    ravel_plan *next, *newer, *older;
};

/* error.c: the same of a compiler error. */
ravel_status error_of(ravel_error *err, const Diag *d);

/* context.c: the layouts known now; what it points to lives as long as cx. */
const LayoutDef *context_known(ravel_context *cx);
/* The threads of a plan. */
/* An arena for a question to it. */
Arena context_arena(const ravel_context *cx);
Threads context_threads(const ravel_context *cx, const Key *key);
/* A plan of cx begins, ends; the last one to go frees it. */
void context_join(ravel_context *cx);
void context_leave(ravel_context *cx);

void cache_init(Cache *c);
Key key_of(const ravel_context *cx, const ravel_request *rq);
/* A key that outlives the request. */
Key key_keep(Arena *a, const Key *k);
/* Find the plan and count one more user.  NULL if there is none, if a name of its layouts
 * now denotes another layout, or if there is different wisdom for it. */
ravel_plan *cache_find(Cache *c, const Key *k, const LayoutDef *known,
                       const Wisdom *wisdom);
/* Add p, in place of one with the same key; others may be evicted. */
void cache_add(Cache *c, ravel_plan *p);
void cache_bound(Cache *c, i64 plans, i64 bytes);

/* wisdom.c: the name of the processor. */
void wisdom_cpu(char name[CPU_NAME]);
/* The key of a plan in wisdom: all that its speed depends on. */
const char *wisdom_key(Arena *a, const ravel_context *cx, const Plan *p, int threads);
/* The newest entry for the key, or NULL.  It lives as long as the context. */
const Advice *wisdom_find(const Wisdom *w, const char *key);
/* Apply wisdom to p, for this number of threads.  Allocates in p's arena. */
void wisdom_use(ravel_context *cx, const Wisdom *w, Plan *p, int threads,
                WisdomUsed *out);
/* Whether `now` has the same advice for the plan. */
bool wisdom_current(WisdomUsed *t, const Wisdom *now, bool runtime);
/* Add a copy of an entry. */
ravel_status wisdom_learn(ravel_context *cx, const Advice *one, ravel_error *err);
void wisdom_free(const Wisdom *w);

/* ravel.c: the threads that share a plan of that key. */
Threads plan_threads(const ravel_context *cx, const Key *key, const Plan *p);
/* Sensible pointers and numbers. */
ravel_status request_check(const ravel_request *rq, ravel_error *err);
/* A plan with one user, which is in no cache, by these picks alone. */
ravel_status plan_picked(ravel_context *cx, const ravel_request *rq, const Pick *pick,
                         int n, ravel_plan **out, ravel_error *err);

/* run.c: task(arg, part, parts) for the parts of something that so many share. */
void threads_share(const Threads *t, ravel_task *task, void *arg);
/* Whether a byte is in both buffers. */
bool buffers_overlap(const void *dst, i64 dst_bytes, const void *src, i64 src_bytes);
/* One part of a plan's work; of one that is not shared, part 0 of 1 alone. */
void plan_part(const ravel_plan *p, void *dst, const void *src, i64 part, i64 parts);
/* All of it by `most` threads: by these steps, or by its code where there are none, with
 * these extents. */
void plan_share(const ravel_plan *p, const Steps *steps, const int64_t *extent, int most,
                void *dst, const void *src);

/* shape.c: the plan at a shape, as one of constants: `again` is compile_again of p's
 * plan, whose arena *out then uses.  Freed with ravel_plan_free before p. */
ravel_status plan_at(const ravel_plan *p, Plan *again, const int64_t *shape,
                     ravel_plan **out, ravel_error *err);
/* verify_shapes.c: ravel_verify_report of a plan with extents left to run time; *out
 * sums up. */
ravel_status verify_shapes(const ravel_plan *p, ravel_certificate *out, ravel_error *err);

#endif
