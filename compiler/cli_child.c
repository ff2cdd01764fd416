#define _GNU_SOURCE
#include "cli_child.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child tells, in memory that both share. */
typedef struct {
    enum { ENDED, FAULTED, ANSWERED } state;
    ProofPlace place;              /* FAULTED */
    ravel_status status;           /* ANSWERED */
    ravel_error err;
    ravel_certificate certificate;
} Told;

/* Of the child, for its signal handler. */
static Told *told;
static Proof *proof;

static void
on_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    told->place = proof_locate(proof, info->si_addr);
    told->state = FAULTED;
    _exit(0);
}

static void
catch_faults(void)
{
    struct sigaction a = {.sa_flags = SA_SIGINFO | (int)SA_RESETHAND};
    a.sa_sigaction = on_fault;
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGBUS, &a, NULL);
}

/* The object's function; a path without a slash is a file here, not one of the
 * system's libraries. */
static ravel_status
find_function(const ChildObject *o, Relayout **run)
{
    char path[4096];
    bool here = !strchr(o->path, '/');
    int n = snprintf(path, sizeof path, "%s%s", here ? "./" : "", o->path);
    if (n < 0 || (size_t)n >= sizeof path)
        return error_set(&told->err, RAVEL_ERR_FILE, "the path is too long");
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        return error_set(&told->err, RAVEL_ERR_FILE, "%s", dlerror());
    void *f = dlsym(so, o->name);
    if (!f)
        return error_set(&told->err, RAVEL_ERR_FILE, "'%s' has no function '%s'; --name "
                         "says which", o->path, o->name);
    *run = (Relayout *)(uintptr_t)f;
    return RAVEL_OK;
}

static ravel_status
answer(const Plan *p, const ravel_plan *code, const ChildObject *object)
{
    Relayout *run;
    ravel_status s = proof_new(p, true, &proof, &told->err);
    if (s != RAVEL_OK)
        return s;
    catch_faults();
    if (code)
        return verify_plan(code, proof, &told->certificate, &told->err);
    s = find_function(object, &run);
    return s == RAVEL_OK ? proof_run(proof, run, &told->certificate, &told->err) : s;
}

/* What an object prints is not our answer. */
_Noreturn static void
child(const Plan *p, const ravel_plan *code, const ChildObject *object)
{
    dup2(STDERR_FILENO, STDOUT_FILENO);
    told->status = answer(p, code, object);
    told->state = ANSWERED;
    _exit(0);
}

static void
explain_end(int how, char *text, size_t n)
{
    if (WIFSIGNALED(how))
        snprintf(text, n, "it ended the process: %s", strsignal(WTERMSIG(how)));
    else
        snprintf(text, n, "it ended the process, with exit code %d", WEXITSTATUS(how));
}

static ravel_status
judge(int how, Outcome *out, ravel_error *err)
{
    *out = (Outcome){.certificate = told->certificate};
    if (WIFSIGNALED(how) || told->state == ENDED) {
        explain_end(how, out->why, sizeof out->why);
    } else if (told->state == FAULTED) {
        proof_place_text(&told->place, out->why, sizeof out->why);
    } else if (told->status == RAVEL_ERR_VERIFY) {
        snprintf(out->why, sizeof out->why, "%.1000s", told->err.text);
    } else if (told->status != RAVEL_OK) {
        return error_set(err, told->status, "%s", told->err.text);
    }
    return RAVEL_OK;
}

ravel_status
child_prove(const Plan *p, const ravel_plan *code, const ChildObject *object,
            Outcome *out, ravel_error *err)
{
    int how = 0;
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        child(p, code, object);
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    ravel_status s = pid > 0 ? judge(how, out, err)
        : error_set(err, RAVEL_ERR_MEMORY, "no process can be started: %s",
                    strerror(errno));
    munmap(told, sizeof *told);
    return s;
}
