/* A small inference runtime.  Its convolution of 1 x 1 reads and writes channels in blocks
 * of 16; its callers have NCHW.  The layouts are converted by libravel, compiled at run
 * time, with the threads of the runtime and on tensors of DLPack. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <ravel_dlpack.h>

#include "pool.h"

enum { N = 2, IN = 40, OUT = 24, H = 64, W = 96, BLOCK = 16 };
static const char blocked[] = "{N, C//16, H, W, C%16}";

typedef struct {
    ravel_context *cx;
    Pool *pool;
    ravel_error err;
} Runtime;

/* A tensor of floats that the runtime owns, as the storage of a layout. */
typedef struct {
    DLTensor t;
    ravel_extents extent;
} Tensor;

static void
stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static Tensor *
tensor_new(Runtime *r, const char *layout, int c)
{
    int64_t shape[] = {N, c, H, W}, bytes;
    Tensor *t = malloc(sizeof *t);
    if (!t || ravel_storage_bytes(r->cx, layout, "f32", 4, shape, &bytes, &r->err))
        stop(r->err.text);
    void *data = calloc(1, (size_t)bytes);
    if (!data || ravel_dlpack_view(r->cx, layout, "f32", 4, shape, data, &t->extent, &t->t,
                                   &r->err))
        stop(r->err.text);
    return t;
}

static void
tensor_free(Tensor *t)
{
    free(t->t.data);
    free(t);
}

/* out[n][o / 16][h][w][o % 16], the sum over i of weight[o][i] * in[n][i / 16][h][w][i % 16]
 */
typedef struct {
    const float *in, *weight;
    float *out;
} Convolution;

static void
convolve_part(void *arg, int part, int parts)
{
    const Convolution *c = arg;
    const int in_blocks = (IN + BLOCK - 1) / BLOCK, out_blocks = (OUT + BLOCK - 1) / BLOCK;
    for (int at = N * H * part / parts; at < N * H * (part + 1) / parts; at++)
        for (int o = 0; o < OUT; o++)
            for (int w = 0; w < W; w++) {
                const int n = at / H, h = at % H;
                float sum = 0;
                for (int i = 0; i < IN; i++)
                    sum += c->weight[o * IN + i] *
                           c->in[(((n * in_blocks + i / BLOCK) * H + h) * W + w) * BLOCK + i % BLOCK];
                c->out[(((n * out_blocks + o / BLOCK) * H + h) * W + w) * BLOCK + o % BLOCK] = sum;
            }
}

/* y = the convolution of x; both are in NCHW. */
static void
run(Runtime *r, const Tensor *x, const float *weight, const Tensor *y)
{
    const int64_t in[] = {N, IN, H, W}, out[] = {N, OUT, H, W};
    Tensor *a = tensor_new(r, blocked, IN), *b = tensor_new(r, blocked, OUT);
    Convolution c = {a->t.data, weight, b->t.data};
    if (ravel_dlpack_convert(r->cx, &x->t, "NCHW", &a->t, blocked, 4, in, &r->err))
        stop(r->err.text);
    pool_for(r->pool, convolve_part, &c, N * H);
    if (ravel_dlpack_convert(r->cx, &b->t, blocked, &y->t, "NCHW", 4, out, &r->err))
        stop(r->err.text);
    tensor_free(a);
    tensor_free(b);
}

/* The largest difference from the sum in NCHW. */
static double
difference(const float *x, const float *weight, const float *y)
{
    double worst = 0;
    for (int n = 0; n < N; n++)
        for (int o = 0; o < OUT; o++)
            for (int at = 0; at < H * W; at++) {
                double sum = 0;
                for (int i = 0; i < IN; i++)
                    sum += (double)weight[o * IN + i] * x[(n * IN + i) * H * W + at];
                worst = fmax(worst, fabs(sum - y[(n * OUT + o) * H * W + at]));
            }
    return worst;
}

int
main(void)
{
    Runtime r = {.pool = pool_new(2)};
    if (!r.pool || ravel_context_new(&r.cx, &r.err) ||
        ravel_set_threads(r.cx, 2, pool_for, r.pool, &r.err))
        stop(r.err.text);
    Tensor *x = tensor_new(&r, "NCHW", IN), *y = tensor_new(&r, "NCHW", OUT);
    float *in = x->t.data, weight[OUT * IN];
    for (int i = 0; i < N * IN * H * W; i++)
        in[i] = (float)(i % 101) / 101;
    for (int i = 0; i < OUT * IN; i++)
        weight[i] = (float)(i % 7) - 3;
    run(&r, x, weight, y);
    int calls = pool_calls(r.pool);
    double worst = difference(in, weight, y->t.data);
    printf("storage of %d channels: %d axes; ", IN, x->t.ndim);
    printf("%s; the pool ran %s\n", worst < 1e-3 ? "the result is right" : "the result is wrong",
           calls == 3 ? "both conversions and the convolution" : "something else");
    ravel_context_free(r.cx);
    tensor_free(x);
    tensor_free(y);
    pool_free(r.pool);
    return worst >= 1e-3 || calls != 3;
}
