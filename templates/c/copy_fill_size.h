/* The most bytes of padding after a run. */
enum { RAVEL_PAD_BYTES = 2048 };
