#include "lock.h"

#include <pthread.h>

static pthread_mutex_t locks[] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
_Static_assert(sizeof locks / sizeof *locks == LOCK_COUNT, "one for each");
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
take_all(void)
{
    for (int i = 0; i < LOCK_COUNT; i++)
        pthread_mutex_lock(&locks[i]);
}

static void
give_all(void)
{
    for (int i = LOCK_COUNT; i--; )
        pthread_mutex_unlock(&locks[i]);
}

static void
prepare(void)
{
    pthread_atfork(take_all, give_all, give_all);
}

void
lock_take(Lock which)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&locks[which]);
}

void
lock_give(Lock which)
{
    pthread_mutex_unlock(&locks[which]);
}
