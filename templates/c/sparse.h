/* A stream: the entries of a sparse or dense source, in batches.  A column has a number for
 * each entry of the batch: 0 the position of its value in the source, or its value; 1
 * whether the current level has a new position for it; 2 whether it differs from the entry
 * before; positions, coordinates and keys are in the others. */
enum { RAVEL_BATCH = 512, RAVEL_COLUMNS = 96, RAVEL_LEVELS = 18 };

typedef struct {
    uint64_t key;
    int64_t at;           /* the position of the value in the source */
} ravel_record;

typedef struct {
    int64_t flaw;         /* the number of the first flaw; 0: none */
    int64_t records;
    int64_t array, at;    /* the flaw: number of the array, and index in it */
    int64_t n;            /* entries of the batch */
    int64_t cursor;       /* the next position to read, of a source with places to skip */
    int64_t widest;       /* the most entries below one parent of a level nth */
    int64_t size[RAVEL_LEVELS];   /* positions of each level so far; size[0] is 1 */
    int64_t total[RAVEL_LEVELS];  /* ... at the end of the pass before */
    int64_t last[RAVEL_LEVELS];   /* the coordinate of the entry before */
    int64_t seen[RAVEL_LEVELS];   /* of the entry before, to find equal entries */
    int64_t next[RAVEL_LEVELS];   /* the next pos to write */
    int64_t from[RAVEL_LEVELS];   /* the parent of the last position that was read */
    int64_t *count;
    ravel_record *record, *spare;
    int unsorted;
    int64_t x[RAVEL_COLUMNS][RAVEL_BATCH];
} ravel_stream;

enum { RAVEL_FLAW_SIZE = 1, RAVEL_FLAW_START, RAVEL_FLAW_BACKWARDS, RAVEL_FLAW_END,
       RAVEL_FLAW_RANGE, RAVEL_FLAW_ORDER, RAVEL_FLAW_TWICE, RAVEL_FLAW_INDEX };

#ifdef __GNUC__
#define RAVEL_STEP static __attribute__((unused)) void
#define RAVEL_PART static inline __attribute__((unused, always_inline))
#else
#define RAVEL_STEP static void
#define RAVEL_PART static inline
#endif

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
