/* Bytes of each of the two buffers of a tile of elements smaller than a byte. */
enum { RAVEL_UNPACKED_BYTES = 16 * 1024 };
