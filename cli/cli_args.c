/* The words of a command line, which glibc's argp reads. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

typedef struct {
    Cli *c;
    const Command *cmd;
} Parse;

static void
check_needed(struct argp_state *state, const Parse *p)
{
    const struct argp_option *o = cli_option_missing(p->cmd, &p->c->o);
    if (o)
        argp_error(state, "--%s %s is needed: %s", o->name, o->arg, o->doc);
}

static void
take_argument(const Parse *p, char *value, struct argp_state *state)
{
    Options *o = &p->c->o;
    if (o->narg == (p->cmd->nargs < 0 ? LEN(o->arg) : p->cmd->nargs))
        argp_error(state, "%s", cli_why_extra(p->c, p->cmd, value));
    o->arg[o->narg++] = value;
}

static void
take_spec(Options *o, char *value, struct argp_state *state)
{
    if (o->nspecs == LEN(o->spec))
        argp_error(state, "more than %d spec files", LEN(o->spec));
    o->spec[o->nspecs++] = value;
}

static void
take_end(const Parse *p, struct argp_state *state)
{
    if (p->c->o.narg < p->cmd->nargs)
        argp_error(state, "%s is needed", p->cmd->args);
    check_needed(state, p);
}

static error_t
take(int key, char *value, struct argp_state *state)
{
    Parse *p = state->input;
    Options *o = &p->c->o;
    if (key == ARGP_KEY_ARG) {
        take_argument(p, value, state);
    } else if (key == ARGP_KEY_END) {
        take_end(p, state);
    } else if (key == 'f') {
        take_spec(o, value, state);
    } else if (!cli_option_set(p->c, key, value)) {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void
cli_parse(Cli *c, const Command *cmd, int argc, char **argv)
{
    const struct argp_option *o;
    int n = 0;
    while (cli_option(cmd, n))
        n++;
    struct argp_option *options = arena_array(c->arena, struct argp_option, n + 1);
    for (n = 0; (o = cli_option(cmd, n)); n++)
        options[n] = *o;
    Parse p = {c, cmd};
    char *doc = arena_printf(c->arena, "ravel %s: %s.\v%s", cmd->name, cmd->summary,
                             cmd->help);
    /* glibc's argp leaks the list of a command that has no options */
    struct argp argp = {options[0].name ? options : NULL, take, cmd->args, doc, NULL, NULL,
                        NULL};
    cli_check_options(c, cmd, argc, argv);
    argv[0] = arena_printf(c->arena, "ravel %s", cmd->name);
    argp_err_exit_status = EXIT_WRONG;
    if (argp_parse(&argp, argc, argv, 0, NULL, &p))
        cli_fail(c, "out of memory");
}
