/* `ravel convert` of a hostile file.  Five bytes choose layouts, element type, shape
 * and whether the shape is told; the rest is the file.  --verify is on: a wrong byte of
 * the result ends in exit code 1. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "../../cli/cli.h"
#include "fuzz.h"

static const char *const layouts[] = {
    "NCHW", "NHWC", "NC1HWC0", "NC1HWC0{C0=4}", "ROW_MAJOR", "COL_MAJOR", "FRACTAL_NZ",
    "FRACTAL_Z", "SW128", "INT4_HIGH", "{A}", "{A//4, A%4, fill = \"edge\"}",
    "(A,B){B, A}", "(A,B){A//3, B, A%3, pitch = {B = 16}}",
    "(A,B,C){C, A, B//2, B%2, fill = \"none\"}",
};
static const char *const shapes[] = {
    NULL, "2,3", "2,3,4,5", "1", "16", "4,4", "1,1,1,1", "3,2,2", "0,4", "5,7", "2,2,2,2",
};

typedef struct {
    Cli cli;
    Arena arena;
    int code;
} Case;

static void
run(void *arg)
{
    Case *c = arg;
    c->code = cmd_convert(&c->cli);
}

/* The bytes as a file that a path leads to; the descriptor. */
static int
file_of(const Bytes *b, char path[32])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    size_t n = (size_t)(b->end - b->p);
    fuzz_check(fd >= 0 && write(fd, b->p, n) == (ssize_t)n);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char path[32];
    Bytes b = {data, data + len};
    Case c = {.code = EXIT_YES};
    Options *o = &c.cli.o;
    o->from = layouts[fuzz_pick(&b, LEN(layouts))];
    o->to = layouts[fuzz_pick(&b, LEN(layouts))];
    int type = fuzz_pick(&b, ndtypes + 1);
    o->dtype = type < ndtypes ? dtypes[type].name : NULL;
    o->shape = shapes[fuzz_pick(&b, LEN(shapes))];
    o->verify = true;
    o->arg[1] = fuzz_pick(&b, 2) ? "-" : "/dev/null";
    int fd = file_of(&b, path);
    o->arg[0] = path;
    c.cli.arena = &c.arena;
    c.cli.cx = fuzz_context();
    c.cli.known = context_known(c.cli.cx);
    fuzz_run(&c.arena, run, &c);
    close(fd);
    fuzz_check(c.code == EXIT_YES);
    return 0;
}
