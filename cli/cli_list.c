/* emit --list: conversions that are written as one unit.  A line of the file has the
 * options of one conversion as a shell reads them: words between spaces, parts of words
 * between quotes, comments from # on. */
#include <stdlib.h>
#include <string.h>

#include "cli_sparse.h"

enum { LIST_BYTES_MAX = 1 << 20, LIST_MAX = 4096, WORDS_MAX = 32 };

static const char line_options[] = "FTstnrhUz";

typedef struct {
    Cli *c;
    const Target *t;
    const char *text;              /* the current line */
    int line;
    Emitted *e;
    int *at;                       /* the line of each */
    int n;
} List;

/* The next word of a line, or NULL; *s is set behind it. */
static const char *
next_word(Cli *c, const char **s)
{
    Buf b = buf_new(c->arena);
    const char *p = *s + strspn(*s, " \t\r");
    if (!*p || *p == '#')
        return NULL;
    while (*p && !strchr(" \t\r", *p)) {
        char quote = *p == '\'' || *p == '"' ? *p : 0;
        const char *from = p + (quote != 0);
        size_t n = quote ? strcspn(from, (char[]){quote, 0}) : strcspn(from, " \t\r'\"");
        if (quote && !from[n])
            cli_fail(c, "a quote %c is not closed", quote);
        buf_addn(&b, from, n);
        p = from + n + (quote != 0);
    }
    *s = p;
    return b.s;
}

/* Set the options of the line; false if it has none. */
static bool
read_options(Cli *c, const char *s)
{
    const char *word = next_word(c, &s);
    c->o.from = c->o.to = c->o.shape = c->o.dtype = c->o.name = NULL;
    c->o.duplicates = c->o.threshold = c->o.index_type = NULL;
    c->o.masked = false;
    if (!word)
        return false;
    for (; word; word = next_word(c, &s)) {
        size_t n = strcspn(word, "=");
        bool *flag = cli_flag_at(&c->o, line_options, word);
        if (flag) {
            *flag = true;
            continue;
        }
        const char **value = cli_option_at(&c->o, line_options, word, n);
        if (!value)
            cli_fail(c, "'%s' is not an option of a conversion: these are --from, --to, "
                     "--shape, --dtype and --name, and of sparse formats --duplicates, "
                     "--threshold, --mask and --index-type", word);
        if (*value)
            cli_fail(c, "%.*s is given twice", (int)n, word);
        *value = word[n] ? word + n + 1 : next_word(c, &s);
        if (!*value)
            cli_fail(c, "%s lacks its value", word);
    }
    if (!c->o.from || !c->o.to || !c->o.dtype)
        cli_fail(c, "--from, --to, --shape and --dtype are needed");
    return true;
}

static void
check_name(const List *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->e[i].rq.name, name))
            cli_fail(l->c, "the name %s is that of line %d: give another one with --name",
                     name, l->at[i]);
}

static void
read_line(void *arg)
{
    List *l = arg;
    Cli *c = l->c;
    Emitted *e = &l->e[l->n];
    if (!read_options(c, l->text))
        return;
    if (l->n + SPARSE_FUNCTIONS > LIST_MAX)
        cli_fail(c, "there are too many conversions: they have more than %d functions", LIST_MAX);
    c->arena->work.spent = 0;      /* the limit is of each conversion */
    e->rq = cli_request(c, arena_array(c->arena, i64, MAX_RANK));
    e->shape = c->o.shape;
    if (!e->rq.name)
        e->rq.name = emit_full_name(c->arena, l->t, &e->rq);
    if (!e->rq.name)
        cli_fail(c, "a function of these layouts has no name by itself: give one with "
                 "--name");
    int n = 1;
    if (cli_is_sparse(c, e->rq.from, e->rq.to)) {
        c->o.name = e->rq.name;
        n = cli_sparse_functions(c, e->rq.from, e->rq.to, e);
    } else {
        cli_refuse_sparse(c);
        e->plan = cli_plan_written(c, l->t, &e->rq);
        e->unit = compile_unit(l->t, e->plan, &e->rq);
    }
    for (int i = 0; i < n; i++) {
        check_name(l, e[i].rq.name);
        l->at[l->n++] = l->line;
    }
}

static void
read_lines(List *l, char *text)
{
    Cli *c = l->c;
    Diag d;
    for (char *s = text; s; l->line++) {
        char *end = strchr(s, '\n');
        if (end)
            *end = 0;
        l->text = s;
        if (!arena_run(c->arena, &d, read_line, l))
            diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s:%d: %s", c->o.list, l->line,
                       d.text);
        s = end ? end + 1 : NULL;
    }
}

int
cli_emit_list(Cli *c, const Target *t)
{
    unsigned char *text;
    size_t len;
    ravel_error err;
    List l = {.c = c, .t = t, .line = 1};
    if (c->o.from || c->o.to || c->o.shape || c->o.dtype || c->o.name || c->o.kind)
        cli_fail(c, "--list: --from, --to, --shape, --dtype and --name are in the lines of "
                 "%s, and all are conversions", c->o.list);
    if (cli_has_sparse(c))
        cli_fail(c, "--list: --duplicates, --threshold, --mask and --index-type are in the lines "
                 "of %s", c->o.list);
    if (!target_is(t, "functions"))
        cli_fail(c, "--list needs --target c: a kernel of %s has a file of its own",
                 target_name(t));
    cli_depend(c, c->o.list);
    cli_check(c, file_read(c->o.list, LIST_BYTES_MAX, &text, &len, &err), &err);
    char *copy = arena_string(c->arena, (const char *)text);
    free(text);
    if (strlen(copy) != len)
        cli_fail(c, "%s: a byte is 0: a text is needed", c->o.list);
    l.e = arena_array(c->arena, Emitted, LIST_MAX + 1);
    l.at = arena_array(c->arena, int, LIST_MAX + 1);
    read_lines(&l, copy);
    if (l.n == 0)
        cli_fail(c, "%s has no conversion: a line is as --from NCHW --to NHWC --shape "
                 "2,3,5,7 --dtype f32", c->o.list);
    return cli_emit_units(c, t, l.e, l.n);
}
