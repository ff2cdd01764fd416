"""compiler/expr/identities.toml: every rule is proven by z3, tried by brute force, what the constructors do, printed in
docs/identities.md, and cited by exactly the functions that rely on it.  Rules made wrong are found by both."""
import os
import re
import subprocess

import pytest

import identities
import identities_nodes
import identities_smt as smt
import ravel
from identities import parse

RULES = {r.rule: r for r in identities.load()}
TRUE, REFUTED = [r for r in RULES.values() if not r.of], [r for r in RULES.values() if r.of]
SOURCES = {p.name: p.read_text() for p in sorted((ravel.ROOT / "compiler").rglob("*.[ch]"))}
# Functions of the expressions' core that rely on no rule.
PLUMBING = {
    "expr_arith.c": {"ex_add": "combine", "ex_sub": "combine", "quotients_plus": "terms_of", "terms_of": "a sum with fewer terms",
                    "remainders": "terms_of", "ex_add_scaled": "ex_sum_add",
                    "ex_times": "ex_mul of each term", "ex_above": "ex_add_scaled and ex_sub", "may_overflow": "a question"},
    "expr_sum.c": {"by_form": "an order", "ex_room": "memory", "replace": "ex_sum", "ex_sum": "merge", "ex_sum_of": "an empty sum", "summed": "its terms",
                   "ex_sum_end": "ex_sum"},
    "expr_bits.c": {"boundaries": "where a xor is cut, which rule 64 allows anywhere", "inner_boundaries": "boundaries", "bits_of": "a size",
                    "bounded": "a question", "is_negative": "a question"},
    "expr_facts.c": {"facts_const": "a value", "facts_of_atom": "the functions of expr.def"},
}


def ids(rules):
    return pytest.mark.parametrize("r", rules, ids=lambda r: r.rule)


# proven

@ids(TRUE)
def test_proven(r):
    assert set(r.proof) <= set("NLBK") and len(set(r.proof) & set("NLB")) == 1, "one form with symbols, and K"
    for form, words in smt.verdicts(r, RULES).items():
        print("# rule %s, form %s: %d queries" % (r.rule, form, len(words)))
        assert set(words) == {"unsat"}, (r.rule, form, words)


@ids(REFUTED)
def test_refuted(r):
    for form, words in smt.verdicts(r, RULES).items():
        assert "sat" in words and "unknown" not in words, (r.rule, form, words)
    assert identities.counterexample(r)[1]
    assert identities.fails_at(r, r.at)
    assert RULES[r.of] in TRUE


def test_lemmas_rest_on_no_circle():
    proven = set()
    while more := {r.rule for r in TRUE if r.rule not in proven and {m.split(":")[0] for m in r.lemmas} <= proven}:
        proven |= more
    assert proven == {r.rule for r in TRUE}


def test_rules_have_two_forms():
    """Rules of integers stand once with symbols and once for each constant; only bounds of facts have no constant."""
    alone = {r.rule for r in TRUE if "K" not in r.proof and "B" not in r.proof}
    assert all(kind == "int" for rule in alone for kind in RULES[rule].vars.values()), alone


# tried

@ids(TRUE)
def test_brute_force(r):
    n, at = identities.counterexample(r)
    print("# rule %s: %d points" % (r.rule, n))
    assert at is None, (r.rule, at)
    assert n >= 200


# the constructors

@ids(TRUE)
def test_constructors(r):
    """Both sides become one node where the table does not say why not; and not where it does."""
    kinds = [r.over] if r.over else identities_nodes.WIDE
    answers = [a for kind in kinds for a in identities_nodes.answers(ravel.BUILD, identities_nodes.lines(r, kind))]
    differ = [a for a in answers if a[1] != "same"]
    assert not any(a[1].startswith("refused") for a in differ if not r.kept), differ
    if r.kept:
        assert differ or not answers, "%s is kept for no reason" % r.rule
    else:
        assert not differ
        assert answers or not any(s[0] == "==" for s in r.says), "%s asks for nothing" % r.rule
    if r.over:
        wide = [a for a in identities_nodes.answers(ravel.BUILD, identities_nodes.lines(r, "signed")) if a[1] != "same"]
        assert wide, "%s is one node for all values" % r.rule


# wrong rules

PLANTS = [("3", "x + y//c", "x + y//c + 1"), ("5", "== y%c", "== y%(c + 1)"), ("7", "0 <= y < c", "0 <= y <= c"),
          ("8", "0 <= y < c", "y < c"), ("10", "0 <= y < g", "0 <= y"), ("12", "x//(c*d)", "x//(c + d)"), ("14", "(x//c)%d", "(x//c)%c"),
          ("17", "x < (n + 1)*c", "x <= (n + 1)*c"), ("22", "== x//a", "== x//c"), ("35", "x <= n <= y", "x <= n"),
          ("45", "(1<<k) - 1", "(1<<k) - 2"), ("47", "0 <= y < 1<<k", "0 <= y < 2<<k"), ("50", " and 0 <= z < 1<<k", ""),
          ("54", "0 <= x < 1<<k", "0 <= x"), ("55", " and s >= k", " and s >= k - 1"), ("57", "x + y -", "x + y +"),
          ("63", " and p & q == 0", ""), ("77", " and p & q == 0", ""), ("80", "x <= y", "x <= y + 1"), ("82", "p | q", "p & q"),
          ("86", "a*q", "b*q")]


@pytest.mark.parametrize("rule,old,new", PLANTS)
def test_planted(rule, old, new):
    """The same table with one rule changed: both methods find it, by the very queries that prove the true one."""
    head, *rows = identities.TABLE.read_text().split("[[identity]]")
    at = next(i for i, row in enumerate(rows) if 'rule = "%s"\n' % rule in row)
    assert old in rows[at]
    rows[at] = rows[at].replace(old, new)
    rules = {r.rule: r for r in identities.load("[[identity]]".join([head] + rows))}
    assert identities.counterexample(rules[rule])[1]
    words = smt.ask([q for q in smt.queries(rules[rule], rules) if "K" not in rules[rule].proof or q.form == "K"])
    assert "sat" in words


def mutants(r):
    """Every way to drop one side condition, to move one number by one, to exchange one < and <=, + and -, * and +."""
    for says in range(len(r.says)):
        for m in mutations(r.says[says]):
            yield r._replace(says=[m])
    parts = identities_nodes.conjuncts(r.when) if r.when else []
    for i in range(len(parts)):
        left = parts[:i] + parts[i + 1:]
        yield r._replace(when=smt.conjunction(left) if left else None)
    for m in mutations(r.when) if r.when else []:
        yield r._replace(when=m)


SWAP = {"<": "<=", "<=": "<", "+": "-", "-": "+", "*": "+", "&": "|", "min": "max", "max": "min"}


def mutations(x):
    if isinstance(x, int):
        yield x + 1
    elif isinstance(x, tuple):
        if x[0] in SWAP:
            yield (SWAP[x[0]], *x[1:])
        for i in range(1, len(x)):
            for y in mutations(x[i]):
                yield (*x[:i], y, *x[i + 1:])


def at_constants(r, at):
    """The queries of form K, with the constants of one point alone."""
    to = {v: at[v] for v, k in r.vars.items() if k != "int"}
    given = [identities.replace(g, to) for g in smt.conditions(r, r.vars)]
    return smt.Query("K", smt.BITS if "B" in r.proof else smt.EACH, {v: k for v, k in r.vars.items() if v not in to}, given,
                     identities.replace(smt.conjunction(r.says), to))


@ids(TRUE)
def test_methods_agree(r):
    """On every small change of a rule that brute force finds wrong, z3 does too, at the same constants: so both read the
    table alike."""
    queries, expected = [], []
    for m in mutants(r):
        n, at = identities.counterexample(m)
        if at:
            queries.append(at_constants(m, at))
            expected.append((m, at))
    words = smt.ask(queries)
    print("# rule %s: %d changes found" % (r.rule, len(words)))
    for (m, at), word in zip(expected, words):
        assert word == "sat", (r.rule, word, [identities.text(s) for s in m.says], m.when, at)


# cited

def functions(source):
    """(name, what stands before it and in it) of every function defined in a file."""
    for m in re.finditer(r"^(?:/\*(?:[^*]|\*(?!/))*\*/\n)?[\w ]+\*?\n(\w+)\([^;{}]*\)\n\{\n(?:[^}\n].*\n|\n)*\}\n", source, re.M):
        yield m[1], m[0]


def cited(code):
    """Rule numbers in its comments: "rule 7", "rules 7 to 10, 17", and after the first also a number alone in parentheses."""
    out = set()
    for comment in re.findall(r"/\*(?:[^*]|\*(?!/))*\*/", code):
        words = re.sub(r"\n \* ?", " ", comment)
        m = re.search(r"\b[Rr]ules? \d", words)
        for numbers in re.findall(r"(?:\b[Rr]ules? |[(])(\d+(?:(?:[,;] | to | and )\d+)*)(?=[\s.,;):]|$)", words[m.start():] if m else ""):
            for part in re.split(r"[,;] | and ", numbers):
                a, _, b = part.partition(" to ")
                out |= set(map(str, range(int(a), int(b or a) + 1)))
    return out


CITED = {}
for source in SOURCES.values():
    for function, code in functions(source):
        CITED[function] = CITED.get(function, set()) | cited(code)


def test_every_citation_is_a_rule():
    known = {r.rule for r in TRUE}
    assert set().union(*map(cited, SOURCES.values())) <= known


def test_used_and_cited_agree():
    """A function says which rules it relies on, and a rule which functions rely on it; neither alone."""
    used = {}
    for r in TRUE:
        for f in r.used:
            used.setdefault(f, set()).add(r.rule)
    assert used.keys() <= CITED.keys(), used.keys() - CITED.keys()
    assert {f: rules for f, rules in CITED.items() if rules} == used


@pytest.mark.parametrize("file", PLUMBING)
def test_every_function_of_the_core_is_entered(file):
    """A constructor added later cites its rules, and so stands in the table."""
    found = dict(functions(SOURCES[file]))
    assert len(found) == len(re.findall(r"^\{$", SOURCES[file], re.M))
    assert {f for f in found if not cited(found[f])} == set(PLUMBING[file])


def test_facts_of_a_rule_that_nobody_uses_are_rare():
    assert len([r for r in TRUE if not r.used]) < 30


# random expressions

@pytest.mark.parametrize("part", range(10))
def test_random_expressions(part):
    """A million expressions, 100,000 a part: SEED in the environment is added to the part's own."""
    seed = 1000*int(os.environ.get("SEED", "0"), 0) + part + 1
    r = subprocess.run([ravel.BUILD / "tests/test_expr"], env={**os.environ, "SEED": str(seed), "ROUNDS": "100000"}, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print("\n".join(line for line in r.stdout.splitlines() if line.startswith("#")))
    assert r.returncode == 0, r.stdout[-3000:]


# written

def test_page_is_current():
    assert identities.PAGE.read_text() == identities.page(), "run `make identities`"


def test_grammar():
    assert identities.text(parse("a + b*c ~ d & ~e << 2 // f")) == "((a + (b * c)) ~ (d & ((~e) << (2 // f))))"
    assert identities.text(parse("0 <= a < b implies not_a == -a")) == "(((0 <= a) and (a < b)) implies (not_a == (-a)))"
    assert identities.value(parse("-7 // 2 * 10 + -7 % 2 + quot(-7, 2)"), {}) == -40 + 1 - 3
    for bad in ["a +", "a b", "sin(a)", "(a", "a ^ b"]:
        with pytest.raises((SyntaxError, IndexError)):
            parse(bad)
