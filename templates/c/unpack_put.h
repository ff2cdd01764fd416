/* Elements of four bits from bytes that have two each, to any element of the destination. */
#if defined(RAVEL_UNPACK_VBMI)
/* Bytes of a run that begins in the upper half of its first byte if `odd`; that byte is written again. */
RAVEL_CONSTANT void
ravel_put_bytes(unsigned char *d, const unsigned char *s, int64_t bytes, int odd)
{
    const __m512i low = _mm512_set1_epi8(odd ? 15 : 0);
    const __m128i by = _mm_cvtsi32_si128(4 * odd);
    for (int64_t i = 0; i < bytes; i += 64) {
        const __m512i v = _mm512_loadu_si512(s + i), before = _mm512_loadu_si512(s + i - 1);
        const __m512i x = _mm512_ternarylogic_epi32(low, _mm512_srli_epi16(before, 4),
                                                    _mm512_sll_epi16(v, by), 0xca);
        if (i + 64 <= bytes)
            _mm512_storeu_si512(d + i, x);
        else
            _mm512_mask_storeu_epi8(d + i, ((__mmask64)1 << (bytes - i)) - 1, x);
    }
}
#else
RAVEL_CONSTANT void
ravel_put_bytes(unsigned char *d, const unsigned char *s, int64_t bytes, int odd)
{
    int64_t i = odd;
#ifndef RAVEL_PLAIN
    for (; bytes >= 16 + odd && i < bytes; i += 16) {
        i = i + 16 > bytes ? bytes - 16 : i;
        ravel_store1(d + i, odd ? ravel_bits_vector(s + i - 1, 4) : ravel_load1(s + i), 0);
    }
#endif
    for (; i < bytes; i++)
        d[i] = (unsigned char)(odd ? s[i - 1] >> 4 | s[i] << 4 : s[i]);
}
#endif

/* n elements of each run to element d + to[] of the destination.  Other elements stay: what bytes have of
 * them is read before others are written, as a read waits for a store to bytes next to it.  The byte
 * before a run and the 64 after it are read. */
static void
ravel_put_runs(unsigned char *dst, int64_t d, const int32_t *to, int64_t runs,
               const unsigned char *s, int64_t pitch, int64_t n)
{
    for (int64_t i = 0; i < runs; i++, s += pitch) {
        const int64_t at = d + to[i], bytes = ((at + n) >> 1) - (at >> 1);
        unsigned char *const begin = dst + (at >> 1);
        const int odd = (int)(at & 1);
        const unsigned first = (*begin & 15u) | (unsigned)s[0] << 4;
        if ((at + n) & 1)
            ravel_bits_into(begin + bytes, 0, odd ? s[bytes - 1] >> 4 : s[bytes] & 15u, 4);
        ravel_put_bytes(begin, s, bytes, odd);
        if (odd)
            *begin = (unsigned char)first;
    }
}
