"""explain of sparse conversions: phases, queries and passes are those of the C that emit writes; as text and as JSON."""

import json
import re

import pytest

import ravel
from sparse_arrays import good, run

FORMATS = ["ROW_MAJOR", "COO", "CSR", "CSC", "BSR", "ELL", "DIA", "JDS", "SELL", "DCSR", "CSR_ANY", "SEMI24"]
PAIRS = [(a, b, "64,48", "f32") for a in FORMATS for b in FORMATS if a != b or a in ("COO", "CSR_ANY")]
PAIRS += [("COO", "CSR", "100000,100000", "f64"), ("COO", "CSR", "100000,100000000", "f32"), ("CSR", "CSC", "100000,100000", "f32"), ("CSC", "BSR", "100000,100000", "f32"), ("COO", "DIA", "100000,100000", "f32"),
          ("CSR", "CSC", "64,48", "i4"), ("COO", "ROW_MAJOR", "64,48", "u1"), ("COO3", "CSF3", "9,8,7", "pattern"), ("CSR", "COO", "64,48", "pattern"), ("SEMI24", "ROW_MAJOR", "64,48", "f16")]
# steps that only set the state of others
STATE = {"pass", "answer", "tiles"}


def blocks_of_c(text, name):
    """[function, comment, [(bound of the loop or None, {step: [calls, arrays of the source, of the destination, those of it that are const]})]] of the C of f_sizes and f."""
    phases = []
    const = {step: [x.split()[0] == "const" for x in parameters.split(",")] for step, parameters in re.findall(r"^ravel_stream_(\w+)\((.*?)\)\n\{", text, re.M | re.S)}
    head = re.search(r"in, n: .*?:((?: \[\d+\] \w+:\w+)*)", text).group(1), re.search(r"out, m: .*?:((?: \[\d+\] \w+:\w+)*)", text).group(1)
    names = [dict(re.findall(r"\[(\d+)\] (\w+):", h)) for h in head]
    last = list(names[0].values())[-1]
    names[1][str(len(names[1]))] = "scratch"
    for function, suffix in ("sizes", "_sizes"), ("fill", ""):
        body = re.search(r"^%s%s\(void \*work[^;]*?\n\{\n(.*?)^\}" % (name, suffix), text, re.M | re.S).group(1)
        bound = None
        for line in body.splitlines():
            comment, loop = re.match(r"    /\* (.*) \*/", line), re.match(r"    for \(int64_t (\w+) = 0; \1 < (.*); \1 \+= 512\)", line)
            call = re.match(r" +ravel_stream_(\w+)\((.*)\);", line)
            if comment:
                phases.append([function, comment.group(1), [(None, {})]])
            elif loop:
                bound = loop.group(2)
                phases[-1][2].append((bound, {}))
            elif line == "    }":
                bound = None
                phases[-1][2].append((None, {}))
            elif call and call.group(1) not in STATE:
                step = phases[-1][2][-1][1].setdefault(call.group(1), [0, set(), set(), set()])
                step[0] += 1
                step[1] |= {names[0][i] for i in re.findall(r"\bin\[(\d+)\]", call.group(2))} | ({last} if "s->values" in call.group(2) else set())
                for argument, read in zip(call.group(2).split(","), const[call.group(1)]):
                    step[3 if read else 2] |= {names[1][i] for i in re.findall(r"\bout\[(\d+)\]", argument)}
            else:
                assert call or re.match(r"    (ravel_stream \*s|\(void\)|return)", line), line
    return [[f, w, [b for b in blocks if b[1]]] for f, w, blocks in phases]


def over(bound, records="s->records"):
    return None if bound is None else "the records" if bound == records else bound + " parents" if bound.isdigit() else "the positions of the source"


def blocks_of_json(phases):
    told = []
    for p in phases:
        blocks = [(None, {})]
        for s in p["steps"]:
            if "over" in s:
                assert s["batch"] == 512
                blocks += [(s["over"], {x["step"]: [x["calls"], set(x["source"]), set(x["destination"]), set(x["reads"])] for x in s["steps"]}), (None, {})]
            else:
                blocks[-1][1][s["step"]] = [s["calls"], set(s["source"]), set(s["destination"]), set(s["reads"])]
        told.append([p["function"], p["what"], [b for b in blocks if b[1]]])
    return told


@pytest.fixture(scope="module")
def told():
    """(words of the conversion, its C, explain as text and as JSON) of each pair that is converted."""
    found = []
    for a, b, shape, dtype in PAIRS:
        words = ["--from", a, "--to", b, "--shape", shape, "--dtype", dtype]
        r = run("emit", *words, "--name", "f", "-o", "-")
        if r.returncode == 0:
            found.append((words, r.stdout, good("explain", *words), json.loads(good("explain", *words, "--json"))))
    assert len(found) > 130
    return found


def test_what_is_told_is_what_the_code_does(told):
    """Phases, loops, steps with the number of calls, and arrays, of each conversion against its C."""
    seen = set()
    for words, c, text, j in told:
        of_c = [[f, w, [(over(bound), steps) for bound, steps in blocks]] for f, w, blocks in blocks_of_c(c, "f")]
        assert blocks_of_json(j["phases"]) == of_c, words
        assert list(dict.fromkeys(p[0] for p in of_c)) == ["sizes", "fill"], words
        seen |= {s for _, _, blocks in of_c for _, steps in blocks for s in steps}
    assert len(seen) > 80, seen


def test_roles(told):
    """Steps that are passes are outside of loops, those of columns in them; a check is before all others and does not write."""
    for words, _, _, j in told:
        past = False
        for p in j["phases"]:
            for s in p["steps"]:
                for x in s.get("steps", [s]):
                    looped = x is not s
                    assert not (x["is"] == "pass" and looped) and not (x["is"] == "read" and not looped), (words, x)
                    assert x["is"] in ("memory", "check", "query", "read", "write", "pass"), x
                    assert x["is"] == "memory" or x["is"] == "check" or not x["step"].startswith("check_"), x
                    assert not x["destination"] or (p["function"] == "fill" and x["is"] in ("write", "pass", "query")), (words, x)
                    assert not (x["is"] == "check" and past), words
                past |= "over" not in s and s["is"] in ("query", "pass")


def test_the_text_is_the_json(told):
    for words, _, text, j in told:
        lines = []
        for p in j["phases"]:
            lines.append("  %s: %s" % (p["function"], p["what"]))
            for s in p["steps"]:
                if "over" in s:
                    lines.append("    in batches of 512, over " + s["over"])
                for x in s.get("steps", [s]):
                    to = [" ->", *x["destination"]] if x["destination"] else [""]
                    what = " ".join([x["step"] + (" x%d" % x["calls"] if x["calls"] > 1 else ""), *x["source"], *x["reads"]]) + " ".join(to)
                    lines.append("%s%-6s %s: %s" % (" " * (6 if "over" in s else 4), x["is"], what, x["what"]))
        assert text.split("\nphases\n")[1].splitlines() == lines, words
        assert "way: %s: %s\n" % (j["way"], j["why"]) in text and ("\n  equal entries: %s\n" % j.get("equal_entries") in text) == ("equal_entries" in j)
        for side in "from", "to":
            arrays = " ".join("%s:%s" % (a["name"], a["dtype"]) for a in j[side]["arrays"])
            assert "%s: %s\n" % (side, j[side]["format"]) in text and "  arrays    %s\n" % arrays in text
            assert all("  %s = %s\n" % d in text for d in j[side]["dims"].items())


def test_refused():
    words = ["--from", "CSR", "--to", "CSC", "--shape", "9,9", "--dtype", "f32"]
    r = run("explain", *words, "--json", "--statements")
    assert (r.returncode, r.stderr) == (2, "ravel: --statements is text\n")
    r = run("explain", *words, "--html", "a.html")
    assert r.returncode == 2 and "--html is for layouts, not for sparse formats" in r.stderr


@pytest.mark.parametrize("name, shape, says", [
    ("CSR", "9,8", {"one_to_one": "yes", "padded": False, "every_array_fits": True, "shape": [9, 8], "dims": {"R": "l1", "C": "l2"}}),
    ("COO", None, {"one_to_one": "no", "padded": False, "every_array_fits": True, "shape": [64, 64]}),
    ("ELL", "3,4", {"one_to_one": "yes", "padded": True, "every_array_fits": True}),
    ("SEMI24", "4,8", {"one_to_one": "yes", "padded": True, "every_array_fits": False, "entries_below_a_parent": 2}),
    ("DIA", "5,6", {"dims": {"R": "-l1 + l2 + 4", "C": "l2"}, "padded": True})])
def test_check_json(name, shape, says):
    """check --json of a sparse format says what its text says."""
    of = ["check", name, *(["--shape", shape] if shape else [])]
    text, j = good(*of), json.loads(good(*of, "--json"))
    assert says.items() <= j.items() and j["layout"] == name and j["place_depends_on_data"] is True
    assert text.startswith("yes: %s gives each coordinate of shape %s one path" % (name, ",".join(map(str, j["shape"]))))
    assert ("not one-to-one" in text) == (j["one_to_one"] == "no") and ("hold the fill" in text) == j["padded"] and ("not every array fits" in text) != j["every_array_fits"]
    lines = re.findall(r"^  level \d+ +(\w+) +(.*?)(?:, below (\d+))?(?:, stored less (\d+))?; to find one: (.*)$", text, re.M)
    assert [(l["kind"], l.get("coordinate"), str(l.get("below", "")), str(l.get("stored_less") or ""), l["to_find_one"]) for l in j["levels"]] == \
        [(k, None if x.startswith("the number") else x, n, bias, access) for k, x, n, bias, access in lines] and lines
    assert re.findall(r"(\w+):(\w+)", text.split("  arrays ")[1].splitlines()[0]) == [(a["name"], a["dtype"]) for a in j["arrays"]]
    assert dict(re.findall(r"^  (\w+) = (.*)$", text, re.M)) == j["dims"]
