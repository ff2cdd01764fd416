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

/* A layout's text with numbers for what is as long as an index array, as in [idx][1:3]. */
const char *cli_index_lengths(Cli *c, const char *text);

/* The arrays of a plan in numbers, in the order of ravel_plan_arrays; in c's arena. */
typedef struct {
    int n;
    const void *data[RAVEL_MAX_ARRAYS];      /* as ravel_run_arrays has them */
    const i64 *number[RAVEL_MAX_ARRAYS];
} CliIndices;
/* Fails unless a run with them is right: if a number is out of range, or if two elements of
 * the destination have one place.  shape: of a plan with extents at run time. */
CliIndices cli_indices(Cli *c, const ravel_plan *p, const i64 *shape);

/* The index array of these layouts, or of --via, whose file has no numbers; NULL: all have some. */
const char *cli_empty_index(Cli *c, const char *from, const char *to);

#endif
