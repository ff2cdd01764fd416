/* Chooses the place of a fused tile in shared memory.  The runs of one side are rows.  The
 * pitch is the one with the fewest wavefronts in both phases; all pitches are tried. */
#include "bank.h"
#include "grid_fuse.h"

enum { ROOM_BYTES = 16 << 10, PADS = 33 };
enum { WARP = 32, WARPS = GRID_THREADS / WARP };

int
fuse_word(const Fuse *f)
{
    return f->b->bits < 8 * FUSE_WORD ? 8 * FUSE_WORD / f->b->bits : 1;
}

i64
fuse_iterations(const Fuse *f, int side)
{
    return int_ceil_div(f->rows[side] * f->lanes[side], GRID_THREADS);
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

void
fuse_digits(const Fuse *f, int side, const Ex *x, const Ex *r, const Ex **digit)
{
    i64 inner = 1;
    for (int k = 0; k < f->n; k++) {
        int l = f->order[side][k];
        inner = k == f->depth[side] ? 1 : inner;
        digit[l] = ex_dig(f->b->e, k < f->depth[side] ? x : r, inner,
                          inner * f->chunk[l]);
        inner *= f->chunk[l];
    }
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
    fuse_digits(f, side, ex_add(e, x, ex_const(e, i)), ex_div(e, t, lanes), digit);
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
                  fuse_iterations(f, f->major);
        for (int i = 0; i < n; i++)
            sum += wavefronts(&now, &at[i], f->b->bits / 8) * fuse_iterations(f, minor);
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
