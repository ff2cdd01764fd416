/* device_nvrtc.h: compile CUDA C++ by NVRTC.  Needs no device and no driver. */
#ifndef RAVEL_DEVICE_NVRTC_H
#define RAVEL_DEVICE_NVRTC_H

#include <stddef.h>

#include "error.h"

/* Compile for compute capability arch / 10 . arch % 10.  The result is a cubin, or, if
 * NVRTC does not know this architecture, PTX of the newest older one that it knows.
 * *image is malloc'ed; *len bytes and a NUL that *len does not count.  Errors:
 * RAVEL_ERR_LIBRARY, _SYMBOL, _COMPILE, _MEMORY, _DRIVER. */
ravel_status nvrtc_build(const char *source, const char *options, int arch, char **image,
                         size_t *len, ravel_error *err);

/* NVRTC's version, and the oldest and newest architecture that it knows. */
typedef struct {
    int major, minor, oldest, newest;
} NvrtcAbout;
ravel_status nvrtc_about(NvrtcAbout *out, ravel_error *err);

#endif
