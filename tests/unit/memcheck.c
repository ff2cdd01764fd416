/* memcheck: relayouts under Valgrind, several in a process.  Jobs on standard input,
 * a line each:
 *
 *   OBJECT FUNCTION SOURCE_BYTES DESTINATION_BYTES SOURCE_BITS DESTINATION_BITS
 *
 * The buffers are malloc'ed to the byte.  The last two are files: a bit is set where
 * the source is undefined before the run (holes, padding), and where the destination
 * must be so after it (holes).  Valgrind itself sees what leaves the buffers. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/memcheck.h>

typedef void Relayout(void *dst, const void *src);

static unsigned char *
read_bits(const char *path, size_t n)
{
    FILE *f = fopen(path, "rb");
    unsigned char *p = malloc(n);
    if (!f || !p || fread(p, 1, n, f) != n) {
        fprintf(stderr, "memcheck: '%s' has no %zu bytes\n", path, n);
        exit(2);
    }
    fclose(f);
    return p;
}

/* Bits of dst that are undefined where they should not be, or the reverse. */
static int
judge(const char *function, const unsigned char *dst, const unsigned char *want, size_t n)
{
    unsigned char *got = malloc(n);
    size_t i = 0;
    if (!got || VALGRIND_GET_VBITS(dst, got, n) != 1)
        exit(2);
    while (i < n && got[i] == want[i])
        i++;
    if (i < n)
        printf("%s: byte %zu of the destination: bits 0x%02x are undefined, 0x%02x "
               "should be\n", function, i, (unsigned)got[i], (unsigned)want[i]);
    free(got);
    return i < n;
}

static int
job(const char *object, const char *function, size_t n, size_t m, const char *before,
    const char *after)
{
    unsigned char *undefined = read_bits(before, n), *want = read_bits(after, m);
    unsigned char *src = malloc(n), *dst = malloc(m);
    void *so = dlopen(object, RTLD_NOW);
    Relayout *run = so ? (Relayout *)(uintptr_t)dlsym(so, function) : NULL;
    if (!run || !src || !dst) {
        fprintf(stderr, "memcheck: no %s in %s\n", function, object);
        exit(2);
    }
    memset(src, 0x6b, n);
    (void)VALGRIND_SET_VBITS(src, undefined, n);
    run(dst, src);
    int bad = judge(function, dst, want, m);
    free(src);
    free(dst);
    free(undefined);
    free(want);
    dlclose(so);
    return bad;
}

int
main(void)
{
    char object[4096], function[256], before[4096], after[4096];
    size_t n, m;
    int bad = 0, jobs = 0;
    if (!RUNNING_ON_VALGRIND) {
        fprintf(stderr, "memcheck: this is for valgrind\n");
        return 2;
    }
    for (; scanf("%4095s %255s %zu %zu %4095s %4095s", object, function, &n, &m, before,
                 after) == 6; jobs++)
        bad += job(object, function, n, m, before, after);
    printf("%d jobs\n", jobs);
    return bad > 0;
}
