/* Options: one table, which glibc's argp reads. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/file.h"
#include "cli.h"

enum { SPEC_BYTES_MAX = 4 << 20 };

/* All options.  A command names its options by their letters. */
static const struct {
    char letter;
    bool flag;
    struct argp_option option;
    size_t at;            /* of the const char * or bool in Options */
} table[] = {
    {'s', false, {"shape", 's', "S", 0, "the logical extents, as in 2,64,56,56; in "
     "check, emit, explain, verify and tune a name, as in N,64,56,56, is an extent that "
     "is known only at run time", 0},
     offsetof(Options, shape)},
    {'t', false, {"dtype", 'd', "T", 0, "the element type: f32 f16 bf16 f64 i8 u8 i16 "
     "... i4 u4 u2 u1 c64", 0}, offsetof(Options, dtype)},
    {'a', false, {"at", 'a', "I", 0, "the coordinates, as in 1,17,4,6; with "
     "--inverse an address; in tune the extents to measure at if --shape has names", 0}, offsetof(Options, at)},
    {'i', true, {"inverse", 'i', 0, 0, "print the coordinates of the element at an address", 0},
     offsetof(Options, inverse)},
    {'F', false, {"from", 'F', "LAYOUT", 0, "the layout of the source", 0},
     offsetof(Options, from)},
    {'T', false, {"to", 'T', "LAYOUT", 0, "the layout of the destination", 0},
     offsetof(Options, to)},
    {'k', false, {"kind", 'k', "K", 0, "what to write: relayout (a conversion; "
     "default), offset, inverse, load or store", 0},
     offsetof(Options, kind)},
    {'G', false, {"target", 'G', "L", 0, "the target language: c (default), cuda, hip, "
     "opencl, glsl; blocks: a GPU kernel in plain C; bursts: a machine without threads; "
     "mine.lua: your own table", 0}, offsetof(Options, target)},
    {'M', false, {"manifest", 'M', "FILE", 0,
     "write a JSON file: how to launch the kernel, and the cost of its accesses", 0},
     offsetof(Options, manifest)},
    {'n', false, {"name", 'n', "F", 0, "the name of the function", 0},
     offsetof(Options, name)},
    {'o', false, {"output", 'o', "FILE", 0, "the output file", 0},
     offsetof(Options, output)},
    {'C', false, {"check", 'c', "COMPILER", 0,
     "compile the output with this command, as in 'clang -O2', and prove the object; "
     "if it is wrong, nothing is written", 0},
     offsetof(Options, check)},
    {'O', false, {"object", 'O', "FILE.so", 0, "prove a function of this shared object "
     "instead of ravel's code", 0}, offsetof(Options, object)},
    {'A', false, {"align", 'A', "N", 0, "alignment of the buffers in bytes: of a GPU kernel "
     "(default 16), of --object (default 1)", 0}, offsetof(Options, align)},
    {'L', false, {"limit", 'L', "N", 0, "limit of work, in seconds of a slow machine; "
     "work is counted in steps and not timed (default 2); in verify also the limit of "
     "processor time of a proof", 0},
     offsetof(Options, limit)},
    {'R', false, {"rounds", 'R', "N", 0, "rounds of measurement (default 9)", 0},
     offsetof(Options, rounds)},
    {'N', false, {"threads", 'N', "N", 0,
     "number of threads (default: all processors; in bench 1)", 0},
     offsetof(Options, threads)},
    {'W', false, {"wisdom", 'W', "FILE", 0,
     "the file with the results of tune (default: that of RAVEL_WISDOM)", 0},
     offsetof(Options, wisdom)},
    {'P', false, {"processor", 'P', "NAME", 0, "the processor to choose kernels for: a "
     "row of the cost model (default, zen3, emerald-rapids), or here: this machine", 0},
     offsetof(Options, processor)},
    {'S', false, {"seconds", 'S', "N", 0, "seconds of measurement, in addition to the "
     "proofs (default 2)", 0},
     offsetof(Options, seconds)},
    {'g', false, {"svg", 'g', "FILE", 0,
     "draw the layout to this file", 0},
     offsetof(Options, svg)},
    {'e', false, {"equals", 'e', "LAYOUT", 0, "compare with this layout", 0},
     offsetof(Options, equals)},
    {'b', false, {"banks", 'b', "DIM[:BYTES],...", 0,
     "find bank conflicts of the layout as a tile in shared memory, for lanes along DIM", 0},
     offsetof(Options, banks)},
    {'v', true, {"verify", 'v', 0, 0,
     "check every byte of the result and prove the code", 0},
     offsetof(Options, verify)},
    {'j', true, {"json", 'j', 0, 0, "write JSON; in explain only with --target", 0},
     offsetof(Options, json)},
    {'m', true, {"statements", 'm', 0, 0, "print the statements of the code instead of "
     "the plan (docs/ir)", 0}, offsetof(Options, statements)},
    {'f', false, {"spec", 'f', "FILE", 0, "load a spec file first (repeatable)", 0},
     0},
};

typedef struct {
    Cli *c;
    const Command *cmd;
} Parse;

static int
find_option(int letter)
{
    for (int i = 0; i < LEN(table); i++)
        if (table[i].option.key == letter)
            return i;
    return -1;
}

static void
check_needed(struct argp_state *state, const Parse *p)
{
    for (const char *o = p->cmd->options; *o; o++) {
        if (o[1] != '!')
            continue;
        int i = 0;
        while (table[i].letter != *o)
            i++;
        if (!*(const char **)((char *)&p->c->o + table[i].at))
            argp_error(state, "--%s %s is needed: %s", table[i].option.name,
                       table[i].option.arg, table[i].option.doc);
        o++;
    }
}

static error_t
take(int key, char *value, struct argp_state *state)
{
    Parse *p = state->input;
    Options *o = &p->c->o;
    if (key == ARGP_KEY_ARG) {
        if (o->narg == (p->cmd->nargs < 0 ? LEN(o->arg) : p->cmd->nargs))
            argp_error(state, "'%s' is one argument too many", value);
        o->arg[o->narg++] = value;
        return 0;
    }
    if (key == ARGP_KEY_END) {
        if (o->narg < p->cmd->nargs)
            argp_error(state, "%s is needed", p->cmd->args);
        check_needed(state, p);
        return 0;
    }
    if (key == 'f') {
        if (o->nspecs == LEN(o->spec))
            argp_error(state, "more than %d spec files", LEN(o->spec));
        o->spec[o->nspecs++] = value;
        return 0;
    }
    int i = find_option(key);
    if (i < 0)
        return ARGP_ERR_UNKNOWN;
    if (table[i].flag)
        *(bool *)((char *)o + table[i].at) = true;
    else
        *(const char **)((char *)o + table[i].at) = value;
    return 0;
}

const struct argp_option *
cli_option(const Command *cmd, int i)
{
    for (int k = 0; k < LEN(table); k++)
        if (strchr(cmd->options, table[k].letter) && i-- == 0)
            return &table[k].option;
    return NULL;
}

void
cli_parse(Cli *c, const Command *cmd, int argc, char **argv)
{
    const struct argp_option *o;
    struct argp_option options[LEN(table) + 1] = {{0}};
    for (int n = 0; (o = cli_option(cmd, n)); n++)
        options[n] = *o;
    Parse p = {c, cmd};
    char *doc = arena_printf(c->arena, "ravel %s: %s.\v%s", cmd->name, cmd->summary,
                             cmd->help);
    /* glibc's argp leaks the list of a command that has no options */
    struct argp argp = {options[0].name ? options : NULL, take, cmd->args, doc, NULL, NULL,
                        NULL};
    argv[0] = arena_printf(c->arena, "ravel %s", cmd->name);
    argp_err_exit_status = EXIT_WRONG;
    if (argp_parse(&argp, argc, argv, 0, NULL, &p))
        cli_fail(c, "out of memory");
}

void
cli_fail(Cli *c, const char *fmt, ...)
{
    enum { HALF = 400 };         /* a long argument leaves room for what is wrong */
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, fmt, ap);
    char *text = arena_array(c->arena, char, (i64)n + 1);
    vsnprintf(text, n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    if (n > 2 * HALF)
        diag_fatal(c->arena->diag, DIAG_ARGUMENT, (Loc){0}, "%.*s...%s", HALF, text,
                   text + n - HALF);
    diag_fatal(c->arena->diag, DIAG_ARGUMENT, (Loc){0}, "%s", text);
}

void
cli_check(Cli *c, ravel_status s, const ravel_error *err)
{
    if (s != RAVEL_OK)
        cli_fail(c, "%s", err->text);
}

int
cli_numbers(Cli *c, const char *what, const char *text, i64 *out, int max)
{
    int n = 0;
    for (const char *s = text; *s; n++) {
        char *end;
        errno = 0;
        if (isalpha((unsigned char)*s))
            cli_fail(c, "%s '%s': numbers are needed here; a name, which leaves an extent "
                     "to run time, is for the --shape of emit, explain, verify, check and "
                     "tune", what, text);
        if (n == max)
            cli_fail(c, "%s '%s' has more than %d numbers", what, text, max);
        out[n] = strtoll(s, &end, 10);
        if (end == s || !isdigit((unsigned char)*s) || (*end && *end != ',') ||
            (*end && !end[1]) || errno)
            cli_fail(c, "%s '%s' is not a list of whole numbers, as in 2,64,56,56", what,
                     text);
        s = *end ? end + 1 : end;
    }
    return n;
}

i64
cli_number(Cli *c, const char *what, const char *text, i64 unless, i64 max)
{
    char *end;
    if (!text)
        return unless;
    errno = 0;
    i64 n = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < 1 || n > max)
        cli_fail(c, "%s '%s': a whole number from 1 to %lld", what, text, (long long)max);
    return n;
}

int
cli_threads(Cli *c)
{
    enum { THREADS_MAX = 256 };
    return (int)cli_number(c, "--threads", c->o.threads, 0, THREADS_MAX);
}

/* The name at the start of the list; NULL if it is a number or not valid. */
static const char *
leading_name(Cli *c, const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_");
    if (!isalpha((unsigned char)*s) || (s[n] && s[n] != ',') || n > MAX_NAME)
        return NULL;
    return arena_printf(c->arena, "%.*s", (int)n, s);
}

/* True if the list continues with `len` characters that are neither a number nor a name. */
static bool
is_bad_extent(Cli *c, const char *s, size_t len)
{
    if ((isalpha((unsigned char)*s) || *s == '_') && !leading_name(c, s))
        cli_fail(c, "--shape '%s': a name is a letter and at most %d more letters, digits "
                 "and _", c->o.shape, MAX_NAME - 1);
    return !isalpha((unsigned char)*s) &&
           (len == 0 || strspn(s, "0123456789") != len || (s[len] && !s[len + 1]));
}

int
cli_shape_names(Cli *c, i64 *shape, const char **name, bool *any)
{
    Buf b = buf_new(c->arena);
    int n = 0;
    bool bad = false;
    *any = false;
    for (const char *s = c->o.shape; *s; n++) {
        size_t len = strcspn(s, ",");
        const char *own = leading_name(c, s);
        if (n == MAX_RANK)
            cli_fail(c, "--shape '%s' has more than %d extents", c->o.shape, MAX_RANK);
        name[n] = own;
        *any |= own != NULL;
        bad |= is_bad_extent(c, s, len);
        buf_printf(&b, "%s", own ? "0" : "");
        buf_addn(&b, own ? "" : s, own ? 0 : len);
        buf_addn(&b, s + len, s[len] == ',');
        s += len + (s[len] == ',');
    }
    if (!*any)
        return cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    if (bad)
        cli_fail(c, "--shape '%s' is not a list of whole numbers and names, as in N,64,H,W",
                 c->o.shape);
    n = cli_numbers(c, "--shape", b.s, shape, MAX_RANK);
    for (int d = 0; d < n; d++) {
        if (!name[d] && shape[d] < 1)
            cli_fail(c, "--shape %s: extents are 1 or more", c->o.shape);
        shape[d] = name[d] ? RUNTIME_EXTENT : shape[d];
    }
    return n;
}

void
cli_need_memory(Cli *c, i64 bytes, const char *what)
{
    i64 have = (i64)sysconf(_SC_PHYS_PAGES) * (i64)sysconf(_SC_PAGESIZE);
    if (have > 0 && bytes > have)
        cli_fail(c, "%s of %lld bytes does not fit this machine's memory (%lld bytes)",
                 what, (long long)bytes, (long long)have);
}

void
cli_check_json(Cli *c, const char *text)
{
    if ((c->o.json || c->o.manifest) && !utf8_is_text(text, strlen(text)))
        cli_fail(c, "'%s' is not UTF-8 and cannot be written as JSON", text);
}

void
cli_load(Cli *c, const char *path)
{
    cli_check_json(c, path);
    unsigned char *text;
    size_t len;
    ravel_error err;
    cli_check(c, file_read(path, SPEC_BYTES_MAX, &text, &len, &err), &err);
    ravel_status s = ravel_load(c->cx, (const char *)text, len, path, &err);
    free(text);
    cli_check(c, s, &err);
    c->known = context_known(c->cx);
}

static const char *
file_of(Cli *c, const char *name)
{
    return spec_ref(c->arena, name, c->known)->def->loc.file;
}

/* The first of two FILE:NAME must still be a layout of its file: the second file may have
 * one of the same name. */
static void
check_first(Cli *c, const char *text)
{
    const char *now = c->first ? file_of(c, c->first) : NULL;
    if (now && strcmp(now, c->first_file))
        cli_fail(c, "%s and %s both have a layout '%.*s': give one of them another name",
                 c->first_file, now, (int)strcspn(c->first, "({ "), c->first);
    c->first = text;
    c->first_file = file_of(c, text);
}

const char *
cli_layout_text(Cli *c, const char *text)
{
    const char *mark = strstr(text, ".lua:");
    cli_check_json(c, text);
    if (!mark || *text == '{' || *text == '(')
        return text;
    cli_load(c, arena_printf(c->arena, "%.*s", (int)(mark + 4 - text), text));
    check_first(c, mark + 5);
    return mark + 5;
}

const char *
cli_dtype(Cli *c, const char *text)
{
    if (c->o.dtype)
        return c->o.dtype;
    const LayoutRef *ref = spec_ref(c->arena, text, c->known);
    const DType *t = compile_any_dtype(ref);
    if (!t)
        cli_fail(c, "layout '%s' depends on the element size: give --dtype, as in "
                 "--dtype f16", ref->def->name);
    return t->name;
}

const DType *
cli_dtype_of(Cli *c, const char *text)
{
    const DType *t = dtype_find(cli_dtype(c, text));
    if (!t)
        cli_fail(c, "unknown dtype '%s'", c->o.dtype);
    return t;
}

Layout *
cli_layout(Cli *c, i64 *shape)
{
    const char *text = cli_layout_text(c, c->o.arg[0]);
    int rank = cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    return compile_layout(c->arena, c->known, text, cli_dtype(c, text), rank, shape);
}

void *
cli_json_memory(size_t n)
{
    void *p = malloc(n);
    if (!p && n) {
        fputs("ravel: out of memory\n", stderr);
        exit(EXIT_WRONG);
    }
    return p;
}

void
cli_print_json(json_t *j)
{
    json_dumpf(j, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(j);
}

json_t *
cli_json_numbers(const i64 *v, int n)
{
    json_t *a = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(a, json_integer(v[i]));
    return a;
}

const char *
cli_tuple(Arena *a, const i64 *v, int n)
{
    Buf b = buf_new(a);
    buf_add(&b, "(");
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%lld", i ? "," : "", (long long)v[i]);
    buf_add(&b, ")");
    return b.s;
}

const i64 *
cli_shape(Arena *a, const Layout *l)
{
    i64 *n = arena_array(a, i64, l->rank);
    for (int d = 0; d < l->rank; d++)
        n[d] = l->dim[d].n;
    return n;
}
