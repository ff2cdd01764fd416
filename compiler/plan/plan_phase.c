/* Cuts where the digits of a shifted coordinate change, as of (C + 3)//16 in a view.
 *
 * If one shift aligns all cuts, the pieces are those of the shifted range, moved back: full
 * blocks between two partial ones.  Otherwise they are the segments between any two cuts. */
#include "plan_parts.h"

/* Adds the places at which the digit limit `lo` of a*x + b changes. */
static int
add_phase(Phase *out, int n, i64 a, i64 b, i64 lo)
{
    i64 by = int_abs(a), phase;
    if (lo <= 1 || lo % by || lo == by || n == MAX_CUTS)
        return n;
    phase = a > 0 ? -int_div(b, by) : int_div(b, by) + 1;
    out[n] = (Phase){lo / by, int_mod(phase, lo / by)};
    for (int i = 0; i < n; i++)
        if (out[i].cut == out[n].cut && out[i].phase == out[n].phase)
            return n;
    return n + 1;
}

typedef struct {
    Phase *out;
    int n;
} Phases;

static void
phases_of_digit(void *arg, const DigitUse *u)
{
    Phases *p = arg;
    const Ex *of = u->digit ? u->digit->x[0] : NULL;
    if (!of || of->n > 1 || ex_as_var(of) >= 0)
        return;
    p->n = add_phase(p->out, p->n, u->term->coef, of->base, u->digit->lo);
    p->n = add_phase(p->out, p->n, u->term->coef, of->base, u->digit->hi);
}

int
phases_add(const Ex *x, int var, Phase *out, int n)
{
    Phases p = {out, n};
    ex_each_digit(x, var, phases_of_digit, &p);
    return p.n;
}

/* The shift by which all phases become 0; -1: there is none. */
static i64
common_shift(const Phase *p, int n)
{
    int top = 0;
    for (int i = 1; i < n; i++)
        if (p[i].cut > p[top].cut)
            top = i;
    i64 shift = int_mod(-p[top].phase, p[top].cut);
    if (p[top].cut == CUT_ONCE)
        return -1;
    for (int i = 0; i < n; i++)
        if ((p[i].phase + shift) % p[i].cut)
            return -1;
    return shift;
}

static int
by_cut(const Phase *p, int n, i64 *cuts, i64 *phase)
{
    int m = 1;
    cuts[0] = 1;
    phase[0] = 0;
    for (int i = 0; i < n; i++) {
        int k = m++;
        for (; cuts[k - 1] > p[i].cut; k--) {
            cuts[k] = cuts[k - 1];
            phase[k] = phase[k - 1];
        }
        cuts[k] = p[i].cut;
        phase[k] = p[i].phase;
    }
    return m;
}

int
pieces_phased(Scalars *s, const i64 *cuts, int ncuts, Phase *phase, int n, const Ex *hi,
              Piece *out)
{
    i64 all[2 * MAX_CUTS + 1], at[2 * MAX_CUTS + 1];
    const Ex *zero = ex_const(s->e, 0);
    for (int i = 0; i < ncuts; i++)
        if (cuts[i] > 1)
            phase[n++] = (Phase){cuts[i], 0};
    i64 shift = common_shift(phase, n);
    int m = by_cut(phase, n, all, at);
    if (shift < 0)
        return pieces_of(s, all, at, m, zero, hi, 0, out);
    const Ex *by = ex_const(s->e, shift);
    int k = 0;
    for (int i = 1; i < m; i++)
        if (all[i] != all[k])
            all[++k] = all[i];
    m = pieces_of(s, all, NULL, k + 1, by, ex_add(s->e, hi, by), 0, out);
    for (int i = 0; i < m; i++) {
        out[i].start = ex_sub(s->e, out[i].start, by);
        out[i].from = ex_sub(s->e, out[i].from, by);
        out[i].to = out[i].to ? ex_sub(s->e, out[i].to, by) : NULL;
    }
    return m;
}
