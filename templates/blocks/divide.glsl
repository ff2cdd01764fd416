/* x / d, for the divisor d that has this multiplier and shift. */
uint
ravel_divide(uint x, uint multiplier, uint shift)
{
    uint high, low;
    umulExtended(x, multiplier, high, low);
    return (high + x) >> shift;
}
