/* fault_alloc.c: preloaded into a command, makes its allocations fail: the one at
 * FAULT_AT (FAULT_DO=one), or that and all after it (rest).  The log is 8 bytes each:
 * a hash of the innermost frames of the call stack, the same in every process. */
#define _GNU_SOURCE
#include "fault.h"

#include <errno.h>
#include <stdint.h>
#include <unwind.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);

enum { FRAMES = 12 };

typedef struct {
    uint64_t hash;
    int left;
} Stack;

static volatile long count;

static _Unwind_Reason_Code
mix(struct _Unwind_Context *frame, void *stack)
{
    Stack *s = stack;
    uint64_t at = _Unwind_GetIP(frame);
    Dl_info in;
    if (dladdr((void *)at, &in))
        at -= (uint64_t)in.dli_fbase;
    s->hash = (s->hash ^ at) * 1099511628211u;
    return --s->left ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static bool
refused(void)
{
    if (!counting)
        return false;
    long i = count++;
    if (fault_log >= 0) {
        Stack s = {14695981039346656037u, FRAMES};
        counting = false;
        _Unwind_Backtrace(mix, &s);
        counting = true;
        fault_say(&s.hash, sizeof s.hash);
    }
    if (fault_at < 0 || i < fault_at || (i > fault_at && !strcmp(fault_do, "one")))
        return false;
    errno = ENOMEM;
    return true;
}

void *
malloc(size_t n)
{
    return refused() ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
    return refused() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
    return refused() ? NULL : __libc_realloc(p, n);
}

void *
aligned_alloc(size_t align, size_t n)
{
    return refused() ? NULL : __libc_memalign(align, n);
}

int
posix_memalign(void **out, size_t align, size_t n)
{
    void *p = aligned_alloc(align, n);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}
