/* Runs of so many bytes or more are copied one by one; so many bytes may be written in any
 * order, the longer loop inside. */
enum { RAVEL_LONG_BYTES = 256, RAVEL_NEAR_BYTES = 16384 };
