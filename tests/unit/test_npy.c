/* test_npy.c: runtime/npy*.c on files made by hand. */
#include "npy_files.h"
#include "random.h"

#define MUTATIONS 20000
#define GOOD "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }"

/* A file of the given version: the dict as it is, then the data. */
static size_t build(unsigned char *out, int version, const char *dict, size_t dlen,
                    const void *data, size_t len)
{
    size_t width = version == 1 ? 2 : 4, at = 8 + width;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    for (size_t i = 0; i < width; i++)
        out[8 + i] = (unsigned char)(dlen >> 8 * i);
    memcpy(out + at, dict, dlen);
    memcpy(out + at + dlen, data, len);
    return at + dlen + len;
}

static ravel_status load(int version, const char *dict, size_t len, Npy *a)
{
    unsigned char file[8192], data[256];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)i;
    size_t n = build(file, version, dict, strlen(dict), data, len);
    return npy_read(put("a.npy", file, n), a, &err);
}

static void assert_refused(const char *dict, const char *part)
{
    Npy a;
    memset(&a, 0xff, sizeof a);
    assert_says(load(1, dict, 12, &a), RAVEL_ERR_FILE, part);
    assert_non_null(strstr(err.text, "a.npy: "));
    assert_null(a.data);
    assert_int_equal(a.rank, 0);
}

static void versions(void **state)
{
    (void)state;
    for (int v = 1; v <= 3; v++) {
        Npy a;
        assert_int_equal(load(v, GOOD, 12, &a), RAVEL_OK);
        assert_string_equal(a.descr, "i2");
        assert_int_equal(a.bytes, 2);
        assert_int_equal(a.rank, 2);
        assert_int_equal(a.shape[0], 2);
        assert_int_equal(a.shape[1], 3);
        assert_int_equal(a.count, 6);
        assert_memory_equal(a.data, "\0\1\2\3\4\5\6\7\10\11\12\13", 12);
        npy_free(&a);
    }
}

static void version_unknown(void **state)
{
    Npy a;
    (void)state;
    assert_says(load(4, GOOD, 12, &a), RAVEL_ERR_FILE, "version 4.0");
    assert_says(load(0, GOOD, 12, &a), RAVEL_ERR_FILE, "version 0.0");
}

/* Every way to write a header that Python and older NumPys have. */
static void spellings(void **state)
{
    static const struct {
        const char *dict;
        size_t len;
        int rank;
    } good[] = {
        {"{'shape':(2,3),'descr':'<i2','fortran_order':False}\n", 12, 2},
        {"{\"shape\": (6,), \"fortran_order\": True, \"descr\": \"i2\"}", 12, 1},
        {" { 'descr' : '=i2' ,\n\t'fortran_order' : False ,"
         " 'shape' : ( 2L , 3L , ) , } \r\n", 12, 2},
        {"{'descr': '|i2', 'fortran_order': False, 'shape': (), }", 2, 0},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (0, 5), }", 0, 2},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2,)}", 32, 1},
        {"{'descr': '|V2', 'fortran_order': False, 'shape': (3,)}", 6, 1},
        {"{'descr': '<V8', 'fortran_order': False, 'shape': (3,)}", 24, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        Npy a;
        if (load(1, good[i].dict, good[i].len, &a) != RAVEL_OK)
            fail_msg("%s", err.text);
        assert_int_equal(a.rank, good[i].rank);
        assert_int_equal((size_t)a.count * (size_t)a.bytes, good[i].len);
        assert_non_null(a.data);
        npy_free(&a);
        assert_null(a.data);
    }
}

static void many_dims(void **state)
{
    char dict[1024] = "{'descr': '<i2', 'fortran_order': True, 'shape': (";
    Npy a;
    (void)state;
    for (int i = 0; i < NPY_MAX_RANK; i++)
        strcat(dict, i == 5 ? "6, " : "1, ");
    size_t n = strlen(dict);
    strcpy(dict + n, ")}");
    assert_int_equal(load(1, dict, 12, &a), RAVEL_OK);
    assert_int_equal(a.rank, NPY_MAX_RANK);
    npy_free(&a);
    strcpy(dict + n, "1)}");
    assert_says(load(1, dict, 12, &a), RAVEL_ERR_FILE, "more than 64 dimensions");
}

static void big_endian(void **state)
{
    static const struct {
        const char *descr, *want;
        size_t len;
    } t[] = {
        {">u1", "\0\1\2\3", 4},
        {">V2", "\0\1\2\3", 4},
        {">u2", "\1\0\3\2", 4},
        {">f4", "\3\2\1\0", 4},
        {">f8", "\7\6\5\4\3\2\1\0", 8},
        {">c8", "\3\2\1\0\7\6\5\4", 8},
        {">c16", "\7\6\5\4\3\2\1\0\17\16\15\14\13\12\11\10", 16},
    };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        char dict[128];
        int bytes = atoi(t[i].descr + 2);
        Npy a;
        snprintf(dict, sizeof dict,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%d,)}",
                 t[i].descr, (int)t[i].len / bytes);
        assert_int_equal(load(1, dict, t[i].len, &a), RAVEL_OK);
        assert_memory_equal(a.data, t[i].want, t[i].len);
        npy_free(&a);
    }
}

static void fortran(void **state)
{
    Npy a;
    (void)state;
    assert_int_equal(load(1, "{'descr': '|u1', 'fortran_order': True, "
                             "'shape': (2, 1, 3, 2)}", 12, &a), RAVEL_OK);
    assert_memory_equal(a.data, "\0\6\2\10\4\12\1\7\3\11\5\13", 12);
    npy_free(&a);
}

/* Sides that are no multiple of the tile, against the definition. */
static void fortran_tiles(void **state)
{
    enum { I = 67, J = 3, K = 45 };
    static unsigned char file[4096 + I * J * K * 4];
    static uint32_t data[I * J * K];
    const char *dict = "{'descr': '<u4', 'fortran_order': True, 'shape': (67,3,45)}";
    Npy a;
    (void)state;
    for (uint32_t i = 0; i < I * J * K; i++)
        data[i] = i;
    size_t n = build(file, 2, dict, strlen(dict), data, sizeof data);
    assert_int_equal(npy_read(put("a.npy", file, n), &a, &err), RAVEL_OK);
    memcpy(data, a.data, sizeof data);
    for (uint32_t i = 0, at = 0; i < I; i++)
        for (uint32_t j = 0; j < J; j++)
            for (uint32_t k = 0; k < K; k++)
                assert_int_equal(data[at++], i + I * (j + J * k));
    npy_free(&a);
}

#define TYPE(d) "{'descr': " d ", 'fortran_order': False, 'shape': (2, 3), }"
#define SHAPE(s) "{'descr': '<i2', 'fortran_order': False, 'shape': " s ", }"

static void types_refused(void **state)
{
    (void)state;
    assert_refused(TYPE("'|O'"), "Python objects are not read");
    assert_refused(TYPE("'O8'"), "known are b1 i1 i2");
    assert_refused(TYPE("[('a', '<f4'), ('b', '<i2')]"), "structured");
    assert_refused(TYPE("('<i2', (3,))"), "structured");
    assert_refused(TYPE("'<U5'"), "'<U5' is not read");
    assert_refused(TYPE("'|S3'"), "'|S3' is not read");
    assert_refused(TYPE("'<f16'"), "'<f16' is not read");
    assert_refused(TYPE("'<M8[ns]'"), "'<M8[ns]' is not read");
    assert_refused(TYPE("'|V3'"), "V1 V2 V4 V8");
    assert_refused(TYPE("'<'"), "'<' is not read");
    assert_refused(TYPE("''"), "'' is not read");
    assert_refused(TYPE("'<<i2'"), "is not read");
    assert_refused(TYPE("None"), "a string wanted, found \"None");
    assert_refused(TYPE("'<i\\x32'"), "a string wanted");
    assert_refused(TYPE("'<i2"), "is not read");
}

static void shapes_refused(void **state)
{
    (void)state;
    assert_refused(SHAPE("(-1, 3)"), "negative");
    assert_refused(SHAPE("(2, - 3)"), "negative");
    assert_refused(SHAPE("(9223372036854775808,)"), "63 bits");
    assert_refused(SHAPE("(99999999999999999999999999,)"), "63 bits");
    assert_refused(SHAPE("(9223372036854775807,)"), "multiply to more");
    assert_refused(SHAPE("(4294967296, 4294967296)"), "multiply to more");
    assert_refused(SHAPE("(0, 4294967296, 4294967296)"), "multiply to more");
    assert_refused(SHAPE("(4611686018427387903,)"), "are missing");
    assert_refused(SHAPE("(6)"), "a comma");
    assert_refused(SHAPE("(,)"), "an extent wanted");
    assert_refused(SHAPE("(2,,3)"), "an extent wanted");
    assert_refused(SHAPE("(2 3)"), "',' or ')' wanted");
    assert_refused(SHAPE("(02, 3)"), "an extent wanted");
    assert_refused(SHAPE("(2.0, 3)"), "',' or ')' wanted");
    assert_refused(SHAPE("(2, 3"), "wanted");
    assert_refused(SHAPE("[2, 3]"), "a tuple of extents wanted");
    assert_refused(SHAPE("6"), "a tuple of extents wanted");
    assert_refused(SHAPE("('2', 3)"), "an extent wanted");
}

static void dicts_refused(void **state)
{
    (void)state;
    assert_refused("", "'{' wanted");
    assert_refused("{}", "no key 'descr'");
    assert_refused("{'descr': '<i2', 'shape': (6,)}", "no key 'fortran_order'");
    assert_refused("{'descr': '<i2', 'fortran_order': True}", "no key 'shape'");
    assert_refused("{'descr': '<i2', 'descr': '<i2'}", "key 'descr' twice");
    assert_refused("{'descr': '<i2', 'size': 3}", "unknown key 'size'");
    assert_refused("{'descr' '<i2'}", "':' wanted");
    assert_refused("{'descr': '<i2' 'shape': (6,)}", "',' or '}' wanted");
    assert_refused("{,}", "a string wanted");
    assert_refused("{'fortran_order': 1}", "True or False wanted");
    assert_refused(GOOD " x", "the end of the header wanted");
    assert_refused("{'descr': '<i2'", "',' or '}' wanted");
    assert_refused("{'d\xe9scr': '<i2'}", "a string wanted");
    assert_refused("\xff\xfe", "found \"??\"");
}

static void nul_in_header(void **state)
{
    static const char *const at[] = {"{", "'descr", "(2", "}"};
    unsigned char file[256];
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        Npy a;
        size_t n = build(file, 1, GOOD " ", sizeof GOOD, "abcdefghijkl", 12);
        char *p = memmem(file, n, at[i], strlen(at[i]));
        p[strlen(at[i])] = 0;
        assert_says(npy_read(put("a.npy", file, n), &a, &err), RAVEL_ERR_FILE,
                    "wanted");
    }
}

/* A file cut anywhere is refused, and in its data with the bytes that miss. */
static void cut(void **state)
{
    unsigned char file[256];
    size_t n = build(file, 1, GOOD, strlen(GOOD), "abcdefghijkl", 12);
    char want[64];
    Npy a;
    (void)state;
    for (size_t k = 0; k < n; k++) {
        snprintf(want, sizeof want, "12 bytes of data, %zu are missing", n - k);
        assert_says(npy_read(put("a.npy", file, k), &a, &err), RAVEL_ERR_FILE,
                    k < 6 ? "not a .npy file" : k < n - 12 ? "ends in its header"
                                                           : want);
    }
}

static void too_long(void **state)
{
    Npy a;
    (void)state;
    assert_says(load(1, GOOD, 15, &a), RAVEL_ERR_FILE, "3 bytes too many");
}

static void not_npy(void **state)
{
    Npy a;
    (void)state;
    assert_says(npy_read(put("a.npy", "PK\3\4abcdefgh", 12), &a, &err),
                RAVEL_ERR_FILE, "archive");
    assert_says(npy_read(put("a.npy", "\x80\4\x95", 3), &a, &err), RAVEL_ERR_FILE,
                "pickle");
    assert_says(npy_read(dir, &a, &err), RAVEL_ERR_FILE, "Is a directory");
    assert_says(npy_read(in_dir("none"), &a, &err), RAVEL_ERR_FILE, "No such file");
    assert_int_equal(npy_read(in_dir("none"), &a, NULL), RAVEL_ERR_FILE);
}

/* A header that claims 4 GiB of itself. */
static void header_length(void **state)
{
    Npy a;
    (void)state;
    assert_says(npy_read(put("a.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{}", 14), &a,
                         &err), RAVEL_ERR_FILE, "ends in its header");
}

/* The bytes are those of numpy.save. */
static void written(void **state)
{
    static const char want[] =
        "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }"
        "                                                          \nabcdefgh";
    int64_t shape[] = {2, 1};
    const char *path = in_dir("w.npy");
    unsigned char *file;
    size_t n;
    (void)state;
    assert_int_equal(npy_write(path, "f4", 4, 2, shape, "abcdefgh", &err), RAVEL_OK);
    assert_int_equal(file_read(path, 1000, &file, &n, &err), RAVEL_OK);
    assert_int_equal(n, sizeof want - 1);
    assert_memory_equal(file, want, n);
    assert_int_equal(file[n], 0);
    free(file);
}

static void write_arguments(void **state)
{
    int64_t neg[] = {-1}, big[] = {INT64_MAX / 2, 4};
    const char *path = in_dir("arg.npy");
    (void)state;
    assert_says(npy_write(path, "f5", 5, 0, NULL, "abcde", &err),
                RAVEL_ERR_ARGUMENT, "'f5' of 5 bytes");
    assert_says(npy_write(path, "f4", 8, 0, NULL, "abcdefgh", &err),
                RAVEL_ERR_ARGUMENT, "'f4' of 8 bytes");
    assert_says(npy_write(path, "f4", 4, -1, NULL, "abcd", &err),
                RAVEL_ERR_ARGUMENT, "-1 dimensions");
    assert_says(npy_write(path, "f4", 4, 65, NULL, "abcd", &err),
                RAVEL_ERR_ARGUMENT, "65 dimensions");
    assert_says(npy_write(path, "f4", 4, 1, neg, NULL, &err), RAVEL_ERR_ARGUMENT,
                "negative");
    assert_says(npy_write(path, "f4", 4, 2, big, NULL, &err), RAVEL_ERR_ARGUMENT,
                "2^63-1");
    assert_int_equal(access(path, F_OK), -1);
}

/* The longest header there can be still comes back. */
static void longest_header(void **state)
{
    int64_t shape[NPY_MAX_RANK];
    Npy a;
    (void)state;
    for (int i = 0; i < NPY_MAX_RANK; i++)
        shape[i] = i ? 1 : INT64_MAX / 16;
    shape[63] = 0;
    const char *path = in_dir("w.npy");
    assert_int_equal(npy_write(path, "c16", 16, 64, shape, NULL, &err), RAVEL_OK);
    assert_int_equal(npy_read(path, &a, &err), RAVEL_OK);
    assert_memory_equal(a.shape, shape, sizeof shape);
    assert_int_equal(a.count, 0);
    npy_free(&a);
}

static uint64_t rng;

static size_t below(size_t n)
{
    return (size_t)random_below(&rng, (int64_t)n);
}

/* Change, drop, double or add a few bytes; the new length. */
static size_t mutate(unsigned char *f, size_t n)
{
    static const char likely[] = "'\"{}(),:<>|=-0129LTFOVbiufc \n";
    for (size_t k = 1 + below(3); k > 0; k--) {
        size_t at = below(n), to = below(n), len = 1 + below(8);
        switch (below(5)) {
        case 0: f[at] = (unsigned char)below(256); break;
        case 1: f[at] = (unsigned char)likely[below(sizeof likely)]; break;
        case 2: f[at] ^= (unsigned char)(1u << below(8)); break;
        case 3: n = n - below(4) > 1 ? n - below(4) : 1; break;
        case 4: memmove(f + to, f + at, n - (at > to ? at : to) < len ? 1 : len);
                break;
        }
    }
    return n;
}

/* What is read must be whole and consistent; what is not, empty. */
static void check_mutant(const char *path, size_t file_len)
{
    Npy a;
    ravel_status s = npy_read(path, &a, &err);
    if (s != RAVEL_OK) {
        assert_int_equal(s, RAVEL_ERR_FILE);
        assert_true(strlen(err.text) > strlen(path) + 2);
        assert_null(a.data);
        return;
    }
    int64_t n = 1;
    for (int i = 0; i < a.rank; i++)
        n *= a.shape[i];
    assert_int_equal(n, a.count);
    assert_true((size_t)(a.count * a.bytes) < file_len);
    unsigned sum = 0;
    for (int64_t i = 0; i < a.count * a.bytes; i++)
        sum += a.data[i];
    assert_true(sum <= 255 * 48);
    npy_free(&a);
}

static void fuzz(void **state)
{
    static const char *const dict[] = {
        "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 2, 3), }     \n",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (6,), }         \n",
        "{'shape': (3L, 2L), 'descr': '|V8', 'fortran_order': True}        \n",
    };
    const char *env = getenv("SEED");
    uint64_t seed = env ? strtoull(env, NULL, 0) : 20240229;
    unsigned char file[256], data[48] = {1, 2, 3};
    (void)state;
    print_message("fuzz: SEED=%llu\n", (unsigned long long)seed);
    rng = seed ? seed : 1;
    for (size_t i = 0; i < MUTATIONS; i++) {
        const char *d = dict[i % 3];
        size_t n = build(file, 1 + (int)below(3), d, strlen(d), data, sizeof data);
        n = mutate(file, n);
        check_mutant(put("a.npy", file, n), n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(version_unknown),
        cmocka_unit_test(spellings),
        cmocka_unit_test(many_dims),
        cmocka_unit_test(big_endian),
        cmocka_unit_test(fortran),
        cmocka_unit_test(fortran_tiles),
        cmocka_unit_test(types_refused),
        cmocka_unit_test(shapes_refused),
        cmocka_unit_test(dicts_refused),
        cmocka_unit_test(nul_in_header),
        cmocka_unit_test(cut),
        cmocka_unit_test(too_long),
        cmocka_unit_test(not_npy),
        cmocka_unit_test(header_length),
        cmocka_unit_test(written),
        cmocka_unit_test(write_arguments),
        cmocka_unit_test(longest_header),
        cmocka_unit_test(fuzz),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
