/* Converting inside a program:
 *     cc library.c -lravel && ./a.out
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ravel.h>

static const char spec[] =
    "layout 'TILES' { dims = { ..., H, W }, T = 4,\n"
    "  order = { ..., H // T, W // T, H % T, W % T }, fill = -1 }";

static int
fail(ravel_context *cx, const ravel_error *err)
{
    fprintf(stderr, "%s: %s\n", ravel_status_text(err->status), err->text);
    ravel_context_free(cx);
    return 1;
}

int
main(void)
{
    const int64_t shape[2] = {6, 6};
    ravel_context *cx = NULL;
    ravel_plan *plan = NULL;
    ravel_error err;
    ravel_request rq;
    if (ravel_context_new(&cx, &err) ||
        ravel_load(cx, spec, sizeof spec - 1, "example", &err))
        return fail(cx, &err);
    memset(&rq, 0, sizeof rq);             /* what is not set has its default */
    rq.from = "ROW_MAJOR";
    rq.to = "TILES{T=4}";
    rq.dtype = "i32";
    rq.rank = 2;
    rq.shape = shape;
    if (ravel_compile(cx, &rq, &plan, &err) || ravel_verify(plan, &err))
        return fail(cx, &err);
    int32_t *src = (int32_t *)malloc((size_t)ravel_plan_src_bytes(plan));
    int32_t *dst = (int32_t *)malloc((size_t)ravel_plan_dst_bytes(plan));
    if (!src || !dst)
        return 1;
    for (int i = 0; i < 36; i++)
        src[i] = i;
    ravel_run(plan, dst, src);
    for (int i = 0; i < 64; i++)
        printf("%3d%s", dst[i], i % 16 == 15 ? "\n" : "");
    free(src);
    free(dst);
    ravel_plan_free(plan);
    ravel_context_free(cx);
    return 0;
}
