/* cli.h: the command line.  One file a group of commands, one table of them. */
#ifndef RAVEL_CLI_H
#define RAVEL_CLI_H

#include <jansson.h>

#include "../runtime/library.h"

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_WRONG = 2 };

/* What the options said; absent ones are NULL. */
typedef struct {
    const char *arg[2];            /* LAYOUT, or IN and OUT */
    int narg;
    const char *shape, *dtype, *at, *output, *svg, *from, *to, *target, *name, *kind,
        *manifest,
               *equals, *banks, *object, *align, *check, *limit, *rounds,
               *threads, *wisdom, *seconds;
    bool json, inverse, verify, statements;
    const char *spec[16];
    int nspecs;
} Options;

/* A running command: everything it allocates lives in arena; errors go through
 * the arena's Diag to main, which prints them and exits with EXIT_WRONG. */
typedef struct {
    Arena *arena;
    ravel_context *cx;
    const LayoutDef *known;
    bool tunes;                    /* the command is to write wisdom */
    i64 limit;                     /* seconds of --limit; 0: not given */
    Options o;
} Cli;

typedef struct {
    const char *name;
    int (*run)(Cli *);
    const char *args;              /* LAYOUT */
    int nargs;
    const char *options;           /* letters of the options it takes, ! = needed */
    const char *summary;           /* a line */
    const char *help;              /* what --help says after the options */
} Command;

/* cli_args.c */
/* Fill c->o from argv; prints and exits for --help and for wrong use. */
void cli_parse(Cli *c, const Command *cmd, int argc, char **argv);
_Noreturn void cli_fail(Cli *c, const char *fmt, ...) PRINTF(2, 3);
/* "2,64,56,56" -> shape; the rank. */
int cli_numbers(Cli *c, const char *what, const char *text, i64 *out, int max);
/* The same of --shape, where a name leaves an extent to run time, if names may be: then
 * name[d] is it, else NULL, and the extent RUNTIME_EXTENT.  *any: there are some. */
int cli_shape_names(Cli *c, i64 *shape, const char **name, bool *any);
/* Refuse what cannot fit this machine's memory before trying. */
void cli_need_memory(Cli *c, i64 bytes, const char *what);
/* A number from 1 on that an option has; `unless` where it has not. */
i64 cli_number(Cli *c, const char *what, const char *text, i64 unless, i64 max);
/* cli_tune.c: the file of --wisdom or RAVEL_WISDOM, NULL: none; what it says. */
const char *cli_wisdom_file(const Cli *c);
void cli_wisdom(Cli *c);
/* The plan as the library makes it, for as many threads as the option says. */
Plan *cli_plan(Cli *c, const Request *rq);

/* cli_grid.c */
/* That of --target, or the JIT's. */
const Target *cli_target(Cli *c);
/* Source, and the manifest where it is asked for, to their files. */
void cli_emit_grid(Cli *c, const Target *t, const Plan *p, const Request *rq);
void cli_explain_grid(Cli *c, const Target *t, const Plan *p, const Request *rq);
/* Everything that a launch needs, and what the accesses of the first and the last block
 * of each box cost. */
json_t *cli_manifest(const Target *t, const GridUnit *u);
/* cli_burst.c: the tiles of each box and what one of them transfers. */
json_t *cli_burst_json(Arena *a, const Target *t, const BurstPlan *p);
int cli_threads(Cli *c);                       /* 0: not given */
/* JSON is UTF-8 and nothing else: fails where it is asked for and the text is not. */
void cli_check_json(Cli *c, const char *text);
/* Add the layouts of a spec file. */
void cli_load(Cli *c, const char *path);
/* The text of a layout argument: FILE.lua:NAME loads the file. */
const char *cli_layout_text(Cli *c, const char *text);
/* The dtype to use with this layout: as given, or one where it does not matter. */
const char *cli_dtype(Cli *c, const char *text);
const DType *cli_dtype_of(Cli *c, const char *text);
Layout *cli_layout(Cli *c, i64 *shape);
void cli_check(Cli *c, ravel_status s, const ravel_error *err);
/* jansson's malloc: what it cannot allocate it would leave out without a word. */
void *cli_json_memory(size_t n);
void cli_print_json(json_t *j);
json_t *cli_json_numbers(const i64 *v, int n);
const char *cli_tuple(Arena *a, const i64 *v, int n);
/* The extents of its dims. */
const i64 *cli_shape(Arena *a, const Layout *l);

/* cli_check.c */
extern const char *const cli_answers[];        /* of an Answer */
/* cli_equal.c */
int cli_check_equal(Cli *c);
/* cli_banks.c */
int cli_check_banks(Cli *c);
/* cli_shown.c: from here on stdout and stderr pass nothing on that a terminal would
 * obey: it is written as \u001b, or \xff where it is no UTF-8. */
void cli_show_streams(void);

int cmd_list(Cli *c);
int cmd_show(Cli *c);
int cmd_index(Cli *c);
int cmd_table(Cli *c);
int cmd_check(Cli *c);
int cmd_emit(Cli *c);
int cmd_convert(Cli *c);
int cmd_explain(Cli *c);
int cmd_verify(Cli *c);
int cmd_bench(Cli *c);
int cmd_tune(Cli *c);
int cmd_devices(Cli *c);

/* cli_svg.c: the picture of a layout's first plane. */
void svg_layout(Buf *b, const Layout *l, const Verdict *v);

#endif
