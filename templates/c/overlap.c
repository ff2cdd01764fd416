static int
ravel_overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes > 0 && b_bytes > 0 &&
           (x < y ? y - x < (uintptr_t)a_bytes : x - y < (uintptr_t)b_bytes);
}
