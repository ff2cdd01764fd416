/* mock.h: failures that the environment asks for.
 *
 * RAVEL_MOCK_FAIL=cuInit:100,cuMemAlloc:2 has these calls return these codes. */
#ifndef RAVEL_MOCK_H
#define RAVEL_MOCK_H

#include <stdlib.h>
#include <string.h>

static inline int
mock_code(const char *call)
{
    const char *s = getenv("RAVEL_MOCK_FAIL");
    size_t n = strlen(call);
    for (; s; s = strchr(s, ',')) {
        s += *s == ',';
        if (!strncmp(s, call, n) && s[n] == ':')
            return atoi(s + n + 1);
    }
    return 0;
}

static inline int
mock_number(const char *name, int unless)
{
    const char *s = getenv(name);
    return s ? atoi(s) : unless;
}

#define FAIL(call) \
    do { \
        int code_ = mock_code(call); \
        if (code_) \
            return code_; \
    } while (0)

#endif
