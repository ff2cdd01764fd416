/* Bytes of the columns of a tile. */
enum { RAVEL_BITS_ALONG = 128 };

/* Processors that permute 128 bytes take eight columns at a time if these are at most
 * RAVEL_NEAR_BITS apart in the source, and eight rows at a time if these touch in the
 * destination and have at most RAVEL_JOINED_BITS bits. */
enum { RAVEL_NEAR_BITS = 128, RAVEL_JOINED_BITS = 127 };

/* Bits of a row of a strip of columns; of each column, if these are near. */
enum { RAVEL_STRIP_BITS = 128, RAVEL_NEAR_TALL = 64 };
