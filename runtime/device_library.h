/* device_library.h: a driver's library, opened when it is needed. */
#ifndef RAVEL_DEVICE_LIBRARY_H
#define RAVEL_DEVICE_LIBRARY_H

#include "error.h"

typedef struct {
    const char *what;              /* "the CUDA driver" */
    const char *variable;          /* of the environment: the one file to open instead */
    const char *const *file;       /* to try in turn; NULL ends them */
    const char *const *symbol;     /* NULL ends them */
} DeviceLibrary;

/* Fill `table`, a struct of nothing but function pointers, with the symbols in their
 * order.  The library stays open for good: drivers have threads.  RAVEL_ERR_LIBRARY,
 * RAVEL_ERR_SYMBOL.  Thread-safe. */
ravel_status device_library(const DeviceLibrary *l, void *table, ravel_error *err);

#endif
