/* ravel_layout.h: questions about layouts.  ravel.h includes it and says what a layout is. */
#ifndef RAVEL_LAYOUT_API_H
#define RAVEL_LAYOUT_API_H

#include "ravel_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write to `out` the address of every logical element, in row-major order, counted in
 * elements of `dtype`.  `out` must have room for the product of the extents.
 * Thread-safe. */
RAVEL_API ravel_status ravel_table(ravel_context *cx, const char *layout,
                                   const char *dtype, int rank,
                                   const int64_t *shape, int64_t *out,
                                   ravel_error *err);

/* The size of a layout's storage in bytes.  Thread-safe. */
RAVEL_API ravel_status ravel_storage_bytes(ravel_context *cx, const char *layout,
                                           const char *dtype, int rank,
                                           const int64_t *shape, int64_t *out,
                                           ravel_error *err);

/* The extents of a layout's storage.  Thread-safe. */
RAVEL_API ravel_status ravel_storage_shape(ravel_context *cx, const char *layout,
                                           const char *dtype, int rank,
                                           const int64_t *shape, ravel_extents *out,
                                           ravel_error *err);

/* The logical shape of a tensor whose storage is an array of `rank` extents, outermost
 * first.  `shape` has room for `rank` extents.  RAVEL_ERR_ARGUMENT if it does not follow
 * from them, as for a layout with blocks, padding or a pitch.  Thread-safe. */
RAVEL_API ravel_status ravel_logical_shape(ravel_context *cx, const char *layout,
                                           const char *dtype, int rank,
                                           const int64_t *stored, int64_t *shape,
                                           ravel_error *err);

/* The text of a layout whose storage is an array that is not contiguous: `axes` strides in
 * elements, one for each entry of its order, as DLPack and NumPy have them.  `origin` is the
 * address of the first slot, in elements.  It is above 0 if a stride is negative, because src
 * and dst are the lowest addresses.  *text, as "NCHW@7(1000,49,7,-1)", is allocated by malloc, and
 * the caller frees it.
 * Addresses between the strides are holes.  Thread-safe. */
RAVEL_API ravel_status ravel_with_strides(ravel_context *cx, const char *layout, int axes,
                                          const int64_t *strides, int64_t origin,
                                          char **text, ravel_error *err);

/* The logical shape of a layout whose text has extents, as NHWC(8,56,56,64)[:, 1:3]: *rank
 * extents, RAVEL_RUNTIME for those that the text does not decide.  RAVEL_ERR_ARGUMENT if the text has
 * no extents.  Thread-safe. */
RAVEL_API ravel_status ravel_view_shape(ravel_context *cx, const char *layout, int *rank,
                                        int64_t shape[RAVEL_MAX_RANK], ravel_error *err);

/* A dtype for the other functions if the layout does not depend on the size of elements:
 * a static string.  RAVEL_ERR_ARGUMENT if it does.  Thread-safe. */
RAVEL_API ravel_status ravel_any_dtype(ravel_context *cx, const char *layout,
                                       const char **dtype, ravel_error *err);

/* The address of the element at x, counted in elements.  RAVEL_ERR_ARGUMENT if x is
 * outside the shape.  Thread-safe. */
RAVEL_API ravel_status ravel_index(ravel_context *cx, const char *layout,
                                   const char *dtype, int rank, const int64_t *shape,
                                   const int64_t *x, int64_t *address, ravel_error *err);

/* The coordinates x of the element at an address; *found is 0 and x is unchanged if the
 * address is padding or a hole.  RAVEL_ERR_ARGUMENT if it is outside the storage.
 * Thread-safe. */
RAVEL_API ravel_status ravel_element(ravel_context *cx, const char *layout,
                                     const char *dtype, int rank, const int64_t *shape,
                                     int64_t address, int64_t *x, int *found,
                                     ravel_error *err);

typedef enum { RAVEL_NO = 0, RAVEL_YES, RAVEL_UNKNOWN } ravel_answer;

/* Properties of a layout for one shape. */
typedef struct {
    ravel_answer one_to_one;       /* no two elements share an address */
    ravel_answer onto;             /* every address belongs to an element */
    int source, destination;       /* 1: it can be one */
    int64_t bytes, slots;          /* size of the storage; slots count elements */
    int64_t elements, padding, holes;   /* their sum is `slots`; 0 if not a destination */
    int collides;                  /* 1: the elements x and y are both at `address` */
    int64_t x[RAVEL_MAX_RANK], y[RAVEL_MAX_RANK], address;
    char why[512];                 /* why it is no destination, or "" */
} ravel_verdict;

/* Decide the properties of a layout.  An answer is RAVEL_UNKNOWN if the structure of the
 * layout does not decide it and it has too many elements to examine.  Thread-safe. */
RAVEL_API ravel_status ravel_check(ravel_context *cx, const char *layout,
                                   const char *dtype, int rank, const int64_t *shape,
                                   ravel_verdict *out, ravel_error *err);

/* Whether two layouts give every element the same address.  If the answer is no, the
 * element x of the shape is at at_a in a and at at_b in b. */
typedef struct {
    ravel_answer equal;
    int rank;
    int64_t shape[RAVEL_MAX_RANK], x[RAVEL_MAX_RANK], at_a, at_b;
} ravel_equality;

/* Decide it for a shape, in the order of the dims of a, or for every shape if `shape` is
 * NULL; then `rank` is not used.  Thread-safe. */
RAVEL_API ravel_status ravel_equal(ravel_context *cx, const char *a, const char *b,
                                   const char *dtype, int rank, const int64_t *shape,
                                   ravel_equality *out, ravel_error *err);

/* A picture of a layout as SVG: the address of each element of a plane, and the storage
 * with the element at each address.  *text is allocated by malloc, and the caller frees it.
 * Thread-safe. */
RAVEL_API ravel_status ravel_svg(ravel_context *cx, const char *layout,
                                 const char *dtype, int rank, const int64_t *shape,
                                 char **text, ravel_error *err);

#ifdef __cplusplus
}
#endif

#endif
