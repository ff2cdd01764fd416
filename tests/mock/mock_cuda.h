/* mock_cuda.h: the state of the driver that mock_cuda.c stands in for, and what each call asks of it first. */
#ifndef RAVEL_MOCK_CUDA_H
#define RAVEL_MOCK_CUDA_H

#include "mock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100,
    INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, NO_BINARY = 209,
    INVALID_HANDLE = 400, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700,
    STREAM_CAPTURE_UNSUPPORTED = 900, VALUES = 64,
    MAX_THREADS = 1024, MAX_SHARED = 48 << 10, MEMORY = 64 << 20, STACK = 8,
    MANY = 1 << 14, EM_OF_CUDA = 190,
};

typedef struct {
    int device;
} Ctx;

typedef struct {
    int alive;                     /* a magic number */
    Ctx *ctx;
} Module;

typedef void Kernel(void *dst, const void *src, uint32_t block);

typedef struct {
    Module *module;
    Kernel *f;
} Function;

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

enum { ALIVE = 0x600DBEEF };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool started;
static Ctx primary[16];
static int retained[16];
/* Never used again, so that a use of what is gone is seen. */
static Module module[MANY];
static Function function[MANY];
static int nmodules, nfunctions;
static Launch pending[MANY];
static int npending;
static Block block[MANY];
static int nblocks;
static size_t used;
static int deferred;               /* what a kernel did wrong */
/* initial-exec: glibc ends a process that has no memory for the other kind */
static _Thread_local __attribute__((tls_model("initial-exec"))) Ctx *stack[STACK];
static _Thread_local __attribute__((tls_model("initial-exec"))) int depth;

enum { ARRAYS = 9 };
enum { PAIRS = 128 };              /* of a kernel that takes a batch */

/* What the tests look at. */
struct {
    int modules, loads, launches, blocks, retained;
    void *stream;
    unsigned block, shared;
} mock_cuda;

char mock_image[1 << 20];          /* the last one that was loaded */
size_t mock_image_bytes;

int mock_capturing;                /* a stream is being captured: launches alone are allowed */
unsigned long long mock_arrays[ARRAYS];        /* of the last launch */
long long mock_values[VALUES];     /* of the last launch with a third argument */
void *mock_function;               /* of the last launch */

static bool
in_capture(const char *call)
{
    return !strcmp(call, "cuLaunchKernel") || !strcmp(call, "cuCtxPushCurrent") ||
           !strcmp(call, "cuCtxPopCurrent");
}

#define ENTER(call) \
    do { \
        if (!started) \
            return NOT_INITIALIZED; \
        if (mock_capturing && !in_capture(call)) \
            return STREAM_CAPTURE_UNSUPPORTED; \
        FAIL(call); \
    } while (0)

#define ENTER_CONTEXT(call) \
    do { \
        ENTER(call); \
        if (depth == 0) \
            return INVALID_CONTEXT; \
    } while (0)

#endif
