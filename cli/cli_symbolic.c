/* show without --shape: order, strides and address of a layout for every shape. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Fills arg, a Symbolic with ref and dtype. */
static void
make_sizes(void *arg)
{
    Symbolic *s = arg;
    Exprs *e = ex_new(s->arena);
    i64 ones[MAX_RANK];
    int extent[MAX_RANK];
    for (int d = 0; d < s->rank; d++)
        ones[d] = 1;
    s->l = layout_make(e, s->ref, s->dtype, s->rank, ones);
    s->scalars = scalars_new(e);
    for (int d = 0; d < s->rank; d++)
        extent[d] = scalar_extent(s->scalars, arena_printf(s->arena, "|%s|",
                                                           s->l->dim[d].name));
    s->sizes = layout_sizes(s->scalars, s->l, extent);
}

Symbolic
cli_symbolic(Arena *a, const LayoutRef *ref, const DType *t, int rank)
{
    Diag d;
    Symbolic s = {.arena = a, .ref = ref, .dtype = t, .rank = rank};
    if (arena_run(a, &d, make_sizes, &s))
        return s;
    if (diag_is_final(&d))
        diag_fatal(a->diag, d.kind, (Loc){0}, "%s", d.text);
    s.sizes = NULL;
    s.why = arena_string(a, d.text);
    return s;
}

const char *
cli_symbolic_address(const Symbolic *s)
{
    Buf b = buf_new(s->arena);
    for (int i = 0; i < s->l->nentry; i++) {
        const Ex *x = s->l->entry[i].written, *stride = s->sizes->stride[i];
        if (ex_is(x, 0))
            continue;
        buf_add(&b, b.len ? " + " : "");
        if (ex_is_const(stride))
            buf_add(&b, ex_text(s->l->e, ex_scale(s->l->e, x, stride->base)));
        else
            buf_printf(&b, ex_as_var(x) < 0 ? "%s*(%s)" : "%s*%s",
                       ex_text(s->l->e, stride), ex_text(s->l->e, x));
    }
    return b.len ? b.s : "0";
}

static void
print_sizes(const Symbolic *s)
{
    const Layout *l = s->l;
    Buf b = buf_new(s->arena);
    printf("\nstorage order, outermost first, for every shape\n");
    for (int i = 0; i < l->nentry; i++)
        printf("  %-18s %6s slots, %8s apart\n", ast_text(s->arena, l->entry[i].x),
               ex_text(l->e, s->sizes->slots[i]), ex_text(l->e, s->sizes->stride[i]));
    printf("\naddress = %s\n", cli_symbolic_address(s));
    printf("storage: %s elements\n", ex_text(l->e, s->sizes->size));
    scalars_print(&b, s->scalars);
    printf("%swhere |%s| is the extent of %s, and so on\n", b.s, l->dim[0].name,
           l->dim[0].name);
}

/* A layout whose strides need numbers: the order as declared, and why. */
static void
print_declared(Cli *c, const Symbolic *s)
{
    printf("\n%s\n", layout_whole_text(c->arena, s->ref));
    if (s->why)
        printf("strides and addresses: give --shape, as in --shape %s\n  (%s)\n",
               cli_shape_like(c->arena, s->rank), s->why);
}

int
cli_show_symbolic(Cli *c)
{
    const char *text = cli_layout_text(c, c->o.arg[0]);
    const LayoutRef *ref = spec_ref(c->arena, text, c->known);
    const char *const given[][2] = {
        {"--svg", c->o.svg}, {"--html", c->o.html}, {"--plane", c->o.plane},
        {"--at", c->o.at}, {"--by", c->o.by}, {"--beside", c->o.beside}};
    for (int i = 0; i < LEN(given); i++)
        if (given[i][1])
            cli_fail(c, "%s draws elements: give --shape, as in --shape %s",
                     given[i][0], cli_shape_like(c->arena, decide_rank(ref->def)));
    layout_need_strides(c->arena, ref->def);
    bool any = c->o.dtype || sides_any_dtype(ref);
    if (!any)
        c->o.dtype = "f16";
    Symbolic s = cli_symbolic(c->arena, ref, cli_dtype_of(c, text), decide_rank(ref->def));
    printf("%s  %s%s\n", layout_ref_text(c->arena, ref), s.dtype->name,
           any ? "" : ", as an example: the layout depends on the element size (--dtype)");
    if (ref->def->doc)
        printf("%s\n", ref->def->doc);
    if (s.sizes && s.rank)
        print_sizes(&s);
    else
        print_declared(c, &s);
    return EXIT_YES;
}
