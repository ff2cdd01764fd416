/* Refuses layouts that are not what a caller needs, with the flaw and an example of it. */
#include "decide.h"

static void
coordinates(Buf *b, const Layout *l, const i64 *x)
{
    buf_add(b, "(");
    for (int i = 0; i < l->rank; i++)
        buf_printf(b, "%s%lld", i ? "," : "", (long long)x[i]);
    buf_add(b, ")");
}

_Noreturn static void
refuse(const Layout *l, const Verdict *v, const char *lack)
{
    Arena *a = ex_arena(l->e);
    Buf b = buf_new(a);
    bool view = l->ref->def->view && (v->flaw != FLAW_SIGMA || v->naddresses == 2);
    buf_printf(&b, "layout '%s'%s: %s%s", l->ref->def->name,
               view ? lack : "",
               v->flaw == FLAW_UNDECIDED ? "cannot decide whether it is one-to-one: "
               : v->flaw == FLAW_COLLISION ? "it is not one-to-one: " : "", v->why);
    if (v->flaw == FLAW_COLLISION) {
        buf_add(&b, "; ");
        coordinates(&b, l, v->x);
        buf_add(&b, " and ");
        coordinates(&b, l, v->y);
        buf_printf(&b, " are both at %lld", (long long)v->at);
        if (!view)
            buf_add(&b, " (a layout that is only read from may say view = true)");
    }
    diag_fatal(a->diag, DIAG_LAYOUT, v->loc, "%s", b.s);
}

/* The flaw of a view, if it has one. */
static const char unwritten[] = " is a view that cannot be written to";
static const char no_inverse[] = " is a view that has no inverse";

Verdict *
decide_inverse_or_fail(Layout *l)
{
    Verdict *v = decide(l);
    if (v->flaw)
        refuse(l, v, no_inverse);
    decide_inverse(l, v);
    return v;
}

Verdict *
decide_or_fail(Layout *l)
{
    Verdict *v = decide(l);
    if (v->flaw)
        refuse(l, v, unwritten);
    return v;
}

Verdict *
decide_destination_or_fail(Layout *l)
{
    Verdict *v = decide_or_fail(l);
    const char *why = why_unfilled(l, v);
    if (why)
        diag_fatal(ex_arena(l->e)->diag, DIAG_LAYOUT, v->loc, "layout '%s' cannot be "
                   "written to: %s", l->ref->def->name, why);
    return v;
}

Verdict *
decide_readable_or_fail(Layout *l)
{
    Verdict *v = decide(l);
    if (!decide_is_readable(l, v))
        refuse(l, v, unwritten);
    return v;
}
