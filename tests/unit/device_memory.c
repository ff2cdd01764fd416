/* device_memory.c: the memory of a device, there and back through a kernel.
 *
 *   device_memory KIND SOURCE ENTRY
 *
 * KIND is a number of ravel_device_kind; ENTRY copies 5000 bytes.  Says "ok", or the
 * status as a number and its sentence; 1 where an answer is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

enum { N = 5000 };

static unsigned char there[N], again[N];

static ravel_status
copy_on(ravel_device *d, ravel_device_kernel *k, void *mem[2], ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    for (int i = 0; i < 2 && !s; i++)
        s = device_take(d, N, &mem[i], err);
    if (!s)
        s = device_write(d, mem[1], there, N, err);
    if (!s)
        s = ravel_device_launch(k, NULL, mem[0], mem[1], err);
    if (!s)
        s = device_finish(d, err);
    if (!s)
        s = device_read(d, again, mem[0], N, err);
    return s;
}

static ravel_status
there_and_back(ravel_device *d, ravel_device_kernel *k, ravel_error *err)
{
    void *mem[2] = {NULL, NULL};
    ravel_status s = copy_on(d, k, mem, err);
    for (int i = 0; i < 2; i++)
        device_give(d, mem[i]);
    return s;
}

static bool
too_much_is_refused(ravel_device *d)
{
    void *p = there, *q = there;
    return device_take(d, -1, &p, NULL) == RAVEL_ERR_MEMORY && !p &&
           device_take(d, INT64_MAX, &q, NULL) == RAVEL_ERR_MEMORY && !q &&
           device_write(d, NULL, NULL, -1, NULL) == RAVEL_ERR_MEMORY &&
           device_read(d, NULL, NULL, 0, NULL) == RAVEL_OK;
}

int main(int argc, char **argv)
{
    ravel_error err = {0};
    ravel_device *d;
    ravel_device_kernel *k = NULL;
    if (argc != 4)
        return 2;
    for (int i = 0; i < N; i++)
        there[i] = (unsigned char)(i * 7 + 1);
    ravel_device_source source = {argv[2], argv[3], (N + 63) / 64, 64, 0, NULL};
    ravel_status s = ravel_device_open((ravel_device_kind)atoi(argv[1]), 0, &d, &err);
    if (!s)
        s = ravel_device_compile(d, &source, &k, &err);
    if (!s)
        s = there_and_back(d, k, &err);
    bool right = s || (!memcmp(there, again, N) && too_much_is_refused(d));
    ravel_device_kernel_free(k);
    ravel_device_free(d);
    if (s)
        printf("%d %s\n", (int)s, err.text);
    else
        puts(right ? "ok" : "wrong");
    return !right || (s && (err.status != s || !err.text[0]));
}
