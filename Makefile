# ravel, the layout compiler.  `make help` says what there is; V=1 shows commands.

, := ,
CC       ?= cc
PYTHON   ?= /usr/bin/python3
PREFIX   ?= /usr/local
B        ?= build
CFLAGS   ?= -O3 -g
# SAN=1 builds with AddressSanitizer and UBSan; use another B with it.
WARN     := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes $(if $(CI),-Werror)
ALL_CFLAGS = -std=gnu11 -fPIC -fvisibility=hidden -MMD -MP $(WARN) \
             $(CFLAGS) $(if $(SAN),-fsanitize=address$(,)undefined -fno-sanitize-recover=undefined) \
             -I/usr/include/lua5.4
LIBS     := -llua5.4 -lm -lpthread -ldl
Q        := $(if $(V),,@)
SAY       = $(if $(V),@:,@printf '  %-7s %s\n')

CLI      := compiler/main.c $(wildcard compiler/cli_*.c)
LIB_SRC  := $(filter-out $(CLI),$(wildcard compiler/*.c)) $(wildcard runtime/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$(B)/%.o) $(B)/embed.o $(B)/tcc_pic.o
CLI_OBJ  := $(CLI:%.c=$(B)/%.o)
EMBEDDED := compiler/prelude.lua $(sort $(wildcard specs/*.lua templates/*.lua templates/*/*))
UNITS    := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/*.c))

.PHONY: all run test test-fast unit deps generated golden install clean help loc
.DEFAULT_GOAL := all

all: $(B)/libravel.a $(B)/libravel.so $(B)/ravel

include runtime/tcc.mk

$(B)/ravel: $(CLI_OBJ) $(B)/libravel.a
	$(SAY) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(CLI_OBJ) $(B)/libravel.a -ljansson $(LIBS)

$(B)/libravel.a: $(LIB_OBJ)
	$(SAY) AR $@
	$(Q)rm -f $@ && ar rcs $@ $(LIB_OBJ)

$(B)/libravel.so: $(LIB_OBJ)
	$(SAY) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libravel.so.0 \
	    $(if $(SAN),,-Wl$(,)-z$(,)defs) -Wl,-z,text -o $@ $(LIB_OBJ) $(LIBS)

$(B)/%.o: %.c
	$(SAY) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/embed.c: compiler/embed.sh $(EMBEDDED)
	$(SAY) EMBED $@
	$(Q)mkdir -p $(@D) && sh compiler/embed.sh $(EMBEDDED) > $@.tmp && mv $@.tmp $@

$(B)/embed.o: $(B)/embed.c
	$(SAY) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) -Icompiler -c -o $@ $<

$(B)/tests/%: tests/unit/%.c $(B)/libravel.a
	$(SAY) CC $<
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Wno-clobbered -Iruntime -o $@ $< \
	    $(B)/libravel.a -lcmocka $(LIBS)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
