/* Times plans with run-time extents beside the plan of the same shape in numbers.
 *
 * Each line of the input is a case: DTYPE;SHAPE;FROM;TO;OPEN, where OPEN has 1 for each extent
 * left to run time, else 0.  Each line of the output is a JSON object: nanoseconds of a run on
 * one thread by memcpy, by the plan in numbers, by the plan with run-time extents as it is,
 * and by that plan once it is specialised for the shape.  bench/extents.py reads them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../runtime/measure.h"
#include "../runtime/ravel.h"

enum { ROUNDS = 7, SAMPLE = 400000, SLOW = 30 };
enum { COPY, FIXED, OPEN, SPECIAL, WAYS };
static const char *const way_name[WAYS] = {"memcpy", "fixed", "open", "special"};

typedef struct {
    ravel_request rq;
    int64_t shape[RAVEL_MAX_RANK], open[RAVEL_MAX_RANK];
    char *field[5];
} Case;

typedef struct {
    const ravel_plan *plan;        /* NULL: memcpy */
    const int64_t *shape;          /* NULL: a plan in numbers */
    unsigned char *dst, *src;
    size_t bytes;
} Runner;

static int64_t
time_way(void *runner, int64_t calls)
{
    const Runner *u = runner;
    int64_t start = measure_now();
    for (int64_t i = 0; i < calls; i++)
        if (!u->plan)
            memcpy(u->dst, u->src, u->bytes);
        else if (u->shape)
            ravel_run_shape(u->plan, u->dst, u->src, u->shape, NULL);
        else
            ravel_run(u->plan, u->dst, u->src);
    return measure_now() - start;
}

static bool
read_case(char *line, Case *c)
{
    static const char ends[] = ";;;;\n";
    int rank = 0;
    for (int i = 0; i < 5; i++) {
        c->field[i] = line;
        line += strcspn(line, (char[]){ends[i], 0});
        if (!*line)
            return false;
        *line++ = 0;
    }
    for (char *at = c->field[1], *is = c->field[4]; *at && rank < RAVEL_MAX_RANK; rank++) {
        c->shape[rank] = strtoll(at, &at, 10);
        c->open[rank] = strtoll(is, &is, 10) ? RAVEL_RUNTIME : c->shape[rank];
        at += strspn(at, ",");
        is += strspn(is, ",");
    }
    c->rq = (ravel_request){.dtype = c->field[0], .from = c->field[2], .to = c->field[3],
                            .shape = c->shape, .rank = rank, .threads = 1};
    return true;
}

/* Exits with status 1 unless all plans write the same bytes. */
static void
check_ways(const Case *c, const Runner *u, size_t bytes)
{
    unsigned char *want = measure_map(bytes);
    for (int i = FIXED; i < WAYS; i++) {
        Runner one = u[i];
        one.dst = i == FIXED ? want : u->dst;
        memset(one.dst, 0, bytes);
        time_way(&one, 1);
        if (i != FIXED && memcmp(want, u->dst, bytes)) {
            fprintf(stderr, "%s to %s: wrong bytes\n", c->rq.from, c->rq.to);
            exit(1);
        }
    }
    measure_unmap(want, bytes);
}

static void
time_case(const Case *c, Runner *u)
{
    double ns[WAYS][ROUNDS];
    Measured m[WAYS];
    for (int i = 0; i < WAYS; i++) {
        m[i] = (Measured){.time = time_way, .arg = &u[i], .every = 1, .ns = ns[i]};
        measure_calls(&m[i], SAMPLE, i ? ns[0][0] : 0, i ? SLOW : 0);
        measure_rounds(&m[i], 1, 1, (Ready){0, 1});
    }
    measure_rounds(m, WAYS, ROUNDS, (Ready){0, 1});
    printf("{\"case\": \"%s %s %s %s\"", c->field[0], c->field[1], c->field[2], c->field[3]);
    for (int i = 0; i < WAYS; i++)
        printf(", \"%s\": %.6g", way_name[i], measure_spread(ns[i], ROUNDS).median);
    printf("}\n");
}

/* cx[0] has no cache, so its plans are not specialised. */
static void
run_case(ravel_context *const cx[2], Case *c)
{
    ravel_error err;
    ravel_plan *plan[WAYS] = {NULL};
    ravel_request open = c->rq;
    open.shape = c->open;
    if (ravel_compile(cx[0], &c->rq, &plan[FIXED], &err) != RAVEL_OK ||
        ravel_compile(cx[0], &open, &plan[OPEN], &err) != RAVEL_OK ||
        ravel_compile(cx[1], &open, &plan[SPECIAL], &err) != RAVEL_OK) {
        fprintf(stderr, "%s to %s: %s\n", c->rq.from, c->rq.to, err.text);
    } else {
        size_t src = (size_t)ravel_plan_src_bytes(plan[FIXED]);
        size_t dst = (size_t)ravel_plan_dst_bytes(plan[FIXED]), most = src > dst ? src : dst;
        Runner u[WAYS];
        unsigned char *to = measure_map(most), *from = measure_map(most);
        for (size_t i = 0; i < most; i++)
            from[i] = (unsigned char)(i * 2654435761u >> 13);
        for (int i = 0; i < WAYS; i++)
            u[i] = (Runner){plan[i], i == FIXED ? NULL : c->shape, to, from,
                            src < dst ? src : dst};
        time_way(&u[SPECIAL], (int64_t)((64u << 20) / (u->bytes + 1)) + 1);
        check_ways(c, u, dst);
        time_case(c, u);
        measure_unmap(to, most);
        measure_unmap(from, most);
    }
    for (int i = 0; i < WAYS; i++)
        ravel_plan_free(plan[i]);
}

int
main(void)
{
    Case c;
    ravel_error err;
    ravel_context *cx[2] = {NULL, NULL};
    char line[4096];
    if (ravel_context_new(&cx[0], &err) != RAVEL_OK ||
        ravel_context_new(&cx[1], &err) != RAVEL_OK ||
        ravel_set_cache(cx[0], 0, 0, &err) != RAVEL_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        if (read_case(line, &c))
            run_case(cx, &c);
        fflush(stdout);
    }
    ravel_context_free(cx[0]);
    ravel_context_free(cx[1]);
    return 0;
}
