/* Wisdom: the kernels and loop orders that a context has loaded or measured as
 * fastest. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

struct Wisdom {
    const Wisdom *older;
    Arena arena;
    Advices advices;
};

/* An extent left to run time is a letter: a for the first, whatever its name. */
static void
print_shape(Buf *b, const Plan *p)
{
    char letter[MAX_RANK] = {0}, next = 'a';
    for (int d = 0; d < p->src->rank; d++) {
        int i = p->given[d].scalar;
        buf_add(b, d ? "," : "");
        if (i < 0) {
            buf_printf(b, "%lld", (long long)p->given[d].n);
            continue;
        }
        if (!letter[i])
            letter[i] = next++;
        buf_printf(b, "%c", letter[i]);
    }
}

const char *
wisdom_key(Arena *a, const ravel_context *cx, const Plan *p, int threads)
{
    Buf b = buf_new(a);
    buf_printf(&b, "%s\t%s\t%d\t%s\t(", cx->cpu, cx->kernels->name, threads,
               p->src->dtype->name);
    print_shape(&b, p);
    buf_printf(&b, ")\t%s\t%s", layout_whole_text(a, p->src->ref),
               layout_whole_text(a, p->dst->ref));
    return b.s;
}

/* The newest entry for the key, or NULL.  It lives as long as the context. */
static const Advice *
find(const Wisdom *w, const char *key)
{
    const Advice *found = NULL;
    for (; w && !found; w = w->older)
        found = wisdom_among(w->advices, key);
    return found;
}

static bool
same_advice(const Advice *a, const Advice *b)
{
    if (!a || !b || a->n != b->n)
        return a == b;
    for (int i = 0; i < a->n; i++)
        if (a->pick[i].nest != b->pick[i].nest ||
            strcmp(a->pick[i].kernel, b->pick[i].kernel) ||
            strcmp(a->pick[i].order, b->pick[i].order))
            return false;
    return true;
}

void
wisdom_use(ravel_context *cx, const Wisdom *w, Plan *p, int threads, WisdomUsed *out)
{
    *out = (WisdomUsed){w, NULL, NULL};
    if (!w)
        return;
    out->key = wisdom_key(ex_arena(p->e), cx, p, threads);
    out->advice = find(w, out->key);
    for (int i = 0; out->advice && i < out->advice->n; i++)
        plan_pick(p, &out->advice->pick[i]);
}

bool
wisdom_current(WisdomUsed *t, const Wisdom *now)
{
    if (t->wisdom == now)
        return true;
    if (!t->key || !same_advice(find(now, t->key), t->advice))
        return false;
    t->wisdom = now;
    return true;
}

void
wisdom_free(const Wisdom *w)
{
    for (const Wisdom *older; w; w = older) {
        older = w->older;
        Arena a = w->arena;
        arena_free(&a);
        free((void *)w);
    }
}

/* Push the entries in a in front of the known ones; the context then owns a. */
static ravel_status
adopt(ravel_context *cx, Arena *a, Advices v, ravel_error *err)
{
    Wisdom *w = malloc(sizeof *w);
    if (!w) {
        arena_free(a);
        return error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    }
    *w = (Wisdom){cx->wisdom, *a, v};
    while (!atomic_compare_exchange_weak(&cx->wisdom, &w->older, w))
        ;
    return RAVEL_OK;
}

typedef struct {
    Arena arena;
    const char *text;
    size_t len;
    const Advice *one;
    const Wisdom *all;
    Advices out;
} Work;

/* What f makes of k is known from now on. */
static ravel_status
learn(ravel_context *cx, void (*f)(void *), Work *k, ravel_error *err)
{
    Diag d;
    if (arena_run(&k->arena, &d, f, k))
        return adopt(cx, &k->arena, k->out, err);
    arena_free(&k->arena);
    return error_of(err, &d);
}

static void
read_text(void *arg)
{
    Work *k = arg;
    k->out = wisdom_read(&k->arena, k->text, k->len);
}

ravel_status
ravel_wisdom_load(ravel_context *cx, const char *text, size_t len, ravel_error *err)
{
    if (!cx || !text)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_wisdom_load: a NULL argument");
    return learn(cx, read_text, &(Work){.text = text, .len = len}, err);
}

static void
keep_one(void *arg)
{
    Work *k = arg;
    Arena *a = &k->arena;
    Pick *pick = arena_copy(a, k->one->pick, (size_t)k->one->n * sizeof *pick);
    for (int i = 0; i < k->one->n; i++) {
        pick[i].kernel = arena_string(a, pick[i].kernel);
        pick[i].order = arena_string(a, pick[i].order);
    }
    Advice one = {arena_string(a, k->one->key), pick, k->one->n, 0};
    k->out = (Advices){arena_copy(a, &one, sizeof one), 1};
}

ravel_status
wisdom_learn(ravel_context *cx, const Advice *one, ravel_error *err)
{
    return learn(cx, keep_one, &(Work){.one = one}, err);
}

/* The entries that are not replaced by newer ones, sorted by key. */
static void
print_all(void *arg)
{
    Work *k = arg;
    i64 most = 0;
    int n = 0;
    for (const Wisdom *w = k->all; w; w = w->older)
        most += w->advices.n;
    Advice *v = arena_array(&k->arena, Advice, most);
    for (const Wisdom *w = k->all; w; w = w->older)
        for (int i = 0; i < w->advices.n; i++)
            if (find(k->all, w->advices.a[i].key) == &w->advices.a[i])
                v[n++] = w->advices.a[i];
    wisdom_sort(v, n);
    Buf b = buf_new(&k->arena);
    buf_add(&b, wisdom_head);
    for (int i = 0; i < n; i++)
        wisdom_print(&b, &v[i]);
    k->text = b.s;
    k->len = b.len;
}

ravel_status
ravel_wisdom_text(ravel_context *cx, char **text, size_t *len, ravel_error *err)
{
    Diag d;
    if (!cx || !text)
        return error_set(err, RAVEL_ERR_ARGUMENT, "ravel_wisdom_text: a NULL argument");
    *text = NULL;
    Work k = {.all = cx->wisdom};
    ravel_status s = RAVEL_OK;
    if (!arena_run(&k.arena, &d, print_all, &k))
        s = error_of(err, &d);
    else if (!(*text = malloc(k.len + 1)))
        s = error_set(err, RAVEL_ERR_MEMORY, "out of memory");
    else
        memcpy(*text, k.text, k.len + 1);
    if (len)
        *len = s == RAVEL_OK ? k.len : 0;
    arena_free(&k.arena);
    return s;
}
