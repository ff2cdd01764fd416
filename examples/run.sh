#!/bin/sh
# run.sh RAVEL FOLDER: the main job on real data, told as it goes.
set -eu
ravel=$1 dir=$2 python=${PYTHON:-/usr/bin/python3}
mkdir -p "$dir"
say() { printf '\n%s\n' "$*"; }
run() {
    printf '  $ ravel %s\n' "$*"
    out=$("$ravel" "$@")
    [ -z "$out" ] || printf '%s\n' "$out" | sed 's/^/    /'
}

say "1. A feature map: two pictures under 20 oriented filters, half precision, NCHW."
"$python" examples/feature_map.py "$dir/x.npy"
ls -l "$dir/x.npy" | awk '{print "    " $NF ": " $5 " bytes"}'

say "2. What NC1HWC0, the layout of a matrix unit with 16 channels a step, makes of it."
run check NC1HWC0 --shape 2,20,240,320 --dtype f16

say "3. How the conversion is done: boxes without guards, and what moves the bytes."
run explain --from NCHW --to NC1HWC0 --shape 2,20,240,320 --dtype f16

say "4. There, every byte checked against the layouts as written, and back."
run convert "$dir/x.npy" "$dir/y.npy" --from NCHW --to NC1HWC0 --verify
run convert "$dir/y.npy" "$dir/z.npy" --from NC1HWC0 --to NCHW \
    --shape 2,20,240,320 --verify

say "5. Second opinion, by NumPy alone."
"$python" - "$dir" <<'PY'
import sys
import numpy as np

x, y, z = (np.load(f"{sys.argv[1]}/{f}.npy") for f in "xyz")
blocks = np.zeros((2, 32, 240, 320), x.dtype)
blocks[:, :20] = x
want = blocks.reshape(2, 2, 16, 240, 320).transpose(0, 1, 3, 4, 2)
assert y.shape == want.shape and (y.view("u2") == want.view("u2")).all()
assert z.shape == x.shape and (z.view("u2") == x.view("u2")).all()
print(f"    {y.shape} is the reshape and transpose NumPy makes; z.npy equals x.npy")
PY

say "6. The same conversion as C that needs nothing of ravel."
run emit --from NCHW --to NC1HWC0 --shape 2,20,240,320 --dtype f16 -o "$dir/f.c"
sed -n '/^.. Part number/,$p' "$dir/f.c" | sed 's/^/    /'
echo
echo "All of it is in $dir."
