/* device_library.h: a driver library, opened when it is first needed. */
#ifndef RAVEL_DEVICE_LIBRARY_H
#define RAVEL_DEVICE_LIBRARY_H

#include "error.h"

typedef struct {
    const char *what;              /* "the CUDA driver" */
    const char *variable;          /* environment variable: the file to open instead */
    const char *const *file;       /* names to try in this order; ends with NULL */
    const char *const *symbol;     /* functions; ends with NULL */
} DeviceLibrary;

/* Open the library and fill `table`, a struct of function pointers, with the symbols in
 * their order.  The library is never closed, because drivers have threads.
 * Errors: RAVEL_ERR_LIBRARY, RAVEL_ERR_SYMBOL.  Thread-safe. */
ravel_status device_library(const DeviceLibrary *l, void *table, ravel_error *err);

#endif
