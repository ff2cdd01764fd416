/* cli_object.h: what a compiler makes of emitted text. */
#ifndef RAVEL_CLI_OBJECT_H
#define RAVEL_CLI_OBJECT_H

#include "cli.h"

/* The path of a shared object, in a file that is ours alone and gone with us.  Fails where
 * the compiler does, which has said why. */
const char *cli_object(Cli *c, const char *command, const char *text);
/* emit --check: prove what was emitted as --check's compiler makes it, say so, and whether
 * it went through.  p is the plan that it is of. */
bool cli_prove_emitted(Cli *c, const Target *t, const Request *rq, const Plan *p,
                       const char *text);

#endif
