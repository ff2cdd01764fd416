/* dnnl_reorder: oneDNN as a second oracle.  Jobs on standard input, each a line
 *
 *   TAG DTYPE D0,D1,...
 *
 * and the dense row-major data (f32 bf16 s8); answers on standard output, each a
 * line with the bytes that follow, the data in the format of TAG.  0 bytes where
 * this oneDNN has no such tag or reorder.  With an argument: all tags, a line
 * each. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

static const char *const plain[] = {"", "a", "ab", "abc", "abcd", "abcde", "abcdef"};

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
    return !strcmp(name, "f32") ? dnnl_f32 : !strcmp(name, "bf16") ? dnnl_bf16 : dnnl_s8;
}

static bool
describe(dnnl_memory_desc_t *d, int n, const dnnl_dims_t dims, const char *type,
         const char *tag)
{
    dnnl_format_tag_t t = tag_of(tag);
    return t != dnnl_format_tag_undef &&
           dnnl_memory_desc_init_by_tag(d, n, dims, type_of(type), t) == dnnl_success;
}

static bool
reorder(dnnl_engine_t engine, const dnnl_memory_desc_t *from,
        const dnnl_memory_desc_t *to, void *src, void *dst)
{
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t p = NULL;
    dnnl_stream_t stream = NULL;
    dnnl_memory_t m[2] = {NULL, NULL};
    bool ok =
        dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL) ==
            dnnl_success &&
        dnnl_primitive_create(&p, pd) == dnnl_success &&
        dnnl_memory_create(&m[0], from, engine, src) == dnnl_success &&
        dnnl_memory_create(&m[1], to, engine, dst) == dnnl_success &&
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success;
    if (ok) {
        dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, m[0]}, {DNNL_ARG_TO, m[1]}};
        ok = dnnl_primitive_execute(p, stream, 2, args) == dnnl_success &&
             dnnl_stream_wait(stream) == dnnl_success;
    }
    dnnl_stream_destroy(stream);
    dnnl_memory_destroy(m[0]);
    dnnl_memory_destroy(m[1]);
    dnnl_primitive_destroy(p);
    dnnl_primitive_desc_destroy(pd);
    return ok;
}

static void
answer(const void *data, size_t n)
{
    printf("%zu\n", n);
    if (n)
        fwrite(data, 1, n, stdout);
}

static void
list(void)
{
    for (int t = dnnl_format_tag_any + 1; t < dnnl_format_tag_last; t++)
        puts(dnnl_fmt_tag2str((dnnl_format_tag_t)t));
}

int
main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        list();
        return 0;
    }
    char tag[64], type[8], shape[128];
    dnnl_engine_t engine;
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
        return 2;
    while (scanf("%63s %7s %127s", tag, type, shape) == 3 && getchar() == '\n') {
        dnnl_dims_t dims = {0};
        dnnl_memory_desc_t from, to;
        int n = 0;
        for (char *s = strtok(shape, ","); s && n < 6; s = strtok(NULL, ","))
            dims[n++] = atoll(s);
        if (!describe(&from, n, dims, type, plain[n]))
            return 2;
        size_t in = dnnl_memory_desc_get_size(&from), out = 0;
        unsigned char *src = malloc(in), *dst = NULL;
        if (!src || fread(src, 1, in, stdin) != in)
            return 2;
        if (describe(&to, n, dims, type, tag)) {
            out = dnnl_memory_desc_get_size(&to);
            dst = malloc(out);
            if (!dst)
                return 2;
            memset(dst, 0xa5, out);
            if (!reorder(engine, &from, &to, src, dst))
                out = 0;
        }
        answer(dst, out);
        free(src);
        free(dst);
    }
    return 0;
}
