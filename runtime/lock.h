/* lock.h: the locks of a process.  They are held across every fork, so that the child never
 * finds one held by a thread that it does not have. */
#ifndef RAVEL_LOCK_H
#define RAVEL_LOCK_H

/* Whoever has one takes no other. */
typedef enum {
    LOCK_PLANS,           /* the caches of all contexts */
    LOCK_TCC,             /* libtcc, which keeps its state in globals */
    LOCK_COUNT
} Lock;

void lock_take(Lock which);
void lock_give(Lock which);

#endif
