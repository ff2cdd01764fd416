/* Digits of numbers that are sorted. */
enum { RAVEL_RADIX = 8, RAVEL_INSERTED = 24, RAVEL_COMPARED = 16 };
typedef uint32_t ravel_number4;
typedef uint64_t ravel_number8;

/* The numbers of each digit become the first place of each. */
RAVEL_PART void
ravel_digits_sums(uint32_t *count, int width)
{
    uint32_t sum = 0;
    for (int k = 0; k < 1 << width; k++) {
        uint32_t here = count[k];
        count[k] = sum;
        sum += here;
    }
}
