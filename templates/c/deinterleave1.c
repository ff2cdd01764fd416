RAVEL_PART(1, 16, 2, 4)
RAVEL_PART(1, 16, 4, 4)
RAVEL_PART(1, 16, 8, 4)
RAVEL_PART(1, 16, 16, 4)
RAVEL_SPLIT(1, 16, 2, 4)
RAVEL_SPLIT(1, 16, 4, 4)
RAVEL_SPLIT(1, 16, 8, 4)
#ifndef RAVEL_PLAIN
static void
ravel_parted1(unsigned char *d, const unsigned char *s, int64_t cols, ravel_Parted w)
{
    if (w.rows == 3 && w.sq == 3)          /* constants for images */
        ravel_part1x4_all(d, s, cols, w);
    else if (w.rows <= 2)
        ravel_part1x2_all(d, s, cols, w);
    else if (w.rows <= 4)
        ravel_part1x4_all(d, s, cols, w);
    else if (w.rows <= 8)
        ravel_part1x8_all(d, s, cols, w);
    else
        ravel_part1x16_all(d, s, cols, w);
}

/* Transposes the planes without a buffer; returns 0, and does nothing, if it cannot. */
static int
ravel_split1(unsigned char *d, const unsigned char *s, int64_t n, int64_t rows,
             int64_t cols, int64_t dn, int64_t sn, int64_t dp, int64_t stream)
{
    const int64_t lines = ravel_split_lines(d, n, cols * 1, dn, dp);
    if (stream && !lines && cols * 1 >= 128)
        return 0;
    stream = stream && lines;
    if (rows == 2)
        ravel_split1x2(d, s, n, cols, dn, sn, dp, stream);
    else if (rows == 4)
        ravel_split1x4(d, s, n, cols, dn, sn, dp, stream);
    else if (rows == 8)
        ravel_split1x8(d, s, n, cols, dn, sn, dp, stream);
    else
        return 0;
    return 1;
}
#else
#define ravel_split1(...) 0
#endif
RAVEL_PARTED_FEW(1)
RAVEL_DEINTERLEAVE(1, 16)
