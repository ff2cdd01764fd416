/* Copies n planes of `rows` runs with ordinary stores; k is as for ravel_move_twice. */
RAVEL_CONSTANT void
ravel_each_run(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows, size_t k,
               int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    for (int64_t b = 0; b < n; b++)
        for (int64_t r = 0; r < rows; r++)
            ravel_move_twice(d + b * dn + r * dp, s + b * sn + r * sp, k, bytes);
}

/* The same for runs whose length is not a power of two up to 64. */
static void
ravel_copy_odd(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
               int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    if (bytes < 4)
        ravel_each_run(d, s, n, rows, 2, bytes, dn, sn, dp, sp);
    else if (bytes < 8)
        ravel_each_run(d, s, n, rows, 4, bytes, dn, sn, dp, sp);
    else if (bytes < 16)
        ravel_each_run(d, s, n, rows, 8, bytes, dn, sn, dp, sp);
    else if (bytes < 32)
        ravel_each_run(d, s, n, rows, 16, bytes, dn, sn, dp, sp);
    else if (bytes < 64)
        ravel_each_run(d, s, n, rows, 32, bytes, dn, sn, dp, sp);
    else if (bytes <= RAVEL_MOVED_BYTES)
        ravel_each_run(d, s, n, rows, 64, bytes, dn, sn, dp, sp);
    else
        for (int64_t b = 0; b < n; b++)
            for (int64_t r = 0; r < rows; r++)
                ravel_move_many(d + b * dn + r * dp, s + b * sn + r * sp, bytes);
}

static void
ravel_copy_planes(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
                  int64_t bytes, int64_t dn, int64_t sn, int64_t dp, int64_t sp)
{
    switch (bytes) {
    case 0: break;
    case 1: ravel_each_run(d, s, n, rows, 1, 1, dn, sn, dp, sp); break;
    case 2: ravel_each_run(d, s, n, rows, 2, 2, dn, sn, dp, sp); break;
    case 4: ravel_each_run(d, s, n, rows, 4, 4, dn, sn, dp, sp); break;
    case 8: ravel_each_run(d, s, n, rows, 8, 8, dn, sn, dp, sp); break;
    case 16: ravel_each_run(d, s, n, rows, 16, 16, dn, sn, dp, sp); break;
    case 32: ravel_each_run(d, s, n, rows, 32, 32, dn, sn, dp, sp); break;
    case 64: ravel_each_run(d, s, n, rows, 64, 64, dn, sn, dp, sp); break;
    default: ravel_copy_odd(d, s, n, rows, bytes, dn, sn, dp, sp);
    }
}

static inline void
ravel_copy_runs(unsigned char *d, const unsigned char *s, int64_t rows, int64_t bytes,
                int64_t dp, int64_t sp)
{
    ravel_copy_planes(d, s, 1, rows, bytes, 0, 0, dp, sp);
}
