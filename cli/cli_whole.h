/* cli_whole.h: a conversion in one go.  Both show progress. */
#ifndef RAVEL_CLI_WHOLE_H
#define RAVEL_CLI_WHOLE_H

#include "cli.h"

/* ravel_run, of buffers that are right for the plan. */
void cli_run_whole(const ravel_plan *p, void *dst, const void *src);
/* file_write. */
ravel_status cli_write_whole(const char *path, const FilePart *part, int n, ravel_error *err);

#endif
