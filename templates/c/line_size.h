/* Bytes of a cache line. */
enum { RAVEL_LINE = 64 };
