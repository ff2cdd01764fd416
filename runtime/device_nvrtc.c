/* NVRTC by dlopen.  Prototypes and codes: "NVRTC" of NVIDIA's CUDA documentation,
 * docs.nvidia.com/cuda/nvrtc; all of them are there since 11.2. */
#include "device_nvrtc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "device_library.h"

typedef void *Program;

typedef struct {
#define F(name, params) int (*name) params;
#include "device_nvrtc.def"
#undef F
    const char *(*nvrtcGetErrorString)(int code);
} Nvrtc;

static const char *const symbols[] = {
#define F(name, params) #name,
#include "device_nvrtc.def"
#undef F
    "nvrtcGetErrorString", NULL,
};
_Static_assert(sizeof(Nvrtc) == sizeof symbols - sizeof *symbols, "a symbol a function");

static const char *const files[] = {
    "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", NULL,
};

static const DeviceLibrary library = {
    "the compiler NVRTC", "RAVEL_NVRTC_LIBRARY", files, symbols,
};

enum { ERROR_OUT_OF_MEMORY = 1, ARCHS_MAX = 256, OPTIONS_MAX = 64 };

static ravel_status
says(const Nvrtc *v, const char *call, int code, ravel_error *err)
{
    const char *name = v->nvrtcGetErrorString(code);
    return error_set(err, code == ERROR_OUT_OF_MEMORY ? RAVEL_ERR_MEMORY
                     : RAVEL_ERR_DRIVER, "%s: %s (%d)", call, name ? name : "?", code);
}

/* The architectures that NVRTC knows; *n is their number. */
static ravel_status
known(const Nvrtc *v, int arch[ARCHS_MAX], int *n, ravel_error *err)
{
    int code = v->nvrtcGetNumSupportedArchs(n);
    if (code)
        return says(v, "nvrtcGetNumSupportedArchs", code, err);
    if (*n < 1 || *n > ARCHS_MAX)
        return error_set(err, RAVEL_ERR_DRIVER, "nvrtcGetNumSupportedArchs: %d of them",
                         *n);
    code = v->nvrtcGetSupportedArchs(arch);
    return code ? says(v, "nvrtcGetSupportedArchs", code, err) : RAVEL_OK;
}

/* The newest architecture that is not newer than `most`; 0: none. */
static int
newest(const int *arch, int n, int most)
{
    int best = 0;
    for (int i = 0; i < n; i++)
        if (arch[i] <= most && arch[i] > best)
            best = arch[i];
    return best;
}

static int
oldest(const int *arch, int n)
{
    int best = arch[0];
    for (int i = 1; i < n; i++)
        best = arch[i] < best ? arch[i] : best;
    return best;
}

/* Split text at blanks and append the parts to the n options in option[]; -1: too many.
 * */
static int
split(char *text, const char **option, int n)
{
    for (char *rest, *s = strtok_r(text, " \t\n", &rest); s;
         s = strtok_r(NULL, " \t\n", &rest)) {
        if (n == OPTIONS_MAX)
            return -1;
        option[n++] = s;
    }
    return n;
}

/* The log of the compiler, malloc'ed; NULL if it is not available. */
static char *
log_of(const Nvrtc *v, Program p)
{
    size_t n = 0;
    if (v->nvrtcGetProgramLogSize(p, &n) || n == 0)
        return NULL;
    char *log = calloc(1, n + 1);
    if (log && v->nvrtcGetProgramLog(p, log)) {
        free(log);
        return NULL;
    }
    return log;
}

static ravel_status
compile(const Nvrtc *v, Program p, int n, const char *const *option, ravel_error *err)
{
    char what[96];
    int code = v->nvrtcCompileProgram(p, n, option);
    if (!code)
        return RAVEL_OK;
    if (code == ERROR_OUT_OF_MEMORY)
        return says(v, "nvrtcCompileProgram", code, err);
    const char *name = v->nvrtcGetErrorString(code);
    snprintf(what, sizeof what, "NVRTC does not compile the kernel: %s (%d)",
             name ? name : "?", code);
    char *log = log_of(v, p);
    ravel_status s = device_log(err, what, log ? log : "");
    free(log);
    return s;
}

static ravel_status
fetch(const Nvrtc *v, Program p, bool cubin, char **image, size_t *len, ravel_error *err)
{
    int code = (cubin ? v->nvrtcGetCUBINSize : v->nvrtcGetPTXSize)(p, len);
    if (code)
        return says(v, cubin ? "nvrtcGetCUBINSize" : "nvrtcGetPTXSize", code, err);
    *image = calloc(1, *len + 1);
    if (!*image)
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for a kernel's code");
    code = (cubin ? v->nvrtcGetCUBIN : v->nvrtcGetPTX)(p, *image);
    if (!code)
        return RAVEL_OK;
    free(*image);
    *image = NULL;
    return says(v, cubin ? "nvrtcGetCUBIN" : "nvrtcGetPTX", code, err);
}

/* target: "sm_90", or "compute_89" */
static ravel_status
build(const Nvrtc *v, const char *source, char *options, const char *target,
      char **image, size_t *len, ravel_error *err)
{
    Program p = NULL;
    char arch[64];
    const char *option[OPTIONS_MAX] = {arch};
    snprintf(arch, sizeof arch, "--gpu-architecture=%s", target);
    int n = split(options, option, 1);
    if (n < 0)
        return error_set(err, RAVEL_ERR_COMPILE, "more than %d options", OPTIONS_MAX - 1);
    int code = v->nvrtcCreateProgram(&p, source, "ravel.cu", 0, NULL, NULL);
    if (code)
        return says(v, "nvrtcCreateProgram", code, err);
    ravel_status s = compile(v, p, n, option, err);
    if (!s)
        s = fetch(v, p, target[0] == 's', image, len, err);
    v->nvrtcDestroyProgram(&p);
    return s;
}

ravel_status
nvrtc_build(const char *source, const char *options, int arch, char **image, size_t *len,
            ravel_error *err)
{
    Nvrtc v;
    int has[ARCHS_MAX], n;
    char target[32];
    ravel_status s = device_library(&library, &v, err);
    if (!s)
        s = known(&v, has, &n, err);
    if (s)
        return s;
    int best = newest(has, n, arch);
    if (!best)
        return error_set(err, RAVEL_ERR_COMPILE, "NVRTC compiles for sm_%d and newer; "
                         "the device is sm_%d", oldest(has, n), arch);
    snprintf(target, sizeof target, "%s%d", best == arch ? "sm_" : "compute_", best);
    char *copy = strdup(options);
    if (!copy)
        return error_set(err, RAVEL_ERR_MEMORY, "no memory for a kernel's options");
    s = build(&v, source, copy, target, image, len, err);
    free(copy);
    return s;
}

ravel_status
nvrtc_about(NvrtcAbout *out, ravel_error *err)
{
    Nvrtc v;
    int has[ARCHS_MAX], n;
    ravel_status s = device_library(&library, &v, err);
    if (!s)
        s = known(&v, has, &n, err);
    if (s)
        return s;
    int code = v.nvrtcVersion(&out->major, &out->minor);
    if (code)
        return says(&v, "nvrtcVersion", code, err);
    out->oldest = oldest(has, n);
    out->newest = newest(has, n, 9999);
    return RAVEL_OK;
}
