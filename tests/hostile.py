"""What the tests of hostile inputs share: a command run in an empty folder, whose refusal is one line and leaves nothing behind."""

import os
import re
import subprocess

import pytest

import ravel

RAVEL = str(ravel.BUILD / "ravel")
COMMANDS = "list devices show index table check emit convert explain".split()
SPEC = 'layout "A" { doc = "one", dims = { M, K }, order = { K, M } }\n'


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*args, **kw):
    kw.setdefault("timeout", 60)
    return subprocess.run([RAVEL, *args], capture_output=True, **kw)


def good(*args, **kw):
    r = run(*args, **kw)
    assert (r.returncode, r.stderr) == (0, b""), r
    return r.stdout


def bad(*args, says=(), **kw):
    """Refused: 2, nothing on standard output, nothing made, every piece of `says` in what is said."""
    before = snapshot()
    r = run(*args, **kw)
    assert (r.returncode, r.stdout) == (2, b""), r
    text = r.stderr.decode()
    assert text.startswith("ravel") and text.endswith("\n") and shown(r.stderr), r
    for s in [says] if isinstance(says, str) else says:
        assert s in text, (s, text)
    assert snapshot() == before
    return text


def snapshot():
    """Every name below here, with the bytes of what is a file."""
    return {os.path.join(d, f): open(os.path.join(d, f), "rb").read() if os.path.isfile(os.path.join(d, f)) else None
            for d, dirs, files in os.walk(b".") for f in files + dirs}


def shown(text):
    """No byte of it is for the terminal: UTF-8, and of the controls only newline and tab."""
    s = text.decode()
    return not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", s)
COMPILERS = {"gcc": "gcc -std=c99 -Wall -Wextra -Werror", "clang": "clang -std=c99 -Wall -Wextra -Werror", "tcc": "tcc -Wall -Werror"}
