#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

struct ArenaBlock {
    ArenaBlock *next;
    size_t used, cap;
    _Alignas(16) unsigned char mem[];
};

/* An allocation of LARGE_BYTES or more has a block of its own.  A large block is zeroed by
 * the system: its use is counted as work, not its size. */
enum { BLOCK_BYTES = 16 * 1024, LARGE_BYTES = 4 * 1024 };
enum { WORK_BYTES = 64, WORK_MOST = 1 << 20 };

/* A new zeroed block with room for n bytes.  One of its own is inserted after the head,
 * which still has room. */
static ArenaBlock *
block_new(Arena *a, size_t n)
{
    bool own = n >= LARGE_BYTES;
    size_t cap = own ? n : BLOCK_BYTES;
    ArenaBlock *b = calloc(1, sizeof *b + cap);
    if (!b)
        diag_fatal(a->diag, DIAG_MEMORY, (Loc){0}, "no memory for %zu bytes", cap);
    ArenaBlock **at = own && a->head ? &a->head->next : &a->head;
    b->cap = cap;
    a->held += cap;
    b->next = *at;
    return *at = b;
}

/* Sizes are multiples of the alignment. */
static size_t
rounded(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

void *
arena_alloc(Arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        diag_fatal(a->diag, DIAG_MEMORY, (Loc){0}, "no memory for %zu bytes", bytes);
    size_t n = rounded(bytes);
    work_spend(a, 1 + (i64)((n < WORK_MOST ? n : WORK_MOST) / WORK_BYTES));
    ArenaBlock *b = a->head;
    if (!b || b->cap - b->used < n)
        b = block_new(a, n);
    void *p = b->mem + b->used;
    b->used += n;
    return p;
}

bool
arena_run(Arena *a, Diag *d, void (*f)(void *), void *arg)
{
    Diag *outer = a->diag;
    a->diag = d;
    bool ok = diag_run(d, f, arg);
    a->diag = outer;
    return ok;
}

void
arena_scratch(Arena *a, void (*f)(void *), void *arg)
{
    Diag d;
    ArenaBlock *own = a->head;
    const bool outermost = a->scratches++ == 0;
    if (outermost)
        a->kept = own;
    a->head = NULL;
    bool ok = arena_run(a, &d, f, arg);
    arena_free(a);
    a->head = outermost ? a->kept : own;
    a->scratches--;
    if (!ok)
        diag_fatal(a->diag, d.kind, (Loc){0}, "%s", d.text);
}

void *
arena_keep(Arena *a, const void *p, size_t n)
{
    Arena outer = *a;
    outer.head = a->kept;
    void *q = arena_copy(&outer, p, n);
    a->kept = outer.head;
    a->held = outer.held;
    a->work = outer.work;
    return q;
}

void *
arena_copy(Arena *a, const void *p, size_t bytes)
{
    void *q = arena_alloc(a, bytes);
    if (bytes)
        memcpy(q, p, bytes);
    return q;
}

/* The block that consists of the allocation p of n bytes; NULL: it shares its block. */
static ArenaBlock **
block_of(Arena *a, const void *p, size_t n)
{
    ArenaBlock **at = &a->head;
    while (*at && (*at)->mem != p)
        at = &(*at)->next;
    return *at && (*at)->cap == rounded(n) ? at : NULL;
}

void
arena_drop(Arena *a, const void *p, size_t n)
{
    ArenaBlock **at = n >= LARGE_BYTES ? block_of(a, p, n) : NULL, *b = a->head;
    if (!at && p && b && (const unsigned char *)p + rounded(n) == b->mem + b->used) {
        b->used -= rounded(n);
        memset(b->mem + b->used, 0, rounded(n));
    }
    if (!at)
        return;
    b = *at;
    *at = b->next;
    a->held -= b->cap;
    free(b);
}

/* Whether p is the last allocation of the first block, which has room for more of it. */
static bool
grows(const Arena *a, const void *p, size_t old, size_t bytes)
{
    const ArenaBlock *b = a->head;
    return p && b && (const unsigned char *)p + rounded(old) == b->mem + b->used &&
           bytes >= old && bytes < LARGE_BYTES && rounded(bytes) - rounded(old) <= b->cap - b->used;
}

void *
arena_resize(Arena *a, void *p, size_t old, size_t bytes)
{
    if (grows(a, p, old, bytes)) {
        work_spend(a, 1 + (i64)((rounded(bytes) - rounded(old)) / WORK_BYTES));
        a->head->used += rounded(bytes) - rounded(old);
        return p;
    }
    ArenaBlock **at = bytes && old >= LARGE_BYTES ? block_of(a, p, old) : NULL, *b;
    size_t kept = old < bytes ? old : bytes, n = rounded(bytes);
    if (!at) {
        void *q = arena_alloc(a, bytes);
        if (kept)
            memcpy(q, p, kept);
        return q;
    }
    if (bytes > SIZE_MAX / 2 || !(b = realloc(*at, sizeof *b + n)))
        diag_fatal(a->diag, DIAG_MEMORY, (Loc){0}, "no memory for %zu bytes", bytes);
    work_spend(a, 1 + (i64)((n - kept < WORK_MOST ? n - kept : WORK_MOST) / WORK_BYTES));
    memset(b->mem + kept, 0, n - kept);
    a->held += n - b->cap;
    b->used = b->cap = n;
    *at = b;
    return b->mem;
}

char *
arena_string(Arena *a, const char *s)
{
    return arena_copy(a, s, strlen(s) + 1);
}

char *
arena_printf(Arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    va_start(ap, fmt);
    vsnprintf(s, (size_t)(n < 0 ? 0 : n) + 1, fmt, ap);
    va_end(ap);
    return s;
}

void
arena_free(Arena *a)
{
    while (a->head) {
        ArenaBlock *b = a->head;
        a->head = b->next;
        a->held -= b->cap;
        free(b);
    }
}
