"""compiler/expr/identities.toml: its language, its values by brute force, its page docs/identities.md.

    python3 tests/identities.py --write     rewrites the page"""
import collections
import functools
import itertools
import pathlib
import re
import sys
import tomllib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE, PAGE = ROOT / "compiler/expr/identities.toml", ROOT / "docs/identities.md"
KINDS = ["int", "pos", "const", "shift"]
FIELDS = {"rule", "says", *KINDS, "when", "proof", "lemmas", "used", "kept", "over", "note", "of", "at"}
Identity = collections.namedtuple("Identity", "rule says vars when proof lemmas used kept over note of at")

# Lua's precedences, and three of logic below them; all associate to the left
LEVELS = [["implies", "iff"], ["or"], ["and"], ["==", "<=", "<", ">=", ">"], ["|"], ["~"], ["&"], ["<<", ">>"], ["+", "-"],
          ["*", "//", "%"]]
FUNCTIONS = {"min", "max", "quot"}
TOKEN = re.compile(r"\s*(\d+|\w+|//|<<|>>|<=|>=|==|[-+*%~&|<>(),])")


def tokens(text):
    at = 0
    while text[at:].strip():
        m = TOKEN.match(text, at)
        if not m:
            raise SyntaxError("%r in %r" % (text[at:], text))
        yield m[1]
        at = m.end()


class Parser:
    """To trees: an int, a name, or (operator, operand, ...)."""

    def __init__(self, text):
        self.text, self.left = text, list(tokens(text))

    def take(self, *which):
        if self.left and self.left[0] in which:
            return self.left.pop(0)

    def expect(self, what):
        if not self.take(what):
            raise SyntaxError("expected %s before %s in %r" % (what, self.left, self.text))

    def level(self, n):
        if n == len(LEVELS):
            return self.unary()
        x = self.level(n + 1)
        if LEVELS[n][0] == "==":
            return self.chain(n, x)
        while op := self.take(*LEVELS[n]):
            x = (op, x, self.level(n + 1))
        return x

    def chain(self, n, x):
        """a <= b < c is a <= b and b < c."""
        all_of = None
        while op := self.take(*LEVELS[n]):
            y = self.level(n + 1)
            all_of = (op, x, y) if all_of is None else ("and", all_of, (op, x, y))
            x = y
        return x if all_of is None else all_of

    def unary(self):
        if self.take("-"):
            return ("neg", self.unary())
        if self.take("~"):
            return ("not", self.unary())
        if self.take("("):
            x = self.level(0)
            self.expect(")")
            return x
        word = self.left.pop(0)
        if word.isdigit():
            return int(word)
        if not self.take("("):
            return word
        args = [self.level(0)]
        while self.take(","):
            args.append(self.level(0))
        self.expect(")")
        return call(word, args)


def call(name, args):
    """The functions that are short for others."""
    if name == "dig":
        x, lo, hi = args
        return ("//", ("%", x, hi), lo)
    if name == "cdiv":
        x, c = args
        return ("//", ("-", ("+", x, c), 1), c)
    if name not in FUNCTIONS:
        raise SyntaxError("no function " + name)
    return (name, *args)


@functools.lru_cache(None)
def parse(text):
    p = Parser(text)
    x = p.level(0)
    if p.left:
        raise SyntaxError("unexpected %s in %r" % (p.left, text))
    return x


def names(x):
    return {x} if isinstance(x, str) else set().union(*map(names, x[1:])) if isinstance(x, tuple) else set()


def replace(x, to):
    """x with to[name] for each name that is in `to`, all at once."""
    if isinstance(x, tuple):
        return (x[0], *(replace(y, to) for y in x[1:]))
    return to.get(x, x) if isinstance(x, str) else x


def text(x):
    """Back to text, every operation in parentheses."""
    if not isinstance(x, tuple):
        return str(x)
    op, args = {"neg": "-", "not": "~"}.get(x[0], x[0]), [text(y) for y in x[1:]]
    if len(args) == 1:
        return "(%s%s)" % (op, args[0])
    return "%s(%s, %s)" % (op, *args) if op in FUNCTIONS else "(%s %s %s)" % (args[0], op, args[1])


def load(source=None):
    rows = tomllib.loads(TABLE.read_text() if source is None else source)["identity"]
    return [identity(r) for r in rows]


def identity(row):
    """A row as the table has it, checked for form."""
    assert row.keys() <= FIELDS, "%s: %s" % (row["rule"], row.keys() - FIELDS)
    kinds = {v: k for k in KINDS for v in row.get(k, "").split()}
    says = row["says"] if isinstance(row["says"], list) else [row["says"]]
    r = Identity(row["rule"], [parse(s) for s in says], kinds, parse(row["when"]) if "when" in row else None, row["proof"],
                 row.get("lemmas", []), row.get("used", []), row.get("kept"), row.get("over"), row.get("note", ""), row.get("of"), row.get("at"))
    used = set().union(*map(names, r.says), names(r.when) if r.when else set())
    assert used == set(kinds), "%s: variables %s, declared %s" % (r.rule, used, set(kinds))
    return r


# values

def quot(a, b):
    return np.sign(a)*np.sign(b)*(abs(a)//abs(b))


PYTHON = {"~": "({}^{})", "and": "({}&{})", "or": "({}|{})", "implies": "(~{}|{})", "iff": "({}=={})", "neg": "(-{})",
          "not": "(~{})", "min": "np.minimum({},{})", "max": "np.maximum({},{})", "quot": "quot({},{})"}


def python(x):
    if not isinstance(x, tuple):
        return str(x)
    return PYTHON.get(x[0], "({}%s{})" % x[0]).format(*map(python, x[1:]))


@functools.lru_cache(None)
def compiled(x, order):
    return eval("lambda %s: %s" % (", ".join(order), python(x)), {"np": np, "quot": quot})


def value(x, env):
    """By the floor semantics that Python's and numpy's // and % have; env maps names to arrays."""
    return compiled(x, tuple(sorted(env)))(**env)


SPAN = {"int": (lambda n: range(-n, n + 1)), "const": (lambda n: range(-n, n + 1)), "pos": (lambda n: range(1, n//2 + 2)),
        "shift": (lambda n: range(min(n//3 + 2, 20)))}
POINTS = 400_000


def grid(kinds):
    """Every combination of small values, as wide as POINTS allows, and those arrays are the points."""
    n = 1
    while np.prod([len(SPAN[k](n + 1)) for k in kinds.values()], dtype=float) <= POINTS and n < 250:
        n += 1
    axes = np.meshgrid(*[np.array(SPAN[k](n)) for k in kinds.values()], indexing="ij")
    return {v: a.ravel() for v, a in zip(kinds, axes)}


def tried(r):
    """The points where the side condition holds."""
    env = grid(r.vars)
    if r.when is None:
        return env
    keep = value(r.when, env)
    return {v: a[keep] for v, a in env.items()}


def counterexample(r):
    """(points tried, the first that one of the statements fails at or None)."""
    env = tried(r)
    n = len(next(iter(env.values())))
    for s in r.says:
        bad = np.flatnonzero(~np.broadcast_to(value(s, env), n))
        if len(bad):
            return n, {v: int(a[bad[0]]) for v, a in env.items()}
    return n, None


def fails_at(r, at):
    env = {v: np.array([n]) for v, n in at.items()}
    holds = r.when is None or value(r.when, env).all()
    return bool(holds and not all(np.all(value(s, env)) for s in r.says))


# the page

HEAD = """# The identities of index arithmetic

Written by `make identities` from [compiler/expr/identities.toml](../compiler/expr/identities.toml). `//` and `%` are floor division and its
remainder, `~` is xor, `dig(x, lo, hi)` is `(x % hi)//lo`, `cdiv(x, c)` is `x/c` rounded up, `quot` is C's division, which truncates. A letter is any
integer unless the third column restricts it.

`make test` (`tests/test_identities.py`) proves each rule with z3 and evaluates it at every point of a grid that includes negative values. The column
*proof* has the form of the z3 proof: **N**, over unbounded integers with symbolic divisors; **L**, the same, where `x % c` is written
`x - c*(x//c)` and the named rules are lemmas; **B**, over 64-bit vectors with symbolic shifts; **K**, in addition once for each constant of a list, as
an independent check. The last column has the functions of the compiler that use the rule.

| rule | identity | condition | proof | used by |
|---|---|---|---|---|
"""
REFUTED = """
## Not identities

These claims look like rules but are wrong. The test requires that z3 and the evaluation on the grid both find a counterexample. The column *spoils
rule* has the rule that resembles the claim.

| | claim | condition | spoils rule | wrong at | |
|---|---|---|---|---|---|
"""


def code(s):
    return "`%s`" % s.replace("|", "\\|")


def conditions(row):
    kinds = {"pos": "%s > 0", "const": "%s constant", "shift": "0 <= %s <= 61"}
    parts = [f % row[k].replace(" ", ", ") for k, f in kinds.items() if k in row]
    return "<br>".join(code(p) for p in parts + ([row["when"]] if "when" in row else []))


def page():
    out, refuted = HEAD, REFUTED
    for row in tomllib.loads(TABLE.read_text())["identity"]:
        says = row["says"] if isinstance(row["says"], list) else [row["says"]]
        left = [row["rule"], "<br>".join(map(code, says)), conditions(row)]
        note = row.get("note", "")
        if "of" in row:
            at = ", ".join("%s = %d" % i for i in row["at"].items())
            refuted += "| %s |\n" % " | ".join(left + [row["of"], code(at), note])
            continue
        by = sorted({lemma.split(":")[0] for lemma in row.get("lemmas", [])}, key=int)
        left[1] += "<br>" + note if note else ""
        proof = ", ".join(row["proof"]) + (" (by %s)" % ", ".join(by) if by else "")
        out += "| %s |\n" % " | ".join(left + [proof, " ".join("`%s`" % f for f in row.get("used", []))])
    return out + refuted


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
    else:
        sys.exit(__doc__)
