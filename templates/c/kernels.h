void ravel_copy(unsigned char *, const unsigned char *, int64_t, int64_t, int64_t,
                int64_t);
void ravel_transpose(unsigned char *, const unsigned char *, int64_t, int64_t, int64_t,
                     int64_t, int64_t);
void ravel_strided(unsigned char *, const unsigned char *, int64_t, int64_t, int64_t,
                   int64_t, int64_t, int64_t, int64_t);
void ravel_bits(unsigned char *, int64_t, const unsigned char *, int64_t, int64_t,
                int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
void ravel_fill(unsigned char *, int64_t, int64_t, int64_t, int64_t, uint64_t, int64_t);
void ravel_fill_bits(unsigned char *, int64_t, int64_t, int64_t, int64_t, int64_t,
                     uint64_t, int64_t);
int64_t ravel_min(int64_t, int64_t);
int64_t ravel_max(int64_t, int64_t);
