/* Values below a byte, the first in the low bits: a byte for each while they are moved. */

RAVEL_PART unsigned char
ravel_packed_at(const unsigned char *v, int64_t i, int64_t bits)
{
    return (unsigned char)(v[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1));
}

typedef struct {
    unsigned char *out;
    const unsigned char *in;
    int64_t n, bits;
} ravel_repacked;

RAVEL_PART void
ravel_unpack_bytes(unsigned char *out, const unsigned char *in, int64_t from, int64_t to, int bits)
{
    const int each = 8 / bits, low = (1 << bits) - 1;
    for (int64_t i = from; i < to; i++)
        for (int k = 0; k < each; k++)
            out[i * each + k] = (unsigned char)(in[i] >> (k * bits) & low);
}

RAVEL_PART void
ravel_pack_bytes(unsigned char *out, const unsigned char *in, int64_t from, int64_t to, int bits)
{
    const int each = 8 / bits, low = (1 << bits) - 1;
    for (int64_t i = from; i < to; i++) {
        int byte = 0;
        for (int k = 0; k < each; k++)
            byte |= (in[i * each + k] & low) << (k * bits);
        out[i] = (unsigned char)byte;
    }
}

static void
ravel_unpack_part(void *arg, int part, int parts)
{
    const ravel_repacked *r = (const ravel_repacked *)arg;
    int64_t whole = r->n * r->bits / 8, from = ravel_part_of(whole, part, parts);
    int64_t to = ravel_part_of(whole, part + 1, parts);
    switch (r->bits) {
    case 4: ravel_unpack_bytes(r->out, r->in, from, to, 4); break;
    case 2: ravel_unpack_bytes(r->out, r->in, from, to, 2); break;
    default: ravel_unpack_bytes(r->out, r->in, from, to, 1);
    }
}

static void
ravel_pack_part(void *arg, int part, int parts)
{
    const ravel_repacked *r = (const ravel_repacked *)arg;
    int64_t whole = r->n * r->bits / 8, from = ravel_part_of(whole, part, parts);
    int64_t to = ravel_part_of(whole, part + 1, parts);
    switch (r->bits) {
    case 4: ravel_pack_bytes(r->out, r->in, from, to, 4); break;
    case 2: ravel_pack_bytes(r->out, r->in, from, to, 2); break;
    default: ravel_pack_bytes(r->out, r->in, from, to, 1);
    }
}

/* The n values of the source as bytes. */
RAVEL_STEP
ravel_stream_unpack(ravel_stream *s, const void *values, int64_t n, int64_t bits)
{
    s->values = s->area[RAVEL_VALUES];
    ravel_repacked r = {s->values, (const unsigned char *)values, n, bits};
    if (s->flaw || n <= 0)
        return;
    RAVEL_SHARE(s, ravel_unpack_part, &r);
    for (int64_t i = n * bits / 8 * 8 / bits; i < n; i++)
        r.out[i] = ravel_packed_at(r.in, i, bits);
}

/* Bytes become the values of the destination; bits of the last byte that no value has are 0. */
RAVEL_STEP
ravel_stream_pack(ravel_stream *s, void *values, const void *from, int64_t bits)
{
    ravel_repacked r = {(unsigned char *)values, (const unsigned char *)from, s->packed, bits};
    int64_t whole = r.n * bits / 8, last = 0;
    if (s->flaw || r.n <= 0)
        return;
    RAVEL_SHARE(s, ravel_pack_part, &r);
    for (int64_t i = whole * 8 / bits; i < r.n; i++)
        last |= (int64_t)(r.in[i] & ((1 << bits) - 1)) << (i * bits % 8);
    if (r.n * bits % 8)
        r.out[whole] = (unsigned char)last;
}

/* The destination needs as many bytes as `array` has values, in the array after it. */
RAVEL_STEP
ravel_stream_report_bytes(ravel_stream *s, int64_t *m, int64_t array)
{
    s->packed = m[array + 1] = m[array];
}
