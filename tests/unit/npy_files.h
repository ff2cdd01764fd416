/* npy_files.h: a folder for files made by hand, and what an error says. */
#ifndef RAVEL_NPY_FILES_H
#define RAVEL_NPY_FILES_H

#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "npy.h"

static char dir[64];
static ravel_error err;

/* The path of `name` in the test's folder; good until the fourth next call. */
static inline const char *in_dir(const char *name)
{
    static char buf[4][128];
    static int k;
    k = (k + 1) % 4;
    snprintf(buf[k], sizeof buf[k], "%s/%s", dir, name);
    return buf[k];
}

/* Plain stdio, so that no code under test makes its own input. */
static inline const char *put(const char *name, const void *data, size_t len)
{
    const char *path = in_dir(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    return path;
}

static inline void assert_says(ravel_status s, ravel_status want, const char *part)
{
    assert_int_equal(s, want);
    assert_int_equal(err.status, want);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static int make_dir(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    if (!tmp || strlen(tmp) > 32)
        tmp = "/tmp";
    snprintf(dir, sizeof dir, "%s/test_npy.XXXXXX", tmp);
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char cmd[128];
    (void)state;
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", dir);
    return system(cmd);
}

#endif
