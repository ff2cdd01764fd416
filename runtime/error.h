/* error.h: how the library's parts report a failure. */
#ifndef RAVEL_ERROR_H
#define RAVEL_ERROR_H

#include "ravel.h"

/* Fill err, where it is not NULL, and return s. */
ravel_status error_set(ravel_error *err, ravel_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
