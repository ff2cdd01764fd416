/* cli_object.h: compile emitted text, and prove the object. */
#ifndef RAVEL_CLI_OBJECT_H
#define RAVEL_CLI_OBJECT_H

#include "cli.h"

/* Compile `text` to a shared object by the shell command `command`; returns its path.
 * The file is in a private folder that is removed when the process ends.  Fails if the
 * compiler fails; the compiler has then printed the reason. */
const char *cli_object(Cli *c, const char *command, const char *text);
/* emit --check: compile the emitted text of n conversions by the compiler of --check,
 * prove each function of the object, and print the results, up to the first that is
 * wrong.  Returns whether all are right. */
bool cli_prove_emitted(Cli *c, const Emitted *e, int n, const char *text);
/* cli_sparse_prove.c: ... of the functions of a sparse conversion, which begin at e. */
bool cli_prove_sparse(Cli *c, const Emitted *e, const char *compiler, const char *path);

#endif
