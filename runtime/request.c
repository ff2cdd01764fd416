/* A request: whether it is valid, the key of its plan, and what the compiler has of it. */
#include <string.h>

#include "library.h"

ravel_status
shape_check(int rank, const int64_t *shape, ravel_error *err)
{
    if (rank < 0 || rank > RAVEL_MAX_RANK)
        return error_set(err, RAVEL_ERR_ARGUMENT, "a rank of %d: 0 to %d", rank,
                         RAVEL_MAX_RANK);
    if (rank && !shape)
        return error_set(err, RAVEL_ERR_ARGUMENT, "shape is NULL");
    return RAVEL_OK;
}

ravel_status
request_check(const ravel_request *rq, ravel_error *err)
{
    ravel_status s = shape_check(rq->rank, rq->shape, err);
    if (s == RAVEL_OK && rq->threads < 0)
        s = error_set(err, RAVEL_ERR_ARGUMENT, "%d threads: give 1 or more, or 0 for one "
                      "for each processor", rq->threads);
    return s;
}

/* FNV-1a. */
static uint64_t
hash_bytes(uint64_t h, const void *p, size_t n)
{
    for (const unsigned char *s = p; n--; s++)
        h = (h ^ *s) * 1099511628211u;
    return h;
}

/* One multiplication a word: the run of a plan at a shape waits for it. */
static uint64_t
hash_shape(uint64_t h, const int64_t *shape, int rank)
{
    for (int d = 0; d < rank; d++) {
        h = (h ^ (uint64_t)shape[d]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h * 0x9e3779b97f4a7c15u;
}

Key
key_of(const ravel_context *cx, const ravel_request *rq)
{
    Key k = {*rq, cx->threads, 14695981039346656037u, 0};
    k.texts = hash_bytes(k.texts, rq->from, strlen(rq->from) + 1);
    k.texts = hash_bytes(k.texts, rq->to, strlen(rq->to) + 1) + (rq->in_place != 0);
    return key_at(&k, rq->shape);
}

Key
key_at(const Key *k, const int64_t *shape)
{
    Key at = *k;
    at.rq.shape = shape;
    at.hash = hash_shape(k->texts, shape, k->rq.rank);
    return at;
}

Key
key_keep(Arena *a, const Key *k)
{
    Key copy = *k;
    copy.rq.from = arena_string(a, k->rq.from);
    copy.rq.to = arena_string(a, k->rq.to);
    copy.rq.dtype = arena_string(a, k->rq.dtype);
    copy.rq.shape = arena_copy(a, k->rq.shape, (size_t)k->rq.rank * sizeof *k->rq.shape);
    return copy;
}

bool
key_same(const Key *a, const Key *b)
{
    return a->hash == b->hash && a->threads == b->threads &&
           a->rq.threads == b->rq.threads && a->rq.rank == b->rq.rank &&
           !a->rq.in_place == !b->rq.in_place &&
           !strcmp(a->rq.from, b->rq.from) && !strcmp(a->rq.to, b->rq.to) &&
           !strcmp(a->rq.dtype, b->rq.dtype) &&
           (a->rq.rank == 0 || !memcmp(a->rq.shape, b->rq.shape,
                                       (size_t)a->rq.rank * sizeof *a->rq.shape));
}

Request
request_of(const ravel_request *rq)
{
    return (Request){.from = rq->from, .to = rq->to, .dtype = rq->dtype, .rank = rq->rank,
                     .shape = rq->shape, .name = "ravel_relayout"};
}
