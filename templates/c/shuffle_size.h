/* The most bytes of a tile. */
enum { RAVEL_SHUFFLE_BYTES = 2048 };

/* Words of its table (shuffle_row.c): before a pass and before a row; of a term of whole bytes, of
 * one with a mask, and of a pair of windows. */
enum { RAVEL_PASS_HEAD = 5, RAVEL_ROW_HEAD = 8, RAVEL_WHOLE = 21, RAVEL_MASKED = 38,
       RAVEL_PAIRED = 20 };

/* Of a pass, where the words to the next one are; of a row, where its offsets begin, and the pairs
 * of windows are; of a term, where the indices of its bytes begin, its mask, and the shift is. */
enum { RAVEL_PASS_NEXT = 3, RAVEL_ROW_TO = 3, RAVEL_ROW_PAIRS = 7, RAVEL_TERM_AT = 5,
       RAVEL_TERM_MASK = 21, RAVEL_TERM_SHIFT = 37 };
