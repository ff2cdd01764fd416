/* What the kinds of devices share: the report of a failed compilation, the folder of kernels. */
#include "device.h"

#include <ctype.h>
#include <string.h>

ravel_status
device_log(ravel_error *err, const char *what, const char *log)
{
    static const char cut[] = " ...";
    const char *between = *log ? ":\n" : "";
    error_set(err, RAVEL_ERR_COMPILE, "%s%s%s", what, between, log);
    if (!err)
        return RAVEL_ERR_COMPILE;
    size_t n = strlen(err->text);
    if (n < strlen(what) + strlen(between) + strlen(log))
        memcpy(err->text + n - (sizeof cut - 1), cut, sizeof cut);
    else
        while (n > 0 && isspace((unsigned char)err->text[n - 1]))
            err->text[--n] = 0;
    return RAVEL_ERR_COMPILE;
}

char *
device_folder(ravel_device *d)
{
    pthread_mutex_lock(&d->lock);
    char *copy = d->folder ? strdup(d->folder) : NULL;
    pthread_mutex_unlock(&d->lock);
    return copy;
}
