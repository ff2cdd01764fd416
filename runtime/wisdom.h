/* wisdom.h: the results of tuning as text.  The first line has the version; each other
 * line is an entry with tabs between its fields.
 *
 * ravel wisdom 1 CPU  ISA  THREADS  DTYPE  SHAPE  FROM  TO
 * NEST:KERNEL:ORDER;NEST:KERNEL:ORDER...
 *
 * In SHAPE extents left to run time are letters, in order from a on: (a,64,b,c).
 * An entry has the kernel and loop order for some nests of one relayout.  Nests are
 * numbered from 1.  A kernel or order that is unknown or does not apply is ignored. */
#ifndef RAVEL_WISDOM_H
#define RAVEL_WISDOM_H

#include "../compiler/compile.h"

enum { WISDOM_BYTES_MAX = 16 << 20, WISDOM_PICKS_MAX = 16 };

typedef struct {
    const char *key;      /* the line without its last field */
    const Pick *pick;
    int n;
    int line;             /* line number in the text; 0: not from a text */
} Advice;

/* Sorted by key; keys are unique. */
typedef struct {
    const Advice *a;
    int n;
} Advices;

/* wisdom_text.c.  Errors are diag_fatal. */
Advices wisdom_read(Arena *a, const char *text, size_t len);
/* diag_fatal if the key could not be read back from a text. */
void wisdom_check_key(Arena *a, const char *key);
void wisdom_print(Buf *b, const Advice *a);
void wisdom_sort(Advice *a, int n);
/* The entry with this key, or NULL. */
const Advice *wisdom_among(Advices all, const char *key);
extern const char wisdom_head[];

#endif
