/* This machine's processor, for wisdom and for the cost model. */
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "processor.h"

/* Replaces runs of blanks and unprintable characters by one blank. */
static void
tidy(char *s)
{
    char *to = s;
    for (const char *from = s; *from; from++) {
        int blank = *from <= ' ' || *from > '~';
        if (!blank)
            *to++ = *from;
        else if (to > s && to[-1] != ' ')
            *to++ = ' ';
    }
    while (to > s && to[-1] == ' ')
        to--;
    *to = 0;
}

void
processor_brand(char name[CPU_NAME])
{
    memset(name, 0, CPU_NAME);
#ifdef __x86_64__
    unsigned r[12], most = 0, b, c, d;
    if (__get_cpuid(0x80000000, &most, &b, &c, &d) && most >= 0x80000004) {
        for (unsigned i = 0; i < 3; i++)
            __get_cpuid(0x80000002 + i, &r[4 * i], &r[4 * i + 1], &r[4 * i + 2],
                        &r[4 * i + 3]);
        memcpy(name, r, sizeof r);
    }
#endif
    tidy(name);
    if (!*name)
        strcpy(name, "unknown");
}

#ifdef __x86_64__
/* The vendor is the second word of leaf 0.  Families and models as AMD's "Processor
 * Programming Reference" and Intel's "Processor Identification" (SDM 2A, CPUID) count
 * them; those of Zen 4 as GCC's cpuinfo.h has them. */
static const struct {
    char vendor[5];
    unsigned family, least_model, most_model;
    const char *name;
} known[] = {
    {"Auth", 0x19, 0x00, 0x0f, "zen3"},            /* AMD EPYC 7003 */
    {"Auth", 0x19, 0x20, 0x5f, "zen3"},            /* Ryzen 5000, 6000 */
    {"Auth", 0x19, 0x10, 0x1f, "zen4"},            /* AMD EPYC 9004 */
    {"Auth", 0x19, 0x60, 0xaf, "zen4"},            /* Ryzen 7000, 8000; EPYC of Zen 4c */
    {"Auth", 0x1a, 0x00, 0xff, "zen4"},            /* Zen 5: not measured; the nearest */
    {"Genu", 0x06, 0x8f, 0x8f, "emerald-rapids"},  /* Sapphire Rapids: the same cores */
    {"Genu", 0x06, 0xcf, 0xcf, "emerald-rapids"},
    {"Genu", 0x06, 0xad, 0xae, "emerald-rapids"},  /* Granite Rapids: not measured */
};

static const char *
known_here(void)
{
    unsigned a = 0, b, c, d, most;
    if (!__get_cpuid(0, &most, &b, &c, &d) || most < 1)
        return NULL;
    char vendor[5] = {0};
    memcpy(vendor, &b, 4);
    __get_cpuid(1, &a, &b, &c, &d);
    unsigned family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
    unsigned model = (a >> 4 & 15) | (a >> 16 & 15) << 4;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(vendor, known[i].vendor) && family == known[i].family &&
            model >= known[i].least_model && model <= known[i].most_model)
            return known[i].name;
    return NULL;
}
#else
static const char *
known_here(void)
{
    return NULL;
}
#endif

/* Not by AVX512_FP16, which the first such processors have too: virtual machines hide it. */
bool
processor_gathers(void)
{
    const char *here = known_here();
    return here && !strcmp(here, "emerald-rapids");
}

const char *
processor_here(void)
{
    const char *wanted = getenv("RAVEL_PROCESSOR"), *here = known_here();
    return wanted && *wanted ? wanted : here ? here : "default";
}
