/* How the runs of rows are moved (mixed.c), the words before the places of rows, and how many places
 * of runs are kept for more than one plane. */
enum { RAVEL_MIXED_ANY, RAVEL_MIXED_ROWS, RAVEL_MIXED_DST, RAVEL_MIXED_SRC, RAVEL_MIXED_HEAD = 9,
       RAVEL_MIXED_PLACES = 1024 };
