/* The rows of a chunk.  `order` is how their runs are moved: RAVEL_MIXED_ROWS, one after the other
 * for each place in the table, as those of neighbouring rows are neighbours; RAVEL_MIXED_DST and
 * RAVEL_MIXED_SRC, those of a row one after the other, which is how they are on that side.  `span` is
 * from where to where the runs of a row are, on the destination and on the source, if that is
 * worth fetching: else twice 0. */
typedef struct {
    int64_t m;
    const int64_t *to, *from, *first;
    const int32_t *table, *span;
    int64_t entries, order;
} ravel_mixed_rows;
