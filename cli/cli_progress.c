/* A line with percentage, rate and time left, which is written anew in place. */
#include "cli_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "../runtime/for_command.h"

static const int64_t SECOND = 1000000000;
enum { SHOWN_A_SECOND = 5 };

Progress
progress_begin(const char *what, const char *unit)
{
    return (Progress){.what = what, .unit = unit, .start = measure_now(),
                      .on = isatty(STDERR_FILENO)};
}

/* "1:02:03", "2:03" */
static void
time_text(char *out, size_t n, double seconds)
{
    long s = seconds < 1e8 ? (long)(seconds + 0.5) : 100000000;
    if (s >= 3600)
        snprintf(out, n, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, n, "%ld:%02ld", s / 60, s % 60);
}

/* Past the stream that makes control characters visible. */
static void
put(const char *text, int n)
{
    (void)!write(STDERR_FILENO, text, (size_t)n);
}

void
progress_at(Progress *p, double done, double all, double bytes)
{
    char text[160], left[32], rate[48] = "";
    int64_t now = p->on ? measure_now() : 0;
    if (!p->on || now - p->start < SECOND || now - p->shown < SECOND / SHOWN_A_SECOND ||
        done <= 0 || all <= 0)
        return;
    double seconds = (double)(now - p->start) * 1e-9, part = done < all ? done / all : 1;
    p->shown = now;
    time_text(left, sizeof left, seconds * (1 - part) / part);
    if (bytes > 0)
        snprintf(rate, sizeof rate, ", %.0f MB/s", bytes * part / seconds * 1e-6);
    else if (p->unit)
        snprintf(rate, sizeof rate, ", %.*f %s/s", done < 10 * seconds, done / seconds, p->unit);
    put(text, snprintf(text, sizeof text, "\r%s: %.0f %%%s, %s left\033[K", p->what,
                       100 * part, rate, left));
}

void
progress_end(const Progress *p)
{
    if (p->shown)
        put("\r\033[K", 4);
}
