/* cli.h: the command line.  Each group of commands has a file; cli_commands.c has their table. */
#ifndef RAVEL_CLI_H
#define RAVEL_CLI_H

#include <jansson.h>

#include "../runtime/for_command.h"

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_WRONG = 2 };

/* The values of the options; NULL for an option that is absent. */
typedef struct {
    const char *arg[16];           /* LAYOUT, or IN and OUT, or words */
    int narg;
    const char *shape, *dtype, *at, *output, *svg, *from, *to, *target, *name, *kind,
        *manifest,
               *equals, *compatible, *banks, *object, *align, *check, *limit, *rounds,
               *threads, *wisdom, *seconds, *processor, *by, *plane, *beside, *html,
               *list, *header, *depfile, *tensor, *offset, *mem, *via, *threshold, *mask,
               *duplicates, *index, *index_type, *concat;
    bool masked, json, inverse, in_place, verify, statements, measure, batch;
    const char *spec[16];
    int nspecs;
} Options;

/* A running command: everything it allocates lives in arena; errors go through
 * the arena's Diag to main, which prints them and exits with EXIT_WRONG. */
typedef struct {
    Arena *arena;
    ravel_context *cx;
    const Known *known;
    const char *first;             /* the NAME of a FILE:NAME before; NULL: none */
    const char *first_file;        /* where it is declared */
    const char *named, *named_file;    /* the last layouts given as NAME, as FILE:NAME */
    const char *loaded[8];         /* files of FILE:NAME, each read once: it may be a pipe */
    int nloaded;
    bool tunes;                    /* the command writes wisdom */
    i64 limit;                     /* seconds of --limit; 0: not given */
    struct Read *read;             /* the files that the command has read: cli_depend.c */
    struct CliNumbers *numbers;    /* of the files of --index: cli_index.c */
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

/* cli_commands.c */
/* Command i, in the order of the help; NULL after the last. */
const Command *cli_command(int i);
/* NULL, with a message: there is none of this name. */
const Command *cli_find_command(const char *name);
void cli_usage(FILE *f);

/* cli_args.c */
/* Fill c->o from argv; prints and exits for --help and for wrong use. */
void cli_parse(Cli *c, const Command *cmd, int argc, char **argv);

/* cli_option.c */
/* Option i of a command; NULL after the last. */
struct argp_option;
const struct argp_option *cli_option(const Command *cmd, int i);
/* Sets the value of the option with this key, in c->o; false: there is none. */
bool cli_option_set(Cli *c, int key, char *value);
/* The first option that a command needs and o lacks; NULL: it has all. */
const struct argp_option *cli_option_missing(const Command *cmd, const Options *o);
/* The value in o of the option that the `len` characters at `word` name, as --from or -F;
 * NULL unless its letter is among `letters` and it has a value. */
const char **cli_option_at(Options *o, const char *letters, const char *word, size_t len);
/* ... of the option that has no value. */
bool *cli_flag_at(Options *o, const char *letters, const char *word);

/* cli_fail.c */
_Noreturn void cli_fail(Cli *c, const char *fmt, ...) PRINTF(2, 3);
void cli_check(Cli *c, ravel_status s, const ravel_error *err);

/* cli_value.c */
/* Parse "2,64,56,56" into out, at most `max` numbers; returns how many. */
int cli_numbers(Cli *c, const char *what, const char *text, i64 *out, int max);
/* The value of an option, from 1 to max; `unless` if the option is absent. */
i64 cli_number(Cli *c, const char *what, const char *text, i64 unless, i64 max);
i64 cli_number_from(Cli *c, const char *what, const char *text, i64 unless, i64 min, i64 max);
int cli_threads(Cli *c);                       /* 0: not given */

/* cli_tune.c: load the file of --wisdom or RAVEL_WISDOM, if any, into the context. */
void cli_wisdom(Cli *c);
/* The plan that the library makes, for the number of threads in --threads. */
Plan *cli_plan(Cli *c, const Request *rq);

/* cli_shape.c */
/* Parse --shape; returns the rank.  If `name` is not NULL, a name is allowed as an
 * extent: then shape[d] is RUNTIME_EXTENT and name[d] the name, which is NULL for
 * numbers.  *any: the shape has names. */
int cli_shape_names(Cli *c, i64 *shape, const char **name, bool *any);
/* Set --shape, unless it is given, from the extents that are written in the layouts of the
 * source and the destination; either may be NULL.  False if they do not decide it. */
bool cli_knows_shape(Cli *c, const char *from, const char *to);
/* The same; fail if they do not decide it. */
void cli_find_shape(Cli *c, const char *from, const char *to);
/* An example of --shape for so many dims, as 2,64,56,56. */
const char *cli_shape_like(Arena *a, int rank);
Layout *cli_layout(Cli *c, i64 *shape);

/* cli_emit.c: the values of --kind; NULL after the last. */
extern const char *const cli_kinds[];
EmitKind cli_kind(Cli *c);
/* The accesses of --kind load or store. */
const Frag *cli_frag(Cli *c, const Target *t, const Request *rq, EmitKind kind);

/* cli_unit.c */
/* The request of the options; shape has MAX_RANK extents. */
Request cli_request(Cli *c, i64 *shape);
/* Fails unless it has what a conversion needs. */
void cli_check_relayout(Cli *c, const Request *rq);
/* For a function of a layout: one of --from and --to, and the dtype. */
void cli_index_request(Cli *c, const Target *t, Request *rq);

/* A conversion that is emitted. */
typedef struct {
    Request rq;
    const char *shape;             /* as --shape has it */
    const Plan *plan;              /* NULL: the function is of a sparse conversion */
    const Unit *unit;
    const SparsePlan *sparse;      /* the function is the first of this conversion's */
} Emitted;
/* cli_plan, and a line of the log that says what emit writes. */
const Plan *cli_plan_written(Cli *c, const Target *t, const Request *rq);
void cli_write_text(Cli *c, const char *path, const char *text);
/* Write the functions to --output, and what --header and --depfile ask for.  With --check
 * nothing is written unless the functions are right. */
int cli_emit_units(Cli *c, const Target *t, const Emitted *e, int n);
/* cli_list.c: the conversions of the file of --list in one unit. */
int cli_emit_list(Cli *c, const Target *t);
/* cli_depend.c: remember a file that the command reads; write the file of --depfile. */
void cli_depend(Cli *c, const char *path);
void cli_write_depfile(Cli *c);
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

/* cli_spec.c */
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

/* cli_memory.c */
/* The bytes of --mem; without it half of the memory that is free. */
i64 cli_memory(Cli *c);
/* Fails if `bytes` exceeds the memory that is free. */
void cli_need_memory(Cli *c, i64 bytes, const char *what);
_Noreturn void cli_no_memory(Cli *c, i64 bytes, const char *what);
/* What a command does with less memory; NULL: nothing. */
const char *cli_memory_way(const char *command);
/* cli_print.c */
extern const char *const cli_answers[];        /* indexed by Answer */
/* Write a file atomically; "-" is standard output. */
void cli_write(Cli *c, const char *path, const void *data, size_t len);
bool cli_ends_with(const char *s, const char *end);
/* The allocator of jansson.  It ends the command if memory runs out, because jansson
 * would silently omit data. */
void *cli_json_memory(size_t n);
void cli_print_json(json_t *j);
json_t *cli_json_numbers(const i64 *v, int n);
const char *cli_tuple(Arena *a, const i64 *v, int n);
/* "1 element", "2 elements", for one = "element". */
const char *cli_count(Arena *a, i64 n, const char *one);
const char *cli_duration(Arena *a, double ns);   /* with its unit, such as "1.5 us" */
/* The extents of the dims of l. */
const i64 *cli_shape(Arena *a, const Layout *l);

/* cli_equal.c */
int cli_check_equal(Cli *c);
/* cli_compatible.c */
int cli_check_compatible(Cli *c);
/* "view: an array ..." if the conversion needs no copy, else "". */
const char *cli_view_text(Cli *c, const Plan *p);
/* cli_banks.c */
int cli_check_banks(Cli *c);
/* cli_via.c: with --via, replace rq, from --from to --to, by the one conversion that it is by
 * way of that layout; `shape` holds its shape and has MAX_RANK extents. */
void cli_via(Cli *c, Request *rq, i64 *shape);
/* cli_view.c: what --by, --plane and --at ask to draw of l. */
PictureView cli_view(Cli *c, const Layout *l);
/* cli_symbolic.c */
/* A layout of a rank for every shape; |M| is the extent of M. */
typedef struct {
    Arena *arena;
    const LayoutRef *ref;
    const DType *dtype;
    int rank;
    const Layout *l;
    Scalars *scalars;
    const Sizes *sizes;            /* NULL: strides need numbers ... */
    const char *why;               /* ... and this is why */
} Symbolic;
Symbolic cli_symbolic(Arena *a, const LayoutRef *ref, const DType *t, int rank);
/* The address over dims, extents and scalars, as text.  s must have sizes. */
const char *cli_symbolic_address(const Symbolic *s);
int cli_show_symbolic(Cli *c);
/* cli_near.c */
/* Fail if a word is a long option that the command does not have. */
void cli_check_options(Cli *c, const Command *cmd, int argc, char **argv);
/* What is wrong with a word for which there is no place. */
const char *cli_why_extra(Cli *c, const Command *cmd, const char *word);
/* Fail if no known layout has the name of `text`, which was given as one of a file. */
void cli_need_layout(Cli *c, const char *file, const char *text);
/* cli_html.c */
/* The data of a layout for the page.  `fixed`: for its shape and parameters only. */
json_t *cli_html_layout(Cli *c, const Layout *l, bool fixed);
/* Write the page with these layouts, a list, and a plan or NULL; takes both. */
void cli_html_write(Cli *c, const char *path, const Picture *p, json_t *layouts,
                    json_t *plan);
/* cli_html_plan.c: explain --html; `rq` is the request of p. */
int cli_html_plan(Cli *c, const Target *t, const Plan *p, const Request *rq);
/* cli_bench.c: prove the conversion and measure it as bench does. */
typedef struct {
    double ns, memcpy;             /* medians: nanoseconds; divided by those of memcpy */
    int threads;
} Timing;
Timing cli_time(Cli *c, const Request *rq);
/* cli_nests.c: the nanoseconds of each nest of a plan in numbers, alone on one thread, by the
 * kernels that the code calls; 0: another nest does its work. */
const double *cli_time_nests(Cli *c, const Plan *p);
/* cli_shown.c: from this call on, stdout and stderr replace characters that control a
 * terminal by \u001b and the like, and bytes that are not UTF-8 by \xff. */
void cli_show_streams(void);
/* Write a text that may control the terminal.  It must not contain names. */
void cli_show_colored(const char *text);

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
