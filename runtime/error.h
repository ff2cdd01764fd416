/* error.h: how the files of the library report a failure. */
#ifndef RAVEL_ERROR_H
#define RAVEL_ERROR_H

#include "ravel.h"

/* Write the status and the message to err, unless it is NULL; return s. */
ravel_status error_set(ravel_error *err, ravel_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
