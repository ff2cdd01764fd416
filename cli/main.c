/* ravel: runs a command, and reports its errors. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Report output that could not be written. */
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
} Invocation;

/* Set the limit of the command's own arena and that of the context. */
static void
set_limit(Cli *c)
{
    ravel_error err;
    char *end;
    const char *s = c->o.limit;
    if (!s)
        return;
    errno = 0;
    c->limit = strtoll(s, &end, 10);
    if (!isdigit((unsigned char)*s) || *end || errno || c->limit < 1)
        cli_fail(c, "--limit '%.30s': a whole number above 0 is needed, as in "
                 "--limit 10", s);
    c->arena->work.most = work_steps((double)c->limit);
    cli_check(c, ravel_set_limit(c->cx, (double)c->limit, &err), &err);
}

static void
run_command(void *arg)
{
    Invocation *r = arg;
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

/* Print a message.  Lines after the first are indented, so that a newline in a name
 * cannot imitate a message. */
static void
complain(const Diag *d, const char *command)
{
    /* A text with ulimit says itself what to do: a smaller tensor has as many threads. */
    const char *way = d->kind == DIAG_MEMORY && !strstr(d->text, "(ulimit ")
        ? cli_memory_way(command) : NULL;
    fputs("ravel: ", stderr);
    for (const char *text = d->text; *text; text++) {
        fputc(*text, stderr);
        if (*text == '\n')
            fputs("    ", stderr);
    }
    fprintf(stderr, "%s%s\n", way ? "; " : "", way ? way : "");
}

/* SA_RESETHAND has reset the handler, so the process ends by the signal. */
static void
on_end(int sig)
{
    file_abandon();
    raise(sig);
}

/* The part of a mapped file that an access meant is gone. */
static void
on_shorter(int sig)
{
    static const char why[] = "ravel: an input file became shorter while it was read, or "
                              "cannot be read\n";
    (void)sig;
    file_abandon();
    (void)!write(STDERR_FILENO, why, sizeof why - 1);
    _exit(EXIT_WRONG);
}

/* Remove the temporary file if a signal ends the process.  A signal that is ignored, as
 * under nohup, stays ignored. */
static void
catch_ends(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction ours = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND}, old;
    for (int i = 0; i < LEN(ends); i++)
        if (!sigaction(ends[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(ends[i], &ours, NULL);
    sigaction(SIGBUS, &(struct sigaction){.sa_handler = on_shorter}, NULL);
}

static int
run(const Command *cmd, int argc, char **argv)
{
    Diag d;
    Arena arena = {0};
    Invocation r = {.cli = {.arena = &arena}, .cmd = cmd, .argc = argc, .argv = argv};
    if (!arena_run(&arena, &d, run_command, &r)) {
        complain(&d, cmd->name);
        r.code = EXIT_WRONG;
    }
    ravel_context_free(r.cli.cx);
    arena_free(&arena);
    return finish(r.code);
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
        cli_usage(argc > 1 ? stdout : stderr);
        return argc > 1 ? finish(EXIT_YES) : EXIT_WRONG;
    }
    if (!strcmp(name, "--version")) {
        puts("ravel " RAVEL_VERSION);
        return finish(EXIT_YES);
    }
    const Command *cmd = cli_find_command(name);
    return cmd ? run(cmd, argc - 1, argv + 1) : EXIT_WRONG;
}
