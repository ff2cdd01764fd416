"""What a project has around its code: the archive of `make dist`, release notes, the workflow, the hook."""
import os
import re
import shutil
import subprocess
import tarfile

import pytest

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


def test_targets_that_are_named():
    """Every target of make in the workflow, the hook and CONTRIBUTING is one; the hook is shell, and its tests are files."""
    targets = set(re.findall(r"^([a-z-]+)(?:(?: [a-z-]+)*):(?!=)", "".join((ravel.ROOT / f).read_text() for f in ("Makefile", "package/package.mk")), re.M))
    for f in (".github/workflows/test.yml", "CONTRIBUTING.md", "package/pre-commit"):
        text = (ravel.ROOT / f).read_text()
        named = set(re.findall(r"(?:run: |`|&& )make ([a-z]+)", text))
        assert named <= targets, (f, named - targets)
    hook = ravel.ROOT / "package/pre-commit"
    subprocess.run(["sh", "-n", hook], check=True)
    assert os.access(hook, os.X_OK) and all((ravel.ROOT / t).exists() for t in re.findall(r"tests/\w+\.py", hook.read_text()))
