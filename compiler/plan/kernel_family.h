/* kernel_family.h: the families of kernels and the functions that their files share. */
#ifndef RAVEL_KERNEL_FAMILY_H
#define RAVEL_KERNEL_FAMILY_H

#include "../../templates/c/line_size.h"
#include "plan_parts.h"

/* kernel_*.c: one for all kernels of a family. */
#define T(name, files)
#define K(name, family, size, text, sets) extern const Family family##_family;
#include "kernel.def"
#undef K
#undef T

/* kernel_nest.c: helpers for `applies` and `cost`.  They ignore loops that occur in the
 * residual of an address. */
/* The loop with stride 1 in the source (destination); -1: none. */
int kernel_unit_loop(const Nest *n, bool source);
/* The last loop with stride 1 in both source and destination; -1: none. */
int kernel_run_loop(const Nest *n);
/* The last loop other than `not`; -1: none. */
int kernel_last_loop(const Nest *n, int not);
/* Whether the count and both strides of a loop are numbers. */
bool kernel_is_known(const Loop *l);
/* ... of all loops: nothing that the kernel runs depends on the shape. */
bool kernel_knows(const Nest *n);
/* True if the second cache holds both sides of the nest, so that any order of loops is as
 * quick in memory. */
bool kernel_is_small(const Nest *n, int bits);
/* The iterations of a loop; 1 if loop is -1. */
i64 kernel_count(const Nest *n, int loop);
/* True if x is a multiple of k for all values of its variables. */
bool kernel_multiple(const Ex *x, i64 k);
/* True if the number in x and the coefficient of each of its terms are multiples of k. */
bool kernel_terms_multiple(const Ex *x, i64 k);
/* The iterations that a loop has at least, at every shape at which it has any. */
i64 kernel_fewest(const Loop *l);
/* The same; 0: its strides depend on the shape. */
i64 kernel_least(const Loop *l);
/* The stride of a loop in the source (SRC) or the destination (DST). */
i64 kernel_stride(const Loop *l, int side);
const Ex *kernel_stride_ex(const Loop *l, int side);
/* Nanoseconds more that a run of at most 128 bytes takes that is moved in two parts, which overlap and
 * lie in two cache lines more often unless they are of whole words (in the caches, Emerald Rapids). */
double kernel_overlap(i64 bytes);
/* Of the loop by one element of the destination, the padding after its iterations; else 0. */
i64 kernel_padded(const Nest *n, const Loop *l);
/* Whether a loop continues a run of `run` elements on the side, in either direction, at every
 * shape.  Others ask something else: whole_bytes (plan_call.c) only of the destination, whatever is in the
 * residual of the source; next_of_table (plan_runs.c) by estimates, for a cost; add_loops
 * (kernel_mixed.c) also of the loops that its table has the residuals of; continues (view_of.c) of both
 * sides at once, forwards. */
bool kernel_continues(const Loop *l, int side, i64 run);
/* The loop with two iterations or more at every shape, padding after them among these, not in skip[],
 * that continues a run of `run` elements on the side, in either direction; -1: none.  Its stride on
 * the other side may depend on the shape. */
int kernel_next_loop(const Nest *n, const bool skip[MAX_LOOPS], int side, i64 run);
/* x modulo k if that is the same for all values of the variables, else -1. */
i64 kernel_remainder(const Ex *x, i64 k);
/* What an atom varies with: sets *own if with loops of in[], *other if with other loops or
 * with scalars. */
void kernel_varies(const Nest *n, const bool in[MAX_LOOPS], const Atom *a, bool *own,
                   bool *other);
/* No term of an address depends on loops of in[] and on others. */
bool kernel_apart(const Nest *n, const bool in[MAX_LOOPS]);
/* The terms of an address, but those of strides, that depend on loops of in[] (`inside`); the
 * others, and the base. */
const Ex *kernel_terms(const Nest *n, const bool in[MAX_LOOPS], bool source, bool inside);
/* Sets role[BATCH] to the last loop that has no role yet: the planes of one call. */
void kernel_batch(const Nest *n, int role[ROLES]);
/* Sets the rows to the source's unit loop, the columns to the destination's, and the
 * planes.  False if the nest has no such plane. */
bool kernel_plane(const Nest *n, int role[ROLES]);

/* table_scalars.c: tables whose offsets are linear in a few scalars of the shape.  taken: the
 * iterations of each loop that the table covers. */
typedef struct {
    int n;
    const Atom *of[TABLE_SCALARS];
} TableScalars;
/* Sets those in the strides of these loops; false: the offsets are not linear in so few. */
bool table_scalars(const Nest *n, const i64 taken[MAX_LOOPS], TableScalars *s);
/* The same as expressions; returns their number. */
int table_scalars_list(const Nest *n, const TableScalars *s, const Ex *out[TABLE_SCALARS]);
/* What the scalar is multiplied with in a stride; NULL: what is left without scalars. */
i64 table_share(const Ex *stride, const Atom *scalar);
/* Offsets in bytes have 32 bits (`unit`: those of an element).  Those that are numbers are at
 * most TABLE_NEAR, and so must be those that depend on the shape: 1 at shapes at which they
 * are, else 0 or less. */
enum { TABLE_NEAR = (1 << 30) - 64 };
const Ex *table_near(const Nest *n, const i64 taken[MAX_LOOPS], i64 unit);

/* plan_outer.c: helpers for `orders` and `runs`. */
typedef enum { BY_DST, BY_SRC } Order;
extern const char in_order_of_writes[];
/* True if stores may go past the caches.  If the size depends on the shape, it is true
 * and a scalar decides at run time. */
bool outer_may_stream(const Plan *p, const Nest *n);
/* True if loop i belongs outside of loop j. */
bool outer_precedes(const Nest *n, int i, int j, Order order);
/* Adds outer loops for the loops that the kernel does not run.  With `planes` it also
 * adds one for the kernel's planes; a call then does one plane. */
void outer_add_loops(Nest *n, Order order, bool planes);
/* Adds an outer loop such that a call takes at most `bytes` of the kernel's loop with
 * that role; `size` is the bytes of an element. */
void outer_add_tile(Nest *n, int role, i64 bytes, i64 size);
/* `orders` of kernels that have only one order. */
bool outer_in_order(const Plan *p, Nest *n, int k);
/* The stride of the kernel's loop with that role; 0 if there is no such loop. */
i64 nest_stride(const Nest *n, int role, bool source);
/* The number of elements that are read (written) contiguously: a run, then the planes of
 * a call, then each outer loop, from the innermost outward, that continues where the
 * previous one ends. */
i64 nest_chain(const Nest *n, i64 run, bool source);

#endif
