/* cli_copy.h: what a conversion is held against, the plain ways to move bytes. */
#ifndef RAVEL_CLI_COPY_H
#define RAVEL_CLI_COPY_H

#include <stddef.h>
#include <stdint.h>

/* void copy(dst, src, bytes) through the caches, or around them with non-temporal
 * stores of whole lines. */
typedef enum { COPY_MEMCPY, COPY_STREAM } CopyKind;
/* NULL: it can be used here; else why not. */
const char *copy_absent(CopyKind k);

/* Copies of `bytes` bytes by so many threads, a part each, the caller one of them; the
 * others wait between calls.  NULL: no memory or no thread.  One caller at a time. */
typedef struct Copier Copier;
Copier *copier_new(CopyKind k, void *dst, const void *src, size_t bytes, int threads);
void copier_free(Copier *c);
int64_t copier_time(void *copier, int64_t calls);        /* a Measured's time */

#endif
