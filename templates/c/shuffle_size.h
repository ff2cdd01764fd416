/* The most bytes of a tile. */
enum { RAVEL_SHUFFLE_BYTES = 2048 };
