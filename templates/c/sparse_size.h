/* What the steps of sparse conversions and the planner share: entries and columns of a batch; the
 * most parts of a step that threads share; the most buckets of a list of rows. */
enum { RAVEL_BATCH = 512, RAVEL_COLUMNS = 96, RAVEL_TEAM = 64, RAVEL_MOST_BUCKETS = 1 << 13 };

/* Rows to columns: places of so many columns fit a cache; the most blocks of columns; the bytes of one,
 * and of a strip of rows of tiles. */
enum { RAVEL_NEAR_COLUMNS = 1 << 15, RAVEL_BLOCKS = 2048, RAVEL_BLOCK_BYTES = 1 << 20 };

/* A near cache may hold a result of so many bytes. */
enum { RAVEL_NEAR_RESULT = 6 << 20 };

/* Results of so many bytes are written past the caches, if there are instructions for it; a row of tiles
 * is put together in a near cache before, if it is not larger than this. */
enum { RAVEL_STREAMED = 1 << 22, RAVEL_NEAR_BYTES = 1 << 17 };

/* Areas of the work memory, for arrays that steps share. */
enum { RAVEL_MASK, RAVEL_COUNTS, RAVEL_CURSORS, RAVEL_ROWS, RAVEL_LIST, RAVEL_GROUPS,
       RAVEL_SET, RAVEL_SLOTS, RAVEL_BUCKETS, RAVEL_SCRATCH, RAVEL_LENGTHS, RAVEL_ORDER,
       RAVEL_RANKS, RAVEL_CHOSEN, RAVEL_SEEN, RAVEL_BITS, RAVEL_BEFORE, RAVEL_WRITTEN,
       RAVEL_OWNERS, RAVEL_VALUES, RAVEL_AREAS };

enum { RAVEL_TAKEN = 4 };              /* coordinates that a set writes at once */

/* Words of a set of coordinates below bound: a bit for each, a bit for each word, and again; and
 * what is taken out of it. */
static inline int64_t
ravel_set_words(int64_t bound)
{
    int64_t leaf = (bound + 63) / 64, middle = (leaf + 63) / 64;
    return leaf + middle + (middle + 63) / 64 + (bound + RAVEL_TAKEN + 1) / 2;
}

/* Bytes of a coordinate below bound in a list of tiles: at most 24 bits. */
static inline int64_t
ravel_tile_bytes(int64_t bound)
{
    return bound <= 1 << 16 ? 2 : 3;
}

/* Bytes of an entry of a row: its coordinate, and its value of es bytes.  A power of two, so that
 * it is in one line. */
#define RAVEL_ENTRY_BYTES(es) ((es) <= 4 ? (int64_t)8 : (es) <= 12 ? 16 : 32)

/* How equal entries are joined; the names of sums are those of element types. */
enum { RAVEL_LAST, RAVEL_FIRST, RAVEL_REFUSE, RAVEL_SUM_INTEGER, RAVEL_SUM_FLOAT };

/* What can be wrong with a source. */
enum { RAVEL_FLAW_SIZE = 1, RAVEL_FLAW_START, RAVEL_FLAW_BACKWARDS, RAVEL_FLAW_END,
       RAVEL_FLAW_RANGE, RAVEL_FLAW_ORDER, RAVEL_FLAW_TWICE, RAVEL_FLAW_INDEX, RAVEL_FLAW_SLICE,
       RAVEL_FLAW_LONGER, RAVEL_FLAW_FULL, RAVEL_FLAW_MANY, RAVEL_FLAW_NONE };
