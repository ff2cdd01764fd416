"""RAVEL_BUILD names the build folder (default "build").  The output ends with every skip's reason and one line of counts."""

import os
import pathlib
import sys

import pytest

os.environ.setdefault("RAVEL_CODE", "jit")    # what fails there is not to be made up for by the interpreter
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
BUILD = HERE.parent / os.environ.get("RAVEL_BUILD", "build")


def pytest_configure(config):
    config.counts = None


def reason(report):
    r = report.longrepr
    return r[2] if isinstance(r, tuple) else str(r)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    stats = terminalreporter.stats
    for r in stats.get("skipped", []):
        terminalreporter.write_line("skipped %s: %s" % (r.nodeid, reason(r).removeprefix("Skipped: ")))
    n = {k: len(stats.get(k, [])) for k in ("passed", "failed", "error", "skipped", "xfailed", "xpassed")}
    config.counts = "%d passed, %d failed, %d skipped" % (
        n["passed"] + n["xfailed"], n["failed"] + n["error"] + n["xpassed"], n["skipped"])


def pytest_unconfigure(config):
    """After all that pytest itself has to say; workers of xdist have no summary."""
    if config.counts:
        print(config.counts, flush=True)


def pytest_collection_modifyitems(items):
    """The long ones first, so that both cores end together."""
    items.sort(key=lambda i: not ("test_units.py" in i.nodeid or "some_are_noticed" in i.nodeid))


@pytest.fixture(scope="session")
def build():
    return BUILD


@pytest.fixture(scope="session")
def cx():
    import ravel
    with ravel.Context() as c:
        yield c
