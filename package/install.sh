#!/bin/sh
# install.sh install|uninstall STAGE PREFIX: copy what is in STAGE to PREFIX, or remove it
# there, with the folders that are empty then but bin, lib, include, share and share/man.
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
[ "$what" = install ] || find . -mindepth 2 -depth -type d ! -path ./share/man |
while read -r d; do
    rmdir --ignore-fail-on-non-empty "$prefix/${d#./}" 2>/dev/null || true
done
