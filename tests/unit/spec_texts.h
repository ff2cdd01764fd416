/* spec_texts.h: what specs declare, as text. */
#ifndef RAVEL_SPEC_TEXTS_H
#define RAVEL_SPEC_TEXTS_H

#include "../../compiler/spec/spec.h"

static inline const char *
all_texts(Arena *a, const LayoutDef *l)
{
    Buf b = buf_new(a);
    for (; l; l = l->next)
        buf_printf(&b, "%s %s%s", l->name, layout_text(a, l), l->next ? "; " : "");
    return b.s;
}

#endif
