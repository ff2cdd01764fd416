#include <stdint.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
