/* target.h: what a target's table holds, for the files that read and check it; all
 * others see emit.h. */
#ifndef RAVEL_TARGET_H
#define RAVEL_TARGET_H

#include "emit.h"

/* FIELD_RAW: a text in which nothing is replaced; FIELD_NAME: one that is not empty;
 * FIELD_WORDS: words and beginnings of words. */
typedef enum {
    FIELD_TEXT, FIELD_RAW, FIELD_NAME, FIELD_WORDS, FIELD_FILE, FIELD_NUMBER, FIELD_HELPERS,
    FIELD_PLAN
} FieldKind;

/* A row of target.def. */
typedef struct {
    unsigned models;      /* a bit each */
    bool must;
    FieldKind kind;
    const char *name;
    const char *slots;    /* the names that ${} may have, between spaces */
    int64_t otherwise, least, most;    /* FIELD_NUMBER ... */
    bool power;           /* ... of two */
} Field;

/* A field as the table has it. */
typedef struct {
    const char *key;
    const char *value;    /* NULL: of a wrong type, or the list of helpers ... */
    const char *type;     /* ... which is this */
} TargetField;

enum { TARGET_FIELDS_MAX = 128 };

struct Target {
    int nfields, nhelpers;
    const char *name;     /* that of the file, for a table of the user's */
    const char *prologue; /* the text itself, of a table of the user's */
    bool both;            /* which has both fields for it */
    unsigned model;       /* its bit */
    TargetField field[TARGET_FIELDS_MAX];    /* by name */
    TargetHelper helper[TARGET_HELPERS];
};

/* target.c: the text of templates/NAME, NULL where there is none. */
const char *target_template(const char *name);

/* target_check.c */
/* The row of a field, of the models there are bits for; NULL where there is none. */
const Field *field_of(unsigned models, const char *name);
/* The bit of a model by its name, 0 where there is none. */
unsigned field_model(const char *name);
/* diag_fatal if a field is unknown, has a wrong value or is missing; sets the
 * model and puts the texts of helpers in the place of their names. */
void target_check(Target *t, Arena *a);
_Noreturn void target_fail(const Target *t, Arena *a, const char *fmt, ...) PRINTF(3, 4);

#endif
