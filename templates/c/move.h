/* Copies a short run inline; a constant size becomes one load and one store. */
static inline void
ravel_move(unsigned char *d, const unsigned char *s, int64_t bytes)
{
    if (bytes > 128) {
        memcpy(d, s, (size_t)bytes);
        return;
    }
    for (; bytes >= 16; bytes -= 16, d += 16, s += 16)
        memcpy(d, s, 16);
    if (bytes & 8) {
        memcpy(d, s, 8);
        d += 8;
        s += 8;
    }
    if (bytes & 4) {
        memcpy(d, s, 4);
        d += 4;
        s += 4;
    }
    for (bytes &= 3; bytes > 0; bytes--)
        *d++ = *s++;
}
