/* Builds the problem of a swizzle from passes; applies, proves and prints the result. */
#include <stdlib.h>
#include <string.h>

#include "swizzle_pass.h"

uint32_t
swizzle_word(const Swizzle *w, uint32_t word)
{
    uint32_t flip = 0;
    for (int i = 0; i < BANK_BITS; i++)
        flip |= (uint32_t)__builtin_parity(word & w->mask[i]) << i;
    return word ^ flip;
}

Swizzler *
swizzler_new(Arena *a, int bits, int keep)
{
    Swizzler *s = arena_new(a, Swizzler);
    s->arena = a;
    s->bits = bits < BANK_BITS ? BANK_BITS : bits;
    s->keep = keep;
    return s;
}

static int
compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the words and removes duplicates; returns the new number. */
static int
distinct(uint32_t *word, int n)
{
    int kept = 0;
    qsort(word, (size_t)n, sizeof *word, compare_words);
    for (int i = 0; i < n; i++)
        if (!kept || word[i] != word[kept - 1])
            word[kept++] = word[i];
    return kept;
}

static Pass *
next_pass(Swizzler *s)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        Pass *more = arena_array(s->arena, Pass, s->cap);
        if (s->n)
            memcpy(more, s->pass, (size_t)s->n * sizeof *more);
        s->pass = more;
    }
    s->pass[s->n] = (Pass){0};
    return &s->pass[s->n];
}

/* Only the xor of words matters, so a pass is stored xored such that it contains word 0. */
void
swizzler_add(Swizzler *s, int access, int v, const uint32_t *word, int n)
{
    Pass *p = next_pass(s);
    p->access = access;
    p->v = v;
    for (int i = 0; i < n; i++)
        p->word[i] = word[i] ^ word[0];
    p->n = distinct(p->word, n);
    s->keep = v > s->keep ? v : s->keep;
    s->n += p->n > 1;
}

void
swizzler_add_lanes(Swizzler *s, int access, const LaneMap *m)
{
    uint32_t word[1 << BANK_BITS] = {0};
    int bits = BANK_BITS - m->v;
    for (int l = 1; l < 1 << bits; l++) {
        int top = int_log2(l);
        word[l] = word[l ^ 1 << top] ^ m->lane[top];
    }
    swizzler_add(s, access, m->v, word, 1 << bits);
}

/* Diagonal s of the masks: the bank bits that are xored with the bit s above them. */
static uint32_t
diagonal(const Swizzle *w, int s)
{
    uint32_t bits = 0;
    for (int i = 0; i < BANK_BITS && i + s < 32; i++)
        bits |= (w->mask[i] >> (i + s) & 1) << i;
    return bits;
}

const char *
swizzle_text(Arena *a, const Swizzle *w, int shift)
{
    Buf b = buf_new(a);
    int n = 0, only = 0;
    uint32_t bits;
    buf_add(&b, "function(a) return a");
    for (int s = 1; s < 32; s++) {
        bits = diagonal(w, s);
        if (!bits)
            continue;
        uint64_t mask = shift < 0 ? bits >> -shift : (uint64_t)bits << shift;
        buf_printf(&b, " ~ (a >> %d & %llu)", s, (unsigned long long)mask);
        only = s;
        n++;
    }
    buf_add(&b, " end");
    bits = n == 1 ? diagonal(w, only) : 0;
    if (!bits || !int_is_pow2((i64)(bits + (bits & -bits))))
        return b.s;
    return arena_printf(a, "xor(%d, %d, %d)", __builtin_popcount(bits),
                        __builtin_ctz(bits) + shift, only);
}
