/* mock_opencl.c: the OpenCL loader with failures.  Every call goes on to libOpenCL.so.1,
 * unless RAVEL_MOCK_FAIL (mock.h) has a code for it. */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef void *P;

static P
real(const char *name)
{
    P lib = dlopen("libOpenCL.so.1", RTLD_NOW), f = lib ? dlsym(lib, name) : NULL;
    if (!f)
        abort();
    return f;
}

/* A call that returns its code. */
#define CALL(name, params, args) \
    int \
    name params \
    { \
        FAIL(#name); \
        P f = real(#name); \
        int (*go) params; \
        memcpy(&go, &f, sizeof f); \
        return go args; \
    }

/* A call that makes something; its code goes to the last parameter. */
#define MAKE(name, params, args) \
    P \
    name params \
    { \
        P f = real(#name); \
        P (*go) params; \
        memcpy(&go, &f, sizeof f); \
        *code = mock_code(#name); \
        return *code ? NULL : go args; \
    }

CALL(clGetPlatformIDs, (unsigned a, P b, P c), (a, b, c))
CALL(clGetDeviceIDs, (P a, uint64_t b, unsigned c, P d, P e), (a, b, c, d, e))
CALL(clGetDeviceInfo, (P a, unsigned b, size_t c, P d, P e), (a, b, c, d, e))
CALL(clRetainContext, (P a), (a))
CALL(clReleaseContext, (P a), (a))
CALL(clGetContextInfo, (P a, unsigned b, size_t c, P d, P e), (a, b, c, d, e))
CALL(clReleaseCommandQueue, (P a), (a))
CALL(clFinish, (P a), (a))
CALL(clBuildProgram, (P a, unsigned b, P c, P d, P e, P f_), (a, b, c, d, e, f_))
CALL(clGetProgramBuildInfo, (P a, P b, unsigned c, size_t d, P e, P f_),
     (a, b, c, d, e, f_))
CALL(clReleaseProgram, (P a), (a))
CALL(clReleaseKernel, (P a), (a))
CALL(clSetKernelArg, (P a, unsigned b, size_t c, P d), (a, b, c, d))
CALL(clEnqueueNDRangeKernel, (P a, P b, unsigned c, P d, P e, P f_, unsigned g, P h, P i),
     (a, b, c, d, e, f_, g, h, i))
CALL(clReleaseMemObject, (P a), (a))
CALL(clEnqueueWriteBuffer, (P a, P b, unsigned c, size_t d, size_t e, P f_, unsigned g,
                            P h, P i), (a, b, c, d, e, f_, g, h, i))
CALL(clEnqueueReadBuffer, (P a, P b, unsigned c, size_t d, size_t e, P f_, unsigned g,
                           P h, P i), (a, b, c, d, e, f_, g, h, i))
MAKE(clCreateContext, (P a, unsigned b, P c, P d, P e, int *code), (a, b, c, d, e, code))
MAKE(clCreateCommandQueue, (P a, P b, uint64_t c, int *code), (a, b, c, code))
MAKE(clCreateProgramWithSource, (P a, unsigned b, P c, P d, int *code),
     (a, b, c, d, code))
MAKE(clCreateKernel, (P a, P b, int *code), (a, b, code))
MAKE(clCreateBuffer, (P a, uint64_t b, size_t c, P d, int *code), (a, b, c, d, code))
