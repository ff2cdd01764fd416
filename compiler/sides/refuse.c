/* What not every target and question can have. */
#include "sides.h"

void
sides_refuse_lookups(const Layout *src, const Layout *dst, const char *what)
{
    layout_refuse_lookups(src, what);
    layout_refuse_lookups(dst, what);
}

void
sides_refuse_strides(const Scalars *s, const char *const *name, const char *what)
{
    if (s->nstrides)
        diag_fatal(ex_arena(s->e)->diag, DIAG_LAYOUT, (Loc){0}, "%s needs numbers for strides, "
                   "extents of tensors and the fill, and '%s' is a name", what, name[s->nextents - s->nstrides]);
}
