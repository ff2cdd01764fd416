/* cli_index.h: the numbers of index arrays, from the files of --index. */
#ifndef RAVEL_CLI_INDEX_H
#define RAVEL_CLI_INDEX_H

#include "cli.h"

/* Fails if --index has an array twice, or one that the plan has not. */
void cli_check_indices(Cli *c, const ravel_plan *p);

/* Fails if a run of the plan is given strides. */
void cli_refuse_strides(Cli *c, const ravel_plan *p);

/* A shape as text with the lengths of index arrays, as in idx_len,64, in numbers. */
const char *cli_index_shape(Cli *c, const char *shape);

/* The arrays of a plan in numbers, in the order of ravel_plan_arrays; in c's arena. */
typedef struct {
    int n;
    const void *data[RAVEL_MAX_ARRAYS];      /* as ravel_run_arrays has them */
    const i64 *number[RAVEL_MAX_ARRAYS];
} CliIndices;
/* Fails unless a run with them is right: if a number is out of range, or if two elements of
 * the destination have one place. */
CliIndices cli_indices(Cli *c, const ravel_plan *p);

#endif
