/* RAVEL_CONSTANT: inlined, because callers pass constants. */
#ifdef __GNUC__
#define RAVEL_CONSTANT __attribute__((always_inline, unused)) static inline
#else
#define RAVEL_CONSTANT static inline
#endif

/* Copies a run of `bytes` bytes by one or two moves of k bytes, which may overlap.
 * Requires k <= bytes <= 2 * k; k is a constant. */
RAVEL_CONSTANT void
ravel_move_twice(unsigned char *d, const unsigned char *s, size_t k, int64_t bytes)
{
    memcpy(d, s, k);
    if (bytes > (int64_t)k)
        memcpy(d + bytes - k, s + bytes - k, k);
}

/* In a loop of moves: some compilers make one copy of unknown length of it, which takes longer for a
 * few lines. */
#ifdef __GNUC__
#define RAVEL_LOOP(i) __asm__("" : "+r"(i))
#else
#define RAVEL_LOOP(i) (void)(i)
#endif

/* Copies a run of at most 64 bytes. */
static inline void
ravel_move_few(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    if (bytes >= 32)
        ravel_move_twice(d, s, 32, bytes);
    else if (bytes >= 16)
        ravel_move_twice(d, s, 16, bytes);
    else if (bytes >= 8)
        ravel_move_twice(d, s, 8, bytes);
    else if (bytes >= 4)
        ravel_move_twice(d, s, 4, bytes);
    else if (bytes >= 2)
        ravel_move_twice(d, s, 2, bytes);
    else if (bytes > 0)
        *d = *s;
}

/* Copies a run of more than 64 bytes by moves of 64 and one of what is left, which may
 * overlap the one before; a long run by the C library. */
RAVEL_CONSTANT void
ravel_move_many(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    enum { CALLED = 512 };
    if (bytes > CALLED) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i + 64 <= bytes; i += 64) {
        memcpy(d + i, s + i, 64);
        RAVEL_LOOP(i);
    }
    if (bytes % 64 > 32)
        memcpy(d + bytes - 64, s + bytes - 64, 64);
    else if (bytes % 64 > 16)
        memcpy(d + bytes - 32, s + bytes - 32, 32);
    else if (bytes % 64)
        memcpy(d + bytes - 16, s + bytes - 16, 16);
}
