/* Chooses the place of a fused tile in shared memory.  The runs of one side are rows.  The
 * pitch is the one with the fewest wavefronts in both phases; all pitches are tried. */
#include "bank.h"
#include "grid_fuse.h"

enum { ROOM_BYTES = 16 << 10, PADS = 33 };
enum { WARPS = GRID_THREADS / WARP };

int
fuse_word(const Fuse *f)
{
    return f->b->bits < 8 * FUSE_WORD ? 8 * FUSE_WORD / f->b->bits : 1;
}

/* The loop of the rows that takes a further bit of the thread's number: one that it divides,
 * else the longest. */
static int
next_to_share(const Fuse *f, int side, const i64 *left)
{
    int best = -1;
    for (int k = f->depth[side]; k < f->n; k++) {
        int l = f->order[side][k];
        if (left[l] % 2 == 0)
            return l;
        best = best < 0 || left[l] > left[best] ? l : best;
    }
    return best;
}

void
fuse_spread(Fuse *f, int side)
{
    i64 left[MAX_LOOPS], turns = 1;
    f->turns[side] = int_ceil_div(f->rows[side] * f->lanes[side], GRID_THREADS);
    f->spread[side] = false;
    for (int k = f->depth[side]; k < f->n; k++) {
        left[f->order[side][k]] = f->chunk[f->order[side][k]];
        f->bits[side][f->order[side][k]] = 0;
    }
    for (i64 rows = 1; rows < GRID_THREADS / f->lanes[side]; rows *= 2) {
        int l = next_to_share(f, side, left);
        if (l < 0 || left[l] == 1)
            return;
        left[l] = (left[l] + 1) / 2;
        f->bits[side][l]++;
    }
    for (int k = f->depth[side]; k < f->n; k++)
        turns *= left[f->order[side][k]];
    if (8 * turns > 9 * f->turns[side])
        return;
    f->spread[side] = true;
    f->turns[side] = turns;
}

i64
fuse_rows(const Fuse *f)
{
    return int_ceil_div(f->rows[f->major], f->period) * f->period;
}

i64
fuse_pitch(const Fuse *f)
{
    i64 per = fuse_word(f);
    return int_ceil_div(f->run[f->major], per) * per;
}

i64
fuse_room(const Fuse *f)
{
    i64 most = f->b->u->most.shared;
    return (most < ROOM_BYTES ? most : ROOM_BYTES) / (f->b->bits / 8);
}

const Ex *
fuse_row(const Fuse *f, int side, const Ex *row, const Ex *k)
{
    return ex_add_scaled(f->b->e, row, k, GRID_THREADS / f->lanes[side]);
}

/* The iterations of the loops of the rows that threads share one by one. */
static void
spread_digits(const Fuse *f, int side, const Ex *row, const Ex *k, const Ex **digit)
{
    Exprs *e = f->b->e;
    i64 rows = 1, turns = 1;
    for (int i = f->depth[side]; i < f->n; i++) {
        int l = f->order[side][i];
        i64 share = (i64)1 << f->bits[side][l], n = int_ceil_div(f->chunk[l], share);
        digit[l] = ex_add_scaled(e, ex_dig(e, row, rows, rows * share),
                                 ex_dig(e, k, turns, turns * n), share);
        rows *= share;
        turns *= n;
    }
}

void
fuse_digits(const Fuse *f, int side, const Ex *x, const Ex *row, const Ex *k, const Ex **digit)
{
    const Ex *r = fuse_row(f, side, row, k);
    i64 inner = 1;
    for (int i = 0; i < f->n; i++) {
        int l = f->order[side][i];
        inner = i == f->depth[side] ? 1 : inner;
        digit[l] = ex_dig(f->b->e, i < f->depth[side] ? x : r, inner,
                          inner * f->chunk[l]);
        inner *= f->chunk[l];
    }
    if (f->spread[side])
        spread_digits(f, side, row, k, digit);
}

void
fuse_place(const Fuse *f, const Ex *const *digit, const Ex **row, const Ex **column)
{
    Exprs *e = f->b->e;
    const Ex *at[] = {ex_const(e, 0), ex_const(e, 0)};
    i64 inner = 1;
    for (int k = 0; k < f->n; k++) {
        int l = f->order[f->major][k], in = k >= f->depth[f->major];
        inner = k == f->depth[f->major] ? 1 : inner;
        at[in] = ex_add(e, at[in], ex_scale(e, digit[l], inner));
        inner *= f->chunk[l];
    }
    *column = at[0];
    *row = ex_add(e, ex_scale(e, ex_mod(e, at[1], f->period), fuse_rows(f) / f->period),
                  ex_div(e, at[1], f->period));
}

/* The places in shared memory of element i of the threads' first access. */
typedef struct {
    bool active[GRID_THREADS];
    i64 row[GRID_THREADS], column[GRID_THREADS];
} Lanes;

static void
find_lanes(const Fuse *f, int side, int i, Lanes *out)
{
    Exprs *e = f->b->e;
    i64 *val = arena_array(f->b->arena, i64, ex_nvars(e)), lanes = f->lanes[side];
    const Ex *digit[MAX_LOOPS], *row, *column, *t = ex_of_var(e, f->b->u->thread);
    const Ex *x = ex_scale(e, ex_mod(e, t, lanes), f->word[side]);
    fuse_digits(f, side, ex_add(e, x, ex_const(e, i)), ex_div(e, t, lanes), ex_const(e, 0),
                digit);
    fuse_place(f, digit, &row, &column);
    for (int k = 0; k < GRID_THREADS; k++) {
        val[f->b->u->thread] = k;
        out->active[k] = k % lanes * f->word[side] < f->run[side] &&
                         k / lanes < f->rows[side] && ex_eval(row, val, &out->row[k]) &&
                         ex_eval(column, val, &out->column[k]);
    }
}

static int
wavefronts(const Fuse *f, const Lanes *at, int width)
{
    int sum = 0;
    for (int w = 0; w < WARPS; w++) {
        i64 addr[WARP];
        WarpAccess access = {addr, 0, width};
        BankCount c;
        for (int l = 0; l < WARP; l++) {
            const int k = WARP * w + l;
            addr[l] = (at->row[k] * f->pitch + at->column[k]) * f->b->bits / 8;
            access.active |= (uint64_t)at->active[k] << l;
        }
        if (bank_shared(&banks_usual, &access, &c))
            sum += c.wavefronts;
    }
    return sum;
}

/* Sets the pitch with the fewest wavefronts and returns their number; -1: none fits. */
static i64
try_pitches(Fuse *f)
{
    int minor = !f->major, n = f->word[minor];
    i64 per = fuse_word(f), least = fuse_pitch(f), best = -1;
    Lanes *at = arena_array(f->b->arena, Lanes, n + 1);
    Fuse now = *f;
    find_lanes(f, f->major, 0, &at[n]);
    for (int i = 0; i < n; i++)
        find_lanes(f, minor, i, &at[i]);
    for (int pad = 0; pad < PADS; pad++) {
        now.pitch = least + pad * per;
        if (now.pitch * fuse_rows(f) > fuse_room(f))
            break;
        i64 sum = wavefronts(&now, &at[n], f->word[f->major] * f->b->bits / 8) *
                  f->turns[f->major];
        for (int i = 0; i < n; i++)
            sum += wavefronts(&now, &at[i], f->b->bits / 8) * f->turns[minor];
        if (best < 0 || sum < best) {
            best = sum;
            f->pitch = now.pitch;
        }
    }
    return best;
}

/* Tries the runs of each side as rows, in order and with the rows apart that one word of
 * the other side accesses. */
bool
fuse_pitches(Fuse *f)
{
    i64 least = -1;
    Fuse now = *f, best = *f;
    for (int i = 0; i < 4; i++) {
        now.major = f->word[SPACE_DST] > f->word[SPACE_SRC] ? i < 2 : i >= 2;
        now.period = i % 2 ? f->word[!now.major] : 1;
        i64 sum = try_pitches(&now);
        if (sum >= 0 && (least < 0 || sum < least)) {
            least = sum;
            best = now;
        }
    }
    *f = best;
    return least >= 0;
}
