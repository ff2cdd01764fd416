/* spec_fields.h: reading the table of a layout; between spec_layout.c, which knows
 * what a layout is, and spec_fields.c, which knows the fields. */
#ifndef RAVEL_SPEC_FIELDS_H
#define RAVEL_SPEC_FIELDS_H

#include "spec_lua.h"

/* A table being read: it lies at `at` on the Lua stack. */
typedef struct {
    Sandbox *s;
    LayoutDef *def;
    int at;
    bool is_inline;
    const char *field;    /* being read; its value is on top of the stack */
} Reader;

#define FAIL(r, ...) \
    diag_fatal((r)->s->arena->diag, DIAG_SPEC, (r)->def->loc, __VA_ARGS__)

/* Read r->field; false when there is no field of that name. */
bool field_read(Reader *r);
/* The field that a name may have been meant for, or NULL. */
const char *field_nearest(const char *name);
void field_open(Sandbox *s);

#endif
