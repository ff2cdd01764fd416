#include <math.h>
#include <string.h>
#include <strings.h>

#include "layout.h"

const DType dtypes[] = {
    /* name  bits kind npy */
    {"f32",  32, 'f', "f4"},  {"f16",  16, 'f', "f2"},  {"bf16", 16, 'b', "V2"},
    {"f64",  64, 'f', "f8"},  {"i8",    8, 'i', "i1"},  {"u8",    8, 'u', "u1"},
    {"i16",  16, 'i', "i2"},  {"u16",  16, 'u', "u2"},  {"i32",  32, 'i', "i4"},
    {"u32",  32, 'u', "u4"},  {"i64",  64, 'i', "i8"},  {"u64",  64, 'u', "u8"},
    {"i4",    4, 'i', "u1"},  {"u4",    4, 'u', "u1"},  {"u2",    2, 'u', "u1"},
    {"u1",    1, 'u', "u1"},  {"c64",  64, 'c', "c8"},  {"c128", 128, 'c', "c16"},
};
const int ndtypes = LEN(dtypes);

const DType *
dtype_find(const char *name)
{
    for (int i = 0; i < ndtypes; i++)
        if (!strcmp(dtypes[i].name, name))
            return &dtypes[i];
    return NULL;
}

/* Names of other systems.  A type without a value of its own is moved as one of its size:
 * a relayout does not look at values. */
static const char *const others[][2] = {
    {"float", "f32"}, {"single", "f32"}, {"double", "f64"}, {"half", "f16"},
    {"bfloat", "bf16"}, {"char", "i8"}, {"short", "i16"}, {"int", "i32"}, {"long", "i64"},
    {"uchar", "u8"}, {"byte", "u8"}, {"ushort", "u16"}, {"uint", "u32"}, {"ulong", "u64"},
    {"bool", "u8"}, {"f8", "u8"}, {"fp8", "u8"}, {"float8", "u8"}, {"fp4", "u4"},
    {"f2", "f16"}, {"f4", "f32"}, {"c8", "c64"}, {"c16", "c128"},
    {"float4", "u4"}, {"nf4", "u4"}, {"i2", "u2"}, {"i1", "u1"}, {"bit", "u1"},
    {"complex", "c64"}, {"tf32", "f32"}, {"e4m3", "u8"}, {"e5m2", "u8"}, {"e2m1", "u4"},
};

/* The spellings of a letter before the number of bits: float16, fp16 and F16. */
static const char *const kinds[][2] = {
    {"float", "f"}, {"fp", "f"}, {"f", "f"}, {"bfloat", "bf"}, {"bf", "bf"}, {"int", "i"},
    {"s", "i"}, {"i", "i"}, {"uint", "u"}, {"u", "u"}, {"complex", "c"}, {"c", "c"}};

/* The type KINDnBITS, as in float16. */
static const char *
spelled(const char *name)
{
    for (int i = 0; i < LEN(kinds); i++) {
        size_t n = strlen(kinds[i][0]), m = strlen(kinds[i][1]);
        if (strncasecmp(name, kinds[i][0], n))
            continue;
        for (int k = 0; k < ndtypes; k++)
            if (!strncmp(dtypes[k].name, kinds[i][1], m) &&
                !strcmp(dtypes[k].name + m, name + n))
                return dtypes[k].name;
    }
    return NULL;
}

const char *
dtype_meant(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (dot)
        name = dot + 1;
    const DType *numpy = *name && strchr("<>=|", *name) ? dtype_of_npy(name + 1) : NULL;
    const char *found = numpy ? numpy->name : spelled(name);
    size_t n = strcspn(name, "_");
    for (int i = 0; i < LEN(others) && !found; i++)
        if (strlen(others[i][0]) == n && !strncasecmp(name, others[i][0], n))
            found = others[i][1];
    return found;
}

/* NumPy types that are read as another type: bool, and opaque bytes. */
static const char *const aliases[][2] = {
    {"b1", "u8"}, {"V1", "u8"}, {"V4", "u32"}, {"V8", "u64"}};

const DType *
dtype_of_npy(const char *descr)
{
    for (int i = 0; i < LEN(aliases); i++)
        if (!strcmp(aliases[i][0], descr))
            return dtype_find(aliases[i][1]);
    for (int i = 0; i < ndtypes; i++)
        if (dtypes[i].bits >= 8 && !strcmp(dtypes[i].npy, descr))
            return &dtypes[i];
    return NULL;
}

/* Converts a double to IEEE 754 binary with `exp` exponent and `frac` fraction bits, at
 * most 16 bits in all.  Rounds to nearest, ties to even. */
static uint64_t
small_float(double v, int exp, int frac)
{
    int e, bias = (1 << (exp - 1)) - 1;
    uint64_t sign = (uint64_t)(signbit(v) ? 1 : 0) << (exp + frac);
    uint64_t inf = (((uint64_t)1 << exp) - 1) << frac;
    if (isnan(v))
        return sign | inf | ((uint64_t)1 << (frac - 1));
    if (isinf(v))
        return sign | inf;
    frexp(v, &e);                        /* |v| in [2^(e-1), 2^e) */
    int scale = (e - 1 > 1 - bias ? e - 1 : 1 - bias) - frac;
    double steps = nearbyint(fabs(ldexp(v, -scale)));
    if (v == 0)
        return sign;
    uint64_t field = (uint64_t)(scale + frac + bias - 1) << frac;
    uint64_t r = field + (uint64_t)steps;
    return sign | (r < inf ? r : inf);
}

static bool
encode_integer(const DType *t, double v, uint64_t *p)
{
    double top = ldexp(1, t->kind == 'i' ? t->bits - 1 : t->bits);
    double low = t->kind == 'i' ? -top : 0;
    if (!(v == floor(v) && v >= low && v < top))
        return false;
    uint64_t mask = t->bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << t->bits) - 1;
    *p = (v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v) & mask;
    return true;
}

/* The value of a float with so many exponent and fraction bits. */
static double
decode_small(uint64_t bits, int exp, int frac)
{
    uint64_t field = bits >> frac & (((uint64_t)1 << exp) - 1), part = bits & (((uint64_t)1 << frac) - 1);
    int bias = (1 << (exp - 1)) - 1;
    double v = field ? ldexp((double)(part | (uint64_t)1 << frac), (int)field - bias - frac)
                     : ldexp((double)part, 1 - bias - frac);
    if (field == ((uint64_t)1 << exp) - 1)
        v = part ? NAN : INFINITY;
    return bits >> (exp + frac) & 1 ? -v : v;
}

double
dtype_decode(const DType *t, uint64_t bits)
{
    if (t->kind == 'u')
        return (double)bits;
    if (t->kind == 'i')
        return bits >> (t->bits - 1) & 1 ? (double)(int64_t)(bits | -((uint64_t)1 << (t->bits - 1)))
                                         : (double)bits;
    return t->kind == 'b' ? decode_small(bits, 8, 7)
           : t->bits == 16 ? decode_small(bits, 5, 10)
           : t->bits == 32 ? decode_small(bits, 8, 23) : decode_small(bits, 11, 52);
}

/* The bits of v in a type of `bits` bits that is no integer. */
static uint64_t
encode_float(const DType *t, double v, int bits)
{
    float f = (float)v;
    uint32_t single;
    uint64_t whole;
    if (t->kind == 'b')
        return small_float(v, 8, 7);
    if (bits == 16)
        return small_float(v, 5, 10);
    memcpy(&single, &f, sizeof f);
    memcpy(&whole, &v, sizeof v);
    return bits == 64 ? whole : single;
}

bool
dtype_encode(const DType *t, double v, uint64_t pattern[2])
{
    int bits = t->kind == 'c' ? t->bits / 2 : t->bits;
    pattern[0] = pattern[1] = 0;
    if (t->kind == 'i' || t->kind == 'u')
        return encode_integer(t, v, &pattern[0]);
    pattern[0] = encode_float(t, v, bits);
    return isinf(v) || pattern[0] != encode_float(t, copysign(INFINITY, v), bits);
}
