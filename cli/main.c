/* ravel: the commands, and the boundary where their errors end. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/file.h"
#include "cli.h"

static const Command commands[] = {
    {"list", cmd_list, "", 0, "jLf", "the known layouts, a line each",
     "  ravel list\n"
     "  ravel list --spec mine.lua --json\n"},
    {"show", cmd_show, "LAYOUT", 1, "s!tgLf", "what a layout looks like",
     "Prints the storage order with extents and strides, the address formula,\n"
     "and the addresses of the first plane; --svg draws both sides instead.\n\n"
     "  ravel show NC1HWC0 --shape 1,20,2,2 --dtype f16\n"
     "  ravel show '{M//2, K//4, M%2, K%4}' --shape 6,8 --svg tiles.svg\n"},
    {"index", cmd_index, "LAYOUT", 1, "s!ta!iLf", "one element's address, or the reverse",
     "The address counts elements of the dtype from the start of the buffer.\n\n"
     "  ravel index NC1HWC0 --shape 2,20,5,7 --dtype f16 --at 1,17,4,6\n"
     "  ravel index NC1HWC0 --shape 2,20,5,7 --dtype f16 --at 2225 --inverse\n"},
    {"table", cmd_table, "LAYOUT", 1, "s!to!Lf", "every element's address as a .npy",
     "Writes an int64 array of the logical shape.\n\n"
     "  ravel table NC1HWC0 --shape 2,20,5,7 --dtype f16 -o t.npy\n"},
    {"check", cmd_check, "LAYOUT", 1, "stebjLf",
     "one-to-one? onto? padding, holes, inverse, equal, banks",
     "Exits with 0 when the answer is yes: the layout is one-to-one and fit to be\n"
     "converted to, or, with --equals, puts every element where the other one does;\n"
     "with 1 and a witness when it is no, and with 1 when it cannot be decided.\n"
     "Without --shape it judges every shape at once, with names in it (N,64,H,W)\n"
     "those with the extents that are numbers.\n"
     "With --banks it counts what the warps of a GPU need to read or write the tile:\n"
     "each of 32 lanes takes BYTES (an element, unless given) along DIM, lanes go on\n"
     "along DIM and then along the other dims, the last one first.  Where a bank has\n"
     "two words at a time, it names a swizzle that is free of that, or says that no\n"
     "xor swizzle is.\n"
     "What structure does not decide is decided by looking at every element, while\n"
     "--limit allows that much work; else the answer is unknown.\n\n"
     "  ravel check '{M, (K//8%8) ~ (M%8), K%8}' --shape 6,64\n"
     "  ravel check '{M//2, K}' --shape 8,8\n"
     "  ravel check NHWC --equals '(N,C,H,W){N, H, W, C//4, C%4}' --shape 2,8,5,5\n"
     "  ravel check '{M, K}' --shape 64,64 --dtype f16 --banks K:4,M:2\n"},
    {"emit", cmd_emit, "", 0, "FTs!tGMnkNCWo!Lf", "stand-alone source of a conversion",
     "--kind offset and --kind inverse make the index function of one layout\n"
     "(--to) and its inverse; load and store, with a GPU's target, move what a lane\n"
     "holds of a fragment (MMA_A; --to of load, --from of store) from and to a tile.\n"
     "The file needs nothing of ravel.  A name in the shape makes that extent an\n"
     "argument of the function, which returns 1 for what it cannot do, and of F_bytes,\n"
     "which gives the sizes of both buffers.  --target cuda, hip, opencl or glsl makes\n"
     "one kernel, and --manifest says how to launch it.  --check has a compiler make a\n"
     "shared object of a relayout in C, proves that as verify does, and says so; where it\n"
     "is wrong the file is not written, and the exit code is 1.\n\n"
     "  ravel emit --from NCHW --to NC1HWC0 --shape 2,20,5,7 --dtype f16 -o f.c\n"
     "  ravel emit --from NCHW --to NC1HWC0 --shape N,64,H,W --dtype f16 -o g.c\n"
     "  ravel emit -F NCHW -T NHWC -s 2,3,5,7 -d u8 -o f.c --check 'gcc -O3'\n"
     "  ravel emit --kind inverse --to SW128 --shape 16,64 --dtype f16 -o i.c\n"
     "  ravel emit -F NCHW -T NHWC -s 8,64,56,56 -d f16 -G cuda -o k.cu -M k.json\n"},
    {"convert", cmd_convert, "IN OUT", 2, "F!T!stNvWLf", "convert an array file",
     "IN is .npy by its first bytes, OUT by its name; else they are raw, and raw\n"
     "IN needs --shape and --dtype.  A stored array has the layout's storage\n"
     "extents as its shape; --shape gives the logical one where the layout has\n"
     "blocks.  --verify checks every byte of the result and the code itself.\n"
     "OUT appears whole or not at all; - is standard input or output, where .npy\n"
     "gives .npy.\n\n"
     "  ravel convert x.npy y.npy --from NCHW --to NC1HWC0 --verify\n"
     "  ravel convert y.npy z.npy --from NC1HWC0 --to NCHW --shape 2,20,5,7\n"},
    {"verify", cmd_verify, "", 0, "F!T!s!t!OnALWjf", "prove the code of a conversion",
     "Compiles both directions, shows that the boxes of each plan are disjoint and\n"
     "cover all, and runs the code where every slot of the source holds its own\n"
     "number, between pages that cannot be touched, at buffers of any alignment, from\n"
     "four threads at once, or two where both buffers are more than 256 MB.  Exits with\n"
     "1 and a sentence when anything differs from the layouts.  --object proves\n"
     "void F(void *dst, const void *src) of a shared object instead, in the one\n"
     "direction; F is --name, or what emit calls it.  Emitted code takes buffers\n"
     "anywhere; where F wants more, --align says so.  A function that has not\n"
     "returned after --limit seconds of processor time (60 and more with the size,\n"
     "unless given) is wrong too; the rest of the work is limited by it as well.\n"
     "With names in the shape (N,64,H,W) the boxes are shown for every residue of\n"
     "these extents, and the code runs around all borders.\n\n"
     "  ravel verify --from NCHW --to NC1HWC0 --shape 2,20,5,7 --dtype f16\n"
     "  ravel emit --from NCHW --to NHWC --shape 2,3,5,7 --dtype u8 -o f.c\n"
     "  gcc -O3 -shared -fPIC -o f.so f.c\n"
     "  ravel verify --from NCHW --to NHWC --shape 2,3,5,7 --dtype u8 --object f.so\n"},
    {"explain", cmd_explain, "", 0, "F!T!s!t!GNWjmLf", "how a conversion is done, and why",
     "Expressions as written and simplified, boxes, loops, kernels; with names in the\n"
     "shape (N,64,H,W) over these.  Of the nests that hold most of the bytes the way\n"
     "that was chosen and the next best, with times by the planner's model.  With\n"
     "--target cuda, hip, opencl, glsl or blocks: the kernel's boxes, and what the\n"
     "accesses of the first and last block of each cost in sectors and conflicts of\n"
     "banks.\n\n"
     "  ravel explain --from NCHW8 --to NCHW16 --shape 16,20,56,56 --dtype f32\n"
     "  ravel explain --from NCHW --to NHWC --shape 8,64,56,56 --dtype f16 -G cuda\n"},
    {"bench", cmd_bench, "", 0, "F!T!s!t!NRWjLf",
     "how fast a conversion is on this machine",
     "Proves the code, then measures it beside memcpy and a copy by\n"
     "non-temporal stores, which go around the caches.  A copy moves as many bytes\n"
     "as the larger of the two tensors.  In every round each of them is timed once;\n"
     "a round's ratio is its time over memcpy's of that round.  Told are the median\n"
     "and the span without the outermost tenths.  Buffers are on 2 MiB pages and\n"
     "touched before; what fits in a cache is measured in it.  Below 1 is faster\n"
     "than memcpy.  Of a large tensor the non-temporal copy says what the memory\n"
     "allows; of a small one the ratios say what a call costs.\n\n"
     "  ravel bench --from NCHW --to NHWC --shape 16,64,56,56 --dtype f32\n"
     "  ravel bench --from NCHW --to NCHW16 --shape 1,71,28,28 --dtype u8 -R 99\n"},
    {"tune", cmd_tune, "", 0, "F!T!s!t!NSWjLf",
     "the quickest way on this machine, remembered",
     "The planner chooses by a model of the memory.  This times its choice and the\n"
     "next best ones of the nests that hold most of the bytes, proves each before,\n"
     "and takes another one only where that is 3 % quicker.  The best is written to\n"
     "the file of --wisdom or RAVEL_WISDOM, beside what is there about others; every\n"
     "command that compiles, given that file, then does it so, for the same layouts,\n"
     "shape, element type and threads on the same model of processor.  Wisdom says\n"
     "how, never what: the result is the same without.\n\n"
     "  ravel tune --from NCHW --to NHWC --shape 4,64,56,56 --dtype f32 -W w.txt\n"
     "  ravel explain --from NCHW --to NHWC --shape 4,64,56,56 --dtype f32 -W w.txt\n"},
    {"devices", cmd_devices, "", 0, "j", "the accelerators there are, a line each",
     "CUDA's by its driver, OpenCL's by its loader, and the compiler NVRTC; of\n"
     "what is not there, why.  Exits with 0 also where there is nothing.\n\n"
     "  ravel devices\n"
     "  ravel devices --json\n"},
};

static void
usage(FILE *f)
{
    fputs("Usage: ravel COMMAND [OPTION...]\n\n"
          "ravel describes how tensors are laid out in memory, decides what is true\n"
          "of a layout, and compiles the conversion between any two.\n\n", f);
    for (int i = 0; i < LEN(commands); i++)
        fprintf(f, "  %-9s %-8s %s\n", commands[i].name, commands[i].args,
                commands[i].summary);
    fputs("\nA layout is a name (NC1HWC0), a name with parameters (NC1HWC0{C0=32}), an\n"
          "inline table ('{N, C//16, H, W, C%16}', '(R,C){C, R}') or one of a spec file\n"
          "(mine.lua:NAME).  `ravel COMMAND --help` says more and shows examples.\n", f);
}

static const Command *
find_command(const char *name)
{
    const char *names[LEN(commands) + 1];
    for (int i = 0; i < LEN(commands); i++) {
        names[i] = commands[i].name;
        if (!strcmp(names[i], name))
            return &commands[i];
    }
    names[LEN(commands)] = NULL;
    const char *near = diag_nearest(name, names);
    fprintf(stderr, "ravel: there is no command '%s'%s%s%s; `ravel --help` lists them\n",
            name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}

/* Output that could not be written is a failure, not silence. */
static int
finish(int code)
{
    if (fflush(stdout) || ferror(stdout)) {
        fputs("ravel: standard output could not be written\n", stderr);
        return EXIT_WRONG;
    }
    return code;
}

typedef struct {
    Cli cli;
    const Command *cmd;
    int argc;
    char **argv;
    int code;
} Run;

/* One for what the library does, one for what the command does itself. */
static void
set_limit(Cli *c)
{
    ravel_error err;
    if (!c->o.limit)
        return;
    if (cli_numbers(c, "--limit", c->o.limit, &c->limit, 1) != 1 || c->limit < 1)
        cli_fail(c, "--limit is a number of seconds");
    c->arena->work.most = work_of_seconds((double)c->limit);
    cli_check(c, ravel_set_limit(c->cx, (double)c->limit, &err), &err);
}

static void
run_command(void *arg)
{
    Run *r = arg;
    Cli *c = &r->cli;
    ravel_error err;
    cli_parse(c, r->cmd, r->argc, r->argv);
    cli_check(c, ravel_context_new(&c->cx, &err), &err);
    set_limit(c);
    for (int i = 0; i < c->o.nspecs; i++)
        cli_load(c, c->o.spec[i]);
    c->tunes = r->cmd->run == cmd_tune;
    if (strchr(r->cmd->options, 'W'))
        cli_wisdom(c);
    c->known = context_known(c->cx);
    r->code = r->cmd->run(c);
}

/* A line that a name brings along does not look like one of ours. */
static void
complain(const char *text)
{
    fputs("ravel: ", stderr);
    for (; *text; text++) {
        fputc(*text, stderr);
        if (*text == '\n')
            fputs("    ", stderr);
    }
    fputc('\n', stderr);
}

/* The handler of each was reset when it was entered, so the process ends by the signal. */
static void
on_end(int sig)
{
    file_abandon();
    raise(sig);
}

/* What users and systems end a process with leaves no file half written; one that is
 * ignored, as under nohup, stays so. */
static void
catch_ends(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction ours = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND}, old;
    for (int i = 0; i < LEN(ends); i++)
        if (!sigaction(ends[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(ends[i], &ours, NULL);
}

int
main(int argc, char **argv)
{
    static char help_flag[] = "--help";
    cli_show_streams();
    signal(SIGXFSZ, SIG_IGN);              /* a file too large is an error like others */
    catch_ends();
    json_set_alloc_funcs(cli_json_memory, free);
    if (argc > 2 && !strcmp(argv[1], "help")) {
        argv[1] = argv[2];
        argv[2] = help_flag;
    }
    const char *name = argc > 1 ? argv[1] : "--help";
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        usage(argc > 1 ? stdout : stderr);
        return argc > 1 ? finish(EXIT_YES) : EXIT_WRONG;
    }
    if (!strcmp(name, "--version")) {
        puts("ravel " RAVEL_VERSION);
        return finish(EXIT_YES);
    }
    const Command *cmd = find_command(name);
    if (!cmd)
        return EXIT_WRONG;
    Diag d;
    Arena arena = {0};
    Run r = {.cli = {.arena = &arena}, .cmd = cmd, .argc = argc - 1, .argv = argv + 1};
    if (!arena_run(&arena, &d, run_command, &r)) {
        complain(d.text);
        r.code = EXIT_WRONG;
    }
    ravel_context_free(r.cli.cx);
    arena_free(&arena);
    return finish(r.code);
}
