/* planted.h: relayouts with one bug each, and what a proof must say of them.
 *
 * ROW(function, pair, between guard pages, between bytes that must stay): "" is no
 * objection, "-" is what cannot be run in the process that asks. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef unsigned char Byte;

/* From, to, dtype, shape; each with elements, padding or holes where bugs need them. */
static const char *const planted_pair[][4] = {
    {"(R,C){R, C, pitch = {R = 16}}",
     "(R,C){C//4, R, C%4, fill = 7, pitch = {[1] = 32}}", "u8", "5,7"},
    {"(R,C){R, C}", "(R,C){R, C, pitch = {R = 4}}", "u4", "3,5"},
    {"(R,C){C//4, R, C%4}", "(R,C){R, C}", "u8", "5,7"},
    {"(A){A}", "(A){A}", "u8", "300"},
    {"(R,C){R, C}", "(R,C){C, R}", "u16", "256,256"},
    {"(A){A}", "(A){A}", "u8", "256"},
    {"(A){A}", "(A){A}", "f32", "64"},
};

static int
slot(int r, int c)
{
    return c / 4 * 32 + r * 4 + c % 4;
}

static void
right(Byte *d, const Byte *s)
{
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 8; c++)
            d[slot(r, c)] = c < 7 ? s[r * 16 + c] : 7;
}

static void
nothing(Byte *d, const Byte *s)
{
    (void)d;
    (void)s;
}

static void
write_after(Byte *d, const Byte *s)
{
    right(d, s);
    ((volatile Byte *)d)[64] = 0;
}

static void
write_before(Byte *d, const Byte *s)
{
    right(d, s);
    ((volatile Byte *)d)[-1] = 0;
}

static void
read_after(Byte *d, const Byte *s)
{
    (void)((const volatile Byte *)s)[80];
    right(d, s);
}

static void
read_before(Byte *d, const Byte *s)
{
    (void)((const volatile Byte *)s)[-1];
    right(d, s);
}

static void
write_hole(Byte *d, const Byte *s)
{
    right(d, s);
    d[20] = 0;
}

/* The value that an untouched byte has. */
static void
write_hole_as_it_is(Byte *d, const Byte *s)
{
    right(d, s);
    d[63] = 0xa5;
}

static void
skip_padding(Byte *d, const Byte *s)
{
    Byte old = d[slot(4, 7)];
    right(d, s);
    d[slot(4, 7)] = old;
}

/* Slot 7 holds a 7, as the fill is. */
static void
padding_from_source(Byte *d, const Byte *s)
{
    right(d, s);
    d[slot(4, 7)] = s[7];
}

static void
write_source_as_it_is(Byte *d, const Byte *s)
{
    ((volatile Byte *)s)[3] = s[3];
    right(d, s);
}

static void
unlock_source(Byte *d, const Byte *s)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    right(d, s);
    mprotect((void *)((uintptr_t)s / page * page), page, PROT_READ | PROT_WRITE);
    ((volatile Byte *)s)[79] ^= 1;
}

static void
write_source(Byte *d, const Byte *s)
{
    right(d, s);
    ((volatile Byte *)s)[79] ^= 1;
}

static void
write_after_source(Byte *d, const Byte *s)
{
    right(d, s);
    ((volatile Byte *)s)[80] = 0;
}

static void
write_before_source(Byte *d, const Byte *s)
{
    right(d, s);
    ((volatile Byte *)s)[-1] = 0;
}

static void
read_hole(Byte *d, const Byte *s)
{
    right(d, s);
    d[slot(0, 6)] = s[7];
}

static void
swap_two(Byte *d, const Byte *s)
{
    right(d, s);
    d[slot(2, 1)] = s[2 * 16 + 2];
    d[slot(2, 2)] = s[2 * 16 + 1];
}

static void
or_into(Byte *d, const Byte *s)
{
    Byte old = d[slot(1, 1)];
    right(d, s);
    d[slot(1, 1)] |= old;
}

static void
second_run(Byte *d, const Byte *s)
{
    static int calls;
    right(d, s);
    if (calls++)
        d[slot(3, 3)] = s[0];
}

static void
other_thread(Byte *d, const Byte *s)
{
    static pthread_t first;
    static int seen;
    right(d, s);
    if (!seen++)
        first = pthread_self();
    else if (!pthread_equal(first, pthread_self()))
        d[slot(3, 3)] = s[0];
}

static void
shared_buffer(Byte *d, const Byte *s)
{
    static Byte copy[80];
    memcpy(copy, s, 80);
    usleep(20000);
    right(d, copy);
}

static void
transpose(Byte *d, const Byte *s)
{
    for (int r = 0; r < 256; r++)
        for (int c = 0; c < 256; c++)
            memcpy(d + (c * 256 + r) * 2, s + (r * 256 + c) * 2, 2);
}

static void
through_static(Byte *d, const Byte *s)
{
    static Byte copy[2 * 256 * 256];
    memcpy(copy, s, sizeof copy);
    usleep(2000);                  /* others come between on a machine of one core too */
    transpose(d, copy);
}

static void
leave(Byte *d, const Byte *s)
{
    right(d, s);
    exit(0);
}

static void
give_up(Byte *d, const Byte *s)
{
    right(d, s);
    abort();
}

static void
far_away(Byte *d, const Byte *s)
{
    right(d, s);
    *(Byte *volatile *)&d = NULL;
    *(volatile Byte *)d = 0;
}

static void
nibbles(Byte *d, const Byte *s)
{
    for (int i = 0; i < 15; i++) {
        int to = i / 5 * 8 + i % 5, shift = to % 2 * 4;
        unsigned v = (unsigned)s[i / 2] >> i % 2 * 4 & 15;
        d[to / 2] = (Byte)((d[to / 2] & ~(15u << shift)) | v << shift);
    }
}

static void
nibble_neighbour(Byte *d, const Byte *s)
{
    nibbles(d, s);
    d[2] &= 15;
}

static void
unpad(Byte *d, const Byte *s)
{
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 7; c++)
            d[r * 7 + c] = s[c / 4 * 20 + r * 4 + c % 4];
}

static void
read_padding(Byte *d, const Byte *s)
{
    unpad(d, s);
    d[4 * 7 + 6] = s[20 + 4 * 4 + 3];
}

static void
many(Byte *d, const Byte *s)
{
    memcpy(d, s, 300);
}

/* Slots 0 and 256 have the same lowest byte. */
static void
swap_far_apart(Byte *d, const Byte *s)
{
    many(d, s);
    d[0] = s[256];
    d[256] = s[0];
}

/* Vectors of 16 bytes, at any address and at a multiple of 16 alone. */
typedef int32_t Vector __attribute__((vector_size(16), aligned(1), may_alias));
typedef int32_t Aligned __attribute__((vector_size(16), may_alias));

static void
any_vectors(Byte *d, const Byte *s)
{
    for (int i = 0; i < 256; i += 16)
        *(volatile Vector *)(d + i) = *(const volatile Vector *)(s + i);
}

static void
aligned_store(Byte *d, const Byte *s)
{
    for (int i = 0; i < 256; i += 16)
        *(volatile Aligned *)(d + i) = *(const volatile Vector *)(s + i);
}

static void
aligned_load(Byte *d, const Byte *s)
{
    for (int i = 0; i < 256; i += 16)
        *(volatile Vector *)(d + i) = *(const volatile Aligned *)(s + i);
}

/* Right at 16 and at odd addresses: it forgets some bits of the others. */
static Byte *
without(const Byte *p, uintptr_t bits)
{
    return (Byte *)((uintptr_t)p & ~bits);
}

static void
line_store(Byte *d, const Byte *s)
{
    memcpy(without(d, 48), s, 256);
}

static void
line_load(Byte *d, const Byte *s)
{
    memcpy(d, without(s, 48), 256);
}

static void
word_store(Byte *d, const Byte *s)
{
    memcpy(without(d, 12), s, 256);
}

static void
word_load(Byte *d, const Byte *s)
{
    memcpy(d, without(s, 12), 256);
}

#define PLANTED \
    ROW(right, 0, "", "") \
    ROW(nothing, 0, "(0,0), holds 0xa5, as before the run; it should hold 0x0 of " \
        "source slot 0, (0,0)", "(0,0), holds 0xa5, as before") \
    ROW(write_after, 0, "byte 1 after its destination", "byte 1 after its destination") \
    ROW(write_before, 0, "byte 1 before its destination", "byte 1 before its dest") \
    ROW(read_after, 0, "byte 1 after its source", "") \
    ROW(read_before, 0, "byte 1 before its source", "") \
    ROW(write_hole, 0, "slot 20 of the destination, a hole, is written", "a hole") \
    ROW(write_hole_as_it_is, 0, "slot 63 of the destination, a hole", "a hole") \
    ROW(skip_padding, 0, "padding (4,7), holds 0xa5, as before the run; it should " \
        "hold 0x7, the fill", "padding (4,7)") \
    ROW(padding_from_source, 0, "padding (4,7), holds 0xf8 of source slot 7, a hole", \
        "padding (4,7)") \
    ROW(write_source_as_it_is, 0, "writes to byte 3 of its source", "") \
    ROW(unlock_source, 0, "slot 79 of its source", "slot 79 of its source") \
    ROW(write_source, 0, "writes to byte 79 of its source", "slot 79 of its source") \
    ROW(write_after_source, 0, "byte 1 after its source", "byte 1 after its source") \
    ROW(write_before_source, 0, "byte 1 before its source", "byte 1 before its s") \
    ROW(read_hole, 0, "(0,6), holds 0x7 of source slot 7, a hole; it should hold 0x6", \
        "(0,6), holds 0x7") \
    ROW(swap_two, 0, "(2,1), holds 0x22 of source slot 34, (2,2); it should hold 0x21 " \
        "of source slot 33, (2,1)", "(2,1), holds 0x22") \
    ROW(or_into, 0, "(1,1), holds 0xb5; it should hold 0x11 of", "(1,1), holds 0xb5") \
    ROW(second_run, 0, "(3,3), holds 0xff of source slot 0, (0,0); it should hold 0xcc", \
        "(3,3), holds 0xff") \
    ROW(other_thread, 0, "threads run it at once", "threads run it at once") \
    ROW(shared_buffer, 0, "threads run it at once", "threads run it at once") \
    ROW(transpose, 4, "", "") \
    ROW(through_static, 4, "threads run it at once", "threads run it at once") \
    ROW(leave, 0, "it ended the process, with exit code 0", "-") \
    ROW(give_up, 0, "it ended the process: Aborted", "-") \
    ROW(far_away, 0, "memory that is neither of its buffers'", "-") \
    ROW(nibbles, 1, "", "") \
    ROW(nibble_neighbour, 1, "slot 5 of the destination, a hole", "a hole") \
    ROW(unpad, 2, "", "") \
    ROW(read_padding, 2, "(4,6), holds 0x27 of source slot 39, padding (4,7)", \
        "(4,6), holds 0x27") \
    ROW(many, 3, "", "") \
    ROW(any_vectors, 5, "", "") \
    ROW(aligned_store, 5, "takes a buffer for aligned that is not: its destination began " \
        "1 and its source 0 bytes past a multiple of 64", "-") \
    ROW(aligned_load, 5, "takes a buffer for aligned that is not: its destination began " \
        "0 and its source 1 bytes past a multiple of 64", "-") \
    ROW(line_store, 5, "byte 16 before its destination (its destination begins 16 and " \
        "its source 0 bytes past", "byte 16 before its destination") \
    ROW(line_load, 5, "(its destination begins 0 and its source 16 bytes past", \
        "source 16 bytes past") \
    ROW(word_store, 6, "byte 4 before its destination (its destination begins 4 and its " \
        "source 1 bytes past", "byte 4 before its destination") \
    ROW(word_load, 6, "(its destination begins 1 and its source 4 bytes past", \
        "source 4 bytes past") \
    ROW(swap_far_apart, 3, "(0), holds 0x1; it should hold 0x0 of source slot 0, (0)", \
        "(0), holds 0x1")
