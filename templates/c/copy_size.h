/* Runs of up to RAVEL_MOVED_BYTES have loops of their own. */
enum { RAVEL_MOVED_BYTES = 128 };

/* Runs of at least so many bytes are copied one by one. */
enum { RAVEL_LONG_BYTES = 256 };

/* So many bytes stay in the first cache: they are written in any order, with the longer loop
 * inside. */
enum { RAVEL_NEAR_BYTES = 16384 };

/* The buffer through which short runs become whole cache lines. */
enum { RAVEL_COPY_BUFFER = 4096 };
