/* Modules and functions. */
#define _GNU_SOURCE
#include "mock_cuda.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>

/* Never used again, so that a use of what is gone is seen. */
static Module module[MANY];
static Function function[MANY];
static int nmodules, nfunctions;

/* What the tests look at: the image that was loaded last. */
char mock_image[1 << 20];
size_t mock_image_bytes;

/* Whether the image is for this device, or text that can still be compiled for it. */
static int
image_code(const char *image)
{
    const Elf64_Ehdr *e = (const void *)image;
    int arch = mock_number("RAVEL_MOCK_ARCH", 90), of;
    if (!memcmp(image, ELFMAG, SELFMAG)) {
        size_t a = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
        size_t b = e->e_phoff + (size_t)e->e_phnum * e->e_phentsize;
        mock_image_bytes = a > b ? a : b;
        return e->e_machine == EM_OF_CUDA ? 0 : INVALID_IMAGE;
    }
    mock_image_bytes = strlen(image);
    if (sscanf(image, "mock sm_%d", &of) == 1)
        return of == arch ? 0 : NO_BINARY;
    if (sscanf(image, "mock compute_%d", &of) == 1)
        return of <= arch ? 0 : NO_BINARY;
    return strstr(image, ".version") ? 0 : INVALID_IMAGE;
}

int
cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *option, void **value)
{
    pthread_mutex_lock(&mock_lock);
    int wrong = image_code(image);
    if (mock_image_bytes > sizeof mock_image)
        mock_image_bytes = 0;
    memcpy(mock_image, image, mock_image_bytes);
    pthread_mutex_unlock(&mock_lock);
    if (n != 2 || option[0] != 5 || option[1] != 6 || (uintptr_t)value[1] < 100)
        return INVALID_VALUE;
    if (mock_code("cuModuleLoadDataEx") || wrong)
        strcpy(value[0], "the mock says: not for this device");
    ENTER_CONTEXT("cuModuleLoadDataEx");
    if (wrong)
        return wrong;
    pthread_mutex_lock(&mock_lock);
    Module *x = nmodules < MANY ? &module[nmodules++] : NULL;
    pthread_mutex_unlock(&mock_lock);
    if (!x)
        return OUT_OF_MEMORY;
    x->alive = ALIVE;
    x->ctx = mock_stack[mock_depth - 1];
    *m = x;
    pthread_mutex_lock(&mock_lock);
    mock_cuda.modules++;
    mock_cuda.loads++;
    pthread_mutex_unlock(&mock_lock);
    return 0;
}

int
cuModuleUnload(void *m)
{
    Module *x = m;
    ENTER_CONTEXT("cuModuleUnload");
    if (x->alive != ALIVE || x->ctx != mock_stack[mock_depth - 1])
        return INVALID_HANDLE;
    x->alive = 0;
    pthread_mutex_lock(&mock_lock);
    mock_cuda.modules--;
    pthread_mutex_unlock(&mock_lock);
    return 0;
}

int
cuModuleGetFunction(void **f, void *m, const char *name)
{
    Module *x = m;
    ENTER_CONTEXT("cuModuleGetFunction");
    if (x->alive != ALIVE)
        return INVALID_HANDLE;
    const char *file = getenv("RAVEL_MOCK_KERNELS");
    void *lib = file ? dlopen(file, RTLD_NOW) : NULL, *k = lib ? dlsym(lib, name) : NULL;
    if (!k)
        return NOT_FOUND;
    pthread_mutex_lock(&mock_lock);
    Function *out = nfunctions < MANY ? &function[nfunctions++] : NULL;
    pthread_mutex_unlock(&mock_lock);
    if (!out)
        return OUT_OF_MEMORY;
    out->module = m;
    memcpy(&out->f, &k, sizeof k);
    *f = out;
    return 0;
}
