"""The constructors themselves at compiler/expr/identities.toml: with constants for what the rules call constants, are
both sides of an equation one node?"""
import subprocess

from identities import names, replace, text, value
from identities_smt import constants

SHIFT_MAX = 20          # beyond it the values of a wide variable leave 64 bits
WIDE = {"signed": (-1000, 1000), "natural": (0, 4095), "symbol": ("-inf", "inf")}


def conjuncts(x):
    return conjuncts(x[1]) + conjuncts(x[2]) if isinstance(x, tuple) and x[0] == "and" else [x]


def bounds(when, wide):
    """{name: [min, max]} of a condition whose parts bound one variable by a constant each, or hold of constants;
    None for others, and where it has no solution in `wide`."""
    out = {}
    for c in conjuncts(when) if when else []:
        if not names(c):
            if not value(c, {}):
                return None
            continue
        op, a, b = c if c[0] in ("<=", "<") else ({">=": "<=", ">": "<"}.get(c[0]), c[2], c[1])
        name, k = (a, b) if isinstance(a, str) else (b, a)
        if op is None or not isinstance(name, str) or names(k):
            return None
        k, (lo, hi) = int(value(k, {})), out.get(name, wide)
        out[name] = [lo, k - (op == "<")] if name is a else [k + (op == "<"), hi]
    inf = {"-inf": -1e30, "inf": 1e30}
    return out if all(inf.get(lo, lo) <= inf.get(hi, hi) for lo, hi in out.values()) else None


def lines(r, kind):
    """What expr_same reads, for every equation and constants; nothing where the condition has no such form."""
    wide = WIDE[kind]
    for to in constants(r):
        if any(to[v] > SHIFT_MAX for v, k in r.vars.items() if k == "shift"):
            continue
        limits = bounds(replace(r.when, to) if r.when else None, wide)
        if limits is None:
            continue
        free = " ".join("%s %s %s" % (v, *limits.get(v, wide)) for v in r.vars if v not in to)
        for s in r.says:
            if isinstance(s, tuple) and s[0] == "==":
                yield "\t".join([free, text(replace(s[1], to)), text(replace(s[2], to))])


def answers(build, questions):
    questions = list(questions)
    out = subprocess.run([build / "tests/expr_same"], input="".join(q + "\n" for q in questions), text=True, stdout=subprocess.PIPE,
                         check=True).stdout.splitlines()
    assert len(out) == len(questions)
    return list(zip(questions, out))
