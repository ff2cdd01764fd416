/* The most bytes of a tile; those that a pass before the last one writes in a call. */
enum { RAVEL_SHUFFLE_BYTES = 2048, RAVEL_TILES_BYTES = 8192 };

/* Words of its table (shuffle_row.c): before a pass and before a group; of the constants of a term
 * of whole bytes, of one with a mask, of a pair of windows, and of one for halves of bytes. */
enum { RAVEL_PASS_HEAD = 5, RAVEL_GROUP_HEAD = 6, RAVEL_WHOLE = 17, RAVEL_MASKED = 34,
       RAVEL_PAIRED = 18, RAVEL_HALVED = 66 };

/* What the words before a pass and before a group are; where in a term the indices of its bytes
 * begin, its mask, and the shift is; where in a pair its indices begin, those of upper halves, and
 * which halves come from upper ones. */
enum { RAVEL_PASS_ROWS, RAVEL_PASS_LINES, RAVEL_PASS_FILLS, RAVEL_PASS_NEXT, RAVEL_PASS_TURNS };
enum { RAVEL_GROUP_WHOLE, RAVEL_GROUP_MASKED, RAVEL_GROUP_READS, RAVEL_GROUP_PAIRS,
       RAVEL_GROUP_PARTS, RAVEL_GROUP_ROWS };
enum { RAVEL_TERM_AT = 1, RAVEL_TERM_MASK = 17, RAVEL_TERM_SHIFT = 33, RAVEL_PAIR_AT = 2,
       RAVEL_PAIR_HIGH = 18, RAVEL_PAIR_UPPER = 34 };
