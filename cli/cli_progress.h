/* cli_progress.h: how far long work is, on a terminal. */
#ifndef RAVEL_CLI_PROGRESS_H
#define RAVEL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const char *what;              /* "converting" */
    int64_t start, shown;          /* nanoseconds; shown: 0: nothing was shown */
    bool on;                       /* standard error is a terminal */
} Progress;

Progress progress_begin(const char *what);
/* Show that `done` of `all` is done, at most five times a second and from the first second
 * on.  bytes: of all of the work, for a rate; 0: there is no rate. */
void progress_at(Progress *p, double done, double all, double bytes);
/* Clear the line. */
void progress_end(const Progress *p);

#endif
