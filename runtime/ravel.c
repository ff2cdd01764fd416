/* The functions of ravel.h: each checks its arguments, sets up an error boundary and
 * calls the passes. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

typedef struct {
    const Key *key;
    ravel_plan *p;
    const char *text;              /* for the JIT; NULL: the interpreter has steps */
    const char *why;               /* the JIT could not */
    const Wisdom *wisdom;
    bool tuned;                    /* instead: picks, and the nests are kept */
    const Pick *pick;
    int picks;
    Plan *made;
    Arena *again;                  /* of nests that are made again */
    Request rq;
} Compile;

/* The passes, inside an error boundary. */
/* Make the C text for the JIT. */
static void
make_text(Compile *j)
{
    ravel_plan *p = j->p;
    work_on(&p->arena, "to write code for the plan", NULL);
    JitText t = compile_jit(context_target(p->cx, &p->arena), p->plan, &j->rq);
    j->text = t.text;
    p->tables = t.tables;
    work_spend(&p->arena, (i64)strlen(j->text));
}

static bool
may_have_code(const ravel_plan *p)
{
    return p->cx->way == CODE_JIT || (p->cx->way == CODE_BEST && jit_is_built);
}

/* Where few calls of kernels do all the work, machine code takes longer to make than it saves. */
static bool
wants_code(const ravel_plan *p)
{
    return may_have_code(p) && (p->cx->way == CODE_JIT || !plan_is_coarse(p->plan));
}

/* The nests, and what is made of them: text or steps. */
static void
make_nests(void *arg)
{
    Compile *j = arg;
    ravel_plan *p = j->p;
    compile_nests(j->made);
    for (int i = 0; i < j->picks; i++)
        plan_pick(j->made, &j->pick[i]);
    if (!j->tuned)
        wisdom_use(p->cx, j->wisdom, j->made, plan_threads(p->cx, j->key, j->made).most,
                   &p->wisdom);
    kernels_used(j->made, p->uses);
    if (p->in_place)
        p->in_place->how = sides_in_place(j->made, &j->rq);
    else if (wants_code(p))
        make_text(j);
    else
        p->steps = interpret_make(&p->arena, j->made, p->cx->kernels);
}

/* The same where only code is kept, with its tables, or steps. */
static void
make_what_runs(void *arg)
{
    ravel_plan *p = ((const Compile *)arg)->p;
    make_nests(arg);
    if (p->wisdom.key)
        p->wisdom.key = arena_keep(&p->arena, p->wisdom.key, strlen(p->wisdom.key) + 1);
}

static void
plan(void *arg)
{
    Compile *j = arg;
    ravel_plan *p = j->p;
    const ravel_request *rq = &j->key->rq;
    j->rq = request_of(rq);
    j->rq.machine = p->cx->machine;
    j->rq.bare = true;
    p->key = key_keep(&p->arena, j->key);
    p->uses = arena_array(&p->arena, int, nkernels);
    if (rq->in_place)
        p->in_place = arena_new(&p->arena, InPlacePlans);
    else if (may_have_code(p))
        p->source = arena_new(&p->arena, _Atomic(char *));
    p->plan = j->made = compile_begin(&p->arena, p->known, &j->rq);
    const bool fixed = plan_is_fixed(p->plan);
    if (!p->in_place && !fixed && !j->tuned)
        plan_scratch(j->made, make_what_runs, j);
    else
        make_nests(j);
    plan_measure(p);
    if (!j->tuned && !p->in_place && !p->wisdom.advice && !fixed && !plan_looks_up(p->plan) &&
        rq->rank == p->plan->src->rank && !p->plan->scalars->nstrides)
        p->seen = arena_array(&p->arena, SeenShape, SEEN);
}

/* The reason why the interpreter is used. */
static void
say_way(void *arg)
{
    const Compile *j = arg;
    j->p->way = arena_printf(&j->p->arena, "interpreter: %s", j->why);
}

/* The nests may be gone. */
static void
make_steps_instead(void *arg)
{
    const Compile *j = arg;
    ravel_plan *p = j->p;
    const Plan *with = p->plan->nest ? p->plan : plan_again(p, j->again);
    p->steps = interpret_make(&p->arena, with, p->cx->kernels);
}

/* Make the steps of the interpreter, for a plan without machine code. */
static ravel_status
interpret_instead(Compile *j, ravel_error *err)
{
    Diag d;
    Arena again = {.diag = &d, .work = j->p->arena.work};
    j->again = &again;
    j->p->source = NULL;
    bool ok = arena_run(&j->p->arena, &d, make_steps_instead, j) &&
              arena_run(&j->p->arena, &d, say_way, j);
    arena_free(&again);
    return ok ? RAVEL_OK : error_of(err, &d);
}

/* The plans of the blocks of one that converts a buffer within itself. */
static ravel_status
make_blocks(ravel_plan *p, ravel_error *err)
{
    Diag d;
    ravel_status s = RAVEL_OK;
    const InPlace *how = p->in_place->how;
    for (int i = 0; i < how->n && s == RAVEL_OK; i++) {
        const InPlacePass *w = &how->pass[i];
        ravel_request rq = {.from = w->from, .to = w->to, .dtype = p->key.rq.dtype,
                            .rank = w->rank, .shape = w->shape, .threads = 1};
        if (w->kind != PASS_BLOCKS)
            continue;
        Key key = key_of(p->cx, &rq);
        s = plan_get(p->cx, &key, p->known, &p->in_place->block[i], err);
    }
    if (s != RAVEL_OK)
        return s;
    return arena_run(&p->arena, &d, in_place_say, p) ? RAVEL_OK : error_of(err, &d);
}

static ravel_status
make_code(Compile *j, ravel_error *err)
{
    ravel_plan *p = j->p;
    ravel_error own;
    if (p->in_place)
        return make_blocks(p, err);
    if (p->steps) {
        p->way = p->cx->way == CODE_INTERPRETER ? "interpreter: RAVEL_CODE asks for it"
                 : !jit_is_built ? "interpreter: built without libtcc"
                 : "interpreter: machine code saves less than 1 % of a run";
        return RAVEL_OK;
    }
    ravel_status s = jit_compile(j->text, p->cx->kernels->symbols, &p->jit, &own);
    arena_drop(&p->arena, j->text, strlen(j->text) + 1);
    j->why = own.text;
    if (s == RAVEL_ERR_JIT && p->cx->way == CODE_BEST)
        return interpret_instead(j, err);
    if (s != RAVEL_OK)
        return error_set(err, s, "%s", own.text);
    p->way = "machine code";
    void (*code)(void) = jit_function(p->jit, "ravel_relayout");
    void (*give)(void) = jit_function(p->jit, "ravel_relayout_tables");
    p->code = (Compiled *)code;
    if (give)
        ((GiveTables *)give)(p->tables);
    return RAVEL_OK;
}

Threads
plan_threads(const ravel_context *cx, const Key *key, const Plan *p)
{
    Threads t = context_threads(cx, key);
    if (!p->split)
        t.most = 1;
    return t;
}

/* A plan with one user; NULL if it fails, then *s and err have the reason. */
static ravel_plan *
make_plan(ravel_context *cx, Compile job, const Known *known, ravel_status *s,
          ravel_error *err)
{
    Diag d;
    ravel_plan *p = job.p = calloc(1, sizeof *p);
    if (!p) {
        *s = error_set(err, RAVEL_ERR_MEMORY, "out of memory");
        return NULL;
    }
    context_join(cx);
    p->arena = context_arena(cx);
    p->cx = cx;
    p->users = 1;
    p->known = known;
    *s = arena_run(&p->arena, &d, plan, &job) ? make_code(&job, err) : error_of(err, &d);
    if (*s != RAVEL_OK) {
        ravel_plan_free(p);
        return NULL;
    }
    p->threads = plan_threads(cx, job.key, p->plan);
    p->bytes = (i64)(sizeof *p + p->arena.held + (p->jit ? jit_bytes(p->jit) : 0));
    return p;
}

ravel_status
plan_picked(ravel_context *cx, const ravel_request *rq, const Pick *pick, int n,
            ravel_plan **out, ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    Key key = key_of(cx, rq);
    *out = make_plan(cx, (Compile){.key = &key, .pick = pick, .picks = n, .tuned = true},
                     context_known(cx), &s, err);
    return s;
}

/* A plan with a user, and the cache's. */
static ravel_plan *
add_plan(ravel_context *cx, Compile job, const Known *known, ravel_status *s, ravel_error *err)
{
    const int64_t start = log_start(cx);
    ravel_plan *p = make_plan(cx, job, known, s, err);
    if (!p)
        return NULL;
    log_plan(p, start);
    cache_add(&cx->cache, p);
    return p;
}

ravel_plan *
plan_for(ravel_context *cx, const Key *key, const Known *known)
{
    ravel_status s;
    ravel_error err;
    return add_plan(cx, (Compile){.key = key, .wisdom = cx->wisdom}, known, &s, &err);
}

ravel_status
plan_get(ravel_context *cx, const Key *key, const Known *known, ravel_plan **out,
         ravel_error *err)
{
    ravel_status s = RAVEL_OK;
    Compile job = {.key = key, .wisdom = cx->wisdom};
    *out = cache_find(&cx->cache, key, known, job.wisdom);
    if (!*out)
        *out = add_plan(cx, job, known, &s, err);
    return s;
}

ravel_status
ravel_compile(ravel_context *cx, const ravel_request *rq, ravel_plan **out,
              ravel_error *err)
{
    if (!cx || !rq || !out || !rq->from || !rq->to || !rq->dtype)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_compile: a NULL argument");
    *out = NULL;
    ravel_status s = request_check(rq, err);
    if (s != RAVEL_OK)
        return s;
    Key key = key_of(cx, rq);
    return plan_get(cx, &key, context_known(cx), out, err);
}
