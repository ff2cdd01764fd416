/* jit_text.h: a text for the JIT with every kind of section and reference that the loader knows,
 * and the host's functions that it calls. */
#ifndef TEST_JIT_TEXT_H
#define TEST_JIT_TEXT_H

#include <stdint.h>
#include <string.h>

#include "../../runtime/jit.h"

static int told;

static void tell(int x)
{
    told += x;
}

static double weigh(double a, int64_t b, const char *s)
{
    return a * (double)b + (double)strlen(s);
}

static const JitSymbol HOST[] = {
    {.name = "tell", .fn = (void (*)(void))tell},
    {.name = "weigh", .fn = (void (*)(void))weigh},
    {.name = "memmove", .fn = (void (*)(void))memmove},
    {.name = "memset", .fn = (void (*)(void))memset},
    {.name = NULL},
};

static const char RICH[] =
    "typedef long long i64;\n"
    "extern void tell(int x);\n"
    "extern double weigh(double a, i64 b, const char *s);\n"
    "struct big { i64 v[40]; };\n"
    "static const int primes[6] = {2, 3, 5, 7, 11, 13};\n"
    "static const char *const names[] = {\"zero\", \"one\", \"twenty-two\"};\n"
    "static double scale = 2.5;\n"
    "int counter = 40;\n"
    "i64 room[1000];\n"
    "static int twice(int x) { return 2 * x; }\n"
    "int thrice(int x) { return 3 * x; }\n"
    "static int (*const table[2])(int) = {twice, thrice};\n"
    "void (*const teller)(int) = tell;\n"
    "int pick(int i, int x) { return table[i](x); }\n"
    "int prime(int i) { return primes[i]; }\n"
    "int letter(int i, int k) { return names[i][k]; }\n"
    "int count(void) { return ++counter; }\n"
    "i64 hoard(int i, i64 v) { room[i] += v; return room[i] + room[999 - i]; }\n"
    "double mix(int i) { return weigh(scale, 4, names[i]) + 0.125f; }\n"
    "void say(int x) { tell(x); teller(x); }\n"
    "void *whom(void) { return (void *)tell; }\n"
    "i64 copy(void) { struct big a = {{1, 2}}, b; b = a; return b.v[1]; }\n"
    "int choose(int x) {\n"
    "    switch (x) {\n"
    "    case 0: return 7; case 1: return 5; case 2: return 9; case 3: return 1;\n"
    "    case 4: return 8; case 5: return 2; case 1000: return 4;\n"
    "    default: return -1;\n"
    "    }\n"
    "}\n";

#endif
