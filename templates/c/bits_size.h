/* Processors that permute 128 bytes take eight columns at a time if these are at most
 * RAVEL_NEAR_BITS apart in the source, and eight rows at a time if these touch in the
 * destination and have at most RAVEL_JOINED_BITS bits. */
enum { RAVEL_NEAR_BITS = 128, RAVEL_JOINED_BITS = 127 };
