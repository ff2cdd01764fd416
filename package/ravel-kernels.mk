# $(eval $(call ravel_kernels,LIST,OUT,OPTIONS)): the rules by which `ravel emit` writes
# OUT.c and OUT.h, the conversions of the file LIST (ravel emit --help), when LIST or a spec
# that it uses changes.  OPTIONS are further options of emit, as --spec=mine.lua.  A Makefile
# finds this file by
#
#   include $(shell pkg-config --variable=kernels ravel)
#
# RAVEL names the command.
RAVEL ?= ravel

define ravel_kernels
$(2).c: $(1)
	$(RAVEL) emit --list=$(1) $(3) -o $(2).c --header=$(2).h --depfile=$(2).d
$(2).h: $(2).c
-include $(2).d
endef
