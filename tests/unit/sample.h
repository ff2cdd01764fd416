#include <stdlib.h>

/* One case in so many, where time is short; SAMPLE says it. */
static inline int
sample(void)
{
    const char *s = getenv("SAMPLE");
    return s && atoi(s) > 0 ? atoi(s) : 1;
}
