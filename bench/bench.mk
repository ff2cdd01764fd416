# make bench: CASES=GROUP[,GROUP], ONLY=REGEXP, QUICK=1, ROUNDS=N, THREADS=1,2, BENCH_FLAGS=;
# drawn cases: SEED=N, GROUPS=GROUP[,GROUP]
BENCH_PKGS := $(RUN_PKGS) python3-matplotlib libdnnl-dev
# Called by name from Python: visible, and declared there.
BENCH_CFLAGS := -fvisibility=default -Wno-missing-prototypes
MEASURE    := runtime/measure.c cli/cli_copy.c
BENCH_ARGS  = --build $(B) $(if $(CASES),--cases $(CASES)) $(if $(SEED),--seed $(SEED)) \
              $(if $(GROUPS),--groups $(GROUPS)) $(if $(ONLY),--only '$(ONLY)') \
              $(if $(QUICK),--quick) $(if $(ROUNDS),--rounds $(ROUNDS)) \
              $(if $(THREADS),--threads $(THREADS)) $(BENCH_FLAGS)

.PHONY: bench bench-build bench-memory bench-fit bench-sparse bench-extents bench-index bench-files bench-calls
bench:
	$(Q)sh tests/deps.sh $(BUILD_PKGS) $(BENCH_PKGS)
	$(Q)$(MAKE) -s all bench-build
	$(Q)$(PYTHON) bench/bench.py $(BENCH_ARGS)

# Without oneDNN 2.x the rest works: bench.py says what is not there.
HAS_DNNL := printf '%s\n' '\#include <oneapi/dnnl/dnnl_version.h>' \
            '\#if DNNL_VERSION_MAJOR != 2' '\#error' '\#endif' | $(CC) -E -xc - >/dev/null 2>&1
bench-build: $(B)/bench/libbench.so
	$(Q)if $(HAS_DNNL); then $(MAKE) -s $(B)/bench/onednn.so; fi

$(B)/bench/libbench.so: bench/bench.c $(MEASURE) runtime/measure.h cli/cli_copy.h \
                        runtime/ravel.h $(B)/libravel.so
	$(SAY) LINK $@
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(BENCH_CFLAGS) -MF $@.d -shared \
	    -o $@ bench/bench.c $(MEASURE) -L$(B) -l:libravel.so -lpthread

$(B)/bench/onednn.so: bench/onednn.c runtime/measure.c runtime/measure.h
	$(SAY) LINK $@
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(BENCH_CFLAGS) -MF $@.d -fopenmp -shared \
	    -o $@ bench/onednn.c runtime/measure.c -ldnnl

# Sparse conversions beside SciPy and Eigen.
bench-sparse:
	$(Q)sh tests/deps.sh $(BUILD_PKGS) $(RUN_PKGS) python3-scipy g++ libeigen3-dev
	$(Q)$(MAKE) -s all
	$(Q)$(PYTHON) bench/sparse.py --build $(B) $(if $(ROUNDS),--rounds $(ROUNDS)) $(BENCH_FLAGS)

# Gather and scatter by index arrays beside NumPy and a plain loop.
bench-index:
	$(Q)sh tests/deps.sh $(BUILD_PKGS) $(RUN_PKGS)
	$(Q)$(MAKE) -s all
	$(Q)$(PYTHON) bench/index.py --build $(B) $(if $(ROUNDS),--rounds $(ROUNDS)) $(BENCH_FLAGS)

# What a call from Python costs above the library.
bench-calls:
	$(Q)sh tests/deps.sh $(BUILD_PKGS) $(RUN_PKGS) python3-dev python3-setuptools
	$(Q)$(MAKE) -s all python
	$(Q)$(PYTHON) bench/calls.py --build $(B) $(if $(ROUNDS),--rounds $(ROUNDS)) $(BENCH_FLAGS)

# Files larger than --mem beside NumPy's memmap and h5repack, and --verify; TMPDIR is the folder.
bench-files:
	$(Q)sh tests/deps.sh $(BUILD_PKGS) $(RUN_PKGS) hdf5-tools
	$(Q)$(MAKE) -s all
	$(Q)$(PYTHON) bench/files.py --build $(B) $(if $(SEED),--seed $(SEED)) $(BENCH_FLAGS)

# The rows of compiler/plan/cost.def, as this machine has them.
bench-memory: $(B)/bench/memory
	$(Q)$(B)/bench/memory

$(B)/bench/memory: bench/memory.c runtime/measure.c runtime/measure.h
	$(SAY) LINK $@
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MF $@.d -o $@ bench/memory.c runtime/measure.c -lm

# Every schedule of drawn cases beside the model's time for it: what bench/fit.py reports.
bench-fit: $(B)/bench/fit
	$(Q)$(PYTHON) bench/fit.py --build $(B) $(if $(SEED),--seed $(SEED)) \
	    $(if $(GROUPS),--groups $(GROUPS)) $(BENCH_FLAGS)

$(B)/bench/fit: bench/fit.c $(INSIDES)
	$(SAY) LINK $@
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MF $@.d $(WHOLE) -o $@ bench/fit.c $(INSIDES) $(LIBS)

# Plans with run-time extents beside those in numbers: what bench/extents.py reports.
bench-extents: $(B)/bench/extents
	$(Q)$(PYTHON) bench/extents.py --build $(B) $(if $(SEED),--seed $(SEED)) \
	    $(if $(GROUPS),--groups $(GROUPS)) $(BENCH_FLAGS)

$(B)/bench/extents: bench/extents.c runtime/measure.c runtime/measure.h $(B)/libravel.a
	$(SAY) LINK $@
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MF $@.d -o $@ bench/extents.c runtime/measure.c \
	    $(B)/libravel.a $(LIBS)
