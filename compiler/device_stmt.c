/* Statements of device kernels. */
#include "device.h"

DvStmt *
dv_add(DeviceBox *b, DvKind kind)
{
    DvStmt *s = arena_new(b->arena, DvStmt);
    s->kind = kind;
    *b->tail = s;
    b->tail = &s->next;
    return s;
}

DvStmt **
dv_open(DeviceBox *b, DvStmt *s)
{
    DvStmt **outer = b->tail;
    b->tail = &s->body;
    return outer;
}

void
dv_close(DeviceBox *b, DvStmt **outer)
{
    b->tail = outer ? outer : b->tail;
}

const Ex *
dv_let(DeviceBox *b, const char *name, const Ex *x)
{
    if (ex_is_const(x) || ex_as_var(x) >= 0)
        return x;
    DvStmt *s = dv_add(b, DV_LET);
    s->name = name;
    s->value[0] = x;
    return ex_of_var(b->e, ex_var(b->e, name, x->f.min, x->f.max));
}

const Ex *
dv_for(DeviceBox *b, const char *name, i64 count, DvStmt ***outer)
{
    *outer = NULL;
    if (count == 1)
        return ex_const(b->e, 0);
    DvStmt *s = dv_add(b, DV_FOR);
    s->name = name;
    s->count = count;
    *outer = dv_open(b, s);
    return ex_of_var(b->e, ex_var(b->e, name, 0, count - 1));
}

void
dv_array(DeviceBox *b, const char *name, int width, i64 count)
{
    DvStmt *s = dv_add(b, DV_ARRAY);
    s->name = name;
    s->width = width;
    s->count = count;
}

void
dv_load(DeviceBox *b, const char *name, bool declares, Space space, int width,
        const Ex *at)
{
    DvStmt *s = dv_add(b, DV_LOAD);
    s->name = name;
    s->declares = declares;
    s->space = space;
    s->width = width;
    s->value[0] = at;
    if (space != SPACE_SHARED && width > b->u->align)
        b->u->align = width;
}

void
dv_store(DeviceBox *b, Space space, int width, const Ex *at, const char *const *word,
         int nwords)
{
    DvStmt *s = dv_add(b, DV_STORE);
    s->space = space;
    s->width = width;
    s->value[0] = at;
    s->nwords = nwords;
    for (int i = 0; i < nwords; i++)
        s->word[i] = word[i];
    if (space != SPACE_SHARED && width > b->u->align)
        b->u->align = width;
}

DvStmt *
dv_when(DeviceBox *b, const Ex *const *value, const i64 *bound, int n)
{
    DvStmt *s = NULL;
    for (int i = 0; i < n; i++) {
        if (value[i]->f.max < bound[i])
            continue;
        if (!s)
            s = dv_add(b, DV_WHEN);
        s->value[s->nvalues] = value[i];
        s->bound[s->nvalues++] = bound[i];
    }
    return s;
}
