/* Prints the statements of kernels; docs/ir/gridstmt.md describes the text. */
#include "grid_parts.h"

static const char *const lines[] = {
    [G_BOX] = "box ${blocks} by ${row} {    ; ${name}",
    [G_PHASE] = "phase {",
    [G_BARRIER] = "barrier",
    [G_FOR] = "for ${name} < ${count} {",
    [G_WHEN] = "when ${when} {",
    [G_ELSE] = "else {",
    [G_LET] = "let ${name} = ${value}",
    [G_DIVIDE] = "divide ${name} = ${value} by ${divisor}",
    [G_LOOKUP] = "lookup ${name} = ${array}[${value}]",
    [G_MOVED] = "moved ${name} {",
    [G_ARRAY] = "array ${name}[${count}] of ${width}",
    [G_LOAD] = "load.${width} ${name} ${is} ${space}[${value}]",
    [G_STORE] = "store.${width} ${space}[${value}] = ${words}",
    [G_WORD] = "word.${width} ${name} = ${old}",
    [G_SET] = "set ${name} := ${words}",
    [G_PUT] = "put ${name} bit ${value} mask ${pattern} := ${bits}",
    [G_PERMUTE] = "permute ${name} = ${words} by ${pattern}",
    [G_HALVES] = "halves.${count} ${half} ${name} = ${words}",
    [G_FUNNEL] = "funnel ${name} = ${words} bit ${value}",
};

static const char *
words(const Writer *w, const GridStmt *s)
{
    Buf b = buf_new(w->arena);
    for (int i = 0; i < LEN(s->word) && s->word[i]; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", s->word[i]);
    return b.s;
}

/* The first value of a G_WORD.  bits_of: the bits that a G_PUT puts. */
static const char *
old_of(const Writer *w, const GridStmt *s)
{
    if (!s->value[0])
        return "0";
    const char *old = arena_printf(w->arena, "%s[%s]", grid_spaces[s->space],
                                   writer_expr(w, s->value[0]));
    return !s->value[1] ? old : arena_printf(w->arena, "%s bit %s mask 0x%x", old,
                                             writer_expr(w, s->value[1]), s->pattern);
}

static const char *
bits_of(const Writer *w, const GridStmt *s)
{
    return !s->value[1] ? words(w, s)
           : arena_printf(w->arena, "src[%s] bit %s", writer_expr(w, s->value[1]),
                          writer_expr(w, s->value[2]));
}

/* The blocks of a box: 0..7, or S3.. if the shape decides the number. */
static const char *
blocks_of(const Writer *w, const GridStmt *s)
{
    const char *first = writer_expr(w, s->first);
    return !ex_is_const(s->end) ? arena_printf(w->arena, "%s..", first)
           : arena_printf(w->arena, "%s..%lld", first, (long long)s->end->base - 1);
}

void
grid_print_body(Writer *w, const GridStmt *s)
{
    for (; s; s = s->next) {
        const Slot slot[] = {
            {"blocks", s->kind == G_BOX ? blocks_of(w, s) : ""},
            {"divisor", writer_expr(w, s->value[1])},
            {"row", s->row ? s->row->name : ""},
            {"name", s->name ? s->name : ""},
            {"count", writer_number(w, s->count)},
            {"when", s->kind == G_WHEN ? grid_conditions(w, s, ", ") : ""},
            {"value", writer_expr(w, s->value[0])},
            {"width", writer_number(w, s->width)},
            {"array", arena_printf(w->arena, "I%d", s->array)},
            {"is", s->declares ? "=" : ":="},
            {"space", grid_spaces[s->space]},
            {"words", words(w, s)},
            {"old", old_of(w, s)},
            {"bits", bits_of(w, s)},
            {"pattern", arena_printf(w->arena, "0x%x", s->pattern)},
            {"half", s->pattern ? "high" : "low"},
        };
        writer_print(w, lines[s->kind], slot, LEN(slot));
        if (!s->body)
            continue;
        w->b->indent++;
        grid_print_body(w, s->body);
        w->b->indent--;
        buf_line(w->b, "}");
    }
}

const char *
grid_print(const GridUnit *u)
{
    Buf b = buf_new(ex_arena(u->e));
    Writer w = writer_new(NULL, u->e, &b);
    buf_printf(&b, "grid %s\nblocks %s of %d threads", u->name, ex_text(u->e, u->blocks),
               GRID_THREADS);
    if (u->down > 1)
        buf_printf(&b, ", %lld by %lld", (long long)u->across, (long long)u->down);
    buf_printf(&b, "\nshared %lld\nindex %d\nalign %d\n", (long long)u->shared,
               u->wide ? 64 : 32, u->align);
    if (u->nargs)
        scalars_print(&b, u->plan->scalars);
    for (int i = 0; i < u->nargs; i++)
        buf_printf(&b, "%s %s = %s%s\n", i < u->ndivisors ? "divisor" : "value", u->arg[i].name,
                   u->arg[i].upper ? "upper half of " : "", ex_text(u->e, u->arg[i].value));
    grid_print_body(&w, u->body);
    return b.s;
}
