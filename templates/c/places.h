/* Where the runs of one side are: run r is r strides into the plane, and for each of up to two
 * index arrays a step times its number r.  `bits` has what arrays there are, in its low byte of
 * the first and above it of the second: 0 for none, 32 or 64 for the bits of a number, and
 * RAVEL_SKIPS if runs whose number is below 0 are skipped.
 *
 * by[0] is what else is added for r itself, by[1] and by[2] for the numbers of the arrays: a word,
 * the number of quotients, and five words for each quotient: what is added to the number, what
 * twice the sum is multiplied with, by how many bits the upper half of that is shifted right, and
 * both halves of the weight of the result in bytes.  If the bits are RAVEL_FLOAT, the sum and a half
 * is multiplied with a float, the word before.  The first word is of by[0] one more stride,
 * of the others how far apart in the array the numbers are that are read.  near: numbers and
 * places have 32 bits. */
typedef struct {
    int64_t stride;
    const void *array[2];
    int64_t bits, step[2];
    const int32_t *by[3];
    int32_t near;
} ravel_places;
enum { RAVEL_SKIPS = 128, RAVEL_BITS = 96, RAVEL_CHUNK = 256 };

/* The words of `by` after those at `by`. */
RAVEL_CONSTANT const int32_t *
ravel_places_next(const int32_t *by)
{
    return by + 2 + RAVEL_QUOTIENT * by[1];
}

/* Sets what the words at `by` say of a side; returns what is after them. */
static inline const int32_t *
ravel_places_by(ravel_places *p, const int32_t *by)
{
    for (int i = 0; i < 3; i++, by = ravel_places_next(by))
        p->by[i] = by;
    return by;
}

/* Number r of those of array k that are read from run i on. */
RAVEL_CONSTANT int64_t
ravel_number_at(const ravel_places *p, int k, int64_t i, int64_t r)
{
    const int64_t at = (i + r) * p->by[k + 1][0];
    return p->bits >> 8 * k & 64 ? ((const int64_t *)p->array[k])[at]
                                 : ((const int32_t *)p->array[k])[at];
}

/* The same for n runs, in loops of which compilers make vectors. */
static inline void
ravel_numbers(const ravel_places *p, int k, int64_t i, int64_t n, int64_t *v)
{
    const int64_t *wide = (const int64_t *)p->array[k];
    const int32_t *narrow = (const int32_t *)p->array[k];
    const int spread = p->by[k + 1][0] != 1, bits = p->bits >> 8 * k & 64;
    for (int64_t r = 0; spread && r < n; r++)
        v[r] = ravel_number_at(p, k, i, r);
    for (int64_t r = 0; !spread && bits && r < n; r++)
        v[r] = wide[i + r];
    for (int64_t r = 0; !spread && !bits && r < n; r++)
        v[r] = narrow[i + r];
}

/* The same as numbers of 32 bits. */
static inline void
ravel_near_numbers(const ravel_places *p, int k, int64_t i, int64_t n, uint32_t *v)
{
    const int64_t *wide = (const int64_t *)p->array[k];
    const int32_t *narrow = (const int32_t *)p->array[k];
    const int apart = p->by[k + 1][0] != 1, bits = p->bits >> 8 * k & 64;
    for (int64_t r = 0; apart && r < n; r++)
        v[r] = (uint32_t)ravel_number_at(p, k, i, r);
    for (int64_t r = 0; !apart && bits && r < n; r++)
        v[r] = (uint32_t)wide[i + r];
    for (int64_t r = 0; !apart && !bits && r < n; r++)
        v[r] = (uint32_t)narrow[i + r];
}

/* Adds a quotient by a float, which is right for numbers below 2^21: it is at least half of the
 * inverse of the divisor from the next integer, and off by less than a 2^22th of itself. */
static inline void
ravel_float_add(uint32_t *sum, const uint32_t *v, int64_t n, const int32_t *q)
{
    const uint32_t more = (uint32_t)q[0], weight = (uint32_t)q[3];
    float inverse;
    memcpy(&inverse, q + 1, sizeof inverse);
    for (int64_t r = 0; r < n; r++) {
        const int32_t x = (int32_t)(v[r] + more);
        sum[r] += (uint32_t)(int32_t)(((float)x + 0.5F) * inverse) * weight;
    }
}

/* Adds `step` times the numbers, and the quotients.  A multiplication and a shift are a division,
 * for which there are no vectors; a shift alone is one by a power of two. */
static inline void
ravel_near_add(uint32_t *sum, const uint32_t *v, int64_t n, uint32_t step, const int32_t *by)
{
    const int32_t *q = by + 2;
    for (int64_t r = 0; step && r < n; r++)
        sum[r] += v[r] * step;
    for (int32_t k = 0; k < by[1]; k++, q += 5) {
        const uint32_t more = (uint32_t)q[0], times = (uint32_t)q[1], weight = (uint32_t)q[3];
        const int32_t shift = q[2];
        const int even = times == (uint32_t)1 << 31;
        if (shift == RAVEL_FLOAT) {
            ravel_float_add(sum, v, n, q);
            continue;
        }
        for (int64_t r = 0; even && r < n; r++)
            sum[r] += ((v[r] + more) >> shift) * weight;
        for (int64_t r = 0; !even && r < n; r++)
            sum[r] += ((uint32_t)((uint64_t)(2 * (v[r] + more)) * times >> 32) >> shift) * weight;
    }
}

/* The places of runs i to i + n - 1, of 32 bits. */
__attribute__((noinline)) static void
ravel_near_sums(const ravel_places *p, int64_t i, int64_t n, uint32_t *sum)
{
    uint32_t v[RAVEL_CHUNK];
    const uint32_t stride = (uint32_t)p->stride + (uint32_t)p->by[0][0], first = (uint32_t)i;
    for (int64_t r = 0; r < n; r++)
        sum[r] = (first + (uint32_t)r) * stride;
    for (int64_t r = 0; p->by[0][1] && r < n; r++)
        v[r] = first + (uint32_t)r;
    ravel_near_add(sum, v, p->by[0][1] ? n : 0, 0, p->by[0]);
    for (int k = 0; k < 2 && p->bits >> 8 * k & RAVEL_BITS; k++) {
        ravel_near_numbers(p, k, i, n, v);
        ravel_near_add(sum, v, n, (uint32_t)p->step[k], p->by[k + 1]);
    }
}

static inline void
ravel_near_places(const ravel_places *p, int64_t i, int64_t n, int64_t *place)
{
    uint32_t sum[RAVEL_CHUNK];
    ravel_near_sums(p, i, n, sum);
    for (int64_t r = 0; r < n; r++)
        place[r] = (int32_t)sum[r];
}

/* What the quotients of the numbers add. */
static inline void
ravel_far_quotients(int64_t *place, const int64_t *v, int64_t n, const int32_t *by)
{
    const int32_t *q = by + 2;
    for (int32_t k = 0; k < by[1]; k++, q += 5) {
        const uint64_t weight = (uint64_t)(uint32_t)q[4] << 32 | (uint32_t)q[3];
        float inverse;
        memcpy(&inverse, q + 1, sizeof inverse);
        for (int64_t r = 0; q[2] == RAVEL_FLOAT && r < n; r++) {
            const int32_t x = (int32_t)((uint32_t)v[r] + (uint32_t)q[0]);
            const uint64_t quotient = (uint64_t)(((float)x + 0.5F) * inverse);
            place[r] = (int64_t)((uint64_t)place[r] + quotient * weight);
        }
        for (int64_t r = 0; q[2] != RAVEL_FLOAT && r < n; r++) {
            const uint32_t twice = 2 * ((uint32_t)v[r] + (uint32_t)q[0]);
            const uint64_t quotient = (uint64_t)twice * (uint32_t)q[1] >> 32 >> q[2];
            place[r] = (int64_t)((uint64_t)place[r] + quotient * weight);
        }
    }
}

/* The same in 64 bits. */
static inline void
ravel_far_places(const ravel_places *p, int64_t i, int64_t n, int64_t *place)
{
    int64_t v[RAVEL_CHUNK];
    const int64_t stride = p->stride + p->by[0][0];
    for (int64_t r = 0; r < n; r++)
        place[r] = stride * (i + r);
    for (int64_t r = 0; p->by[0][1] && r < n; r++)
        v[r] = i + r;
    ravel_far_quotients(place, v, n, p->by[0]);
    for (int k = 0; k < 2 && p->bits >> 8 * k & RAVEL_BITS; k++) {
        const int64_t step = p->step[k];
        ravel_numbers(p, k, i, n, v);
        for (int64_t r = 0; r < n; r++)
            place[r] += v[r] * step;
        ravel_far_quotients(place, v, n, p->by[k + 1]);
    }
}

/* The places; INT64_MIN for those of runs that are skipped. */
static inline void
ravel_places_of(const ravel_places *p, int64_t i, int64_t n, int64_t *place)
{
    if (p->near)
        ravel_near_places(p, i, n, place);
    else
        ravel_far_places(p, i, n, place);
    for (int k = 0; k < 2; k++)
        for (int64_t r = 0; p->bits >> 8 * k & RAVEL_SKIPS && r < n; r++)
            place[r] = ravel_number_at(p, k, i, r) < 0 ? INT64_MIN : place[r];
}

/* Leaves out the runs that are skipped; returns how many remain. */
static inline int64_t
ravel_keep_places(int64_t *to, int64_t *from, int64_t n)
{
    int64_t kept = 0;
    for (int64_t r = 0; r < n; r++) {
        to[kept] = to[r];
        from[kept] = from[r];
        kept += to[r] != INT64_MIN && from[r] != INT64_MIN;
    }
    return kept;
}

/* What a call moves: n planes of runs of `bytes` bytes, which are dn (sn) bytes apart. */
typedef struct {
    int64_t n, bytes, dn, sn;
} ravel_runs;

/* Whether ravel_move_even has runs of n bytes. */
RAVEL_CONSTANT int
ravel_is_even(int64_t n)
{
    return n > 0 && n <= 16 && (n & (n - 1)) == 0;
}
