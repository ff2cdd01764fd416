/* device_nvrtc.h: CUDA C++ to code, by NVRTC.  Needs no device and no driver. */
#ifndef RAVEL_DEVICE_NVRTC_H
#define RAVEL_DEVICE_NVRTC_H

#include <stddef.h>

#include "error.h"

/* Compile for compute capability arch / 10 . arch % 10: a cubin, or, where NVRTC does not
 * know it, PTX of the newest one below that it knows.  *image is malloc'ed, *len bytes
 * with a NUL behind them.  RAVEL_ERR_LIBRARY, _SYMBOL, _COMPILE, _MEMORY, _DRIVER. */
ravel_status nvrtc_build(const char *source, const char *options, int arch, char **image,
                         size_t *len, ravel_error *err);

/* Its version, and the architectures from the oldest to the newest that it knows. */
typedef struct {
    int major, minor, oldest, newest;
} NvrtcAbout;
ravel_status nvrtc_about(NvrtcAbout *out, ravel_error *err);

#endif
