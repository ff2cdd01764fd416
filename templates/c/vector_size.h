/* Bytes of a row of a block that the kernels transpose in registers: expand.sh divides them
 * by the size of an element. */
#define RAVEL_ROW_BYTES 16
