/* Check a target's table against target.def. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

enum {
    FUNCTIONS = 1,        /* render.c */
    BLOCKS = 2,           /* grid_render.c */
    BURSTS = 4,           /* burst_lua.c */
    WRITTEN = FUNCTIONS | BLOCKS, ALL = WRITTEN | BURSTS
};
enum { MAY = false, MUST = true };

static const char *const models[] = {"functions", "blocks", "bursts"};

static const Field fields[] = {
#define D(of, must, kind, name, slots) {of, must, FIELD_##kind, #name, " " slots " ", 0, 0, 0, false},
#define N(of, must, name, ...) {of, must, FIELD_NUMBER, #name, "  ", __VA_ARGS__},
#include "target.def"
#undef D
#undef N
};

const Field *
field_of(unsigned of, const char *name)
{
    for (int i = 0; i < LEN(fields); i++)
        if ((fields[i].models & of) && !strcmp(fields[i].name, name))
            return &fields[i];
    return NULL;
}

unsigned
field_model(const char *name)
{
    for (int i = 0; name && i < LEN(models); i++)
        if (!strcmp(models[i], name))
            return 1u << i;
    return 0;
}

void
target_fail(const Target *t, Arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(NULL, 0, fmt, ap);
    char *text = arena_array(a, char, (i64)n + 1);
    vsnprintf(text, n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0}, "%.200s: %s", t->name, text);
}

/* "'functions' and 'blocks'" */
static const char *
model_list(Arena *a, unsigned of)
{
    Buf b = buf_new(a);
    for (int i = 0; i < LEN(models); i++)
        if (of & 1u << i)
            buf_printf(&b, "%s'%s'", b.len ? " and " : "", models[i]);
    return b.s;
}

_Noreturn static void
fail_unknown(const Target *t, Arena *a, const char *key)
{
    const char *names[LEN(fields) + 1];
    unsigned m = t->model;
    const Field *other = field_of(ALL, key);
    int n = 0;
    if (other)
        target_fail(t, a, "field '%s' is of the model %s, and this table's is %s", key,
                    model_list(a, other->models), model_list(a, m));
    for (int i = 0; i < LEN(fields); i++)
        if (fields[i].models & m)
            names[n++] = fields[i].name;
    names[n] = NULL;
    const char *near = diag_nearest(key, names);
    if (near)
        target_fail(t, a, "no field '%.100s'; did you mean '%s'?", key, near);
    target_fail(t, a, "no field '%.100s': templates/README.md lists those of %s", key,
                m == ALL ? "each model" : model_list(a, m));
}

static const char *
wanted(FieldKind kind)
{
    switch (kind) {
    case FIELD_TEXT:
    case FIELD_RAW:
    case FIELD_NAME:
    case FIELD_WORDS:
    case FIELD_FILE:    return "a string";
    case FIELD_NUMBER:  return "a whole number";
    case FIELD_HELPERS: return "a list";
    case FIELD_PLAN:    return "a function of the plan";
    }
    return "";
}

static void
check_number(const Target *t, Arena *a, const Field *f, const char *s)
{
    char *end;
    i64 v = strtoll(s, &end, 10);
    if (s[strspn(s, "-0123456789")] || !*s || *end || v < f->least || v > f->most ||
        (f->power && (v & (v - 1))))
        target_fail(t, a, "%s = %.40s: a number from %lld to %lld%s", f->name, s,
                    (long long)f->least, (long long)f->most,
                    f->power ? ", a power of two" : "");
}

/* Whether each word is a name, or a prefix of names with a star. */
static void
check_words(const Target *t, Arena *a, const Field *f, const char *s)
{
    for (size_t n; *(s += strspn(s, " \n")); s += n) {
        n = strcspn(s, " \n");
        size_t word = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_");
        if (word == 0 || word < n - (s[n - 1] == '*') || (*s >= '0' && *s <= '9'))
            target_fail(t, a, "field '%s': no name can be '%.*s': a word or the beginning "
                        "of words, as in gl_*, is wanted", f->name, n < 40 ? (int)n : 40, s);
    }
}

/* "${x}, ${y}" */
static const char *
slot_list(Arena *a, const char *slots)
{
    Buf b = buf_new(a);
    size_t n;
    for (const char *s = slots + strspn(slots, " "); *s; s += n + strspn(s + n, " ")) {
        n = strcspn(s, " ");
        buf_printf(&b, "%s${%.*s}", b.len ? ", " : "", (int)n, s);
    }
    return b.s;
}

/* A grid of rows may have surplus blocks, and only ${block} is the number over all rows.
 * Therefore box_first is used instead of box_only. */
static void
check_rows(const Target *t, Arena *a)
{
    static const char *const counted[] = {"box_first", "box_open", "block", "block_first"};
    for (int i = 0; target_text(t, "grid_block_rows") && i < LEN(counted); i++)
        if (!strstr(target_text(t, counted[i]), "${block}"))
            target_fail(t, a, "field '%s' has no ${block}, which 'grid_block_rows' stands "
                        "in", counted[i]);
}

/* Check that every ${name} in a text is allowed in the field. */
static void
check_slots(const Target *t, Arena *a, const Field *f, const char *s)
{
    while ((s = strstr(s, "${"))) {
        size_t n = strcspn(s += 2, "}");
        if (!s[n])
            target_fail(t, a, "field '%s': '${%.20s' has no '}'", f->name, s);
        const char *name = arena_printf(a, " %.*s ", (int)n, s);
        const char *list = slot_list(a, f->slots);
        if (n == 0 || strcspn(s, " ") < n || !strstr(f->slots, name))
            target_fail(t, a, "field '%s' has no ${%.*s}%s%s", f->name,
                        n < 40 ? (int)n : 40, s, *list ? "; it has " : ", nor other names",
                        list);
        s += n;
    }
}

static void
check_text(const Target *t, Arena *a, const TargetField *en)
{
    if (!en->value && !en->type)
        target_fail(t, a, "field '%s' is no text in UTF-8", en->key);
}

static void
check_value(const Target *t, Arena *a, const Field *f, const TargetField *en)
{
    if (!en->value && (f->kind != FIELD_HELPERS || strcmp(en->type, "table")))
        target_fail(t, a, "field '%s' is a %s: %s is wanted", en->key, en->type,
                    wanted(f->kind));
    if (f->kind == FIELD_NUMBER)
        check_number(t, a, f, en->value);
    if (f->kind == FIELD_NAME && !*en->value)
        target_fail(t, a, "field '%s' is empty: a name is wanted", en->key);
    if (f->kind == FIELD_WORDS)
        check_words(t, a, f, en->value);
    if (f->kind == FIELD_TEXT || f->kind == FIELD_NAME)
        check_slots(t, a, f, en->value);
    if (f->kind == FIELD_FILE && !target_template(a, en->value))
        target_fail(t, a, "field '%s': there is no template '%.100s'; a text of yours "
                    "goes into prologue_text", en->key, en->value);
}

/* The bit of the model.  If the table names no model: all bits, so that only fields of
 * no model are reported, besides the missing model. */
static unsigned
model_of(const Target *t, Arena *a)
{
    for (int i = 0; i < t->nfields; i++)
        if (!strcmp(t->field[i].key, "model")) {
            check_text(t, a, &t->field[i]);
            check_value(t, a, field_of(ALL, "model"), &t->field[i]);
            unsigned m = field_model(t->field[i].value);
            if (!m)
                target_fail(t, a, "there is no model '%.40s': there are 'functions', "
                            "'blocks' and 'bursts'", t->field[i].value);
            return m;
        }
    return ALL;
}

static void
check_field(const Target *t, Arena *a, const TargetField *en)
{
    const Field *f = field_of(t->model, en->key);
    if (!f)
        fail_unknown(t, a, en->key);
    check_text(t, a, en);
    if (t->model != ALL || f->models == ALL)
        check_value(t, a, f, en);
}

/* Report the missing fields; of many only the first ones, by name. */
static void
check_complete(const Target *t, Arena *a)
{
    enum { NAMED = 6 };
    Buf b = buf_new(a);
    int n = 0;
    for (int i = 0; i < LEN(fields); i++) {
        const Field *f = &fields[i];
        if (!f->must || (f->models & t->model) != t->model || target_text(t, f->name) ||
            (f->kind == FIELD_FILE && t->prologue))
            continue;
        if (n++ < NAMED)
            buf_printf(&b, "%s'%s'", b.len ? ", " : "", f->name);
    }
    if (n > NAMED)
        buf_printf(&b, " and %d more; 'like' takes them from another target", n - NAMED);
    if (n)
        target_fail(t, a, "the table lacks %s", b.s);
}

/* Index arrays: a table with one of the texts has all that a kernel with them can need. */
static void
check_arrays(const Target *t, Arena *a)
{
    static const char *const needed[] = {
        "moved_open", "array_32", "array_64", "array_bad", "array_stop", "array_close",
        "check_open", "check_numbers", "check_close"};
    static const char *const runtime[] = {"runtime_check_open", "runtime_check_close"};
    if (!target_text(t, "lookup"))
        return;
    for (int i = 0; i < LEN(needed) + LEN(runtime); i++) {
        const char *field = i < LEN(needed) ? needed[i] : runtime[i - LEN(needed)];
        if (!target_text(t, field) && (i < LEN(needed) || target_text(t, "runtime_kernel")))
            target_fail(t, a, "field 'lookup' needs the field '%s'", field);
    }
}

/* The library, which writes no files, has no texts of C's helpers. */
static void
check_helpers(Target *t, Arena *a)
{
    for (int i = 0; i < t->nhelpers; i++)
        for (int f = 0; f < t->helper[i].nfiles; f++) {
            const char *text = target_template(a, t->helper[i].file[f]);
            if (!text && embed_has_all())
                target_fail(t, a, "field 'helpers': there is no template '%.100s'",
                            t->helper[i].file[f]);
            t->helper[i].file[f] = text ? text : "";
        }
}

void
target_check(Target *t, Arena *a)
{
    t->model = model_of(t, a);
    for (int i = 0; i < t->nfields; i++)
        check_field(t, a, &t->field[i]);
    if (t->both)
        target_fail(t, a, "fields 'prologue' and 'prologue_text': a kernel has one of them "
                    "before it");
    check_complete(t, a);
    check_rows(t, a);
    if (t->model & BLOCKS && t->model != ALL)
        check_arrays(t, a);
    check_helpers(t, a);
}
