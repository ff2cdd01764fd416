/* Rows and columns of a block of elements of n bytes in the buffers of a transpose.  With
 * several sides a block has up to a third more columns. */
#define RAVEL_TALL(n) ((n) == 1 ? 256 : (n) == 2 ? 128 : 512 / (n))
#define RAVEL_WIDE(n) ((n) == 1 ? 256 : 512 / (n))
/* Matrices whose columns a block takes together. */
#define RAVEL_TOGETHER(cols, n) ((RAVEL_WIDE(n) + (cols) / 2) / (cols))
/* Columns whose distance is a multiple of so many elements are read by ravel_pages. */
#define RAVEL_PAGE 1024
/* Elements of n bytes in a line; rows that ordinary stores write before those after them. */
#define RAVEL_LINE_OF(n) (RAVEL_LINE / (n))
#define RAVEL_NEAR_ROWS(n) ((n) == 1 ? 64 : 32)
