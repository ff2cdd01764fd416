/* sides.h: both sides of a request, which are layouts, their decisions and the match of their
 * dims; and what is asked of such a pair, or of the storage of one, without an emitted text. */
#ifndef RAVEL_SIDES_H
#define RAVEL_SIDES_H

#include "../decide/decide.h"
#include "../plan/plan.h"
#include "../spec/spec.h"

/* sides.c */
/* Both layouts of a request, computed with 1 for each run-time extent.  Dim d of dst is
 * dim map[d] of src.  extent[d] is the scalar of the extent of dim d of src; -1: it is a
 * number. */
typedef struct {
    const Request *rq;
    Layout *src, *dst;
    int map[MAX_RANK], extent[MAX_RANK];
    i64 shape[MAX_RANK];           /* that of src: the request's, of which dims may be joined */
    PlanExtent given[MAX_RANK];    /* that of the request */
    Scalars *scalars;
    const char **name;             /* names of the run-time extents */
    const LayoutRef *ref;          /* of an index function: the layout as the request has it, ... */
    const char *const *dim;        /* ... and the names of the dims of the shape */
} Sides;
const DType *sides_dtype(Arena *a, const char *name);
/* A dtype for a layout that does not depend on it; NULL if it does. */
const DType *sides_any_dtype(const LayoutRef *ref);
void sides_set(Arena *a, const LayoutRef *from, const LayoutRef *to, const DType *t,
               const Request *rq, Sides *s);
/* join.c: makes the dims one that both sides count as one number, if a side cannot do without it.
 * Sets the shape, and `joined` of the extents that the request gives. */
void sides_join(Arena *a, const LayoutRef **from, const LayoutRef **to, const DType *t, Sides *s);
/* index_side.c: of an index function, whose one side src is; diag_fatal if it has an index array. */
void sides_index(Arena *a, const Known *known, const Request *rq, Sides *s);
/* The request whose plan p is, without the texts of its sides, dtype and name. */
Request sides_request(Arena *a, const Plan *p);
/* diag_fatal if plan_check finds a flaw. */
void sides_check(Plan *p);
/* The plan at a shape, which has the strides at run time after the extents, with numbers for
 * all of them; its layouts are computed and decided for this shape.  *why is NULL, or the reason
 * why the shape is not valid for the plan. */
Plan *sides_at(Arena *a, const Plan *p, const i64 *shape, const char **why);

/* written.c: of a shape of numbers, the layout in the words of the request, where the planner has it
 * in others.  sides_set_written: at this shape of the request, in the order of the dims of l. */
void sides_set_written(Layout *l, const i64 *shape);
/* NULL, or how the layouts of a plan in numbers differ from those of the request. */
const char *sides_written_flaw(Arena *a, const Plan *p);

/* refuse.c */
/* diag_fatal if a side needs an index array, which only functions in C have; `what` is what
 * cannot have one. */
void sides_refuse_lookups(const Layout *src, const Layout *dst, const char *what);
/* diag_fatal if a run is given strides or a fill.  name[] is of the scalars. */
void sides_refuse_strides(const Scalars *s, const char *const *name, const char *what);

/* sides_decide.c */
/* diag_fatal unless, for all shapes of the request, dst can be a destination and src is
 * one-to-one or a view.  The largest extents for which this holds become the bounds of
 * the scalars. */
void sides_decide(const Sides *s);
/* The same of src for an index function.  Its verdict, without extents left to run time; inverse: with
 * one. */
const Verdict *sides_decide_index(const Sides *s, bool inverse);

/* in_place_sides.c */
/* The passes that convert a buffer within itself; diag_fatal if there are none. */
const InPlace *sides_in_place(const Plan *p, const Request *rq);

/* view_of.c: for a plan without run-time extents. */
/* Whether the destination, as an array, is a part of the storage of the source: then its
 * elements need not be copied. */
Strides sides_view_of(const Plan *p);
/* How source and destination are walked together, in the largest box. */
typedef struct {
    i64 run;              /* elements that are adjacent on both sides */
    i64 elements;         /* of the box */
    const char *order;    /* its loops, outermost first */
} Together;
Together sides_walk(const Plan *p);

/* compose.c */
/* Two conversions, one after the other, as one from `from` with this shape to the
 * destination of the second. */
typedef struct {
    const char *why;               /* what is lost between them; NULL: nothing */
    const char *from;
    int rank;
    const i64 *shape;
} Composed;
/* The plans are those of the requests; the second reads what the first writes, or a part of
 * it.  Extents are numbers. */
Composed sides_composed(Arena *a, const Known *known, const Request *first,
                        const Plan *first_plan, const Request *second,
                        const Plan *second_plan);
/* The extents of the dims. */
const i64 *sides_extents(Arena *a, const Layout *l);

/* equal.c */
typedef struct {
    Equality q;
    int rank;
    i64 shape[MAX_RANK];           /* of q.x, in the dims of a */
    i64 size_a, size_b;            /* of the storage, in elements; 0 without a shape */
} Comparison;
/* Compare two layouts for a shape, in the dims of a, or for every shape if it is NULL. */
Comparison sides_equal(Arena *arena, const LayoutRef *a, const LayoutRef *b,
                       const DType *t, int rank, const i64 *shape);

/* stored.c */
/* The extents of the storage as an array, at most MAX_ENTRIES; returns their number.  They
 * count elements; the last one counts bytes if elements are smaller than a byte. */
int sides_stored(const Layout *l, i64 *extent);
/* The logical shape, of the same rank, of a tensor that is stored as an array of these
 * extents.  False if it does not follow from them: if the order has more than dims, or
 * dims are padded. */
bool sides_logical(const LayoutRef *ref, int rank, const i64 *stored, i64 *shape);

/* part.c: the numbers that names in the text of a part have, by an array of its tensor and by index
 * arrays. */
typedef struct {
    Arena *arena;
    i64 (*length)(void *env, const char *name);    /* what idx_len is, or idx_len1; -1: unknown */
    void *env;
    /* Set by sides_part: */
    int n;
    const char *name[MAX_RANK];
    i64 value[MAX_RANK];
    int rank;                      /* of the tensor; -1: its shape does not follow */
    i64 shape[MAX_RANK];
} PartNames;
/* `ref` with these numbers, where its tensor is stored in an array of these extents. */
const LayoutRef *sides_part(const LayoutRef *ref, int rank, const i64 *stored, PartNames *p);
/* The number of a name; -1: it does not follow. */
i64 sides_part_value(const PartNames *p, const char *name);
/* The shape of what sides_part returned; -1 for an extent that does not follow.  Returns its rank, or
 * -1. */
int sides_part_shape(const PartNames *p, const LayoutRef *ref, i64 *shape);

#endif
