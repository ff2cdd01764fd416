"""What a project has around its code: the archive of `make dist`, release notes, the workflow, the hook."""
import itertools
import os
import re
import shutil
import subprocess
import tarfile

import pytest
import yaml

import ravel

VERSION = re.search(r'RAVEL_VERSION "(.*)"', (ravel.ROOT / "runtime/ravel.h").read_text()).group(1)


@pytest.mark.skipif(not (ravel.ROOT / ".git").exists() or not shutil.which("git"), reason="these are no sources in git")
def test_dist(tmp_path):
    """All that is committed and nothing else, the same bytes each time; make reads it without git."""
    def made(folder):
        subprocess.run(["make", "-s", "dist", "B=%s" % (tmp_path / folder)], cwd=ravel.ROOT, check=True)
        return (tmp_path / folder / ("ravel-%s.tar.gz" % VERSION)).read_bytes()
    assert made("a") == made("b")
    with tarfile.open(tmp_path / "a" / ("ravel-%s.tar.gz" % VERSION)) as t:
        names = {m.name.partition("/")[2] for m in t if not m.isdir()}
        t.extractall(tmp_path)
    assert names == set(subprocess.check_output(["git", "ls-tree", "-r", "--name-only", "HEAD"], cwd=ravel.ROOT, text=True).splitlines())
    said = subprocess.check_output(["make", "-n", "all"], cwd=tmp_path / ("ravel-" + VERSION), env={"PATH": "/usr/bin:/bin"}, text=True)
    assert "-DRAVEL_VERSION='\"%s\"'" % VERSION in said


def test_release_notes():
    assert re.findall(r"^## (.+)", (ravel.ROOT / "CHANGELOG.md").read_text(), re.M)[0] == VERSION


def targets():
    return set(re.findall(r"^([a-z-]+)(?:(?: [a-z-]+)*):(?!=)", "".join((ravel.ROOT / f).read_text() for f in ("Makefile", "package/package.mk")), re.M))


def test_targets_that_are_named():
    """Every target of make in the workflow, the hook and CONTRIBUTING is one; the hook is shell, and its tests are files."""
    for f in (".github/workflows/test.yml", "CONTRIBUTING.md", "package/pre-commit"):
        text = (ravel.ROOT / f).read_text()
        named = set(re.findall(r"(?:run: |`|&& )make ([a-z]+)", text))
        assert named <= targets(), (f, named - targets())
    hook = ravel.ROOT / "package/pre-commit"
    subprocess.run(["sh", "-n", hook], check=True)
    assert os.access(hook, os.X_OK) and all((ravel.ROOT / t).exists() for t in re.findall(r"tests/\w+\.py", hook.read_text()))


WORKFLOW = yaml.safe_load((ravel.ROOT / ".github/workflows/test.yml").read_text())


def commands(script):
    """The words of each command, without its redirections and the variables before it."""
    found = [[w for w in re.findall(r"'[^']*'|\S+", c) if not w.startswith(">")] for c in re.split(r"&&|;|\n", script) if c.strip()]
    return [list(itertools.dropwhile(re.compile(r"[A-Z_]+=").match, c)) for c in found]


@pytest.mark.parametrize("job", WORKFLOW["jobs"])
def test_workflow(job):
    """Every step is a checkout, or commands that there are; what make is told are targets and variables, tests are files, and git,
    make, Python and its modules are installed before they are called."""
    installed = set()
    for step in WORKFLOW["jobs"][job]["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"actions/checkout@v\d+", step["uses"]) and "git" in installed
            continue
        for command, *words in commands(step["run"]):
            assert shutil.which(command), step
            assert command in installed | {"apt-get", "tar"}, step
            if words[:2] == ["install", "-y"]:
                installed |= set(words[2:])
                installed |= {"python3"} if any(w.startswith("python3-") for w in words) else set()
            if command == "python3":
                assert words[0] == "-m" and "python3-" + words[1] in installed, step
                assert all((ravel.ROOT / w).exists() for w in words if w.startswith("tests/")), step
            if command != "make":
                continue
            words = words[2:] if words[0] == "-C" else words
            assert words and {w for w in words if "=" not in w} <= targets(), step


def test_hooks_of_pre_commit(tmp_path):
    """The programs of both files are there; the hook for others says no where a spec cannot be read."""
    [hook] = yaml.safe_load((ravel.ROOT / ".pre-commit-hooks.yaml").read_text())
    [repo] = yaml.safe_load((ravel.ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    for entry in (hook["entry"], *(h["entry"] for h in repo["hooks"])):
        assert os.access(ravel.ROOT / entry, os.X_OK)
    good, bad = tmp_path / "good.lua", tmp_path / "bad.lua"
    good.write_text('layout "MINE" { dims = { N, C }, order = { C, N } }\n')
    bad.write_text('layout "MINE" { dims = { N }, order = { Q } }\n')
    for files, status in (([good], 0), ([good, bad], 1), ([bad, good], 1), ([tmp_path / "none.lua"], 1)):
        r = subprocess.run([ravel.ROOT / hook["entry"], *files], env=dict(os.environ, RAVEL=str(ravel.BUILD / "ravel")), capture_output=True, text=True)
        assert (r.returncode, r.stdout) == (status, "") and ("unknown name 'Q'" in r.stderr) == (bad in files)
