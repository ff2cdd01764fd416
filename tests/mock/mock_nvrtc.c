/* mock_nvrtc.c: stands in for NVRTC.
 *
 * It knows the architectures RAVEL_MOCK_ARCHS (75,80,90).  What it compiles is "mock
 * sm_90" or "mock compute_90", a line an option, then the text; but not a text with
 * #error in it, of which it says so at length. */
#define _GNU_SOURCE
#include "mock.h"

#include <pthread.h>
#include <stdio.h>

typedef struct {
    char *source, *image, log[1 << 14];
} Program;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int mock_nvrtc_compiles, mock_nvrtc_programs;
int mock_compiles_left = -1;       /* then they fail; negative: none does */

static void
count(int *n, int by)
{
    pthread_mutex_lock(&lock);
    *n += by;
    pthread_mutex_unlock(&lock);
}

const char *
nvrtcGetErrorString(int code)
{
    switch (code) {
    case 1: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case 5: return "NVRTC_ERROR_INVALID_OPTION";
    case 6: return "NVRTC_ERROR_COMPILATION";
    default: return "NVRTC_ERROR unknown";
    }
}

int
nvrtcVersion(int *major, int *minor)
{
    FAIL("nvrtcVersion");
    *major = 12;
    *minor = 9 + mock_number("RAVEL_MOCK_NVRTC", 0);
    return 0;
}

static int
archs(int *out)
{
    const char *s = getenv("RAVEL_MOCK_ARCHS");
    int n = 0;
    for (s = s ? s : "75,80,90"; *s; s += strcspn(s, ","), s += *s == ',') {
        if (out)
            out[n] = atoi(s);
        n++;
    }
    return n;
}

int
nvrtcGetNumSupportedArchs(int *n)
{
    FAIL("nvrtcGetNumSupportedArchs");
    *n = archs(NULL);
    return 0;
}

int
nvrtcGetSupportedArchs(int *out)
{
    FAIL("nvrtcGetSupportedArchs");
    archs(out);
    return 0;
}

int
nvrtcCreateProgram(Program **p, const char *source, const char *name, int headers,
                   const char *const *header, const char *const *header_name)
{
    FAIL("nvrtcCreateProgram");
    (void)name;
    if (headers || header || header_name)
        return 3;
    *p = calloc(1, sizeof **p);
    if (!*p)
        return 1;
    (*p)->source = strdup(source);
    if (!(*p)->source) {
        free(*p);
        return 1;
    }
    count(&mock_nvrtc_programs, 1);
    return 0;
}

int
nvrtcDestroyProgram(Program **p)
{
    free((*p)->source);
    free((*p)->image);
    free(*p);
    *p = NULL;
    count(&mock_nvrtc_programs, -1);
    return 0;
}

int
nvrtcCompileProgram(Program *p, int n, const char *const *option)
{
    static const char arch[] = "--gpu-architecture=";
    size_t len;
    count(&mock_nvrtc_compiles, 1);
    if (mock_compiles_left >= 0 && mock_compiles_left-- == 0)
        return mock_compiles_left = 0, 6;
    if (n < 1 || strncmp(option[0], arch, sizeof arch - 1))
        return 5;
    if (strstr(p->source, "#error")) {
        for (int i = 0; i < 200; i++)
            sprintf(p->log + strlen(p->log), "ravel.cu(%d): error: the mock saw #error\n",
                    i);
        return 6;
    }
    FAIL("nvrtcCompileProgram");
    len = strlen(p->source) + 32;
    for (int i = 0; i < n; i++)
        len += strlen(option[i]) + 1;
    p->image = malloc(len);
    if (!p->image)
        return 1;
    sprintf(p->image, "mock %s\n", option[0] + sizeof arch - 1);
    for (int i = 1; i < n; i++)
        strcat(strcat(p->image, option[i]), "\n");
    strcat(p->image, p->source);
    return 0;
}

int
nvrtcGetProgramLogSize(Program *p, size_t *n)
{
    FAIL("nvrtcGetProgramLogSize");
    *n = strlen(p->log) + 1;
    return 0;
}

int
nvrtcGetProgramLog(Program *p, char *log)
{
    FAIL("nvrtcGetProgramLog");
    strcpy(log, p->log);
    return 0;
}

static int
size_of(const Program *p, const char *kind, size_t *n)
{
    *n = strlen(p->image) + 1;
    return strncmp(p->image, kind, strlen(kind)) ? 3 : 0;
}

int
nvrtcGetCUBINSize(Program *p, size_t *n)
{
    FAIL("nvrtcGetCUBINSize");
    return size_of(p, "mock sm_", n);
}

int
nvrtcGetCUBIN(Program *p, char *out)
{
    FAIL("nvrtcGetCUBIN");
    strcpy(out, p->image);
    return 0;
}

int
nvrtcGetPTXSize(Program *p, size_t *n)
{
    FAIL("nvrtcGetPTXSize");
    return size_of(p, "mock compute_", n);
}

int
nvrtcGetPTX(Program *p, char *out)
{
    FAIL("nvrtcGetPTX");
    strcpy(out, p->image);
    return 0;
}
