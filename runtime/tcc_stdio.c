/* tcc_stdio.c: replacements for the C library functions that libtcc calls: no files to
 * read, no streams, no environment, one output file that stays in memory, a heap that is
 * freed after the run, no assembler, and no way to end the process.  tcc.mk renames libtcc's
 * references to the names here. */
#define _GNU_SOURCE
#include "tcc_stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* From tcc.mk: all variables of libtcc lie between. */
extern char ravel_tcc_vars[], ravel_tcc_vars_end[];

extern FILE *const ravel_tcc_stdout, *const ravel_tcc_stderr;
extern char **const ravel_tcc_environ;
_Noreturn void ravel_tcc_exit(int code);
void *ravel_tcc_malloc(size_t n);
void *ravel_tcc_calloc(size_t n, size_t size);
void *ravel_tcc_realloc(void *p, size_t n);
void ravel_tcc_free(void *p);
int ravel_tcc_open(const char *path, int flags, ...);
FILE *ravel_tcc_fdopen(int fd, const char *mode);
size_t ravel_tcc_fwrite(const void *p, size_t size, size_t n, FILE *f);
int ravel_tcc_fputc(int c, FILE *f);
int ravel_tcc_fclose(FILE *f);
int ravel_tcc_unlink(const char *path);
int ravel_tcc_fflush(FILE *f);
int ravel_tcc_fprintf(FILE *f, const char *fmt, ...);
int ravel_tcc_fprintf_chk(FILE *f, int flag, const char *fmt, ...);
void ravel_tcc_asm_instr(void);
void ravel_tcc_asm_global_instr(void);
int ravel_tcc_asm_parse_regvar(int token);
int ravel_tcc_tcc_assemble(void *s, int flags);
void ravel_tcc_tcc_run_free(void *s);

/* The header of a block of libtcc's heap; libtcc's pointer is to the byte after it. */
typedef struct HeapBlock {
    struct HeapBlock *prev, *next;
} HeapBlock;

_Static_assert(sizeof(HeapBlock) % _Alignof(max_align_t) == 0, "keeps alignment");

TccHost tcc_host;

static HeapBlock heap = {&heap, &heap};   /* a ring */
static FILE *object;                  /* while it is open */

/* Only ever handed to the functions below. */
FILE *const ravel_tcc_stdout = NULL, *const ravel_tcc_stderr = NULL;
char **const ravel_tcc_environ = NULL;

_Noreturn void
ravel_tcc_exit(int code)
{
    (void)code;
    longjmp(tcc_host.out, 1);
}

static void *
join(HeapBlock *b)
{
    if (!b) {
        tcc_host.starved = true;
        return NULL;
    }
    b->prev = &heap;
    b->next = heap.next;
    b->prev->next = b->next->prev = b;
    return b + 1;
}

static HeapBlock *
part(void *p)
{
    HeapBlock *b = p ? (HeapBlock *)p - 1 : NULL;
    if (b) {
        b->prev->next = b->next;
        b->next->prev = b->prev;
    }
    return b;
}

void *
ravel_tcc_malloc(size_t n)
{
    return join(n <= PTRDIFF_MAX ? malloc(sizeof(HeapBlock) + n) : NULL);
}

void *
ravel_tcc_calloc(size_t n, size_t size)
{
    bool fits = size == 0 || n <= PTRDIFF_MAX / size;
    return join(fits ? calloc(1, sizeof(HeapBlock) + n * size) : NULL);
}

void *
ravel_tcc_realloc(void *p, size_t n)
{
    HeapBlock *b = part(p);
    HeapBlock *c = n <= PTRDIFF_MAX ? realloc(b, sizeof(HeapBlock) + n) : NULL;
    if (!c && b)
        join(b);
    return join(c);
}

void
ravel_tcc_free(void *p)
{
    free(part(p));
}

void
tcc_host_begin(void)
{
    memset(ravel_tcc_vars, 0, (size_t)(ravel_tcc_vars_end - ravel_tcc_vars));
    tcc_host.starved = tcc_host.has_asm = false;
    tcc_host.obj = NULL;
    tcc_host.len = 0;
}

void
tcc_host_end(void)
{
    if (object)
        ravel_tcc_fclose(object);
    while (heap.next != &heap)
        free(part(heap.next + 1));
}

/* The only file opened for writing is the object; its descriptor is used only by fdopen.
 * */
int
ravel_tcc_open(const char *path, int flags, ...)
{
    (void)path;
    if ((flags & O_ACCMODE) == O_WRONLY)
        return 0;
    errno = ENOENT;
    return -1;
}

FILE *
ravel_tcc_fdopen(int fd, const char *mode)
{
    (void)fd;
    (void)mode;
    object = open_memstream(&tcc_host.obj, &tcc_host.len);
    if (!object) {           /* libtcc does not look at the result */
        tcc_host.starved = true;
        ravel_tcc_exit(1);
    }
    return object;
}

/* Nor does it look whether all it wrote is there, and a stream that had no memory
 * once may have it for the next byte: glibc does not note it as an error. */
size_t
ravel_tcc_fwrite(const void *p, size_t size, size_t n, FILE *f)
{
    size_t k = size && n ? fwrite(p, size, n, f) : n;    /* of nothing p may be NULL */
    tcc_host.starved |= k != n;
    return k;
}

int
ravel_tcc_fputc(int c, FILE *f)
{
    int r = fputc(c, f);
    tcc_host.starved |= r == EOF;
    return r;
}

int
ravel_tcc_fclose(FILE *f)
{
    object = NULL;
    int r = fclose(f);
    tcc_host.starved |= r != 0;
    return r;
}

int
ravel_tcc_unlink(const char *path)
{
    (void)path;
    return 0;
}

int
ravel_tcc_fflush(FILE *f)
{
    (void)f;
    return 0;
}

int
ravel_tcc_fprintf(FILE *f, const char *fmt, ...)
{
    (void)f;
    (void)fmt;
    return 0;
}

int
ravel_tcc_fprintf_chk(FILE *f, int flag, const char *fmt, ...)
{
    (void)f;
    (void)flag;
    (void)fmt;
    return 0;
}

/* asm in a function, and outside. */
void
ravel_tcc_asm_instr(void)
{
    tcc_host.has_asm = true;
    ravel_tcc_exit(1);
}

void
ravel_tcc_asm_global_instr(void)
{
    ravel_tcc_asm_instr();
}

/* The register that `asm` after a variable names: none. */
int
ravel_tcc_asm_parse_regvar(int token)
{
    (void)token;
    return -1;
}

/* A file of assembly: there are no files. */
int
ravel_tcc_tcc_assemble(void *s, int flags)
{
    (void)s;
    (void)flags;
    return -1;
}

/* What a program that ran would leave. */
void
ravel_tcc_tcc_run_free(void *s)
{
    (void)s;
}

#pragma GCC visibility pop
