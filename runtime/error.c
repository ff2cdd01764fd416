#include <stdarg.h>
#include <stdio.h>

#include "library.h"

static const char *const texts[] = {
    [RAVEL_OK] = "done",
    [RAVEL_ERR_ARGUMENT] = "wrong argument",
    [RAVEL_ERR_SPEC] = "wrong layout text",
    [RAVEL_ERR_LAYOUT] = "the layout does not suit the shape or the element type",
    [RAVEL_ERR_MEMORY] = "out of memory",
    [RAVEL_ERR_JIT] = "no machine code could be made",
    [RAVEL_ERR_FILE] = "a file could not be read or written",
    [RAVEL_ERR_VERIFY] = "the result is not what the layouts say",
    [RAVEL_ERR_LIBRARY] = "a library of the device's is not there",
    [RAVEL_ERR_SYMBOL] = "a library of the device's lacks a function",
    [RAVEL_ERR_DEVICE] = "there is no such device",
    [RAVEL_ERR_COMPILE] = "the kernel does not compile for the device",
    [RAVEL_ERR_LAUNCH] = "the launch was refused",
    [RAVEL_ERR_DRIVER] = "the device's driver failed",
    [RAVEL_ERR_LIMIT] = "it takes more work than the limit allows",
};

const char *
ravel_status_text(ravel_status s)
{
    return (unsigned)s < sizeof texts / sizeof *texts ? texts[s] : "unknown status";
}

ravel_status
error_set(ravel_error *err, ravel_status s, const char *fmt, ...)
{
    va_list ap;
    if (!err)
        return s;
    err->status = s;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return s;
}

ravel_status
error_of(ravel_error *err, const Diag *d)
{
    static const ravel_status status[] = {
        [DIAG_ARGUMENT] = RAVEL_ERR_ARGUMENT, [DIAG_SPEC] = RAVEL_ERR_SPEC,
        [DIAG_LAYOUT] = RAVEL_ERR_LAYOUT, [DIAG_MEMORY] = RAVEL_ERR_MEMORY,
        [DIAG_LIMIT] = RAVEL_ERR_LIMIT};
    return error_set(err, status[d->kind], "%s", d->text);
}
