/* ravel_tune: for each nest of a relayout it tries the candidates that the cost model
 * predicts to be the best, against the best relayout so far. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tune.h"

/* A candidate that the model predicts to be this many times slower is not tried. */
enum { HOPELESS = 3 };

typedef struct {
    ravel_context *cx;
    const ravel_request *rq;
    double seconds;               /* for each nest */
    ravel_tuning *out;
    ravel_error *err;
    ravel_status status;
    Arena arena;
    ravel_plan *model, *best;
    ravel_plan *fixed;            /* the model's, at the shape if there is one */
    const i64 *val;               /* the scalars there, or NULL */
    const char *key;
    Proof *proof;
    Race race;
    Pick pick[MAX_WEIGHTY];       /* so far, by rising nest */
    int n;
} Tune;

static bool
good(Tune *t, ravel_status s)
{
    t->status = s;
    return s == RAVEL_OK;
}

static bool
need_memory(Tune *t)
{
    i64 have = (i64)sysconf(_SC_PHYS_PAGES) * (i64)sysconf(_SC_PAGESIZE);
    i64 src = ravel_plan_src_bytes(t->fixed), dst = ravel_plan_dst_bytes(t->fixed);
    i64 proof = proof_bytes(t->fixed->plan), all;
    t->race.bytes = (size_t)(src > dst ? src : dst);
    if (int_mul(2, src > dst ? src : dst, &all) && int_add(all, proof, &all) &&
        (have <= 0 || all <= have))
        return true;
    t->status = error_set(t->err, RAVEL_ERR_MEMORY, "a proof and two buffers of %zu bytes "
                          "do not fit this machine's memory", t->race.bytes);
    return false;
}

/* The picks so far and this one, in order of nests; returns their number. */
static int
picks_with(const Tune *t, const Pick *one, Pick *all)
{
    int n = 0;
    for (int i = 0; i < t->n; i++)
        if (t->pick[i].nest != one->nest)
            all[n++] = t->pick[i];
    int at = n;
    for (; at > 0 && all[at - 1].nest > one->nest; at--)
        all[at] = all[at - 1];
    all[at] = *one;
    return n + 1;
}

static bool
compile_try(Tune *t, Try *one)
{
    Pick all[MAX_WEIGHTY];
    int n = picks_with(t, &one->pick, all);
    return good(t, plan_picked(t->cx, t->rq, all, n, &one->plan, t->err));
}

/* The candidates of one nest: the best so far, and others by the model. */
static bool
make_tries(Tune *t, int nest)
{
    Race *r = &t->race;
    const Plan *p = t->best->plan;
    Nest *choice = arena_array(&t->arena, Nest, MAX_CHOICES);
    int m = t->val ? nest_choices_at(p, p->nest[nest], t->fixed->plan, t->val, choice)
                   : nest_choices(p, p->nest[nest], choice);
    r->n = 0;
    for (int i = 0; i < m && i < TUNE_TRIES; i++) {
        if (i > 0 && choice[i].cost > HOPELESS * choice[0].cost)
            break;
        r->t[i] = (Try){.pick = {nest, choice[i].kernel->name, choice[i].order},
                        .model = i == 0, .predicted = choice[i].cost};
        r->n++;
        if (!compile_try(t, &r->t[i]))
            return false;
    }
    return true;
}

static void
free_tries(Race *r)
{
    for (int i = 0; i < r->n; i++)
        ravel_plan_free(r->t[i].plan);
    r->n = 0;
}

static void
report_tries(Tune *t, int winner)
{
    ravel_tuning *o = t->out;
    for (int i = 0; i < t->race.n && o->trials < RAVEL_TRIALS_MAX; i++) {
        const Try *one = &t->race.t[i];
        ravel_trial *to = &o->trial[o->trials++];
        *to = (ravel_trial){.nest = one->pick.nest + 1, .predicted = one->predicted,
                            .refused = one->refused, .model = one->model,
                            .winner = i == winner, .ns = -1, .memcpy = -1};
        snprintf(to->kernel, sizeof to->kernel, "%s", one->pick.kernel);
        snprintf(to->order, sizeof to->order, "%s", one->pick.order);
        if (one->refused)
            continue;
        to->ns = one->ns.median;
        to->memcpy = one->ratio.median;
        to->low = one->ratio.low;
        to->high = one->ratio.high;
    }
    o->memcpy_ns = t->race.memcpy_ns;
    o->rounds += t->race.rounds;
    if (!o->refused[0])
        snprintf(o->refused, sizeof o->refused, "%s", t->race.why);
}

/* Prove the candidates.  A failed proof of the choice of the model ends the call. */
static bool
prove_tries(Tune *t)
{
    if (!good(t, race_prove(&t->race, t->proof, t->err)))
        return false;
    if (t->race.t[0].refused)
        t->status = error_set(t->err, RAVEL_ERR_VERIFY, "%s", t->race.why);
    return t->status == RAVEL_OK;
}

static void
tune_nest(Tune *t, int nest)
{
    Race *r = &t->race;
    if (make_tries(t, nest) && prove_tries(t)) {
        race_time(r, t->seconds);
        int w = race_winner(r);
        Pick all[MAX_WEIGHTY];
        t->n = picks_with(t, &r->t[w].pick, all);
        memcpy(t->pick, all, (size_t)t->n * sizeof *all);
        report_tries(t, w);
        ravel_plan *old = t->best;
        t->best = r->t[w].plan;
        r->t[w].plan = old;
    }
    free_tries(r);
}

static void
remember(Tune *t)
{
    Advice one = {t->key, t->pick, t->n, 0};
    if (t->n)
        t->status = wisdom_learn(t->cx, &one, t->err);
}

/* Why the request cannot be measured at the shape; NULL: it can. */
static const char *
misfit(Tune *t, const int64_t *shape)
{
    const Plan *p = t->model->plan;
    if (plan_looks_up(p))
        return "a conversion with an index array is not measured: its time depends on the "
               "numbers";
    if (p->scalars->nstrides)
        return "a conversion with strides or a fill at run time is not measured: give numbers";
    if (plan_is_fixed(p))
        return shape ? "ravel_tune_at: all extents of this plan are numbers: ravel_tune "
                       "measures it" : NULL;
    if (!shape)
        return "ravel_tune: extents left to run time: ravel_tune_at takes the shape to "
               "measure at";
    for (int d = 0; d < p->src->rank; d++)
        if (shape[d] < 1)
            return arena_printf(&t->arena, "extent of %s is %lld: nothing to measure",
                                p->src->dim[d].name, (long long)shape[d]);
    return NULL;
}

/* What proofs and sizes are about: the plan in numbers. */
static bool
fix(Tune *t)
{
    i64 extent[MAX_RANK];
    const Plan *p = t->model->plan;
    const int64_t *shape = t->race.shape;
    const char *why = misfit(t, shape);
    if (!why && shape)
        why = plan_extents(&t->arena, p, shape, extent);
    if (why) {
        t->status = error_set(t->err, RAVEL_ERR_ARGUMENT, "%s", why);
    } else if (shape) {
        t->val = plan_values(&t->arena, p, extent);
        good(t, plan_at(t->model, compile_again(&t->arena, p), shape, &t->fixed, t->err));
    } else {
        t->fixed = t->model;
        atomic_fetch_add(&t->fixed->users, 1);
    }
    return t->status == RAVEL_OK;
}

static bool
get_ready(Tune *t)
{
    if (!good(t, plan_picked(t->cx, t->rq, NULL, 0, &t->model, t->err)) || !fix(t))
        return false;
    t->key = wisdom_key(&t->arena, t->cx, t->model->plan, t->model->threads.most);
    wisdom_check_key(&t->arena, t->key);
    if (!need_memory(t) ||
        !good(t, proof_new(t->fixed->plan, false, &t->proof, t->err)))
        return false;
    t->race.dst = measure_map(t->race.bytes);
    t->race.src = measure_map(t->race.bytes);
    if (!t->race.dst || !t->race.src)
        t->status = error_set(t->err, RAVEL_ERR_MEMORY, "no memory for two buffers of %zu bytes",
                              t->race.bytes);
    return t->status == RAVEL_OK;
}

static void
tune(void *arg)
{
    Tune *t = arg;
    int nest[MAX_WEIGHTY], n;
    if (!get_ready(t))
        return;
    atomic_fetch_add(&t->model->users, 1);
    t->best = t->model;
    t->out->threads = plan_threads_at(t->model, t->race.shape).most;
    t->out->bytes = (int64_t)t->race.bytes;
    n = plan_weighty(t->model->plan, t->val, nest);
    t->seconds /= n ? n : 1;
    t->race.share = 1.0 / (n ? n : 1);
    for (int i = 0; i < n && t->status == RAVEL_OK; i++) {
        t->race.done = i * t->race.share;
        tune_nest(t, nest[i]);
    }
    if (t->status == RAVEL_OK)
        remember(t);
}

ravel_status
tune_watched(ravel_context *cx, const ravel_request *rq, const int64_t *shape,
             double seconds, TuneWatch watch, ravel_tuning *out, ravel_error *err)
{
    Diag d;
    ravel_tuning own;
    if (!cx || !rq || !rq->from || !rq->to || !rq->dtype)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_tune: a NULL argument");
    if (rq->in_place)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_tune: a conversion in place has nothing "
                         "to tune but that of its blocks");
    if (!(seconds >= 0 && seconds <= 3600))
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_tune: 0 to 3600 seconds");
    ravel_status s = request_check(rq, err);
    if (s != RAVEL_OK)
        return s;
    Tune t = {.cx = cx, .rq = rq, .seconds = seconds, .out = out ? out : &own, .err = err,
              .arena = context_arena(cx), .race = {.shape = shape, .watch = watch}};
    *t.out = (ravel_tuning){0};
    if (!arena_run(&t.arena, &d, tune, &t))
        t.status = error_of(err, &d);
    free_tries(&t.race);
    proof_free(t.proof);
    ravel_plan_free(t.fixed);
    ravel_plan_free(t.best);
    ravel_plan_free(t.model);
    measure_unmap(t.race.dst, t.race.bytes);
    measure_unmap(t.race.src, t.race.bytes);
    arena_free(&t.arena);
    return t.status;
}

ravel_status
ravel_tune(ravel_context *cx, const ravel_request *rq, double seconds, ravel_tuning *out,
           ravel_error *err)
{
    return tune_watched(cx, rq, NULL, seconds, (TuneWatch){0}, out, err);
}

ravel_status
ravel_tune_at(ravel_context *cx, const ravel_request *rq, const int64_t *shape,
              double seconds, ravel_tuning *out, ravel_error *err)
{
    if (!shape)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_tune_at: a NULL argument");
    return tune_watched(cx, rq, shape, seconds, (TuneWatch){0}, out, err);
}
