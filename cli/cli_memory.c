/* The memory of this machine, and of --mem. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static i64
physical(void)
{
    i64 pages = (i64)sysconf(_SC_PHYS_PAGES), page = (i64)sysconf(_SC_PAGESIZE), all;
    return pages > 0 && page > 0 && int_mul(pages, page, &all) ? all : INF;
}

/* The number after `key` in a file, times `unit`; INF: there is none. */
static i64
number_in(const char *path, const char *key, i64 unit)
{
    char line[256];
    i64 v = INF;
    FILE *f = fopen(path, "re");
    size_t n = strlen(key);
    while (f && v == INF && fgets(line, sizeof line, f))
        if (!strncmp(line, key, n) && isdigit((unsigned char)line[n + strspn(line + n, " ")]) &&
            !int_mul(strtoll(line + n, NULL, 10), unit, &v))
            v = INF;
    if (f)
        fclose(f);
    return v;
}

/* The files of a control group's memory: of version 2, which names no controllers, and of
 * version 1, whose controllers have a folder each. */
static const struct {
    const char *controller, *folder, *most, *used, *cached;
} versions[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"},
};
enum { PATH = 512 };

/* Whether the word is one of those between commas. */
static bool
lists(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (;; words++) {
        size_t len = strcspn(words, ",");
        if (len == n && !memcmp(words, word, n))
            return true;
        if (!*(words += len))
            return false;
    }
}

/* The group of this process, as "/a/b"; "": none is known.  Lines are as
 * "3:cpuset,memory:/a/b" (cgroups(7)). */
static void
find_group(const char *controller, char *path)
{
    char s[PATH];
    FILE *f = fopen("/proc/self/cgroup", "re");
    *path = 0;
    while (f && !*path && fgets(s, sizeof s, f)) {
        char *of = strchr(s, ':'), *group = of ? strchr(++of, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        if (lists(of, controller))
            snprintf(path, PATH, "%.*s", (int)strcspn(group, "\n"), group);
    }
    if (f)
        fclose(f);
}

/* What a group may still allocate; INF: it has no limit. */
static i64
left_in(int version, const char *group)
{
    char path[3][2 * PATH];
    const char *const file[] = {versions[version].most, versions[version].used, "memory.stat"};
    for (int i = 0; i < LEN(file); i++)
        snprintf(path[i], sizeof path[i], "%s%s/%s", versions[version].folder, group, file[i]);
    i64 most = number_in(path[0], "", 1), used = number_in(path[1], "", 1);
    i64 cached = number_in(path[2], versions[version].cached, 1);
    if (most == INF || used == INF)
        return INF;
    used -= cached < used ? cached : 0;            /* the kernel gives it back */
    return used < most ? most - used : 0;
}

/* What can be allocated without swapping, by this machine, the group of this process, those
 * around it, and its container, which sees its own group as the outermost. */
static i64
available(void)
{
    i64 least = number_in("/proc/meminfo", "MemAvailable:", 1024);
    least = least == INF ? physical() : least;
    for (int v = 0; v < LEN(versions); v++) {
        char group[PATH];
        find_group(versions[v].controller, group);
        for (char *end = group + strlen(group);; *end = 0) {
            i64 left = left_in(v, group);
            least = left < least ? left : least;
            if (!(end = strrchr(group, '/')))
                break;
        }
    }
    return least;
}

i64
cli_memory(Cli *c)
{
    static const char units[] = "KMGT";
    const char *s = c->o.mem, *unit;
    char *end;
    i64 v;
    if (!s)
        return available() / 2;
    errno = 0;
    v = strtoll(s, &end, 10);
    unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (!isdigit((unsigned char)*s) || errno || v < 1 || (*end && (!unit || end[1])) ||
        (unit && !int_mul(v, (i64)1 << 10 * (unit - units + 1), &v)))
        cli_fail(c, "--mem '%.30s': a number of bytes, or one with K, M, G or T, as in "
                 "--mem 512M", s);
    return v;
}

void
cli_need_memory(Cli *c, i64 bytes, const char *what)
{
    i64 free_bytes = available();
    if (bytes > free_bytes)
        diag_fatal(c->arena->diag, DIAG_MEMORY, (Loc){0}, "%s of %lld bytes does not fit this "
                   "machine's memory (%lld bytes are free)", what, (long long)bytes,
                   (long long)free_bytes);
}

void
cli_no_memory(Cli *c, i64 bytes, const char *what)
{
    diag_fatal(c->arena->diag, DIAG_MEMORY, (Loc){0}, "no memory for %s of %lld bytes", what,
               (long long)bytes);
}

const char *
cli_memory_way(const char *command)
{
    static const char *const way[][2] = {
        {"convert", "between layouts without index arrays a smaller --mem makes smaller "
                    "blocks, and a part of a tensor, as 'LAYOUT[0:8]', takes less; of "
                    "sparse formats one with fewer places for the fill takes less, as CSR"},
        {"verify", "a smaller --shape takes less, as does one with a name for an extent, "
                   "as in N,64,56,56"},
        {"bench", "a smaller --shape takes less"}, {"tune", "a smaller --shape takes less"},
        {"table", "a smaller --shape takes less"}, {"check", "a smaller --shape takes less"},
        {"show", "a smaller --shape takes less"}, {"explain", "a smaller --shape takes less"},
        {"emit", "--check takes less with a name for an extent in --shape, as in N,64,56,56"},
    };
    for (int i = 0; i < LEN(way); i++)
        if (!strcmp(way[i][0], command))
            return way[i][1];
    return NULL;
}
