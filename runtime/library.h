/* library.h: types and functions that the files of the library share. */
#ifndef RAVEL_LIBRARY_H
#define RAVEL_LIBRARY_H

#include <stdatomic.h>

#include "../compiler/compile.h"
#include "error.h"
#include "interpret.h"
#include "jit.h"
#include "kernels.h"
#include "log.h"
#include "processor.h"
#include "ravel.h"
#include "wisdom.h"

/* Compiled code: executes part `part` of `parts`.  `extent` has the run-time extents, then
 * the addresses of the index arrays (plan_arrays).  If an extent or a number of an array is
 * invalid or a size does not fit 64 bits, it does nothing and returns not 0. */
typedef int Compiled(void *dst, const void *src, const int64_t *extent, int64_t part,
                     int64_t parts);
/* Tells compiled code where its tables are (compile_jit), before its first call. */
typedef void GiveTables(const int32_t *const *tables);
/* Functions of a user's object: for all of the work, and for a part of it. */
typedef void Relayout(void *dst, const void *src);
typedef void RelayoutPart(void *dst, const void *src, i64 part, i64 parts);

typedef struct Text Text;          /* a loaded spec text; context.c */
typedef struct Wisdom Wisdom;      /* the entries added by one call; wisdom.c */

/* The threads that share the work of plans. */
typedef struct Threads Threads;
struct Threads {
    int most;                      /* 0: as many as there are processors */
    ravel_parallel_for *f;         /* NULL: threads.c */
    void *host;
    Threads *next;
};

/* request.c: the key of a plan.  Other settings, such as RAVEL_ISA, are constant for a
 * context. */
typedef struct {
    ravel_request rq;
    const Threads *threads;        /* of the context */
    uint64_t texts, hash;          /* of the texts of rq; of these and its shape */
} Key;

/* special.c: the bytes that a plan has converted at shapes with this hash, and those at which
 * it is specialised. */
typedef struct {
    _Atomic uint64_t hash;
    _Atomic i64 bytes, due;
} SeenShape;
enum { SEEN = 256 };

/* A hash table of plans by key, and a list of them in the order of their last use. */
enum { BUCKETS = 1024 };
typedef struct {
    ravel_plan *bucket[BUCKETS], *newest, *oldest;
    i64 n, most, bytes, most_bytes;
} Cache;

typedef struct CodeTarget CodeTarget;

/* How the plans of a context are executed: RAVEL_CODE. */
typedef enum { CODE_BEST, CODE_JIT, CODE_INTERPRETER } CodeWay;

/* templates/c/outside.c */
typedef int Outside(const void *array, int64_t bits, int64_t n, int64_t least, int64_t most);

/* Only the cache has a lock.  Lists only grow: an entry is pushed at the front by an
 * atomic exchange.  So no thread, and no child of a fork, waits for them. */
struct ravel_context {
    _Atomic(const Known *) known;
    Known specs;                        /* of the library alone */
    _Atomic(Builtin *) builtin;         /* of specs */
    _Atomic(Text *) texts;
    _Atomic(Threads *) threads;         /* newest first; NULL: the defaults */
    _Atomic(const Wisdom *) wisdom;     /* newest first */
    _Atomic(Log *) log;                 /* newest first; NULL: none */
    _Atomic i64 work;                   /* the limit of work in units; 0: the default */
    _Atomic(CodeTarget *) target;       /* NULL until code is to be made */
    int processors;
    const KernelSet *kernels;
    Outside *outside;              /* ravel_outside of these kernels */
    char cpu[CPU_NAME];                 /* the model's name */
    PlanMachine machine;                /* what plans are made for */
    CodeWay way;
    atomic_int users;                   /* reference count: its owner, and its plans */
    Cache cache;
};

/* The wisdom with which a plan was made. */
typedef struct {
    const Wisdom *wisdom;          /* the newest at that time */
    const char *key;               /* NULL: there was no wisdom to look up */
    const Advice *advice;          /* NULL: none for the key */
} WisdomUsed;

/* The passes of a plan in place, and the plans of its blocks; NULL for cycles. */
typedef struct {
    const InPlace *how;
    ravel_plan *block[IN_PLACE_PASSES];
} InPlacePlans;

struct ravel_plan {
    Arena arena;
    atomic_int users;              /* reference count: callers, and the cache */
    ravel_context *cx;             /* owns the specs of the plan */
    const Plan *plan;              /* in arena; read only.  It has no nests where only code
                                    * or steps are kept: extents are left to run time, and tuning
                                    * does not need them; plan_again makes them again */
    int *uses;                     /* in arena: kernels_used */
    const char *way;               /* the result of ravel_plan_way */
    const Steps *steps;            /* in arena; for the interpreter, else NULL */
    InPlacePlans *in_place;        /* in arena; it has no code of its own.  NULL: it is not */
    Jit *jit;                      /* owns code; NULL for the interpreter, and for a plan
                                    * at a shape, which uses the code of another plan */
    Compiled *code;                /* NULL for the interpreter */
    const int64_t *extent;         /* in arena: the argument of code, or NULL */
    Threads threads;               /* most: at least 1 */
    bool runs;                     /* ravel_run runs it: it needs no more arguments */
    i64 src_bytes, dst_bytes;      /* if it runs */
    i64 turns;                     /* plan_turns; 1 if it does not run */
    _Atomic(char *) *source;       /* in arena: *source is NULL until it is asked for
                                    * (plan_source.c); NULL if no code can be made of the plan */
    const int32_t *const *tables;  /* in arena: what the code is given; NULL: nothing */
    Key key;                       /* in arena */
    SeenShape *seen;                    /* in arena: SEEN shapes; NULL: it is never specialised */
    i64 bytes;                     /* the memory that it takes */

    /* Under the cache's lock: */
    const Known *known;        /* the plan is current for these layouts */
    WisdomUsed wisdom;             /* the plan is current for this; key: in arena */
    ravel_plan *next, *newer, *older;
};

/* error.c: error_set for an error of the compiler. */
ravel_status error_of(ravel_error *err, const Diag *d);

/* context.c: the layouts known now.  They live as long as cx. */
const Known *context_known(ravel_context *cx);
/* The target of machine code, which is read once; diag_fatal in a. */
const Target *context_target(ravel_context *cx, Arena *a);
/* An arena for one call on cx, with its limit of work. */
Arena context_arena(const ravel_context *cx);
/* Calls f(arg) with such an arena in *arena, which is freed, and catches its errors. */
ravel_status context_answer(const ravel_context *cx, Arena *arena, void (*f)(void *), void *arg,
                            ravel_error *err);
/* The threads of a plan. */
Threads context_threads(const ravel_context *cx, const Key *key);
/* Count one more, one less user of cx; the last one frees it. */
void context_join(ravel_context *cx);
void context_leave(ravel_context *cx);

/* request.c */
/* Check a rank and the extents' pointer. */
ravel_status shape_check(int rank, const int64_t *shape, ravel_error *err);
/* Check the pointers and numbers of a request. */
ravel_status request_check(const ravel_request *rq, ravel_error *err);
/* What the compiler has of it: numbers and names, for no machine. */
Request request_of(const ravel_request *rq);
Key key_of(const ravel_context *cx, const ravel_request *rq);
/* The key of the same request at a shape; it is valid as long as both. */
Key key_at(const Key *k, const int64_t *shape);
bool key_same(const Key *a, const Key *b);
/* A copy of a key in `a`, which does not depend on the request. */
Key key_keep(Arena *a, const Key *k);

/* cache.c */
void cache_init(Cache *c);
/* Find the plan and count one more user.  NULL if there is none, if a name of its layouts
 * now denotes another layout, or if there is different wisdom for it. */
ravel_plan *cache_find(Cache *c, const Key *k, const Known *known,
                       const Wisdom *wisdom);
/* Add p, in place of one with the same key; others may be evicted. */
void cache_add(Cache *c, ravel_plan *p);
void cache_bound(Cache *c, i64 plans, i64 bytes);
/* The same for the layouts for which the plan `like` is current; sets *known to these, or to
 * NULL if the cache holds no plans. */
ravel_plan *cache_find_like(Cache *c, const Key *k, const ravel_plan *like,
                            const Wisdom *wisdom, const Known **known);

/* wisdom.c */
/* The key of a plan in wisdom: all that its speed depends on. */
const char *wisdom_key(Arena *a, const ravel_context *cx, const Plan *p, int threads);
/* Apply wisdom to p, for this number of threads.  Allocates in p's arena. */
void wisdom_use(ravel_context *cx, const Wisdom *w, Plan *p, int threads,
                WisdomUsed *out);
/* Whether `now` has the same advice for the plan. */
bool wisdom_current(WisdomUsed *t, const Wisdom *now);
/* Add a copy of an entry. */
ravel_status wisdom_learn(ravel_context *cx, const Advice *one, ravel_error *err);
void wisdom_free(const Wisdom *w);

/* in_place.c: sets the `way` of plan `arg`, by its passes; allocates in its arena. */
void in_place_say(void *arg);
/* Convert the buffer.  RAVEL_ERR_MEMORY, and nothing is written: there is no memory. */
ravel_status in_place_run(const ravel_plan *p, void *buffer);

/* ravel.c: the plan of the key, of the cache or a new one, with one more user. */
ravel_status plan_get(ravel_context *cx, const Key *key, const Known *known, ravel_plan **out,
                      ravel_error *err);
/* ravel.c: the threads that share the work of plan p. */
Threads plan_threads(const ravel_context *cx, const Key *key, const Plan *p);
/* Compile a plan with these picks, without wisdom.  It has nests, one user, and is in no cache. */
ravel_status plan_picked(ravel_context *cx, const ravel_request *rq, const Pick *pick,
                         int n, ravel_plan **out, ravel_error *err);

/* plan_source.c: the plan of p with its nests and their picks, made again in arena a. */
Plan *plan_again(const ravel_plan *p, Arena *a);

/* The plan of the key, which was not found, added to the cache; NULL if it cannot be made. */
ravel_plan *plan_for(ravel_context *cx, const Key *key, const Known *known);

/* special.c: for a plan with run-time extents, the plan of its request at a shape that it has
 * converted often, with one more user; NULL: there is none.  Thread-safe. */
ravel_plan *special_find(const ravel_plan *p, const int64_t *shape);

/* arrays.c: the index arrays of a run.  val has the plan's scalars. */
/* Sets out[] to the addresses of the arrays.  Returns NULL, or what is wrong with them; they
 * are not part of the dst_bytes bytes at dst, which may be NULL. */
const char *arrays_take(Arena *arena, const ravel_plan *p, const i64 *val,
                        const void *const *array, const void *dst, i64 dst_bytes, int64_t *out);
/* Returns NULL, or why elements of the destination would share an address.  The arrays are
 * valid. */
const char *arrays_repeat(Arena *arena, const Plan *p, const i64 *val,
                          const void *const *array);
/* ravel_plan_arrays. */
int arrays_list(const Plan *p, ravel_array *out);
/* ravel_plan_arrays where the scalars are val. */
void arrays_at(const Plan *p, const i64 *val, ravel_array *out);
/* Lets the lookups of the plan's layouts have the numbers of array i.  No other thread may use
 * the plan. */
void arrays_give(const Plan *p, int i, const i64 *value);
/* For a proof of a plan in numbers: makes up arrays, in `arena`, which the lookups of its
 * layouts then have; sets out[] to their addresses. */
void arrays_invent(Arena *arena, const Plan *p, int64_t *out);

/* share.c: call task(arg, part, parts) for each part, by the threads t. */
void threads_share(const Threads *t, ravel_task *task, void *arg);
/* Whether the buffers have a byte in common. */
bool buffers_overlap(const void *dst, i64 dst_bytes, const void *src, i64 src_bytes);
/* Execute one part of a plan; if its work is not shared, only part 0 of 1 is allowed. */
void plan_part(const ravel_plan *p, void *dst, const void *src, i64 part, i64 parts);
/* All of it by `most` threads: by these steps, or by its code where there are none, with
 * these extents. */
void plan_share(const ravel_plan *p, const Steps *steps, const int64_t *extent, int most,
                void *dst, const void *src);

/* run.c: finds `runs`, the sizes and the turns of a plan that is made. */
void plan_measure(ravel_plan *p);

/* shape.c: p at a shape, as a plan with constant extents.  `again` is compile_again of
 * p's plan; *out uses its arena.  Free *out with ravel_plan_free before p. */
ravel_status plan_at(const ravel_plan *p, Plan *again, const int64_t *shape,
                     ravel_plan **out, ravel_error *err);
/* at_shape.c: the threads of a run at a shape; NULL: of a plan without run-time extents. */
Threads plan_threads_at(const ravel_plan *p, const int64_t *shape);
/* verify_shapes.c: ravel_verify_report for a plan with run-time extents.  *out has the
 * sums over all shapes. */
ravel_status verify_shapes(const ravel_plan *p, ravel_certificate *out, ravel_error *err);

#endif
