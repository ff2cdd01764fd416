/* Networks over vectors of 16 bytes.  A round zips the first half of the vectors with the
 * second half: over all their elements a perfect shuffle, which turns the bits of an
 * element's place round by one.  log2(k) rounds over k vectors make k columns rows of k
 * elements; log2(e) rounds, e elements a vector, make the rows columns again. */
#ifndef RAVEL_PLAIN
#if defined(RAVEL_SSE2) && defined(__SSSE3__)
#define RAVEL_SHUFFLE(v, by) ((ravel_1x1)_mm_shuffle_epi8((__m128i)(v), (__m128i)(by)))
#elif defined(__aarch64__) && !defined(__clang__)
#define RAVEL_SHUFFLE(v, by) __builtin_shuffle(v, by)
#endif

#define RAVEL_NETWORK(n, e, k, rounds)                                           \
RAVEL_INLINE void                                                                \
ravel_zip##n##x##k##r##rounds(ravel_##n##x1 *v)                                  \
{                                                                                \
    RAVEL_UNROLL for (int round = 0; round < rounds; round++) {                  \
        ravel_##n##x1 t[k];                                                      \
        RAVEL_UNROLL for (int i = 0; i < k / 2; i++) {                           \
            t[2 * i] = RAVEL_LOW(n, e, 1, v[i], v[i + k / 2]);                   \
            t[2 * i + 1] = RAVEL_HIGH(n, e, 1, v[i], v[i + k / 2]);              \
        }                                                                        \
        RAVEL_UNROLL for (int i = 0; i < k; i++)                                 \
            v[i] = t[i];                                                         \
    }                                                                            \
}

RAVEL_NETWORK(1, 16, 2, 1)
RAVEL_NETWORK(1, 16, 4, 2)
RAVEL_NETWORK(1, 16, 8, 3)
RAVEL_NETWORK(1, 16, 16, 4)
RAVEL_NETWORK(1, 16, 2, 4)
RAVEL_NETWORK(1, 16, 4, 4)
RAVEL_NETWORK(1, 16, 8, 4)
RAVEL_NETWORK(2, 8, 2, 1)
RAVEL_NETWORK(2, 8, 4, 2)
RAVEL_NETWORK(2, 8, 8, 3)
RAVEL_NETWORK(2, 8, 2, 3)
RAVEL_NETWORK(2, 8, 4, 3)
RAVEL_NETWORK(4, 4, 2, 1)
RAVEL_NETWORK(4, 4, 4, 2)
RAVEL_NETWORK(4, 4, 2, 2)
RAVEL_NETWORK(8, 2, 2, 1)

/* Byte i is to come from place i / in * out + i % in: pieces of `in` bytes that lay `out`
 * apart, of which the part that `in` and `out` share is kept. */
RAVEL_INLINE ravel_1x1
ravel_apart(int64_t in, int64_t out)
{
    ravel_1x1 by = {0};
    for (int i = 0; i < 16; i++)
        by[i] = (uint8_t)((i / in * out + i % in) & 15);
    return by;
}

/* The power of two that a row of so many bytes, at most 16, is padded to. */
RAVEL_INLINE int64_t
ravel_slot(int64_t bytes)
{
    return bytes <= 2 ? 2 : bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

/* A few bytes. */
RAVEL_INLINE void
ravel_few_bytes(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    int64_t i = 0;
    for (; i + 16 <= bytes; i += 16)
        memcpy(d + i, s + i, 16);
    for (; i + 4 <= bytes; i += 4)
        memcpy(d + i, s + i, 4);
    for (; i < bytes; i++)
        d[i] = s[i];
}

/* What is in the buffer to *d, which moves on: whole lines past the caches if `stream`,
 * and all of it at the `last`; returns how much is left at its start. */
RAVEL_INLINE int64_t
ravel_pour(unsigned char **d, unsigned char *stage, int64_t held, int64_t stream,
            int64_t last)
{
    int64_t i = stream ? (int64_t)(-(uintptr_t)*d & 63) : held;
    i = i < held ? i : held;
    memcpy(*d, stage, (size_t)i);
    for (; i + 64 <= held; i += 64)
        RAVEL_UNROLL for (int j = 0; j < 64; j += 16)
            ravel_store1(*d + i + j, ravel_load1(stage + i + j), 1);
    if (last)
        memcpy(*d + i, stage + i, (size_t)(held - i));
    else
        memmove(stage, stage + i, (size_t)(held - i));
    *d += i;
    return held - i;
}
#endif
