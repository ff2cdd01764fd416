/* Runs of up to RAVEL_MOVED_BYTES have loops of their own. */
enum { RAVEL_MOVED_BYTES = 128 };

/* Runs of at least RAVEL_LONG_BYTES are copied one by one.  Up to RAVEL_NEAR_BYTES are
 * written in any order, with the longer loop inside. */
enum { RAVEL_LONG_BYTES = 256, RAVEL_NEAR_BYTES = 16384 };

/* The buffer through which short runs become whole cache lines. */
enum { RAVEL_COPY_BUFFER = 4096 };
