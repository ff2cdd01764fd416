/* A layout as functions: request -> layout -> decide -> emit -> render. */
#include "compile.h"

static const struct {
    const char *name;
    Unit *(*emit)(const IndexOf *o, const char *name, const char *command);
} kinds[] = {
    [EMIT_OFFSET] = {"offset", emit_offset},
    [EMIT_INVERSE] = {"inverse", emit_inverse},
    [EMIT_VISIT] = {"visit", emit_visit},
};

const char *
compile_index(Arena *a, const Target *t, const Known *known, const Request *rq,
              EmitKind kind)
{
    Sides s;
    compile_index_side(a, known, rq, &s);
    const Verdict *v = compile_decide_index(&s, kind != EMIT_OFFSET);
    const IndexOf o = {.l = s.src, .scalars = s.scalars, .of = s.extent, .v = v, .rank = rq->rank,
                       .given = s.given, .dim = s.dim};
    Unit *u = kinds[kind].emit(&o, emit_kind_name(a, t, rq, kinds[kind].name),
                               emit_command(a, t, rq, NULL, s.ref, kinds[kind].name));
    emit_check_width(t, u);
    return render(t, u, true);
}
