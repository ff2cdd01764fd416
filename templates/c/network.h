/* A network over k vectors of ${each} elements of ${size} bytes.  A round zips the first
 * half of the vectors with the second half: over all their elements a perfect shuffle,
 * which turns the bits of an element's place round by one.  log2(k) rounds make k columns
 * rows of k elements; log2(${each}) rounds make the rows columns again. */
#ifndef RAVEL_PLAIN
RAVEL_INLINE void
ravel_zip${size}(ravel_${size}x1 *v, int k, int rounds)
{
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {
        ravel_${size}x1 t[${each}];
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {
            t[2 * i] = RAVEL_LOW(${size}, ${each}, 1, v[i], v[i + k / 2]);
            t[2 * i + 1] = RAVEL_HIGH(${size}, ${each}, 1, v[i], v[i + k / 2]);
        }
        RAVEL_UNROLL for (int i = 0; i < k; i++)
            v[i] = t[i];
    }
}
#endif
