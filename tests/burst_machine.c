/* The machine that templates/bursts.lua writes for, as a program that runs its programs
 * and refuses what the machine cannot do.  -D BURST, MEMORY and COUNTS make another one.
 *
 * Arguments: kernel's number, file of the source, file of the destination, ...  Buffers
 * have room for whole bursts; what is behind the tensor must be as it was. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BURST
#define BURST 32
#define MEMORY (192 << 10)
#define COUNTS 4095
#endif

void burst_in(int64_t to, const void *from, int64_t count, int64_t bytes, int64_t stride,
              int64_t pitch);
void burst_out(void *to, int64_t from, int64_t count, int64_t bytes, int64_t stride,
               int64_t pitch);
void burst_move(int64_t item, int64_t to, int64_t from, int64_t outer, int64_t outer_to,
                int64_t outer_from, int64_t inner, int64_t inner_to, int64_t inner_from);
void burst_fill(int64_t item, int64_t to, uint64_t low, uint64_t high, int64_t outer,
                int64_t outer_to, int64_t inner, int64_t inner_to);

#include "kernels.h"               /* kernel[], bytes[][2] */

enum { BEHIND = 0x3c };

static unsigned char memory[MEMORY];
static char known[MEMORY];         /* was written */
static int64_t moved;

static struct {
    unsigned char *at;
    int64_t bytes, room;
} buffer[2];                       /* source, destination */

static void
want(int ok, const char *what)
{
    if (ok)
        return;
    printf("%s\n", what);
    exit(3);
}

static void
check_local(int64_t at, int64_t bytes, int written)
{
    want(at >= 0 && bytes > 0 && at <= MEMORY - bytes, "outside of local memory");
    for (int64_t i = 0; written && i < bytes; i++)
        want(known[at + i], "local memory that holds nothing yet");
}

static void
check_transfer(const void *p, int64_t local, int64_t count, int64_t bytes, int64_t stride,
               int64_t pitch, int out)
{
    const unsigned char *at = p;
    int64_t last = (count - 1) * stride + bytes;
    int k = at >= buffer[0].at && at < buffer[0].at + buffer[0].room ? 0 : 1;
    want(count >= 1 && count <= COUNTS, "count");
    want(bytes > 0 && bytes % BURST == 0, "bytes are no multiple of a burst");
    want(stride % BURST == 0 && pitch % BURST == 0 && local % BURST == 0,
         "a stride, pitch or local address is no multiple of a burst");
    want(count == 1 || (stride >= bytes && pitch >= bytes), "transfers overlap");
    want((at - buffer[k].at) % BURST == 0, "an address is no multiple of a burst");
    want(at >= buffer[k].at && at - buffer[k].at <= buffer[k].room - last,
         "outside of the buffer");
    want(!out || k == 1, "the source is written to");
    for (int64_t i = 0; i < count; i++)
        check_local(local + i * pitch, bytes, out);
    moved += count * bytes;
}

void
burst_in(int64_t to, const void *from, int64_t count, int64_t bytes, int64_t stride,
         int64_t pitch)
{
    check_transfer(from, to, count, bytes, stride, pitch, 0);
    for (int64_t i = 0; i < count; i++) {
        memcpy(memory + to + i * pitch, (const char *)from + i * stride, (size_t)bytes);
        memset(known + to + i * pitch, 1, (size_t)bytes);
    }
}

void
burst_out(void *to, int64_t from, int64_t count, int64_t bytes, int64_t stride,
          int64_t pitch)
{
    check_transfer(to, from, count, bytes, stride, pitch, 1);
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)to + i * stride, memory + from + i * pitch, (size_t)bytes);
}

/* An item to a place, which it is aligned to. */
static void
put(int64_t to, const void *from, int64_t item)
{
    check_local(to, item, 0);
    want(to % item == 0, "an item is not aligned");
    memmove(memory + to, from, (size_t)item);
    memset(known + to, 1, (size_t)item);
}

static void
check_item(int64_t item)
{
    want(item >= 1 && item <= 16 && (item & (item - 1)) == 0, "no size of an item");
}

void
burst_move(int64_t item, int64_t to, int64_t from, int64_t outer, int64_t outer_to,
           int64_t outer_from, int64_t inner, int64_t inner_to, int64_t inner_from)
{
    check_item(item);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < inner; j++) {
            int64_t at = from + i * outer_from + j * inner_from;
            check_local(at, item, 1);
            want(at % item == 0, "an item is not aligned");
            put(to + i * outer_to + j * inner_to, memory + at, item);
        }
}

void
burst_fill(int64_t item, int64_t to, uint64_t low, uint64_t high, int64_t outer,
           int64_t outer_to, int64_t inner, int64_t inner_to)
{
    uint64_t v[2] = {low, high};
    check_item(item);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < inner; j++)
            put(to + i * outer_to + j * inner_to, v, item);
}

/* A buffer of the file's bytes, with room for whole bursts. */
static void
open_buffer(int k, const char *path, int64_t n)
{
    FILE *f = fopen(path, "rb");
    buffer[k].bytes = n;
    buffer[k].room = (n + BURST - 1) / BURST * BURST;
    buffer[k].at = malloc((size_t)buffer[k].room);
    memset(buffer[k].at, BEHIND, (size_t)buffer[k].room);
    want(f && fread(buffer[k].at, 1, (size_t)n, f) == (size_t)n, "a file is too short");
    fclose(f);
}

int
main(int argc, char **argv)
{
    for (int i = 1; i + 2 < argc; i += 3) {
        int k = atoi(argv[i]);
        open_buffer(0, argv[i + 1], bytes[k][0]);
        open_buffer(1, argv[i + 2], bytes[k][1]);
        memset(known, 0, sizeof known);
        moved = 0;
        kernel[k](buffer[1].at, buffer[0].at);
        for (int64_t b = buffer[1].bytes; b < buffer[1].room; b++)
            want(buffer[1].at[b] == BEHIND, "behind the tensor");
        FILE *f = fopen(argv[i + 2], "wb");
        fwrite(buffer[1].at, 1, (size_t)buffer[1].bytes, f);
        fclose(f);
        printf("%d %lld\n", k, (long long)moved);
        free(buffer[0].at);
        free(buffer[1].at);
    }
    return 0;
}
