# ravel, the layout compiler.  `make help` says what there is; V=1 shows commands.

, := ,
CC       ?= cc
PYTHON   ?= /usr/bin/python3
PREFIX   ?= $(or $(prefix),/usr/local)
LIBDIR   ?= lib
OBJCOPY  ?= objcopy
B        ?= build
CFLAGS   ?= -O3 -g
# SAN=1 builds with AddressSanitizer and UBSan, SAN=thread with ThreadSanitizer; use
# another B with each.  What UBSan finds is a trap (signal 4, whose line AddressSanitizer says with
# ASAN_OPTIONS=handle_sigill=1): its texts are a third of a sanitized program, TRAP=0 has them.
WARN     := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes $(if $(CI),-Werror)
SANITIZE  = $(if $(filter thread,$(SAN)),-fsanitize=thread,-fsanitize=address$(,)undefined \
            -fno-sanitize-recover=undefined $(if $(filter 0,$(TRAP)),,$(TRAPS)))
TRAPS     = $(if $(findstring clang,$(CC)),-fsanitize-trap=undefined,-fsanitize-undefined-trap-on-error)
ALL_CFLAGS = -std=gnu11 -fPIC -fvisibility=hidden -MMD -MP $(WARN) \
             $(CFLAGS) $(if $(SAN),$(SANITIZE),$(SMALLER)) $(if $(NO_TCC),-DRAVEL_NO_TCC) \
             -I/usr/include/lua5.4
# No C++ exception passes here, and debuggers read .debug_frame.
SMALLER  := -fno-asynchronous-unwind-tables
OPENMP   ?= $(if $(filter thread,$(SAN)),,1)
LIBS     := -llua5.4 -lz -lm -lpthread -ldl $(if $(OPENMP),-lgomp)
Q        := $(if $(V),,@)
SAY       = $(if $(V),@:,@printf '  %-7s %s\n')

CLI      := cli/main.c $(wildcard cli/cli_*.c)
# TCC=0: no libtcc; plans are interpreted.
TCC      ?= 1
NO_TCC   := $(if $(filter 0,$(TCC)),runtime/tcc_stdio.c $(wildcard runtime/elf_*.c))
LIB_SRC  := $(filter-out $(CLI) $(NO_TCC),$(wildcard compiler/*.c compiler/*/*.c runtime/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(B)/embed.o $(B)/embed_command.o $(if $(NO_TCC),,$(B)/tcc_pic.o)
CLI_OBJ  := $(CLI:%.c=$(B)/%.o)
# The text of kernels that is written once for elements of 1, 2, 4 and 8 bytes.
SIZED    := $(shell grep -lF '$${size}' templates/c/*.h)
EXPANDED := $(foreach n,1 2 4 8,$(SIZED:%.h=$(B)/%$(n).h))
# What the library asks for, and what only the files need that the command writes.
EMBEDDED := compiler/spec/prelude.lua $(sort $(wildcard specs/*.lua templates/*.lua templates/blocks/*) \
            $(addprefix templates/c/,prologue.h jit.h))
WRITTEN  := $(sort $(filter-out $(SIZED) $(EMBEDDED),$(wildcard templates/*/*))) $(EXPANDED)
UNITS    := $(patsubst tests/unit/%.c,$(B)/tests/%, \
            $(filter-out $(if $(NO_TCC),%/test_jit.c %/test_elf_load.c %/test_choices.c),$(wildcard tests/unit/*.c)))

.PHONY: all run mutants test check asan-build tsan-build unit deps generated identities golden clean help loc
.DEFAULT_GOAL := all

all: $(B)/libravel.a $(B)/libravel.so $(B)/libravel.so.0 $(B)/ravel

# What is linked with the library's insides: the command, the tests, the fuzzers.
INSIDES = $(B)/insides.a
WHOLE   := -Wl,-u,kernels_portable,-u,kernels_scalar

ifneq ($(TCC),0)
include runtime/tcc.mk
endif
include package/package.mk
include python/python.mk
include tests/fuzz/fuzz.mk
include tests/coverage.mk

# With sanitizers at a fixed address: relocations of their tables take most of a command's start.
$(B)/ravel: $(CLI_OBJ) $(INSIDES)
	$(SAY) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(if $(SAN),-no-pie) $(WHOLE) -o $@ $(CLI_OBJ) $(INSIDES) -ljansson $(LIBS)

$(INSIDES) $(B)/libravel.a:
	$(SAY) AR $@
	$(Q)rm -f $@ && ar rcs $@ $^

$(INSIDES): $(LIB_OBJ)
$(B)/libravel.a: $(B)/libravel.o

# One object, in which all is local but what RAVEL_API declares: a program may give its
# own functions any other name.  With -flto it is made of code, as others are.
RELOCATABLE = $(if $(findstring -flto,$(CFLAGS)),$(CC) $(CFLAGS) -fPIC -nostdlib \
              -flinker-output=nolto-rel,$(LD)) -r
$(B)/libravel.o: $(LIB_OBJ) $(B)/embed_library.o
	$(SAY) LINK $@
	$(Q)$(RELOCATABLE) -o $@.all $(SHIPPED)
	$(Q)$(OBJCOPY) --localize-hidden $@.all && mv $@.all $@

# Relocations as a bitmap: glibc 2.36 and later read it.
GLIBC    := $(shell getconf GNU_LIBC_VERSION 2>/dev/null | sed -n 's/^glibc 2\.//p')
RELR     := $(shell [ '0$(GLIBC)' -ge 36 ] 2>/dev/null && $(LD) --help | grep -o 'pack-relative-relocs' | head -n 1)
$(B)/libravel.so: $(LIB_OBJ) $(B)/embed_library.o package/libravel.map
	$(SAY) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libravel.so.0 \
	    -Wl,--version-script=package/libravel.map \
	    $(if $(SAN),,-Wl$(,)-z$(,)defs$(,)--gc-sections) -Wl,-z,text \
	    $(RELR:%=-Wl$(,)-z$(,)%) -o $@ $(SHIPPED) $(LIBS)

# What a program that is linked with it here loads.
$(B)/libravel.so.0: $(B)/libravel.so
	$(Q)ln -sf libravel.so $@

# What emit writes says by which version.
VERSION := $(shell sed -n 's/^.define RAVEL_VERSION "\(.*\)"/\1/p' runtime/ravel.h)
$(B)/compiler/emit/command.o: runtime/ravel.h
$(B)/compiler/emit/command.o: ISA := -DRAVEL_VERSION='"$(VERSION)"'

# Only this file's threads are OpenMP's; ThreadSanitizer does not see into libgomp.
$(B)/runtime/threads.o: ISA := $(if $(OPENMP),-fopenmp)

# In the command and in the tests only: texts of files, and kernels that no processor of x86-64
# runs.
PLAIN    := $(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),portable scalar)
UNUSED   := $(B)/embed_command.o $(PLAIN:%=$(B)/runtime/kernels_%.o)
SHIPPED   = $(filter-out $(UNUSED),$(LIB_OBJ)) $(B)/embed_library.o
# Functions whose loops are over data; the other objects of the library are compiled for size.
LOOPS    := $(filter $(patsubst %,$(B)/runtime/%.o,arrays interpret interpret_call \
            kernels_% npy proof_lane reference reference_% sparse_steps) \
            $(patsubst %,$(B)/compiler/plan/shuffle_%.o,window pass bits),$(LIB_OBJ))
SMALL    := $(filter-out $(LOOPS),$(filter $(B)/compiler/% $(B)/runtime/%,$(LIB_OBJ)))
# A host may plan in a thread with a small stack: what is large is in the arena.
$(SMALL): ISA += $(if $(filter -O3,$(CFLAGS)),-Os -ffunction-sections -fdata-sections -Wframe-larger-than=32768)

# Else what is before a loop decides by a tenth how fast it is (three columns of f32, Zen 4).
$(B)/runtime/kernels_avx2.o: ISA += -mavx2 -falign-functions=64 -falign-loops=32
AVX512 := -mavx512bw -mavx512vl -mprefer-vector-width=512
$(B)/runtime/kernels_avx512.o: ISA += $(AVX512)
$(B)/runtime/kernels_avx512vbmi.o: ISA += $(AVX512) -mavx512vbmi -mgfni
$(B)/runtime/kernels_avx512gather.o: ISA += $(AVX512) -mavx512vbmi -mgfni -DRAVEL_GATHER
# Sanitizers and optimisation together take a compiler up to half a minute for a set of
# kernels; the tests take two or three seconds more there without the latter.
UNOPTIMISED ?= $(if $(SAN),scalar portable sse2 avx2 avx512 avx512vbmi avx512gather)
$(UNOPTIMISED:%=$(B)/runtime/kernels_%.o): ISA += -O0
$(if $(SAN),$(B)/runtime/sparse_steps.o $(CLI_OBJ)): ISA += -O0
# Where its tests are most of the time.
CHECKING  := $(addprefix $(B)/runtime/,proof_lane.o proof_parts.o reference.o reference_side.o)
$(if $(filter 1,$(SAN)),$(CHECKING)): ISA += -O3
# Loops that gain from it are unrolled by name; gcc would unroll those of the ends of rows, too.
FEWER     := --param=max-completely-peeled-insns=50
FEWER     := $(shell $(CC) -Werror $(FEWER) -E -x c /dev/null >/dev/null 2>&1 && echo $(FEWER))
$(LOOPS): ISA += $(if $(filter -O3,$(CFLAGS)),$(FEWER))
# What else -O3 does (copies of loops for each outcome of a test, copies of functions for an
# argument) makes code a sixth larger and no faster.  Of that, AVX-512 gains from loops for each
# outcome, and AVX2 from copies for an argument, too; neither from what -O3 inlines besides.
LEAN      := -O2 -ftree-vectorize -fvect-cost-model=dynamic -fpeel-loops
LEAN      := $(shell $(CC) -Werror $(LEAN) -E -x c /dev/null >/dev/null 2>&1 && echo $(LEAN))
WIDER     := $(LEAN) -funswitch-loops -fipa-cp-clone -ftree-partial-pre -fgcse-after-reload -fpredictive-commoning
WIDER     := $(shell $(CC) -Werror $(WIDER) -E -x c /dev/null >/dev/null 2>&1 && echo $(WIDER))
# Blocks in the order of the text, and loops that begin anywhere: nothing but AVX2 is slower so.
DENSE     := $(LEAN) -freorder-blocks-algorithm=simple -fno-align-loops -fno-align-jumps
DENSE     := $(shell $(CC) -Werror $(DENSE) -E -x c /dev/null >/dev/null 2>&1 && echo $(DENSE))
# Loops of kernels whose counts are known are unrolled by name.
NO_PEEL   := $(if $(LEAN),-fno-peel-loops)
FLAGS_avx2 := $(WIDER) $(NO_PEEL)
FLAGS_avx512gather := $(WIDER)
FLAGS_avx512 := $(if $(LEAN),$(LEAN) -funswitch-loops)
FLAGS_avx512vbmi := -fno-tree-pre
# Processors without AVX2 are old: 22 KB less, and a twentieth slower.
FLAGS_sse2 := $(DENSE) $(NO_PEEL) -fno-tree-pre -fno-ivopts -fno-thread-jumps -fno-align-functions
$(LOOPS): ISA += $(if $(filter -O3,$(CFLAGS)),$(or $(FLAGS_$(*F:kernels_%=%)),$(DENSE)))
# Its loops are over slots of any kind: vectors only make it larger.
$(B)/runtime/proof_lane.o: ISA += $(if $(filter -O3,$(CFLAGS)),-fno-tree-vectorize)
# Where only the tests run them they need not be fast.
$(if $(SAN),,$(UNUSED)): ISA += -Og
# A process runs the best set of its processor, so the others need no checks: they take a
# compiler four times as long.  SANITIZED=avx2 is for RAVEL_ISA=avx2.  The set that gathers takes all
# but one kernel from the one before.
HAS       := $(if $(UNOPTIMISED),$(shell $(CC) -march=native -dM -E - </dev/null 2>/dev/null))
SANITIZED ?= $(lastword portable $(if $(filter __x86_64__,$(HAS)),sse2) $(if $(filter __AVX2__,$(HAS)),avx2) \
             $(if $(and $(filter __AVX512BW__,$(HAS)),$(filter __AVX512VL__,$(HAS))),avx512 \
             $(if $(and $(filter __AVX512VBMI__,$(HAS)),$(filter __GFNI__,$(HAS))),avx512vbmi)))
CHECKED   := $(SANITIZED) $(if $(filter avx512vbmi,$(SANITIZED)),avx512gather)
UNCHECKED := $(patsubst %,$(B)/runtime/kernels_%.o,$(filter-out $(CHECKED),$(UNOPTIMISED)))
$(UNCHECKED): ISA += -fno-sanitize=all
# What says where a loop's variables are takes a third of the compilation.
$(LOOPS): ISA += $(if $(filter -g,$(CFLAGS)),-g1)

$(B)/%.o: %.c
	$(SAY) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(ISA) -c -o $@ $<

$(B)/templates/c/%1.h $(B)/templates/c/%2.h $(B)/templates/c/%4.h $(B)/templates/c/%8.h: \
    templates/c/%.h templates/expand.sh templates/c/vector_size.h
	$(SAY) EXPAND $<
	$(Q)mkdir -p $(@D) && sh templates/expand.sh $< $(@D) 1 2 4 8

KERNELS := $(filter $(B)/runtime/kernels_%,$(LIB_OBJ))
$(KERNELS): $(EXPANDED) $(B)/runtime/kernels_text.h
$(B)/runtime/sparse_steps.o: $(EXPANDED)
$(KERNELS) $(B)/runtime/sparse_steps.o: ISA += -I$(B)/runtime -Iruntime
# KERNELS_OF=DIR: they are those of another build, which has no sanitizers at all.
ifneq ($(KERNELS_OF),)
$(UNCHECKED): $(B)/%: $(KERNELS_OF)/%
	$(SAY) COPY $@
	$(Q)mkdir -p $(@D) && cp $< $@
endif
$(B)/runtime/kernels_text.h: compiler/plan/kernel.def runtime/kernels_shared.def runtime/kernels.sh
	$(SAY) EXPAND $<
	$(Q)mkdir -p $(@D) && sh runtime/kernels.sh $(wordlist 1,2,$^) > $@.tmp && mv $@.tmp $@
# Always: texts of 13 MB would be searched for leaks at the end of each command.
$(KERNELS): ISA += $(if $(filter 1,$(SAN)),-fsanitize-undefined-trap-on-error)

$(B)/embed.c: PACK := embed_packed $(EMBEDDED)
$(B)/embed.c: compiler/base/embed.sh $(EMBEDDED)
$(B)/embed_command.c: PACK := embed_command $(WRITTEN)
$(B)/embed_command.c: compiler/base/embed.sh $(WRITTEN)
$(B)/embed_library.c: PACK := embed_command
$(B)/embed_library.c: compiler/base/embed.sh
$(B)/embed.c $(B)/embed_command.c $(B)/embed_library.c:
	$(SAY) EMBED $@
	$(Q)mkdir -p $(@D) && sh compiler/base/embed.sh $(PACK) > $@.tmp && mv $@.tmp $@

$(B)/embed.o $(B)/embed_command.o $(B)/embed_library.o: $(B)/%.o: $(B)/%.c
	$(SAY) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -Icompiler/base -c -o $@ $<

# Those that loop long themselves are optimised as the library is.
QUICK    := $(if $(filter -O3,$(CFLAGS)),$(filter-out $(addprefix %/test_,narrow decide bank choices),$(UNITS)))
$(B)/tests/%: tests/unit/%.c $(INSIDES)
	$(SAY) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(if $(filter $@,$(QUICK)),-O1) -Wno-clobbered -Iruntime -o $@ $< \
	    $(WHOLE) $(INSIDES) -lcmocka $(LIBS)

-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)

BUILD_PKGS := gcc make libc6-dev liblua5.4-dev libtcc-dev libjansson-dev zlib1g-dev binutils
RUN_PKGS   := python3 python3-numpy
TEST_PKGS  := $(RUN_PKGS) g++ libcmocka-dev libdnnl-dev clang libclang-rt-14-dev tcc \
              clang-15 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user \
              valgrind z3 python3-scipy python3-pytest python3-pytest-xdist \
              libisl-dev pocl-opencl-icd ocl-icd-libopencl1 oclgrind glslang-tools spirv-tools \
              python3-moderngl libegl1 libgl1 libgl1-mesa-dri \
              cmake pkg-config man-db zsh fish \
              python3-dev python3-setuptools python3-wheel python3-pip python3-yaml \
              build-essential debhelper dh-python lintian chromium

include bench/bench.mk

# As many at once as there are processors, where no -j says otherwise.
JOBS = $(if $(findstring j,$(filter-out --%,$(MAKEFLAGS))),,-j$(shell nproc))

# One more, for some tests wait: for a time limit, for a tool that ends.
WORKERS  ?= $(shell expr `nproc` + 1)
# Else each of the processes that run tests would compile their files anew.
PYTEST    = PYTHONDONTWRITEBYTECODE= $(PYTHON) -m pytest -n $(WORKERS) -q

deps:
	$(Q)sh tests/deps.sh $(BUILD_PKGS) $(RUN_PKGS)

run: deps
	$(Q)$(MAKE) $(JOBS) --no-print-directory all
	$(Q)PYTHON=$(PYTHON) sh examples/run.sh $(B)/ravel $(B)/run

# The sanitizer build is a second set of binaries; the same tests run on both.  A
# third one, with ThreadSanitizer, is what test_threads needs and no more.  The four
# share the processors, so that none waits for the last file of another.
test:
	$(Q)sh tests/deps.sh $(BUILD_PKGS) $(TEST_PKGS)
	$(Q)$(MAKE) $(JOBS) --no-print-directory fuzz-build asan-build tsan-build all unit
	$(Q)RAVEL_BUILD=$(B) RAVEL_ASAN=$(B)-asan RAVEL_TSAN=$(B)-tsan $(PYTEST) tests

# What a change most likely breaks: one build, the units, and tests that draw draw less.
CHECKED := units.py::test_unit golden.py ir.py layers.py mutants.py api.py params.py random.py pairs.py points.py \
           runtime_random.py tables.py source_errors.py verify.py found.py cli*.py \
           $(patsubst %,emit.py::test_%,all_compilers_agree index_functions deterministic texts)
check:
	$(Q)$(MAKE) $(JOBS) --no-print-directory all unit
	$(Q)RAVEL_BUILD=$(B) RAVEL_AGAIN=1 $(PYTEST) -k 'not sanitized' \
	    $(CHECKED:%=tests/test_%)

asan-build tsan-build fuzz-build: $(KERNELS)

asan-build:
	$(Q)$(MAKE) --no-print-directory all unit SAN=1 B=$(B)-asan KERNELS_OF=$(B) CFLAGS="-O1 -g1"

tsan-build:
	$(Q)$(MAKE) --no-print-directory SAN=thread B=$(B)-tsan KERNELS_OF=$(B) CFLAGS="-O1 -g1" \
	    $(B)-tsan/tests/test_threads

# The second oracle of reorders is built where oneDNN 2.x is.
unit: $(filter-out %/dnnl_reorder,$(UNITS))
	$(Q)if $(HAS_DNNL); then $(MAKE) -s $(B)/tests/dnnl_reorder; fi

$(B)/tests/dnnl_reorder: LIBS += -ldnnl

generated: $(B)/ravel
	$(Q)$(PYTHON) tests/generated.py --write $(B)/ravel

identities:
	$(Q)$(PYTHON) tests/identities.py --write

mutants: all unit
	$(Q)$(PYTHON) tests/mutate.py --build $(B)

golden: $(B)/ravel
	$(Q)RAVEL_BUILD=$(B) RAVEL_UPDATE=1 $(PYTHON) -m pytest -q tests/test_golden.py

clean:
	rm -rf $(B) $(B)-asan $(B)-tsan $(B)-fuzz $(COVERED)

loc:
	@wc -l cli/*.[ch] compiler/*.[ch] compiler/*/*.[ch] runtime/*.[ch] templates/c/* specs/*.lua | sort -n

help:
	@echo 'make            build $(B)/ravel, $(B)/libravel.a, $(B)/libravel.so'
	@echo 'make run        install what is missing, build, convert a feature map and back'
	@echo 'make test       install what is missing, build four times (plain, sanitizers,'
	@echo '                threads, fuzzing), test'
	@echo 'make check      the tests of what a change most likely breaks, on one build (2 minutes)'
	@echo 'make fuzz       libFuzzer on all that reads, FUZZ_TIME=$(FUZZ_TIME) seconds a target'
	@echo 'make fuzz-corpus the same, and keep what was reached, minimised'
	@echo 'make coverage   lines and branches that tests reach (gcov); COVERAGE=tests/test_cli.py'
	@echo 'make mutants    break ravel in small ways, and see the tests notice (20 minutes)'
	@echo 'make bench      speed beside memcpy and other libraries (an hour; QUICK=1 some minutes)'
	@echo '                CASES=ttc,cache ONLY=REGEXP ROUNDS=9 THREADS=1,2'
	@echo '                cases drawn by a seed: SEED=7 GROUPS=random,packed,pixels'
	@echo 'make install    to PREFIX=$(PREFIX), LIBDIR=$(LIBDIR) in it, under DESTDIR'
	@echo 'make uninstall  remove that      make install-debug  install symbols for debuggers'
	@echo 'make dist       an archive of what is committed, $(B)/ravel-$(VERSION).tar.gz'
	@echo 'make deb        Debian packages, in $(B)/deb, checked by lintian'
	@echo 'make python     the Python package, in $(PYTHON_LIB)'
	@echo 'make wheel      a wheel with all libraries inside, by auditwheel; it needs PyPI'
	@echo 'make generated  rewrite generated/   make golden   rewrite tests/golden/'
	@echo 'make identities rewrite docs/identities.md'
	@echo 'make clean      make loc             V=1           show the commands'
	@echo 'make SAN=1 B=build-asan              the sanitizer build'
	@echo 'make TCC=0 B=build-notcc             without libtcc: plans are interpreted'
	@echo 'make OPENMP= B=build-threads         threads created for each call instead of libgomp'
