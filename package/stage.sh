#!/bin/sh
# stage.sh BUILD STAGE PREFIX LIBDIR LIBS: lay out in STAGE what is installed under PREFIX,
# and in STAGE-debug the symbols that a debugger reads.
set -eu
b=$1 stage=$2 prefix=$3 libdir=$4 libs=$5
strip=${STRIP-strip} objcopy=${OBJCOPY:-objcopy} so=0
version=$(sed -n 's/^#define RAVEL_VERSION "\(.*\)"/\1/p' runtime/ravel.h)
date=$(sed -n 's/^\.TH [^"]*"\([^"]*\)".*/\1/p' docs/ravel.1)
up=$(echo "$libdir/cmake/ravel" | sed 's,[^/][^/]*,..,g')
man=$stage/share/man
rm -rf "$stage" "$stage-debug"

# file MODE SOURCE PATH
file() { install -D -m "$1" "$2" "$stage/$3"; }

# filled TEMPLATE PATH [LIST SEPARATOR]
filled() {
    install -d "$(dirname "$stage/$2")"
    sed -e "s|@PREFIX@|$prefix|g; s|@LIBDIR@|$libdir|g; s|@VERSION@|$version|g" \
        -e "s|@SOVERSION@|$so|g; s|@UP@|$up|g; s|@LIBS@|$3|g" "$1" > "$stage/$2"
    chmod 644 "$stage/$2"
}

# program MODE SOURCE PATH: without symbols, which go to .debug beside it.
program() {
    file "$1" "$2" "$3"
    [ -n "$strip" ] || return 0
    symbols=$stage-debug/$(dirname "$3")/.debug/$(basename "$3").debug
    install -d "$(dirname "$symbols")"
    "$objcopy" --only-keep-debug "$2" "$symbols"
    chmod 644 "$symbols"
    "$strip" --strip-unneeded "$stage/$3"
    "$objcopy" --add-gnu-debuglink="$symbols" "$stage/$3"
}

# page HEADER ABOUT [TYPES]: its man page, with the types of another header, and one that leads
# there for each function.
page() {
    install -d "$man/man3"
    cat "runtime/$1.h" ${3:+"runtime/$3.h"} > "$man/$1.h"
    awk -v page="$1" -v version="$version" -v date="$date" -v about="$2" -f package/man3.awk \
        "$man/$1.h" "$man/$1.h" > "$man/man3/$1.3"
    rm "$man/$1.h"
    for f in $(sed -n 's/^RAVEL_API .*[ *]\(ravel_[a-z_]*\)(.*/\1/p' "runtime/$1.h"); do
        echo ".so man3/$1.3" > "$man/man3/$f.3"
    done
    chmod 644 "$man"/man3/*
}

completion() {
    install -d "$(dirname "$stage/share/$2")"
    "$b/ravel" completion "$1" > "$stage/share/$2"
    chmod 644 "$stage/share/$2"
}

program 755 "$b/ravel" bin/ravel
program 644 "$b/libravel.so" "$libdir/libravel.so.$version"
ln -s "libravel.so.$version" "$stage/$libdir/libravel.so.$so"
ln -s "libravel.so.$so" "$stage/$libdir/libravel.so"
file 644 "$b/libravel.a" "$libdir/libravel.a"
[ -z "$strip" ] || "$strip" --strip-unneeded "$stage/$libdir/libravel.a"
file 644 runtime/ravel.h include/ravel.h
file 644 runtime/ravel_types.h include/ravel_types.h
file 644 runtime/ravel_layout.h include/ravel_layout.h
file 644 runtime/ravel_sparse.h include/ravel_sparse.h
file 644 runtime/ravel_gpu.h include/ravel_gpu.h
file 644 runtime/ravel_dlpack.h include/ravel_dlpack.h
filled package/ravel.pc.in "$libdir/pkgconfig/ravel.pc" "$libs"
filled package/ravel-config.cmake.in "$libdir/cmake/ravel/ravel-config.cmake" \
    "$(echo "$libs" | sed 's/-l//g; s/  */;/g')"
filled package/ravel-config-version.cmake.in \
    "$libdir/cmake/ravel/ravel-config-version.cmake" ""
file 644 package/ravel-kernels.cmake "$libdir/cmake/ravel/ravel-kernels.cmake"
file 644 package/ravel-kernels.mk share/ravel/ravel-kernels.mk
file 644 docs/ravel.1 share/man/man1/ravel.1
page ravel "describe, check and convert tensor layouts" ravel_types
page ravel_layout "ask about tensor layouts"
page ravel_sparse "convert sparse formats"
page ravel_gpu "compile and launch relayouts on accelerators"
completion bash bash-completion/completions/ravel
completion zsh zsh/site-functions/_ravel
completion fish fish/vendor_completions.d/ravel.fish
for f in specs/*.lua specs/*.md; do
    file 644 "$f" "share/ravel/$f"
done
