# tcc.mk: libtcc (package libtcc-dev, LGPL-2.1+) as one object, $(B)/tcc_pic.o,
# fit for an executable and for a shared library.
#
# Distributions ship libtcc.a for executables only: it reads libc's variables
# (stdout, environ) in a way that no shared library may.  So they are renamed to
# variables of ours, and with them the functions by which libtcc would touch the
# process (files, output, heap, exit): runtime/tcc_stdio.c stands in for all.
# Of libtcc's own symbols the few that are called stay global, as ravel_tcc_*,
# so that a host with a libtcc of its own keeps that; jit.c sees them hidden.
# Its variables lie between two symbols, to be cleared for every run.
# Its assembler, and what runs a program, stay out (40 KB) where they are files of their own of
# which the others want no more than the functions that tcc_stdio.c stands in for.

LIBTCC  := $(shell $(CC) -print-file-name=libtcc.a 2>/dev/null)

TCC_CALLED = tcc_new tcc_set_error_func tcc_set_options tcc_set_output_type \
             tcc_compile_string tcc_output_file
TCC_GIVEN  = stdout stderr environ exit open fdopen fwrite fputc fclose unlink fflush \
             malloc calloc realloc free
# fprintf goes by another name where libtcc was built with _FORTIFY_SOURCE.
TCC_OUT    = tccasm.o i386-asm.o tccrun.o
TCC_LACKS  = asm_instr asm_global_instr asm_parse_regvar tcc_assemble tcc_run_free
TCC_RENAME = $(foreach s,$(TCC_CALLED),--redefine-sym $s=ravel_$s) \
             $(foreach s,$(TCC_GIVEN) $(TCC_LACKS),--redefine-sym $s=ravel_tcc_$s) \
             --redefine-sym fprintf=ravel_tcc_fprintf \
             --redefine-sym __fprintf_chk=ravel_tcc_fprintf_chk
TCC_KEEP   = $(TCC_CALLED) ravel_tcc_vars ravel_tcc_vars_end
TCC_LAYOUT = SECTIONS { .bss 0 : { ravel_tcc_vars = .; \
             *(.bss .bss.* COMMON) ravel_tcc_vars_end = .; } }
TCC_LINK   = $(LD) -r -T $@.ld --whole-archive
# What $@.all wants of $<.
TCC_WANTS  = nm -u $@.all | awk '{ print $$2 }' | grep -vxF $(TCC_LACKS:%=-e %) | \
             grep -xF "$$(nm -g --defined-only $< | awk 'NF == 3 { print $$3 }')"

$(B)/tcc_pic.o: $(LIBTCC) runtime/tcc.mk
	@mkdir -p $(@D)
	@echo '$(TCC_LAYOUT)' > $@.ld
	$(SAY) OBJCOPY $@
	$(Q)cp $< $@.a && chmod u+w $@.a && ar d $@.a $(TCC_OUT) && $(TCC_LINK) $@.a -o $@.all
	$(Q)if $(TCC_WANTS) >/dev/null; then $(TCC_LINK) $< -o $@.all; fi
	$(Q)$(OBJCOPY) $(TCC_KEEP:%=--keep-global-symbol=%) $@.all
	$(Q)$(OBJCOPY) $(TCC_RENAME) --remove-section=.eh_frame --remove-section=.rela.eh_frame $@.all
	@mv $@.all $@
	@rm $@.ld $@.a
