#define _GNU_SOURCE
#include "device_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *
try_open(const char *file)
{
    return dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* NULL, and why. */
static void *
open_first(const DeviceLibrary *l, const char **opened, ravel_error *err)
{
    const char *mine = secure_getenv(l->variable);
    const char *const only[] = {mine, NULL};
    const char *const *file = mine && *mine ? only : l->file;
    void *handle = NULL;
    for (; *file && !handle; file++) {
        handle = try_open(*file);
        *opened = *file;
    }
    if (!handle) {
        const char *why = dlerror();
        error_set(err, RAVEL_ERR_LIBRARY, "%s is not there: %s", l->what,
                  why ? why : *opened);
    }
    return handle;
}

ravel_status
device_library(const DeviceLibrary *l, void *table, ravel_error *err)
{
    const char *file = "";
    void *handle = open_first(l, &file, err);
    if (!handle)
        return RAVEL_ERR_LIBRARY;
    for (int i = 0; l->symbol[i]; i++) {
        void *f = dlsym(handle, l->symbol[i]);
        if (!f)
            return error_set(err, RAVEL_ERR_SYMBOL, "%s, %s, has no function %s", l->what,
                             file, l->symbol[i]);
        memcpy((char *)table + (size_t)i * sizeof f, &f, sizeof f);
    }
    return RAVEL_OK;
}
