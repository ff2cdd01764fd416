/* Bytes of a row of interleaved columns, at most. */
enum { RAVEL_WOVEN_BYTES = 120 };
