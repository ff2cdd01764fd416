/* base.h: the ground every pass stands on: checked integers, arenas, text
 * buffers and the one error path. */
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

/* Where in a spec something was written; file is NULL when there is none. */
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
/* Call f(arg); false when it ended in diag_fatal.  Its frame owns nothing, so what
 * the caller holds is as the C standard has it after a longjmp. */
bool diag_run(Diag *d, void (*f)(void *), void *arg);
_Noreturn void diag_fatal(Diag *d, DiagKind kind, Loc loc, const char *fmt, ...)
    PRINTF(4, 5);
/* Memory or work is used up: whatever is tried next ends like this. */
bool diag_is_final(const Diag *d);

/* The known name nearest to `name`, or NULL when none is near: for "did you
 * mean".  `names` ends with NULL. */
const char *diag_nearest(const char *name, const char *const *names);

/* work.c: the work that one question may take.  It is counted and never timed, so that
 * the same question has the same answer on every machine.  A unit is a step of some
 * 10 ns: an operator evaluated at an element, two terms of a sum compared, 64 bytes of
 * memory.  docs/trust.md has the table. */
typedef struct {
    i64 spent, most;      /* units; most 0: what WORK_SECONDS allow */
    const char *doing, *with;      /* the step at work and its object; NULL: none */
} Budget;

enum { WORK_SECONDS = 2, WORK_A_SECOND = 100000000 };

/* arena.c: memory of one compilation, and its work, which every allocation counts
 * towards.  Never freed piecewise; running out of either is a diag_fatal.  Not
 * thread-safe. */
typedef struct ArenaBlock ArenaBlock;
typedef struct {
    Diag *diag;
    ArenaBlock *head;
    size_t held;          /* bytes of all blocks */
    Budget work;
} Arena;

/* The units that a limit in seconds allows; 0 seconds: as many as without a limit
 * given. */
i64 work_of_seconds(double seconds);
i64 work_most(const Budget *w);
/* What is done from here on, for the message: "deciding", "layout 'A'".  Neither is
 * copied; with may be NULL. */
void work_on(Arena *a, const char *doing, const char *with);
/* The units are spent; false, and none are, where the limit is exceeded. */
bool work_take(Budget *w, i64 units);
/* The units are spent; diag_fatal where the limit is exceeded. */
void work_spend(Arena *a, i64 units);
/* The same of something to be done for each of n elements that the caller asked for:
 * WORK_FREE units of each are free. */
enum { WORK_FREE = 64 };
void work_spend_each(Arena *a, i64 n, i64 units);
/* The units are spent; false, and none are, where that would leave less than a quarter
 * of the limit: for searches that may end without an answer. */
bool work_try(Arena *a, i64 units);

void *arena_alloc(Arena *a, size_t bytes);     /* zeroed, 16-aligned */
/* diag_run with d as the arena's Diag meanwhile: a boundary within another. */
bool arena_run(Arena *a, Diag *d, void (*f)(void *), void *arg);
/* f(arg), after which all that it allocated in a is gone: it must leave nothing behind in
 * what a held before, such as expressions.  What ends in diag_fatal does so. */
void arena_scratch(Arena *a, void (*f)(void *), void *arg);
void *arena_copy(Arena *a, const void *p, size_t bytes);
char *arena_string(Arena *a, const char *s);
char *arena_printf(Arena *a, const char *fmt, ...) PRINTF(2, 3);
void arena_free(Arena *a);

#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) \
    ((T *)arena_alloc((a), int_bytes((a)->diag, (n), sizeof(T))))

/* buf.c: text that grows, in an arena.  `s` is always terminated. */
typedef struct {
    Arena *arena;
    char *s;
    size_t len, cap;
    int indent;           /* of buf_line, in steps of four blanks */
} Buf;

Buf buf_new(Arena *a);
void buf_add(Buf *b, const char *s);
void buf_addn(Buf *b, const char *s, size_t n);
void buf_printf(Buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_line(Buf *b, const char *fmt, ...) PRINTF(2, 3);

/* utf8.c: the length of the character c that starts the n bytes at s; 0: none. */
size_t utf8_next(const char *s, size_t n, uint32_t *c);
bool utf8_is_hidden(uint32_t c);               /* a control, or of the text's direction */
bool utf8_is_text(const char *s, size_t n);

/* int.c: 64-bit arithmetic that says when it does not fit.  int_div and int_mod
 * are floor division and its remainder: the one definition of both. */
bool int_add(i64 a, i64 b, i64 *r);            /* true when it fits */
bool int_mul(i64 a, i64 b, i64 *r);
i64 int_div(i64 a, i64 b);                     /* b > 0 */
i64 int_mod(i64 a, i64 b);
i64 int_abs(i64 v);                            /* v is not the least */
i64 int_ceil_div(i64 a, i64 b);                /* a >= 0, b > 0 */
i64 int_gcd(i64 a, i64 b);                     /* of absolute values */
bool int_lcm(i64 a, i64 b, i64 *r);            /* a, b > 0 */
bool int_round_up(i64 a, i64 b, i64 *r);       /* a >= 0, b > 0 */
bool int_is_pow2(i64 a);
int int_log2(i64 a);                           /* floor; a > 0 */
size_t int_bytes(Diag *d, i64 n, size_t each); /* n * each or diag_fatal */

#endif
