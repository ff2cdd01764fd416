# package.mk: what is installed, and where.  $(B)/stage is the tree as it lies under PREFIX.
# STRIP= keeps the symbols in the files.

.PHONY: stage install install-debug uninstall

STAGE ?= $(B)/stage
STRIP ?= strip

stage: all
	$(SAY) STAGE $(STAGE)
	$(Q)STRIP='$(STRIP)' OBJCOPY='$(OBJCOPY)' sh package/stage.sh $(B) $(STAGE) \
	    '$(PREFIX)' '$(LIBDIR)' '$(LIBS)'

install: stage
	$(Q)sh package/install.sh install $(STAGE) '$(DESTDIR)$(PREFIX)'

install-debug: stage
	$(Q)sh package/install.sh install $(STAGE)-debug '$(DESTDIR)$(PREFIX)'

uninstall: stage
	$(Q)sh package/install.sh uninstall $(STAGE) '$(DESTDIR)$(PREFIX)'
	$(Q)sh package/install.sh uninstall $(STAGE)-debug '$(DESTDIR)$(PREFIX)'
