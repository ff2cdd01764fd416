/* The specs and the templates: expanded when the first of them is asked for, once in a process. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(Embedded *) known;  /* followed by the texts */

/* Sets out to the texts of p, which are put at `text`. */
static bool
unpack(const Packed *p, Embedded *out, char *text)
{
    enum { GZIP = 16 };
    z_stream s = {.next_in = (unsigned char *)(uintptr_t)p->data, .avail_in = (uInt)p->packed,
                  .next_out = (unsigned char *)text, .avail_out = (uInt)p->len};
    bool ok = inflateInit2(&s, MAX_WBITS + GZIP) == Z_OK;
    if (ok) {
        ok = inflate(&s, Z_FINISH) == Z_STREAM_END && s.avail_out == 0;
        inflateEnd(&s);
    }
    for (size_t i = 0; i < p->ntexts; i++)
        out[i] = (Embedded){p->text[i].name, text + p->text[i].at, p->text[i].len};
    return ok;
}

bool
embed_has_all(void)
{
    return embed_command.ntexts > 0;
}

/* The n texts at t, specs first: makes room for the end of the specs' list. */
static void
end_lists(Embedded *t, size_t n)
{
    size_t specs = 0;
    while (specs < n && !strncmp(t[specs].name, "specs/", 6))
        specs++;
    memmove(t + specs + 1, t + specs, (n - specs) * sizeof *t);
    t[specs] = t[n + 1] = (Embedded){0};
}

/* NULL: out of memory. */
static Embedded *
unpack_all(void)
{
    const Packed *one = &embed_packed, *more = &embed_command;
    const size_t n = one->ntexts + more->ntexts;
    Embedded *out = malloc((n + 2) * sizeof *out + one->len + more->len);
    char *text = (char *)(out + n + 2);
    bool ok = out && unpack(one, out, text) && unpack(more, out + one->ntexts, text + one->len);
    if (ok) {
        end_lists(out, n);
        return out;
    }
    free(out);
    return NULL;
}

const Embedded *
embed_specs(Diag *d)
{
    const Embedded *out = atomic_load(&known);
    if (out)
        return out;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&known))
        atomic_store(&known, unpack_all());
    out = atomic_load(&known);
    pthread_mutex_unlock(&lock);
    if (!out)
        diag_fatal(d, DIAG_MEMORY, (Loc){0}, "out of memory");
    return out;
}

const Embedded *
embed_templates(Diag *d)
{
    const Embedded *f = embed_specs(d);
    while (f->name)
        f++;
    return f + 1;
}

/* A library may be closed before the process ends. */
static void __attribute__((destructor))
forget(void)
{
    free(atomic_exchange(&known, NULL));
}
