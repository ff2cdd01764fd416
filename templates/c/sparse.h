/* A stream: the entries of a sparse or dense source, in batches.  A column has a number for
 * each entry of the batch: 0 the position of its value in the source, or its value; 1
 * whether the current level has a new position for it; 2 whether it differs from the entry
 * before; positions, coordinates and keys are in the others. */
enum { RAVEL_LEVELS = 18 };

/* Tiles of a destination: `tall` rows by `wide` coordinates.  The value of a row and a
 * coordinate in a tile is at row*down + coordinate*across. */
typedef struct {
    int64_t rows, bound;  /* rows of the source; coordinates of tiles are below bound */
    int64_t tall, wide, down, across;
} ravel_tiles;

/* A list of n entries whose rows and columns are below `rows` and `cols`, less their biases. */
typedef struct {
    int64_t n, rows, cols, row_bias, bias, w;
} ravel_list;

/* A list of n entries by buckets: bins of 2^shift rows; coordinates of `bits` bits, and the bits of a row
 * that are in a key; the pairs of a late round. */
typedef struct {
    int64_t n, rows, shift, bits, bins, below, buckets, pairs, es, w, row_bias, crd_bias;
} ravel_sorting;

typedef struct {
    uint64_t key;
    int64_t at;           /* the position of the value in the source */
} ravel_record;

typedef struct {
    int64_t flaw;         /* the number of the first flaw; 0: none */
    int64_t records;
    unsigned char *values;         /* of the source, those below a byte as bytes */
    int64_t packed;                /* values of the destination, to be packed */
    int64_t array, at;    /* the flaw: number of the array, and index in it */
    int64_t n;            /* entries of the batch */
    int64_t cursor;       /* the next position to read, of a source with places to skip */
    int64_t widest;       /* the most entries below one parent of a level nth */
    int64_t lists;        /* slices or diagonals of a level sliced, jagged */
    int64_t size[RAVEL_LEVELS];   /* positions of each level so far; size[0] is 1 */
    int64_t total[RAVEL_LEVELS];  /* ... at the end of the pass before */
    int64_t last[RAVEL_LEVELS];   /* the coordinate of the entry before */
    int64_t seen[RAVEL_LEVELS];   /* of the entry before, to find equal entries */
    int64_t next[RAVEL_LEVELS];   /* the next pos to write */
    int64_t from[RAVEL_LEVELS];   /* the parent of the last position that was read */
    int64_t kept;         /* bits of the mask that are set */
    int64_t *count;
    ravel_record *record, *spare;
    unsigned char *area[RAVEL_AREAS], *room;      /* room: what no area has yet */
    ravel_tiles tiles;
    ravel_list list;
    ravel_sorting sorting;
    int64_t places[RAVEL_TEAM + 1];       /* of a list in order, before each part */
    int unsorted, ranked, ordered;
    int near;             /* a list has been ranked by its columns */
    int64_t x[RAVEL_COLUMNS][RAVEL_BATCH];        /* the memory has those in use */
} ravel_stream;

#ifdef __GNUC__
#define RAVEL_STEP static __attribute__((unused)) void
#define RAVEL_PART static inline __attribute__((unused, always_inline))
#else
#define RAVEL_STEP static void
#define RAVEL_PART static inline
#endif

/* Threads that share a step: RAVEL_SHARE calls task(arg, part, parts) for each part, RAVEL_PARTS
 * parts, at most RAVEL_TEAM; RAVEL_SHARED_ADD adds to a number of all.  Here the caller's only. */
#ifndef RAVEL_SHARE
#define RAVEL_PARTS(s) ((void)(s), 1)
#define RAVEL_SHARE(s, task, arg) ((void)(s), (task)((arg), 0, 1))
#define RAVEL_SHARED_ADD(number, x) (*(number) += (x))
#endif

/* Part `part` of 0..n - 1 begins here. */
RAVEL_PART int64_t
ravel_part_of(int64_t n, int64_t part, int64_t parts)
{
    return n / parts * part + n % parts * part / parts;
}

/* An area for each part: their distance, from the bytes of one.  Areas begin at cache lines. */
RAVEL_PART int64_t
ravel_area_part(int64_t bytes)
{
    return (bytes + RAVEL_LINE - 1) / RAVEL_LINE * RAVEL_LINE;
}

/* Have the line at a + offset ready to be written; it may be outside of the array. */
RAVEL_PART void
ravel_fetch(const void *a, int64_t offset)
{
#ifdef __GNUC__
    __builtin_prefetch((const void *)((uintptr_t)a + (uintptr_t)offset), 1);
#else
    (void)a, (void)offset;
#endif
}

/* ... ready to be read. */
RAVEL_PART void
ravel_fetch_source(const void *a, int64_t offset)
{
#ifdef __GNUC__
    __builtin_prefetch((const void *)((uintptr_t)a + (uintptr_t)offset));
#else
    (void)a, (void)offset;
#endif
}

/* An element of an array of 32-bit or 64-bit indices. */
RAVEL_PART int64_t
ravel_index_at(const void *a, int64_t w, int64_t i)
{
    return w == 4 ? ((const int32_t *)a)[i] : ((const int64_t *)a)[i];
}

RAVEL_PART void
ravel_index_set(void *a, int64_t w, int64_t i, int64_t v)
{
    if (w == 4)
        ((int32_t *)a)[i] = (int32_t)v;
    else
        ((int64_t *)a)[i] = v;
}

/* Copy a value of es bytes; 0: there are no arrays of values. */
RAVEL_PART void
ravel_move_value(unsigned char *out, int64_t to, const unsigned char *in, int64_t from,
                 int64_t es)
{
    if (es)
        memcpy(out + to * es, in + from * es, (size_t)es);
}

/* Note a flaw, unless there is one already. */
RAVEL_PART void
ravel_flaw(ravel_stream *s, int64_t flaw, int64_t array, int64_t at)
{
    if (s->flaw)
        return;
    s->flaw = flaw;
    s->array = array;
    s->at = at;
}

/* The number of the lowest bit that is set. */
RAVEL_PART int
ravel_lowest(uint64_t x)
{
#ifdef __GNUC__
    return __builtin_ctzll(x);
#else
    int n = 0;
    while (!(x >> n & 1))
        n++;
    return n;
#endif
}

/* The number of bits that are set. */
RAVEL_PART int64_t
ravel_ones(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (int64_t)(x * 0x0101010101010101 >> 56);
}

/* The first row of part `part`: the first that begins in its share of the entries. */
RAVEL_PART int64_t
ravel_row_of(const void *pos, int64_t rows, int64_t part, int64_t parts, int64_t w)
{
    int64_t i = ravel_part_of(ravel_index_at(pos, w, rows), part, parts), low = 0, high = rows;
    if (part == 0 || part == parts)
        return part ? rows : 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ravel_index_at(pos, w, middle) < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The counts of a part, n of w bytes. */
RAVEL_PART void *
ravel_counts_of(void *counts, int64_t n, int64_t part, int64_t w)
{
    return (unsigned char *)counts + part * ravel_area_part(n * w);
}

/* The counts of all parts become the first place of each part; pos gets the first of all. */
RAVEL_PART void
ravel_places(void *counts, int64_t n, int64_t parts, void *pos, int64_t w)
{
    int64_t sum = 0;
    for (int64_t x = 0; x < n; x++) {
        ravel_index_set(pos, w, x, sum);
        for (int64_t part = 0; part < parts; part++) {
            void *at = ravel_counts_of(counts, n, part, w);
            int64_t here = ravel_index_at(at, w, x);
            ravel_index_set(at, w, x, sum);
            sum += here;
        }
    }
    ravel_index_set(pos, w, n, sum);
}
