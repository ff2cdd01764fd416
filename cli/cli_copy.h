/* cli_copy.h: plain copies, with which the time of a conversion is compared. */
#ifndef RAVEL_CLI_COPY_H
#define RAVEL_CLI_COPY_H

#include <stddef.h>
#include <stdint.h>

/* memcpy, or a copy by non-temporal stores of whole cache lines. */
typedef enum { COPY_MEMCPY, COPY_STREAM } CopyKind;
/* NULL if this kind is available on this machine, else the reason. */
const char *copy_absent(CopyKind k);

/* A copier copies `bytes` bytes by `threads` threads, one of them the caller; each
 * copies a part.  The others wait between calls.  NULL if memory or threads are
 * lacking.  Only one thread may call a copier at a time. */
typedef struct Copier Copier;
Copier *copier_new(CopyKind k, void *dst, const void *src, size_t bytes, int threads);
void copier_free(Copier *c);
int64_t copier_time(void *copier, int64_t calls);        /* for Measured.time */

#endif
