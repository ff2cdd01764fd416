"""Each mutant of mutants.toml still has its place, and some are tried: all of them are, by `make mutants`."""
import os
import subprocess
import sys

import pytest

import mutate
import ravel

EVERY = 997                        # one in so many in CI
# Without the fence streamed lines may be seen late by a thread on another core.  No test makes that happen: processors soon write
# them out, and each lock with which threads meet waits for them.
UNSEEN = {"templates/c/fence.c"}


@pytest.mark.parametrize("mutant", mutate.mutants(), ids=mutate.name)
def test_has_its_place(mutant):
    mutate.mutated(mutant)


def test_parts_that_can_break_have_mutants():
    """Planner, emitter, decisions and every kernel."""
    files = {m["file"] for m in mutate.mutants()}
    wanted = [p.relative_to(ravel.ROOT).as_posix() for p in (ravel.ROOT / "templates/c").glob("*.c")]
    wanted += ["compiler/%s.c" % n for n in "plan plan_pieces plan_nest plan_order plan_call kernel emit_relayout emit_index decide decide_parts decide_sigma "
               "decide_inverse decide_every decide_equal decide_storage layout layout_reach layout_scalar layout_runtime plan_runtime "
               "plan_runtime_pieces plan_runtime_nest plan_runtime_needs plan_runtime_few emit_runtime compile_runtime expr expr_arith expr_bits expr_facts bank bank_tile swizzle "
               "swizzle_find cli_banks grid grid_box grid_cover grid_piece grid_tile grid_edge grid_slab grid_fuse grid_fuse_tile grid_fuse_bank grid_gather grid_inverse "
               "grid_access grid_render burst burst_tile burst_lua frag frag_cost frag_render target".split()]
    assert set(wanted) - UNSEEN <= files, set(wanted) - UNSEEN - files
    assert len(mutate.mutants()) >= 30


@pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="on the plain build only")
def test_some_are_noticed():
    r = subprocess.run([sys.executable, mutate.__file__, "--build", ravel.BUILD.name, "--trust", "--every", str(EVERY), "--jobs", "1"],
                       cwd=ravel.ROOT, capture_output=True, text=True)
    print(r.stdout)
    assert r.returncode == 0, r.stdout + r.stderr
