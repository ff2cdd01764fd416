#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
#include <emmintrin.h>
#endif

/* After this, other threads see the data of earlier non-temporal stores. */
static void
ravel_fence(void)
{
#if defined(__SSE2__) && !defined(RAVEL_PLAIN) && !defined(RAVEL_PORTABLE)
    _mm_sfence();
#endif
}
