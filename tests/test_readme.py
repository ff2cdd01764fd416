"""The README and docs/: what a command prints there is what it prints, and links lead to files."""

import os
import re
import subprocess

import numpy as np
import pytest

import ravel

PAGES = sorted([*ravel.ROOT.glob("*.md"), *ravel.ROOT.glob("*/*.md")])
TEXT = (ravel.ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```console\n(.*?)^```$", TEXT, re.M | re.S)


def asked(block):
    """[(command, printed)]; a line `...` there stands for any lines."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.M)
    assert parts[0] == ""
    return list(zip(parts[1::2], parts[2::2]))


def pattern(printed):
    return "".join("(?:.*\n)*?" if line == "...\n" else re.escape(line) for line in printed.splitlines(keepends=True))


def test_commands_print_what_the_readme_says(tmp_path):
    spec = re.search(r"^```lua\n(layout \"MINE\".*?)^```$", TEXT, re.M | re.S).group(1)
    (tmp_path / "mine.lua").write_text(spec)
    np.save(tmp_path / "x.npy", np.arange(1400, dtype="f2").reshape(2, 20, 5, 7))
    there = {**os.environ, "PATH": "%s:%s" % (ravel.BUILD, os.environ["PATH"])}
    commands = [c for block in BLOCKS for c in asked(block)]
    assert len(commands) >= 8
    for command, printed in commands:
        r = subprocess.run(command, shell=True, cwd=tmp_path, env=there, capture_output=True, text=True, timeout=120)
        assert r.returncode in (0, 1) and not r.stderr, (command, r)
        assert re.fullmatch(pattern(printed), r.stdout), (command, r.stdout)


TUTORIAL = (ravel.ROOT / "specs/README.md").read_text()


def test_commands_print_what_the_tutorial_says(tmp_path):
    for name, body in re.findall(r"^```(?:lua|c)\n((?:--|/\*) (?:\w+)\.(?:lua|c)\b)(.*?)^```$", TUTORIAL, re.M | re.S):
        with open(tmp_path / name.split()[1], "a") as f:
            f.write(name + body)
    there = {**os.environ, "PATH": "%s:%s" % (ravel.BUILD, os.environ["PATH"])}
    commands = [c for block in re.findall(r"^```console\n(.*?)^```$", TUTORIAL, re.M | re.S) for c in asked(block)]
    assert len(commands) > 25
    for command, printed in commands:
        r = subprocess.run(command, shell=True, cwd=tmp_path, env=there, capture_output=True, text=True, timeout=120)
        assert r.returncode in (0, 1) and not r.stderr, (command, r)
        assert re.fullmatch(pattern(printed), r.stdout), (command, r.stdout)


def test_commands_print_what_the_reference_says():
    blocks = re.findall(r"^```console\n(.*?)^```$", (ravel.ROOT / "specs/reference.md").read_text(), re.M | re.S)
    assert len(blocks) >= 2
    for command, printed in [c for block in blocks for c in asked(block)]:
        r = subprocess.run(command, shell=True, env={**os.environ, "PATH": "%s:%s" % (ravel.BUILD, os.environ["PATH"])}, capture_output=True, text=True)
        assert r.returncode in (0, 1) and not r.stderr and re.fullmatch(pattern(printed), r.stdout), (command, r.stdout, r.stderr)


def test_the_reference_names_every_layout():
    text = (ravel.ROOT / "specs/reference.md").read_text().split("## Catalogue")[1]
    specs = sorted((ravel.ROOT / "specs").glob("*.lua"))
    assert all("[%s](%s)" % (p.name, p.name) in text for p in specs)
    named = {w for p in specs for w in re.findall(r'^layout "(\w+)"', p.read_text(), re.M)}
    ends = {"NCHW88_WEIGHT_GROUP", "NCHW88_WEIGHT_CHAN"} | {n for n in named if n.startswith("INTER_WEIGHT_")}
    assert {n for n in named if not re.search(r"\b%s\b" % n, text)} <= ends


def test_list_finds_layouts_by_words():
    def found(*words):
        r = subprocess.run([str(ravel.BUILD / "ravel"), "list", *words], capture_output=True, text=True)
        return r.returncode, {line.split()[0] for line in r.stdout.splitlines()}
    assert found("int4", "weights")[1] >= {"MARLIN", "AWQ", "GPTQ4"} and "MARLIN8" not in found("int4", "weights")[1]
    assert found("ethos")[1] == {"NHCWB16"} and found("MARLIN", "scales")[1] == {"MARLIN_SCALES", "MARLIN_SCALES1"}
    assert found("no-such-word")[0] == 1
    assert found("cutlass", "4.5.0", "volta")[1] == {"VOLTA_A", "VOLTA_B", "VOLTA_CROSS", "MMA8_C", "SM70_ROW", "SM70_COL", "SM70_C32"}


def test_picture_is_what_the_first_command_draws(tmp_path):
    command, _ = asked(BLOCKS[0])[0]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True, capture_output=True, timeout=60,
                   env={**os.environ, "PATH": "%s:%s" % (ravel.BUILD, os.environ["PATH"])})
    assert (tmp_path / "tiles.svg").read_bytes() == (ravel.ROOT / "docs/tiles.svg").read_bytes()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ravel.ROOT)))
def test_links_lead_to_files(page):
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", re.sub(r"^```.*?^```$|`[^`]*`", "", page.read_text(), flags=re.M | re.S)):
        assert "://" in link or (page.parent / link).exists(), link


def test_folders_of_the_reference_are_those_there_are():
    table = (ravel.ROOT / "docs/reference.md").read_text().split("## Folders")[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `([\w/]+)/` \|", table, re.M))
    compiler = {str(f.parent.relative_to(ravel.ROOT)) for f in ravel.ROOT.glob("compiler/**/*.c")}
    assert {f for f in named if f.startswith("compiler")} == compiler
    assert all((ravel.ROOT / f).is_dir() for f in named)
