/* spec_fields.h: read the table of a layout.  spec_fields.c reads the single fields;
 * spec_layout.c makes and checks the layout. */
#ifndef RAVEL_SPEC_FIELDS_H
#define RAVEL_SPEC_FIELDS_H

#include "spec_lua.h"

/* A table being read, at index `at` of the Lua stack. */
typedef struct {
    Sandbox *s;
    LayoutDef *def;
    int at;
    bool is_inline;
    const char *field;    /* the current field; its value is on top of the stack */
} Reader;

#define FAIL(r, ...) \
    diag_fatal((r)->s->arena->diag, DIAG_SPEC, (r)->def->loc, __VA_ARGS__)

/* Read r->field; false if there is no field of this name. */
bool field_read(Reader *r);
/* The field with the most similar name, or NULL. */
const char *field_nearest(const char *name);
void field_open(Sandbox *s);

#endif
