#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <emmintrin.h>
#endif

/* Streamed lines are seen by other threads from here on. */
static void
ravel_fence(void)
{
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
    _mm_sfence();
#endif
}
