/* cli.h: the command line.  Each group of commands has a file; main.c has their table. */
#ifndef RAVEL_CLI_H
#define RAVEL_CLI_H

#include <jansson.h>

#include "../runtime/library.h"

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_WRONG = 2 };

/* The values of the options; NULL for an option that is absent. */
typedef struct {
    const char *arg[16];           /* LAYOUT, or IN and OUT, or words */
    int narg;
    const char *shape, *dtype, *at, *output, *svg, *from, *to, *target, *name, *kind,
        *manifest,
               *equals, *banks, *object, *align, *check, *limit, *rounds,
               *threads, *wisdom, *seconds, *processor;
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
    const char *first;             /* the NAME of a FILE:NAME before; NULL: none */
    const char *first_file;        /* where it is declared */
    bool tunes;                    /* the command writes wisdom */
    i64 limit;                     /* seconds of --limit; 0: not given */
    Options o;
} Cli;

typedef struct {
    const char *name;
    int (*run)(Cli *);
    const char *args;              /* LAYOUT */
    int nargs;                     /* -1: as many as there are */
    const char *options;           /* letters of its options; ! follows a required one */
    const char *summary;           /* one line */
    const char *help;              /* the text of --help after the options */
} Command;

/* main.c: command i, in the order of the help; NULL after the last. */
const Command *cli_command(int i);

/* cli_args.c */
/* Option i of a command; NULL after the last. */
struct argp_option;
const struct argp_option *cli_option(const Command *cmd, int i);
/* Fill c->o from argv; prints and exits for --help and for wrong use. */
void cli_parse(Cli *c, const Command *cmd, int argc, char **argv);
_Noreturn void cli_fail(Cli *c, const char *fmt, ...) PRINTF(2, 3);
/* Parse "2,64,56,56" into out, at most `max` numbers; returns how many. */
int cli_numbers(Cli *c, const char *what, const char *text, i64 *out, int max);
/* Parse --shape; returns the rank.  If `name` is not NULL, a name is allowed as an
 * extent: then shape[d] is RUNTIME_EXTENT and name[d] the name, which is NULL for
 * numbers.  *any: the shape has names. */
int cli_shape_names(Cli *c, i64 *shape, const char **name, bool *any);
/* Fail if `bytes` exceeds the memory of this machine. */
void cli_need_memory(Cli *c, i64 bytes, const char *what);
/* The value of an option, from 1 to max; `unless` if the option is absent. */
i64 cli_number(Cli *c, const char *what, const char *text, i64 unless, i64 max);
/* cli_tune.c: load the file of --wisdom or RAVEL_WISDOM, if any, into the context. */
void cli_wisdom(Cli *c);
/* The plan that the library makes, for the number of threads in --threads. */
Plan *cli_plan(Cli *c, const Request *rq);

/* cli_emit.c: the values of --kind; NULL after the last. */
extern const char *const cli_kinds[];
/* cli_grid.c */
/* The values of --target; NULL after the last. */
extern const char *const cli_targets[];
/* The target of --target; the default is that of the JIT. */
const Target *cli_target(Cli *c);
/* Write the source and, if requested, the manifest to their files. */
void cli_emit_grid(Cli *c, const Target *t, const Plan *p, const Request *rq);
void cli_explain_grid(Cli *c, const Target *t, const Plan *p, const Request *rq);
/* The data that a launch needs, and the cost of the accesses of the first and the last
 * block of each box. */
json_t *cli_manifest(const Target *t, const GridUnit *u);
/* cli_burst.c: the tiles of each box, and the transfers of one tile. */
json_t *cli_burst_json(Arena *a, const Target *t, const BurstPlan *p);
int cli_threads(Cli *c);                       /* 0: not given */
/* Fail if --json is given and the text is not valid UTF-8, which JSON requires. */
void cli_check_json(Cli *c, const char *text);
/* Add the layouts of a spec file. */
void cli_load(Cli *c, const char *path);
/* The text of a layout argument: FILE.lua:NAME loads the file. */
const char *cli_layout_text(Cli *c, const char *text);
/* The dtype for this layout: --dtype, or any dtype if the layout does not depend on it.
 * */
const char *cli_dtype(Cli *c, const char *text);
const DType *cli_dtype_of(Cli *c, const char *text);
Layout *cli_layout(Cli *c, i64 *shape);
void cli_check(Cli *c, ravel_status s, const ravel_error *err);
/* The allocator of jansson.  It ends the command if memory runs out, because jansson
 * would silently omit data. */
void *cli_json_memory(size_t n);
void cli_print_json(json_t *j);
json_t *cli_json_numbers(const i64 *v, int n);
const char *cli_tuple(Arena *a, const i64 *v, int n);
/* The extents of the dims of l. */
const i64 *cli_shape(Arena *a, const Layout *l);

/* cli_check.c */
extern const char *const cli_answers[];        /* indexed by Answer */
/* cli_equal.c */
int cli_check_equal(Cli *c);
/* cli_banks.c */
int cli_check_banks(Cli *c);
/* cli_shown.c: from this call on, stdout and stderr replace characters that control a
 * terminal by \u001b and the like, and bytes that are not UTF-8 by \xff. */
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
int cmd_completion(Cli *c);

#endif
