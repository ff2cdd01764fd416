/* Times every schedule of a relayout beside what the cost model predicts for it.
 *
 * Each line of the input is a case: DTYPE;SHAPE;FROM;TO.  Each line of the output is a
 * JSON object for one kernel and loop order of the case's largest nest: the terms of the
 * model and the measured time, both in nanoseconds on one thread.  bench/fit.py reads
 * them.  A case is left out if its largest nest has less than nine tenths of the
 * elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compiler/plan/plan_parts.h"
#include "../runtime/library.h"
#include "../runtime/measure.h"

enum { ROUNDS = 7, SAMPLE = 400000, MOST = MAX_CHOICES + 1, SLOW = 30 };

typedef struct {
    ravel_context *cx;
    ravel_request rq;
    int64_t shape[MAX_RANK];
    char *field[4];
} Case;

typedef struct {
    ravel_plan *plan;
    unsigned char *dst, *src;
    size_t bytes;
} Runner;

static int64_t
time_plan(void *runner, int64_t calls)
{
    const Runner *u = runner;
    int64_t start = measure_now();
    for (int64_t i = 0; i < calls; i++)
        if (u->plan)
            ravel_run(u->plan, u->dst, u->src);
        else
            memcpy(u->dst, u->src, u->bytes);
    return measure_now() - start;
}

static bool
read_case(char *line, Case *c)
{
    static const char ends[] = ";;;\n";
    for (int i = 0; i < 4; i++) {
        c->field[i] = line;
        line += strcspn(line, (char[]){ends[i], 0});
        if (!*line)
            return false;
        *line++ = 0;
    }
    c->rq = (ravel_request){.dtype = c->field[0], .from = c->field[2], .to = c->field[3],
                            .shape = c->shape, .threads = 1};
    for (char *at = c->field[1]; *at && c->rq.rank < MAX_RANK; at += strspn(at, ","))
        c->shape[c->rq.rank++] = strtoll(at, &at, 10);
    return true;
}

static void
print_choice(const Case *c, const Plan *p, const Nest *n, bool model, double ns,
             double copy)
{
    int bits = p->dst->dtype->bits;
    const Family *f = n->kernel->family;
    Runs r = f->by->runs ? f->by->runs(n, bits) : nest_runs(n, bits);
    printf("{\"case\": \"%s %s %s %s\", \"kernel\": \"%s\", \"order\": \"%s\", "
           "\"model\": %s, \"stream\": %d, \"bytes\": %.0f, \"elements\": %lld, "
           "\"work\": %.6g, \"read\": %.6g, \"written\": %.6g, \"apart\": %lld, "
           "\"predicted\": %.6g, \"ns\": %.6g, \"memcpy\": %.6g}\n",
           c->field[0], c->field[1], c->field[2], c->field[3], n->kernel->name, n->order,
           model ? "true" : "false", n->stream, (double)n->elements * bits / 8,
           (long long)n->elements, f->by->work(n, bits), r.read, r.written,
           (long long)r.apart, n->cost, ns, copy);
}

static void
time_choices(const Case *c, const Plan *p, const Nest *choice, const Runner *u, int n)
{
    double ns[MOST][ROUNDS];
    Measured m[MOST];
    for (int i = 0; i <= n; i++) {
        m[i] = (Measured){.time = time_plan, .arg = (void *)&u[i], .every = 1, .ns = ns[i]};
        measure_calls(&m[i], SAMPLE, i ? ns[0][0] : 0, i ? SLOW : 0);
        measure_rounds(&m[i], 1, 1, (Ready){0, 1});
    }
    measure_rounds(m, n + 1, ROUNDS, (Ready){0, 1});
    for (int i = 1; i <= n; i++)
        if (u[i].plan)
            print_choice(c, p, &choice[i - 1], i == 1, measure_spread(ns[i], ROUNDS).median,
                         measure_spread(ns[0], ROUNDS).median);
}

/* Exits with status 1 unless all schedules write the same bytes. */
static void
check_choices(const Case *c, const Nest *choice, const Runner *u, int n, size_t bytes)
{
    unsigned char *want = measure_map(bytes);
    for (int i = 1; i <= n; i++) {
        memset(u->dst, 0, bytes);
        if (!u[i].plan)
            continue;
        ravel_run(u[i].plan, i == 1 ? want : u->dst, u->src);
        if (i > 1 && memcmp(want, u->dst, bytes)) {
            fprintf(stderr, "%s to %s by %s, %s: wrong bytes\n", c->rq.from, c->rq.to,
                    choice[i - 1].kernel->name, choice[i - 1].order);
            exit(1);
        }
    }
    measure_unmap(want, bytes);
}

/* All schedules of the nest, each compiled; the first is the model's. */
static void
run_choices(const Case *c, const ravel_plan *model, int nest)
{
    ravel_error err;
    Arena a = context_arena(c->cx);
    const Plan *p = model->plan;
    Nest *choice = arena_array(&a, Nest, MAX_CHOICES);
    int n = nest_choices(p, p->nest[nest], choice);
    size_t src = (size_t)ravel_plan_src_bytes(model);
    size_t dst = (size_t)ravel_plan_dst_bytes(model), bytes = src > dst ? src : dst;
    Runner u[MOST] = {{NULL, measure_map(bytes), measure_map(bytes), dst < src ? dst : src}};
    for (size_t i = 0; i < bytes; i++)
        u[0].src[i] = (unsigned char)(i * 2654435761u >> 13);
    for (int i = 1; i <= n; i++) {
        Pick pick = {nest, choice[i - 1].kernel->name, choice[i - 1].order};
        u[i] = u[0];
        if (plan_picked(c->cx, &c->rq, &pick, 1, &u[i].plan, &err) != RAVEL_OK)
            fprintf(stderr, "%s, %s: %s\n", pick.kernel, pick.order, err.text);
    }
    check_choices(c, choice, u, n, dst);
    time_choices(c, p, choice, u, n);
    for (int i = 1; i <= n; i++)
        ravel_plan_free(u[i].plan);
    measure_unmap(u[0].dst, bytes);
    measure_unmap(u[0].src, bytes);
    arena_free(&a);
}

static void
run_case(const Case *c)
{
    ravel_error err;
    ravel_plan *model;
    int nest[MAX_WEIGHTY];
    if (plan_picked(c->cx, &c->rq, NULL, 0, &model, &err) != RAVEL_OK) {
        fprintf(stderr, "%s to %s: %s\n", c->rq.from, c->rq.to, err.text);
        return;
    }
    i64 all = 0;
    for (int i = 0; i < model->plan->n; i++)
        all += model->plan->nest[i]->elements;
    if (plan_weighty(model->plan, NULL, nest) &&
        model->plan->nest[nest[0]]->elements >= all / 10 * 9)
        run_choices(c, model, nest[0]);
    ravel_plan_free(model);
}

int
main(void)
{
    Case c = {0};
    ravel_error err;
    char line[4096];
    if (ravel_context_new(&c.cx, &err) != RAVEL_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        c.rq.rank = 0;
        if (read_case(line, &c))
            run_case(&c);
        fflush(stdout);
    }
    ravel_context_free(c.cx);
    return 0;
}
