/* Bytes of padding after a run, at most. */
enum { RAVEL_PAD_BYTES = 2048 };
