/* Prints the statements of kernels; docs/ir/gridstmt.md describes the text. */
#include "grid_access.h"
#include "grid_render.h"

typedef struct {
    const GridUnit *u;
    Arena *arena;
    Buf *b;
} Printer;

static const char *const lines[] = {
    [G_BOX] = "box ${blocks} by ${row} {    ; ${name}",
    [G_PHASE] = "phase {",
    [G_BARRIER] = "barrier",
    [G_FOR] = "for ${name} < ${count} {",
    [G_WHEN] = "when ${when} {",
    [G_LET] = "let ${name} = ${value}",
    [G_DIVIDE] = "divide ${name} = ${value} by ${divisor}",
    [G_ARRAY] = "array ${name}[${count}] of ${width}",
    [G_LOAD] = "load.${width} ${name} ${is} ${space}[${value}]",
    [G_STORE] = "store.${width} ${space}[${value}] = ${words}",
    [G_WORD] = "word.${width} ${name} = ${old}",
    [G_SET] = "set ${name} := ${words}",
    [G_PUT] = "put ${name} bit ${value} mask ${pattern} := ${bits}",
    [G_PERMUTE] = "permute ${name} = ${words} by ${pattern}",
    [G_NIBBLES] = "nibbles.${half} ${name} = ${words}",
};

static const char *
number(Printer *p, i64 v)
{
    return arena_printf(p->arena, "%lld", (long long)v);
}

/* The text of x; empty for NULL. */
static const char *
expression(Printer *p, const Ex *x)
{
    return x ? ex_text(p->u->e, x) : "";
}

static const char *
words(Printer *p, const GridStmt *s)
{
    Buf b = buf_new(p->arena);
    for (int i = 0; i < LEN(s->word) && s->word[i]; i++)
        buf_printf(&b, "%s%s", i ? ", " : "", s->word[i]);
    return b.s;
}

static const char *
conditions(Printer *p, const GridStmt *s)
{
    Buf b = buf_new(p->arena);
    for (int i = 0; s->kind == G_WHEN && i < s->nvalues; i++)
        buf_printf(&b, "%s%s < %s", i ? ", " : "", expression(p, s->value[i]),
                   expression(p, s->bound[i]));
    if (s->same[0])
        buf_printf(&b, "%s%s == %s", s->nvalues ? ", " : "", expression(p, s->same[0]),
                   expression(p, s->same[1]));
    return b.s;
}

/* The first value of a G_WORD.  bits_of: the bits that a G_PUT puts. */
static const char *
old_of(Printer *p, const GridStmt *s)
{
    return s->value[0] ? arena_printf(p->arena, "dst[%s]", expression(p, s->value[0]))
                       : "0";
}

static const char *
bits_of(Printer *p, const GridStmt *s)
{
    return !s->value[1] ? words(p, s)
           : arena_printf(p->arena, "src[%s] bit %s", expression(p, s->value[1]),
                          expression(p, s->value[2]));
}

/* The blocks of a box: 0..7, or S3.. if the shape decides the number. */
static const char *
blocks_of(Printer *p, const GridStmt *s)
{
    const char *first = expression(p, s->first);
    return !ex_is_const(s->end) ? arena_printf(p->arena, "%s..", first)
           : arena_printf(p->arena, "%s..%lld", first, (long long)s->end->base - 1);
}

static void
put_body(Printer *p, const GridStmt *s)
{
    for (; s; s = s->next) {
        const Slot slot[] = {
            {"blocks", s->kind == G_BOX ? blocks_of(p, s) : ""},
            {"divisor", expression(p, s->value[1])},
            {"row", s->row ? s->row->name : "inverse"},
            {"name", s->name ? s->name : ""},
            {"count", number(p, s->count)},
            {"when", conditions(p, s)},
            {"value", expression(p, s->value[0])},
            {"width", number(p, s->width)},
            {"is", s->declares ? "=" : ":="},
            {"space", grid_spaces[s->space]},
            {"words", words(p, s)},
            {"old", old_of(p, s)},
            {"bits", bits_of(p, s)},
            {"pattern", arena_printf(p->arena, "0x%x", s->pattern)},
            {"half", s->pattern ? "high" : "low"},
        };
        buf_line(p->b, "%s", render_line(p->arena, lines[s->kind], slot, LEN(slot)));
        if (!s->body)
            continue;
        p->b->indent++;
        put_body(p, s->body);
        p->b->indent--;
        buf_line(p->b, "}");
    }
}

const char *
grid_print(const GridUnit *u)
{
    Buf b = buf_new(ex_arena(u->e));
    Printer p = {u, ex_arena(u->e), &b};
    buf_printf(&b, "grid %s\nblocks %s of %d threads", u->name, ex_text(u->e, u->blocks),
               GRID_THREADS);
    if (u->down > 1)
        buf_printf(&b, ", %lld by %lld", (long long)u->across, (long long)u->down);
    buf_printf(&b, "\nshared %lld\nindex %d\nalign %d\n", (long long)u->shared,
               u->wide ? 64 : 32, u->align);
    if (u->nargs)
        plan_scalars_print(&b, u->plan);
    for (int i = 0; i < u->nargs; i++)
        buf_printf(&b, "%s %s = %s\n", i < u->ndivisors ? "divisor" : "value",
                   u->arg[i].name, ex_text(u->e, u->arg[i].value));
    put_body(&p, u->body);
    return b.s;
}
