/* Runs of so many bytes or more are copied one by one. */
enum { RAVEL_LONG_BYTES = 256 };
