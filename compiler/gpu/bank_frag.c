/* The accesses by which a warp loads the registers of a fragment from a tile. */
#include "bank_walk.h"

enum { MATRIX_ROWS = 8, ROW_BITS = 128, MATRICES = 4, WIDEST = 16 };

struct TileFragment {
    const char *name;
    FragSize size;
    /* The element of the tile in register j of lane t of fragment f, at
     * (f*lanes + t)*registers + j; -1: padding. */
    int32_t *element;
};

i64
fragment_count(const TileFragment *f)
{
    return f->size.fragments;
}

const TileFragment *
tile_fragment(Arena *a, const BankTile *t, const Layout *frag, const int *map)
{
    i64 x[MAX_RANK] = {0}, y[MAX_RANK], at;
    TileFragment *f = arena_new(a, TileFragment);
    *f = (TileFragment){.name = frag->ref->def->name, .size = frag_size(a, frag)};
    if (frag->size > TILE_ELEMENTS_MAX)
        diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "fragments of more than %d elements "
                   "are not examined", TILE_ELEMENTS_MAX);
    f->element = arena_array(a, int32_t, frag->size);
    for (i64 i = 0; i < frag->size; i++)
        f->element[i] = -1;
    work_on(a, "to look at every element of the fragments", f->name);
    work_spend(a, t->elements * layout_work(frag));
    do {
        i64 element = 0;
        for (int d = 0; d < frag->rank; d++)
            y[map[d]] = x[d];
        for (int d = 0; d < frag->rank; d++)
            element = element * t->l->dim[d].n + y[d];
        if (!layout_address(frag, x, &at) || at < 0 || at >= frag->size)
            diag_fatal(a->diag, DIAG_LAYOUT, frag->ref->def->loc, "layout '%s': an address "
                       "is outside of its storage", f->name);
        f->element[at] = (int32_t)element;
    } while (layout_next(frag, false, x));
    return f;
}

/* By the number of a lane among those of all fragments. */
static i64
element_of(const TileFragment *f, i64 lane, int reg)
{
    return f->element[lane * f->size.registers + reg];
}

static i64
all_lanes(const TileFragment *f)
{
    return f->size.fragments * f->size.lanes;
}

/* True if register k lies i elements after register r in all lanes, or is padding where r
 * is. */
static bool
is_behind(const WarpWalk *w, int r, int k, i64 i)
{
    const TileFragment *f = w->access->fragment;
    const i64 *addr = w->t->addr;
    i64 lane = 0, all = all_lanes(f);
    for (; lane < all; lane++) {
        i64 a = element_of(f, lane, r), b = element_of(f, lane, k);
        if ((a < 0) != (b < 0) || (a >= 0 && addr[b] != addr[a] + i))
            break;
    }
    work_spend(w->arena, lane);
    return lane == all;
}

/* True if register r begins a vector of n elements in all lanes. */
static bool
is_aligned(const WarpWalk *w, int r, i64 n)
{
    const TileFragment *f = w->access->fragment;
    i64 lane = 0, all = all_lanes(f);
    for (; lane < all; lane++) {
        i64 e = element_of(f, lane, r);
        if (e >= 0 && w->t->addr[e] % n)
            break;
    }
    work_spend(w->arena, lane);
    return lane == all;
}

/* Adds a load of `bytes` that begins with register r, of registers that are not done.  False
 * if they are not adjacent. */
static bool
add_load(const WarpWalk *w, RegisterLoads *s, bool *done, int r, int bytes)
{
    i64 n = 8 * bytes / w->t->l->dtype->bits;
    int registers = w->access->fragment->size.registers;
    RegisterLoad *load = &s->load[s->n];
    if (n < 1 || n > registers || !is_aligned(w, r, n))
        return false;
    *load = (RegisterLoad){.bytes = bytes, .n = 1, .reg = {r}};
    for (int k = 0; load->n < n; load->n++) {
        for (k = 0; k < registers; k++)
            if (!done[k] && k != r && is_behind(w, r, k, load->n))
                break;
        if (k == registers)
            return false;
        load->reg[load->n] = k;
    }
    for (int i = 0; i < n; i++)
        done[load->reg[i]] = true;
    s->n++;
    return true;
}

static bool
is_padding(const WarpWalk *w, int r)
{
    const TileFragment *f = w->access->fragment;
    i64 lane = 0, all = all_lanes(f);
    while (lane < all && element_of(f, lane, r) < 0)
        lane++;
    work_spend(w->arena, lane);
    return lane == all;
}

/* The widest loads first, and for each width from the lowest register on; what is left are
 * elements smaller than a byte whose neighbours another lane has. */
static void
find_loads(const WarpWalk *w, RegisterLoads *s)
{
    const TileFragment *f = w->access->fragment;
    bool done[FRAG_REGISTERS_MAX] = {false};
    work_on(w->arena, "to find the accesses of a fragment", f->name);
    for (int r = 0; r < f->size.registers; r++)
        done[r] = is_padding(w, r);
    for (int bytes = WIDEST; bytes >= 1; bytes /= 2)
        for (int r = 0; r < f->size.registers; r++)
            if (!done[r])
                add_load(w, s, done, r, bytes);
    for (int r = 0; r < f->size.registers; r++)
        if (!done[r])
            s->load[s->n++] = (RegisterLoad){.bytes = 1, .n = 1, .reg = {r}};
}

/* Row `row` of the matrix of word `word` of the 32 lanes from `lane` on: without `transposed`
 * it is the word of four adjacent lanes, with it one half of the word of every fourth lane. */
static int
matrix_row(const WarpWalk *w, i64 lane, int word, int row, bool transposed, i64 *element)
{
    const TileFragment *f = w->access->fragment;
    int bits = w->t->l->dtype->bits, each = WORD_BITS / bits, n = ROW_BITS / bits;
    for (int i = 0; i < n; i++)
        element[i] = transposed
            ? element_of(f, lane + 4 * i + row / 2, word * each + row % 2)
            : element_of(f, lane + 4 * row + i / each, word * each + i % each);
    return n;
}

/* NULL if the row is 16 adjacent bytes of the tile; else why not, and two of its elements. */
static const char *
why_no_row(const WarpWalk *w, const i64 *element, int n, i64 *first, i64 *other)
{
    const i64 *addr = w->t->addr;
    *first = -1;
    for (int i = 0; i < n; i++)
        if (element[i] < 0)
            return "padding";
    *first = element[0];
    *other = element[n - 1];
    for (int i = 1; i < n; i++)
        if (addr[element[i]] != addr[*first] + i) {
            *other = element[i];
            return "a row of ldmatrix is not side by side";
        }
    return addr[*first] % n ? "a row of ldmatrix does not begin at a multiple of 16 bytes" : NULL;
}

static const char *
why_no_matrices(const WarpWalk *w, bool transposed, i64 *first, i64 *other)
{
    const FragSize *s = &w->access->fragment->size;
    int words = s->registers * w->t->l->dtype->bits / WORD_BITS;
    i64 element[ROW_BITS];
    work_spend(w->arena, s->fragments * s->lanes * s->registers);
    for (i64 lane = 0; lane < s->fragments * s->lanes; lane += WARP)
        for (int word = 0; word < words; word++)
            for (int row = 0; row < MATRIX_ROWS; row++) {
                int n = matrix_row(w, lane, word, row, transposed, element);
                const char *why = why_no_row(w, element, n, first, other);
                if (why)
                    return why;
            }
    return NULL;
}

/* Each load has up to four words of the lanes' registers. */
static void
find_matrices(const WarpWalk *w, RegisterLoads *s)
{
    const TileFragment *f = w->access->fragment;
    int bits = w->t->l->dtype->bits, words = f->size.registers * bits / WORD_BITS;
    i64 first, other;
    if (bits > WORD_BITS || f->size.lanes % WARP)
        diag_fatal(w->arena->diag, DIAG_ARGUMENT, (Loc){0}, "%s: ldmatrix loads words of 32 "
                   "bits of 32 lanes; the fragment has %lld lanes, with elements of %d bits",
                   w->access->text, (long long)f->size.lanes, bits);
    const char *why = why_no_matrices(w, false, &first, &other);
    s->transposed = why && bits == WORD_BITS / 2 && !why_no_matrices(w, true, &first, &other);
    if (why && !s->transposed) {
        why = why_no_matrices(w, false, &first, &other);
        if (first < 0)
            diag_fatal(w->arena->diag, DIAG_ARGUMENT, (Loc){0}, "%s: the shape does not fill "
                       "the fragments, and ldmatrix has no partial rows", w->access->text);
        walk_no_vector(w, why, first, other);
    }
    for (int word = 0; word < words; word += MATRICES)
        s->load[s->n++] = (RegisterLoad){
            .bytes = WIDEST, .n = words - word < MATRICES ? words - word : MATRICES,
            .reg = {word}};
}

void
fragment_start(WarpWalk *w)
{
    RegisterLoads *s = arena_new(w->arena, RegisterLoads);
    *s = (RegisterLoads){0};
    (w->access->by_matrix ? find_matrices : find_loads)(w, s);
    w->loads = s;
    w->done = !s->n;
}

/* The rows of the matrices of a load are the lanes' accesses. */
static void
take_matrices(WarpWalk *w, i64 lane, const RegisterLoad *load)
{
    i64 element[ROW_BITS];
    for (int i = 0; i < load->n * MATRIX_ROWS; i++) {
        matrix_row(w, lane, load->reg[0] + i / MATRIX_ROWS, i % MATRIX_ROWS,
                   w->loads->transposed, element);
        walk_lane(w, i, element[0]);
    }
}

static void
take_registers(WarpWalk *w, i64 lane, const RegisterLoad *load)
{
    const FragSize *s = &w->access->fragment->size;
    for (int i = 0; i < WARP && w->lane + i < s->lanes; i++) {
        i64 e = element_of(w->access->fragment, lane + i, load->reg[0]);
        if (e >= 0)
            walk_lane(w, i, e);
    }
}

/* The order: fragments, loads of a lane, warps. */
static void
step(WarpWalk *w)
{
    const FragSize *s = &w->access->fragment->size;
    w->lane += WARP;
    if (w->lane < s->lanes)
        return;
    w->lane = 0;
    if (++w->load < w->loads->n)
        return;
    w->load = 0;
    w->done = ++w->f == s->fragments;
}

bool
fragment_next(WarpWalk *w)
{
    if (w->done)
        return false;
    const RegisterLoad *load = &w->loads->load[w->load];
    i64 lane = w->f * w->access->fragment->size.lanes + w->lane;
    w->bytes = load->bytes;
    w->fragment = w->f;
    (w->access->by_matrix ? take_matrices : take_registers)(w, lane, load);
    step(w);
    return true;
}
