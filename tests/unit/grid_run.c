/* grid_run.c: kernels on a device.
 *
 *   grid_run KIND < jobs
 *
 * KIND is a number of ravel_device_kind.  A job is a line of
 * TEXT ENTRY GRID BLOCK SHARED SRC DST: files of the kernel's text and of the source's
 * bytes, and one that holds the destination before and gets it after.  Ends with 1 and
 * the library's sentence at the first that fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

typedef struct {
    char text[512], entry[128], src[512], dst[512];
    long long grid;
    int block, shared;
} Job;

/* The bytes of a file and a zero after them; malloc'ed. */
static char *
whole(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *s = NULL;
    *n = 0;
    for (size_t got = 1; f && got; *n += got) {
        s = realloc(s, *n + 65537);
        got = s ? fread(s + *n, 1, 65536, f) : 0;
    }
    if (!f || !s)
        exit(2);
    fclose(f);
    s[*n] = 0;
    return s;
}

static ravel_status
launch(ravel_device *d, ravel_device_kernel *k, void *mem[2], char *bytes[2],
       const size_t n[2], ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    for (int i = 0; i < 2 && !s; i++) {
        s = device_take(d, (int64_t)n[i], &mem[i], err);
        if (!s)
            s = device_write(d, mem[i], bytes[i], (int64_t)n[i], err);
    }
    if (!s)
        s = ravel_device_launch(k, NULL, mem[0], mem[1], err);
    if (!s)
        s = device_finish(d, err);
    return s ? s : device_read(d, bytes[0], mem[0], (int64_t)n[0], err);
}

static ravel_status
run(ravel_device *d, const Job *j, ravel_error *err)
{
    size_t length, n[2];
    char *text = whole(j->text, &length);
    char *bytes[2] = {whole(j->dst, &n[0]), whole(j->src, &n[1])};
    void *mem[2] = {NULL, NULL};
    ravel_device_kernel *k = NULL;
    ravel_device_source source = {text, j->entry, j->grid, j->block, j->shared, NULL};
    ravel_status s = ravel_device_compile(d, &source, &k, err);
    if (!s)
        s = launch(d, k, mem, bytes, n, err);
    for (int i = 0; i < 2; i++)
        device_give(d, mem[i]);
    ravel_device_kernel_free(k);
    FILE *f = s ? NULL : fopen(j->dst, "wb");
    if (f && (fwrite(bytes[0], 1, n[0], f) != n[0] || fclose(f)))
        exit(2);
    free(text);
    free(bytes[0]);
    free(bytes[1]);
    return s;
}

int
main(int argc, char **argv)
{
    ravel_error err = {0};
    ravel_device *d;
    Job j;
    int jobs = 0;
    if (argc != 2)
        return 2;
    ravel_status s = ravel_device_open((ravel_device_kind)atoi(argv[1]), 0, &d, &err);
    while (!s && scanf("%511s %127s %lld %d %d %511s %511s", j.text, j.entry, &j.grid,
                       &j.block, &j.shared, j.src, j.dst) == 7) {
        s = run(d, &j, &err);
        jobs += !s;
    }
    if (s)
        printf("%s: %s\n", jobs || s != RAVEL_ERR_LIBRARY ? j.text : "open", err.text);
    else
        ravel_device_free(d);
    printf("%d jobs\n", jobs);
    return s != RAVEL_OK;
}
