/* target.h: the contents of a target's table, for the files that read and check it.
 * Other files use emit.h. */
#ifndef RAVEL_TARGET_H
#define RAVEL_TARGET_H

#include "emit.h"

/* FIELD_RAW: a text without ${name}; FIELD_NAME: a text that is not empty; FIELD_WORDS:
 * words, and prefixes of words followed by a *. */
typedef enum {
    FIELD_TEXT, FIELD_RAW, FIELD_NAME, FIELD_WORDS, FIELD_FILE, FIELD_NUMBER, FIELD_HELPERS,
    FIELD_PLAN
} FieldKind;

/* A row of target.def. */
typedef struct {
    unsigned models;      /* a bit for each model */
    bool must;
    FieldKind kind;
    const char *name;
    const char *slots;    /* the names allowed in ${}, separated by spaces */
    int64_t otherwise, least, most;    /* FIELD_NUMBER: default and range */
    bool power;           /* FIELD_NUMBER: it must be a power of two */
} Field;

/* A field of a table. */
typedef struct {
    const char *key;
    const char *value;    /* NULL: not a string or number */
    const char *type;     /* the Lua type of the value */
} TargetField;

enum { TARGET_FIELDS_MAX = 128 };

struct Target {
    int nfields, nhelpers;
    const char *name;     /* for a table of the user: the name of the file */
    const char *prologue; /* for a table of the user: the text */
    bool both;            /* it has both prologue and prologue_text */
    unsigned model;       /* the bit of its model */
    TargetField field[TARGET_FIELDS_MAX];    /* sorted by name */
    TargetHelper helper[TARGET_HELPERS];
};

/* target_text.c: the text of templates/NAME; NULL if there is no such file. */
const char *target_template(Arena *a, const char *name);
/* The names of all targets: "blocks, bursts, c". */
const char *target_names(Arena *a);
/* A field of the table; NULL: it has none. */
const TargetField *target_entry(const Target *t, const char *key);

/* target.c: the text of a kernel's file in the table's folder of kernels; diag_fatal if there is no
 * such file. */
const char *target_kernel_file(const Target *t, Arena *a, const char *folder,
                               const char *file);

/* target_check.c */
/* The row of a field for any of these models; NULL if there is none. */
const Field *field_of(unsigned models, const char *name);
/* The bit of the model with this name; 0 if there is none. */
unsigned field_model(const char *name);
/* diag_fatal if a field is unknown, has a wrong value or is missing; sets the
 * model and replaces the names of helper files by their texts. */
void target_check(Target *t, Arena *a);
_Noreturn void target_fail(const Target *t, Arena *a, const char *fmt, ...) PRINTF(3, 4);

#endif
