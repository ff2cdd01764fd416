"""RAVEL_BUILD names the build folder (default "build").  The output ends with every skip's reason and one line of counts."""

import atexit
import collections
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

os.environ.setdefault("RAVEL_CODE", "jit")    # what fails there is not to be made up for by the interpreter
# PoCL 3.1 makes vector code that stores for a moment what a condition excludes.  The next group stores over it, unless another thread runs that group at the same time.
os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", "1")
os.environ.setdefault("POCL_CPU_MAX_CU_COUNT", "1")   # its later name
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
BUILD = HERE.parent / os.environ.get("RAVEL_BUILD", "build")


def remove_those_of_the_dead(room):
    """The folders of runs that were killed, or whose tests failed: files in memory are memory."""
    for old in pathlib.Path(room).glob("ravel-*-*"):
        pid = old.name.split("-")[1]
        if pid.isdigit() and not os.path.exists("/proc/" + pid):
            shutil.rmtree(old, ignore_errors=True)


def in_memory():
    """A folder of memory for the tests' files: what ravel writes it syncs, and thousands of files take a disk minutes.  None where
    there is little of it, or programs may not be run there."""
    room = "/dev/shm"
    if "TMPDIR" in os.environ or not os.access(room, os.W_OK) or os.statvfs(room).f_flag & os.ST_NOEXEC or shutil.disk_usage(room).free < 2 << 30:
        return None
    remove_those_of_the_dead(room)
    folder = tempfile.mkdtemp(prefix="ravel-%d-" % os.getpid(), dir=room)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    return folder


def cleaned(folder, config):
    """Files are left, until the next run, where a test failed."""
    if not config.counts or " 0 failed" in config.counts:
        shutil.rmtree(folder, ignore_errors=True)


def pytest_configure(config):
    config.counts = None
    folder = in_memory()
    if folder:
        atexit.register(cleaned, folder, config)      # before pytest's own, so run after them


def reason(report):
    r = report.longrepr
    return r[2] if isinstance(r, tuple) else str(r)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    stats = terminalreporter.stats
    for r in stats.get("skipped", []):
        terminalreporter.write_line("skipped %s: %s" % (r.nodeid, reason(r).removeprefix("Skipped: ")))
    inner = [(r.nodeid, why) for r in stats.get("passed", []) for k, why in r.user_properties if k == "skipped"]
    for test, why in inner:
        terminalreporter.write_line("skipped %s: %s" % (test, why))
    n = {k: len(stats.get(k, [])) for k in ("passed", "failed", "error", "skipped", "xfailed", "xpassed")}
    config.counts = "%d passed, %d failed, %d skipped" % (
        n["passed"] + n["xfailed"], n["failed"] + n["error"] + n["xpassed"], n["skipped"] + len(inner))


def pytest_unconfigure(config):
    """After all that pytest itself has to say; workers of xdist have no summary."""
    if config.counts:
        print(config.counts, flush=True)


# Seconds of a processor, of one test each; of several that are named alike those of the longest.  Those that are listed start first,
# the longest of all before the others; short ones are left for the end.
SECONDS = {"test_oclgrind.py::test_every_case": 65, "test_on_this_processor[gcc": 16, "test_every_case_by_opencl": 29, "test_deb.py": 27, "test_hip.py::test_every_case": 24,
           "test_every_case_in_plain_c": 23, "test_everybody_is_right": 22, "test_unit[test_choices": 19, "test_on_another_machine": 18, "test_every_case_is_valid": 18,
           "test_on_this_processor[clang": 17, "test_unit[test_sandbox": 17, "test_the_estimate_has_the_sectors_of_all_blocks": 17, "test_sanitized[test_banks_fragments": 16,
           "test_races": 13, "test_rows_in_plain_c": 15, "test_new_inputs": 14, "test_every_case_by_opengl": 13, "test_some_are_noticed": 13,
           "test_conformance_of_functions": 12, "test_all_cases_compile_as_one_file": 12, "test_sanitized[": 10, "test_unit[test_decide": 10, "test_known_inputs": 10,
           "test_every_allocation_of_the_commands": 10, "test_a_name_is_refused_or_compiles": 9, "test_instruction_sets": 8, "test_conformance_of_a_table": 8,
           "test_unit[test_tuning": 14, "test_cuda_compiles": 7, "test_every_lane": 7, "test_runtime_random.py": 6, "test_a_small_call_needs_little_stack": 6,
           "test_random_relayouts[": 8, "test_more_of_a_limit_decides": 8, "test_a_wrong_name_is_told_the_right_ones[BLOCKS": 8,
           "test_drawn_cases_are_measured": 8, "test_every_name_is_replaced": 6, "test_every_text_is_metal": 6, "test_other_machines[128": 6, "test_example_by_make": 6,
           "test_a_byte_belongs_to_one_thread": 5, "test_least_accesses_in_plain_c": 5, "test_examples_of_the_help_work[tune": 5,
           "test_unit[test_limits": 5, "test_unit[test_narrow": 5, "test_no_races": 5, "test_pip": 5, "test_random_expressions": 3, "test_generated.py::test_relayouts": 3}


def seconds(item):
    return max((n for name, n in SECONDS.items() if name in item.nodeid), default=0)


def pytest_collection_modifyitems(items):
    """The long ones first, so that both cores end together; where tests run again on a slow build the first case of each and one in so many
    of the others."""
    items.sort(key=seconds, reverse=True)
    share, seen = int(os.environ.get("RAVEL_AGAIN", "1")), collections.Counter()
    kept = []
    for i in items:
        test = i.nodeid.split("[")[0]
        kept += [i] if seen[test] % share == 0 else []
        seen[test] += 1
    items[:] = kept


AT_ONCE = 40                 # tests that a worker has before it: a worker with all the long ones would end last


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScheduling

    class FewAtOnce(LoadScheduling):
        def _send_tests(self, node, num):
            super()._send_tests(node, max(0, min(num, AT_ONCE - len(self.node2pending[node]))))
    return FewAtOnce(config, log)


@pytest.fixture(scope="session")
def build():
    return BUILD


@pytest.fixture(scope="session")
def cx():
    import ravel
    with ravel.Context() as c:
        yield c
