/* devices: the accelerators of the machine, and why others are unavailable. */
#include <stdio.h>

#include "cli.h"

static const char *const kinds[] = {[RAVEL_CUDA] = "cuda", [RAVEL_OPENCL] = "opencl"};

/* The name of a status in JSON. */
static const char *
word(ravel_status s)
{
    switch (s) {
    case RAVEL_ERR_LIBRARY: return "library";
    case RAVEL_ERR_SYMBOL: return "symbol";
    case RAVEL_ERR_DEVICE: return "device";
    case RAVEL_ERR_MEMORY: return "memory";
    default: return "driver";
    }
}

static void
absent(Cli *c, json_t *list, const char *what, ravel_status s, const ravel_error *err)
{
    if (c->o.json)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", what, "lacks",
                                              word(s), "why", err->text));
    else
        printf("%-7s -  %s\n", what, err->text);
}

static json_t *
device_json(const ravel_device_info *i)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:I, s:I, s:i, s:i}",
        "kind", kinds[i->kind], "ordinal", i->ordinal, "name", i->name,
        "version", i->version, "driver", i->driver, "memory", (json_int_t)i->memory,
        "shared", (json_int_t)i->shared, "block", i->block, "processors", i->processors);
}

static void
list_kind(Cli *c, ravel_device_kind kind, json_t *devices, json_t *lacking)
{
    enum { MOST = 256 };
    ravel_error err;
    int n;
    ravel_device_info *i = arena_array(c->arena, ravel_device_info, MOST);
    ravel_status s = ravel_device_list(kind, i, MOST, &n, &err);
    if (s)
        absent(c, lacking, kinds[kind], s, &err);
    for (int k = 0; k < n && k < MOST; k++)
        if (c->o.json)
            json_array_append_new(devices, device_json(&i[k]));
        else
            printf("%-7s %-2d %s, %s, driver %s, %lld MiB, %d processors\n", kinds[kind],
                   i[k].ordinal, i[k].name, i[k].version, i[k].driver,
                   (long long)(i[k].memory >> 20), i[k].processors);
}

/* CUDA's compiler; NULL where it is absent. */
static json_t *
list_compiler(Cli *c, json_t *lacking)
{
    NvrtcAbout v;
    ravel_error err;
    ravel_status s = nvrtc_about(&v, &err);
    if (s)
        absent(c, lacking, "nvrtc", s, &err);
    else if (!c->o.json)
        printf("%-7s    %d.%d, sm_%d to sm_%d\n", "nvrtc", v.major, v.minor, v.oldest,
               v.newest);
    else
        return json_pack("{s:s, s:s, s:s}",
            "version", arena_printf(c->arena, "%d.%d", v.major, v.minor),
            "oldest", arena_printf(c->arena, "sm_%d", v.oldest),
            "newest", arena_printf(c->arena, "sm_%d", v.newest));
    return NULL;
}

int
cmd_devices(Cli *c)
{
    json_t *devices = json_array(), *lacking = json_array();
    for (int k = 0; k < LEN(kinds); k++)
        list_kind(c, (ravel_device_kind)k, devices, lacking);
    json_t *nvrtc = list_compiler(c, lacking);
    json_t *all = json_pack("{s:o, s:o*, s:o}", "devices", devices, "nvrtc", nvrtc,
                            "absent", lacking);
    if (c->o.json)
        cli_print_json(all);
    else
        json_decref(all);
    return EXIT_YES;
}
