#!/bin/sh
# install.sh install|uninstall STAGE PREFIX: copy what is in STAGE to PREFIX, or remove it
# there.  Folders that others use too (bin, lib) are not removed.
set -eu
what=$1 stage=$2 prefix=$3

install_one() {
    if [ -L "$1" ]; then
        ln -sfn "$(readlink "$1")" "$prefix/$1"
    else
        install -D -m "$(stat -c %a "$1")" "$1" "$prefix/$1"
    fi
}

uninstall_one() { rm -f "$prefix/$1"; }

case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
cd "$stage"
find . -type f -o -type l | sort -r | while read -r f; do
    "${what}_one" "${f#./}"
done
[ "$what" = install ] || find . -depth -type d \( -name 'ravel*' -o -path './share/ravel/*' -o -name .debug \) |
while read -r d; do
    rmdir --ignore-fail-on-non-empty "$prefix/${d#./}" 2>/dev/null || true
done
