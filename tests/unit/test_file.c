/* test_file.c: runtime/file.c on files, links, pipes and devices. */
#include "npy_files.h"

static void assert_holds(const char *path, const char *text)
{
    char buf[256];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(buf, 1, sizeof buf, f);
    fclose(f);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(buf, text, n);
}

static int entries(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static ravel_status write_text(const char *path, const char *text)
{
    FilePart part[] = {{text, 1}, {NULL, 0}, {text + 1, strlen(text) - 1}};
    return file_write(path, part, 3, &err);
}

static void new_file_mode(void **state)
{
    const char *path = in_dir("mode");
    struct stat st;
    mode_t old = umask(027);
    (void)state;
    assert_int_equal(write_text(path, "hello"), RAVEL_OK);
    umask(old);
    assert_holds(path, "hello");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(write_text(path, "again"), RAVEL_OK);
    assert_holds(path, "again");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0604);
}

/* A link stays a link, also one of links and one that leads nowhere yet. */
static void symlinks(void **state)
{
    struct stat st;
    (void)state;
    assert_int_equal(mkdir(in_dir("sub"), 0777), 0);
    assert_int_equal(symlink("sub/target", in_dir("link")), 0);
    assert_int_equal(symlink(in_dir("link"), in_dir("link2")), 0);
    assert_int_equal(write_text(in_dir("link2"), "first"), RAVEL_OK);
    assert_int_equal(write_text(in_dir("link2"), "second"), RAVEL_OK);
    assert_holds(in_dir("sub/target"), "second");
    assert_int_equal(entries(in_dir("sub")), 1);
    assert_int_equal(lstat(in_dir("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("loop", in_dir("loop")), 0);
    assert_says(write_text(in_dir("loop"), "x"), RAVEL_ERR_FILE, "symbolic links");
}

/* The file system gives up after 64 bytes: the old file stays, and only it. */
static void old_file_stays(void **state)
{
    struct rlimit old, small;
    char text[200];
    const char *path = in_dir("old/file");
    (void)state;
    assert_int_equal(mkdir(in_dir("old"), 0777), 0);
    assert_int_equal(write_text(path, "old"), RAVEL_OK);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 64;
    setrlimit(RLIMIT_FSIZE, &small);
    ravel_status s = write_text(path, text);
    ravel_status t = write_text(in_dir("old/new"), text);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_says(t, RAVEL_ERR_FILE, "old/new: cannot write: File too large");
    assert_int_equal(s, RAVEL_ERR_FILE);
    assert_holds(in_dir("old/file"), "old");
    assert_int_equal(entries(in_dir("old")), 1);
}

static void read_only(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        print_message("read_only skipped: permissions do not bind root\n");
        skip();
    }
    assert_int_equal(mkdir(in_dir("ro"), 0777), 0);
    assert_int_equal(write_text(in_dir("ro/file"), "old"), RAVEL_OK);
    assert_int_equal(chmod(in_dir("ro"), 0555), 0);
    assert_says(write_text(in_dir("ro/file"), "new"), RAVEL_ERR_FILE,
                "cannot create: Permission denied");
    assert_int_equal(chmod(in_dir("ro"), 0777), 0);
    assert_int_equal(chmod(in_dir("ro/file"), 0444), 0);
    assert_says(write_text(in_dir("ro/file"), "new"), RAVEL_ERR_FILE,
                "cannot write: Permission denied");
    assert_holds(in_dir("ro/file"), "old");
    assert_int_equal(entries(in_dir("ro")), 1);
}

static void devices(void **state)
{
    unsigned char *data;
    size_t n;
    struct stat st;
    (void)state;
    assert_int_equal(write_text("/dev/null", "x"), RAVEL_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_says(write_text("/dev/full", "x"), RAVEL_ERR_FILE,
                "/dev/full: cannot write: No space left on device");
    assert_says(npy_write("/dev/full", "u1", 1, 0, NULL, "x", &err),
                RAVEL_ERR_FILE, "No space left");
    assert_says(write_text(dir, "x"), RAVEL_ERR_FILE, "Is a directory");
    assert_says(write_text(in_dir("no/file"), "x"), RAVEL_ERR_FILE, "No such file");
    assert_says(file_read("/dev/zero", SIZE_MAX, &data, &n, &err), RAVEL_ERR_FILE,
                "larger than");
}

static void broken_pipe(void **state)
{
    int fd[2];
    char path[32];
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(fd), 0);
    close(fd[0]);
    snprintf(path, sizeof path, "/dev/fd/%d", fd[1]);
    assert_says(write_text(path, "x"), RAVEL_ERR_FILE, "Broken pipe");
    close(fd[1]);
}

/* Make `fd` be the file, returning what it was. */
static int redirect(int fd, const char *path)
{
    int f = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666), old = dup(fd);
    assert_true(f >= 0 && old >= 0);
    assert_int_equal(dup2(f, fd), fd);
    close(f);
    return old;
}

static void restore(int fd, int old)
{
    assert_int_equal(dup2(old, fd), fd);
    close(old);
}

static void standard_streams(void **state)
{
    unsigned char *data;
    size_t n;
    (void)state;
    fflush(stdout);
    int out = redirect(1, in_dir("stdout"));
    ravel_status s = write_text("-", "one "), t = write_text("/dev/stdout", "two");
    restore(1, out);
    assert_int_equal(s, RAVEL_OK);
    assert_int_equal(t, RAVEL_OK);
    assert_holds(in_dir("stdout"), "one two");
    int in = redirect(0, in_dir("stdout"));
    s = file_read("-", 7, &data, &n, &err);
    restore(0, in);
    assert_int_equal(s, RAVEL_OK);
    assert_int_equal(n, 7);
    assert_string_equal((char *)data, "one two");
    free(data);
}

static void closed_stdout(void **state)
{
    (void)state;
    fflush(stdout);
    int out = dup(1);
    close(1);
    ravel_status s = write_text("-", "x");
    restore(1, out);
    assert_says(s, RAVEL_ERR_FILE, "standard output: ");
}

/* Sizes that stat does not tell, and limits on both sides. */
static void sizes(void **state)
{
    unsigned char *data;
    size_t n;
    char *big = calloc(1, 300000);
    (void)state;
    assert_int_equal(file_read("/proc/self/status", 1 << 20, &data, &n, &err),
                     RAVEL_OK);
    assert_true(n > 100 && strlen((char *)data) == n);
    free(data);
    assert_says(file_read("/proc/self/status", 10, &data, &n, &err), RAVEL_ERR_FILE,
                "larger than 10 bytes");
    const char *path = put("big", big, 300000);
    free(big);
    assert_int_equal(file_read(path, 300000, &data, &n, &err), RAVEL_OK);
    assert_int_equal(n, 300000);
    free(data);
    assert_says(file_read(path, 299999, &data, &n, &err), RAVEL_ERR_FILE, "larger");
    assert_null(data);
    assert_int_equal(file_read(put("empty", "", 0), 0, &data, &n, &err), RAVEL_OK);
    assert_int_equal(n, 0);
    free(data);
}

/* A pipe fills the buffer by odd pieces and makes it grow. */
static void from_pipe(void **state)
{
    unsigned char *data;
    size_t n;
    char cmd[128];
    (void)state;
    snprintf(cmd, sizeof cmd, "seq 1 50000 > %s", in_dir("seq"));
    assert_int_equal(system(cmd), 0);
    snprintf(cmd, sizeof cmd, "cat %s", in_dir("seq"));
    FILE *f = popen(cmd, "r");
    assert_non_null(f);
    int in = dup(0);
    assert_int_equal(dup2(fileno(f), 0), 0);
    ravel_status s = file_read("-", SIZE_MAX, &data, &n, &err);
    restore(0, in);
    pclose(f);
    assert_int_equal(s, RAVEL_OK);
    assert_int_equal(n, 288894);
    assert_string_equal((char *)data + n - 6, "50000\n");
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_file_mode),
        cmocka_unit_test(symlinks),
        cmocka_unit_test(old_file_stays),
        cmocka_unit_test(read_only),
        cmocka_unit_test(devices),
        cmocka_unit_test(broken_pipe),
        cmocka_unit_test(standard_streams),
        cmocka_unit_test(closed_stdout),
        cmocka_unit_test(sizes),
        cmocka_unit_test(from_pipe),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
