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
    tests = mutant.get("tests", [])
    assert all((ravel.ROOT / t.split("::")[0]).exists() for t in tests)
    assert sum("test_unit[" in t for t in tests) == len(mutate.units(mutant))
    assert all((ravel.ROOT / "tests/unit" / (u + ".c")).exists() for u in mutate.units(mutant))


def test_parts_that_can_break_have_mutants():
    """Planner, emitter, decisions and every kernel."""
    files = {m["file"] for m in mutate.mutants()}
    wanted = [p.relative_to(ravel.ROOT).as_posix() for p in (ravel.ROOT / "templates/c").glob("*.c")]
    wanted += ["compiler/%s.c" % n for n in """
        plan/plan plan/plan_cut plan/plan_pieces plan/plan_phase plan/plan_nest plan/plan_order plan/plan_call plan/plan_needs plan/plan_narrow plan/plan_outer plan/plan_at
        plan/plan_check plan/plan_table plan/plan_follow plan/plan_merge plan/kernel plan/kernel_nest plan/kernel_copy plan/kernel_transpose plan/kernel_strided
        emit/emit_relayout emit/emit_index emit/emit_extents emit/target decide/decide decide/decide_structure decide/decide_parts decide/decide_sigma
        decide/decide_inverse decide/decide_every decide/decide_equal decide/decide_storage layout/layout_slots layout/layout_reach
        layout/layout_scalar layout/layout_sizes layout/layout_view layout/layout_index layout/layout_walk layout/layout_list layout/layout_strides decide/decide_view decide/decide_strides sides/view_of sides/sides_decide expr/expr expr/expr_arith expr/expr_sum expr/expr_bits expr/expr_facts expr/op_arith expr/op_bits
        gpu/bank gpu/bank_tile gpu/bank_walk gpu/bank_frag gpu/swizzle gpu/swizzle_find gpu/grid gpu/grid_box gpu/grid_cover gpu/grid_fill gpu/grid_piece gpu/grid_tile gpu/grid_edge
        gpu/grid_slab gpu/grid_fuse gpu/grid_fuse_tile gpu/grid_fuse_bank gpu/grid_gather gpu/grid_inverse gpu/grid_access gpu/grid_render gpu/grid_write gpu/grid_args gpu/grid_assume burst/burst
        burst/burst_tile burst/burst_lua gpu/frag gpu/frag_cost gpu/frag_stmt""".split()]
    wanted += ["cli/cli_banks.c", "cli/cli_banks_access.c", "cli/cli_complete.c", "compiler/sides/equal.c", "compiler/sides/stored.c", "runtime/query.c", "runtime/query_pair.c"]
    assert set(wanted) - UNSEEN <= files, set(wanted) - UNSEEN - files
    assert len(mutate.mutants()) >= 30


@pytest.mark.skipif("RAVEL_AGAIN" in os.environ, reason="on the plain build only")
def test_some_are_noticed():
    r = subprocess.run([sys.executable, mutate.__file__, "--build", ravel.BUILD.name, "--trust", "--every", str(EVERY), "--jobs", "1"],
                       cwd=ravel.ROOT, capture_output=True, text=True)
    print(r.stdout)
    assert r.returncode == 0, r.stdout + r.stderr
