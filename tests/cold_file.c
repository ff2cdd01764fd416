/* cold_file.c: preloaded into a command, answers how often this thread has waited for the disk: by
 * COLD_WAITS times more at each question, else never.  COLD_LOG is a file for the advice that the
 * command gives about memory, a number each. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

int
getrusage(__rusage_who_t who, struct rusage *out)
{
    static long waits;
    (void)who;
    memset(out, 0, sizeof *out);
    waits += getenv("COLD_WAITS") ? atol(getenv("COLD_WAITS")) : 0;
    out->ru_majflt = waits;
    return 0;
}

/* The memory stays as it is. */
int
madvise(void *at, size_t n, int advice)
{
    FILE *f = fopen(getenv("COLD_LOG"), "a");
    (void)at;
    (void)n;
    if (f) {
        fprintf(f, "%d\n", advice);
        fclose(f);
    }
    return 0;
}
