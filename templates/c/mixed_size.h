/* How the runs of rows are moved (mixed.c), and the words before the places of rows. */
enum { RAVEL_MIXED_ANY, RAVEL_MIXED_ROWS, RAVEL_MIXED_DST, RAVEL_MIXED_SRC, RAVEL_MIXED_HEAD = 9 };
