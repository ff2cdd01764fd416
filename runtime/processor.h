/* processor.h: which row of the cost model this machine is.  Internal to the library. */
#ifndef RAVEL_PROCESSOR_H
#define RAVEL_PROCESSOR_H

#include <stdbool.h>

enum { CPU_NAME = 64 };

/* The name of the processor as it gives it itself, blanks reduced; "unknown" if it does not. */
void processor_brand(char name[CPU_NAME]);
/* The processor of the cost model that is the most like this machine: a name of
 * compiler/plan/cost.def.  RAVEL_PROCESSOR overrides it; it is not checked. */
const char *processor_here(void);
/* Whether instructions that gather take less time than loads (templates/c/place_gather.h). */
bool processor_gathers(void);

#endif
