"""Builds libravel.a with make, and the extension module with it inside.  RAVEL_BUILD names the build folder."""
import os
import pathlib
import re
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("RAVEL_BUILD", ROOT / "build"))
MAKE = ["make", "-s", "-C", str(ROOT), "B=%s" % BUILD]


class Build(build_ext):
    def run(self):
        subprocess.check_call([*MAKE, "-j%d" % (os.cpu_count() or 1), "%s/libravel.a" % BUILD])
        super().run()


# Under another make this one also prints where it is.
libraries = [word for word in subprocess.check_output([*MAKE, "libs"], text=True).split() if word.startswith("-l")]
version = re.search(r'RAVEL_VERSION "(.*)"', (ROOT / "runtime/ravel.h").read_text()).group(1)
extension = Extension(
    "ravel._ravel", ["src/py_module.c", "src/py_context.c", "src/py_plan.c", "src/py_dlpack.c", "src/py_device.c"],
    depends=["src/py_ravel.h", str(BUILD / "libravel.a")], include_dirs=[str(ROOT / "runtime")], py_limited_api=True,
    extra_compile_args=["-std=gnu11", "-fvisibility=hidden", "-Wall", "-Wextra", *(["-Werror"] if os.environ.get("CI") else [])],
    extra_link_args=[str(BUILD / "libravel.a"), "-Wl,--exclude-libs,ALL", "-s", *libraries])

setup(version=version, ext_modules=[extension], cmdclass={"build_ext": Build}, options={"bdist_wheel": {"py_limited_api": "cp311"}})
