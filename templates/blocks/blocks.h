#include <stdint.h>
#include <string.h>

/* The code assembles words from bytes, the lowest byte first. */
#if defined(__BIG_ENDIAN__) || \
    (defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#error "this kernel is for little-endian machines: words of its bytes would be wrong"
#endif

typedef struct { uint32_t x, y; } ravel_u2;
typedef struct { uint32_t x, y, z, w; } ravel_u4;

/* Define these macros first to record the accesses of each thread and the barriers. */
#ifndef RAVEL_AT
#define RAVEL_AT(space, line, thread, byte, width) ((void)0)
#endif
#ifndef RAVEL_BARRIER
#define RAVEL_BARRIER() ((void)0)
#endif

/* sizeof has no sign, an index has one.  A simulation that defines RAVEL_AT sees each access, and
 * evaluates the index twice. */
#define RAVEL_SIZE(type) ((int64_t)sizeof(type))
#define RAVEL_TOUCH(type, at, i) RAVEL_AT(#at, __LINE__, t, (i) * RAVEL_SIZE(type), sizeof(type))

static inline const unsigned char *
ravel_from(const unsigned char *src, int64_t byte)
{
    return src + byte;
}

static inline unsigned char *
ravel_to(unsigned char *dst, int64_t byte)
{
    return dst + byte;
}

/* Accesses through memcpy: of any alignment.  The value is in an array of one. */
#define RAVEL_GET(type, from, i) (*(type *)memcpy((type[1]){0}, ravel_from(from, (i) * RAVEL_SIZE(type)), sizeof(type)))
#define RAVEL_PUT(type, to, i, v) memcpy(ravel_to(to, (i) * RAVEL_SIZE(type)), (type[1]){v}, sizeof(type))
#define RAVEL_LOAD(type, from, i) (RAVEL_TOUCH(type, from, (int64_t)(i)), RAVEL_GET(type, from, (int64_t)(i)))
#define RAVEL_STORE(type, to, i, v) (RAVEL_TOUCH(type, to, (int64_t)(i)), RAVEL_PUT(type, to, (int64_t)(i), v))

static inline ravel_u2
ravel_make2(uint32_t x, uint32_t y)
{
    return (ravel_u2){x, y};
}

static inline ravel_u4
ravel_make4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return (ravel_u4){x, y, z, w};
}

#define ravel_min(a, b) ((a) < (b) ? (a) : (b))
#define ravel_max(a, b) ((a) > (b) ? (a) : (b))

/* Four bytes of x (numbers 0 to 3) and y (4 to 7): each hexadecimal digit of s selects one. */
static inline uint32_t
ravel_permute(uint32_t x, uint32_t y, uint32_t s)
{
    const uint64_t v = (uint64_t)y << 32 | x;
    return (uint32_t)((v >> (s & 7) * 8 & 0xff) | (v >> (s >> 4 & 7) * 8 & 0xff) << 8 |
                (v >> (s >> 8 & 7) * 8 & 0xff) << 16 | (v >> (s >> 12 & 7) * 8 & 0xff) << 24);
}
