/* fence.h: buffers of a proof with a fence on both sides, which detects accesses out of
 * bounds: bytes that must not change, or inaccessible pages. */
#ifndef RAVEL_FENCE_H
#define RAVEL_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned char *p;     /* n bytes: the buffer */
    size_t n;
    unsigned char *room;  /* the whole pages that contain the buffer */
    size_t size;
    bool pages;           /* the pages before and after the room are inaccessible */
} Fence;

/* The position of the buffer in its room: it ends `shift` bytes before the end of the
 * room, or begins `shift` bytes after its start.  shift <= FENCE_SHIFT. */
typedef struct {
    enum { AGAINST_END, AGAINST_START } side;
    int shift;
} FencePlace;
enum { FENCE_SHIFT = 4096 };

/* The bytes that fence_new allocates for a buffer of n bytes. */
size_t fence_bytes(size_t n);
/* False: out of memory. */
bool fence_new(Fence *f, size_t n, bool pages);
void fence_free(Fence *f);
/* Move the buffer to this position; the other bytes of the room become the fence.  The
 * contents of the buffer are lost. */
void fence_place(Fence *f, FencePlace at);
/* Make the buffer read-only, or writable again; without pages nothing happens.  Returns
 * false and sets errno if the system refuses. */
bool fence_lock(Fence *f, bool locked);
/* Returns false if a byte of the fence has changed; *at is then its offset from the start
 * of the buffer. */
bool fence_stands(const Fence *f, int64_t *at);
/* Whether an address is in the buffer or in its fence; *byte is then its offset from the
 * start of the buffer. */
bool fence_near(const Fence *f, const void *at, int64_t *byte);

#endif
