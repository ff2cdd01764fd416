"""The command, run in an empty folder: what it answers, and how it refuses."""

import os
import subprocess

import pytest

import ravel

RAVEL = str(ravel.BUILD / "ravel")
COMMANDS = "list show index table check emit convert verify explain bench tune devices completion".split()


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*args, **kw):
    kw.setdefault("timeout", 60)
    return subprocess.run([RAVEL, *map(str, args)], capture_output=True, **kw)


def good(*args, **kw):
    """Standard output of a command that succeeds without a word of complaint."""
    r = run(*args, **kw)
    assert (r.returncode, r.stderr) == (0, b""), r
    return r.stdout.decode()


def bad(*args, says=(), code=2, **kw):
    """Standard error of one that is refused: nothing on standard output, every piece of `says` in what it says."""
    r = run(*args, **kw)
    assert (r.returncode, r.stdout) == (code, b""), r
    text = r.stderr.decode()
    assert text.endswith("\n") and text.strip()
    for s in [says] if isinstance(says, str) else says:
        assert s in text, text
    return text


def convert(*args, code=0, **more):
    """The text of a conversion: standard output, or standard error of one that is refused."""
    r = run("convert", *args, text=True, **more)
    assert r.returncode == code and bool(r.stderr) == bool(code), r
    return r.stderr if code else r.stdout


def files():
    return sorted(os.listdir())
