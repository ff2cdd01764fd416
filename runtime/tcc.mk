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

LIBTCC  := $(shell $(CC) -print-file-name=libtcc.a 2>/dev/null)

TCC_CALLED = tcc_new tcc_set_error_func tcc_set_options tcc_set_output_type \
             tcc_compile_string tcc_output_file
TCC_GIVEN  = stdout stderr environ exit open fdopen fwrite fputc fclose unlink fflush \
             malloc calloc realloc free
# fprintf goes by another name where libtcc was built with _FORTIFY_SOURCE.
TCC_RENAME = $(foreach s,$(TCC_CALLED),--redefine-sym $s=ravel_$s) \
             $(foreach s,$(TCC_GIVEN),--redefine-sym $s=ravel_tcc_$s) \
             --redefine-sym fprintf=ravel_tcc_fprintf \
             --redefine-sym __fprintf_chk=ravel_tcc_fprintf_chk
TCC_KEEP   = $(TCC_CALLED) ravel_tcc_vars ravel_tcc_vars_end
TCC_LAYOUT = SECTIONS { .bss 0 : { ravel_tcc_vars = .; \
             *(.bss .bss.* COMMON) ravel_tcc_vars_end = .; } }

$(B)/tcc_pic.o: $(LIBTCC) runtime/tcc.mk
	@mkdir -p $(@D)
	@echo '$(TCC_LAYOUT)' > $@.ld
	$(SAY) OBJCOPY $@
	$(Q)$(LD) -r -T $@.ld --whole-archive $< -o $@.all
	$(Q)$(OBJCOPY) $(TCC_KEEP:%=--keep-global-symbol=%) $@.all
	$(Q)$(OBJCOPY) $(TCC_RENAME) --remove-section=.eh_frame --remove-section=.rela.eh_frame $@.all
	@mv $@.all $@
	@rm $@.ld
