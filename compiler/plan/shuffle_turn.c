/* A tile of parts of bytes in three passes of whole bytes, by turns: the 64 bits of eight
 * bytes are transposed as a matrix of 8 x 8.
 *
 * A turn makes of eight bytes of the source, all bits at one place of which are wanted, one
 * byte that has these bits; of eight such bytes a second turn makes eight bytes of the
 * destination.  Passes before, between and after the turns gather the bytes.  Eight bytes
 * of the destination are made together if each of their bits comes from the same place in
 * bytes of the source; orders within a word that are repeated have many such bytes. */
#include <stdlib.h>
#include <string.h>

#include "shuffle.h"

/* SIDE: of the matrix.  EIGHTS: most sets of eight bytes, as many as a tile has elements
 * for.  CHAINS: lists in which a set is searched. */
enum { SIDE = 8, EIGHTS = TILE_ELEMENTS / SIDE, CHAINS = 256 };

/* A byte of the destination: which one; the place of each of its bits in its byte of the source,
 * 8 bits each, the first one highest; the bit of the source that its first bit is. */
typedef struct {
    uint64_t places;
    int32_t first, index;
} Made;

static int
by_places(const void *a, const void *b)
{
    const Made *x = a, *y = b;
    int d = (x->places > y->places) - (x->places < y->places);
    d = d ? d : (x->first > y->first) - (x->first < y->first);
    return d ? d : x->index - y->index;
}

/* The bit of the source that becomes bit r of byte i of the destination. */
static int32_t
bit_of(const Bits *b, int i, int r)
{
    return b->src[i * (8 / b->bits) + r / b->bits] + r % b->bits;
}

/* The bytes of the destination, those alike one after another. */
static void
list_made(const Bits *b, Made *made, int n)
{
    for (int i = 0; i < n; i++) {
        made[i] = (Made){.first = bit_of(b, i, 0), .index = i};
        for (int r = 0; r < SIDE; r++)
            made[i].places = made[i].places << 8 | (uint64_t)int_mod(bit_of(b, i, r), 8);
    }
    qsort(made, (size_t)n, sizeof *made, by_places);
}

/* Eight bytes of the source that a turn takes together.  Sets with the same sum modulo CHAINS
 * are in a list: the numbers, plus one, of its first set and of the next one; 0: the end. */
typedef struct {
    int n;
    int16_t first[CHAINS], next[EIGHTS];
    int32_t byte[EIGHTS][SIDE];
} Eights;

/* The place of these bytes among the eights, at the end if they are new; -1: there are too
 * many. */
static int
find_eight(Eights *e, const int32_t byte[SIDE])
{
    uint32_t sum = 0;
    for (int k = 0; k < SIDE; k++)
        sum = 31 * sum + (uint32_t)byte[k];
    int16_t *first = &e->first[(sum ^ sum >> 16) % CHAINS];
    for (int i = *first; i; i = e->next[i - 1])
        if (!memcmp(e->byte[i - 1], byte, sizeof e->byte[0]))
            return i - 1;
    if (e->n == EIGHTS)
        return -1;
    memcpy(e->byte[e->n], byte, sizeof e->byte[0]);
    e->next[e->n] = *first;
    *first = (int16_t)++e->n;
    return e->n - 1;
}

static void
put_byte(Bits *b, int i, int32_t dst, int32_t src)
{
    b->dst[i] = 8 * dst;
    b->src[i] = 8 * src;
}

/* The bytes between the turns that become the eight bytes of the destination at `made`. */
static bool
join_eight(const Bits *b, const Made *made, int first, Eights *e, Bits *join)
{
    if (made[0].places != made[SIDE - 1].places)
        return false;
    for (int r = 0; r < SIDE; r++) {
        int32_t byte[SIDE];
        for (int k = 0; k < SIDE; k++)
            byte[k] = (int32_t)int_div(bit_of(b, made[k].index, r), 8);
        int eight = find_eight(e, byte);
        if (eight < 0)
            return false;
        put_byte(join, first + r, first + r,
                 SIDE * eight + (int32_t)int_mod(bit_of(b, made[0].index, r), 8));
    }
    return true;
}

static void
start_pass(Bits *b, int n, bool turns)
{
    b->bits = 8;
    b->n = n;
    b->strips = 1;
    b->fills = false;
    b->turns = turns;
}

bool
shuffle_turns(const Bits *b, Bits pass[PASSES])
{
    Made made[TILE_ELEMENTS / 2];
    Eights e;
    int n = b->n * b->bits / 8;
    if (b->fills || n % SIDE || n > LEN(made))
        return false;
    e.n = 0;
    memset(e.first, 0, sizeof e.first);
    list_made(b, made, n);
    for (int i = 0; i < n; i += SIDE)
        if (!join_eight(b, made + i, i, &e, &pass[1]))
            return false;
    for (int i = 0; i < e.n * SIDE; i++)
        put_byte(&pass[0], i, i, e.byte[i / SIDE][i % SIDE]);
    for (int i = 0; i < n; i++)
        put_byte(&pass[2], made[i].index, b->dst[made[i].index * 8 / b->bits] / 8, i);
    start_pass(&pass[0], e.n * SIDE, true);
    pass[0].strips = b->strips;
    start_pass(&pass[1], n, true);
    start_pass(&pass[2], n, false);
    return shuffle_lanes(&pass[0]) && shuffle_lanes(&pass[1]) && shuffle_lanes(&pass[2]);
}
