/* tune, and reading the wisdom file for other commands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cli_progress.h"

enum { SECONDS = 2, SECONDS_MAX = 3600 };

/* The file of --wisdom or RAVEL_WISDOM, or NULL. */
static const char *
wisdom_file(const Cli *c)
{
    const char *file = c->o.wisdom ? c->o.wisdom : getenv("RAVEL_WISDOM");
    return file && *file ? file : NULL;
}

/* The file of RAVEL_WISDOM, and the file that tune writes, need not exist. */
static bool
may_lack(const Cli *c, const char *file)
{
    return (!c->o.wisdom || c->tunes) && access(file, F_OK) && errno == ENOENT;
}

void
cli_wisdom(Cli *c)
{
    const char *file = wisdom_file(c);
    unsigned char *text;
    size_t len;
    ravel_error err;
    if (!file || may_lack(c, file))
        return;
    cli_depend(c, file);
    cli_check(c, file_read(file, WISDOM_BYTES_MAX, &text, &len, &err), &err);
    ravel_status s = ravel_wisdom_load(c->cx, (const char *)text, len, &err);
    free(text);
    if (s != RAVEL_OK)
        cli_fail(c, "%s: %s", file, err.text);
}

Plan *
cli_plan(Cli *c, const Request *rq)
{
    WisdomUsed said;
    Plan *p = compile_plan(c->arena, c->known, rq);
    ravel_request q = {.from = rq->from, .to = rq->to, .dtype = rq->dtype,
                       .rank = rq->rank, .shape = rq->shape};
    q.threads = cli_threads(c);
    Key key = key_of(c->cx, &q);
    wisdom_use(c->cx, c->cx->wisdom, p, plan_threads(c->cx, &key, p).most, &said);
    return p;
}

static json_t *
trial_json(const ravel_trial *t)
{
    json_t *j = json_pack("{s:i, s:s, s:s, s:f, s:b, s:b, s:b}", "nest", t->nest,
                          "kernel", t->kernel, "order", t->order, "predicted_ns",
                          t->predicted, "model", t->model, "winner", t->winner,
                          "refused", t->refused);
    if (!t->refused)
        json_object_update_new(j, json_pack("{s:f, s:{s:f, s:f, s:f}}", "ns", t->ns,
            "memcpy", "median", t->memcpy, "low", t->low, "high", t->high));
    return j;
}

typedef struct {
    ravel_request rq;
    i64 shape[MAX_RANK], at[MAX_RANK];
    bool any;                      /* extents left to run time: measured at `at` */
    ravel_tuning result;
} Tuning;

static void
print_json(const Tuning *t, const char *file)
{
    const ravel_tuning *r = &t->result;
    json_t *list = json_array();
    for (int i = 0; i < r->trials; i++)
        json_array_append_new(list, trial_json(&r->trial[i]));
    cli_print_json(json_pack("{s:I, s:i, s:i, s:f, s:s*, s:s*, s:o*, s:o}",
        "bytes", (json_int_t)r->bytes, "threads", r->threads, "rounds", r->rounds,
        "memcpy_ns", r->memcpy_ns, "wisdom", file, "why_refused",
        r->refused[0] ? r->refused : NULL,
        "at", t->any ? cli_json_numbers(t->at, t->rq.rank) : NULL, "trials", list));
}

static const char *
verdict(const ravel_trial *t)
{
    return t->refused ? "refused by its proof" : t->winner && t->model
           ? "chosen by the model, kept" : t->winner ? "fastest, taken"
           : t->model ? "chosen by the model" : "";
}

static void
print_table(const Cli *c, const Tuning *t, const char *file)
{
    const ravel_tuning *r = &t->result;
    if (t->any)
        printf("at %s: ", cli_tuple(c->arena, t->at, t->rq.rank));
    printf("%lld bytes, %d thread%s; memcpy takes %.3f ms; all candidates are proven; "
           "medians of %d rounds\n", (long long)r->bytes, r->threads,
           r->threads == 1 ? "" : "s", r->memcpy_ns * 1e-6, r->rounds);
    printf("  %4s  %-12s %-36s %10s %8s   %s\n", "nest", "kernel", "order", "model ms",
           "x memcpy", "span");
    for (int i = 0; i < r->trials; i++) {
        const ravel_trial *one = &r->trial[i];
        printf("  %4d  %-12s %-36s %10.3f ", one->nest, one->kernel, one->order,
               one->predicted * 1e-6);
        if (one->refused)
            printf("%8s   %-12s ", "-", "");
        else
            printf("%8.2f   %.2f to %.2f ", one->memcpy, one->low, one->high);
        printf("%s\n", verdict(one));
    }
    if (r->refused[0])
        printf("this is a bug of ravel: %s\n", r->refused);
    if (file)
        printf("remembered in %s\n", file);
    else
        printf("not remembered: give --wisdom FILE\n");
}

static void
write_wisdom(Cli *c, const char *file)
{
    char *text;
    size_t len;
    ravel_error err;
    cli_check(c, ravel_wisdom_text(c->cx, &text, &len, &err), &err);
    const char *own = arena_copy(c->arena, text, len);
    free(text);
    cli_write(c, file, own, len);
}

/* The library's plan has an extent of its own for each name. */
static void
refuse_twins(Cli *c, const char *const *name, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i && name[i]; k++)
            if (name[k] && !strcmp(name[i], name[k]))
                cli_fail(c, "--shape '%s': tune needs a name of its own for each extent; "
                         "%s occurs twice", c->o.shape, name[i]);
}

/* --shape, and --at where it has names. */
static void
read_shape(Cli *c, Tuning *t)
{
    const char *name[MAX_RANK];
    ravel_request *rq = &t->rq;
    rq->shape = t->shape;
    cli_find_shape(c, rq->from, rq->to);
    rq->rank = cli_shape_names(c, t->shape, name, &t->any);
    if (t->any && !c->o.at)
        cli_fail(c, "--shape '%s' has names: --at gives the extents to measure at, as in "
                 "--at 8,64,56,56", c->o.shape);
    if (!t->any && c->o.at)
        cli_fail(c, "--at is for a --shape with names, as in N,64,H,W; '%s' has none",
                 c->o.shape);
    if (!t->any)
        return;
    refuse_twins(c, name, rq->rank);
    int n = cli_numbers(c, "--at", c->o.at, t->at, MAX_RANK);
    if (n != rq->rank)
        cli_fail(c, "--at '%s' has %d extents, --shape '%s' has %d", c->o.at, n,
                 c->o.shape, rq->rank);
}

static void
show_progress(void *arg, double part, double done)
{
    progress_at(arg, done, done / part, 0);
}

int
cmd_tune(Cli *c)
{
    ravel_error err;
    Tuning *t = arena_new(c->arena, Tuning);
    ravel_request *rq = &t->rq;
    const char *file = wisdom_file(c);
    double seconds = (double)cli_number(c, "--seconds", c->o.seconds, SECONDS, SECONDS_MAX);
    rq->dtype = c->o.dtype;
    rq->threads = cli_threads(c);
    rq->from = cli_layout_text(c, c->o.from);
    rq->to = cli_layout_text(c, c->o.to);
    read_shape(c, t);
    Progress progress = progress_begin("tuning", "measurements");
    ravel_status s = tune_watched(c->cx, rq, t->any ? t->at : NULL, seconds,
                                  (TuneWatch){show_progress, &progress}, &t->result, &err);
    progress_end(&progress);
    cli_check(c, s, &err);
    if (file)
        write_wisdom(c, file);
    if (c->o.json)
        print_json(t, file);
    else
        print_table(c, t, file);
    return t->result.refused[0] ? EXIT_NO : EXIT_YES;
}
