/* test_jit.c: text to callable code, and what happens when it cannot be. */
#define _GNU_SOURCE
#include "../../runtime/tcc_stdio.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "jit_text.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

#define SKIPPED 77   /* exit status of a child that cannot test */

static const char SMALL[] = "int add(int a, int b) { return a + b; }\n";

typedef int (*Int1)(int);
typedef int (*Int2)(int, int);

static Jit *compiled(const char *text)
{
    Jit *j = NULL;
    ravel_error err = {0};
    if (jit_compile(text, HOST, &j, &err))
        fail_msg("%s", err.text);
    assert_non_null(j);
    return j;
}

static void refused(const char *text, const char *part)
{
    Jit *j = (Jit *)&told;
    ravel_error err = {0};
    assert_int_equal(jit_compile(text, HOST, &j, &err), RAVEL_ERR_JIT);
    assert_int_equal(err.status, RAVEL_ERR_JIT);
    assert_null(j);
    if (!strstr(err.text, part))
        fail_msg("'%s' does not say '%s'", err.text, part);
    assert_int_equal(jit_compile(text, HOST, &j, NULL), RAVEL_ERR_JIT);
}

/* Whether SMALL compiles and adds; for threads and children, which must not
 * use the assertions. */
static bool adds(void)
{
    Jit *j;
    if (jit_compile(SMALL, HOST, &j, NULL))
        return false;
    Int2 add = (Int2)jit_function(j, "add");
    bool ok = add && add(40, 2) == 42;
    jit_free(j);
    return ok;
}

/* Run `fn` in a child; its result is the child's exit status. */
static void in_child(int (*fn)(int), int arg)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60);
        _exit(fn(arg));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void *add_often(void *n)
{
    for (int i = 0; i < *(int *)n; i++)
        if (!adds())
            return n;
    return NULL;
}

static int add_in_threads(int n)
{
    pthread_t t[4];
    void *bad, *any = NULL;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, add_often, &n))
            abort();
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], &bad);
        any = bad ? bad : any;
    }
    return any != NULL;
}

/* Must run before any other compilation of this process. */
static void test_cold_start(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++)
        in_child(add_in_threads, 2);
    assert_int_equal(add_in_threads(100), 0);
}

static void test_small(void **state)
{
    (void)state;
    assert_true(adds());
    Jit *j = compiled(SMALL);
    assert_null(jit_function(j, "sub"));
    assert_null(jit_function(j, ""));
    jit_free(j);
    jit_free(NULL);
    jit_free(compiled("int lonely;"));
    jit_free(compiled(""));
}

static void test_host_calls(void **state)
{
    (void)state;
    Jit *j = compiled(RICH);
    told = 0;
    ((void (*)(int))jit_function(j, "say"))(21);
    assert_int_equal(told, 42);
    void *whom = ((void *(*)(void))jit_function(j, "whom"))();
    assert_true((uintptr_t)whom == (uintptr_t)tell);
    assert_int_equal(((int64_t (*)(void))jit_function(j, "copy"))(), 2);
    jit_free(j);
}

static void test_data(void **state)
{
    (void)state;
    Jit *j = compiled(RICH), *k = compiled(RICH);
    int (*count)(void) = (int (*)(void))jit_function(j, "count");
    assert_int_equal(count(), 41);
    assert_int_equal(count(), 42);
    assert_int_equal(((int (*)(void))jit_function(k, "count"))(), 41);
    int64_t (*hoard)(int, int64_t) =
        (int64_t (*)(int, int64_t))jit_function(j, "hoard");
    assert_int_equal(hoard(3, 5), 5);
    assert_int_equal(hoard(996, 7), 12);
    assert_int_equal(((Int1)jit_function(j, "prime"))(5), 13);
    assert_int_equal(((Int2)jit_function(j, "letter"))(2, 7), 't');
    assert_int_equal(((Int2)jit_function(j, "pick"))(0, 50), 100);
    assert_int_equal(((Int2)jit_function(j, "pick"))(1, 50), 150);
    double (*mix)(int) = (double (*)(int))jit_function(j, "mix");
    assert_true(mix(2) == 20.125);
    assert_null(jit_function(j, "counter"));   /* not a function */
    assert_null(jit_function(j, "twice"));     /* not global */
    jit_free(k);
    jit_free(j);
}

static void test_switch(void **state)
{
    (void)state;
    static const int want[] = {7, 5, 9, 1, 8, 2, -1};
    Jit *j = compiled(RICH);
    Int1 choose = (Int1)jit_function(j, "choose");
    for (int i = 0; i < 7; i++)
        assert_int_equal(choose(i), want[i]);
    assert_int_equal(choose(1000), 4);
    assert_int_equal(choose(-5), -1);
    jit_free(j);
}

static void test_unknown_symbol(void **state)
{
    (void)state;
    refused("void nosuch(void); void f(void) { nosuch(); }", "'nosuch'");
    refused("extern int environ; int f(void) { return environ; }", "'environ'");
    refused("int puts(const char *s); void *f = puts;", "'puts'");
    refused("void f(void) { g(1); }", "'g'");
    assert_true(adds());
}

static void test_errors(void **state)
{
    (void)state;
    refused("int a;\n\nint f(void) { return a + ; }\n", ":3:");
    refused("int f(void) {", "the code does not compile");
    refused("#error \"no such luck\"\n", "no such luck");
    refused("int f(int *p) { char *q = p; return *q; }", "incompatible");
    refused("int f(void) { return 1 }\nint g(void) { return 2; }\n", ":1:");
    assert_true(adds());
}

/* Texts that end in the middle of something leave libtcc's state askew; the
 * next ones must not notice. */
static void test_after_errors(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "int f(int x) { switch (x) { case 1 ... 3: { int q[x]; goto l; ",
        "int f(int x) { case 1: return 2; }",
        "int f(int x) { default: return 2; break; }",
        "int f(void) { while (1) { int i = 0; for (;;) if (i",
        "int f(void) { continue; }",
        "struct S { int a; struct { int b",
        "struct S s; int z = s.a;",
        "#define A(x) x + A\nint f(void) { return A(1",
        "#if 1\nint x;",
        "#pragma pack(push, 1)\nint f(",
        "int f(void) { static void *p = &&l; ",
        "_Static_assert(0, \"x\");",
        "asm(\"bogus %eax\");",
        "int f(void) { asm(\"nop\"); return 0; }",
    };
    size_t n = sizeof bad / sizeof *bad;
    for (size_t i = 0; i < n * n; i++) {
        refused(bad[i / n], "the code does not compile");
        refused(bad[i % n], "the code does not compile");
        jit_free(compiled(RICH));
        assert_true(adds());
    }
}

static void test_long_error(void **state)
{
    (void)state;
    char text[3000] = "#error ";
    memset(text + 7, 'x', sizeof text - 8);
    refused(text, "xxxxxxxx");
}

static void test_reads_no_file(void **state)
{
    (void)state;
    refused("#include \"/etc/passwd\"\n", "'/etc/passwd' not found");
    refused("#include \"/dev/zero\"\n", "not found");
    refused("#include <stdio.h>\n", "not found");
    refused("asm(\".include \\\"/etc/passwd\\\"\");", "it has assembly");
    assert_true(adds());
}

typedef struct {
    int all, ours, both;   /* mappings; of the JIT; writable and executable */
} Maps;

static Maps read_maps(void)
{
    char line[1024];
    Maps m = {0};
    FILE *f = fopen("/proc/self/maps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char perm[5];
        assert_int_equal(sscanf(line, "%*s %4s", perm), 1);
        m.all++;
        m.ours += strstr(line, "memfd:ravel") != NULL;
        m.both += perm[1] == 'w' && perm[2] == 'x';
    }
    fclose(f);
    return m;
}

static void test_mappings(void **state)
{
    (void)state;
    Jit *j[20];
    for (int i = 0; i < 20; i++)   /* let the heap settle */
        jit_free(compiled(RICH));
    Maps before = read_maps();
    for (int i = 0; i < 200; i++)
        jit_free(compiled(RICH));
    for (int i = 0; i < 20; i++)
        j[i] = compiled(RICH);
    Maps during = read_maps();
    for (int i = 0; i < 20; i++)
        jit_free(j[i]);
    Maps after = read_maps();
    assert_int_equal(before.ours, 0);
    assert_int_equal(during.ours, 20);
    assert_int_equal(after.ours, 0);
    assert_int_equal(during.both, 0);
    if (!SANITIZED)   /* its heap maps as it likes */
        assert_int_equal(after.all, before.all);
}

static int add_under_mdwe(int arg)
{
    (void)arg;
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
        return SKIPPED;
    char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0)
        return 2;
    return adds() ? 0 : 1;
}

static void test_no_exec_gain(void **state)
{
    (void)state;
    in_child(add_under_mdwe, 0);
}

static int add_without_proc(int arg)
{
    (void)arg;
    if (chroot("/usr") || chdir("/"))   /* takes root */
        return SKIPPED;
    return adds() ? 0 : 1;
}

static void test_without_proc(void **state)
{
    (void)state;
    in_child(add_without_proc, 0);
}

/* With `kib` more of address space: success or a status, no output, no exit,
 * and no harm to a later compilation that has memory. */
static int starve(int kib)
{
    char c;
    long pages = 0;
    int out[2];
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1 || pipe(out))
        return SKIPPED;
    fclose(f);
    dup2(out[1], 1);
    dup2(out[1], 2);
    close(out[1]);
    struct rlimit as = {(rlim_t)pages * 4096 + (rlim_t)kib * 1024, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &as))
        return SKIPPED;
    Jit *j = NULL;
    ravel_error err = {0};
    ravel_status s = jit_compile(RICH, HOST, &j, &err);
    as.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_AS, &as);
    if ((s ? j || !err.text[0] : !j) || !adds())
        return 1;
    close(1);
    close(2);
    return read(out[0], &c, 1) == 0 ? 0 : 2;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    for (int kib = 0; kib < 6000; kib += 50)
        in_child(starve, kib);
}

static int add_in_child(int arg)
{
    (void)arg;
    return !adds();
}

static void test_fork(void **state)
{
    (void)state;
    int n = 400;
    pthread_t t;
    void *bad;
    assert_int_equal(pthread_create(&t, NULL, add_often, &n), 0);
    for (int i = 0; i < 30; i++)
        in_child(add_in_child, 0);
    pthread_join(t, &bad);
    assert_null(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cold_start),   /* first: see there */
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_host_calls),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_switch),
        cmocka_unit_test(test_unknown_symbol),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_after_errors),
        cmocka_unit_test(test_long_error),
        cmocka_unit_test(test_reads_no_file),
        cmocka_unit_test(test_mappings),
        cmocka_unit_test(test_no_exec_gain),
        cmocka_unit_test(test_without_proc),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
