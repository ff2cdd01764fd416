/* Derives the program of a tile whose address bits change places. */
#include <string.h>

#include "butterfly.h"
#include "nest_made.h"

/* Whole bytes, or within a byte. */
static bool
is_place(i64 bits)
{
    return bits % 8 == 0 || (bits > 0 && bits < 8);
}

/* The axes of the elements; false if their addresses are no sums of what the bits of their
 * number add, or if one adds bytes and a part of one. */
static bool
find_axes(const Bits *b, Butterfly *f)
{
    const int32_t *const side[2] = {[SRC] = b->src, [DST] = b->dst};
    for (f->axes = 0; 1 << f->axes < b->n; f->axes++)
        if (f->axes == AXES_MAX)
            return false;
    if (1 << f->axes != b->n || b->fills)
        return false;
    for (int s = SRC; s <= DST; s++) {
        f->start[s] = side[s][0];
        for (int i = 0; i < f->axes; i++) {
            f->axis[s][i] = (i64)side[s][1 << i] - f->start[s];
            if (!is_place(f->axis[s][i]))
                return false;
        }
        for (int k = 1, i = 0; k < b->n; k++, i = 0) {
            while (!(k >> i & 1))
                i++;
            if (side[s][k] != side[s][k & (k - 1)] + f->axis[s][i])
                return false;
        }
    }
    return f->start[SRC] % 8 == 0 && f->start[DST] % 8 == 0;
}

/* The place of an axis among those of a vector; -1: it is not there. */
static int
place_of(const int at[PLACES], int unit, int axis)
{
    for (int p = unit; p < PLACES; p++)
        if (at[p] == axis)
            return p;
    return -1;
}

/* The axes that are contiguous on a side. */
static void
find_run(Butterfly *f, int side)
{
    int p = f->unit;
    for (int i = 0; i < PLACES; i++)
        f->at[side][i] = NO_AXIS;
    for (int i = 0; p < PLACES && i < f->axes; i++)
        if (f->axis[side][i] == (i64)1 << p) {
            f->at[side][p++] = i;
            i = -1;
        }
    f->run[side] = p;
}

/* How well an axis fits the vectors of a side: those that the other side's vectors have need no
 * stage; those within its bytes have to number the vectors. */
static int
fitness(const Butterfly *f, int side, int axis)
{
    int other = place_of(f->at[!side], f->unit, axis);
    if (place_of(f->at[side], f->unit, axis) >= 0 || (other >= 0 && other < BYTE_PLACES))
        return 0;
    return other >= 0 ? 2 : 1;
}

/* Completes the vectors of a side by pieces. */
static bool
add_pieces(Butterfly *f, int side)
{
    for (int p = f->run[side]; p < PLACES; p++) {
        int best = NO_AXIS, most = 0;
        for (int i = 0; i < f->axes; i++)
            if (fitness(f, side, i) > most) {
                best = i;
                most = fitness(f, side, i);
            }
        if (best == NO_AXIS)
            return false;
        f->at[side][p] = best;
    }
    return true;
}

static bool
add_stage(Butterfly *f, int place, int in)
{
    if (f->stages == STAGES || in == NO_AXIS)
        return false;
    f->stage[f->stages++] = (Stage){f->ordered[place], in, place};
    f->ordered[place] = in;
    return true;
}

/* Within bytes each axis has its place, to which it comes from outside of the vectors. */
static bool
add_mixes(Butterfly *f)
{
    for (int p = f->unit; p < BYTE_PLACES; p++) {
        int out = f->at[SRC][p], in = f->at[DST][p];
        if (out == in)
            continue;
        if (place_of(f->at[SRC], f->unit, in) >= 0 || place_of(f->at[DST], f->unit, out) >= 0 ||
            !add_stage(f, p, in))
            return false;
    }
    f->mixes = f->stages;
    return true;
}

/* An axis of the destination's vectors that these do not have yet. */
static int
missing_of(const Butterfly *f)
{
    for (int p = f->unit; p < PLACES; p++)
        if (place_of(f->ordered, f->unit, f->at[DST][p]) < 0)
            return f->at[DST][p];
    return NO_AXIS;
}

static bool
add_stages(Butterfly *f)
{
    memcpy(f->ordered, f->at[SRC], sizeof f->ordered);
    f->stages = 0;
    if (!add_mixes(f))
        return false;
    for (int p = f->unit > BYTE_PLACES ? f->unit : BYTE_PLACES; p < PLACES; p++)
        if (place_of(f->at[DST], f->unit, f->ordered[p]) < 0 && !add_stage(f, p, missing_of(f)))
            return false;
    return f->stages > 0;
}

static bool
find_tile(const Nest *n, int bits, ProgramMade *room, Butterfly *f)
{
    const Bits *b;
    const ShuffleTile *t = shuffle_begin(n, bits, room, &b);
    if (!t || t->strips[SRC].count > 1 || t->strips[DST].count > 1 || !find_axes(b, f))
        return false;
    f->tile = *t;
    f->elements = b->n;
    return true;
}

bool
butterfly_make(const Nest *n, int bits, Butterfly *f)
{
    f->unit = 0;
    while (1 << f->unit < bits)
        f->unit++;
    if (n->pad.n || 1 << f->unit != bits || f->unit >= PIECE_PLACES)
        return false;
    ProgramMade *room = made_room(n);
    const bool has = find_tile(n, bits, room, f);
    made_leave(n, room);
    if (!has)
        return false;
    find_run(f, SRC);
    find_run(f, DST);
    return f->run[SRC] >= PIECE_PLACES && f->run[DST] >= PIECE_PLACES && add_pieces(f, SRC) &&
           add_pieces(f, DST) && add_stages(f);
}

bool
butterfly_has(const Butterfly *f, int side, int axis)
{
    return place_of(f->at[side], f->unit, axis) >= 0;
}

int
butterfly_pieces(const Butterfly *f, int side)
{
    return PLACES - f->run[side];
}

/* Stages of bytes, of which there is one at least: it orders the bytes. */
static int
moves_of(const Butterfly *f)
{
    return f->stages > f->mixes ? f->stages - f->mixes : 1;
}

static bool
is_group(const Butterfly *f, int axis)
{
    bool used = butterfly_has(f, SRC, axis);
    for (int i = 0; i < f->stages; i++)
        used |= f->stage[i].in == axis;
    return !used;
}

/* Axes that no stage exchanges. */
static int
groups_of(const Butterfly *f)
{
    int n = 0;
    for (int i = 0; i < f->axes; i++)
        n += is_group(f, i);
    return n;
}

/* Whether vectors are written as lines. */
static bool
writes_lines(const Butterfly *f)
{
    bool lines = f->run[DST] == PLACES && f->start[DST] == 0;
    for (int i = 0; i < f->axes; i++)
        lines &= butterfly_has(f, DST, i) || f->axis[DST][i] % (8 * VECTOR) == 0;
    return lines;
}

i64
butterfly_words(const Butterfly *f)
{
    return RAVEL_STAGES_HEAD + (2 << f->stages) + 2 * RAVEL_PIECES + (2 << groups_of(f)) +
           RAVEL_MIX_WORDS * f->mixes + RAVEL_MOVE_WORDS * moves_of(f);
}

/* The byte of a vector, after the stages, that belongs at byte `to`. */
static int
byte_at(const Butterfly *f, int to)
{
    int from = 0;
    for (int p = BYTE_PLACES; p < PLACES; p++) {
        int at = p < f->unit ? p : place_of(f->ordered, f->unit, f->at[DST][p]);
        from |= (to >> (p - BYTE_PLACES) & 1) << (at - BYTE_PLACES);
    }
    return from;
}

/* The bytes of two vectors that the first and the second become.  place: -1: of each vector
 * itself. */
static void
put_move(const Butterfly *f, int place, bool last, int32_t *out)
{
    uint8_t at[2][VECTOR];
    for (int i = 0; i < VECTOR; i++) {
        int from = last ? byte_at(f, i) : i, bit = place < 0 ? 0 : 1 << (place - BYTE_PLACES);
        for (int k = 0; k < 2; k++) {
            int of = place < 0 ? k : (from & bit) != 0;
            at[k][i] = (uint8_t)((from & ~bit) + (k ? bit : 0) + VECTOR * of);
        }
    }
    memcpy(out, at, sizeof at);
}

/* The offsets of all sums of the axes that are numbered; `each` words apart. */
static void
put_sums(const i64 *axis, const int *of, int n, i64 start, int each, int32_t *out)
{
    for (int k = 0; k < 1 << n; k++) {
        i64 at = start;
        for (int i = 0; i < n; i++)
            at += k >> i & 1 ? axis[of[i]] : 0;
        out[k * each] = (int32_t)(at / 8);
    }
}

static int32_t *
put_offsets(const Butterfly *f, int32_t *out)
{
    int in[STAGES], leave[STAGES], group[AXES_MAX], groups = 0;
    for (int i = 0; i < f->stages; i++) {
        in[i] = f->stage[i].in;
        leave[i] = f->stage[i].out;
    }
    for (int i = 0; i < f->axes; i++)
        if (is_group(f, i))
            group[groups++] = i;
    put_sums(f->axis[SRC], in, f->stages, f->start[SRC], 1, out);
    out += 1 << f->stages;
    put_sums(f->axis[DST], leave, f->stages, f->start[DST], 1, out);
    out += 1 << f->stages;
    for (int s = SRC; s <= DST; s++, out += RAVEL_PIECES)
        put_sums(f->axis[s], f->at[s] + f->run[s], butterfly_pieces(f, s), 0, 1, out);
    put_sums(f->axis[SRC], group, groups, 0, 2, out);
    put_sums(f->axis[DST], group, groups, 0, 2, out + 1);
    return out + (2 << groups);
}

void
butterfly_put(const Butterfly *f, int32_t *out)
{
    static const int32_t low[BYTE_PLACES] = {0x55555555, 0x33333333, 0x0f0f0f0f};
    const int32_t header[RAVEL_STAGES_HEAD] = {
        (int32_t)f->tile.chunk[TILE_ROW], (int32_t)f->tile.chunk[TILE_COL], f->stages, f->mixes,
        groups_of(f), butterfly_pieces(f, SRC), butterfly_pieces(f, DST), f->stages == f->mixes,
        writes_lines(f)};
    memset(out, 0, (size_t)butterfly_words(f) * sizeof *out);
    memcpy(out, header, sizeof header);
    out = put_offsets(f, out + RAVEL_STAGES_HEAD);
    for (int i = 0; i < f->mixes; i++, out += RAVEL_MIX_WORDS) {
        out[0] = low[f->stage[i].place];
        out[1] = 1 << f->stage[i].place;
    }
    for (int i = f->mixes; i < f->stages; i++, out += RAVEL_MOVE_WORDS)
        put_move(f, f->stage[i].place, i == f->stages - 1, out);
    if (f->stages == f->mixes)
        put_move(f, -1, true, out);
}
