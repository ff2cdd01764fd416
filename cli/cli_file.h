/* cli_file.h: arrays in files: .npy, .npz, safetensors, GGUF, raw data. */
#ifndef RAVEL_CLI_FILE_H
#define RAVEL_CLI_FILE_H

#include "cli.h"

/* A file in memory. */
typedef struct {
    const char *path;              /* for messages: a dash is standard input */
    const unsigned char *data;     /* those of `view` */
    size_t len;
    FileView view;
    FileView own;                  /* the array, if it does not lie in the file as Npy has it */
    json_t *json;                  /* the header of safetensors; NULL: none */
    bool many;                     /* --tensor may be a pattern of several names */
    bool borrowed;                 /* `view` is another's */
    const char **like;             /* the names that match the pattern, if several do */
    int nlike;
} ArrayFile;

/* An array of a file. */
typedef struct {
    Npy a;                         /* data: of the file, read only.  Raw: elements of a byte */
    bool fortran;                  /* its first dim varies fastest */
    bool typed;                    /* the file says shape and type: it is not raw */
    const char *dtype;             /* what the file says; NULL: what a.descr means */
    const char *name;              /* in the file; NULL: it has none */
    const char *kind;              /* safetensors: the type, as F8_E4M3; else NULL */
    const char *layout, *shape;    /* what the file says, as --from, --shape and --dtype */
    const char *element;           /* have it; NULL: it does not */
    const char *const *about;      /* safetensors: other metadata of the file, each a key and
                                      a text; ends with NULL.  NULL: none */
} FileArray;

/* Read the array that --tensor names, the first of several (f->many), or the only one; of a
 * raw file what begins at --offset.  Fails with a message that names the file.  f->data:
 * those of a file that has been read; NULL: the file is IN. */
void cli_read_array(Cli *c, ArrayFile *f, FileArray *out);
void cli_file_free(ArrayFile *f);

/* cli_file_dtype.c: the type of --dtype, or what the file says.  Fails unless both fit. */
const DType *cli_file_dtype(Cli *c, const FileArray *a);

/* The element type that the file says, or NULL. */
const DType *cli_own_dtype(const FileArray *a);

/* cli_array.c */
/* The bytes of memory that the file and its array take; a mapped file takes none. */
i64 cli_file_copied(const ArrayFile *f);
/* The array of a .npy file that is in memory; `path` is for messages. */
void cli_view_npy(Cli *c, ArrayFile *f, const char *path, const unsigned char *data, size_t len,
                  FileArray *out);
/* Make an array whose first dim varies fastest one whose last does. */
void cli_settle(Cli *c, ArrayFile *f, FileArray *out);
/* The name of an array as NumPy says it: without .npy. */
const char *cli_stem(Cli *c, const char *name);
/* For messages: 'IN', or the array of IN. */
const char *cli_array_text(Cli *c, const FileArray *a);

/* Npy.data is not const; nobody writes to these bytes, from `at` on. */
unsigned char *cli_file_bytes(const ArrayFile *f, size_t at);
/* The format of others that the name of a file promises; NULL: none. */
const char *foreign_format(const char *path);
/* Refuse a file of a format of others, by the end of its name. */
void refuse_foreign(Cli *c, const char *path);
/* The array with the name of --tensor among n; without it the only one.  Sets f->like. */
int cli_pick(Cli *c, ArrayFile *f, const char *const *name, int n);
/* The array a of f has these extents, and its data are the `len` bytes from `at` on.  Fails
 * unless its elements have as many. */
void cli_set_array(Cli *c, const ArrayFile *f, Npy *a, int rank, const i64 *shape, size_t at,
                   size_t len);

/* cli_zip.c */
bool cli_is_npz(const ArrayFile *f);
void cli_read_npz(Cli *c, ArrayFile *f, FileArray *out);
/* cli_tensors.c: what `list FILE` says of an array: the type in the file's words where ravel has
 * none, and the layout where the file says one. */
typedef struct {
    const char *name, *dtype, *layout;
    int rank;
    i64 shape[NPY_MAX_RANK];
    const char *why;      /* instead of a shape: it is not read; NULL: it is */
} Listed;
/* Whether a word is the name of a file that has arrays with names. */
bool cli_is_tensors(const char *word);
int cli_list_tensors(Cli *c, const char *path);

/* The arrays of a file of each format.  Only headers are read. */
Listed *cli_list_npz(Cli *c, ArrayFile *f, int *n);
Listed *cli_list_safetensors(Cli *c, ArrayFile *f, int *n);
Listed *cli_list_gguf(Cli *c, ArrayFile *f, int *n);

/* Write an archive.  descr and bytes: of an element, as for npy_write. */
typedef struct {
    const char *name, *descr;
    int bytes, rank;
    i64 shape[MAX_ENTRIES];
    const void *data;
} NpzArray;
void cli_write_npz(Cli *c, const char *path, const NpzArray *a, int n);

/* cli_safetensors.c.  The metadata of a tensor T has its layout, logical shape and element
 * type as ravel.layout.T, ravel.shape.T and ravel.dtype.T. */
bool cli_is_safetensors(const ArrayFile *f);
void cli_read_safetensors(Cli *c, ArrayFile *f, FileArray *out);
/* Fails, with the cause, for a file called .safetensors that is none, unless --offset is
 * given. */
void cli_refuse_safetensors(Cli *c, const ArrayFile *f);
/* A tensor of a file, stored as l.  `kind`: its type in safetensors; NULL: that of l.
 * `about`: metadata to keep, as in FileArray. */
typedef struct {
    const Layout *l;
    const char *name, *kind, *const *about;
    const i64 *shape;              /* logical */
    int rank, nstored;
    i64 stored[MAX_ENTRIES], bytes;
} SafeTensor;
/* What stands before the data of n tensors of one file, which follow each other. */
const char *cli_safetensors_head(Cli *c, const SafeTensor *t, int n, size_t *len);

/* cli_gguf.c: version 2 and 3; types that are not quantised. */
bool cli_is_gguf(const ArrayFile *f);
void cli_read_gguf(Cli *c, ArrayFile *f, FileArray *out);

/* Unsigned numbers in little endian. */
static inline uint64_t
file_number(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

#endif
