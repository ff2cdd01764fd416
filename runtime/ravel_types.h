/* ravel_types.h: what the headers of libravel share.  Include ravel.h. */
#ifndef RAVEL_TYPES_H
#define RAVEL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RAVEL_MAX_RANK 16   /* dims of the logical tensor */
#define RAVEL_RUNTIME (-1)  /* an extent given to ravel_run_shape later */

#if defined(__GNUC__) && !defined(RAVEL_STATIC)
#define RAVEL_API __attribute__((visibility("default")))
#else
#define RAVEL_API
#endif

typedef enum {
    RAVEL_OK = 0,
    RAVEL_ERR_ARGUMENT,   /* a null pointer, a bad rank, an unknown dtype */
    RAVEL_ERR_SPEC,       /* an error in the text of a spec or layout */
    RAVEL_ERR_LAYOUT,     /* the layout is not valid for the shape or dtype */
    RAVEL_ERR_MEMORY,     /* out of memory */
    RAVEL_ERR_JIT,        /* no machine code could be made, and RAVEL_CODE=jit is set */
    RAVEL_ERR_FILE,       /* reading or writing a file failed */
    RAVEL_ERR_VERIFY,     /* the compiled code is wrong */
    /* ravel_gpu.h describes these: */
    RAVEL_ERR_LIBRARY,    /* the library of a driver or compiler cannot be opened */
    RAVEL_ERR_SYMBOL,     /* that library lacks a function */
    RAVEL_ERR_DEVICE,     /* there is no such device */
    RAVEL_ERR_COMPILE,    /* a kernel does not compile for the device */
    RAVEL_ERR_LAUNCH,     /* a launch was refused */
    RAVEL_ERR_DRIVER,     /* another call of the driver failed */

    RAVEL_ERR_LIMIT       /* more work is needed than ravel_set_limit allows */
} ravel_status;

/* A failure.  The caller owns it, so threads do not share it. */
typedef struct {
    ravel_status status;
    char text[1024];      /* one or more lines, no newline at the end */
} ravel_error;

typedef struct ravel_context ravel_context;   /* loaded specs */

/* A storage as an array: its extents, outermost first, counted in elements.  If elements
 * are smaller than a byte, the last extent counts bytes.  rank is 1 if the storage is not
 * an array of more extents. */
#define RAVEL_MAX_STORED 64
typedef struct {
    int rank;
    int64_t extent[RAVEL_MAX_STORED];
} ravel_extents;

#ifdef __cplusplus
}
#endif

#endif
