/* The texts of a target: the fields of its table by name, and templates. */
#include <string.h>

#include "target.h"

static const char folder[] = "templates/";

const char *
target_template(Arena *a, const char *name)
{
    for (const Embedded *f = embed_templates(a->diag); f->name; f++)
        if (!strncmp(f->name, folder, sizeof folder - 1) &&
            !strcmp(f->name + sizeof folder - 1, name))
            return f->text;
    return NULL;
}

const char *
target_names(Arena *a)
{
    Buf b = buf_new(a);
    for (const Embedded *f = embed_templates(a->diag); f->name; f++) {
        const char *name = f->name + sizeof folder - 1;
        size_t n = strcspn(name, "./");
        if (!strcmp(name + n, ".lua"))
            buf_printf(&b, "%s%.*s", b.len ? ", " : "", (int)n, name);
    }
    return b.s;
}

const TargetField *
target_entry(const Target *t, const char *key)
{
    for (int i = 0; i < t->nfields; i++)
        if (!strcmp(t->field[i].key, key))
            return &t->field[i];
    return NULL;
}

const char *
target_text(const Target *t, const char *field)
{
    const TargetField *en = target_entry(t, field);
    return en ? en->value : NULL;
}

const char *
target_text_or(const Target *t, const char *field, const char *otherwise)
{
    const char *s = target_text(t, field);
    return s ? s : otherwise;
}

bool
target_reserves(const Target *t, const char *name)
{
    const char *s = target_text(t, "reserved");
    for (size_t n = 0; s && *s; s += n + strspn(s + n, " \n")) {
        n = strcspn(s, " \n");
        bool start = n && s[n - 1] == '*';
        if (!strncmp(s, name, n - start) && (start || !name[n]))
            return true;
    }
    return false;
}

Spelling
target_spelling(const Target *t)
{
    static const struct {
        Op op;
        const char *field, *c;
    } spelled[] = {{OP_DIV, "div", "/"}, {OP_MOD, "mod", "%"},   {OP_XOR, "xor", "^"},
                   {OP_AND, "and", "&"}, {OP_MIN, "min", "min"}, {OP_MAX, "max", "max"}};
    Spelling sp = {.op[OP_MUL] = "*", .suffix = target_text_or(t, "suffix", "")};
    for (int i = 0; i < LEN(spelled); i++)
        sp.op[spelled[i].op] = target_text_or(t, spelled[i].field, spelled[i].c);
    return sp;
}

const char *
target_name(const Target *t)
{
    return t->name;
}

const TargetHelper *
target_helper(const Target *t, int i)
{
    return i < t->nhelpers ? &t->helper[i] : NULL;
}

const char *
target_file(Arena *a, const Target *t, const char *field)
{
    return t->prologue && !strcmp(field, "prologue") ? t->prologue
                                                     : target_template(a, target_text(t, field));
}
