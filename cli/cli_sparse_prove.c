/* emit --check of a sparse conversion: the compiled functions and the library convert drawn matrices,
 * some of them damaged.  The functions run in a child, on arrays that end where memory does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli_object.h"
#include "cli_sparse_draw.h"

enum { CHILD_SECONDS = 120, MOST_CASES = 32 };

typedef struct {
    Arena *arena;
    const SparsePlan *p;
    const char *path, *name[SPARSE_FUNCTIONS];
    SparseFunction *f[SPARSE_FUNCTIONS];
    SparseCase *at;
    int n;
    char *why;            /* shared with the child; empty: all is right */
} Prove;

enum { WHY = 512, NO_MEMORY = 1 };     /* why[0]: the child has no memory for arrays */

/* Memory that ends where no access is allowed, for `bytes` of elements of `each` bytes.  It is not 0, so
 * that what the code does not write is seen. */
static void *
guarded(i64 bytes, i64 each)
{
    i64 page = sysconf(_SC_PAGESIZE), whole = (bytes + each - 1) / each * each;
    i64 pages = int_ceil_div(whole + 1, page) * page;
    char *p = mmap(NULL, (size_t)(pages + page), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    memset(p, 0xa5, (size_t)pages);
    mprotect(p + pages, (size_t)page, PROT_NONE);
    return p + pages - whole;
}

/* ... for n elements of an array, with a copy of `from`, which nobody may write; NULL: there is none. */
static void *
guarded_array(const Prove *t, const ravel_sparse_array *a, i64 n, const void *from)
{
    i64 bytes = sparse_array_bytes(a, n), page = sysconf(_SC_PAGESIZE);
    char *p = guarded(bytes, a->bytes ? a->bytes : 1);
    if (!p) {
        t->why[0] = NO_MEMORY;
        _exit(0);
    }
    if (from) {
        i64 before = (i64)((uintptr_t)p % (uintptr_t)page);
        memcpy(p, from, (size_t)bytes);
        mprotect(p - before, (size_t)(before + bytes), PROT_READ);
    }
    return p;
}

/* The functions, one after the other; returns the flaw of the source that they find, or 0. */
static int
run_functions(const Prove *t, const SparseCase *x, void **out, int64_t *m)
{
    void *in[RAVEL_SPARSE_ARRAYS];
    const void *const *source = (const void *const *)in;
    int nout = t->p->dst->narray;
    for (int i = 0; i < x->from.n; i++)
        in[i] = guarded_array(t, &x->from.array[i], x->from.size[i], x->from.data[i]);
    t->f[0](NULL, source, x->from.size, NULL, m);
    void *work = m[0] < 0 ? NULL : guarded(m[0], 16);
    if (!work) {
        snprintf(t->why, WHY, "%s asks for %lld bytes", t->name[0], (long long)m[0]);
        return 0;
    }
    int flaw = t->f[1](work, source, x->from.size, NULL, m);
    if (flaw)
        return flaw;
    for (int i = 0; i < nout; i++)
        if (!x->to.why && m[i] != x->to.size[i]) {
            snprintf(t->why, WHY, "%s says that %s has %lld elements, not %lld", t->name[1],
                     x->to.array[i].name, (long long)m[i], (long long)x->to.size[i]);
            return 0;
        }
    for (int i = 0; i < nout; i++)
        out[i] = guarded_array(t, &x->to.array[i], m[i], NULL);
    const ravel_sparse_array byte = {.bytes = 1};
    out[nout] = t->p->dst->packed ? guarded_array(t, &byte, m[nout], NULL) : NULL;
    return t->f[2](work, source, x->from.size, out, m);
}

static void
check_case(const Prove *t, const SparseCase *x)
{
    void *out[RAVEL_SPARSE_ARRAYS + 1];
    int64_t m[RAVEL_SPARSE_ARRAYS + 1];
    int flaw = run_functions(t, x, out, m);
    const char *said = flaw ? sparse_flaw(t->arena, t->p, flaw, m[0], m[1], NULL) : NULL;
    bool same = said && x->to.why ? !strncmp(said, x->to.why, strlen(said)) : !said == !x->to.why;
    if (!t->why[0] && !same)
        snprintf(t->why, WHY, "a source is %s%.200s, and by the library %s%.200s",
                 said ? "refused: " : "accepted", said ? said : "",
                 x->to.why ? "refused: " : "accepted", x->to.why ? x->to.why : "");
    for (int i = 0; i < x->to.n && !t->why[0] && !flaw; i++) {
        const unsigned char *a = out[i], *b = x->to.data[i];
        i64 bytes = sparse_array_bytes(&x->to.array[i], x->to.size[i]), k = 0;
        while (k < bytes && a[k] == b[k])
            k++;
        if (k < bytes)
            snprintf(t->why, WHY, "%s differs from the library's result in byte %lld of %lld",
                     x->to.array[i].name, (long long)k, (long long)bytes);
    }
}

_Noreturn static void
run_child(Prove *t)
{
    const struct rlimit limit = {CHILD_SECONDS, CHILD_SECONDS}, none = {0, 0};
    setrlimit(RLIMIT_CPU, &limit);
    setrlimit(RLIMIT_CORE, &none);
    void *so = dlopen(t->path, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        snprintf(t->why, WHY, "%.500s", dlerror());
    for (int i = 0; i < SPARSE_FUNCTIONS && so; i++) {
        void *f = dlsym(so, t->name[i]);
        memcpy(&t->f[i], &f, sizeof f);
        if (!f)
            snprintf(t->why, WHY, "the object has no %s", t->name[i]);
    }
    for (int i = 0; i < t->n && !t->why[0]; i++)
        check_case(t, &t->at[i]);
    _exit(0);
}

static void
run_cases(Cli *c, Prove *t)
{
    int how = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        run_child(t);
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    if (pid < 0)
        cli_fail(c, "no process can be started: %s", strerror(errno));
    if (WIFSIGNALED(how))
        snprintf(t->why, WHY, "the code was ended: %s", strsignal(WTERMSIG(how)));
    else if (WEXITSTATUS(how))
        snprintf(t->why, WHY, "the code ended the process");
    if (t->why[0] == NO_MEMORY)
        cli_fail(c, "no memory for the arrays of a drawn source");
}

static void
print(Cli *c, const Prove *t, const char *compiler, i64 entries, int refused)
{
    FILE *f = strcmp(c->o.output, "-") ? stdout : stderr;
    const Request *rq = &t->p->rq->common;
    fprintf(f, "%s: %s -> %s of %s, %s, by %s", t->why[0] ? "no" : "yes",
            layout_ref_text(c->arena, t->p->src->ref), layout_ref_text(c->arena, t->p->dst->ref),
            cli_tuple(c->arena, rq->shape, rq->rank), rq->dtype, compiler);
    if (t->why[0])
        fprintf(f, "\n  %s\n", t->why);
    else
        fprintf(f, ": the library's results for %s, %lld entries; %d of them refused\n",
                cli_count(c->arena, t->n, "drawn source"), (long long)entries, refused);
}

bool
cli_prove_sparse(Cli *c, const Emitted *e, const char *compiler, const char *path)
{
    i64 entries = 0;
    int refused = 0;
    Prove t = {.arena = c->arena, .p = e->sparse, .path = path, .at = arena_array(c->arena, SparseCase, MOST_CASES)};
    for (int i = 0; i < SPARSE_FUNCTIONS; i++)
        t.name[i] = e[i].unit->name;
    t.n = sparse_draw(c, t.p, t.at, MOST_CASES);
    for (int i = 0; i < t.n; i++) {
        entries += t.at[i].entries;
        refused += t.at[i].to.why != NULL;
    }
    t.why = mmap(NULL, WHY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t.why == MAP_FAILED)
        cli_fail(c, "no memory for a page that is shared with a child");
    run_cases(c, &t);
    print(c, &t, compiler, entries, refused);
    bool right = !t.why[0];
    munmap(t.why, WHY);
    return right;
}
