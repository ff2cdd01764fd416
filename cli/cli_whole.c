/* A conversion in one go: in steps, between which progress is shown. */
#include "cli_whole.h"

#include "../runtime/file_new.h"
#include "../runtime/library.h"
#include "cli_progress.h"

enum { STEPS = 64 };               /* of a run: the threads share each */
static const size_t PIECE = (size_t)16 << 20;      /* of a file */

typedef struct {
    const ravel_plan *p;
    void *dst;
    const void *src;
    i64 at;
} Step;

static void
run_step(void *arg, int part, int parts)
{
    const Step *s = arg;
    plan_part(s->p, s->dst, s->src, s->at * parts + part, (i64)STEPS * parts);
}

void
cli_run_whole(const ravel_plan *p, void *dst, const void *src)
{
    Progress shown = progress_begin("converting", NULL);
    double bytes = (double)ravel_plan_src_bytes(p) + (double)ravel_plan_dst_bytes(p);
    Step s = {p, dst, src, 0};
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
    FilePart head, data;
} Contents;

static int
write_pieces(void *arg, int fd)
{
    const Contents *w = arg;
    Progress shown = progress_begin("writing", NULL);
    int e = file_write_all(fd, w->head.data, w->head.len);
    for (size_t at = 0, n; at < w->data.len && e == 0; at += n) {
        n = w->data.len - at < PIECE ? w->data.len - at : PIECE;
        e = file_write_all(fd, (const char *)w->data.data + at, n);
        progress_at(&shown, (double)(at + n), (double)w->data.len, (double)w->data.len);
    }
    progress_end(&shown);
    return e;
}

ravel_status
cli_write_whole(const char *path, FilePart head, FilePart data, ravel_error *err)
{
    return file_write_by(path, write_pieces, &(Contents){head, data}, err);
}
