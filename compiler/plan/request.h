/* request.h: what is asked of the compiler. */
#ifndef RAVEL_REQUEST_H
#define RAVEL_REQUEST_H

#include "plan_model.h"

/* A requested conversion. */
typedef struct {
    const char *from, *to;         /* layout texts */
    const char *dtype;
    int rank;
    const i64 *shape;              /* RUNTIME_EXTENT: left to run time */
    const char *const *extent;     /* name of the run-time extent of each dim; extents
                                    * with one name are equal; NULL: the dims' names */
    const char *name;              /* of the function; NULL: a default */
    PlanMachine machine;           /* for which kernels are chosen */
    int align;                     /* bytes to which a device's buffers are aligned: a
                                    * power of two up to 16; 0: 16 */
    bool batch;                    /* a kernel takes pairs of buffers */
    bool index;                    /* a function of the coordinates of `from`, which are not to be replaced */
    bool bare;                     /* only a compiler reads the text: it has no comments */
} Request;

#endif
