/* Plans that convert a buffer within itself: passes over its blocks and over its items
 * (plan_in_place.c). */
#include <stdlib.h>
#include <string.h>

#include "library.h"

#include "../templates/c/line_size.h"
#include "../templates/c/move.h"
#include "../templates/c/prefetch.h"
#include "../templates/c/cycles.c"
#include "../templates/c/matrix.c"

void
in_place_say(void *arg)
{
    ravel_plan *p = arg;
    Buf b = buf_new(&p->arena);
    const InPlace *how = p->in_place->how;
    buf_add(&b, how->n ? "in place: " : "in place: nothing moves");
    for (int i = 0; i < how->n; i++) {
        const InPlacePass *w = &how->pass[i];
        const char *comma = i ? ", " : "";
        if (w->kind == PASS_BLOCKS)
            buf_printf(&b, "%s%lld block%s of %lld bytes", comma, (long long)w->n,
                       w->n == 1 ? "" : "s", (long long)w->bytes);
        else
            buf_printf(&b, "%s%s of %lld items of %lld bytes", comma,
                       w->kind == PASS_MATRIX ? "rows and columns" : "cycles",
                       (long long)(w->n * (w->bytes / w->item)), (long long)w->item);
    }
    p->way = b.s;
}

/* A pass, which threads share. */
typedef struct {
    const InPlacePass *pass;
    const ravel_plan *block;
    unsigned char *buffer, *scratch;
    i64 each;                      /* bytes of scratch for each thread */
} SharedPass;

static void
convert_blocks(const SharedPass *a, unsigned char *scratch, i64 from, i64 to)
{
    const i64 bytes = a->pass->bytes;
    for (i64 i = from; i < to; i++) {
        unsigned char *at = a->buffer + i * bytes;
        scratch[bytes - 1] = at[bytes - 1];       /* bits after the last element stay */
        plan_share(a->block, a->block->steps, a->block->extent, 1, scratch, at);
        memcpy(at, scratch, (size_t)bytes);
    }
}

/* In the parts of the buffer, the bytes of each item from `first` on. */
static void
permute(const SharedPass *a, unsigned char *scratch, i64 from, i64 to, i64 first, i64 size)
{
    const InPlacePass *w = a->pass;
    for (i64 i = from; i < to; i++)
        ravel_cycles(a->buffer + i * w->bytes + first, scratch, w->bytes / w->item, w->item, size,
                     w->digits, w->extent, w->stride);
}

static void
transpose(const SharedPass *a, unsigned char *scratch, i64 from, i64 to)
{
    const InPlacePass *w = a->pass;
    for (i64 i = from; i < to; i++)
        ravel_matrix(a->buffer + i * w->bytes, scratch, IN_PLACE_BYTES, w->extent[1],
                     w->extent[0], w->item);
}

/* Threads share parts of the buffer; where these are few, the lines of each item. */
static void
do_pass(void *arg, int part, int parts)
{
    const SharedPass *a = arg;
    const InPlacePass *w = a->pass;
    unsigned char *scratch = a->scratch + a->each * part;
    const i64 lines = (w->item + RAVEL_LINE - 1) / RAVEL_LINE, end = lines * (part + 1) / parts * RAVEL_LINE;
    const i64 first = lines * part / parts * RAVEL_LINE;
    const i64 from = w->n * part / parts, to = w->n * (part + 1) / parts;
    if (w->kind == PASS_BLOCKS)
        convert_blocks(a, scratch, from, to);
    else if (w->kind == PASS_MATRIX)
        transpose(a, scratch, from, to);
    else if (w->n >= parts)
        permute(a, scratch, from, to, 0, w->item);
    else if (first < end)
        permute(a, scratch, 0, w->n, first, (end < w->item ? end : w->item) - first);
}

ravel_status
in_place_run(const ravel_plan *p, void *buffer)
{
    const InPlace *how = p->in_place->how;
    const i64 each = (in_place_room(how) + RAVEL_LINE - 1) / RAVEL_LINE * RAVEL_LINE;
    i64 all;
    unsigned char *scratch = int_mul(each, p->threads.most, &all) ? malloc((size_t)all) : NULL;
    if (!scratch)
        return RAVEL_ERR_MEMORY;
    for (int i = 0; i < how->n; i++)
        threads_share(&p->threads, do_pass, &(SharedPass){&how->pass[i], p->in_place->block[i], buffer,
                                                          scratch, each});
    free(scratch);
    return RAVEL_OK;
}
