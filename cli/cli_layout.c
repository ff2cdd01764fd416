/* Commands about one layout: list, index, table. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "cli_convert.h"
#include "cli_file.h"
#include "cli_sparse.h"

static json_t *
names(const LayoutDef *d)
{
    json_t *a = json_array();
    if (d->batch)
        json_array_append_new(a, json_string("..."));
    for (int i = 0; i < d->ndims; i++)
        json_array_append_new(a, json_string(d->dims[i]));
    return a;
}

/* A later definition hides an earlier one of the same name; later ones come first. */
static bool
hidden(json_t *seen, const LayoutDef *d)
{
    if (json_object_get(seen, d->name))
        return true;
    json_object_set_new(seen, d->name, json_null());
    return false;
}

/* What `ravel list WORD` searches. */
static const char *
described(Cli *c, const LayoutDef *d)
{
    Buf b = buf_new(c->arena);
    const char *text[] = {d->name, d->doc, d->owner, d->source, d->version, d->loc.file};
    for (int i = 0; i < LEN(text); i++)
        buf_printf(&b, "%s ", text[i] ? text[i] : "");
    if (d->bits)
        buf_printf(&b, " int%d u%d %d-bit", d->bits, d->bits, d->bits);
    return b.s;
}

/* Whether a word begins there: after no letter or digit, or as in hopperScale and gfx10Tile. */
static bool
begins_word(const char *text, const char *at)
{
    unsigned char a = at > text ? (unsigned char)at[-1] : ' ', b = (unsigned char)*at;
    return !isalnum(a) || (islower(a) && isupper(b)) || !isdigit(a) != !isdigit(b);
}

/* Where a text has a word, or the worst of several. */
typedef enum { NOWHERE, INSIDE, AT_WORD } Found;

static Found
find_word(const char *text, const char *word)
{
    Found best = NOWHERE;
    for (const char *at = text; best != AT_WORD && (at = strcasestr(at, word)); at++)
        best = begins_word(text, at) ? AT_WORD : INSIDE;
    return best;
}

static Found
find_words(Cli *c, const LayoutDef *d)
{
    const char *text = c->o.narg ? described(c, d) : "";
    Found worst = AT_WORD;
    for (int i = 0; i < c->o.narg; i++) {
        Found f = find_word(text, c->o.arg[i]);
        worst = f < worst ? f : worst;
    }
    return worst;
}

static json_t *
layout_json(Cli *c, const LayoutDef *d)
{
    return json_pack("{s:s, s:s*, s:s*, s:s*, s:s*, s:o, s:s, s:s, s:i}", "name", d->name,
                     "doc", d->doc, "owner", d->owner, "source", d->source, "version",
                     d->version, "dims", names(d), "layout", layout_text(c->arena, d), "file",
                     d->loc.file, "line", d->loc.line);
}

/* The layouts that have all words there: how many.  They are printed, or go into the array. */
static int
list_found(Cli *c, Found where, json_t *all)
{
    json_t *seen = json_object();
    int n = 0;
    for (const LayoutDef **of = known_all(c->arena, c->known); *of; of++) {
        const LayoutDef *d = *of;
        if (hidden(seen, d) || find_words(c, d) != where)
            continue;
        n++;
        if (c->o.json)
            json_array_append_new(all, layout_json(c, d));
        else
            printf("%-16s %s\n", d->name, d->doc ? d->doc : layout_text(c->arena, d));
    }
    json_decref(seen);
    return n;
}

/* A word that no layout has may be a file, of which list reads some. */
static void
refuse_file(Cli *c, const char *word)
{
    struct stat st;
    if (stat(word, &st) || !S_ISREG(st.st_mode))
        return;
    const char *show = cli_is_matrix(c, word)
                       ? arena_printf(c->arena, "; `ravel show %s' draws a sparse matrix", word) : "";
    cli_fail(c, "'%s' is a file: list has the arrays of .npz, .safetensors and .gguf files%s", word,
             show);
}

int
cmd_list(Cli *c)
{
    if (c->o.narg == 1 && cli_is_tensors(c->o.arg[0]))
        return cli_list_tensors(c, c->o.arg[0]);
    for (int i = 0; i < c->o.narg; i++)
        cli_check_json(c, c->o.arg[i]);
    json_t *all = json_array();
    int n = list_found(c, AT_WORD, all) + list_found(c, INSIDE, all);
    if (c->o.json)
        cli_print_json(all);
    else
        json_decref(all);
    if (!n && !c->o.json && c->o.narg == 1)
        refuse_file(c, c->o.arg[0]);
    if (!n && !c->o.json)
        puts("no layout has all these words in its name, description, owner, source and version");
    return n ? EXIT_YES : EXIT_NO;
}

static int
index_inverse(Cli *c, const Layout *l, const Verdict *v)
{
    i64 a, x[MAX_RANK];
    if (cli_numbers(c, "--at", c->o.at, &a, 1) != 1)
        cli_fail(c, "--at: with --inverse it is one address");
    if (a >= l->size)
        cli_fail(c, "--at %lld is outside the storage of %s", (long long)a,
                 cli_count(c->arena, l->size, "element"));
    Answer found = decide_element(l, v, a, x);
    if (found == UNKNOWN)
        cli_fail(c, "the layout has no inverse in closed form and more than %d "
                 "elements to look at", ENUM_MAX);
    if (found == NO) {
        printf("none: address %lld is padding or a hole\n", (long long)a);
        return EXIT_NO;
    }
    for (int d = 0; d < l->rank; d++)
        printf("%s%lld", d ? "," : "", (long long)x[d]);
    putchar('\n');
    return EXIT_YES;
}

int
cmd_index(Cli *c)
{
    i64 shape[MAX_RANK], x[MAX_RANK], a;
    Layout *l = cli_layout(c, shape);
    Verdict *v = c->o.inverse ? decide_inverse_or_fail(l) : decide_readable_or_fail(l);
    if (c->o.inverse)
        return index_inverse(c, l, v);
    int n = cli_numbers(c, "--at", c->o.at, x, MAX_RANK);
    if (n != l->rank)
        cli_fail(c, "--at has %d numbers, the shape %d", n, l->rank);
    for (int d = 0; d < n; d++)
        if (x[d] >= l->dim[d].n)
            cli_fail(c, "--at: %s=%lld is outside 0..%lld", l->dim[d].name,
                     (long long)x[d], (long long)l->dim[d].n - 1);
    if (!layout_address(l, x, &a))
        cli_fail(c, "the address does not fit 64 bits");
    printf("%lld\n", (long long)a);
    return EXIT_YES;
}

int
cmd_table(Cli *c)
{
    i64 shape[MAX_RANK], count = 1, bytes;
    ravel_error err;
    const char *text = cli_layout_text(c, c->o.arg[0]), *foreign = foreign_format(c->o.output);
    if (foreign)
        cli_fail(c, "'%s': table writes a .npy, and no file of %s", c->o.output, foreign);
    cli_find_shape(c, text, NULL);
    int rank = cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    for (int i = 0; i < rank; i++)
        if (shape[i] < 1 || !int_mul(count, shape[i], &count))
            cli_fail(c, "--shape %s: extents are 1 or more and their product fits 64 "
                     "bits", c->o.shape);
    if (!int_mul(count, 8, &bytes))
        cli_fail(c, "the table does not fit memory");
    cli_need_memory(c, bytes, "a table");
    i64 *out = arena_array(c->arena, i64, count);
    cli_check(c, ravel_table(c->cx, text, cli_dtype(c, text), rank, shape, out, &err),
              &err);
    cli_check(c, npy_write(c->o.output, "i8", 8, rank, shape, out, &err), &err);
    return EXIT_YES;
}
