#define _GNU_SOURCE
#include "cli_child.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli_progress.h"

typedef int CheckedAt(void *dst, const void *src, const i64 *x);

/* The slots that even slow code moves in a second. */
enum { SLOTS_A_SECOND = 4000000 };

/* What the child replies, in shared memory. */
typedef struct {
    enum { ENDED, FAULTED, ANSWERED } state;
    atomic_int inside;             /* threads that are in the object's function */
    atomic_int begun;              /* runs */
    ProofPlace place;              /* FAULTED */
    ravel_status status;           /* ANSWERED */
    ravel_error err;
    ravel_certificate certificate;
} Reply;

/* The state of the child, for its signal handler. */
static Reply *reply;
static Proof *proof;
static Relayout *function;
static CheckedAt *function_at;        /* in place of it, of these extents */
static const i64 *extents;
static RelayoutPart *part_function;    /* NULL: there is none */

/* On x86 a SIGSEGV by an unaligned vector access has no address. */
static void
on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    bool unaligned = sig == SIGBUS ? info->si_code == BUS_ADRALN
                                   : info->si_code == SI_KERNEL;
    reply->place = proof_locate(proof, info->si_addr, unaligned);
    reply->state = FAULTED;
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

/* NAME_part, which emitted code has if threads share the work. */
static void
find_part(void *so, const char *name)
{
    char part[256];
    int n = snprintf(part, sizeof part, "%s_part", name);
    void *f = n > 0 && (size_t)n < sizeof part ? dlsym(so, part) : NULL;
    part_function = (RelayoutPart *)(uintptr_t)f;
}

/* Find the function in the object itself, not in the C library on which it depends.  A
 * path without a slash is a file in the current folder, not a library of the system. */
static ravel_status
find_function(const ChildObject *o)
{
    char path[4096];
    bool here = !strchr(o->path, '/');
    int n = snprintf(path, sizeof path, "%s%s", here ? "./" : "", o->path);
    if (n < 0 || (size_t)n >= sizeof path)
        return error_set(&reply->err, RAVEL_ERR_FILE, "the path is too long");
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        return o->said == o->path
            ? error_set(&reply->err, RAVEL_ERR_FILE, "--object cannot be loaded: %s", dlerror())
            : error_set(&reply->err, RAVEL_ERR_FILE, "the object that '%s' makes cannot be "
                        "loaded here: it is for another machine, or needs a library that "
                        "is not here", o->said);
    void *f = dlsym(so, o->name);
    if (!f || f == dlsym(RTLD_DEFAULT, o->name))
        return error_set(&reply->err, RAVEL_ERR_FILE, "'%s' has no function '%s'; give "
                         "its name with --name", o->said, o->name);
    function = (Relayout *)(uintptr_t)f;
    function_at = (CheckedAt *)(uintptr_t)f;
    extents = o->x;
    find_part(so, o->name);
    return RAVEL_OK;
}

static void
run_function(const void *self, void *dst, const void *src)
{
    (void)self;
    atomic_fetch_add(&reply->inside, 1);
    if (extents)
        function_at(dst, src, extents);
    else
        function(dst, src);
    atomic_fetch_sub(&reply->inside, 1);
}

static void
run_part(const void *self, void *dst, const void *src, i64 part, i64 parts)
{
    (void)self;
    atomic_fetch_add(&reply->inside, 1);
    part_function(dst, src, part, parts);
    atomic_fetch_sub(&reply->inside, 1);
}

static ravel_status
answer(const Plan *p, const ravel_plan *code, const ChildObject *object)
{
    ravel_status s = proof_new(p, true, &proof, &reply->err);
    if (s != RAVEL_OK)
        return s;
    catch_faults();
    proof_watch(proof, &reply->begun);
    if (code)
        return verify_plan(code, proof, &reply->certificate, &reply->err);
    s = find_function(object);
    Code o = {run_function, p->split && part_function ? run_part : NULL, NULL,
              object->align};
    return s == RAVEL_OK ? proof_run(proof, &o, &reply->certificate, &reply->err) : s;
}

static void *
idle(void *arg)
{
    return arg;
}

/* A library of threads ends the process where it gets none (libgomp does): no flaw of the code. */
static void
on_exit_of_object(void)
{
    pthread_t t;
    if (!atomic_load(&reply->inside) || pthread_create(&t, NULL, idle, NULL) != EAGAIN)
        return;
    reply->status = error_set(&reply->err, RAVEL_ERR_MEMORY, "the code cannot start its threads: "
                              "the system has no memory for a stack, or allows no more threads "
                              "(ulimit -u)");
    reply->state = ANSWERED;
}

/* Set the limit of processor time, at most the limit of the parent. */
static struct rlimit
time_limit(const Plan *p, i64 limit)
{
    struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY};
    rlim_t want = limit ? (rlim_t)limit : 60 + (rlim_t)(proof_slots(p) / SLOTS_A_SECOND);
    getrlimit(RLIMIT_CPU, &r);
    if (r.rlim_cur == RLIM_INFINITY || r.rlim_cur > want)
        r.rlim_cur = want;
    return r;
}

/* Discard what the object prints, and end the child when the parent ends. */
_Noreturn static void
child(const Plan *p, const ravel_plan *code, const ChildObject *object,
      const struct rlimit *time, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    setrlimit(RLIMIT_CPU, time);
    atexit(on_exit_of_object);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    reply->status = answer(p, code, object);
    reply->state = ANSWERED;
    _exit(0);
}

static void
explain_end(int how, long long limit, char *text, size_t n)
{
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU)
        snprintf(text, n, "it did not return within %lld s of processor time", limit);
    else if (WIFSIGNALED(how))
        snprintf(text, n, "it ended the process: %s", strsignal(WTERMSIG(how)));
    else
        snprintf(text, n, "it ended the process, with exit code %d", WEXITSTATUS(how));
}

/* A signal from another process, or time spent by ravel itself, is no flaw of the code.
 * */
static ravel_status
judge(int how, long long limit, Outcome *out, ravel_error *err)
{
    int sig = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    *out = (Outcome){.certificate = reply->certificate};
    if (sig == SIGKILL)
        return error_set(err, RAVEL_ERR_MEMORY, "the proof was killed, most likely for "
                         "memory");
    if (sig == SIGXCPU && !atomic_load(&reply->inside))
        return error_set(err, RAVEL_ERR_MEMORY, "the proof took more than %lld s of "
                         "processor time; raise it with --limit", limit);
    if (sig || reply->state == ENDED) {
        explain_end(how, limit, out->why, sizeof out->why);
    } else if (reply->state == FAULTED) {
        proof_place_text(&reply->place, out->why, sizeof out->why);
    } else if (reply->status == RAVEL_ERR_VERIFY) {
        snprintf(out->why, sizeof out->why, "%.1000s", reply->err.text);
    } else if (reply->status != RAVEL_OK) {
        return error_set(err, reply->status, "%s", reply->err.text);
    }
    return RAVEL_OK;
}

/* Wait for the child; on a terminal, show how far it is. */
static void
await(pid_t pid, int runs, int *how)
{
    const struct timespec soon = {0, 50000000};
    Progress p = progress_begin("proving", "runs");
    pid_t done;
    while ((done = waitpid(pid, how, p.on ? WNOHANG : 0)) != pid &&
           (done >= 0 || errno == EINTR)) {
        progress_at(&p, atomic_load(&reply->begun), runs, 0);
        if (p.on)
            nanosleep(&soon, NULL);
    }
    progress_end(&p);
}

ravel_status
child_prove(const Plan *p, const ravel_plan *code, const ChildObject *object,
            i64 limit, Outcome *out, ravel_error *err)
{
    int how = 0;
    struct rlimit time = time_limit(p, limit);
    reply = mmap(NULL, sizeof *reply, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reply == MAP_FAILED)
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        child(p, code, object, &time, parent);
    if (pid > 0)
        await(pid, proof_runs(p), &how);
    ravel_status s = pid > 0 ? judge(how, (long long)time.rlim_cur, out, err)
        : error_set(err, RAVEL_ERR_MEMORY, "no process can be started: %s%s",
                    strerror(errno),
                    errno == EAGAIN ? " (ulimit -u)" : "");
    munmap(reply, sizeof *reply);
    return s;
}
