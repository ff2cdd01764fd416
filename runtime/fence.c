#define _GNU_SOURCE
#include "fence.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char MARK = 0x5a;

static size_t
page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The accessible bytes before and after the room, on each side. */
static size_t
margin(const Fence *f)
{
    return f->pages ? 0 : page();
}

size_t
fence_bytes(size_t n)
{
    return (n + FENCE_SHIFT + page() - 1) / page() * page() + 2 * page();
}

bool
fence_new(Fence *f, size_t n, bool pages)
{
    size_t size = fence_bytes(n) - 2 * page();
    *f = (Fence){.n = n, .size = size, .pages = pages};
    unsigned char *mem = mmap(NULL, fence_bytes(n), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mem == MAP_FAILED)
        return false;
    f->room = mem + page();
    if (pages && (mprotect(mem, page(), PROT_NONE) ||
                  mprotect(f->room + size, page(), PROT_NONE))) {
        fence_free(f);
        return false;
    }
    fence_place(f, (FencePlace){AGAINST_END, 0});
    return true;
}

void
fence_free(Fence *f)
{
    if (f->room)
        munmap(f->room - page(), fence_bytes(f->n));
    f->room = NULL;
}

void
fence_place(Fence *f, FencePlace at)
{
    unsigned char *last = f->room + f->size - f->n;
    f->p = at.side == AGAINST_END ? last - at.shift : f->room + at.shift;
    unsigned char *end = f->p + f->n;
    memset(f->room - margin(f), MARK, (size_t)(f->p - f->room) + margin(f));
    memset(end, MARK, (size_t)(f->room + f->size - end) + margin(f));
}

bool
fence_lock(Fence *f, bool locked)
{
    return !f->pages ||
           !mprotect(f->room, f->size, locked ? PROT_READ : PROT_READ | PROT_WRITE);
}

/* The first byte of [from, to) that is not MARK, or `to`. */
static const unsigned char *
changed(const unsigned char *from, const unsigned char *to)
{
    size_t n = (size_t)(to - from);
    if (n == 0 || (*from == MARK && !memcmp(from, from + 1, n - 1)))
        return to;
    while (*from == MARK)
        from++;
    return from;
}

bool
fence_stands(const Fence *f, int64_t *at)
{
    const unsigned char *end = f->p + f->n;
    const unsigned char *low = changed(f->room - margin(f), f->p);
    const unsigned char *high = changed(end, f->room + f->size + margin(f));
    *at = low < f->p ? low - f->p : high - f->p;
    return low == f->p && high == f->room + f->size + margin(f);
}

bool
fence_near(const Fence *f, const void *at, int64_t *byte)
{
    const unsigned char *p = at;
    *byte = 0;
    if (!f->room || (uintptr_t)p < (uintptr_t)(f->room - page()) ||
        (uintptr_t)p >= (uintptr_t)(f->room + f->size + page()))
        return false;
    *byte = p - f->p;
    return true;
}
