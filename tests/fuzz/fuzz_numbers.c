/* Lists of numbers of a command line, and the sizes of layouts of such a shape: an
 * extent that overflows anything is refused, never wrapped. */
#include "../../cli/cli.h"
#include "fuzz.h"

static const char *const layouts[] = {
    "ROW_MAJOR", "COL_MAJOR", "NCHW", "NC1HWC0", "NCHW64", "FRACTAL_Z", "FRACTAL_NZ",
    "SF128x4", "MARLIN", "SW128", "MORTON32", "AMX_B8", "SWIZZLE",
    "(A,B){A, B, pitch = {A = 4096}, pad = {A = 1000000007, B = 3}}",
    "{A//1000000007, A%1000000007}", "(A){A%4611686018427387904, A//4611686018427387904}",
};

typedef struct {
    Cli cli;
    Arena arena;
    const char *text;
    const char *layout, *type;
} Case;

static void
run(void *arg)
{
    Case *c = arg;
    i64 n[MAX_RANK], again[MAX_RANK], bytes;
    int rank = cli_numbers(&c->cli, "--shape", c->text, n, MAX_RANK);
    const char *text = cli_tuple(&c->arena, n, rank);
    char *inner = arena_string(&c->arena, text + 1);
    inner[strlen(inner) - 1] = 0;
    fuzz_check(cli_numbers(&c->cli, "--shape", inner, again, MAX_RANK) == rank);
    fuzz_check(!memcmp(n, again, (size_t)rank * sizeof *n));
    __int128 bits = dtype_find(c->type)->bits;
    for (int i = 0; i < rank; i++) {
        fuzz_check(n[i] >= 0);
        bits = bits > (__int128)1 << 64 ? bits : bits * n[i];
    }
    ravel_error err = {.text = ""};
    if (ravel_storage_bytes(fuzz_context(), c->layout, c->type, rank, n, &bytes, &err))
        fuzz_check(err.text[0]);
    else
        fuzz_check(bytes > 0 && (__int128)bytes * 8 >= bits);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    Bytes b = {data, data + len};
    Case c = {.layout = layouts[fuzz_pick(&b, LEN(layouts))],
              .type = dtypes[fuzz_pick(&b, ndtypes)].name};
    char *text = fuzz_text(b.p, (size_t)(b.end - b.p));
    c.text = text;
    c.cli.arena = &c.arena;
    fuzz_run(&c.arena, run, &c);
    free(text);
    return 0;
}
