/* A layout as functions: request -> layout -> decide -> emit -> render, or print. */
#include "compile.h"

static const struct {
    const char *name;
    Unit *(*emit)(const IndexOf *o, const char *name, const char *command);
} kinds[] = {
    [EMIT_OFFSET] = {"offset", emit_offset},
    [EMIT_INVERSE] = {"inverse", emit_inverse},
    [EMIT_VISIT] = {"visit", emit_visit},
};

static const Unit *
unit_of(Arena *a, const Target *t, const Known *known, const Request *rq, EmitKind kind)
{
    Sides s;
    sides_index(a, known, rq, &s);
    const Verdict *v = sides_decide_index(&s, kind != EMIT_OFFSET);
    const IndexOf o = {.l = s.src, .scalars = s.scalars, .of = s.extent, .v = v, .rank = rq->rank,
                       .given = s.given, .dim = s.dim};
    return kinds[kind].emit(&o, emit_kind_name(a, t, rq, kinds[kind].name),
                            emit_command(a, t, rq, NULL, s.ref, kinds[kind].name));
}

const char *
compile_index(Arena *a, const Target *t, const Known *known, const Request *rq, EmitKind kind)
{
    const Unit *u = unit_of(a, t, known, rq, kind);
    emit_check_width(t, u);
    return render(t, u, true);
}

const char *
compile_index_statements(Arena *a, const Target *t, const Known *known, const Request *rq,
                         EmitKind kind)
{
    return emit_print(unit_of(a, t, known, rq, kind));
}
