#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif
