/* Rows and columns of a block of n-byte elements on its way to the buffers of a transpose;
 * of several sides, a third more columns at most. */
#define RAVEL_TALL(n) ((n) == 1 ? 256 : (n) == 2 ? 128 : 512 / (n))
#define RAVEL_WIDE(n) ((n) == 1 ? 256 : 512 / (n))
