/* test_elf_load.c: objects that are spoiled or cut off are refused, or load; nothing is read or
 * written outside of them. */
#include "../../runtime/elf_load.h"
#include "../../runtime/tcc_stdio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jit_text.h"

static uint64_t seed;

static uint64_t draw(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}

/* Spoil `n` bytes at `p` in one of the ways that hurt a loader. */
static size_t spoil(unsigned char *p, size_t n)
{
    static const uint64_t odd[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff,
                                   1u << 30, INT64_MAX, UINT64_MAX - 15, UINT64_MAX};
    size_t at = draw(n);
    switch (draw(8)) {
    case 0:
        return at;
    case 1:
    case 2:
        at = (n - 8 - draw(n < 2000 ? n - 8 : 1000)) & ~(size_t)7;
        memcpy(p + at, &odd[draw(9)], 8);
        return n;
    default:
        for (uint64_t k = draw(6) + 1; k > 0; k--)
            p[draw(n)] ^= (unsigned char)(1u << draw(8));
        return n;
    }
}

static void test_corrupted(void **state)
{
    (void)state;
    char *obj;
    size_t len;
    int loaded = 0, rounds = 20000;
    const char *s = getenv("SEED");
    seed = s ? strtoull(s, NULL, 0) : 20240607;
    print_message("SEED=%llu\n", (unsigned long long)seed);
    assert_int_equal(jit_object(RICH, &obj, &len, NULL), RAVEL_OK);
    for (int i = 0; i < rounds; i++) {
        unsigned char *p = malloc(len);
        assert_non_null(p);
        memcpy(p, obj, len);
        size_t n = spoil(p, len);
        p = realloc(p, n + !n);   /* so that the sanitizer sees the end */
        assert_non_null(p);
        ElfImage im;
        ravel_error err = {0};
        ravel_status st = elf_load(p, n, HOST, &im, &err);
        loaded += st == RAVEL_OK;
        assert_true(st == RAVEL_OK || (err.text[0] && !im.base && !im.fn));
        elf_unload(&im);
        free(p);
    }
    print_message("%d of %d still load\n", loaded, rounds);
    assert_true(loaded > 0 && loaded < rounds);
    free(obj);
}

static void test_truncated(void **state)
{
    (void)state;
    char *obj;
    size_t len;
    assert_int_equal(jit_object(RICH, &obj, &len, NULL), RAVEL_OK);
    for (size_t n = 0; n < len; n++) {
        unsigned char *p = malloc(n + 1);
        assert_non_null(p);
        memcpy(p + 1, obj, n);   /* and unaligned */
        ElfImage im;
        ravel_status st = elf_load(p + 1, n, HOST, &im, NULL);
        assert_true(st == RAVEL_ERR_JIT || n > len - 64);
        elf_unload(&im);
        free(p);
    }
    free(obj);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corrupted),
        cmocka_unit_test(test_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
