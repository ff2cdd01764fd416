"""The build backend for the folder above, in which pip starts it: setuptools, in this folder.  Hooks are given absolute paths.

It makes no source distribution: that of this folder would lack the library, and `make dist` has all.
"""
import os

from setuptools.build_meta import (build_editable, build_wheel, get_requires_for_build_editable, get_requires_for_build_wheel,  # noqa: F401
                                   prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel)

os.chdir(os.path.dirname(os.path.abspath(__file__)))
