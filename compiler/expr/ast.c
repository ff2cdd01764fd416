#include "ast.h"

const OpInfo op_info[OP_COUNT] = {
#define OP(name, nargs, level, lua, meta) {#name, nargs, level, lua, meta},
#include "op.def"
#undef OP
};

const Ast *
ast_num(Arena *a, i64 v, Loc loc)
{
    Ast *x = arena_new(a, Ast);
    *x = (Ast){.op = OP_NUM, .loc = loc, .num = v, .size = 1, .depth = 1};
    return x;
}

const Ast *
ast_sym(Arena *a, const char *name, Loc loc)
{
    Ast *x = arena_new(a, Ast);
    *x = (Ast){.op = OP_SYM, .loc = loc, .size = 1, .depth = 1,
               .name = arena_string(a, name)};
    return x;
}

const Ast *
ast_op(Arena *a, Op op, const Ast *x, const Ast *y, Loc loc)
{
    Ast *r = arena_new(a, Ast);
    *r = (Ast){.op = op, .loc = loc, .x = {x, y}};
    r->size = 1 + x->size + (y ? y->size : 0);
    r->depth = 1 + (y && y->depth > x->depth ? y->depth : x->depth);
    if (r->size > AST_MAX_SIZE || r->depth > AST_MAX_DEPTH)
        diag_fatal(a->diag, DIAG_SPEC, loc,
                   "an expression of more than %d parts or %d levels",
                   AST_MAX_SIZE, AST_MAX_DEPTH);
    return r;
}

static void
print_at(Buf *b, const Ast *x, int level)
{
    const OpInfo *o = &op_info[x->op];
    if (x->op == OP_NUM) {
        buf_printf(b, x->num < 0 && level > 6 ? "(%lld)" : "%lld",
                   (long long)x->num);
    } else if (x->op == OP_SYM) {
        buf_add(b, x->name);
    } else if (o->level == 9) {
        buf_printf(b, "%s(", o->lua);
        print_at(b, x->x[0], 0);
        buf_add(b, ", ");
        print_at(b, x->x[1], 0);
        buf_add(b, ")");
    } else {
        buf_add(b, o->level < level ? "(" : "");
        if (o->nargs == 2)
            print_at(b, x->x[0], o->level);
        buf_printf(b, o->level <= 5 && o->nargs == 2 ? " %s " : "%s", o->lua);
        if (x->op == OP_NEG && x->x[0]->op == OP_NEG)
            buf_add(b, " ");                 /* two together begin a comment */
        print_at(b, x->x[o->nargs - 1], o->level + (o->nargs == 2));
        buf_add(b, o->level < level ? ")" : "");
    }
}

void
ast_print(Buf *b, const Ast *x)
{
    print_at(b, x, 0);
}

const char *
ast_text(Arena *a, const Ast *x)
{
    Buf b = buf_new(a);
    ast_print(&b, x);
    return b.s;
}

static bool
shift_left(i64 v, i64 k, i64 *r)
{
    return k >= 0 && k <= SHIFT_MAX && int_mul(v, (i64)1 << k, r);
}

/* One operator on two values: the definition that everything else agrees with. */
static bool
apply(Op op, i64 a, i64 b, i64 *r)
{
    switch (op) {
    case OP_OR:  *r = a | b; return true;
    case OP_XOR: *r = a ^ b; return true;
    case OP_AND: *r = a & b; return true;
    case OP_SHL: return shift_left(a, b, r);
    case OP_SHR: *r = b >= 0 && b <= SHIFT_MAX ? int_div(a, (i64)1 << b) : 0;
                 return b >= 0 && b <= SHIFT_MAX;
    case OP_ADD: return int_add(a, b, r);
    case OP_SUB: return !__builtin_sub_overflow(a, b, r);
    case OP_MUL: return int_mul(a, b, r);
    case OP_DIV: *r = b > 0 ? int_div(a, b) : 0; return b > 0;
    case OP_MOD: *r = b > 0 ? int_mod(a, b) : 0; return b > 0;
    case OP_NEG: return !__builtin_sub_overflow((i64)0, a, r);
    case OP_NOT: *r = ~a; return true;
    case OP_MIN: *r = a < b ? a : b; return true;
    case OP_MAX: *r = a > b ? a : b; return true;
    case OP_NUM: case OP_SYM: case OP_COUNT: break;
    }
    return false;
}

bool
ast_eval(const Ast *x, AstLookup *lookup, const void *env, i64 *v)
{
    i64 a, b = 0;
    if (x->op == OP_NUM) {
        *v = x->num;
        return true;
    }
    if (x->op == OP_SYM)
        return lookup(env, x->name, v);
    return ast_eval(x->x[0], lookup, env, &a) &&
           (!x->x[1] || ast_eval(x->x[1], lookup, env, &b)) &&
           apply(x->op, a, b, v);
}

/* All ones up to the highest bit of v >= 0. */
static i64
bits_up_to(i64 v)
{
    return v > 0 ? (i64)(((uint64_t)2 << int_log2(v)) - 1) : 0;
}

typedef struct { i64 min, max; } Span;

static bool
corners(Op op, Span a, Span b, Span *r)
{
    i64 v[4];
    if (!apply(op, a.min, b.min, &v[0]) || !apply(op, a.min, b.max, &v[1]) ||
        !apply(op, a.max, b.min, &v[2]) || !apply(op, a.max, b.max, &v[3]))
        return false;
    *r = (Span){v[0], v[0]};
    for (int i = 1; i < 4; i++) {
        r->min = v[i] < r->min ? v[i] : r->min;
        r->max = v[i] > r->max ? v[i] : r->max;
    }
    return true;
}

/* Bitwise operators of what cannot be negative. */
static bool
bit_span(Op op, Span a, Span b, Span *r)
{
    if (a.min < 0 || b.min < 0)
        return false;
    i64 p = bits_up_to(a.max), q = bits_up_to(b.max);
    i64 mask_a = a.min == a.max ? a.min : p, mask_b = b.min == b.max ? b.min : q;
    if (a.min == a.max && b.min == b.max)
        return apply(op, a.min, b.min, &r->min) && ((r->max = r->min), true);
    *r = (Span){0, op == OP_AND ? mask_a & mask_b : p | q};
    if (op == OP_AND && (a.min == a.max || b.min == b.max))
        return true;                         /* a mask spans what it masks */
    if (op == OP_AND)
        r->max = a.max < b.max ? a.max : b.max;
    return true;
}

static bool
span(const Ast *x, AstLookup *range, const void *env, Span *r)
{
    Span a, b = {0, 0};
    if (x->op == OP_NUM) {
        *r = (Span){x->num, x->num};
        return true;
    }
    if (x->op == OP_SYM) {
        r->min = 0;
        return range(env, x->name, &r->max);
    }
    if (!span(x->x[0], range, env, &a) || (x->x[1] && !span(x->x[1], range, env, &b)))
        return false;
    switch (x->op) {
    case OP_MOD:
        *r = (Span){0, b.max - 1};
        return b.min == b.max && b.min > 0;
    case OP_SUB: {
        i64 min, max;
        bool fits = !__builtin_sub_overflow(a.min, b.max, &min) &
                    !__builtin_sub_overflow(a.max, b.min, &max);
        *r = (Span){min, max};
        return fits;
    }
    case OP_NEG:
        if (a.min == INT64_MIN)
            return false;
        *r = (Span){-a.max, -a.min};
        return true;
    case OP_NOT:
        *r = (Span){~a.max, ~a.min};
        return true;
    case OP_AND: case OP_OR: case OP_XOR:
        return bit_span(x->op, a, b, r);
    default:
        return corners(x->op, a, b, r);
    }
}

bool
ast_range(const Ast *x, AstLookup *range, const void *env, i64 *min, i64 *max)
{
    Span r;
    if (!span(x, range, env, &r))
        return false;
    *min = r.min;
    *max = r.max;
    return true;
}
