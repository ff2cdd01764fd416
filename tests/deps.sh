#!/bin/sh
# deps.sh PACKAGE...: install the Debian packages that are missing, or say how.
set -eu
missing=
for p; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' ||
        missing="$missing $p"
done
[ -z "$missing" ] && exit 0
if ! command -v apt-get >/dev/null; then
    echo "ravel needs these packages (Debian names):$missing" >&2
    exit 1
elif [ "$(id -u)" = 0 ]; then
    as=
elif sudo -n true 2>/dev/null; then
    as=sudo
else
    echo "ravel needs packages that are not installed.  Run:" >&2
    echo "    sudo apt-get install -y$missing" >&2
    exit 1
fi
echo "installing$missing"
$as apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as apt-get install -y -qq --no-install-recommends $missing >/dev/null
