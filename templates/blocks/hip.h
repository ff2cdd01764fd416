#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif
#define ravel_min(a, b) ((a) < (b) ? (a) : (b))
#define ravel_max(a, b) ((a) > (b) ? (a) : (b))
