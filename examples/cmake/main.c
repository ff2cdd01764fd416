/* Two kernels that were made when this program was built, beside the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ravel.h>

#include "ravel_kernels.h"

enum { N = 2, C = 20, ELEMENTS = N * C * 5 * 7 };

/* The same conversion by the library; returns 0 if all went well. */
static int
by_library(void *dst, const void *src)
{
    const int64_t shape[] = {N, C, 5, 7};
    ravel_request rq = {.from = "NCHW", .to = "MINE", .dtype = "f16", .rank = 4,
                        .shape = shape};
    char text[4096];
    FILE *f = fopen(SPEC, "r");
    size_t len = f ? fread(text, 1, sizeof text, f) : 0;
    ravel_context *cx = NULL;
    ravel_plan *plan = NULL;
    ravel_error err;
    int bad = ravel_context_new(&cx, &err) || ravel_load(cx, text, len, SPEC, &err) ||
              ravel_compile(cx, &rq, &plan, &err);
    if (bad)
        fprintf(stderr, "%s\n", err.text);
    else
        bad = ravel_run(plan, dst, src);
    ravel_plan_free(plan);
    ravel_context_free(cx);
    if (f)
        fclose(f);
    return bad;
}

int
main(void)
{
    uint16_t src[ELEMENTS], back[ELEMENTS];
    int64_t src_bytes, dst_bytes;
    for (int i = 0; i < ELEMENTS; i++)
        src[i] = (uint16_t)i;
    if (to_mine_bytes(N, C, &src_bytes, &dst_bytes))
        return 1;
    void *dst = calloc(1, (size_t)dst_bytes), *other = calloc(1, (size_t)dst_bytes);
    if (!dst || !other || to_mine(dst, src, N, C) || by_library(other, src))
        return 1;
    from_mine(back, dst);
    int same = !memcmp(dst, other, (size_t)dst_bytes) && !memcmp(back, src, sizeof src);
    printf("MINE: %lld bytes, %s the library converts them\n", (long long)dst_bytes,
           same ? "as" : "not as");
    free(dst);
    free(other);
    return !same;
}
