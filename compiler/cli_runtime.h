/* cli_runtime.h: commands on shapes with extents left to run time. */
#ifndef RAVEL_CLI_RUNTIME_H
#define RAVEL_CLI_RUNTIME_H

#include "cli.h"

/* The extents of a layout's dims, RUNTIME_EXTENT where they are that. */
const i64 *cli_runtime_shape(Arena *a, const Sizes *r);
/* The proof of a plan at shapes around all borders, told as verify does, or added to
 * proofs; whether it went through.  name: of src's dims left to run time. */
bool cli_verify_shapes(Cli *c, const ravel_plan *plan, const char *const *name,
                       json_t *proofs);

#endif
