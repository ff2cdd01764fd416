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
 * for. */
enum { SIDE = 8, EIGHTS = TILE_ELEMENTS / SIDE };

/* A byte of the destination: which one; the bit of the source of each of its bits; these
 * bits' places in their bytes. */
typedef struct {
    int index;
    int32_t bit[SIDE];
    uint8_t place[SIDE];
} Made;

static int
by_places(const void *a, const void *b)
{
    const Made *x = a, *y = b;
    int d = memcmp(x->place, y->place, sizeof x->place);
    return d ? d : (x->bit[0] > y->bit[0]) - (x->bit[0] < y->bit[0]);
}

/* The bytes of the destination, those alike one after another. */
static void
list_made(const Bits *b, Made *made, int n)
{
    int per = 8 / b->bits;
    for (int i = 0; i < n; i++) {
        made[i].index = i;
        for (int r = 0; r < SIDE; r++) {
            made[i].bit[r] = b->src[i * per + r / b->bits] + r % b->bits;
            made[i].place[r] = (uint8_t)int_mod(made[i].bit[r], 8);
        }
    }
    qsort(made, (size_t)n, sizeof *made, by_places);
}

/* Eight bytes of the source that a turn takes together. */
typedef struct {
    int n;
    int32_t byte[EIGHTS][SIDE];
} Eights;

/* The place of these bytes among the eights, at the end if they are new; -1: there are too
 * many. */
static int
find_eight(Eights *e, const int32_t byte[SIDE])
{
    for (int i = 0; i < e->n; i++)
        if (!memcmp(e->byte[i], byte, sizeof e->byte[i]))
            return i;
    if (e->n == EIGHTS)
        return -1;
    memcpy(e->byte[e->n], byte, sizeof e->byte[0]);
    return e->n++;
}

static void
put_byte(Bits *b, int i, int32_t dst, int32_t src)
{
    b->dst[i] = 8 * dst;
    b->src[i] = 8 * src;
}

/* The bytes between the turns that become the eight bytes of the destination at `made`. */
static bool
join_eight(const Made *made, int first, Eights *e, Bits *join)
{
    for (int r = 0; r < SIDE; r++) {
        int32_t byte[SIDE];
        for (int k = 0; k < SIDE; k++) {
            byte[k] = (int32_t)int_div(made[k].bit[r], 8);
            if (made[k].place[r] != made[0].place[r])
                return false;
        }
        int eight = find_eight(e, byte);
        if (eight < 0)
            return false;
        put_byte(join, first + r, first + r, SIDE * eight + made[0].place[r]);
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
    Eights e = {.n = 0};
    int n = b->n * b->bits / 8;
    if (b->fills || n % SIDE || n > LEN(made))
        return false;
    list_made(b, made, n);
    for (int i = 0; i < n; i += SIDE)
        if (!join_eight(made + i, i, &e, &pass[1]))
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
