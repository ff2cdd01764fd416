"""The libFuzzer targets of tests/fuzz, briefly: everything ever found and all seeds once, then a fixed number of new inputs.
`make fuzz` is the long run.  FUZZ_SEED and FUZZ_RUNS (a factor) can be set."""

import os
import sys

import pytest

import ravel

sys.path.insert(0, str(ravel.ROOT/"tests"/"fuzz"))
import run  # noqa: E402
import seeds  # noqa: E402

BUILD = ravel.ROOT / (os.environ.get("RAVEL_BUILD", "build") + "-fuzz")
SEED = int(os.environ.get("FUZZ_SEED", "20240611"))
RUNS = float(os.environ.get("FUZZ_RUNS", "1"))


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """The programs, beside a corpus that only this run sees."""
    tmp_path = tmp_path_factory.mktemp("fuzz")
    if not (BUILD/"fuzz").is_dir():
        pytest.skip("%s is not built: make fuzz-build" % BUILD.name)
    (tmp_path/"fuzz").symlink_to(BUILD/"fuzz")
    seeds.write(tmp_path)
    return tmp_path


def check(args):
    code, text = run.call(args)
    assert code == 0, text[-6000:]
    return text


def test_corpus():
    """What is kept is small, every target has some, and a name says what is in a file."""
    assert sum(p.stat().st_size for p in (run.HERE/"corpus").rglob("*")) < 300_000
    for target in run.TARGETS:
        files = list((run.HERE/"corpus"/target).iterdir())
        assert files, target
        assert sum(p.stat().st_size for p in files) <= run.ROOM, target
        assert [p.name for p in files] == [run.content_name(p.read_bytes()) for p in files]


@pytest.mark.parametrize("target", run.TARGETS)
def test_known_inputs(build, target):
    files = [p for d in [build/"seeds"/target, *run.kept(target)] for p in sorted(d.iterdir())]
    assert files
    check(run.command(build, target, *files))


@pytest.mark.parametrize("target", run.TARGETS)
def test_new_inputs(build, target):
    print("seed", SEED)
    text = check(run.mutate(build, target, "-runs=%d" % (RUNS*run.LIMITS[target][2]), "-seed=%d" % SEED))
    print(target, "executions, cov, ft, corpus, exec/s, slowest, MB:", *run.figures(text))
