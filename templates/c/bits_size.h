/* The most bits from a column in the source to the next, of a row in the destination, for which
 * processors that permute 128 bytes take eight of them at a time. */
enum { RAVEL_NEAR_BITS = 128, RAVEL_JOINED_BITS = 127 };
