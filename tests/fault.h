/* fault.h: what the preloaded fault makers share.
 *
 *   FAULT_AT   the number of the call to spoil, from 0; none: only count
 *   FAULT_DO   in which way
 *   FAULT_LOG  a file for what was counted
 *
 * Counting starts where main does: what the loader does before is not ravel's. */
#ifndef FAULT_H
#define FAULT_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int Main(int argc, char **argv, char **env);

static Main *their_main;
static bool counting;
static long fault_at = -1;
static const char *fault_do = "";
static int fault_log = -1;

/* Raw, so that it is not counted. */
static void
fault_say(const void *text, size_t n)
{
    if (fault_log >= 0 && syscall(SYS_write, fault_log, text, n) < 0)
        abort();
}

static int
our_main(int argc, char **argv, char **env)
{
    const char *at = getenv("FAULT_AT"), *what = getenv("FAULT_DO");
    const char *log = getenv("FAULT_LOG");
    fault_at = at ? atol(at) : -1;
    fault_do = what ? what : "";
    if (log)
        fault_log = (int)syscall(SYS_openat, AT_FDCWD, log,
                                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    counting = true;
    return their_main(argc, argv, env);
}

int
__libc_start_main(Main *main, int argc, char **argv, void (*init)(void),
                  void (*fini)(void), void (*at_exit)(void), void *stack)
{
    typedef int Start(Main *, int, char **, void (*)(void), void (*)(void),
                      void (*)(void), void *);
    union { void *p; Start *f; } real = {dlsym(RTLD_NEXT, "__libc_start_main")};
    their_main = main;
    return real.f(our_main, argc, argv, init, fini, at_exit, stack);
}

#endif
