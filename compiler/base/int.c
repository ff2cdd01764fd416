#include "base.h"

i64
int_ceil_div(i64 a, i64 b)
{
    return a / b + (a % b != 0);
}

i64
int_gcd(i64 a, i64 b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t t = x % y;
        x = y;
        y = t;
    }
    return x > INT64_MAX ? 1 : (i64)x;
}

bool
int_lcm(i64 a, i64 b, i64 *r)
{
    return int_mul(a / int_gcd(a, b), b, r);
}

bool
int_round_up(i64 a, i64 b, i64 *r)
{
    return int_mul(int_ceil_div(a, b), b, r);
}

bool
int_is_pow2(i64 a)
{
    return a > 0 && (a & (a - 1)) == 0;
}

int
int_log2(i64 a)
{
    return 63 - __builtin_clzll((unsigned long long)a);
}

size_t
int_bytes(Diag *d, i64 n, size_t each)
{
    i64 r;
    if (n < 0 || !int_mul(n, (i64)each, &r))
        diag_fatal(d, DIAG_MEMORY, (Loc){0}, "no memory for %lld elements of %zu bytes",
                   (long long)n, each);
    return (size_t)r;
}

int
int_compare(const void *a, const void *b)
{
    i64 x = *(const i64 *)a, y = *(const i64 *)b;
    return (x > y) - (x < y);
}

void
cuts_add(Cuts *c, i64 at)
{
    int i = 0;
    while (i < c->n && c->cut[i] < at)
        i++;
    if (at <= 1 || at >= c->below || c->n == c->most || (i < c->n && c->cut[i] == at))
        return;
    for (int j = c->n++; j > i; j--)
        c->cut[j] = c->cut[j - 1];
    c->cut[i] = at;
}
