# python.mk: the Python package, in $(B)/python.  It needs python3-dev and
# python3-setuptools, and nothing from a network.

.PHONY: python libs

PYTHON_LIB ?= $(B)/python
python: $(B)/libravel.a
	$(SAY) PYTHON $(PYTHON_LIB)
	$(Q)cd python && CI=$(CI) RAVEL_BUILD='$(abspath $(B))' $(PYTHON) -W ignore setup.py -q build \
	    --build-base '$(abspath $(PYTHON_LIB))-build' --build-lib '$(abspath $(PYTHON_LIB))'

# What a program links with besides libravel.a.
libs:
	@echo $(LIBS)
