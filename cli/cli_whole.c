/* A conversion in one go: in steps, between which progress is shown. */
#include "cli_whole.h"

#include "cli_progress.h"

enum { STEPS = 64 };               /* of a run: the threads share each */
static const size_t PIECE = (size_t)16 << 20;      /* of a file */

typedef struct {
    const ravel_plan *p;
    void *dst;
    const void *src;
    i64 at;
} WholePart;

static void
run_step(void *arg, int part, int parts)
{
    const WholePart *s = arg;
    plan_part(s->p, s->dst, s->src, s->at * parts + part, (i64)STEPS * parts);
}

void
cli_run_whole(const ravel_plan *p, void *dst, const void *src)
{
    Progress shown = progress_begin("converting", NULL);
    double bytes = (double)ravel_plan_src_bytes(p) + (double)ravel_plan_dst_bytes(p);
    WholePart s = {p, dst, src, 0};
    if (!shown.on || !p->plan->split || p->cx->log) {
        ravel_run(p, dst, src);
        return;
    }
    for (; s.at < STEPS; s.at++) {
        threads_share(&p->threads, run_step, &s);
        progress_at(&shown, (double)s.at + 1, STEPS, bytes);
    }
    progress_end(&shown);
}

typedef struct {
    const FilePart *part;
    int n;
    double bytes, done;            /* of all parts */
    Progress shown;
} Contents;

static int
write_part(Contents *w, const FilePart *part, int fd)
{
    int e = 0;
    for (size_t at = 0, n; at < part->len && e == 0; at += n) {
        n = part->len - at < PIECE ? part->len - at : PIECE;
        e = file_write_all(fd, (const char *)part->data + at, n);
        w->done += (double)n;
        progress_at(&w->shown, w->done, w->bytes, w->bytes);
    }
    return e;
}

static int
write_pieces(void *arg, int fd)
{
    Contents *w = arg;
    int e = 0;
    w->shown = progress_begin("writing", NULL);
    w->done = 0;
    for (int i = 0; i < w->n && e == 0; i++)
        e = write_part(w, &w->part[i], fd);
    progress_end(&w->shown);
    return e;
}

ravel_status
cli_write_whole(const char *path, const FilePart *part, int n, ravel_error *err)
{
    Contents w = {.part = part, .n = n};
    for (int i = 0; i < n; i++)
        w.bytes += (double)part[i].len;
    return file_write_by(path, write_pieces, &w, err);
}
