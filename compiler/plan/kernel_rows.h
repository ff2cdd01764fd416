/* kernel_rows.h: what the rows of kernel.def say of a nest; shared by kernel.c and the
 * files kernel_*.c. */
#ifndef RAVEL_KERNEL_ROWS_H
#define RAVEL_KERNEL_ROWS_H

#include "plan.h"

/* kernel.c */
/* The loop, not in the rest, that moves the source (destination) by one element;
 * -1 when there is none. */
int kernel_unit_loop(const Nest *n, bool source);
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

/* kernel_narrow.c: planes of a few columns, or a few rows; runs that are padded */
bool copy_fill_applies(const Nest *n, int bits, int role[ROLES]);
double copy_fill_cost(const Nest *n, int bits, const int role[ROLES]);
bool interleave1_applies(const Nest *n, int bits, int role[ROLES]);
bool interleave2_applies(const Nest *n, int bits, int role[ROLES]);
bool interleave4_applies(const Nest *n, int bits, int role[ROLES]);
bool interleave8_applies(const Nest *n, int bits, int role[ROLES]);
double interleave_cost(const Nest *n, int bits, const int role[ROLES]);
bool deinterleave1_applies(const Nest *n, int bits, int role[ROLES]);
bool deinterleave2_applies(const Nest *n, int bits, int role[ROLES]);
bool deinterleave4_applies(const Nest *n, int bits, int role[ROLES]);
double deinterleave_cost(const Nest *n, int bits, const int role[ROLES]);

/* kernel_gather.c */
bool gather_applies(const Nest *n, int bits, int role[ROLES]);
double gather_cost(const Nest *n, int bits, const int role[ROLES]);
/* The loops that a table covers, when the kernel runs loop `run` itself: all in the rest,
 * and the last ones; how many entries that makes. */
i64 kernel_table(const Nest *n, int run, bool in[MAX_LOOPS]);

/* kernel_bits.c: elements smaller than a byte */
bool bits_run_applies(const Nest *n, int bits, int role[ROLES]);
double bits_run_cost(const Nest *n, int bits, const int role[ROLES]);
bool bits_swap_applies(const Nest *n, int bits, int role[ROLES]);
double bits_swap_cost(const Nest *n, int bits, const int role[ROLES]);
bool bits_transpose_applies(const Nest *n, int bits, int role[ROLES]);
double bits_transpose_cost(const Nest *n, int bits, const int role[ROLES]);

#endif
