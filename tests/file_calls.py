"""Which .c files of a folder call which others, read from their text; and the circles among them.

A file calls another one if it calls a function that the other defines, or names its data.  A function that is only named, as in a table
of commands, is called by who reads the table, and not by the file with the table.
"""

import os
import re

TYPES = set("void int char bool".split())              # of a function that returns a function: void (*f(int))(void)
# Comments, texts and characters, in the order in which they begin.
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
NAMED = re.compile(r"(\.\s*|->\s*)?\b([A-Za-z_]\w*)\b(?=(\s*\()?)")


def code_of(text):
    """The text without comments and literals."""
    return NO_CODE.sub(lambda m: " " if m[0].startswith("/") else '""', text)


def is_function(head):
    return "=" not in head and re.search(r"\w\s*\(", head) and not re.match(r"\s*(typedef|_Static_assert)\b", head)


def declarations(code):
    """(what is before the first brace, or all of it; whether there is a brace) of each declaration at the top of a file."""
    head, depth, braced = "", 0, False
    for part in re.split(r"([{};])", code):
        if part == "{":
            depth, braced = depth + 1, True
        elif part == "}":
            depth -= 1
        elif part != ";" and depth == 0 and not braced:
            head += part
        if depth == 0 and (part == ";" or (part == "}" and is_function(head))):
            yield head, braced
            head, braced = "", False


def name_of(head):
    """The function or the data that is declared; None: a type."""
    head = re.sub(r"\b_Alignas\s*\([^()]*\)|\b__attribute__\s*\(\([^()]*\)\)", "", head).strip()
    if not head or re.match(r"(typedef|_Static_assert)\b", head):
        return None
    if is_function(head):
        return next((n for n in re.findall(r"\b(\w+)\s*\(", head) if n not in TYPES), None)
    head = re.sub(r"(\[[^][]*\]\s*)+$", "", head.split("=")[0].strip()).strip()
    if re.match(r"(const\s+)?(enum|struct|union)\s*\w*$", head):
        return None
    found = re.search(r"\w[\w\s*]*?\b(\w+)$", head)
    return found and found[1]


class File:
    """The names of a file: functions and data that others may use, `own` ones, and those of its macros."""

    def __init__(self, text):
        code = code_of(text)
        self.included = [os.path.basename(name) for name in INCLUDE.findall(text)]
        self.macros = {m[1]: set(re.findall(r"[A-Za-z_]\w*", m[2])) for m in MACRO.finditer(code)}
        self.code = DIRECTIVE.sub("", code)
        self.functions, self.data, self.own = set(), set(), set()
        for head, braced in declarations(self.code):
            name, function = name_of(head), is_function(head)
            if name and re.search(r"\bstatic\b", head):
                self.own.add(name)
            elif name and function and braced:
                self.functions.add(name)
            elif name and not function and not re.search(r"\bextern\b", head) and (braced or "=" in head):
                self.data.add(name)

    def uses(self, macros):
        """(names that are called, all names), apart from members and the file's own."""
        macros = {**macros, **self.macros}
        called, named = set(), set()
        for m in NAMED.finditer(self.code):
            if m[1] or m[2] in self.own:
                continue
            inside = macros.get(m[2], set())
            named |= inside | {m[2]}
            called |= inside | ({m[2]} if m[3] else set())
        return called, named


def macros_of(file, headers):
    """Those of the headers that a file includes, also through others."""
    found, seen, todo = {}, set(), list(file.included)
    while todo:
        name = todo.pop()
        if name in headers and name not in seen:
            seen.add(name)
            found.update(headers[name].macros)
            todo += headers[name].included
    return found


def calls(texts):
    """{file: {other file: names}} of the .c files of {name of a file: text}, of one folder with its headers."""
    files = {name: File(text) for name, text in texts.items()}
    headers = {name: files.pop(name) for name in texts if name.endswith(".h")}
    function = {name: path for path, f in files.items() for name in f.functions}
    data = {name: path for path, f in files.items() for name in f.data}
    graph = {path: {} for path in files}
    for path, f in files.items():
        called, named = f.uses(macros_of(f, headers))
        for name in sorted(named):
            other = data.get(name, function.get(name) if name in called else None)
            if other and other != path:
                graph[path].setdefault(other, []).append(name)
    return graph


def circles(graph):
    """Sets of files each of which reaches all others of the set."""
    below = {path: set(graph[path]) for path in graph}
    for middle in below:
        for path in below:
            if middle in below[path]:
                below[path] |= below[middle]
    found = {frozenset(other for other in below[path] if path in below[other]) for path in below if path in below[path]}
    return sorted(found, key=sorted)
