#define ravel_min(a, b) ((a) < (b) ? (a) : (b))
#define ravel_max(a, b) ((a) > (b) ? (a) : (b))

/* Four bytes of x (numbers 0 to 3) and y (4 to 7): each hexadecimal digit of s selects one. */
static inline uint
ravel_permute(uint x, uint y, uint s)
{
    const ulong v = (ulong)y << 32 | x;
    return (uint)((v >> (s & 7) * 8 & 0xff) | (v >> (s >> 4 & 7) * 8 & 0xff) << 8 |
                (v >> (s >> 8 & 7) * 8 & 0xff) << 16 | (v >> (s >> 12 & 7) * 8 & 0xff) << 24);
}
