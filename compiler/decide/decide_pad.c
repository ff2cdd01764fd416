/* Advice for a swizzle of blocks: the pads that make the storage whole blocks. */
#include "decide.h"

/* Pads of one dim or two. */
typedef struct {
    const Layout *l;
    i64 block;
    int n, dim[2];
    i64 pad[2], size;     /* of the storage then; 0: no whole blocks */
} Trial;
enum { TRIALS = 4096, PAD_MOST = 1 << 20 };

static void
try_pad(void *arg)
{
    Trial *t = arg;
    const Layout *l = t->l;
    LayoutDef def = *l->ref->def;
    LayoutRef ref = *l->ref;
    Arena *a = ex_arena(l->e);
    i64 shape[MAX_RANK];
    Setting *pads = arena_array(a, Setting, def.npads + t->n);
    for (int i = 0; i < def.npads; i++)
        pads[i] = def.pads[i];
    for (int i = 0; i < t->n; i++)
        pads[def.npads++] = (Setting){.dim = l->dim[t->dim[i]].name,
                                      .value = ast_num(a, t->pad[i], (Loc){0})};
    def.pads = pads;
    ref.def = &def;
    for (int d = 0; d < l->rank; d++)
        shape[d] = l->dim[d].n;
    const Layout *wide = layout_make(ex_new(a), &ref, l->dtype, l->rank, shape);
    t->size = wide->size % t->block ? 0 : wide->size;
}

static bool
can_pad(const Layout *l, int dim)
{
    return l->dim[dim].pad <= 1 && dim >= l->rank - l->ref->def->ndims;
}

/* Try the pads of t and of each of its dims after the first `n`; keep the best. */
static void
try_pads(const Trial *given, int n, int *left, Trial *best)
{
    Diag d;
    Trial t = *given;
    if (n == t.n) {
        if (--*left >= 0 && arena_run(ex_arena(t.l->e), &d, try_pad, &t) && t.size &&
            (!best->size || t.size < best->size))
            *best = t;
        return;
    }
    for (t.pad[n] = 2; t.pad[n] <= t.block && t.pad[n] <= PAD_MOST; t.pad[n] *= 2)
        try_pads(&t, n + 1, left, best);
}

const char *
sigma_pad(const Layout *l, i64 block)
{
    Trial best = {.size = 0};
    int left = TRIALS;
    for (int i = 0; i < l->rank; i++)
        if (can_pad(l, i))
            try_pads(&(Trial){.l = l, .block = block, .n = 1, .dim = {i}}, 0, &left, &best);
    for (int i = 0; i < l->rank; i++)
        for (int k = 0; k < i; k++)
            if (can_pad(l, i) && can_pad(l, k))
                try_pads(&(Trial){.l = l, .block = block, .n = 2, .dim = {k, i}}, 0, &left,
                         &best);
    Buf b = buf_new(ex_arena(l->e));
    for (int i = 0; best.size && i < best.n; i++)
        buf_printf(&b, "%s%s = %lld", i ? ", " : ", as by pad = {", l->dim[best.dim[i]].name,
                   (long long)best.pad[i]);
    return best.size ? arena_printf(ex_arena(l->e), "%s}", b.s) : "";
}
