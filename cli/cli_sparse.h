/* cli_sparse.h: sparse formats on the command line. */
#ifndef RAVEL_CLI_SPARSE_H
#define RAVEL_CLI_SPARSE_H

#include "cli_zip.h"

/* An array of a file. */
typedef struct {
    const char *name;     /* pos2, indptr */
    const char *descr;    /* as in Npy */
    int bytes, rank;
    i64 shape[MAX_RANK], count;
    const void *data;
} SparseMember;

enum { SPARSE_MEMBERS = 40 };
typedef struct {
    const char *path;
    const char *format;   /* what the file says it holds: csr; NULL: nothing */
    int n, rank;          /* rank 0: the file has no shape */
    i64 shape[MAX_RANK];
    SparseMember member[SPARSE_MEMBERS];
} SparseFile;

/* Whether one of these texts is a sparse format; NULL is none. */
bool cli_is_sparse(Cli *c, const char *a, const char *b);
/* Fail if one of these options, of n names and values, is given: they are for layouts. */
void sparse_refuse_options(Cli *c, const char *const (*option)[2], int n);
/* The format at --shape, or at 64 for each dim. */
SparseFormat *sparse_format_of(Cli *c, const char *text, i64 *shape, int *rank);
/* Whether an option of emit is given that only sparse formats have; fail if one is. */
bool cli_has_sparse(const Cli *c);
void cli_refuse_sparse(Cli *c);
/* --threshold; 0: not given. */
double cli_threshold(Cli *c);
int cli_sparse_emit(Cli *c, const char *from, const char *to);
/* The functions of a conversion with the other options, SPARSE_FUNCTIONS; returns their number. */
int cli_sparse_functions(Cli *c, const char *from, const char *to, Emitted *e);
int cli_sparse_explain(Cli *c, const char *from, const char *to);
int cli_sparse_check(Cli *c, const char *text);
/* cli_sparse_show.c */
int cli_sparse_show(Cli *c, const char *text);
/* cli_sparse_matrix.c: whether show has a file or folder as its argument; what it prints of that. */
bool cli_is_matrix(Cli *c, const char *text);
int cli_matrix_show(Cli *c);
/* cli_sparse_convert.c */
int cli_sparse_convert(Cli *c, const char *from, const char *to);

/* cli_sparse_file.c: read a file or folder by its name and first bytes; write one.  In the
 * arena; failures are reported by cli_fail. */
void sparse_file_read(Cli *c, const char *path, SparseFile *f);
void sparse_file_write(Cli *c, const char *path, const SparseFile *f);
/* Fails if files of these names cannot hold the source and the result; `sparse`: that of a
 * sparse format. */
void sparse_file_check(Cli *c, const char *in, const char *out, bool sparse);
/* cli_sparse_order.c: whether the coordinates of each row ascend; also of arrays that are not
 * valid, which the conversion refuses. */
bool sparse_file_ascends(const SparseMember *pos, const SparseMember *crd);
/* SciPy's diagonals in the order of their offsets, each with `cols` values: what it has
 * trimmed is 0. */
void sparse_file_diagonals(Cli *c, SparseMember *offsets, SparseMember *data, i64 cols);
/* cli_matrix_market.c: `text` ends with a NUL. */
void matrix_market_read(Cli *c, const char *path, const char *text, SparseFile *f);
void matrix_market_write(Cli *c, const char *path, const SparseFile *f);

#endif
