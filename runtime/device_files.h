/* device_files.h: compiled kernels in files of a folder. */
#ifndef RAVEL_DEVICE_FILES_H
#define RAVEL_DEVICE_FILES_H

#include "device.h"

/* What code depends on.  `compiler` is a version; NULL accepts any. */
typedef struct {
    const char *source, *options, *target, *compiler;
} DeviceFileKey;

/* The code that the folder has for a key: malloc'ed, with a NUL after *len bytes.  NULL if
 * there is none, or the file is not what device_file_keep wrote. */
char *device_file_find(const char *folder, const DeviceFileKey *key, size_t *len);
/* Writes the code to a file of the folder, atomically.  A failure is ignored: then the next
 * process compiles again. */
void device_file_keep(const char *folder, const DeviceFileKey *key, const char *image,
                      size_t len);

#endif
