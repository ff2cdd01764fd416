/* Four bytes of x (numbers 0 to 3) and y (4 to 7): each hexadecimal digit of s selects one. */
uint
ravel_byte(uint x, uint y, uint s)
{
    return ((s & 4u) != 0u ? y : x) >> (s & 3u) * 8u & 0xffu;
}

uint
ravel_permute(uint x, uint y, uint s)
{
    return ravel_byte(x, y, s) | ravel_byte(x, y, s >> 4) << 8 | ravel_byte(x, y, s >> 8) << 16 | ravel_byte(x, y, s >> 12) << 24;
}
