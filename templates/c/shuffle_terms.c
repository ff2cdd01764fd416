/* The rows of a group that has so many terms. */
#ifdef RAVEL_SHUFFLES
static void
ravel_shuffle_any(const ravel_shuffled *a, int lane)
{
    const int32_t *row = a->row;
    for (int32_t r = 0; r < a->group[RAVEL_GROUP_ROWS]; r++, row += a->words) {
        const int64_t past = ravel_shuffle_past(a, row);
        for (int64_t k = 0; k < a->n; k++)
            ravel_shuffle_one(a, a->d + k * a->dp, a->s + k * a->sp, row, past, lane);
    }
}

/* Frequent numbers of terms are constants; one function each, as registers are few. */
static void
ravel_shuffle_1(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 1, 0, lane);
}

static void
ravel_shuffle_2(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 2, 0, lane);
}

static void
ravel_shuffle_3(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 3, 0, lane);
}

static void
ravel_shuffle_4(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 4, 0, lane);
}

static void
ravel_shuffle_2_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 2, lane);
}

static void
ravel_shuffle_3_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 3, lane);
}

static void
ravel_shuffle_4_masked(const ravel_shuffled *a, int lane)
{
    ravel_shuffle_terms(a, 0, 4, lane);
}

/* 5 to 8 terms that read the same contiguous bytes, as orders of single bits have. */
static void
ravel_shuffle_more(const ravel_shuffled *a, int lane)
{
    switch (a->group[RAVEL_GROUP_MASKED]) {
    case 5: ravel_shuffle_few(a, 0, 5, 1, 1, lane); break;
    case 6: ravel_shuffle_few(a, 0, 6, 1, 1, lane); break;
    case 7: ravel_shuffle_few(a, 0, 7, 1, 1, lane); break;
    default: ravel_shuffle_few(a, 0, 8, 1, 1, lane); break;
    }
}
#endif
