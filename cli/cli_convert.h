/* cli_convert.h: conversions of the arrays of a file. */
#ifndef RAVEL_CLI_CONVERT_H
#define RAVEL_CLI_CONVERT_H

#include "cli_blocks.h"
#include "cli_file.h"

/* The result of an array without elements: its extents; padding, if there is any. */
typedef struct {
    i64 shape[MAX_RANK];           /* logical, in the order of the dims of the destination */
    ravel_extents stored;
    i64 bytes;
    unsigned char *data;
} EmptyResult;

/* The source array, and where its result is. */
typedef struct {
    ArrayFile file;
    FileArray from;
    bool several;         /* its result is kept in `spool`, and written with others */
    i64 memory;           /* that the conversion may take */
    FileView spool;       /* the result, if OUT is not written in blocks */
    i64 unproven;         /* --verify: the bytes of a proof of the code that was left out */
    const DType *dtype;
    int rank;             /* logical */
    i64 shape[MAX_RANK];
    ravel_plan *plan;
    const EmptyResult *empty;      /* NULL: the array has elements */
    const char *said;     /* about the result, for the user */
} Source;

/* cli_convert_array.c: convert the array s->from, which is read.  EXIT_YES or EXIT_NO. */
int convert_array(Cli *c, Source *s);
void convert_free(Source *s);

/* cli_convert_blocks.c: the blocks in which to convert; NULL: at once. */
Blocks *convert_choose_blocks(Cli *c, const Source *s, const Plan *p, const ravel_request *rq);
/* Returns false if --verify finds a flaw. */
bool convert_blocks(Cli *c, Source *s, const ravel_request *rq, const Blocks *b);

/* cli_convert_empty.c: whether the array has a type and no elements, and the conversion of such an
 * array, or of no element of one by an empty index array: s->empty is the result. */
bool convert_is_empty(const Source *s);
void convert_empty(Cli *c, Source *s, const char *from, const char *to);

/* cli_convert_shape.c: sets the logical shape, and fails unless the array is the storage of l, of so many
 * bytes. */
const char *convert_set_shape(Cli *c, Source *s, const char *from);
void convert_check_stored(Cli *c, const Source *s, const Layout *l, const i64 *want, int n, i64 bytes);

/* cli_convert_many.c: convert each of the arrays that match the pattern --tensor to one OUT. */
int convert_many(Cli *c, const ArrayFile *file);

/* cli_convert_out.c: OUT.  A result is the storage of l. */
typedef struct {
    const Source *s;
    const Layout *l;
    const unsigned char *data;
} Result;
/* Error if the name of OUT promises such a format. */
void out_check(Cli *c);
/* Whether OUT, by its name, can have several arrays. */
bool out_has_many(const Cli *c);
/* Bytes of the name of an array in an archive; longer ones are cut. */
enum { ARRAY_NAME_MOST = 200 };
/* Whether OUT is a file that can be written block by block.  What cannot is made in an
 * unnamed file first. */
bool out_has_place(const Cli *c, const Source *s);
/* What stands before the data of n results: *len is 0 if nothing does. */
const void *out_head(Cli *c, const Result *r, int n, size_t *len);
void out_write(Cli *c, const Result *r, int n);

#endif
