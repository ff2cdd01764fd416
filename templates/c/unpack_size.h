/* Words before those of a tile of elements smaller than a byte.  Of four bits, two may share a byte of the
 * destination: in the source the second is so many elements after the first; or share one of the source,
 * and are so far apart in the destination.  0: each has a byte in a buffer.  RAVEL_PAIR_TABLE, as
 * RAVEL_PAIR_FROM: columns two and two share the bytes of the buffers, and are anywhere in the source; a
 * run of the destination, a row of a block, begins at any element. */
enum { RAVEL_PAIR_FROM, RAVEL_PAIR_TO, RAVEL_PAIR_HEAD, RAVEL_PAIR_TABLE = -1 };
/* Bytes of each of the two buffers of a tile of elements smaller than a byte. */
enum { RAVEL_UNPACKED_BYTES = 16 * 1024 };
