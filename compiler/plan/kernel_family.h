/* kernel_family.h: the families of kernels, and what their files share. */
#ifndef RAVEL_KERNEL_FAMILY_H
#define RAVEL_KERNEL_FAMILY_H

#include "plan_parts.h"

/* kernel_copy.c: runs of elements; with padding after each */
extern const Family copy_family, copy_fill_family;
/* kernel_transpose.c */
extern const Family transpose_family;
/* kernel_narrow.c: planes of a few columns, of a few rows */
extern const Family interleave_family, deinterleave_family;
/* kernel_gather.c */
extern const Family gather_family;
/* kernel_shuffle.c */
extern const Family shuffle_family;
/* kernel_composite.c: by the bytes that stay together; composite: any other number */
extern const Family composite1_family, composite2_family, composite4_family,
                    composite8_family, composite_family;
/* kernel_strided.c: single elements */
extern const Family strided_family, bits_family, fill_family, fill_bits_family;
/* kernel_bits.c: elements smaller than a byte */
extern const Family bits_run_family, bits_swap_family, bits_transpose_family;

/* kernel_nest.c: what applies and cost ask of a nest. */
/* The loop, not in the rest, that moves the source (destination) by one element;
 * -1 when there is none. */
int kernel_unit_loop(const Nest *n, bool source);
/* The last loop, not in the rest, that moves both by one element; -1: there is none. */
int kernel_run_loop(const Nest *n);
/* The last loop, not in the rest, other than `not`; -1: there is none. */
int kernel_last_loop(const Nest *n, int not);
/* Iterations of a loop; 1 of none. */
i64 kernel_count(const Nest *n, int loop);
/* Whether x is one whatever its variables are. */
bool kernel_multiple(const Ex *x, i64 k);
/* What is left of x by k whatever its variables are; -1: that depends. */
i64 kernel_remainder(const Ex *x, i64 k);
/* The nearest loop, not in the rest and not yet taken: the planes of one call. */
void kernel_batch(const Nest *n, int role[ROLES]);
/* Rows along the source's unit loop, columns along the destination's, planes: false where
 * there is no such plane. */
bool kernel_plane(const Nest *n, int role[ROLES]);

/* plan_outer.c: what orders and runs are made with. */
typedef enum { BY_DST, BY_SRC } Order;
extern const char in_order_of_writes[];
/* Whether the plan's stores may go past the caches: only where a shape tells the size,
 * a scalar says it there. */
bool outer_may_stream(const Plan *p);
/* Whether loop i belongs outside of loop j. */
bool outer_precedes(const Nest *n, int i, int j, Order order);
/* The loops that are not the kernel's, and its planes where `planes` says so: then a
 * call does one. */
void outer_add_loops(Nest *n, Order order, bool planes);
/* A call takes at most so many bytes of the kernel's loop. */
void outer_add_tile(Nest *n, int role, i64 bytes, i64 size);
/* The one order of kernels that know no better. */
bool outer_in_order(const Plan *p, Nest *n, int k);
/* What the kernel's loop of that role moves by; 0 where there is no loop. */
i64 nest_stride(const Nest *n, int role, bool source);
/* How many elements one reads (writes) on and on: a run, then the planes of a call, then
 * every loop, from the innermost outer loop out, that goes on where the last ended. */
i64 nest_chain(const Nest *n, i64 run, bool source);

#endif
