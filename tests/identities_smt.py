"""Queries to z3 from compiler/expr/identities.toml, in the forms that finish.  A query asks for a point where the
side condition holds and the statement does not: unsat is a proof.  It ends by z3's own count of steps, which no
load of the machine changes, and `unknown` proves nothing."""
import functools
import re
import subprocess

import identities
from identities import parse, replace

STEPS = 60_000_000       # z3's rlimit for one query; the hardest needs a tenth
SECONDS = 600            # for one process: only against a z3 that hangs
# form K: values of constants, in the order of their declaration, and of shifts
CONSTANTS = [(1, 1, 3), (1, 7, 2), (2, 1, 5), (2, 2, 4), (2, 3, 1), (2, 4, 3), (3, 1, 4), (3, 2, 2), (3, 5, 6), (3, 3, 7),
             (4, 4, 8), (4, 6, 2), (4, 3, 3), (5, 3, 3), (5, 4, 2), (6, 4, 5), (6, 6, 4), (7, 7, 3), (7, 2, 2), (8, 4, 1),
             (8, 8, 16), (10, 16, 3), (12, 8, 2), (12, 5, 5), (16, 32, 4), (24, 36, 2), (32, 16, 3), (48, 32, 2)]
SHIFTS = [(0, 0), (1, 1), (1, 0), (2, 1), (2, 2), (3, 7), (4, 2), (5, 3), (7, 7), (8, 4), (13, 16), (16, 8), (21, 21),
          (30, 31), (31, 30), (32, 16), (33, 4), (40, 20), (47, 12), (59, 2), (60, 1), (61, 0)]

LOGIC = {"and": "and", "or": "or", "implies": "=>", "iff": "=", "==": "="}
INT = LOGIC | {op: op for op in "+ - * <= < >= > min max quot".split()} | {"neg": "-", "//": "div", "%": "mod"}
EACH = INT | {"//": "floordiv", "%": "floormod"}        # for divisors that may be below zero: constants
BITS = LOGIC | {"+": "bvadd", "-": "bvsub", "*": "bvmul", "<=": "bvsle", "<": "bvslt", ">=": "bvsge", ">": "bvsgt", "&": "bvand",
                "|": "bvor", "~": "bvxor", "neg": "bvneg", "not": "bvnot", "<<": "bvshl", ">>": "bvashr", "//": "floordiv",
                "%": "bvsmod"}
DEFINE = {
    "Int": """(define-fun min ((a Int) (b Int)) Int (ite (<= a b) a b))
(define-fun max ((a Int) (b Int)) Int (ite (>= a b) a b))
(define-fun quot ((a Int) (b Int)) Int (ite (>= a 0) (div a b) (- (div (- a) b))))
(define-fun floordiv ((a Int) (b Int)) Int (ite (> b 0) (div a b) (div (- a) (- b))))
(define-fun floormod ((a Int) (b Int)) Int (- a (* b (floordiv a b))))
""",
    "(_ BitVec 64)": """(define-fun floordiv ((a (_ BitVec 64)) (b (_ BitVec 64))) (_ BitVec 64) (bvsdiv (bvsub a (bvsmod a b)) b))
"""}


def smt(x, ops):
    if isinstance(x, tuple):
        return "(%s %s)" % (ops[x[0]], " ".join(smt(y, ops) for y in x[1:]))
    if isinstance(x, str):
        return x
    if ops is BITS:
        return "(_ bv%d 64)" % (x % 2**64)
    return str(x) if x >= 0 else "(- %d)" % -x


def rewritten(x, rule):
    """The tree with rule(node) for every node it is not None for, from the leaves up."""
    if not isinstance(x, tuple):
        return x
    x = (x[0], *(rewritten(y, rule) for y in x[1:]))
    return rule(x) or x


def by_division(x):
    return ("-", x[1], ("*", x[2], ("//", x[1], x[2]))) if x[0] == "%" else None


def by_shift(x):
    """Divisors 1<<k as shifts and masks."""
    if x[0] in ("//", "%") and isinstance(x[2], tuple) and x[2][:2] == ("<<", 1):
        return (">>", x[1], x[2][2]) if x[0] == "//" else ("&", x[1], ("-", x[2], 1))
    return None


def positive(x, kinds):
    if isinstance(x, tuple):
        return x[0] == "*" and positive(x[1], kinds) and positive(x[2], kinds)
    return kinds.get(x) == "pos" if isinstance(x, str) else x > 0


def conditions(r, kinds):
    """What holds of the variables: their kinds and the side condition."""
    yield from (("<=", 1, v) for v, k in kinds.items() if k == "pos")
    yield from (("and", ("<=", 0, v), ("<=", v, 61)) for v, k in kinds.items() if k == "shift")
    if r.when is not None:
        yield r.when


def conjunction(xs):
    return functools.reduce(lambda a, b: ("and", a, b), xs)


def instance(rules, lemma):
    """The whole of a rule, side conditions included, at other terms: "rule: name = term, ...", names that are
    not mentioned standing for themselves."""
    rule, _, terms = lemma.partition(":")
    r = rules[rule]
    to = {m[1]: parse(m[2]) for m in re.finditer(r"(\w+) = (.*?)(?=, \w+ = |$)", terms)}
    given, says = list(conditions(r, r.vars)), conjunction(r.says)
    whole = ("implies", conjunction(given), says) if given else says
    return replace(whole, to)


class Query:
    def __init__(self, form, ops, kinds, given, says):
        self.form, self.ops, self.kinds, self.given, self.says = form, ops, kinds, given, says

    def text(self):
        """What z3 reads.  Linear queries are quickest within (push) and (pop), which other solvers than those for
        products and bits answer."""
        sort = "(_ BitVec 64)" if self.ops is BITS else "Int"
        asserts = [smt(g, self.ops) for g in self.given] + ["(not %s)" % smt(self.says, self.ops)]
        before, after = ("(push)\n", "(pop)\n") if self.ops is EACH else ("", "(reset)\n")
        return "".join(["(set-option :rlimit %d)\n" % STEPS, before, DEFINE[sort],
                        *("(declare-const %s %s)\n" % (v, sort) for v in self.kinds), *("(assert %s)\n" % a for a in asserts),
                        "(check-sat)\n", after])


def symbolic(r, form, rules):
    rule = {"N": lambda x: None, "L": by_division, "B": by_shift}[form]
    given = list(conditions(r, r.vars)) + [instance(rules, m) for m in r.lemmas if form == "L"]
    kinds = dict(r.vars)
    for x in given:
        kinds |= {v: "int" for v in identities.names(x) - kinds.keys()}
    for says in r.says:
        yield Query(form, BITS if form == "B" else INT, kinds, [rewritten(g, rule) for g in given], rewritten(says, rule))


def constants(r):
    """Values for all that the rule calls constant: {name: value}, one after the other, those of any sign with both."""
    seen = set()
    for i in range(max(len(CONSTANTS), len(SHIFTS))):
        values, shifts = iter(CONSTANTS[i % len(CONSTANTS)]), iter(SHIFTS[i % len(SHIFTS)])
        to = {v: next(shifts) if k == "shift" else next(values)*(-1)**(k == "const" and i) for v, k in r.vars.items() if k != "int"}
        if tuple(to.values()) not in seen:
            seen.add(tuple(to.values()))
            yield to


def each_constant(r):
    for to in constants(r):
        given = [replace(g, to) for g in conditions(r, r.vars)]
        yield Query("K", BITS if "B" in r.proof else EACH, {v: k for v, k in r.vars.items() if v not in to}, given,
                    replace(conjunction(r.says), to))


def queries(r, rules):
    for form in r.proof:
        yield from each_constant(r) if form == "K" else symbolic(r, form, rules)


def ask(qs):
    """z3's word for each query: one process for all."""
    out = subprocess.run(["z3", "-T:%d" % SECONDS, "-in"], input="".join(q.text() for q in qs), text=True, stdout=subprocess.PIPE)
    words = out.stdout.split("\n")[:-1]
    assert len(words) == len(qs), out.stdout[:2000]
    return words


def verdicts(r, rules):
    """{form: the words of its queries}"""
    qs, out = list(queries(r, rules)), {}
    for q, word in zip(qs, ask(qs)):
        out.setdefault(q.form, []).append(word)
    return out
