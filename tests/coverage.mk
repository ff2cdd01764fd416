# coverage.mk: lines and branches that the tests reach, by gcc's own gcov.  Counters make
# the library write files, so the few tests fail that look at what it calls or leaves.

COVERAGE ?= tests/test_units.py tests/test_cli*.py tests/test_golden.py tests/test_pairs.py \
            tests/test_random.py tests/test_runtime.py tests/test_runtime_plans.py \
            tests/test_runtime_command.py tests/test_decisions.py \
            tests/test_banks.py tests/test_banks_fragments.py tests/test_fragments.py tests/test_bursts.py \
            tests/test_grid.py tests/test_grid_costs.py tests/test_grid_cuda.py \
            tests/test_grid_script.py tests/test_grid_tables.py \
            tests/test_targets.py tests/test_device*.py \
            tests/test_hostile*.py tests/test_npy.py tests/test_interpreter.py \
            tests/test_verify.py tests/test_source_errors.py tests/test_found.py \
            tests/test_words.py tests/test_products.py tests/test_api.py \
            tests/test_params.py tests/test_bench.py
COVERED  := $(B)-coverage

.PHONY: coverage coverage-build
coverage-build:
	$(Q)$(MAKE) --no-print-directory all unit B=$(COVERED) WARN= UNOPTIMISED= \
	    CFLAGS="-O0 -g --coverage"

coverage: coverage-build
	$(Q)find $(COVERED) -name '*.gcda' -delete
	-$(Q)RAVEL_BUILD=$(COVERED) RAVEL_ASAN=none RAVEL_TSAN=none \
	    $(PYTHON) -m pytest -n 2 -q $(COVERAGE)
	$(Q)$(PYTHON) tests/coverage.py $(COVERED)
