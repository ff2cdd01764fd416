/* Which of the compiled instruction sets run on this machine. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "processor.h"

/* Not in the library for x86-64: NULL. */
extern const JitSymbol kernels_scalar[] __attribute__((weak));
extern const JitSymbol kernels_portable[] __attribute__((weak));
#ifdef __x86_64__
extern const JitSymbol kernels_sse2[], kernels_avx2[], kernels_avx512[],
    kernels_avx512vbmi[], kernels_avx512gather[];
#endif

const KernelSet kernel_sets[] = {
    {"scalar", kernels_scalar, false},     /* plain C */
    {"portable", kernels_portable, false}, /* the compiler's vectors of 16 bytes */
#ifdef __x86_64__
    {"sse2", kernels_sse2, false},
    {"avx2", kernels_avx2, false},
    {"avx512", kernels_avx512, false},
    {"avx512vbmi", kernels_avx512vbmi, true},
    {"avx512gather", kernels_avx512gather, true},
#endif
    {NULL, NULL, false},
};

const JitSymbol *
jit_symbol(const JitSymbol *list, const char *name)
{
    while (list && list->name && strcmp(list->name, name))
        list = list[1].name ? list + 1 : list[1].more;
    return list && list->name ? list : NULL;
}

static int
runs(const char *name)
{
#ifdef __x86_64__
    if (!strcmp(name, "avx2"))
        return __builtin_cpu_supports("avx2");
    if (!strcmp(name, "avx512"))
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (!strcmp(name, "avx512vbmi"))
        return runs("avx512") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("gfni");
    if (!strcmp(name, "avx512gather"))
        return runs("avx512vbmi");
#endif
    (void)name;
    return 1;
}

static bool
is_wanted(const KernelSet *s, const char *name)
{
    if (name && *name)
        return !strcmp(name, s->name);
    return strcmp(s->name, "avx512gather") != 0 || processor_gathers();
}

const KernelSet *
kernels_here(void)
{
    const char *wanted = getenv("RAVEL_ISA");
    const KernelSet *best = NULL;
    for (const KernelSet *s = kernel_sets; s->name; s++)
        if (s->symbols && runs(s->name) && is_wanted(s, wanted))
            best = s;
    return best;
}
