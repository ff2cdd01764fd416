"""Completion: what each shell offers is what `ravel COMMAND --help` lists."""
import re
import shutil
import subprocess

import numpy as np
import pytest

import ravel

RAVEL = ravel.BUILD / "ravel"
VALUES = {"--dtype": {"f32", "bf16", "u1", "c128"}, "--kind": {"relayout", "offset", "inverse", "visit", "load", "store"}, "--target": {"c", "cuda", "glsl"},
          "--from": {"NCHW", "NC1HWC0"}, "--by": {"address", "bank", "register"}, "--shape": set(), "--threshold": set(), "--duplicates": {"sum", "first", "last", "error"},
          "--index-type": {"i32", "i64"}, "--processor": {"default", "zen3", "zen4", "emerald-rapids", "here"}}


def said(*args):
    return subprocess.run([RAVEL, *args], check=True, capture_output=True, text=True).stdout


COMMANDS = re.findall(r"^  (\w+) ", said("--help"), re.M)


def options(command):
    """The long options of the help, which glibc's argp writes."""
    return set(re.findall(r"^ +(?:-\S, )? *(--[a-z-]+)", said(command, "--help"), re.M)) - {"--usage"}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    top = tmp_path_factory.mktemp("completion")
    (top / "a file.npy").touch()
    np.savez(top / "an archive.npz", **{"blk.0.w": np.zeros(3, "f2"), "blk.0.b": np.zeros((2, 3)), "$(touch made)": np.zeros(1), "other": np.zeros(2)})
    for shell in ("bash", "zsh", "fish"):
        (top / shell).write_text(said("completion", shell))
    return top


def run(shell, scripts, text):
    if not shutil.which(shell):
        pytest.skip(shell + " is not installed")
    path = {"PATH": "%s:/usr/bin:/bin" % ravel.BUILD, "HOME": str(scripts), "TERM": "dumb"}
    r = subprocess.run([shell, *(["-f"] if shell == "zsh" else []), "-c", text], cwd=scripts, env=path, capture_output=True, text=True, timeout=60)
    assert r.returncode == 0 and not r.stderr, r
    return r.stdout.splitlines()


def bash(scripts, *words):
    """What is offered for the last of the words; `=` is a word of its own there."""
    quoted = " ".join("'%s'" % w for w in words)
    return run("bash", scripts, "source ./bash; complete -p ravel >/dev/null; COMP_WORDS=(ravel %s); COMP_CWORD=%d; _ravel; printf '%%s\\n' \"${COMPREPLY[@]}\""
               % (quoted, len(words)))


def fish(scripts, *words):
    return [line.split("\t")[0] for line in run("fish", scripts, "source ./fish; complete -C 'ravel %s'" % " ".join(words))]


def zsh(scripts, command):
    """The specifications that zsh's own _arguments receives."""
    return run("zsh", scripts, "_arguments() { print -rl -- $@ }; _describe() { print -rl -- ${(P)2} }; words=(ravel %s ''); CURRENT=%d; source ./zsh"
               % (command, 3 if command else 2))


def test_commands(scripts):
    assert COMMANDS == [c for c in bash(scripts, "") if c]
    assert COMMANDS == [line.split(":")[0] for line in zsh(scripts, "")]
    assert set(COMMANDS) <= set(fish(scripts, "''"))


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_those_of_the_help(scripts, command):
    want = options(command)
    assert "--help" in want
    assert want == {w for w in bash(scripts, command, "-") if w.startswith("--")}
    assert want == {re.match(r"\*?(--[a-z-]+)", line).group(1) for line in zsh(scripts, command) if re.match(r"\*?--", line)}
    assert want - {"--help"} <= {w.rstrip("=") for w in fish(scripts, command, "--")}


@pytest.mark.parametrize("option", VALUES)
def test_values(scripts, option):
    command = next(c for c in ("emit", "show") if option in options(c))
    for offered in (bash(scripts, command, option, ""), bash(scripts, command, option, "="), fish(scripts, command, option, "''")):
        files = {"a file.npy"} & set(offered)
        assert VALUES[option] <= set(offered) and (files or option != "--from"), (option, offered)
    typed = bash(scripts, command, option, "=", min(VALUES[option] or "f")[:1])
    assert (typed != [""]) == bool(VALUES[option]), (option, typed)
    [spec] = [s for s in zsh(scripts, command) if s.startswith(option)]
    assert option == "--from" and spec.endswith(":_ravel_layouts") or all(w in re.split(r"[( )]", spec) for w in VALUES[option])


def test_arguments(scripts):
    for offered in (bash(scripts, "show", "N"), fish(scripts, "show", "N")):
        assert {"NCHW", "NHWC", "NC1HWC0"} <= set(offered)
    for offered in (bash(scripts, "convert", "a"), fish(scripts, "convert", "a")):
        assert any("a file.npy" in w.replace("\\", "") for w in offered), offered
    assert bash(scripts, "completion", "") == ["bash", "zsh", "fish"]


def test_another_shell():
    r = subprocess.run([RAVEL, "completion", "tcsh"], capture_output=True, text=True)
    assert (r.returncode, r.stdout) == (2, "") and "'tcsh'" in r.stderr and "bash zsh fish" in r.stderr


def test_tensors(scripts):
    """The names of arrays in the file of the command line.  bash would run what is in a name."""
    line = ("convert", "an\\ archive.npz", "y.npy", "--tensor")
    assert {"blk.0.w", "blk.0.b"} == set(bash(scripts, *line, "blk")) and {"blk.0.w", "blk.0.b", "other"} == set(bash(scripts, *line, "="))
    assert {"blk.0.w", "blk.0.b"} == set(fish(scripts, *line, "blk"))
    got = run("zsh", scripts, "_arguments() {}; compadd() { shift; print -rl -- $@ }; words=(ravel %s ''); CURRENT=6; source ./zsh; _ravel_tensors" % " ".join(line))
    assert {"blk.0.w", "blk.0.b", "other"} <= set(got)
    [spec] = [s for s in zsh(scripts, "convert") if s.startswith("--tensor")]
    assert spec.endswith(":_ravel_tensors") and not (scripts / "made").exists()
