/* Statements and names. */
#include <ctype.h>
#include <string.h>

#include "emit.h"

Stmt *
emit_add(Arena *a, Stmt ***tail, StKind kind)
{
    Stmt *s = arena_new(a, Stmt);
    s->kind = kind;
    **tail = s;
    *tail = &s->next;
    return s;
}

/* Words that a function's name cannot be in C, C++ and their kin, and emitted code's own;
 * targets have more (`reserved`). */
static const char keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char "
    "class compl const constexpr continue decltype default delete do double dst "
    "else enum explicit export extern false float for friend global goto half if "
    "inline int kernel linux local long main mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq out private protected public register "
    "restrict return short signed sizeof src static struct switch template this "
    "throw true try typedef typeid typename typeof uchar uint ulong union unix "
    "unsigned ushort using virtual void volatile while xor xor_eq const_cast "
    "dynamic_cast static_cast reinterpret_cast static_assert thread_local wchar_t ";

/* Functions of the C library, which compilers know by heart (C11 7). */
static const char library[] =
    " abort abs alloca asctime assert atexit atof atoi atol atoll bcmp bcopy bsearch "
    "bzero calloc clearerr clock ctime difftime div errno exit fclose feof ferror "
    "fflush ffs ffsl ffsll fgetc fgetpos fgets fopen fprintf fputc fputs fread free "
    "freopen fscanf fseek fsetpos ftell fwrite getc getchar getenv gets gmtime index "
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace "
    "isupper isxdigit labs ldiv llabs lldiv localeconv localtime longjmp malloc mblen "
    "mbtowc mktime perror printf putc putchar puts qsort raise rand realloc remove "
    "rename rewind rindex scanf setbuf setjmp setlocale setvbuf signal snprintf "
    "sprintf srand sscanf system time tmpfile tmpnam tolower toupper ungetc vfprintf "
    "vprintf vsnprintf vsprintf wcstombs wctomb ";

/* Those of <math.h> and <complex.h>, which are there for other types too. */
static const char typed[] =
    " acos acosh asin asinh atan atan2 atanh cabs cacos cacosh carg casin casinh catan "
    "catanh cbrt ccos ccosh ceil cexp cimag clog conj copysign cos cosh cpow cproj "
    "creal csin csinh csqrt ctan ctanh erf erfc exp exp2 expm1 fabs fdim floor fma "
    "fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log "
    "log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow "
    "remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc "
    "y0 y1 yn ";

static bool
is_word_of(const char *list, const char *s)
{
    size_t n = strlen(s);
    for (const char *at = strstr(list, s); at; at = strstr(at + 1, s))
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}

/* Of <math.h> sin, and as sinf and sinl for other types (C11 7.31.1). */
static bool
is_of_library(const char *s)
{
    char stem[16];
    size_t n = strlen(s);
    if (is_word_of(library, s) || is_word_of(typed, s))
        return true;
    if (n < 2 || n > sizeof stem || !strchr("fl", s[n - 1]))
        return false;
    memcpy(stem, s, n - 1);
    stem[n - 1] = 0;
    return is_word_of(typed, stem);
}

/* What the standard keeps for headers to come (C11 7.31), and what is ours. */
static bool
is_reserved(const char *s)
{
    static const char *const prefixes[] = {"_", "ravel_", "RAVEL_", "mem", "str", "wcs",
                                           "INT", "UINT", "SIZE_", "PTRDIFF_", "WCHAR_",
                                           "WINT_", "SIG_", "NULL"};
    size_t n = strlen(s);
    for (int i = 0; i < LEN(prefixes); i++)
        if (!strncmp(s, prefixes[i], strlen(prefixes[i])))
            return true;
    return n > 1 && !strcmp(s + n - 2, "_t");
}

bool
emit_is_identifier(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_");
    return n > 0 && n < 128 && !s[n] && !isdigit((unsigned char)*s) && !is_reserved(s) &&
           !is_word_of(keywords, s) && !is_of_library(s);
}

/* A letter, perhaps with digits: no keyword, no macro. */
static bool
is_safe(const char *s)
{
    size_t n = strspn(s + 1, "0123456789");
    return isalpha((unsigned char)*s) && s[1 + n] == 0 && strcmp(s, "a");
}

const char *
emit_identifier(Arena *a, const char *wish, const char *const *taken, int n)
{
    char *s = arena_string(a, wish);
    for (char *c = s; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!isalpha((unsigned char)*s) || is_reserved(s))
        s = arena_printf(a, "x%s", s);
    if (!is_safe(s))
        s = arena_printf(a, "%s_", s);        /* as no keyword or macro ends */
    if (!strncmp(s, "gl_", 3))
        s = arena_printf(a, "x%s", s);        /* GLSL's own names begin so */
    for (int i = 0; i < n; i++)
        if (!strcmp(taken[i], s)) {
            s = arena_printf(a, "%s_", s);
            i = -1;
        }
    return s;
}

void
emit_layout_head(Buf *b, const char *what, const Layout *l)
{
    const LayoutDef *d = l->ref->def;
    buf_printf(b, "%s %s: ", what, d->name);
    ex_print(b, l->addr, l->e, &spell_lua);
    buf_printf(b, "\n");
    for (size_t i = 0; i < strlen(what) + 1; i++)
        buf_add(b, " ");
    buf_printf(b, "%s, ", l->dtype->name);
    for (int i = 0; i < l->rank; i++)
        buf_printf(b, "%s=%lld ", l->dim[i].name, (long long)l->dim[i].n);
    buf_printf(b, "in %lld elements, %lld bytes\n", (long long)l->size,
               (long long)layout_bytes(l));
}
