/* onednn.c: oneDNN's reorders as timed calls, a shared library of its own so that
 * bench.py works without.  2.x, C interface, CPU. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include "../runtime/measure.h"

/* One side: a format tag, or strides in elements where `tag` is NULL. */
typedef struct {
    const char *tag;
    const int64_t *strides;
    void *data;
    int64_t bytes;        /* what it must come to */
} Side;

typedef struct {
    dnnl_stream_t stream;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t reorder;
    dnnl_memory_t from, to;
    int64_t created;      /* nanoseconds from memory descriptors to a primitive */
} Reorder;

static dnnl_engine_t engine;

/* "2.6.3", or NULL when there is no engine. */
const char *
onednn_version(void)
{
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    if (!engine && dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
        return NULL;
    dnnl_set_primitive_cache_capacity(0);      /* so that a creation is one */
    snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

/* Of reorders made and run from now on. */
void
onednn_threads(int n)
{
    omp_set_num_threads(n);
}

static dnnl_format_tag_t
tag_of(const char *name)
{
    for (int t = dnnl_format_tag_any + 1; t < dnnl_format_tag_last; t++)
        if (!strcmp(dnnl_fmt_tag2str((dnnl_format_tag_t)t), name))
            return (dnnl_format_tag_t)t;
    return dnnl_format_tag_undef;
}

static dnnl_data_type_t
type_of(const char *name)
{
    static const struct {
        const char *name;
        dnnl_data_type_t type;
    } types[] = {{"f32", dnnl_f32}, {"i32", dnnl_s32}, {"f16", dnnl_f16},
                 {"bf16", dnnl_bf16}, {"i8", dnnl_s8}, {"u8", dnnl_u8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name))
            return types[i].type;
    return dnnl_data_type_undef;
}

/* What is wrong with it, or NULL. */
static const char *
describe(dnnl_memory_desc_t *d, const Side *s, int rank, const int64_t *shape,
         dnnl_data_type_t type)
{
    dnnl_dims_t dims, strides;
    if (rank > DNNL_MAX_NDIMS)
        return "it has no so many dims";
    memcpy(dims, shape, (size_t)rank * sizeof *dims);
    dnnl_status_t status;
    if (s->tag) {
        dnnl_format_tag_t tag = tag_of(s->tag);
        if (tag == dnnl_format_tag_undef)
            return "it has no such tag";
        status = dnnl_memory_desc_init_by_tag(d, rank, dims, type, tag);
    } else {
        memcpy(strides, s->strides, (size_t)rank * sizeof *strides);
        status = dnnl_memory_desc_init_by_strides(d, rank, dims, type, strides);
    }
    if (status != dnnl_success)
        return "it refuses the memory descriptor";
    return (int64_t)dnnl_memory_desc_get_size(d) == s->bytes ? NULL : "its storage has "
           "another size";
}

static bool
create(Reorder *r, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
       const Side side[2])
{
    int64_t start = measure_now();
    bool ok = dnnl_reorder_primitive_desc_create(&r->desc, from, engine, to, engine,
                                                 NULL) == dnnl_success &&
              dnnl_primitive_create(&r->reorder, r->desc) == dnnl_success;
    r->created = measure_now() - start;
    return ok &&
        dnnl_memory_create(&r->from, from, engine, side[0].data) == dnnl_success &&
        dnnl_memory_create(&r->to, to, engine, side[1].data) == dnnl_success &&
        dnnl_stream_create(&r->stream, engine, dnnl_stream_default_flags) ==
            dnnl_success;
}

void
onednn_free(Reorder *r)
{
    if (!r)
        return;
    dnnl_stream_destroy(r->stream);
    dnnl_memory_destroy(r->from);
    dnnl_memory_destroy(r->to);
    dnnl_primitive_destroy(r->reorder);
    dnnl_primitive_desc_destroy(r->desc);
    free(r);
}

/* A reorder from side[0] to side[1], or NULL and *why. */
Reorder *
onednn_new(const char *dtype, int rank, const int64_t *shape, const Side side[2],
           const char **why)
{
    dnnl_data_type_t type = type_of(dtype);
    dnnl_memory_desc_t d[2];
    *why = type == dnnl_data_type_undef ? "it has no such type" : NULL;
    for (int i = 0; i < 2 && !*why; i++)
        *why = describe(&d[i], &side[i], rank, shape, type);
    if (*why)
        return NULL;
    Reorder *r = calloc(1, sizeof *r);
    if (r && create(r, &d[0], &d[1], side))
        return r;
    onednn_free(r);
    *why = "it has no such reorder";
    return NULL;
}

int64_t
onednn_created(const Reorder *r)
{
    return r->created;
}

int64_t
onednn_time(void *reorder, int64_t calls)
{
    Reorder *r = reorder;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, r->from}, {DNNL_ARG_TO, r->to}};
    int64_t start = measure_now();
    for (int64_t i = 0; i < calls; i++)
        if (dnnl_primitive_execute(r->reorder, r->stream, 2, args) != dnnl_success ||
            dnnl_stream_wait(r->stream) != dnnl_success)
            return -1;
    return measure_now() - start;
}
