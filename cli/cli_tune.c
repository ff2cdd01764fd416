/* tune, and reading the wisdom file for other commands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../runtime/file.h"
#include "cli.h"

enum { SECONDS = 2, SECONDS_MAX = 3600 };

const char *
cli_wisdom_file(const Cli *c)
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
    const char *file = cli_wisdom_file(c);
    unsigned char *text;
    size_t len;
    ravel_error err;
    if (!file || may_lack(c, file))
        return;
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

static void
print_json(const ravel_tuning *r, const char *file)
{
    json_t *list = json_array();
    for (int i = 0; i < r->trials; i++)
        json_array_append_new(list, trial_json(&r->trial[i]));
    cli_print_json(json_pack("{s:I, s:i, s:i, s:f, s:s*, s:s*, s:o}",
        "bytes", (json_int_t)r->bytes, "threads", r->threads, "rounds", r->rounds,
        "memcpy_ns", r->memcpy_ns, "wisdom", file, "why_refused",
        r->refused[0] ? r->refused : NULL, "trials", list));
}

static const char *
verdict(const ravel_trial *t)
{
    return t->refused ? "refused by its proof" : t->winner && t->model
           ? "chosen by the model, kept" : t->winner ? "fastest, taken"
           : t->model ? "chosen by the model" : "";
}

static void
print_table(const ravel_tuning *r, const char *file)
{
    printf("%lld bytes, %d thread%s; memcpy takes %.3f ms; all candidates are proven; "
           "medians of %d rounds\n", (long long)r->bytes, r->threads,
           r->threads == 1 ? "" : "s", r->memcpy_ns * 1e-6, r->rounds);
    printf("  %4s  %-12s %-36s %10s %8s   %s\n", "nest", "kernel", "order", "model ms",
           "x memcpy", "span");
    for (int i = 0; i < r->trials; i++) {
        const ravel_trial *t = &r->trial[i];
        printf("  %4d  %-12s %-36s %10.3f ", t->nest, t->kernel, t->order,
               t->predicted * 1e-6);
        if (t->refused)
            printf("%8s   %-12s ", "-", "");
        else
            printf("%8.2f   %.2f to %.2f ", t->memcpy, t->low, t->high);
        printf("%s\n", verdict(t));
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
    FilePart part = {text, len};
    ravel_status s = file_write(file, &part, 1, &err);
    free(text);
    cli_check(c, s, &err);
}

int
cmd_tune(Cli *c)
{
    i64 shape[MAX_RANK];
    ravel_error err;
    ravel_tuning *r = arena_new(c->arena, ravel_tuning);
    const char *file = cli_wisdom_file(c);
    ravel_request rq = {.dtype = c->o.dtype, .shape = shape};
    double seconds = (double)cli_number(c, "--seconds", c->o.seconds, SECONDS, SECONDS_MAX);
    rq.threads = cli_threads(c);
    rq.from = cli_layout_text(c, c->o.from);
    rq.to = cli_layout_text(c, c->o.to);
    rq.rank = cli_numbers(c, "--shape", c->o.shape, shape, MAX_RANK);
    cli_check(c, ravel_tune(c->cx, &rq, seconds, r, &err), &err);
    if (file)
        write_wisdom(c, file);
    if (c->o.json)
        print_json(r, file);
    else
        print_table(r, file);
    return r->refused[0] ? EXIT_NO : EXIT_YES;
}
