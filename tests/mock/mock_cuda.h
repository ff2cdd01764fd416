/* mock_cuda.h: what the parts of the stand-in for CUDA's driver share, and what each call asks first. */
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

enum { ALIVE = 0x600DBEEF };

extern pthread_mutex_t mock_lock;
extern bool mock_started;
/* The contexts of a thread.  initial-exec: glibc ends a process that has no memory for the other
 * kind. */
extern _Thread_local __attribute__((tls_model("initial-exec"))) Ctx *mock_stack[STACK];
extern _Thread_local __attribute__((tls_model("initial-exec"))) int mock_depth;

enum { ARRAYS = 9 };
enum { PAIRS = 128 };              /* of a kernel that takes a batch */

/* What the tests look at. */
extern struct MockCuda {
    int modules, loads, launches, blocks, retained;
    void *stream;
    unsigned block, shared;
} mock_cuda;
extern int mock_capturing;         /* a stream is being captured: launches alone are allowed */

static inline bool
in_capture(const char *call)
{
    return !strcmp(call, "cuLaunchKernel") || !strcmp(call, "cuCtxPushCurrent") ||
           !strcmp(call, "cuCtxPopCurrent");
}

#define ENTER(call) \
    do { \
        if (!mock_started) \
            return NOT_INITIALIZED; \
        if (mock_capturing && !in_capture(call)) \
            return STREAM_CAPTURE_UNSUPPORTED; \
        FAIL(call); \
    } while (0)

#define ENTER_CONTEXT(call) \
    do { \
        ENTER(call); \
        if (mock_depth == 0) \
            return INVALID_CONTEXT; \
    } while (0)

#endif
