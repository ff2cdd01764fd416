/* The most bytes of a row of interleaved columns. */
enum { RAVEL_WOVEN_BYTES = 120 };
