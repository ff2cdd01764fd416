/* fence.h: buffers of a proof, with something on both sides that tells when code
 * leaves them: bytes that must stay as they are, or pages that cannot be touched. */
#ifndef RAVEL_FENCE_H
#define RAVEL_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned char *p;     /* n bytes: the buffer */
    size_t n;
    unsigned char *room;  /* whole pages that hold it */
    size_t size;
    bool pages;           /* the pages beside the room cannot be touched */
} Fence;

/* Where the buffer stands in its room: so many bytes before the page after it, or so many
 * after the page before it; at most FENCE_SHIFT. */
typedef struct {
    enum { AGAINST_END, AGAINST_START } side;
    int shift;
} FencePlace;
enum { FENCE_SHIFT = 4096 };

/* What fence_new allocates for n bytes. */
size_t fence_bytes(size_t n);
/* False: out of memory. */
bool fence_new(Fence *f, size_t n, bool pages);
void fence_free(Fence *f);
/* Put the buffer there; all that is beside it becomes the fence.  The buffer's own
 * bytes are not kept. */
void fence_place(Fence *f, FencePlace at);
/* Forbid, or allow again, writing to the buffer; without pages nothing happens.
 * False, and errno, where the system refuses. */
bool fence_lock(Fence *f, bool locked);
/* False when a byte beside the buffer has changed: *at is it, from the buffer's
 * start. */
bool fence_stands(const Fence *f, int64_t *at);
/* Whether an address is in the buffer or in its fence; *byte is it, from the buffer's
 * start. */
bool fence_near(const Fence *f, const void *at, int64_t *byte);

#endif
