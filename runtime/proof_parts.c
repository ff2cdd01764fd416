/* Work that threads share: run part by part, in orders in which threads could execute it,
 * and each part alone. */
#include "proof_lane.h"

#include <string.h>

/* Numbers of parts, and the step from one to the next, in a ring; the last is more than
 * small plans have iterations. */
static const struct {
    int parts, step;
} splits[] = {{1, 1}, {2, 1}, {3, 2}, {7, 3}, {64, 63}};
/* Of these, from the second on, how many are told apart byte by byte: their runs. */
enum { APART = 4, RUNS_APART = 2 * (2 + 3 + 7), CHUNK = 4096 };

int
parts_runs(void)
{
    return LEN(splits) + RUNS_APART;
}

int
parts_most(void)
{
    return splits[LEN(splits) - 1].parts;
}

/* Run all parts one after another, in the given order. */
static ravel_status
run_parts(Proof *q, const Code *code, int parts, int step, ravel_error *err)
{
    Lane *l = &q->lane[1];
    Shot s = {q->passes - 1, 0xff, POISON, place_at_end(q, l->dst.n),
              place_at_end(q, l->src.n), false};
    if (lane_prepare(q, l, &s, err))
        return RAVEL_ERR_MEMORY;
    for (int i = 0, part = parts / 2; i < parts; i++, part = (part + step) % parts)
        code->part(code->self, l->dst.p, l->src.p, part, parts);
    return lane_check_by(q, l, &q->lane[0], err);
}

/* 0xff in each byte of a word that is not `byte`. */
static uint64_t
others(const unsigned char *p, unsigned char byte)
{
    const uint64_t ones = UINT64_MAX / 0xff, low = ones * 0x7f;
    uint64_t w;
    memcpy(&w, p, sizeof w);
    w ^= ones * byte;
    w = (((w & low) + low) | w) & ~low;
    return (w << 1) - (w >> 7);
}

/* The first byte of a piece that has changed and that another part owns, or n. */
static size_t
shared_byte(const unsigned char *dst, const unsigned char *owner, size_t n,
            unsigned char poison, unsigned char mine)
{
    uint64_t any = 0;
    size_t words = n / 8 * 8;
    for (size_t k = 0; k < words; k += 8)
        any |= others(dst + k, poison) & others(owner + k, 0) & others(owner + k, mine);
    size_t i = any ? 0 : words;
    while (i < n && (dst[i] == poison || !owner[i] || owner[i] == mine))
        i++;
    return i;
}

static void
own(const unsigned char *dst, unsigned char *owner, size_t n, unsigned char poison,
    unsigned char mine)
{
    size_t words = n / 8 * 8;
    for (size_t i = 0; i < words; i += 8) {
        uint64_t w, changed = others(dst + i, poison);
        memcpy(&w, owner + i, sizeof w);
        w = (w & ~changed) | (UINT64_MAX / 0xff * mine & changed);
        memcpy(owner + i, &w, sizeof w);
    }
    for (size_t i = words; i < n; i++)
        owner[i] = dst[i] != poison ? mine : owner[i];
}

/* Enter the part as the owner of the changed bytes of a piece.  owner[i] is the part,
 * from 1, that wrote byte i; 0: none.  The changed bytes become poison again. */
static ravel_status
own_piece(const Fence *f, size_t at, size_t n, unsigned char *owner,
          unsigned char poison, int part, int parts, ravel_error *err)
{
    unsigned char *dst = f->p + at, mine = (unsigned char)(part + 1);
    owner += at;
    size_t i = shared_byte(dst, owner, n, poison, mine);
    if (i < n)
        return error_set(err, RAVEL_ERR_VERIFY, "byte %lld of the destination is "
                         "written by part %d and by part %d of %d, which threads may "
                         "run at once", (long long)(at + i), owner[i] - 1, part, parts);
    own(dst, owner, n, poison, mine);
    memset(dst, poison, n);
    return RAVEL_OK;
}

static ravel_status
own_bytes(const Fence *dst, unsigned char *owner, unsigned char poison, int part,
          int parts, ravel_error *err)
{
    unsigned char untouched[CHUNK];
    ravel_status s = RAVEL_OK;
    memset(untouched, poison, sizeof untouched);
    for (size_t i = 0; s == RAVEL_OK && i < dst->n; i += CHUNK) {
        size_t n = dst->n - i < CHUNK ? dst->n - i : CHUNK;
        if (memcmp(dst->p + i, untouched, n))
            s = own_piece(dst, i, n, owner, poison, part, parts, err);
    }
    return s;
}

/* Run each part alone over both poisons: a byte that is written differs from one of
 * them. */
static ravel_status
tell_parts_apart(Proof *q, const Code *code, int parts, ravel_error *err)
{
    Lane *l = &q->lane[0];
    Shot s = {0, 0, POISON, place_at_end(q, l->dst.n), place_at_end(q, l->src.n), false};
    unsigned char *owner = q->lane[1].dst.p;
    ravel_status r = lane_prepare(q, l, &s, err);
    memset(owner, 0, l->dst.n);
    for (int i = 0; r == RAVEL_OK && i < 2 * parts; i++) {
        unsigned char poison = i < parts ? POISON : (unsigned char)~POISON;
        if (i == parts)
            memset(l->dst.p, poison, l->dst.n);
        code->part(code->self, l->dst.p, l->src.p, i % parts, parts);
        r = own_bytes(&l->dst, owner, poison, i % parts, parts, err);
    }
    return lane_lock(l, false, err) ? RAVEL_ERR_MEMORY : r;
}

ravel_status
prove_parts(Proof *q, const Code *code, ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    for (int i = 0; s == RAVEL_OK && i < LEN(splits); i++)
        s = run_parts(q, code, splits[i].parts, splits[i].step, err);
    for (int i = 1; s == RAVEL_OK && i < APART; i++)
        s = tell_parts_apart(q, code, splits[i].parts, err);
    return s;
}
