/* A tile and what its accesses cost, also in another layout. */
#include <string.h>

#include "cli_banks.h"

void
banked_set_layout(Banked *b, Layout *l)
{
    b->l = l;
    b->tile = tile_new(b->c->arena, l);
    decide_readable_or_fail(l);
}

void
banked_count(Banked *b)
{
    b->wavefronts = b->ideal = 0;
    for (int i = 0; i < b->n; i++) {
        b->count[i] = tile_count(b->c->arena, b->tile, &b->access[i]);
        banked_set_widest(b, i);
        b->wavefronts += b->count[i].wavefronts;
        b->ideal += b->count[i].ideal;
    }
}

const char *
banked_text(const Banked *b, const char *more)
{
    Arena *a = b->c->arena;
    const LayoutRef *ref = b->l->ref;
    LayoutDef d = *ref->def;
    d.swizzle = NULL;
    d.params = arena_array(a, Param, d.nparams + 1);
    for (int i = 0; i < d.nparams; i++) {
        d.params[i] = ref->def->params[i];
        for (int k = 0; k < ref->n; k++)
            if (!strcmp(ref->given[k].name, d.params[i].name))
                d.params[i] = ref->given[k];
    }
    const char *text = layout_text(a, &d);
    int body = (int)strlen(text) - 1;
    return more ? arena_printf(a, "%.*s, %s}", body, text, more) : text;
}

Banked
banked_as(const Banked *b, const char *text)
{
    Cli *c = b->c;
    Banked other = *b;
    other.text = text;
    banked_set_layout(&other, compile_layout(c->arena, c->known, text, b->l->dtype->name, b->l->rank,
                                      cli_shape(c->arena, b->l)));
    banked_count(&other);
    return other;
}
