/* cli_progress.h: how far long work is, on a terminal. */
#ifndef RAVEL_CLI_PROGRESS_H
#define RAVEL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const char *what;              /* "converting" */
    const char *unit;              /* "runs"; NULL: what is done is not counted */
    int64_t start, shown;          /* nanoseconds; shown: 0: nothing was shown */
    bool on;                       /* standard error is a terminal */
} Progress;

Progress progress_begin(const char *what, const char *unit);
/* Show that `done` of `all` is done, at most five times a second and from the first second
 * on.  bytes: of all of the work, for a rate; 0: the rate is in the unit, if there is one. */
void progress_at(Progress *p, double done, double all, double bytes);
/* Clear the line. */
void progress_end(const Progress *p);

#endif
