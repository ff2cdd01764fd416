# fuzz.mk: the libFuzzer targets.  The whole library is built once more, by clang,
# with sanitizers and with counters that tell the fuzzer what an input reached.

FUZZ_TIME  ?= 600
FUZZ_FLAGS := -O0 -gline-tables-only -fsanitize=fuzzer-no-link,address,undefined \
              -fsanitize-trap=undefined -fno-omit-frame-pointer
# Where the fuzzers are most of the time; a compiler would be busy with the rest for minutes.
FUZZ_HOT   := $(addprefix $(B)/,$(addsuffix .o,compiler/base/% compiler/expr/% compiler/layout/layout_address \
              compiler/decide/decide_enum compiler/decide/decide_factor compiler/gpu/bank \
              compiler/gpu/grid_fuse_bank compiler/gpu/grid_access compiler/emit/target% runtime/proof% runtime/reference%))
# Loops over coordinates, addresses and elements: what they compare tells a fuzzer nothing of its input, and takes it a third of its time.
FUZZ_LOOPS := $(addprefix $(B)/,$(addsuffix .o,compiler/base/% compiler/expr/% compiler/layout/layout_address \
              compiler/decide/decide_enum compiler/decide/decide_factor compiler/spec/spec_check \
              compiler/spec/spec_known compiler/gpu/% runtime/proof% runtime/reference% runtime/sparse_step%))
FUZZERS    := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CLI   := $(B)/fuzz/main.o $(filter-out $(B)/cli/main.o,$(CLI_OBJ))

.PHONY: fuzz fuzz-corpus fuzz-build fuzzers

# Each target for FUZZ_TIME seconds; what is found goes to tests/fuzz/found.  With
# fuzz-corpus what is reached goes to tests/fuzz/corpus, minimised.
fuzz fuzz-corpus: fuzz-build
	$(Q)$(PYTHON) tests/fuzz/run.py $(B)-fuzz --seconds $(FUZZ_TIME) \
	    $(if $(filter fuzz-corpus,$@),--keep)

fuzz-build:
	$(Q)$(MAKE) --no-print-directory fuzzers CC=clang B=$(B)-fuzz KERNELS_OF=$(B) WARN= OPENMP= \
	    CFLAGS="$(FUZZ_FLAGS)" UNOPTIMISED="scalar portable sse2 avx2 avx512 avx512vbmi"

fuzzers: $(FUZZERS)
ifneq ($(filter -fsanitize=fuzzer-no-link%,$(CFLAGS)),)
$(filter $(FUZZ_HOT),$(LIB_OBJ)): ISA += -O1
$(filter $(FUZZ_LOOPS),$(LIB_OBJ)): ISA += -fno-sanitize-coverage=trace-cmp
endif

# The table of commands; the fuzzer has a main of its own.
$(B)/fuzz/main.o: cli/main.c
	$(SAY) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Dmain=command_main -c -o $@ $<

$(B)/fuzz/%: tests/fuzz/%.c $(INSIDES) $(FUZZ_CLI)
	$(SAY) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $< \
	    $(WHOLE) $(FUZZ_CLI) $(INSIDES) -ljansson $(LIBS)
