"""The Debian packages: lintian has no errors and no warnings, and what is in them works where it is unpacked."""
import os
import re
import shutil
import subprocess

import pytest

import ravel

NEEDED = ["dpkg-buildpackage", "dh", "dh_python3", "lintian"]


@pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason="debhelper, dh-python or lintian is not installed")
def test_packages(tmp_path):
    deb = tmp_path / "deb"
    r = subprocess.run(["make", "-s", "deb", "B=%s" % ravel.BUILD, "DEB_B=%s" % ravel.BUILD, "DEB=%s" % deb], cwd=ravel.ROOT, capture_output=True,
                       text=True, env={**os.environ, "DEB_BUILD_OPTIONS": "noautodbgsym", "DPKG_DEB_COMPRESSOR_LEVEL": "1"})
    assert r.returncode == 0, r.stdout[-4000:] + r.stderr[-4000:]
    assert sorted(p.name.split("_")[0] for p in deb.glob("*.deb")) == ["libravel-dev", "libravel0", "python3-ravel", "ravel"]
    version = re.search(r'RAVEL_VERSION "(.*)"', (ravel.ROOT / "runtime/ravel.h").read_text()).group(1)
    assert {p.name.split("_")[1] for p in deb.glob("*.deb")} == {version}
    root = tmp_path / "root"
    for p in deb.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", p, root], check=True)
    [lib] = root.glob("usr/lib/*/libravel.so.0")
    there = {"LD_LIBRARY_PATH": str(lib.parent), "PYTHONPATH": str(root / "usr/lib/python3/dist-packages"), "PATH": "/usr/bin:/bin"}

    def said(*command):
        return subprocess.check_output(command, text=True, cwd="/", env=there)

    assert said(root / "usr/bin/ravel", "index", "NHWC", "--shape", "1,2,3,4", "--at", "0,1,2,3") == "23\n"
    assert said("/usr/bin/python3", "-c", "import ravel; print(ravel.layout('NHWC').index((0, 1, 2, 3), (1, 2, 3, 4)))") == "23\n"
    subprocess.run(["gcc", "-I%s" % (root / "usr/include"), ravel.ROOT / "examples/library.c", lib.parent / "libravel.so", "-o", tmp_path / "program"], check=True)
    assert said(tmp_path / "program").startswith("  0  1  2  3  6  7")
    assert not (lib.parent / "libravel.so.0.1.0").stat().st_mode & 0o111 and (root / "usr/share/zsh/vendor-completions/_ravel").exists()
