/* Wrong words on the command line: what was probably meant. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { OPTIONS_MAX = 64 };

/* The option of a command that a word --NAME[=VALUE] gives, also abbreviated; NULL: none.
 * *many: the abbreviation has several meanings. */
static const struct argp_option *
option_named(const Command *cmd, const char *name, size_t n, bool *many)
{
    const struct argp_option *o, *found = NULL;
    *many = false;
    for (int i = 0; (o = cli_option(cmd, i)); i++) {
        if (strncmp(o->name, name, n))
            continue;
        if (!o->name[n])
            return o;
        *many |= found != NULL;
        found = o;
    }
    return found;
}

/* The first other command that has the option. */
static const char *
other_command(const char *name, size_t n)
{
    bool many;
    const Command *cmd;
    for (int i = 0; (cmd = cli_command(i)); i++) {
        const struct argp_option *o = option_named(cmd, name, n, &many);
        if (o && !o->name[n])
            return cmd->name;
    }
    return NULL;
}

_Noreturn static void
refuse(Cli *c, const Command *cmd, const char *name, size_t n)
{
    const struct argp_option *o;
    const char *names[OPTIONS_MAX + 1] = {NULL}, *text = arena_printf(c->arena, "%.*s",
                                                                      (int)n, name);
    for (int i = 0; i < OPTIONS_MAX && (o = cli_option(cmd, i)); i++)
        names[i] = o->name;
    const char *near = diag_nearest(text, names), *other = other_command(name, n);
    if (other)
        cli_fail(c, "%s has no option --%s, which is one of %s; `ravel %s --help` lists "
                 "its options", cmd->name, text, other, cmd->name);
    cli_fail(c, "%s has no option --%.60s%s%s%s; `ravel %s --help` lists its options",
             cmd->name, text, near ? "; did you mean --" : "", near ? near : "",
             near ? "?" : "", cmd->name);
}

/* Whether the word after this one is its value: -s 2,3 and --shape 2,3. */
static bool
takes_next(const Command *cmd, const char *word, const struct argp_option *o)
{
    if (o)
        return o->arg && !strchr(word, '=');
    for (int i = 0; word[1] && !word[2] && (o = cli_option(cmd, i)); i++)
        if (o->key == word[1])
            return o->arg != NULL;
    return false;
}

void
cli_check_options(Cli *c, const Command *cmd, int argc, char **argv)
{
    static const char *const common[] = {"help", "usage"};
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        const struct argp_option *o = NULL;
        const char *name = strncmp(argv[i], "--", 2) ? "" : argv[i] + 2;
        size_t n = strcspn(name, "=");
        bool many = false, known = !n;
        for (int k = 0; k < LEN(common); k++)
            known |= n && !strncmp(common[k], name, n);
        if (!known && !(o = option_named(cmd, name, n, &many)))
            refuse(c, cmd, name, n);
        if (argv[i][0] == '-' && takes_next(cmd, argv[i], many ? NULL : o))
            i++;
    }
}

const char *
cli_why_extra(Cli *c, const Command *cmd, const char *word)
{
    bool digits = *word && strspn(word, "0123456789,") == strlen(word), many;
    const char *why = digits && option_named(cmd, "inverse", 7, &many)
                          ? "; coordinates are given as --at 1,17,4,6, and with --inverse an "
                            "address as --at 38"
                      : digits ? "; a list is one word, as in --shape 2,64,56,56"
                      : option_named(cmd, "beside", 6, &many)
                          ? "; a second layout is given as --beside NCHW"
                      : option_named(cmd, "from", 4, &many) && option_named(cmd, "to", 2, &many)
                          ? "; layouts are given as --from NCHW --to NHWC"
                      : option_named(cmd, "equals", 6, &many)
                          ? "; a second layout, to compare with, is given as --equals NCHW"
                          : "";
    return arena_printf(c->arena, "'%s' is one argument too many%s", word, why);
}

void
cli_need_layout(Cli *c, const char *file, const char *text)
{
    int n = 0;
    const char *name = arena_printf(c->arena, "%.*s", (int)strcspn(text, "({[@ \t\n"), text);
    if (known_find(c->arena, c->known, name))
        return;
    const LayoutDef *const *all = known_all(c->arena, c->known);
    while (all[n])
        n++;
    const char **names = arena_array(c->arena, const char *, n + 1);
    Buf has = buf_new(c->arena);
    n = 0;
    for (; *all; all++) {
        const LayoutDef *d = *all;
        if (!d->loc.file || strcmp(d->loc.file, file))
            continue;
        buf_printf(&has, "%s%s", n ? ", " : "", d->name);
        names[n++] = d->name;
    }
    const char *near = diag_nearest(name, names);
    cli_fail(c, "unknown layout '%.100s': %.200s has %.400s%s%s%s", name, file,
             n ? has.s : "no layout", near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "");
}
