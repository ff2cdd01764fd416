/* Launches, what waits for them, and memory. */
#include "mock_cuda.h"

typedef struct {
    Function *f;
    unsigned grid;
    void *dst, *stream;
    const void *src;
} Launch;

typedef struct {
    char *p;
    size_t n;
} Block;

static Launch pending[MANY];
static int npending;
static Block block[MANY];
static int nblocks;
static size_t used;
static int deferred;               /* what a kernel did wrong */

/* What the tests look at: of the last launch, */
unsigned long long mock_arrays[ARRAYS];
void *mock_function;
long long mock_values[VALUES];     /* ... that had a third argument */

static bool
on_device(const void *p)
{
    for (int i = 0; i < nblocks; i++)
        if ((const char *)p >= block[i].p && (const char *)p < block[i].p + block[i].n)
            return true;
    return false;
}

/* Of one stream; of all where it is NULL. */
static int
run_pending(void *stream)
{
    pthread_mutex_lock(&mock_lock);
    int left = 0;
    for (int i = 0; i < npending; i++) {
        Launch *l = &pending[i];
        if (stream && l->stream != stream) {
            pending[left++] = *l;
            continue;
        }
        if (l->f->module->alive != ALIVE || !on_device(l->dst) || !on_device(l->src)) {
            deferred = ILLEGAL_ADDRESS;
            continue;
        }
        for (unsigned b = 0; b < l->grid; b++)
            l->f->f(l->dst, l->src, b);
        mock_cuda.blocks += (int)l->grid;
    }
    npending = left;
    int code = deferred;
    pthread_mutex_unlock(&mock_lock);
    return code;
}

int
cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
               unsigned bz, unsigned shared, void *stream, void **args, void **extra)
{
    Function *x = f;
    ENTER_CONTEXT("cuLaunchKernel");
    if (deferred)
        return deferred;
    if (x->module->ctx != mock_stack[mock_depth - 1])
        return INVALID_HANDLE;
    bool batch = mock_number("RAVEL_MOCK_BATCH", 0);
    if (!gx || gx > INT32_MAX || !gy || gy > (batch ? PAIRS : 1) || gz != 1 || !bx ||
        by != 1 || bz != 1 || bx > MAX_THREADS || shared > MAX_SHARED || extra)
        return INVALID_VALUE;
    unsigned long long dst[PAIRS], src[PAIRS];     /* read now: the caller's are gone later */
    memcpy(dst, args[0], batch ? sizeof dst : sizeof *dst);
    memcpy(src, batch ? (char *)args[0] + sizeof dst : args[1], batch ? sizeof src : sizeof *src);
    int values = mock_number("RAVEL_MOCK_VALUES", 0), arrays = mock_number("RAVEL_MOCK_ARRAYS", 0);
    int last = batch ? 1 : 2 + arrays;
    for (int i = 0; i < arrays && i < ARRAYS; i++)
        memcpy(&mock_arrays[i], args[2 + i], sizeof *mock_arrays);
    if (values > VALUES || (values > 0) != (args[last] != NULL))
        return INVALID_VALUE;
    if (values)
        memcpy(mock_values, args[last], (size_t)values * sizeof *mock_values);
    pthread_mutex_lock(&mock_lock);
    bool room = npending + gy <= MANY;
    for (unsigned i = 0; room && i < gy; i++)
        pending[npending++] = (Launch){x, gx, (void *)(uintptr_t)dst[i], stream,
                                       (const void *)(uintptr_t)src[i]};
    mock_cuda.launches += room;
    mock_function = f;
    mock_cuda.stream = stream;
    mock_cuda.block = bx;
    mock_cuda.shared = shared;
    pthread_mutex_unlock(&mock_lock);
    return room ? 0 : OUT_OF_MEMORY;
}

int
cuCtxSynchronize(void)
{
    ENTER_CONTEXT("cuCtxSynchronize");
    return run_pending(NULL);
}

int
cuStreamSynchronize(void *stream)
{
    ENTER_CONTEXT("cuStreamSynchronize");
    return run_pending(stream);
}

int
cuMemAlloc_v2(unsigned long long *p, size_t n)
{
    ENTER_CONTEXT("cuMemAlloc");
    pthread_mutex_lock(&mock_lock);
    bool room = n && nblocks < MANY && n <= MEMORY - used;
    char *x = room ? malloc(n) : NULL;
    if (x) {
        block[nblocks++] = (Block){x, n};
        used += n;
    }
    pthread_mutex_unlock(&mock_lock);
    *p = (uintptr_t)x;
    return x ? 0 : n ? OUT_OF_MEMORY : INVALID_VALUE;
}

int
cuMemFree_v2(unsigned long long p)
{
    ENTER_CONTEXT("cuMemFree");
    run_pending(NULL);
    pthread_mutex_lock(&mock_lock);
    int i = 0;
    while (i < nblocks && (uintptr_t)block[i].p != p)
        i++;
    bool found = i < nblocks;
    if (found) {
        free(block[i].p);
        used -= block[i].n;
        block[i] = block[--nblocks];
    }
    pthread_mutex_unlock(&mock_lock);
    return found ? 0 : INVALID_VALUE;
}

/* Forget what was launched, what went wrong with it, and what could not be unloaded. */
void
mock_reset(void)
{
    npending = deferred = mock_cuda.modules = 0;
}

int
cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n)
{
    ENTER_CONTEXT("cuMemcpyHtoD");
    int code = run_pending(NULL);
    if (!code)
        memcpy((void *)(uintptr_t)to, from, n);
    return code;
}

int
cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n)
{
    ENTER_CONTEXT("cuMemcpyDtoH");
    int code = run_pending(NULL);
    if (!code)
        memcpy(to, (void *)(uintptr_t)from, n);
    return code;
}
