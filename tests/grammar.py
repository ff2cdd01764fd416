"""The grammars of docs/ir, and whether a text is derived from a rule of one: an oracle for what the program prints.

A rule is a line `name = ...` of an indented block, with its continuations; `[ ]` may be absent, `{ }` may be repeated, `|` separates alternatives, and
what follows three blanks is a remark.  Blanks and ends of lines in the text do not count, but for `text`, which is the rest of a line."""

import re

import ravel

WORDS = re.compile(r"0x[0-9a-f]+|\d+\.\d+(?:e[+-]?\d+)?|\d+(?:e[+-]?\d+)?|[A-Za-z_]\w*|\.\.\.|\.\.|//|<=|==|:=|<<|>>|\S")
PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|[][{}()|]')
TERMINALS = {"name": r"[A-Za-z_]\w*", "number": r"\d+", "hex": r"0x[0-9a-f]+", "decimal": r"\d+(\.\d+)?(e[+-]?\d+)?", "times": r"x\d+"}


def rules_of(page):
    """{name: right side} of the indented blocks after the heading "Text"."""
    rules, name = {}, None
    section = page.split("\n## Text\n")[1].split("\n## ")[0]
    for line in re.sub(r"^```.*?^```$", "", section, flags=re.M | re.S).splitlines():
        head = re.match(r"    (\w+) += (.*)", line)
        if head:
            name = head.group(1)
        if line.startswith("    "):
            rules[name] = rules.get(name, "") + " " + re.split(r" {3,}", head.group(2) if head else line.strip())[0]
    return rules


def parsed(right):
    """The tree of the right side of a rule."""
    parts = PARTS.findall(right)
    assert "".join(parts) == re.sub(r'("(?:[^"\\]|\\.)*")|\s', lambda m: m.group(1) or "", right), right

    def choice(end):
        ways, way = [], []
        while parts and parts[0] != end:
            p = parts.pop(0)
            if p == "|":
                ways.append(("all", way))
                way = []
            elif p in "[{(":
                way.append(({"[": "maybe", "{": "many", "(": "group"}[p], choice({"[": "]", "{": "}", "(": ")"}[p])))
            elif p[0] == '"':
                way += [("word", w) for w in WORDS.findall(p[1:-1].replace('\\"', '"'))]
            else:
                way.append(("rule", p))
        assert not end or parts.pop(0) == end, right
        return ("any", ways + [("all", way)])

    return choice(None)


class Grammar:
    def __init__(self, *pages):
        self.rules = {}
        for page in pages:
            for name, right in rules_of((ravel.ROOT / "docs/ir" / page).read_text()).items():
                assert name not in self.rules, (page, name)
                self.rules[name] = parsed(right)
        self.used = set()

    def undefined(self):
        """Names that no rule defines."""
        def names(tree):
            kind, x = tree
            return {x} if kind == "rule" else set() if kind == "word" else set().union(*map(names, x if isinstance(x, list) else [x]))
        return set().union(*map(names, self.rules.values())) - set(self.rules) - set(TERMINALS) - {"text"}

    def flaw(self, rule, text):
        """None where the text is derived from the rule; else the line at whose words every derivation ends."""
        words = [(m.group(), i) for i, line in enumerate(text.splitlines()) for m in WORDS.finditer(line)]
        memo, farthest = {}, [0]

        def ends(tree, at):
            kind, x = tree
            farthest[0] = max(farthest[0], at)
            if kind == "word":
                return {at + 1} if at < len(words) and words[at][0] == x else set()
            if kind == "rule" and x == "text":
                last = at
                while last < len(words) and at and words[last][1] == words[at - 1][1]:
                    last += 1
                return {last}
            if kind == "rule" and x in TERMINALS:
                return {at + 1} if at < len(words) and re.fullmatch(TERMINALS[x], words[at][0]) else set()
            key = (id(tree) if kind != "rule" else x, at)
            if key not in memo:
                memo[key] = set()
                memo[key] = derived(kind, x, at)
            return memo[key]

        def derived(kind, x, at):
            if kind == "rule":
                return ends(self.rules[x], at)
            if kind == "any":
                return set().union(*(ends(way, at) for way in x))
            if kind in ("maybe", "group"):
                return ends(x, at) | ({at} if kind == "maybe" else set())
            now = {at}
            if kind == "all":
                for part in x:
                    now = set().union(*(ends(part, k) for k in now))
                return now
            found = {at}
            while now:
                now = set().union(*(ends(x, k) for k in now)) - found
                found |= now
            return found

        if len(words) in ends(("rule", rule), 0):
            return None
        return "%d: %s" % (words[min(farthest[0], len(words) - 1)][1] + 1, text.splitlines()[words[min(farthest[0], len(words) - 1)][1]])
