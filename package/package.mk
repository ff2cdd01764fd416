# package.mk: what is installed, and where.  $(B)/stage is the tree as it lies under PREFIX.
# STRIP= keeps the symbols in the files.

.PHONY: stage install install-debug uninstall deb dist wheel

STAGE ?= $(B)/stage
STRIP ?= strip

stage: all
	$(SAY) STAGE $(STAGE)
	$(Q)STRIP='$(STRIP)' OBJCOPY='$(OBJCOPY)' sh package/stage.sh $(B) $(STAGE) \
	    '$(PREFIX)' '$(LIBDIR)' '$(LIBS)'

# On the machine itself the loader learns of the library; only root may tell it.
LDCONFIG ?= ldconfig
install: stage
	$(Q)sh package/install.sh install $(STAGE) '$(DESTDIR)$(PREFIX)'
	$(Q)[ -n '$(DESTDIR)' ] || $(LDCONFIG) 2>/dev/null || true

install-debug: stage
	$(Q)sh package/install.sh install $(STAGE)-debug '$(DESTDIR)$(PREFIX)'

uninstall: stage
	$(Q)sh package/install.sh uninstall $(STAGE) '$(DESTDIR)$(PREFIX)'
	$(Q)sh package/install.sh uninstall $(STAGE)-debug '$(DESTDIR)$(PREFIX)'

# The Debian packages are built in a copy, because dpkg-buildpackage writes beside the
# sources.  DEB_B= uses the objects of another build.
DEB_PKGS := build-essential debhelper dh-python lintian python3-dev python3-setuptools
DEB   ?= $(B)/deb
DEB_B ?=

deb:
	$(Q)sh tests/deps.sh $(BUILD_PKGS) $(DEB_PKGS)
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB)/ravel
	$(Q)tar -cf - --exclude=./build --exclude='./build-*' --exclude=./.git . | tar -xf - -C $(DEB)/ravel
	$(Q)cd $(DEB)/ravel && MAKEFLAGS= env $(if $(DEB_B),B='$(abspath $(DEB_B))') dpkg-buildpackage -b -us -uc
	$(Q)rm -rf $(DEB)/ravel
	$(Q)lintian --allow-root --fail-on error,warning --tag-display-limit 0 $(DEB)/*.changes

# What is committed, as an archive that is the same wherever it is made.
dist:
	$(SAY) DIST $(B)/ravel-$(VERSION).tar.gz
	$(Q)mkdir -p $(B) && git archive --format=tar --prefix=ravel-$(VERSION)/ HEAD | \
	    gzip -9n > $(B)/ravel-$(VERSION).tar.gz.tmp
	$(Q)mv $(B)/ravel-$(VERSION).tar.gz.tmp $(B)/ravel-$(VERSION).tar.gz

# A wheel, repaired and checked by auditwheel, which comes from PyPI.
wheel: $(B)/libravel.a
	$(Q)PYTHON='$(PYTHON)' sh package/wheel.sh $(B) $(B)/wheels
