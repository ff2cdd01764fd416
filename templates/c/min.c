static int64_t
ravel_min(int64_t x, int64_t y)
{
    return x < y ? x : y;
}
