/* Run a compiler on emitted text; the files are in a temporary folder. */
#include "cli_object.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    Cli *c;
    const char *command, *text;
    char *folder;
    sigset_t before;               /* signals that were blocked */
    int object;                    /* open for reading; -1: there is none */
} Build;

static const char *
path(const Build *b, const char *name)
{
    return arena_printf(b->c->arena, "%s/%s", b->folder, name);
}

/* A signal that ends the process takes effect after the folder is removed; the compiler
 * receives it at once. */
static void
hold_signals(Build *b)
{
    static const int held[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t s;
    sigemptyset(&s);
    for (int i = 0; i < LEN(held); i++)
        sigaddset(&s, held[i]);
    sigprocmask(SIG_BLOCK, &s, &b->before);
}

/* The compiler's standard output must not mix with that of ravel. */
_Noreturn static void
start(const Build *b, const char *object, const char *source)
{
    const char *script = arena_printf(b->c->arena, "%s \"$@\"", b->command);
    sigprocmask(SIG_SETMASK, &b->before, NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", script, "sh", "-shared", "-fPIC", "-o", object, source,
          (char *)NULL);
    _exit(127);
}

static void
build(void *arg)
{
    Build *b = arg;
    const char *source = path(b, "emitted.c"), *object = path(b, "emitted.so");
    int how = 0;
    cli_write(b->c, source, b->text, strlen(b->text));
    pid_t pid = fork();
    if (pid == 0)
        start(b, object, source);
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    if (pid < 0)
        cli_fail(b->c, "no process can be started: %s%s", strerror(errno),
                 errno == EAGAIN ? " (ulimit -u)" : "");
    if (WIFSIGNALED(how))
        cli_fail(b->c, "--check '%s': the compiler was ended: %s", b->command,
                 strsignal(WTERMSIG(how)));
    if (WEXITSTATUS(how))
        cli_fail(b->c, "--check '%s': the compiler ended with exit code %d", b->command,
                 WEXITSTATUS(how));
    b->object = open(object, O_RDONLY | O_CLOEXEC);
    if (b->object < 0)
        cli_fail(b->c, "--check '%s': the compiler made no shared object", b->command);
}

/* Compilers may have created further files in the folder. */
static void
clear(const Build *b)
{
    DIR *d = opendir(b->folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(b->folder);
}

const char *
cli_object(Cli *c, const char *command, const char *text)
{
    const char *room = getenv("TMPDIR");
    Build b = {.c = c, .command = command, .text = text, .object = -1};
    Diag d;
    b.folder = arena_printf(c->arena, "%s/ravel-XXXXXX", room && *room ? room : "/tmp");
    hold_signals(&b);
    if (!mkdtemp(b.folder))
        cli_fail(c, "no folder can be made beside '%s': %s", b.folder, strerror(errno));
    bool ok = arena_run(c->arena, &d, build, &b);
    clear(&b);
    sigprocmask(SIG_SETMASK, &b.before, NULL);
    if (!ok)
        diag_fatal(c->arena->diag, d.kind, (Loc){0}, "%s", d.text);
    return arena_printf(c->arena, "/proc/self/fd/%d", b.object);
}
