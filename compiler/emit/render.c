/* The writer of statements: each statement becomes one text of the target's table. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"

typedef struct {
    const Target *t;
    const Unit *u;
    Arena *arena;
    Buf *b;
    Spelling sp;
} Renderer;

const char *
render_line(Arena *a, const char *line, const Slot *slot, int n)
{
    enum { BYTES_MAX = 1 << 16 };
    Buf b = buf_new(a);
    while (*line) {
        size_t plain = strcspn(line, "$");
        buf_addn(&b, line, plain);
        line += plain;
        int i = 0;
        for (; *line && i < n; i++) {
            size_t len = strlen(slot[i].name);
            if (!strncmp(line, "${", 2) && !strncmp(line + 2, slot[i].name, len) &&
                line[len + 2] == '}') {
                buf_add(&b, slot[i].value);
                line += len + 3;
                break;
            }
        }
        if (i == n && *line)
            buf_addn(&b, line++, 1);
        if (b.len > BYTES_MAX)
            diag_fatal(a->diag, DIAG_ARGUMENT, (Loc){0},
                       "target: a line becomes longer than %d bytes", BYTES_MAX);
    }
    return b.s;
}

static const char *
expand(Renderer *r, const char *line, const Slot *slot, int n)
{
    return render_line(r->arena, line, slot, n);
}

static void
put(Renderer *r, const char *field, const Slot *slot, int n)
{
    buf_line(r->b, "%s", expand(r, target_text(r->t, field), slot, n));
}

static const char *
number(Renderer *r, i64 v)
{
    return arena_printf(r->arena, "%lld", (long long)v);
}

static const char *
expression(Renderer *r, const Ex *x)
{
    return ex_spelled(r->arena, x, r->u->e, &r->sp);
}

static const char *
argument(Renderer *r, const Arg *a)
{
    char hex[20];
    if (!a->value) {
        snprintf(hex, sizeof hex, "%llx", (unsigned long long)a->pattern);
        return expand(r, target_text(r->t, "pattern"), &(Slot){"hex", hex}, 1);
    }
    if (!a->buffer)
        return expression(r, a->value);
    if (ex_is(a->value, 0))
        return a->buffer;
    Slot s[] = {{"buffer", a->buffer}, {"value", expression(r, a->value)}};
    return expand(r, target_text(r->t, "buffer"), s, LEN(s));
}

static void
put_call(Renderer *r, const Stmt *s)
{
    Buf args = buf_new(r->arena);
    for (int i = 0; i < s->nargs; i++)
        buf_printf(&args, "%s%s", i ? ", " : "", argument(r, &s->arg[i]));
    Slot slot[] = {{"symbol", s->kernel->symbol}, {"args", args.s}};
    put(r, "call", slot, LEN(slot));
}

static void put_body(Renderer *r, const Stmt *s);

static void
put_block(Renderer *r, const Stmt *s, const char *close)
{
    r->b->indent++;
    put_body(r, s->body);
    r->b->indent--;
    put(r, close, NULL, 0);
}

/* The number of iterations of a loop to a bound. */
static const char *
turns_of(Renderer *r, const Stmt *s)
{
    Exprs *e = r->u->e;
    const Ex *x = ex_div(e, ex_add(e, s->bound, ex_const(e, s->step - 1)), s->step);
    const char *text = expression(r, x);
    return ex_as_var(x) < 0 ? arena_printf(r->arena, "(%s)", text) : text;
}

static void
put_for(Renderer *r, const Stmt *s)
{
    i64 turns = s->count / s->step + (s->count % s->step != 0);
    bool constant = !s->bound || ex_is_const(s->bound);
    Slot slot[] = {{"name", s->text},
                   {"count", constant ? number(r, s->count) : expression(r, s->bound)},
                   {"step", number(r, s->step)},
                   {"turns", constant ? number(r, turns) : turns_of(r, s)},
                   {"outer", s->outer ? expression(r, s->outer) : ""}};
    const char *shared = s->inner ? s->step > 1 ? "for_inner_step" : "for_inner"
                         : s->outer ? "for_outer"
                         : s->step > 1 ? "for_split_step" : "for_split";
    put(r, s->split ? shared : s->step > 1 ? "for_step" : "for_open", slot, LEN(slot));
    put_block(r, s, "for_close");
}

static void
put_alone(Renderer *r, const Stmt *s)
{
    put(r, "alone_open", &(Slot){"count", number(r, s->count)}, 1);
    put_block(r, s, "alone_close");
}

static const char *
product(Renderer *r, const Stmt *s)
{
    Buf b = buf_new(r->arena);
    for (int i = 0; i < s->nfactors; i++)
        buf_printf(&b, "%s%s", i ? "*" : "", expression(r, s->factor[i]));
    return b.s;
}

static void
put_stmt(Renderer *r, const Stmt *s)
{
    Slot slot[] = {
        {"name", s->text ? s->text : ""},
        {"text", s->text ? s->text : ""},
        {"value", s->value ? expression(r, s->value) : product(r, s)},
        {"other", s->other ? expression(r, s->other) : ""},
        {"index", number(r, s->count)},
        {"least", number(r, s->least)},
        {"most", number(r, s->most)},
    };
    switch (s->kind) {
    case ST_COMMENT: put(r, "comment", slot, LEN(slot)); break;
    case ST_LET:     put(r, "let", slot, LEN(slot)); break;
    case ST_SET:     put(r, "set", slot, LEN(slot)); break;
    case ST_CHECK:   put(r, "check", slot, LEN(slot)); break;
    case ST_SAME:    put(r, "same", slot, LEN(slot)); break;
    case ST_UNUSED:  put(r, "unused", slot, LEN(slot)); break;
    case ST_RETURN:  put(r, "ret", slot, LEN(slot)); break;
    case ST_REFUSE:  put(r, "refuse", slot, LEN(slot)); break;
    case ST_SIZE:    put(r, "size", slot, LEN(slot)); break;
    case ST_TIMES:   put(r, "times", slot, LEN(slot)); break;
    case ST_ROUND:   put(r, "round", slot, LEN(slot)); break;
    case ST_FITS:    put(r, "fits", slot, LEN(slot)); break;
    case ST_BYTES:   put(r, "bytes", slot, LEN(slot)); break;
    case ST_DIVISOR: put(r, "divisor", slot, LEN(slot)); break;
    case ST_WHEN:
        put(r, "when_open", slot, LEN(slot));
        put_block(r, s, "when_close");
        break;
    case ST_FENCE:   put(r, "fence", NULL, 0); break;
    case ST_FOR:     put_for(r, s); break;
    case ST_ALONE:   put_alone(r, s); break;
    case ST_CALL:    put_call(r, s); break;
    }
}

static void
put_body(Renderer *r, const Stmt *s)
{
    for (; s; s = s->next)
        put_stmt(r, s);
}

static const char *
parameters(Renderer *r)
{
    Buf b = buf_new(r->arena);
    for (int i = 0; i < r->u->nparams; i++)
        buf_printf(&b, "%s%s", i ? ", " : "",
                   expand(r, target_text(r->t, "param"),
                          &(Slot){"name", r->u->param[i]}, 1));
    return r->u->nparams ? b.s : target_text(r->t, "no_params");
}

/* n, h, w */
static const char *
arguments(Renderer *r, const char *fmt)
{
    Buf b = buf_new(r->arena);
    for (int i = 0; i < r->u->nparams; i++) {
        Slot slot[] = {{"name", r->u->param[i]}, {"index", number(r, i)}};
        buf_printf(&b, "%s%s", i ? ", " : "", expand(r, fmt, slot, LEN(slot)));
    }
    return b.s;
}

static void
put_braced(Renderer *r, const char *open, const Slot *slot, int n, const Stmt *body)
{
    buf_add(r->b, expand(r, target_text(r->t, open), slot, n));
    r->b->indent++;
    put_body(r, body);
    r->b->indent--;
    buf_add(r->b, target_text(r->t, "close"));
}

/* The constants, sixteen to a line. */
static void
put_tables(Renderer *r)
{
    for (const Table *t = r->u->table; t; t = t->next) {
        Slot slot[] = {{"name", t->name}, {"count", number(r, t->n)}};
        put(r, "table_open", slot, LEN(slot));
        r->b->indent++;
        for (i64 i = 0; i < t->n; i += 16) {
            Buf line = buf_new(r->arena);
            for (i64 k = i; k < i + 16 && k < t->n; k++)
                buf_printf(&line, "%s%d", k > i ? ", " : "", (int)t->value[k]);
            buf_line(r->b, "%s%s", line.s, i + 16 < t->n ? "," : "");
        }
        r->b->indent--;
        put(r, "table_close", NULL, 0);
    }
}

/* The functions with extents as arguments: for the sizes, for one part, and for all
 * parts. */
static void
put_runtime(Renderer *r, bool stand_alone)
{
    Slot slot[] = {{"name", r->u->name}, {"params", parameters(r)},
                   {"extents", arguments(r, "${name}")},
                   {"elements", arguments(r, target_text(r->t, "element"))},
                   {"split", number(r, SPLIT_BYTES)}};
    put_tables(r);
    put_braced(r, "sizes_open", slot, LEN(slot), r->u->sizes);
    put_braced(r, "runtime_open", slot, LEN(slot), r->u->body);
    buf_add(r->b, "\n");
    if (stand_alone)
        put(r, "comment", &(Slot){"text", r->u->note}, 1);
    buf_add(r->b, expand(r, target_text(r->t, stand_alone ? "runtime" : "runtime_jit"),
                         slot, LEN(slot)));
}

static void
put_function(Renderer *r, bool stand_alone)
{
    static const char *const open[] = {
        [EMIT_RELAYOUT] = "relayout_open", [EMIT_OFFSET] = "offset_open",
        [EMIT_INVERSE] = "inverse_open"};
    int rank = r->u->nparams ? r->u->nparams : 1;
    Slot slot[] = {{"name", r->u->name}, {"params", parameters(r)},
                   {"rank", number(r, rank)}};
    bool jit = !stand_alone && r->u->kind == EMIT_RELAYOUT;
    const char *begin = jit ? "jit_open" : r->u->split ? "part_open" : open[r->u->kind];
    put_tables(r);
    put(r, "comment", &(Slot){"text", r->u->note}, 1);
    buf_add(r->b, expand(r, target_text(r->t, begin), slot, LEN(slot)));
    r->b->indent++;
    put_body(r, r->u->body);
    r->b->indent--;
    buf_add(r->b, target_text(r->t, jit ? "jit_close" : r->u->kind == EMIT_RELAYOUT
                                    ? "close" : "index_close"));
    if (r->u->split && !jit)
        buf_add(r->b, expand(r, target_text(r->t, "parts"), slot, LEN(slot)));
}

/* Write text into a comment; it can neither end the comment nor begin another. */
void
render_head(Buf *b, const Target *t, const char *s)
{
    const char *lead = target_text(t, "comment_open");
    while (*s) {
        size_t n = strcspn(s, "\n");
        buf_add(b, lead);
        for (size_t i = 0; i < n; i++) {
            bool plain = s[i] >= ' ' && s[i] < 127 &&
                         (s[i] != '\\' || isdigit((unsigned char)s[i + 1]));
            bool mark = i > 0 && ((s[i - 1] == '*' && s[i] == '/') ||
                                  (s[i - 1] == '/' && s[i] == '*'));
            buf_add(b, mark ? " " : "");
            buf_addn(b, plain ? s + i : "?", 1);
        }
        s += n + (s[n] == '\n');
        buf_add(b, *s ? "\n" : target_text(t, "comment_close"));
        lead = target_text(t, "comment_line");
    }
    buf_add(b, "\n");
}

void
render_helpers(Buf *b, const Target *t, const char *body)
{
    const TargetHelper *h;
    const char *done[TARGET_FILES_MAX];
    int n = 0;
    for (int i = 0; (h = target_helper(t, i)); i++) {
        if (!strstr(body, arena_printf(b->arena, "%s(", h->symbol)))
            continue;
        for (int f = 0; f < h->nfiles; f++) {
            int k = 0;
            while (k < n && done[k] != h->file[f])
                k++;
            if (k < n)
                continue;
            done[n++] = h->file[f];
            buf_add(b, "\n");
            buf_add(b, h->file[f]);
        }
    }
}

/* A declaration for every kernel that the body calls. */
static void
put_prototypes(Renderer *r, const char *body)
{
    for (int i = 0; i < nkernels; i++) {
        if (!strstr(body, arena_printf(r->arena, "%s(", kernels[i].symbol)))
            continue;
        buf_printf(r->b, "void %s(", kernels[i].symbol);
        for (const char *c = kernel_letters(&kernels[i]); *c; c++)
            buf_printf(r->b, "%s%s", c > kernel_letters(&kernels[i]) ? ", " : "",
                       kernel_arg(*c)->type);
        buf_add(r->b, ");\n");
    }
}

const char *
render(const Target *t, const Unit *u, bool stand_alone)
{
    Arena *a = ex_arena(u->e);
    Buf body = buf_new(a), all = buf_new(a);
    Renderer r = {.t = t, .u = u, .arena = a, .b = &body};
    r.sp = target_spelling(t);
    r.sp.suffix = NULL;             /* coordinates are signed */
    if (u->sizes)
        put_runtime(&r, stand_alone);
    else
        put_function(&r, stand_alone);
    r.b = &all;
    if (stand_alone) {
        render_head(&all, t, u->head);
        buf_add(&all, target_file(t, "prologue"));
        render_helpers(&all, t, body.s);
    } else {
        buf_add(&all, target_file(t, "jit_prologue"));
        put_prototypes(&r, body.s);
    }
    buf_add(&all, "\n");
    buf_addn(&all, body.s, body.len);
    return all.s;
}

const char *
render_values(const Target *t, const Unit *u, int values)
{
    Arena *a = ex_arena(u->e);
    Buf body = buf_new(a), all = buf_new(a);
    Renderer r = {.t = t, .u = u, .arena = a, .b = &body, .sp = target_spelling(t)};
    r.sp.suffix = NULL;
    Slot slot[] = {{"name", u->name}, {"params", parameters(&r)},
                   {"values", number(&r, values)}};
    put_braced(&r, "values_open", slot, LEN(slot), u->body);
    render_helpers(&all, t, body.s);
    buf_add(&all, "\n");
    buf_addn(&all, body.s, body.len);
    return all.s;
}

const char *
render_extents(const Target *t, const Unit *u)
{
    Renderer r = {.t = t, .u = u, .arena = ex_arena(u->e)};
    return arguments(&r, "${name}");
}

const char *
render_parameters(const Target *t, const Unit *u)
{
    Renderer r = {.t = t, .u = u, .arena = ex_arena(u->e)};
    return parameters(&r);
}
