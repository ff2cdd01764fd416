/* The cache of a device's compiled sources.  It has few entries, so it is a list, the
 * most recently used first. */
#include <stdlib.h>
#include <string.h>

#include "device.h"

enum { MODULES = 64, BYTES = 64 << 20 };

void
device_cache_init(ravel_device *d)
{
    d->most = MODULES;
    d->most_bytes = BYTES;
}

/* FNV-1a. */
static uint64_t
hash_text(uint64_t h, const char *s)
{
    do
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    while (*s++);
    return h;
}

uint64_t
device_hash(const char *source, const char *options)
{
    return hash_text(hash_text(14695981039346656037u, source), options);
}

static DeviceModule **
find(ravel_device *d, uint64_t hash, const char *source, const char *options)
{
    DeviceModule **at = &d->newest;
    while (*at && ((*at)->hash != hash || strcmp((*at)->source, source) ||
                   strcmp((*at)->options, options)))
        at = &(*at)->next;
    return at;
}

static void
link_newest(ravel_device *d, DeviceModule *m)
{
    m->next = d->newest;
    d->newest = m;
}

/* Move the module at `at` to the front and count one more user; NULL if there is none. */
static DeviceModule *
use(ravel_device *d, DeviceModule **at)
{
    DeviceModule *m = *at;
    if (m) {
        *at = m->next;
        link_newest(d, m);
        m->users++;
    }
    return m;
}

/* Remove from the cache; if it has no user, add it to the list of modules to unload. */
static void
drop(ravel_device *d, DeviceModule **at, DeviceModule **gone)
{
    DeviceModule *m = *at;
    *at = m->next;
    d->n--;
    d->bytes -= m->bytes;
    if (--m->users == 0) {
        m->next = *gone;
        *gone = m;
    }
}

static void
shrink(ravel_device *d, int64_t modules, int64_t bytes, DeviceModule **gone)
{
    while (d->n > modules || d->bytes > bytes) {
        DeviceModule **last = &d->newest;
        while ((*last)->next)
            last = &(*last)->next;
        drop(d, last, gone);
    }
}

static void
let_go(ravel_device *d, DeviceModule *gone)
{
    for (DeviceModule *next; gone; gone = next) {
        next = gone->next;
        if (gone->code)
            d->kind->unload(d, gone);
        free(gone->source);
        free(gone->options);
        free(gone);
    }
}

DeviceModule *
device_cache_find(ravel_device *d, const char *source, const char *options)
{
    uint64_t hash = device_hash(source, options);
    pthread_mutex_lock(&d->lock);
    DeviceModule *m = use(d, find(d, hash, source, options));
    pthread_mutex_unlock(&d->lock);
    return m;
}

DeviceModule *
device_cache_add(ravel_device *d, DeviceModule *m)
{
    DeviceModule *gone = NULL;
    m->hash = device_hash(m->source, m->options);
    pthread_mutex_lock(&d->lock);
    DeviceModule *same = use(d, find(d, m->hash, m->source, m->options));
    if (same) {
        m->next = NULL;
        gone = m;
    } else if (d->most > 0 && m->bytes <= d->most_bytes) {
        shrink(d, d->most - 1, d->most_bytes - m->bytes, &gone);
        link_newest(d, m);
        m->users++;
        d->n++;
        d->bytes += m->bytes;
    }
    pthread_mutex_unlock(&d->lock);
    let_go(d, gone);
    return same ? same : m;
}

void
device_cache_leave(ravel_device *d, DeviceModule *m)
{
    pthread_mutex_lock(&d->lock);
    bool last = --m->users == 0;
    pthread_mutex_unlock(&d->lock);
    if (last) {
        m->next = NULL;
        let_go(d, m);
    }
}

void
device_cache_bound(ravel_device *d, int64_t modules, int64_t bytes)
{
    DeviceModule *gone = NULL;
    pthread_mutex_lock(&d->lock);
    d->most = modules;
    d->most_bytes = bytes;
    shrink(d, modules, bytes, &gone);
    pthread_mutex_unlock(&d->lock);
    let_go(d, gone);
}
