/* cli_sparse_convert.h: what convert has of a pair with a sparse format. */
#ifndef RAVEL_CLI_SPARSE_CONVERT_H
#define RAVEL_CLI_SPARSE_CONVERT_H

#include "cli_sparse.h"

typedef struct {
    Cli *c;
    SparseFile in;
    const char *from, *to, *dtype;
    bool pattern;                  /* without values; those of places are u8 */
    int rank, width;
    i64 shape[MAX_RANK], to_shape[MAX_RANK];     /* in the dims of from, of to */
    ravel_sparse_plan *plan;
    ravel_sparse_job *job;
    int n[2];                      /* arrays of both sides */
    ravel_sparse_array array[2][RAVEL_SPARSE_ARRAYS];
    const void *data[RAVEL_SPARSE_ARRAYS];
    int64_t size[RAVEL_SPARSE_ARRAYS];
} Convert;

/* cli_sparse_convert.c: set to_shape; dims are paired by name. */
void sparse_to_shape(Convert *v);
/* cli_sparse_source.c */
/* Read the file of --from, unless that is done: the arrays, the shape, the type. */
void sparse_source_read(Convert *v);
/* The array of its values. */
SparseMember *sparse_source_values(Convert *v);
/* Set the arrays of both sides of the plan, and data and size of the source. */
void sparse_source_find(Convert *v);
/* Set data and size for the conversion rq. */
void sparse_source_arrays(Convert *v, const ravel_sparse_request *rq);
/* cli_sparse_concat.c: the source becomes a list of its entries and of those of the files of
 * --concat.  from: as --from has it. */
void sparse_concat(Convert *v, const char *from);
/* cli_sparse_result.c */
/* SciPy's names of the arrays of its formats, in the order of ours; NULL: the file lacks it.
 * */
typedef struct {
    const char *format, *name;     /* in the file; ours */
    const char *levels;            /* a spec may give the name to other levels */
    const char *array[5];
} ScipyFormat;
extern const ScipyFormat scipy[];
/* The row of the format that the source file says it holds; -1: it says none, or another. */
int scipy_of_file(const Convert *v);
/* The row of a format of ours; -1: SciPy has none. */
int scipy_of_text(Cli *c, const char *text);
/* Write the result: m[i] values of array i at out[i], `bytes` bytes in all. */
void sparse_result_write(Convert *v, const int64_t *m, void *const *out, i64 bytes);

#endif
