/* wisdom.h: what tuning found, as text: a first line that says the version, then a line
 * an entry, fields with tabs between.
 *
 *      ravel wisdom 1
 *      CPU  ISA  THREADS  DTYPE  SHAPE  FROM  TO  NEST:KERNEL:ORDER;NEST:KERNEL:ORDER...
 *
 * An entry says of one relayout which kernel and order a nest of its plan, numbered from
 * 1 on, is to have.  What is unknown here, or does not apply, is passed over. */
#ifndef RAVEL_WISDOM_H
#define RAVEL_WISDOM_H

#include "../compiler/plan/plan.h"

enum { WISDOM_BYTES_MAX = 16 << 20, WISDOM_PICKS_MAX = 16 };

typedef struct {
    const char *key;      /* the line up to its picks */
    const Pick *pick;
    int n;
    int line;             /* of the text; 0: from none */
} Advice;

/* Sorted by their keys, each of which is there once. */
typedef struct {
    const Advice *a;
    int n;
} Advices;

/* wisdom_text.c.  Both end in diag_fatal. */
Advices wisdom_read(Arena *a, const char *text, size_t len);
/* Refuse a key that could not be read back. */
void wisdom_check_key(Arena *a, const char *key);
void wisdom_print(Buf *b, const Advice *a);
void wisdom_sort(Advice *a, int n);
/* NULL: there is none. */
const Advice *wisdom_among(Advices all, const char *key);
extern const char wisdom_head[];

#endif
