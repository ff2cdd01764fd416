/* plan_kernel.h: the kernels, and the arguments of their calls. */
#ifndef RAVEL_PLAN_KERNEL_H
#define RAVEL_PLAN_KERNEL_H

#include "plan_model.h"

/* kernel.c */
typedef struct Kernel {
    const char *name;     /* transpose4 */
    const char *symbol;   /* ravel_transpose4 */
    int size;             /* its number in kernel.def */
    const Family *family;
    const char *text;     /* the files of its text */
} Kernel;
extern const Kernel kernels[];
extern const int nkernels;
/* The arguments of the kernel, one letter each (kernel_arg); a line of description. */
const char *kernel_letters(const Kernel *k);
const char *kernel_what(const Kernel *k);
/* Sets uses[] to the number of nests of the plan that each of kernels[] runs. */
void kernels_used(const Plan *p, int *uses);
/* The parts of the text of its kernel that a nest can reach; the name of a part, NULL if
 * there are no more. */
unsigned nest_parts(const Plan *p, const Nest *n);
const char *kernel_part(const Kernel *k, int part);
/* The files of its text, those that it needs first; sets *n to their number. */
const char *const *kernel_text(Arena *a, const Kernel *k, int *n);

/* kernel_args.c: the meaning of a letter. */
typedef enum { IN_NOTHING, IN_BYTES, IN_ELEMENTS } ArgUnit;
typedef struct {
    char letter;
    enum { ARG_DST, ARG_SRC, ARG_DST_START, ARG_SRC_START, ARG_COUNT, ARG_DST_STEP,
           ARG_SRC_STEP, ARG_RUN, ARG_WIDTH, ARG_TABLE, ARG_ENTRIES, ARG_FILL, ARG_SIZE,
           ARG_STREAM, ARG_AHEAD, ARG_DST_ARRAY, ARG_SRC_ARRAY, ARG_DST_NUMBER,
           ARG_SRC_NUMBER, ARG_DST_PLACE, ARG_SRC_PLACE, ARG_DST_SECOND, ARG_SRC_SECOND,
           ARG_DST_SECOND_PLACE, ARG_SRC_SECOND_PLACE } what;
    int role;             /* the loop of a count or a step */
    ArgUnit unit;
    const char *type;     /* C type */
} KernelArg;
const KernelArg *kernel_arg(char letter);
/* A number of elements of so many bits, converted to `unit`. */
i64 call_unit(int bits, i64 elements, ArgUnit unit);
/* plan_call.c: the value of an argument in a call of a nest's kernel. */
typedef struct {
    enum {
        CALL_NUMBER,      /* `number` */
        CALL_STREAM,      /* `number` if stores go past the caches, else 0 */
        CALL_STEP,        /* the stride of the loop with `role`, in `unit` */
        CALL_PATTERN,     /* the bit pattern of the fill value */
        CALL_LOOKUP,      /* nest_lookup_step, in `unit` */
        CALL_TABLE,       /* nest_table; this and the kinds below vary between calls */
        CALL_BUFFER,      /* the start of the buffer */
        CALL_PLACE,       /* the start of the buffer plus the call's start, in bytes */
        CALL_START,       /* the call's start, in elements */
        CALL_ARRAY,       /* the index array of nest_lookup_by_rows, from the number of the
                           * call's first row on */
        CALL_COUNT        /* the iterations that the call takes of the loop with `role`,
                           * with `pads` and the padding after them, in `unit` */
    } is;
    bool source;          /* true: of the source; false: of the destination */
    int role;
    int lookup;           /* of CALL_LOOKUP, CALL_ARRAY: the first, the second by rows */
    ArgUnit unit;
    bool pads;
    i64 number;
} CallArg;
CallArg call_arg(const Plan *p, const Nest *n, char letter);
/* The thread, modulo the number of threads, that runs a nest without a split.  Nests that
 * write to the same bytes have the same thread. */
i64 nest_owner(const Plan *p, const Nest *n);

#endif
