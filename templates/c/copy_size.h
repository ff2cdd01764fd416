/* Runs of at least this many bytes are copied one by one. */
enum { RAVEL_LONG_BYTES = 256 };
