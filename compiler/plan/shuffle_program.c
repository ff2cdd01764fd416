/* The program of a tile: one pass or two. */
#include <stdlib.h>

#include "kernel_family.h"
#include "shuffle.h"

/* A byte of the destination: its place, and its first element's in the source, in bits;
 * which element that is. */
typedef struct {
    int32_t dst, src, first;
} Byte;

/* By place in a byte of the source, then by the byte: neighbours have the same shift. */
static int
in_source(const void *a, const void *b)
{
    const Byte *x = a, *y = b;
    int32_t p = x->src & 7, q = y->src & 7;
    return p != q ? (p > q) - (p < q) : (x->src > y->src) - (x->src < y->src);
}

/* The first pass assembles the bytes of the destination, the second permutes them. */
static bool
in_two(const Bits *b, Bits *make, Bits *move)
{
    Byte byte[RAVEL_SHUFFLE_BYTES / 2];
    int per = 8 / b->bits, n = b->n / per;
    if (n > LEN(byte) || b->n % per)
        return false;
    for (int i = 0; i < n; i++)
        byte[i] = (Byte){b->dst[i * per], b->src[i * per], i * per};
    qsort(byte, (size_t)n, sizeof *byte, in_source);
    make->bits = b->bits;
    make->fills = move->fills = false;
    make->n = b->n;
    move->bits = 8;
    move->n = n;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < per; k++) {
            make->dst[i * per + k] = 8 * i + k * b->bits;
            make->src[i * per + k] = b->src[byte[i].first + k];
        }
        move->dst[byte[i].first / per] = byte[i].dst;
        move->src[byte[i].first / per] = 8 * i;
    }
    return shuffle_lanes(make) && shuffle_lanes(move);
}

/* Nanoseconds.  A lane takes 1, each term of whole bytes 0.3 more, 0.55 where it is
 * shifted and masked. */
static double
cost_of(const Bits *b, const Terms *t)
{
    double cost = 0;
    for (int i = 0; i < b->nlanes / QUAD; i++)
        cost += QUAD * (1 + 0.3 * t->row[i].whole + 0.55 * t->row[i].masked);
    return cost;
}

/* Of whole bytes, where windows are permuted: a row takes 0.5, each of its windows as much,
 * lanes that are apart 1.2.  START: for each row of the tiles that are done together. */
static double
permuted_of(const Bits *b, const Terms *t)
{
    enum { TOGETHER = 8192, START = 8 };
    int rows = b->nlanes / QUAD;
    double cost = (double)rows * START * rows * QUAD * LANE / TOGETHER;
    for (int i = 0; i < b->nlanes / QUAD; i++) {
        const Row *r = &t->row[i];
        cost += r->windows ? 0.5 + 0.5 * r->windows + (b->lines ? 0 : 1.2)
                           : QUAD * (0.7 + 0.2 * r->whole);
    }
    return cost;
}

/* Replaces the pass by two if these are faster. */
static bool
try_two(Program *p)
{
    Program two = {.passes = 2, .tile = p->tile};
    if (!in_two(&p->bits[0], &two.bits[0], &two.bits[1]) ||
        !shuffle_terms(&two.bits[0], &two.terms[0]) ||
        !shuffle_terms(&two.bits[1], &two.terms[1]))
        return false;
    two.cost = cost_of(&two.bits[0], &two.terms[0]) +
               cost_of(&two.bits[1], &two.terms[1]);
    if (p->passes == 1 && two.cost >= p->cost)
        return false;
    *p = two;
    return true;
}

/* The most terms of a row. */
static int
terms_of(const Bits *b, const Terms *t)
{
    int most = 0;
    for (int i = 0; i < b->nlanes / QUAD; i++) {
        int terms = t->row[i].whole + t->row[i].masked;
        most = terms > most ? terms : most;
    }
    return most;
}

bool
shuffle_make(const Nest *n, int bits, Program *p)
{
    enum { FEW = 4 };
    if (!shuffle_tile(n, bits, &p->tile) || !shuffle_bits(n, &p->tile, bits, p->bits))
        return false;
    p->passes = shuffle_terms(p->bits, p->terms);
    p->cost = cost_of(p->bits, p->terms);
    p->permuted = permuted_of(p->bits, p->terms);
    if (bits < 8 && (!p->passes || terms_of(p->bits, p->terms) > FEW))
        return try_two(p) || p->passes;
    return p->passes;
}
