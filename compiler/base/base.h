/* base.h: services for all passes: checked integers, arenas, text buffers, the limit of
 * work, and the error path. */
#ifndef RAVEL_BASE_H
#define RAVEL_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t i64;

#define LEN(a) ((int)(sizeof (a) / sizeof (a)[0]))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* A place in a spec; file is NULL if there is none. */
typedef struct {
    const char *file;
    int line;
} Loc;

/* diag.c: the error path.  A pass that meets a wrong input calls diag_fatal,
 * which fills the Diag and jumps to the nearest boundary, diag_run. */
typedef enum {
    DIAG_ARGUMENT, DIAG_SPEC, DIAG_LAYOUT, DIAG_MEMORY, DIAG_LIMIT
} DiagKind;

typedef struct {
    jmp_buf jmp;
    DiagKind kind;
    char text[1024];
} Diag;

#define diag_catch(d) setjmp((d)->jmp)
/* Call f(arg).  Returns false if it ended in diag_fatal.  diag_fatal is a longjmp: local
 * variables of the caller that changed since the call are indeterminate unless volatile.
 * */
bool diag_run(Diag *d, void (*f)(void *), void *arg);
_Noreturn void diag_fatal(Diag *d, DiagKind kind, Loc loc, const char *fmt, ...)
    PRINTF(4, 5);
/* The error is a lack of memory or work: further attempts would fail in the same way. */
bool diag_is_final(const Diag *d);

/* The name in `names` nearest to `name`, or NULL if none is near; for "did you mean".
 * `names` ends with NULL. */
const char *diag_nearest(const char *name, const char *const *names);

/* work.c: the work that one question may take.  It is counted and never timed, so that
 * the same question has the same answer on every machine.  A step takes some 10 ns:
 * an operator evaluated at an element, two terms of a sum compared, 64 bytes of
 * memory.  docs/trust.md has the table. */
typedef struct {
    i64 spent, most;      /* steps; most = 0: those of WORK_UNITS */
    const char *doing, *with;      /* the current step and its object; NULL: none */
} Budget;

enum { WORK_UNITS = 2, WORK_A_UNIT = 100000000 };

/* arena.c: the memory and the work of one compilation.  An allocation counts as work.
 * Memory is freed only with the whole arena,
 * and by arena_resize and arena_drop.  Exceeding either limit is a diag_fatal.
 * Not thread-safe. */
typedef struct ArenaBlock ArenaBlock;
typedef struct {
    Diag *diag;
    ArenaBlock *head;
    ArenaBlock *kept;     /* within arena_scratch: the blocks from before the outermost one */
    int scratches;        /* how many arena_scratch there are, one within the other */
    size_t held;          /* bytes of all blocks */
    Budget work;
} Arena;

/* The steps of a limit in units of WORK_A_UNIT steps; 0 means the default limit. */
i64 work_steps(double units);
i64 work_most(const Budget *w);
/* Set the current step and its object for error messages: "deciding", "layout 'A'".  The
 * strings are not copied; `with` may be NULL. */
void work_on(Arena *a, const char *doing, const char *with);
/* Count the steps.  Returns false and counts nothing if that would exceed the limit. */
bool work_take(Budget *w, i64 steps);
/* Count the steps; diag_fatal if the limit is exceeded. */
void work_spend(Arena *a, i64 steps);
/* Count the steps for each of n elements, whose number the caller chose: WORK_FREE steps
 * for each element are not counted. */
enum { WORK_FREE = 64 };
void work_spend_each(Arena *a, i64 n, i64 steps);
/* Count the steps.  Returns false and counts nothing if then more than work_most_tried would be
 * spent: three quarters of the limit.  For searches that may end without an answer. */
bool work_try(Arena *a, i64 steps);
i64 work_most_tried(const Budget *w);

void *arena_alloc(Arena *a, size_t bytes);     /* zeroed, 16-aligned */
/* diag_run with d as the arena's Diag during the call, so boundaries can be nested. */
bool arena_run(Arena *a, Diag *d, void (*f)(void *), void *arg);
/* Call f(arg), then free all memory that it allocated in a.  Objects that were in a
 * before the call, such as the table of expressions, must not refer to this memory.  A
 * diag_fatal in f is passed on. */
void arena_scratch(Arena *a, void (*f)(void *), void *arg);
/* Within the f of arena_scratch, or of one within another: a copy of n bytes that none of them
 * frees. */
void *arena_keep(Arena *a, const void *p, size_t n);
void *arena_copy(Arena *a, const void *p, size_t bytes);
/* Moves the allocation p (NULL: none) of `old` bytes to one of `bytes` bytes; what is new
 * is zeroed.  Frees the old one if it is large, so an array may grow in steps. */
void *arena_resize(Arena *a, void *p, size_t old, size_t bytes);
/* Frees the allocation p of n bytes if it is the last one or, because of its size, has a block
 * of its own; otherwise does nothing. */
void arena_drop(Arena *a, const void *p, size_t n);
char *arena_string(Arena *a, const char *s);
char *arena_printf(Arena *a, const char *fmt, ...) PRINTF(2, 3);
void arena_free(Arena *a);

#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), int_bytes((a)->diag, (n), sizeof(T))))

/* buf.c: a growing text in an arena.  `s` always ends with a NUL. */
typedef struct {
    Arena *arena;
    char *s;
    size_t len, cap;
    int indent;           /* for buf_line, in steps of four blanks */
} Buf;

Buf buf_new(Arena *a);
void buf_add(Buf *b, const char *s);
void buf_addn(Buf *b, const char *s, size_t n);
void buf_printf(Buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_line(Buf *b, const char *fmt, ...) PRINTF(2, 3);

/* utf8.c: decode the first character c of the n bytes at s.  Returns its length, or 0 if
 * the bytes are not UTF-8. */
size_t utf8_next(const char *s, size_t n, uint32_t *c);
bool utf8_is_hidden(uint32_t c);               /* a control or direction mark */
bool utf8_is_text(const char *s, size_t n);

/* 64-bit arithmetic.  int_add and int_mul return true if the result fits.  int_div and int_mod are
 * floor division and its remainder; all passes use them.  They are here because a divisor that is a
 * constant power of two becomes a shift: at plan time most of them are 8. */
static inline bool
int_add(i64 a, i64 b, i64 *r)
{
    return !__builtin_add_overflow(a, b, r);
}

static inline bool
int_mul(i64 a, i64 b, i64 *r)
{
    return !__builtin_mul_overflow(a, b, r);
}

static inline i64
int_div(i64 a, i64 b)                          /* b > 0 */
{
    return a / b - (a % b < 0);
}

static inline i64
int_mod(i64 a, i64 b)
{
    i64 m = a % b;
    return m < 0 ? m + b : m;
}

static inline i64
int_abs(i64 v)                                 /* v > INT64_MIN */
{
    return v < 0 ? -v : v;
}

/* int.c: arithmetic with overflow checks. */
i64 int_ceil_div(i64 a, i64 b);                /* a >= 0, b > 0 */
i64 int_gcd(i64 a, i64 b);                     /* of absolute values */
bool int_lcm(i64 a, i64 b, i64 *r);            /* a, b > 0 */
bool int_round_up(i64 a, i64 b, i64 *r);       /* a >= 0, b > 0 */
bool int_is_pow2(i64 a);
int int_log2(i64 a);                           /* floor; a > 0 */
size_t int_bytes(Diag *d, i64 n, size_t each); /* n * each or diag_fatal */
int int_compare(const void *a, const void *b);  /* of two i64, for qsort */
/* Where the digits of a dim begin and end: ascending, at most `most`. */
typedef struct {
    i64 *cut, below;
    int n, most;
} Cuts;
/* Adds a cut in (1, below), unless it is one already or there is no room. */
void cuts_add(Cuts *c, i64 at);

/* embed.sh: text files that the build embeds in the library. */
typedef struct {
    const char *name;     /* specs/cann.lua */
    const char *text;
    size_t len;
} Embedded;

extern const Embedded embed_prelude;      /* compiler/spec/prelude.lua */

/* Texts in one piece of gzip, each followed by a NUL. */
typedef struct {
    const char *name;
    size_t at, len;       /* in what is unpacked */
} PackedText;
typedef struct {
    const unsigned char *data;
    size_t packed, len;   /* of data; of what is unpacked */
    const PackedText *text;
    size_t ntexts;
} Packed;
extern const Packed embed_packed;
/* What only files need that the command writes: kernels as text.  None in the library. */
extern const Packed embed_command;
/* unpack.c: the specs and the templates, by name; each list ends with a null name.  They fail
 * if memory runs out. */
const Embedded *embed_specs(Diag *d);
const Embedded *embed_templates(Diag *d);
/* Whether those of embed_command are among them. */
bool embed_has_all(void);

#endif
